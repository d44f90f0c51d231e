//! Tags: sorted key-value pairs that say which series a sample belongs to, and filters that select by them.
//!
//! A filter is what is between the braces of a threshold's key, `status:200,group:::login`. It compares whole values:
//! no wildcards, no patterns, as in k6.

use std::fmt;
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
        debug_assert!(all.is_sorted_by(|a, b| a.0 < b.0), "each key once, in order: sets are compared pair by pair");
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

/// Tags that a sample must have to belong to a sub-metric. Shared between threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagFilter {
    source: Arc<str>,
    pairs: Vec<(String, String)>,
}

/// A filter that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterError {
    /// The part at fault.
    pub part: String,
    /// Its bytes within the filter.
    pub span: std::ops::Range<usize>,
}

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.part.as_str() {
            "" => write!(f, "empty tag filter, expected pairs such as status:200"),
            part => write!(f, "'{part}' is not a tag filter, expected tag:value"),
        }
    }
}

impl std::error::Error for FilterError {}

impl TagFilter {
    /// Reads `tag:value,tag2:value2`. Spaces around keys and values do not count, nor do quotes; the value begins after
    /// the first colon, so that `group:::login` works. For a tag given twice the last value counts.
    pub fn parse(source: &str) -> Result<Self, FilterError> {
        let mut pairs: Vec<(String, String)> = Vec::new();
        let mut start = 0;
        for part in source.split(',') {
            let span = start..start + part.len();
            start = span.end + 1;
            let (key, value) = part.split_once(':').unwrap_or((part, ""));
            let (key, value) = (bare(key), bare(value));
            if key.is_empty() || value.is_empty() {
                return Err(FilterError { part: part.trim().to_owned(), span });
            }
            pairs.retain(|(known, _)| known != key);
            pairs.push((key.to_owned(), value.to_owned()));
        }
        Ok(TagFilter { source: source.into(), pairs })
    }

    /// The filter that these pairs make, whatever characters they hold; its source reads like the text of a filter.
    pub fn of<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let pairs: Vec<(String, String)> = pairs.into_iter().map(|(key, value)| (key.into(), value.into())).collect();
        let parts: Vec<String> = pairs.iter().map(|(key, value)| format!("{key}:{value}")).collect();
        TagFilter { source: parts.join(",").into(), pairs }
    }

    /// The same filter, read from another text.
    pub(crate) fn with_source(self, source: &str) -> Self {
        TagFilter { source: source.into(), ..self }
    }

    /// The text it was read from.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The pairs, in the order given.
    pub fn pairs(&self) -> &[(String, String)] {
        &self.pairs
    }

    /// Whether these tags contain all of the filter's.
    pub fn accepts(&self, tags: &TagSet) -> bool {
        self.pairs.iter().all(|(key, value)| tags.get(key) == Some(value))
    }
}

/// Without spaces around, and without one pair of quotes.
fn bare(text: &str) -> &str {
    text.trim().trim_matches(['"', '\''])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_values_replace_earlier_ones() {
        let tags = TagSet::new([("b", "1"), ("a", "2"), ("b", "3")]).with([("c", "4"), ("a", "5")]);
        let pairs: Vec<String> = tags.iter().map(|(k, v)| format!("{k}={v}")).collect();
        assert_eq!(pairs, ["a=5", "b=3", "c=4"]);
    }

    #[test]
    fn filters_compare_whole_values() {
        let tags = TagSet::new([("group", "::my group"), ("status", "200")]);
        for yes in
            ["status:200", " status : 200 , group:::my group", "status:\"200\"", "status:'200'", "status:1,status:200"]
        {
            assert!(TagFilter::parse(yes).unwrap().accepts(&tags), "{yes}");
        }
        for no in ["status:20", "status:2.*", "method:GET", "status:200,method:GET", "status:200,status:1"] {
            assert!(!TagFilter::parse(no).unwrap().accepts(&tags), "{no}");
        }
    }

    #[test]
    fn pairs_make_the_filter_that_their_text_makes() {
        let made = TagFilter::of([("event", "edit"), ("hop", "up")]);
        assert_eq!(made, TagFilter::parse("event:edit,hop:up").unwrap());
        let odd = TagFilter::of([("event", " a,b:'c' ")]);
        assert!(odd.accepts(&TagSet::new([("event", " a,b:'c' ")])), "{}", odd.source());
    }

    #[test]
    fn malformed_filters_name_the_part() {
        let error = TagFilter::parse("status:200, bad").unwrap_err();
        assert_eq!(
            (error.span.clone(), error.to_string()),
            (11..15, "'bad' is not a tag filter, expected tag:value".to_owned())
        );
        assert_eq!(
            TagFilter::parse("").unwrap_err().to_string(),
            "empty tag filter, expected pairs such as status:200"
        );
        assert!(TagFilter::parse("status:").is_err());
        assert!(TagFilter::parse(":200").is_err());
    }
}
