//! A store and a prefix in it: what of the store's interface messages need, and its errors by name.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{Error, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutOptions};
use tokio::time::{sleep, timeout};

use super::open::{self, Kind};
use crate::clock;
use crate::coordinator::OUTAGE_PATIENCE;

/// Between two attempts to write during an outage, and how long one may take.
const WRITE_AGAIN: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(10));

/// Where messages lie.
#[derive(Clone, Debug)]
pub struct StorePlace {
    store: Arc<dyn ObjectStore>,
    prefix: Path,
    kind: Kind,
    shown: String,
}

/// Why an object was not read or written.
#[derive(Clone, Debug, PartialEq, Eq)]
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

impl StorePlace {
    /// The place that a URL names, with the variables of its kind of store; see `backing::STORES`. A folder exists
    /// already.
    pub fn open(url: &str) -> Result<StorePlace, String> {
        StorePlace::open_with(url, &[])
    }

    /// The same, with settings in the place of variables: `aws_endpoint` for `AWS_ENDPOINT`.
    pub fn open_with(url: &str, settings: &[(&str, &str)]) -> Result<StorePlace, String> {
        let (kind, store, prefix) = open::open(url, settings)?;
        Ok(StorePlace { store, prefix, kind, shown: url.to_owned() })
    }

    /// As it was given.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    fn path(&self, name: &str) -> Path {
        self.prefix.parts().chain(Path::from(name).parts()).collect()
    }

    /// Writes an object that is not there.
    pub(super) async fn create(&self, name: &str, content: Vec<u8>) -> Result<(), Problem> {
        let options = PutOptions::from(PutMode::Create);
        let put = self.store.put_opts(&self.path(name), content.into(), options).await;
        put.map(|_| ()).map_err(|error| self.problem(error))
    }

    /// The same, where a request may have worked although its answer was lost: one's own object is no other's.
    pub(super) async fn create_own(&self, name: &str, content: Vec<u8>) -> Result<(), Problem> {
        match self.create(name, content.clone()).await {
            Err(Problem::There) if self.read(name).await.is_ok_and(|found| found == content) => Ok(()),
            other => other,
        }
    }

    /// The same, as long as the store may come back.
    pub(super) async fn create_in_time(&self, name: &str, content: Vec<u8>) -> Result<(), Problem> {
        let began = clock::now();
        loop {
            let created = timeout(WRITE_AGAIN.1, self.create_own(name, content.clone())).await;
            match created.unwrap_or_else(|_| Err(Problem::Now(format!("{}: no answer", self.shown)))) {
                Err(Problem::Now(_)) if clock::now().saturating_sub(began) < OUTAGE_PATIENCE => {
                    sleep(WRITE_AGAIN.0).await;
                }
                other => return other,
            }
        }
    }

    /// Reads an object.
    pub(super) async fn read(&self, name: &str) -> Result<Vec<u8>, Problem> {
        let got = self.store.get(&self.path(name)).await.map_err(|error| self.problem(error))?;
        got.bytes().await.map(Vec::from).map_err(|error| self.problem(error))
    }

    /// Some bytes of one.
    pub(super) async fn read_range(&self, name: &str, range: std::ops::Range<u64>) -> Result<Vec<u8>, Problem> {
        let got = self.store.get_range(&self.path(name), range).await;
        got.map(Vec::from).map_err(|error| self.problem(error))
    }

    /// The names below this one, sorted.
    pub(super) async fn list(&self, below: &str) -> Result<Vec<String>, Problem> {
        let found: Result<Vec<ObjectMeta>, Error> = self.store.list(Some(&self.path(below))).try_collect().await;
        let prefix = self.prefix.parts().count();
        let name = |path: Path| path.parts().skip(prefix).map(|part| part.as_ref().to_owned()).collect::<Vec<_>>();
        let found = found.map_err(|error| self.problem(error))?;
        let mut names: Vec<String> = found.into_iter().map(|meta| name(meta.location).join("/")).collect();
        names.sort_unstable();
        Ok(names)
    }

    /// Whether there are folders right below the prefix.
    pub(super) async fn has_folders(&self) -> Result<bool, Problem> {
        let found = self.store.list_with_delimiter(Some(&self.prefix)).await;
        found.map(|found| !found.common_prefixes.is_empty()).map_err(|error| self.problem(error))
    }

    /// Removes what is not needed any more; who may not delete leaves it to the store's rules.
    pub(super) async fn remove(&self, names: Vec<String>) {
        let paths: Vec<_> = names.iter().map(|name| Ok(self.path(name))).collect();
        let mut removed = self.store.delete_stream(futures_util::stream::iter(paths).boxed());
        while removed.next().await.is_some() {}
    }

    fn problem(&self, error: Error) -> Problem {
        let place = &self.shown;
        match error {
            // A bucket that is not there is no object that is not there.
            Error::NotFound { source, .. } if self.kind.is_bucket_missing(&source.to_string()) => {
                Problem::Ever(format!("{place}: there is no such {}: make it, or correct its name", self.kind.bucket()))
            }
            Error::NotFound { .. } => Problem::Missing,
            Error::AlreadyExists { .. } | Error::Precondition { .. } => Problem::There,
            Error::PermissionDenied { .. } => Problem::Ever(format!(
                "{place}: the store gives no right to this: agents and coordinator need to list, read and create \
                 objects there, the coordinator should delete them, too"
            )),
            Error::Unauthenticated { .. } => Problem::Ever(format!(
                "{place}: the store does not know these credentials: set {}, or give the machine a role",
                self.kind.credentials()
            )),
            Error::NotImplemented { .. } | Error::NotSupported { .. } => Problem::Ever(no_conditions(place)),
            other => Problem::Now(format!("{place}: {}", innermost(&other))),
        }
    }
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

/// The cause of causes: what is around it repeats the request.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_object_is_created_once_and_names_are_those_below_the_prefix() {
        let folder = std::env::temp_dir().join(format!("onrush-store-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let place = StorePlace::open(&format!("file://{}", folder.display())).unwrap();
        assert_eq!(place.create("a/b/1", b"one".to_vec()).await, Ok(()));
        assert_eq!(place.create("a/b/1", b"two".to_vec()).await, Err(Problem::There));
        assert_eq!(place.create_own("a/b/1", b"one".to_vec()).await, Ok(()));
        assert_eq!(place.create_own("a/b/1", b"two".to_vec()).await, Err(Problem::There));
        assert_eq!(place.create("a/c/0", Vec::new()).await, Ok(()));
        assert_eq!(place.list("a").await, Ok(vec![String::from("a/b/1"), String::from("a/c/0")]));
        assert_eq!(place.list("z").await, Ok(Vec::new()));
        assert_eq!(place.read("a/b/1").await, Ok(b"one".to_vec()));
        assert_eq!(place.read_range("a/b/1", 1..3).await, Ok(b"ne".to_vec()));
        assert_eq!(place.read("a/b/2").await, Err(Problem::Missing));
        assert_eq!(place.has_folders().await, Ok(true));
        place.remove(vec![String::from("a/b/1"), String::from("a/b/9")]).await;
        assert_eq!(place.list("a/b").await, Ok(Vec::new()));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
