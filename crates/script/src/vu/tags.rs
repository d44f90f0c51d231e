//! The tags that every sample of a user carries: what the script set, the group it is in, and the whole set made of
//! them.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use engine::Iteration;
use metrics::TagSet;
use metrics::system_tags::SystemTag;

use crate::options::Options;

/// What a script set (or, with `None`, removed) in this scenario.
pub(super) type ScriptTags = Vec<(Arc<str>, Option<Arc<str>>)>;

/// The tags of one user.
pub(super) struct Tags {
    own: RefCell<ScriptTags>,
    group: RefCell<Arc<str>>,
    /// Key and set, until something changes.
    current: RefCell<Option<(u32, TagSet)>>,
    /// The key alone, for those who ask for each sample.
    key: Cell<Option<u32>>,
}

impl Default for Tags {
    fn default() -> Self {
        Tags {
            own: RefCell::default(),
            group: RefCell::new(Arc::from("")),
            current: RefCell::default(),
            key: Cell::new(None),
        }
    }
}

impl Tags {
    /// The current key and set, made again if something has changed.
    #[inline]
    pub fn with<R>(
        &self,
        compute: impl FnOnce(&ScriptTags) -> (u32, TagSet),
        use_them: impl FnOnce(u32, &TagSet) -> R,
    ) -> R {
        if self.current.borrow().is_none() {
            let made = compute(&self.own.borrow());
            self.key.set(Some(made.0));
            *self.current.borrow_mut() = Some(made);
        }
        let current = self.current.borrow();
        let (key, tags) = current.as_ref().expect("made above");
        use_them(*key, tags)
    }

    /// The current key, unless something has changed.
    #[inline]
    pub fn known_key(&self) -> Option<u32> {
        self.key.get()
    }

    /// Something outside of the tags has changed that they depend on.
    pub fn forget_current(&self) {
        self.key.set(None);
        *self.current.borrow_mut() = None;
    }

    /// Sets a tag, whatever its origin; `None` removes it.
    pub fn set(&self, name: &str, value: Option<&str>) {
        let mut own = self.own.borrow_mut();
        own.retain(|(known, _)| &**known != name);
        own.push((Arc::from(name), value.map(Arc::from)));
        self.forget_current();
    }

    /// What the script set.
    pub fn own(&self) -> ScriptTags {
        self.own.borrow().clone()
    }

    /// Goes back to what the script had set earlier.
    pub fn restore(&self, own: &ScriptTags, group: &Arc<str>) {
        if *self.own.borrow() != *own || *self.group.borrow() != *group {
            self.own.borrow_mut().clone_from(own);
            self.group.borrow_mut().clone_from(group);
            self.forget_current();
        }
    }

    /// Whether the script set or removed any.
    pub fn has_own(&self) -> bool {
        !self.own.borrow().is_empty()
    }

    /// Forgets what the script set.
    pub fn clear_own(&self) {
        self.own.borrow_mut().clear();
        self.forget_current();
    }

    pub fn group(&self) -> Arc<str> {
        self.group.borrow().clone()
    }

    #[inline]
    pub fn is_in_group(&self) -> bool {
        !self.group.borrow().is_empty()
    }

    pub fn set_group(&self, path: Arc<str>) {
        *self.group.borrow_mut() = path;
        self.forget_current();
    }
}

/// Run tags, scenario and its tags, group and what the script set, in this order; of the system tags only those
/// enabled.
pub(super) fn all(options: &Options, iteration: Option<&Iteration>, group: Arc<str>, own: &ScriptTags) -> TagSet {
    let mut all: Vec<(Arc<str>, Arc<str>)> = options.run_tags();
    let system = options.enabled_system_tags();
    if let Some(iteration) = iteration {
        if system.has(SystemTag::Scenario) {
            all.push((Arc::from("scenario"), Arc::from(iteration.scenario.name.as_str())));
        }
        all.extend(iteration.scenario.tags.iter().map(|(k, v)| (Arc::from(k.as_str()), Arc::from(v.as_str()))));
    }
    if system.has(SystemTag::Group) {
        all.push((Arc::from("group"), group));
    }
    all.retain(|(name, _)| own.iter().all(|(changed, _)| changed != name));
    all.extend(own.iter().filter_map(|(name, value)| Some((name.clone(), value.clone()?))));
    TagSet::new(all)
}
