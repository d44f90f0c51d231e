//! What the samples of a user carry besides tags, in outputs alone: what its script set as
//! `exec.vu.metrics.metadata`, and the system tags `vu` and `iter`, which are metadata because there would be ever new
//! series.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;

use host::Phase;
use metrics::SystemTag;
use metrics::batches::Note;

use super::Vu;

/// The metadata of one user.
#[derive(Default)]
pub(super) struct UserMetadata {
    values: RefCell<BTreeMap<Arc<str>, Arc<str>>>,
    /// The iteration that `iter` was set for.
    numbered: Cell<Option<u64>>,
    /// What samples carry, until something changes; nothing when there is none.
    current: RefCell<Option<Option<Note>>>,
}

impl UserMetadata {
    /// Forgets everything: another scenario begins.
    pub(super) fn clear(&self) {
        self.values.borrow_mut().clear();
        self.numbered.set(None);
        self.current.take();
    }

    /// All values, with those that k6 sets.
    pub(super) fn all(&self, vu: &Vu) -> BTreeMap<Arc<str>, Arc<str>> {
        self.number(vu);
        self.values.borrow().clone()
    }

    /// Goes back to values of earlier in the iteration.
    pub(super) fn restore(&self, values: &BTreeMap<Arc<str>, Arc<str>>) {
        if *self.values.borrow() != *values {
            self.values.borrow_mut().clone_from(values);
            self.current.take();
        }
    }

    fn put(&self, name: &str, value: Option<&str>) {
        let mut values = self.values.borrow_mut();
        match value {
            Some(value) => values.insert(Arc::from(name), Arc::from(value)),
            None => values.remove(name),
        };
        self.current.take();
    }

    /// Sets `vu` once a scenario and `iter` for each iteration, where they are enabled; setup and teardown count as
    /// iteration 0 of nobody. Everything that sees the metadata comes by here first.
    fn number(&self, vu: &Vu) {
        let is_member = vu.iterations.latest.borrow().is_some();
        let has_number = is_member || matches!(vu.phase(), Phase::Setup | Phase::Teardown);
        if !has_number || self.numbered.get() == Some(vu.iterations.begun.get()) {
            return;
        }
        let system = vu.options().enabled_system_tags();
        if is_member && system.has(SystemTag::Vu) && self.numbered.get().is_none() {
            self.put("vu", Some(&vu.id().to_string()));
        }
        if system.has(SystemTag::Iter) {
            self.put("iter", Some(&vu.iterations.begun.get().to_string()));
        }
        self.numbered.set(Some(vu.iterations.begun.get()));
    }
}

impl Vu {
    /// A value of the user's metadata.
    pub fn metadata(&self, name: &str) -> Option<String> {
        self.metadata.number(self);
        self.metadata.values.borrow().get(name).map(|value| value.to_string())
    }

    /// Sets a value (`exec.vu.metrics.metadata[...] = …`); `None` removes it.
    pub fn set_metadata(&self, name: &str, value: Option<&str>) {
        self.metadata.number(self);
        self.metadata.put(name, value);
        self.number_context();
    }

    /// Makes samples that carry a value besides, in the place of the user's own of that name.
    pub fn with_metadata<T>(&self, name: &str, value: &str, make: impl FnOnce() -> T) -> T {
        let before = self.metadata(name);
        self.metadata.put(name, Some(value));
        let made = make();
        self.metadata.put(name, before.as_deref());
        made
    }

    /// All names of the user's metadata.
    pub fn metadata_names(&self) -> Vec<String> {
        self.metadata.number(self);
        self.metadata.values.borrow().keys().map(|name| name.to_string()).collect()
    }

    /// What its samples carry now.
    pub(crate) fn note(&self) -> Option<Note> {
        self.metadata.number(self);
        let make = || {
            let values = self.metadata.values.borrow();
            (!values.is_empty()).then(|| values.iter().map(|(name, value)| (name.clone(), value.clone())).collect())
        };
        self.metadata.current.borrow_mut().get_or_insert_with(make).clone()
    }
}
