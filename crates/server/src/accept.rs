//! A worker's thread: it accepts, serves and, at the end, drains.

use std::io;
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::mpsc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::spawn_local;
use tokio::time::sleep;
use wire::TlsAcceptor;

use crate::app::AppFactory;
use crate::connection::listen::Listener;
use crate::connection::stream::Stream;
use crate::h1::connection::Connection;
use crate::witness::{ConnectionWitness, WitnessFactory};
use crate::worker::{Plan, Worker};

/// How long accepting pauses when it fails, usually because file descriptors are used up.
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);

/// A listener of this thread's runtime.
struct Accepting {
    listener: wire::Listener,
    tls: Option<Rc<TlsAcceptor>>,
}

impl Accepting {
    fn new(listener: Listener, tls: Option<&Rc<TlsAcceptor>>) -> io::Result<Self> {
        let (socket, is_tcp, is_tls) = match listener {
            Listener::Tcp(socket) => (socket.into(), true, false),
            Listener::Tls(socket) => (socket.into(), true, true),
            Listener::Unix(socket) => (socket.into(), false, false),
        };
        let tls = is_tls.then(|| tls.expect("a TLS listener comes with a configuration").clone());
        Ok(Accepting { listener: wire::Listener::new(socket, is_tcp)?, tls })
    }

    async fn accept(&self) -> io::Result<(Stream, Option<IpAddr>)> {
        let (socket, peer) = self.listener.accept().await?;
        let stream = match &self.tls {
            None => Stream::plain(socket),
            Some(acceptor) => Stream::tls(acceptor.accept(socket)?),
        };
        Ok((stream, peer.map(|peer| peer.ip())))
    }
}

/// What a worker's thread makes for itself.
pub(crate) struct Answers {
    pub(crate) app: Option<AppFactory>,
    pub(crate) witness: Option<WitnessFactory>,
}

/// The life of one worker's thread. Says when it is ready to serve, or why it is not.
pub(crate) fn run(
    plan: Plan,
    answers: Answers,
    listeners: Vec<Listener>,
    ready: &mpsc::Sender<io::Result<()>>,
    stop: watch::Receiver<Option<Duration>>,
) {
    let Answers { app, witness } = answers;
    let tls = plan.tls.clone().map(|config| Rc::new(TlsAcceptor::new(config)));
    let started = wire::event_loop().and_then(|runtime| {
        let app = runtime.block_on(async { app.map(|make| make()).transpose() }).map_err(io::Error::other)?;
        let each = |listener| Accepting::new(listener, tls.as_ref());
        let accepting: io::Result<Vec<_>> = runtime.block_on(async { listeners.into_iter().map(each).collect() });
        let accepting = accepting?;
        Ok((runtime, app, accepting))
    });
    // Server::start that has failed already hears nothing more; this worker must stop then.
    let _heard = match started {
        Err(e) => ready.send(Err(e)),
        Ok((runtime, app, accepting)) => {
            let heard = ready.send(Ok(()));
            runtime.block_on(serve(
                Rc::new(Worker::new(plan, app, witness.map(|make| Rc::from(make())))),
                accepting,
                stop,
            ));
            heard
        }
    };
}

/// Serves until told to stop, then lets running requests end within the grace that came with the word.
async fn serve(worker: Rc<Worker>, listeners: Vec<Accepting>, mut stop: watch::Receiver<Option<Duration>>) {
    let accepting: Vec<_> =
        listeners.into_iter().map(|listener| spawn_local(accept(worker.clone(), listener))).collect();
    let sweeping = spawn_local(worker.clone().sweep());
    let delivering = spawn_local(worker.rooms().clone().serve());
    let told = stop.wait_for(Option::is_some).await;
    let grace = told.ok().and_then(|grace| *grace).unwrap_or(Duration::ZERO);
    accepting.iter().for_each(tokio::task::JoinHandle::abort);
    worker.drain(grace).await;
    sweeping.abort();
    delivering.abort();
}

async fn accept(worker: Rc<Worker>, listener: Accepting) {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                let (timer, registration) = worker.register();
                let witness = worker.witness().cloned();
                let witness =
                    witness.map(|of_worker| ConnectionWitness::new(of_worker, registration.id(), stream.watch()));
                let connection = Connection::new(stream, peer, worker.clone(), timer, witness);
                spawn_local(async move {
                    let _until_the_end = registration;
                    connection.serve().await;
                });
            }
            Err(e) if e.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(_) => sleep(ACCEPT_PAUSE).await,
        }
    }
}
