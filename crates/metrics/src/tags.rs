//! Tags: sorted key-value pairs that say which series a sample belongs to.

use std::rc::Rc;
use std::sync::Arc;

/// An immutable set of tags, sorted by key, cheap to clone. Belongs to one thread.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TagSet(Rc<[(Arc<str>, Arc<str>)]>);

impl TagSet {
    /// The empty set.
    pub fn empty() -> Self {
        TagSet(Rc::from([]))
    }

    /// A set of these pairs. For a key given twice the last value counts. Empty values are kept.
    pub fn new<K: Into<Arc<str>>, V: Into<Arc<str>>>(pairs: impl IntoIterator<Item = (K, V)>) -> Self {
        let mut all: Vec<(Arc<str>, Arc<str>)> = pairs.into_iter().map(|(k, v)| (k.into(), v.into())).collect();
        all.reverse();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        all.dedup_by(|later, kept| later.0 == kept.0);
        TagSet(all.into())
    }

    /// This set with these pairs added or replaced.
    pub fn with<K: Into<Arc<str>>, V: Into<Arc<str>>>(&self, pairs: impl IntoIterator<Item = (K, V)>) -> Self {
        let own = self.0.iter().cloned();
        TagSet::new(own.chain(pairs.into_iter().map(|(k, v)| (k.into(), v.into()))))
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(k, _)| &**k == key).map(|(_, v)| &**v)
    }

    /// The pairs in order of their keys.
    pub fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &Arc<str>)> {
        self.0.iter().map(|(k, v)| (k, v))
    }
}
