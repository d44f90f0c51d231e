//! What a recorder needs to find or make a series: the sinks by their keys, and what was resolved before.
//!
//! Off the path of a sample: it is asked once for each distinct set of tags. It refuses to grow with what a target or a
//! script may make without end: kinds of errors and of requests are bounded, and so is the table of resolved sets.

use std::collections::HashMap;
use std::sync::Arc;

use crate::errors::{ErrorKind, KINDS};
use crate::naming::cardinality::Cardinality;
use crate::naming::metric::{Kind, MetricId};
use crate::naming::tags::TagSet;
use crate::recording::sharded::Sharded;
use crate::recording::store::{Bundle, Series, Store};
use crate::registry::Registry;
use crate::requests::{REQUEST_KINDS, RequestKind};
use crate::sink::SinkKey;

/// Distinct tag sets that the table of resolved series holds before some are forgotten.
pub(crate) const RESOLVED_LIMIT: usize = 100_000;

/// What members of bundles differ in: their series, and the bits of a constant one's value.
pub(crate) type MemberKey = (Series, Option<u64>);

/// What `series` needs to find or make an entry.
#[derive(Default)]
pub(crate) struct Lookup {
    pub(crate) resolved: Sharded<(MetricId, TagSet), Series>,
    pub(crate) shared: HashMap<(MetricId, Box<[u32]>), Series>,
    pub(crate) bundles: HashMap<Box<[MemberKey]>, Bundle>,
    sinks: HashMap<Arc<SinkKey>, u32>,
    /// Keys by position of their sink.
    pub(crate) keys: Vec<Arc<SinkKey>>,
    /// Kinds of errors with a text.
    error_kinds: usize,
    /// Kinds of requests.
    request_kinds: usize,
    pub(crate) cardinality: Cardinality,
    /// Whether `cardinality` changed since the last `take`.
    pub(crate) grown: bool,
}

impl Lookup {
    /// The sink of a kind of errors, or that of the others where there are too many.
    pub(crate) fn error(&mut self, kind: &ErrorKind, store: &mut Store, registry: &Registry) -> u32 {
        let own = SinkKey::Error(kind.clone());
        if let Some(at) = self.sinks.get(&own) {
            return *at;
        }
        if matches!(kind, ErrorKind::Status { .. }) {
            return self.sink(own, Kind::Counter, store, registry);
        }
        self.error_kinds += 1;
        let key = if self.error_kinds > KINDS { SinkKey::Error(kind.other()) } else { own };
        self.sink(key, Kind::Counter, store, registry)
    }

    /// The sink of a kind of requests, or that of the others of its outcome where there are too many.
    pub(crate) fn request(&mut self, kind: &RequestKind, store: &mut Store, registry: &Registry) -> u32 {
        let own = SinkKey::Request(kind.clone());
        if let Some(at) = self.sinks.get(&own) {
            return *at;
        }
        self.request_kinds += 1;
        let key = if self.request_kinds > REQUEST_KINDS { SinkKey::Request(kind.other()) } else { own };
        self.sink(key, Kind::Trend, store, registry)
    }

    pub(crate) fn sink(&mut self, key: SinkKey, kind: Kind, store: &mut Store, registry: &Registry) -> u32 {
        if let Some(at) = self.sinks.get(&key) {
            return *at;
        }
        let (key, at) = (Arc::new(key), store.push_sink(kind));
        if key.is_in_tree() {
            registry.place(&key);
        }
        assert_eq!(self.keys.len(), at as usize, "keys lie where their sinks do");
        self.keys.push(key.clone());
        self.sinks.insert(key, at);
        at
    }
}
