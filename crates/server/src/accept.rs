//! A worker's thread: it accepts, serves and, at the end, drains.

use std::io;
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use tokio::net::{TcpListener, UnixListener};
use tokio::runtime::{Builder, LocalOptions};
use tokio::sync::watch;
use tokio::task::spawn_local;
use tokio::time::sleep;

use crate::app::AppFactory;
use crate::h1::connection::Connection;
use crate::listen::Listener;
use crate::stream::Stream;
use crate::worker::{Plan, Worker};

/// How long accepting pauses when it fails, usually because file descriptors are used up.
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);
/// A listener of this thread's runtime.
enum Accepting {
    Tcp(TcpListener),
    Tls(TcpListener),
    Unix(UnixListener),
}

impl Accepting {
    fn new(listener: Listener) -> io::Result<Self> {
        Ok(match listener {
            Listener::Tcp(l) => Accepting::Tcp(TcpListener::from_std(l)?),
            Listener::Tls(l) => Accepting::Tls(TcpListener::from_std(l)?),
            Listener::Unix(l) => Accepting::Unix(UnixListener::from_std(l)?),
        })
    }

    async fn accept(&self, tls: Option<&Arc<rustls::ServerConfig>>) -> io::Result<(Stream, Option<IpAddr>)> {
        match self {
            Accepting::Tcp(l) => l.accept().await.map(|(socket, peer)| (Stream::tcp(socket), Some(peer.ip()))),
            Accepting::Unix(l) => l.accept().await.map(|(socket, _)| (Stream::unix(socket), None)),
            Accepting::Tls(l) => {
                let (socket, peer) = l.accept().await?;
                let config = tls.expect("a TLS listener comes with a configuration").clone();
                let session = rustls::ServerConnection::new(config).map_err(io::Error::other)?;
                Ok((Stream::tls(socket, session), Some(peer.ip())))
            }
        }
    }
}

/// The life of one worker's thread. Says when it is ready to serve, or why it is not.
pub(crate) fn run(
    plan: Plan,
    app: Option<AppFactory>,
    listeners: Vec<Listener>,
    ready: &mpsc::Sender<io::Result<()>>,
    stop: watch::Receiver<Option<Duration>>,
) {
    let started = Builder::new_current_thread().enable_all().build_local(LocalOptions::default()).and_then(|runtime| {
        let app = runtime.block_on(async { app.map(|make| make()).transpose() }).map_err(io::Error::other)?;
        Ok((runtime, app))
    });
    // Server::start that has failed already hears nothing more; this worker must stop then.
    let _heard = match started {
        Err(e) => ready.send(Err(e)),
        Ok((runtime, app)) => {
            let heard = ready.send(Ok(()));
            let tls = plan.tls.clone();
            runtime.block_on(serve(Rc::new(Worker::new(plan, app)), tls, listeners, stop));
            heard
        }
    };
}

/// Serves until told to stop, then lets running requests end within the grace that came with the word.
async fn serve(
    worker: Rc<Worker>,
    tls: Option<Arc<rustls::ServerConfig>>,
    listeners: Vec<Listener>,
    mut stop: watch::Receiver<Option<Duration>>,
) {
    let mut accepting = Vec::new();
    for listener in listeners {
        let listener = Accepting::new(listener).expect("a fresh non-blocking listener registers with the event loop");
        accepting.push(spawn_local(accept(worker.clone(), tls.clone(), listener)));
    }
    let sweeping = spawn_local(worker.clone().sweep());
    let delivering = spawn_local(worker.rooms().clone().serve());
    let told = stop.wait_for(Option::is_some).await;
    let grace = told.ok().and_then(|grace| *grace).unwrap_or(Duration::ZERO);
    accepting.iter().for_each(tokio::task::JoinHandle::abort);
    worker.drain(grace).await;
    sweeping.abort();
    delivering.abort();
}

async fn accept(worker: Rc<Worker>, tls: Option<Arc<rustls::ServerConfig>>, listener: Accepting) {
    loop {
        match listener.accept(tls.as_ref()).await {
            Ok((stream, peer)) => {
                let (timer, registration) = worker.register();
                let connection = Connection::new(stream, peer, worker.clone(), timer);
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
