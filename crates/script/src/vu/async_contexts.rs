//! Tags, group and metadata that stay with asynchronous code: `--features async-metric-context` of k6 2.3.
//!
//! Each async context has a number and a copy of what the script had set. Each change of a tag makes a new context, so
//! callbacks that were registered before the change run with the old tags. Without the feature the number is always 0.

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

/// The contexts in use: of the running code, and of promises, timers and listeners.
#[derive(Default)]
pub(super) struct AsyncContexts {
    is_kept: Cell<bool>,
    last: Cell<i64>,
    /// The context that was entered last.
    entered: Cell<i64>,
    /// By number, each with the count of promises, timers and listeners that keep it.
    kept: RefCell<BTreeMap<i64, (SampleContext, i64)>>,
}

impl Vu {
    /// Whether asynchronous code keeps its tags and metadata.
    pub fn keeps_async_contexts(&self) -> bool {
        self.contexts.is_kept.get()
    }

    /// Reads the option, once, when the user's runtime is made.
    pub(crate) fn ask_for_async_contexts(&self) -> bool {
        self.contexts.is_kept.set(self.options().keeps_async_contexts);
        self.contexts.is_kept.get()
    }

    /// An iteration begins: promises of earlier ones no longer change its tags.
    pub(super) fn begin_async_contexts(&self) {
        if self.contexts.is_kept.get() {
            drop(self.contexts.kept.take());
            self.number_context();
        }
    }

    /// The script changed a tag, the group or metadata: the running code gets a new context.
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

    /// Removes the context that was left, unless a callback keeps it.
    fn leave_context(&self, number: i64) {
        let left = self.contexts.entered.replace(number);
        let mut kept = self.contexts.kept.borrow_mut();
        if left != number && kept.get(&left).is_some_and(|(_, count)| *count == 0) {
            kept.remove(&left);
        }
    }

    /// Code of this context runs from here on.
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

    /// Changes the count of what keeps a context; one that nothing keeps is removed, unless it is the running code's.
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
