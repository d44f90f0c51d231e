//! One thread of the target: it accepts, serves and, at the end, drains.
//!
//! Everything of a connection stays on the thread that accepted it; the counters are the only thing other threads see.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use tokio::net::{TcpListener, UnixListener};
use tokio::runtime::{Builder, LocalOptions};
use tokio::sync::{Notify, watch};
use tokio::task::spawn_local;
use tokio::time::{Instant, sleep};

use crate::app::{App, AppFactory};
use crate::connection::Connection;
use crate::kept::Total;
use crate::limits::Limits;
use crate::listen::Listener;
use crate::pool::{Buffers, PIECE, Pool};
use crate::stats::{Stats, WorkerStats};
use crate::stream::Stream;
use crate::vitals::{Patience, Vitals};
use crate::ws::{Exchange, Rooms};

/// How long accepting pauses when it fails, for want of file descriptors as a rule.
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);
/// How often draining looks whether requests have ended.
const DRAIN_TICK: Duration = Duration::from_millis(2);

/// What the connections of one thread share.
pub(crate) struct Worker {
    index: usize,
    stats: Arc<Stats>,
    tls: Option<Arc<rustls::ServerConfig>>,
    app: Option<Rc<dyn App>>,
    pool: Pool,
    receive_size: Option<usize>,
    limits: Limits,
    total: Arc<Total>,
    stopping: Cell<bool>,
    /// Wakes the connections that must say goodbye.
    told: Notify,
    next_id: Cell<u64>,
    open: RefCell<HashMap<u64, Rc<Vitals>>>,
    patience: Patience,
    /// Sweeps so far.
    now: Cell<u32>,
    rooms: Rc<Rooms>,
}

/// What a worker is made of, before it is on its thread.
pub(crate) struct Plan {
    pub(crate) index: usize,
    pub(crate) stats: Arc<Stats>,
    pub(crate) tls: Option<Arc<rustls::ServerConfig>>,
    pub(crate) limits: Limits,
    pub(crate) total: Arc<Total>,
    pub(crate) buffers: Buffers,
    pub(crate) exchange: Arc<Exchange>,
}

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
    // Server::start that has failed already hears nothing more; this worker is told to stop then.
    let _heard = match started {
        Err(e) => ready.send(Err(e)),
        Ok((runtime, app)) => {
            let heard = ready.send(Ok(()));
            runtime.block_on(Rc::new(Worker::new(plan, app)).serve(listeners, stop));
            heard
        }
    };
}

impl Worker {
    fn new(plan: Plan, app: Option<Rc<dyn App>>) -> Self {
        let Plan { index, stats, tls, limits, total, buffers, exchange } = plan;
        Worker {
            rooms: Rooms::new(exchange, stats.clone(), index),
            pool: Pool::new(buffers.receive_size.unwrap_or(PIECE), buffers.reuse, stats.clone(), index),
            receive_size: buffers.receive_size,
            index,
            stats,
            tls,
            app,
            limits,
            total,
            stopping: Cell::new(false),
            told: Notify::new(),
            next_id: Cell::new(0),
            open: RefCell::default(),
            patience: Patience::new(&limits),
            now: Cell::new(0),
        }
    }

    pub(crate) fn app(&self) -> Option<&Rc<dyn App>> {
        self.app.as_ref()
    }

    pub(crate) fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Bytes that one receive of a body takes at most, where the server's user said so.
    pub(crate) fn receive_size(&self) -> Option<usize> {
        self.receive_size
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// What routes keep of request bodies, over all workers.
    pub(crate) fn total(&self) -> &Arc<Total> {
        &self.total
    }

    pub(crate) fn rooms(&self) -> &Rc<Rooms> {
        &self.rooms
    }

    pub(crate) fn stats(&self) -> &WorkerStats {
        self.stats.worker(self.index)
    }

    pub(crate) fn all_stats(&self) -> &Stats {
        &self.stats
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.get()
    }

    /// Ready once the server is told to stop.
    pub(crate) async fn stopped(&self) {
        let told = self.told.notified();
        if !self.is_stopping() {
            told.await;
        }
    }

    /// The time as `Vitals` count it.
    pub(crate) fn now(&self) -> u32 {
        self.now.get()
    }

    fn spawn(self: &Rc<Self>, stream: Stream, peer: Option<IpAddr>) {
        let id = self.next_id.get();
        self.next_id.set(id + 1);
        self.stats().accepted.add(1);
        self.stats().open.add(1);
        let vitals = Rc::new(Vitals::new(self.now()));
        self.open.borrow_mut().insert(id, vitals.clone());
        let registration = Registration { worker: self.clone(), id };
        let connection = Connection::new(stream, peer, self.clone(), vitals);
        spawn_local(async move {
            let _until_the_end = registration;
            connection.serve().await;
        });
    }

    /// Serves until told to stop, then lets running requests end within the grace that came with the word.
    pub(crate) async fn serve(self: Rc<Self>, listeners: Vec<Listener>, mut stop: watch::Receiver<Option<Duration>>) {
        let mut accepting = Vec::new();
        for listener in listeners {
            let listener =
                Accepting::new(listener).expect("a fresh non-blocking listener registers with the event loop");
            accepting.push(spawn_local(self.clone().accept(listener)));
        }
        let sweeping = spawn_local(self.clone().sweep());
        let delivering = spawn_local(self.rooms.clone().serve());
        let told = stop.wait_for(Option::is_some).await;
        let grace = told.ok().and_then(|grace| *grace).unwrap_or(Duration::ZERO);
        accepting.iter().for_each(tokio::task::JoinHandle::abort);
        self.drain(grace).await;
        sweeping.abort();
        delivering.abort();
    }

    /// Ends what takes too long, and gives memory back that nobody needs any more.
    async fn sweep(self: Rc<Self>) {
        loop {
            sleep(self.patience.interval).await;
            self.now.set(self.now().wrapping_add(1));
            self.open.borrow().values().for_each(|vitals| vitals.check(&self.patience, self.now()));
            self.pool.trim();
        }
    }

    async fn accept(self: Rc<Self>, listener: Accepting) {
        loop {
            match listener.accept(self.tls.as_ref()).await {
                Ok((stream, peer)) => self.spawn(stream, peer),
                Err(e) if e.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(_) => sleep(ACCEPT_PAUSE).await,
            }
        }
    }

    /// Idle connections close now, the others after their response; what is left at the end of the grace is cut off.
    async fn drain(&self, grace: Duration) {
        self.stopping.set(true);
        self.told.notify_waiters();
        self.rooms.close_all();
        let end = Instant::now() + grace;
        loop {
            self.open.borrow().values().filter(|vitals| vitals.is_idle()).for_each(|vitals| vitals.expire());
            if self.open.borrow().is_empty() || Instant::now() >= end {
                return;
            }
            sleep(DRAIN_TICK).await;
        }
    }
}

/// Takes a connection off the list however it ends.
struct Registration {
    worker: Rc<Worker>,
    id: u64,
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.worker.open.borrow_mut().remove(&self.id);
        self.worker.stats().open.sub(1);
    }
}
