//! What the connections of one thread share, and the list of them.
//!
//! Everything of a connection stays on the thread that accepted it; the counters are the only thing other threads see.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

use crate::app::App;
use crate::connection::limits::Limits;
use crate::connection::phase_timer::{PhaseLimits, PhaseTimer};
use crate::incoming::pool::{Buffers, PIECE, Pool};
use crate::kept::MemoryBudget;
use crate::stats::{Stats, WorkerStats};
use crate::witness::Witness;
use crate::ws::{Inboxes, Rooms};

/// How often draining looks whether requests have ended.
const DRAIN_TICK: Duration = Duration::from_millis(2);

/// What the connections of one thread share.
pub(crate) struct Worker {
    index: usize,
    stats: Arc<Stats>,
    app: Option<Rc<dyn App>>,
    witness: Option<Rc<dyn Witness>>,
    pool: Pool,
    receive_size: Option<usize>,
    limits: Limits,
    budget: Arc<MemoryBudget>,
    stopping: Cell<bool>,
    /// Wakes the connections that must say goodbye.
    stop_notice: Notify,
    next_id: Cell<u64>,
    open: RefCell<HashMap<u64, Rc<PhaseTimer>>>,
    phase_limits: PhaseLimits,
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
    pub(crate) budget: Arc<MemoryBudget>,
    pub(crate) buffers: Buffers,
    pub(crate) inboxes: Arc<Inboxes>,
}

impl Worker {
    pub(crate) fn new(plan: Plan, app: Option<Rc<dyn App>>, witness: Option<Rc<dyn Witness>>) -> Self {
        let Plan { index, stats, limits, budget, buffers, inboxes, .. } = plan;
        Worker {
            rooms: Rooms::new(inboxes, stats.clone(), index),
            pool: Pool::new(buffers.receive_size.unwrap_or(PIECE), buffers.reuse, stats.clone(), index),
            receive_size: buffers.receive_size,
            index,
            stats,
            app,
            witness,
            limits,
            budget,
            stopping: Cell::new(false),
            stop_notice: Notify::new(),
            next_id: Cell::new(0),
            open: RefCell::default(),
            phase_limits: PhaseLimits::new(&limits),
            now: Cell::new(0),
        }
    }

    pub(crate) fn app(&self) -> Option<&Rc<dyn App>> {
        self.app.as_ref()
    }

    pub(crate) fn witness(&self) -> Option<&Rc<dyn Witness>> {
        self.witness.as_ref()
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
    pub(crate) fn budget(&self) -> &Arc<MemoryBudget> {
        &self.budget
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

    /// Ready once the server must stop.
    pub(crate) async fn stopped(&self) {
        let told = self.stop_notice.notified();
        if !self.is_stopping() {
            told.await;
        }
    }

    /// The time as `PhaseTimer` count it.
    pub(crate) fn now(&self) -> u32 {
        self.now.get()
    }

    /// Puts a connection on the list, with a timer of its phases.
    pub(crate) fn register(self: &Rc<Self>) -> (Rc<PhaseTimer>, Registration) {
        let id = self.next_id.get();
        self.next_id.set(id + 1);
        self.stats().accepted.add(1);
        self.stats().open.add(1);
        let timer = Rc::new(PhaseTimer::new(self.now()));
        self.open.borrow_mut().insert(id, timer.clone());
        (timer, Registration { worker: self.clone(), id })
    }

    /// Ends what takes too long, and gives memory back that nobody needs any more.
    pub(crate) async fn sweep(self: Rc<Self>) {
        loop {
            sleep(self.phase_limits.interval).await;
            self.now.set(self.now().wrapping_add(1));
            self.open.borrow().values().for_each(|timer| timer.check(&self.phase_limits, self.now()));
            self.pool.trim();
        }
    }

    /// Idle connections close now, the others after their response; the rest is cut off at the end of the grace.
    pub(crate) async fn drain(&self, grace: Duration) {
        self.stopping.set(true);
        self.stop_notice.notify_waiters();
        self.rooms.close_all();
        let end = Instant::now() + grace;
        loop {
            self.open.borrow().values().filter(|timer| timer.is_idle()).for_each(|timer| timer.expire());
            if self.open.borrow().is_empty() || Instant::now() >= end {
                return;
            }
            sleep(DRAIN_TICK).await;
        }
    }
}

/// Takes a connection off the list however it ends.
pub(crate) struct Registration {
    worker: Rc<Worker>,
    id: u64,
}

impl Registration {
    /// The number of the connection among those of its worker.
    pub(crate) fn id(&self) -> u64 {
        self.id
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.worker.open.borrow_mut().remove(&self.id);
        self.worker.stats().open.sub(1);
    }
}
