//! Series of samples that scripts record themselves, resolved once per worker.
//!
//! Resolving a series builds a tag set; a hot loop must not. The cache belongs to the worker, so that a thousand
//! virtual users with the same tags share it, and it is emptied when scripts make ever new tags. No borrow is held
//! while a series is being resolved or JavaScript runs.

use std::cell::RefCell;

use host::bytes;
use host::js::object::Filter;
use host::js::{Ctx, Result, Value};
use metrics::{MetricId, Series, Sharded, TagSet};
use rustc_hash::FxBuildHasher;

use crate::Vu;
use crate::asked::AskedRow;
use crate::go_error;

/// Distinct series that each of both caches holds, about.
const LIMIT: usize = 10_000;

/// Tags given with a single sample.
pub type SampleTags = Vec<(String, String)>;

/// Resolved series by metric, tags of the virtual user and tags of the sample.
#[derive(Default)]
pub struct SeriesCache {
    plain: RefCell<Sharded<(MetricId, u32), Series, FxBuildHasher>>,
    tagged: RefCell<Sharded<Box<[u8]>, Series, FxBuildHasher>>,
    key: RefCell<Vec<u8>>,
}

impl SeriesCache {
    /// The series of this metric for what the virtual user is doing now, with these tags added.
    pub fn resolve(&self, vu: &Vu, metric: MetricId, own: &[(String, String)]) -> Series {
        self.resolve_among(vu, vu.tags_key(), || vu.tags(), metric, own)
    }

    /// The same with tags that the user had before: `tags_key` and `tags` of that time.
    pub fn resolve_among(
        &self,
        vu: &Vu,
        tags_key: u32,
        tags: impl FnOnce() -> TagSet,
        metric: MetricId,
        own: &[(String, String)],
    ) -> Series {
        if own.is_empty() {
            self.plain(vu, tags_key, tags, metric)
        } else {
            self.tagged(tags_key, tags, metric, own, |_| {}, |tags| vu.recorder().series(metric, tags))
        }
    }

    /// The series of a Trend whose samples are a row of the table of requests, too.
    pub fn resolve_asked(&self, vu: &Vu, metric: MetricId, own: &[(String, String)], asked: &AskedRow<'_>) -> Series {
        let make = |tags: &TagSet| vu.recorder().series_of_request(metric, tags, &asked.kind(tags));
        self.tagged(vu.tags_key(), || vu.tags(), metric, own, |key| asked.write(key), make)
    }

    fn plain(&self, vu: &Vu, tags_key: u32, tags: impl FnOnce() -> TagSet, metric: MetricId) -> Series {
        let key = (metric, tags_key);
        if let Some(series) = self.plain.borrow().get(&key) {
            return *series;
        }
        let series = vu.recorder().series(metric, &tags());
        self.plain.borrow_mut().insert(key, series, Some(LIMIT));
        series
    }

    /// `more` adds to the key what else than tags decides.
    fn tagged(
        &self,
        tags_key: u32,
        tags: impl FnOnce() -> TagSet,
        metric: MetricId,
        own: &[(String, String)],
        more: impl FnOnce(&mut Vec<u8>),
        make: impl FnOnce(&TagSet) -> Series,
    ) -> Series {
        let mut key = self.key.borrow_mut();
        key.clear();
        key.extend_from_slice(&metric.0.to_ne_bytes());
        key.extend_from_slice(&tags_key.to_ne_bytes());
        for text in own.iter().flat_map(|(name, value)| [name, value]) {
            key.extend_from_slice(&text.len().to_ne_bytes());
            key.extend_from_slice(text.as_bytes());
        }
        more(&mut key);
        if let Some(series) = self.tagged.borrow().get(key.as_slice()) {
            return *series;
        }
        let tags = tags().with(own.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        let series = make(&tags);
        self.tagged.borrow_mut().insert(key.as_slice().into(), series, Some(LIMIT));
        series
    }
}

/// The tags in an object that a script gave; values other than strings, numbers and booleans throw. What is not an
/// object has no tags.
pub fn own_tags<'js>(ctx: &Ctx<'js>, tags: Option<Value<'js>>) -> Result<SampleTags> {
    let Some(tags) = tags.as_ref().and_then(Value::as_object) else { return Ok(Vec::new()) };
    tags.own_props::<String, Value<'js>>(Filter::new().string().enum_only())
        .map(|tag| {
            let (name, value) = tag?;
            match tag_text(ctx, &value)? {
                Some(text) => Ok((name, text)),
                None => Err(go_error::throw(ctx, &refusal("tag", &name))),
            }
        })
        .collect()
}

/// The text of a tag's value; nothing when it is not a string, a number or a boolean.
pub fn tag_text<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<Option<String>> {
    match value.is_string() || value.is_number() || value.is_bool() {
        true => bytes::to_text(ctx, value).map(Some),
        false => Ok(None),
    }
}

/// The message for a value that cannot be a tag. `what`: `tag` or `metadata`.
pub fn refusal(what: &str, name: &str) -> String {
    // k6 says it in the plural of tags alone.
    let end = if what == "tag" { "s" } else { "" };
    format!(
        "invalid value for metric {what} '{name}': only String, Boolean and Number types are accepted as a metric \
         {what} value{end}"
    )
}
