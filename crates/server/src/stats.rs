//! What the target counts, exactly: clients are checked against these numbers.
//!
//! A request counts when its head was read completely, whatever happens to it then; a request to `/stats` never counts.
//! Each worker writes counters of its own (one writer, no lock); readers add them up.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use serde_json::{Map, Value, json};

/// Seeds whose place in their sequence is remembered.
const MAX_SEEDS: usize = 100_000;

/// A counter that one thread writes and any thread reads.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    /// One writer, so load and store suffice: no locked instruction on the request path.
    pub(crate) fn add(&self, n: u64) {
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(n), Ordering::Release);
    }

    pub(crate) fn sub(&self, n: u64) {
        debug_assert!(self.get() >= n, "what is over has begun: {n} of {}", self.get());
        self.add(n.wrapping_neg());
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

/// The counters of one worker, on cache lines of their own.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct WorkerStats {
    /// By the route's index; the last is for paths that no route has.
    requests: Vec<Counter>,
    pub(crate) malformed: Counter,
    pub(crate) received: Counter,
    pub(crate) sent: Counter,
    pub(crate) writes: Counter,
    pub(crate) body_received: Counter,
    pub(crate) accepted: Counter,
    pub(crate) open: Counter,
    pub(crate) tls_failed: Counter,
    pub(crate) cut_short: Counter,
    pub(crate) timed_out: Counter,
    pub(crate) pool: PoolCounters,
    pub(crate) web_sockets: WebSocketCounters,
}

/// Buffers that requests are received into.
#[derive(Debug, Default)]
pub(crate) struct PoolCounters {
    pub allocated: Counter,
    pub in_use: Counter,
    pub reused: Counter,
}

/// Connections of WebSocket that are open, and messages.
#[derive(Debug, Default)]
pub(crate) struct WebSocketCounters {
    pub open: Counter,
    pub received: Counter,
    pub sent: Counter,
    pub dropped: Counter,
}

impl WorkerStats {
    fn new(routes: usize) -> Self {
        WorkerStats {
            requests: (0..=routes).map(|_| Counter::default()).collect(),
            malformed: Counter::default(),
            received: Counter::default(),
            sent: Counter::default(),
            writes: Counter::default(),
            body_received: Counter::default(),
            accepted: Counter::default(),
            open: Counter::default(),
            tls_failed: Counter::default(),
            cut_short: Counter::default(),
            timed_out: Counter::default(),
            pool: PoolCounters::default(),
            web_sockets: WebSocketCounters::default(),
        }
    }

    /// Counts a request to the route of that index, `None` being no route.
    pub(crate) fn count(&self, route: Option<usize>) {
        debug_assert!(route.is_none_or(|route| route + 1 < self.requests.len()), "route {route:?} is not in the table");
        self.requests[route.unwrap_or(self.requests.len() - 1)].add(1);
    }
}

/// The counters of all workers.
#[derive(Debug)]
pub(crate) struct Stats {
    workers: Vec<WorkerStats>,
    /// Names of the routes, and which of them counts nothing.
    routes: Vec<&'static str>,
    uncounted: usize,
    /// How many of the delays of each seed were used: all workers together deal out one sequence.
    delays: Mutex<HashMap<u64, u64>>,
}

impl Stats {
    /// Counters for this many workers. Requests to the route of index `uncounted` do not count.
    pub(crate) fn new(workers: usize, routes: Vec<&'static str>, uncounted: usize) -> Self {
        assert!(uncounted <= routes.len(), "route {uncounted} of {} counts nothing", routes.len());
        let workers = (0..workers).map(|_| WorkerStats::new(routes.len())).collect();
        Stats { workers, routes, uncounted, delays: Mutex::default() }
    }

    pub(crate) fn worker(&self, index: usize) -> &WorkerStats {
        &self.workers[index]
    }

    /// The number, from 0, of the next delay of that seed; `None` when there are too many seeds to remember.
    pub(crate) fn next_delay(&self, seed: u64) -> Option<u64> {
        let mut delays = self.delays.lock().unwrap_or_else(PoisonError::into_inner);
        if delays.len() >= MAX_SEEDS && !delays.contains_key(&seed) {
            return None;
        }
        let next = delays.entry(seed).or_default();
        *next += 1;
        Some(*next - 1)
    }

    fn sum(&self, of: impl Fn(&WorkerStats) -> u64) -> u64 {
        self.workers.iter().map(of).fold(0, u64::wrapping_add)
    }

    fn counted(&self) -> impl Iterator<Item = usize> {
        (0..=self.routes.len()).filter(|index| *index != self.uncounted)
    }

    /// Requests that count, of all routes and of none.
    pub(crate) fn requests(&self) -> u64 {
        self.counted().map(|i| self.sum(|w| w.requests[i].get())).sum()
    }

    /// The answer of `/stats`; routes nobody asked for are left out.
    pub(crate) fn to_json(&self) -> Value {
        let mut routes = Map::new();
        for index in self.counted() {
            let n = self.sum(|w| w.requests[index].get());
            if n > 0 {
                routes.insert((*self.routes.get(index).unwrap_or(&"(none)")).to_owned(), n.into());
            }
        }
        json!({
            "requests": self.requests(),
            "malformed": self.sum(|w| w.malformed.get()),
            "timed_out": self.sum(|w| w.timed_out.get()),
            "cut_short": self.sum(|w| w.cut_short.get()),
            "bytes_received": self.sum(|w| w.received.get()),
            "bytes_sent": self.sum(|w| w.sent.get()),
            "writes": self.sum(|w| w.writes.get()),
            "body_bytes_received": self.sum(|w| w.body_received.get()),
            "connections": {
                "accepted": self.sum(|w| w.accepted.get()),
                "open": self.sum(|w| w.open.get()),
                "tls_failed": self.sum(|w| w.tls_failed.get()),
            },
            "buffers": {
                "allocated": self.sum(|w| w.pool.allocated.get()),
                "in_use": self.sum(|w| w.pool.in_use.get()),
                "reused": self.sum(|w| w.pool.reused.get()),
            },
            "websockets": {
                "open": self.sum(|w| w.web_sockets.open.get()),
                "messages_received": self.sum(|w| w.web_sockets.received.get()),
                "messages_sent": self.sum(|w| w.web_sockets.sent.get()),
                "messages_dropped": self.sum(|w| w.web_sockets.dropped.get()),
            },
            "routes": routes,
        })
    }
}
