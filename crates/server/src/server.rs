//! Starting and stopping a target on threads of its own.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::watch;

use crate::accept::{self, Answers};
use crate::app::AppFactory;
use crate::connection::certificate::{self, CertificateFiles};
use crate::connection::limits::Limits;
use crate::connection::listen::{self, Listener, SocketFile};
use crate::incoming::pool::Buffers;
use crate::kept::MemoryBudget;
use crate::route::{ROUTES, STATS};
use crate::stats::Stats;
use crate::witness::WitnessFactory;
use crate::worker::Plan;
use crate::ws::Inboxes;

/// What dropping a server leaves to requests that are under way.
const DROP_GRACE: Duration = Duration::from_millis(100);

/// What to listen on, what to answer, what to accept.
#[derive(Clone)]
pub struct ServerConfig {
    /// TCP listeners, plain; port 0 picks a free one.
    pub tcp: Vec<SocketAddr>,
    /// TCP listeners with TLS.
    pub tls: Vec<SocketAddr>,
    /// Unix socket paths; `@name` is one without a file.
    pub unix: Vec<PathBuf>,
    /// Threads; 0 counts as 1.
    pub workers: usize,
    /// What TLS listeners show; a self-signed certificate is made at start without it.
    pub certificate: Option<CertificateFiles>,
    /// Answers everything but `/stats`, in place of the built-in routes.
    pub app: Option<AppFactory>,
    /// Sizes and times.
    pub limits: Limits,
    /// Memory for request bodies.
    pub buffers: Buffers,
    /// Hears what each worker serves.
    pub witness: Option<WitnessFactory>,
}

impl Default for ServerConfig {
    /// One thread that listens on nothing yet.
    fn default() -> Self {
        ServerConfig {
            tcp: Vec::new(),
            tls: Vec::new(),
            unix: Vec::new(),
            workers: 1,
            certificate: None,
            app: None,
            limits: Limits::default(),
            buffers: Buffers::default(),
            witness: None,
        }
    }
}

/// Where a started server listens.
#[derive(Clone, Debug, Default)]
pub struct Addresses {
    /// Plain.
    pub tcp: Vec<SocketAddr>,
    /// TLS.
    pub tls: Vec<SocketAddr>,
    /// Unix.
    pub unix: Vec<PathBuf>,
    /// PEM of the certificate, when TLS is served; one made at start is valid for localhost, 127.0.0.1 and ::1.
    pub certificate_pem: Option<String>,
}

/// A running target. Stops when dropped.
pub struct Server {
    addresses: Addresses,
    stats: Arc<Stats>,
    stop: watch::Sender<Option<Duration>>,
    threads: Vec<JoinHandle<()>>,
    _socket_files: Vec<SocketFile>,
}

/// The listeners of every worker, and what came out of binding them.
struct Bound {
    of_worker: Vec<Vec<Listener>>,
    addresses: Addresses,
    socket_files: Vec<SocketFile>,
}

fn bind(config: &ServerConfig, workers: usize) -> io::Result<Bound> {
    let mut bound = Bound {
        of_worker: (0..workers).map(|_| Vec::new()).collect(),
        addresses: Addresses { unix: config.unix.clone(), ..Addresses::default() },
        socket_files: Vec::new(),
    };
    let mut share = |listeners: Vec<Listener>| {
        bound.of_worker.iter_mut().zip(listeners).for_each(|(of, listener)| of.push(listener));
    };
    for address in &config.tcp {
        let (address, listeners) = listen::tcp(*address, workers)?;
        bound.addresses.tcp.push(address);
        share(listeners.into_iter().map(Listener::Tcp).collect());
    }
    for address in &config.tls {
        let (address, listeners) = listen::tcp(*address, workers)?;
        bound.addresses.tls.push(address);
        share(listeners.into_iter().map(Listener::Tls).collect());
    }
    for path in &config.unix {
        let (file, listeners) = listen::unix(path, workers)?;
        bound.socket_files.extend(file);
        share(listeners.into_iter().map(Listener::Unix).collect());
    }
    Ok(bound)
}

impl Server {
    /// Binds every listener and starts serving. The error names the address that could not be bound, or is the app's.
    pub fn start(config: ServerConfig) -> io::Result<Server> {
        let workers = config.workers.max(1);
        let Bound { of_worker, mut addresses, socket_files } = bind(&config, workers)?;
        let tls = if config.tls.is_empty() {
            None
        } else {
            let (tls, pem) = match &config.certificate {
                Some(files) => certificate::from_files(files)?,
                None => certificate::self_signed()?,
            };
            addresses.certificate_pem = Some(pem);
            Some(tls)
        };
        let stats = Arc::new(Stats::new(workers, ROUTES.iter().map(|route| route.pattern).collect(), STATS));
        let inboxes = Arc::new(Inboxes::new(workers));
        let budget = Arc::new(MemoryBudget::new(config.limits.kept));
        let (stop, told) = watch::channel(None);
        let mut server = Server { addresses, stats, stop, threads: Vec::new(), _socket_files: socket_files };
        let (ready, started) = mpsc::channel();
        for (index, listeners) in of_worker.into_iter().enumerate() {
            let stats = server.stats.clone();
            let (limits, buffers, inboxes) = (config.limits, config.buffers, inboxes.clone());
            let plan = Plan { index, stats, tls: tls.clone(), limits, budget: budget.clone(), buffers, inboxes };
            let (answers, ready, told) =
                (Answers { app: config.app.clone(), witness: config.witness.clone() }, ready.clone(), told.clone());
            let thread = std::thread::Builder::new().name(format!("target-{index}"));
            let run = move || accept::run(plan, answers, listeners, &ready, told);
            server.threads.push(thread.spawn(run)?);
        }
        drop(ready);
        for _ in 0..workers {
            started.recv().map_err(|_| io::Error::other("a worker ended while it started"))??;
        }
        Ok(server)
    }

    /// Where it listens.
    pub fn addresses(&self) -> &Addresses {
        &self.addresses
    }

    /// Requests so far, faults included (a request counts once its head was read); those to `/stats` are left out.
    pub fn requests(&self) -> u64 {
        self.stats.requests()
    }

    /// What `/stats` answers: requests, bytes, connections and requests per route.
    pub fn stats(&self) -> Value {
        self.stats.to_json()
    }

    /// Stops accepting, closes idle connections, lets running requests end within `grace`; the counts at the end.
    pub fn stop(mut self, grace: Duration) -> Value {
        self.stop_within(grace);
        self.stats.to_json()
    }

    fn stop_within(&mut self, grace: Duration) {
        self.stop.send_replace(Some(grace));
        for thread in self.threads.drain(..) {
            if let Err(panic) = thread.join()
                && !std::thread::panicking()
            {
                std::panic::resume_unwind(panic);
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop_within(DROP_GRACE);
    }
}
