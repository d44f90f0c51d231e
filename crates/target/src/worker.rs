//! One thread of the target: it accepts, serves and, at the end, drains.
//!
//! Everything of a connection stays on the thread that accepted it; the counters are the only thing other threads see.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::net::{TcpListener, UnixListener};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep};

use crate::connection::Connection;
use crate::listen::Listener;
use crate::stats::{Stats, WorkerStats};
use crate::stream::Stream;

/// How long accepting pauses when it fails, for want of file descriptors as a rule.
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);
/// How often draining looks whether requests have ended.
const DRAIN_TICK: Duration = Duration::from_millis(2);

/// What the connections of one thread share.
pub(crate) struct Worker {
    index: usize,
    stats: Arc<Stats>,
    tls: Option<Arc<rustls::ServerConfig>>,
    stopping: AtomicBool,
    next_id: AtomicU64,
    open: Mutex<HashMap<u64, Open>>,
}

struct Open {
    task: AbortHandle,
    idle: Arc<AtomicBool>,
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

    async fn accept(&self, tls: Option<&Arc<rustls::ServerConfig>>) -> io::Result<Stream> {
        match self {
            Accepting::Tcp(l) => Ok(Stream::Tcp(l.accept().await?.0)),
            Accepting::Unix(l) => Ok(Stream::Unix(l.accept().await?.0)),
            Accepting::Tls(l) => {
                let socket = l.accept().await?.0;
                let config = tls.expect("a TLS listener comes with a configuration").clone();
                Ok(Stream::tls(socket, rustls::ServerConnection::new(config).map_err(io::Error::other)?))
            }
        }
    }
}

impl Worker {
    pub(crate) fn new(index: usize, stats: Arc<Stats>, tls: Option<Arc<rustls::ServerConfig>>) -> Self {
        Worker {
            index,
            stats,
            tls,
            stopping: AtomicBool::new(false),
            next_id: AtomicU64::new(0),
            open: Mutex::new(HashMap::new()),
        }
    }

    pub(crate) fn stats(&self) -> &WorkerStats {
        self.stats.worker(self.index)
    }

    pub(crate) fn all_stats(&self) -> &Stats {
        &self.stats
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    fn open(&self) -> MutexGuard<'_, HashMap<u64, Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn spawn(self: &Arc<Self>, stream: Stream) {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        self.stats().accepted.add(1);
        self.stats().open.add(1);
        let registration = Registration { worker: self.clone(), id };
        let idle = Arc::new(AtomicBool::new(true));
        let connection = Connection::new(stream, self.clone(), idle.clone());
        let task = tokio::spawn(async move {
            let _until_the_end = registration;
            connection.serve().await;
        });
        self.open().insert(id, Open { task: task.abort_handle(), idle });
    }

    /// Serves until told to stop, then lets running requests end within the grace that came with the word.
    pub(crate) async fn serve(self: Arc<Self>, listeners: Vec<Listener>, mut stop: watch::Receiver<Option<Duration>>) {
        let mut accepting = Vec::new();
        for listener in listeners {
            let listener =
                Accepting::new(listener).expect("a fresh non-blocking listener registers with the event loop");
            accepting.push(tokio::spawn(self.clone().accept(listener)));
        }
        let told = stop.wait_for(Option::is_some).await;
        let grace = told.ok().and_then(|grace| *grace).unwrap_or(Duration::ZERO);
        accepting.iter().for_each(tokio::task::JoinHandle::abort);
        self.drain(grace).await;
    }

    async fn accept(self: Arc<Self>, listener: Accepting) {
        loop {
            match listener.accept(self.tls.as_ref()).await {
                Ok(stream) => self.spawn(stream),
                Err(e) if e.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(_) => sleep(ACCEPT_PAUSE).await,
            }
        }
    }

    /// Idle connections close now, the others after their response; what is left at the end of the grace is cut off.
    async fn drain(&self, grace: Duration) {
        self.stopping.store(true, Ordering::Relaxed);
        let end = Instant::now() + grace;
        loop {
            self.open().values().filter(|c| c.idle.load(Ordering::Relaxed)).for_each(|c| c.task.abort());
            if self.open().is_empty() || Instant::now() >= end {
                return;
            }
            sleep(DRAIN_TICK).await;
        }
    }
}

/// Takes a connection off the list however it ends.
struct Registration {
    worker: Arc<Worker>,
    id: u64,
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.worker.open().remove(&self.id);
        self.worker.stats().open.sub(1);
    }
}
