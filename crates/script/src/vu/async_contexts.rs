//! Tags, group and metadata of asynchronous code, kept over its waits: `--features async-metric-context` of k6 2.3.
//!
//! What samples carry stands for a number. Each change takes a new one, so code that was registered before the change
//! goes on with what it had. Where nobody asks for the feature there is a single number, 0.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;

use super::Vu;
use super::tags::ScriptTags;

/// What the script has set for its samples.
pub struct SampleContext {
    tags: ScriptTags,
    group: Arc<str>,
    metadata: BTreeMap<Arc<str>, Arc<str>>,
}

/// What numbers stand for that something still has, or that are the running code's.
#[derive(Default)]
pub(super) struct AsyncContexts {
    is_kept: Cell<bool>,
    last: Cell<i64>,
    /// That of the code that runs, or ran until just now.
    entered: Cell<i64>,
    /// With the count of what has the number.
    kept: RefCell<BTreeMap<i64, (SampleContext, i64)>>,
}

impl Vu {
    /// Whether asynchronous code keeps its tags and metadata.
    pub fn keeps_async_contexts(&self) -> bool {
        self.contexts.is_kept.get()
    }

    /// Asked once, when the user's runtime is made.
    pub(crate) fn ask_for_async_contexts(&self) -> bool {
        self.contexts.is_kept.set(self.options().keeps_async_contexts);
        self.contexts.is_kept.get()
    }

    /// An iteration begins: what stands in promises of an earlier one changes nothing any more.
    pub(super) fn begin_async_contexts(&self) {
        if self.contexts.is_kept.get() {
            drop(self.contexts.kept.take());
            self.number_context();
        }
    }

    /// Something changed that samples carry: from here on it has a number of its own.
    pub(super) fn number_context(&self) {
        if !self.contexts.is_kept.get() {
            return;
        }
        let number = self.contexts.last.get() + 1;
        self.contexts.last.set(number);
        let snapshot = self.sample_context();
        self.async_context.set(number);
        self.contexts.kept.borrow_mut().insert(number, (snapshot, 0));
        self.leave_context(number);
    }

    /// The code that runs has another number: the one that it had is forgotten when nothing has it.
    fn leave_context(&self, number: i64) {
        let left = self.contexts.entered.replace(number);
        let mut kept = self.contexts.kept.borrow_mut();
        if left != number && kept.get(&left).is_some_and(|(_, count)| *count == 0) {
            kept.remove(&left);
        }
    }

    /// Code runs on that was registered with this number.
    pub(crate) fn enter_context(&self, number: i64) {
        self.leave_context(number);
        let kept = self.contexts.kept.borrow();
        if let Some((snapshot, _)) = kept.get(&number) {
            self.restore(snapshot);
        }
    }

    /// What samples of the running code carry.
    pub fn sample_context(&self) -> SampleContext {
        SampleContext { tags: self.tags.own(), group: self.group(), metadata: self.metadata.all(self) }
    }

    /// Makes samples that carry what was set when the script asked for what they measure.
    pub fn in_sample_context(&self, asked: &SampleContext, make: impl FnOnce()) {
        let now = self.sample_context();
        self.restore(asked);
        make();
        self.restore(&now);
    }

    fn restore(&self, context: &SampleContext) {
        self.tags.restore(&context.tags, &context.group);
        self.metadata.restore(&context.metadata);
    }

    /// So many more places have this number, or fewer. What nothing has is forgotten, unless the running code has it.
    pub(crate) fn count_context(&self, number: i64, by: i32) {
        let mut kept = self.contexts.kept.borrow_mut();
        let Some((_, count)) = kept.get_mut(&number) else { return };
        *count += i64::from(by);
        debug_assert!(*count >= 0, "what is given back was kept");
        if *count == 0 && self.async_context.get() != number {
            kept.remove(&number);
        }
    }
}
