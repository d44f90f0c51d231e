//! A virtual user as the modules see it.

use std::future::Future;
use std::rc::Rc;
use std::sync::Arc;

use metrics::{Recorder, Registry, TagSet};
use rquickjs::{Ctx, Promise, Value};

use crate::options::Options;

/// Which part of the life cycle is running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Top-level code.
    Init,
    /// `setup()`.
    Setup,
    /// An iteration.
    Iteration,
    /// `teardown()`.
    Teardown,
    /// `handleSummary()`.
    Summary,
}

/// One virtual user: what every module function may ask for. Reached from any native function by `Vu::of(&ctx)`.
pub struct Vu {}

impl Vu {
    /// The user whose runtime this is.
    pub fn of(_ctx: &Ctx<'_>) -> Rc<Vu> {
        todo!()
    }

    /// Current part of the life cycle.
    pub fn phase(&self) -> Phase {
        todo!()
    }

    /// Waits for `future` by suspending the virtual user: synchronous for the script, asynchronous for the worker.
    /// When the engine interrupts the user, this throws an error that the script cannot catch, and the future is dropped.
    /// No `RefCell` borrow may be held across it.
    pub fn block_on<T>(&self, _ctx: &Ctx<'_>, _future: impl Future<Output = T>) -> rquickjs::Result<T> {
        todo!()
    }

    /// Runs `future` on the user's event loop and settles a promise with what `convert` makes of its output. The iteration
    /// does not end before it has.
    pub fn promise<'js, T: 'static>(
        &self,
        _ctx: &Ctx<'js>,
        _future: impl Future<Output = T> + 'static,
        _convert: impl for<'a> FnOnce(&Ctx<'a>, T) -> rquickjs::Result<Value<'a>> + 'static,
    ) -> rquickjs::Result<Promise<'js>> {
        todo!()
    }

    /// The worker's recorder.
    pub fn recorder(&self) -> &Recorder {
        todo!()
    }

    /// The run's metrics.
    pub fn registry(&self) -> &Arc<Registry> {
        todo!()
    }

    /// Options of the run; in init code those known so far.
    pub fn options(&self) -> Arc<Options> {
        todo!()
    }

    /// Tags that every sample carries now: run tags, scenario and its tags, group, `exec.vu.metrics.tags`. Only the enabled
    /// system tags among them.
    pub fn tags(&self) -> TagSet {
        todo!()
    }

    /// Changes whenever `tags` would return another set; caches of resolved series compare it. Values are unique within
    /// a worker for distinct sets, and equal sets have equal values, so that users of one worker may share a cache.
    pub fn tags_key(&self) -> u32 {
        todo!()
    }

    /// Sets a tag of this user (`exec.vu.metrics.tags[...] = …`); `None` removes it.
    pub fn set_tag(&self, _name: &str, _value: Option<&str>) {
        todo!()
    }

    /// Current group path: empty at the root, else `::outer::inner`.
    pub fn group(&self) -> Arc<str> {
        todo!()
    }

    /// Enters (`Some(path)`) or leaves a group: sets the path.
    pub fn set_group(&self, _path: Arc<str>) {
        todo!()
    }

    /// Adds bytes to what the user reports as data_sent and data_received when its iteration ends.
    pub fn count_data(&self, _sent: u64, _received: u64) {
        todo!()
    }

    /// The user's HTTP client.
    pub fn client(&self) -> Rc<wire::Client> {
        todo!()
    }

    /// State that a module keeps for this user, made by `Default` at first use.
    pub fn local<T: Default + 'static>(&self) -> Rc<T> {
        todo!()
    }

    /// State that a module shares among the users of this worker thread (caches), made by `Default` at first use.
    pub fn worker_local<T: Default + 'static>(&self) -> Rc<T> {
        todo!()
    }

    /// State that a module shares in the whole process (`SharedArray`), made by `Default` at first use.
    pub fn process<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        todo!()
    }
}
