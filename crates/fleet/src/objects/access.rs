//! What messages need of a store, and its errors by name.

use std::fmt::Debug;
use std::future::Future;
use std::ops::Range;
use std::pin::Pin;

/// An answer of a store, some time.
pub(super) type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, Problem>> + Send + 'a>>;

/// What messages need of a store. Names are those below the prefix.
pub(super) trait Objects: Debug + Send + Sync {
    /// Writes an object that is not there.
    fn create<'a>(&'a self, name: &'a str, content: Vec<u8>) -> Answer<'a, ()>;

    /// Reads an object.
    fn read<'a>(&'a self, name: &'a str) -> Answer<'a, Vec<u8>>;

    /// Some bytes of one.
    fn read_range<'a>(&'a self, name: &'a str, range: Range<u64>) -> Answer<'a, Vec<u8>>;

    /// The names below this one, in any order.
    fn list<'a>(&'a self, below: &'a str) -> Answer<'a, Vec<String>>;

    /// Whether there are folders right below the prefix.
    fn has_folders(&self) -> Answer<'_, bool>;

    /// Removes what it may remove.
    fn remove(&self, names: Vec<String>) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}

/// Why an object was not read or written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "objects"), allow(dead_code, reason = "made by the library alone"))]
pub(super) enum Problem {
    /// There is none of that name.
    Missing,
    /// There is one already.
    There,
    /// It is of no use to try again.
    Ever(String),
    /// It may work later.
    Now(String),
}

/// What is said of a store that replaces objects although it was asked not to.
pub(super) fn no_conditions(place: &str) -> String {
    format!("{place}: this store does not refuse to replace an object (If-None-Match: *): use one that does")
}

impl Problem {
    /// For a log.
    pub(super) fn text(self, what: &str) -> String {
        match self {
            Problem::Missing => format!("{what} is not there"),
            Problem::There => format!("{what} is there already"),
            Problem::Ever(why) | Problem::Now(why) => why,
        }
    }
}
