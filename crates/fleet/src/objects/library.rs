//! Stores as the library `object_store` reaches them.

use std::future::Future;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;

use futures_util::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{Error, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutOptions};

use super::access::{Answer, Objects, Problem, no_conditions};
use super::open::{self, Kind};
use crate::cause::innermost;

/// The store of a URL, and the prefix in it.
pub(super) fn open(url: &str, settings: &[(&str, &str)]) -> Result<Arc<dyn Objects>, String> {
    let (kind, store, prefix) = open::open(url, settings)?;
    Ok(Arc::new(LibraryStore { store, prefix, kind, shown: url.to_owned() }))
}

#[derive(Debug)]
struct LibraryStore {
    store: Arc<dyn ObjectStore>,
    prefix: Path,
    kind: Kind,
    shown: String,
}

impl Objects for LibraryStore {
    fn create<'a>(&'a self, name: &'a str, content: Vec<u8>) -> Answer<'a, ()> {
        Box::pin(async move {
            let options = PutOptions::from(PutMode::Create);
            let put = self.store.put_opts(&self.path(name), content.into(), options).await;
            put.map(|_| ()).map_err(|error| self.problem(error))
        })
    }

    fn read<'a>(&'a self, name: &'a str) -> Answer<'a, Vec<u8>> {
        Box::pin(async move {
            let got = self.store.get(&self.path(name)).await.map_err(|error| self.problem(error))?;
            got.bytes().await.map(Vec::from).map_err(|error| self.problem(error))
        })
    }

    fn read_range<'a>(&'a self, name: &'a str, range: Range<u64>) -> Answer<'a, Vec<u8>> {
        Box::pin(async move {
            let got = self.store.get_range(&self.path(name), range).await;
            got.map(Vec::from).map_err(|error| self.problem(error))
        })
    }

    fn list<'a>(&'a self, below: &'a str) -> Answer<'a, Vec<String>> {
        Box::pin(async move {
            let found: Result<Vec<ObjectMeta>, Error> = self.store.list(Some(&self.path(below))).try_collect().await;
            let prefix = self.prefix.parts().count();
            let name = |path: Path| path.parts().skip(prefix).map(|part| part.as_ref().to_owned()).collect::<Vec<_>>();
            let found = found.map_err(|error| self.problem(error))?;
            Ok(found.into_iter().map(|meta| name(meta.location).join("/")).collect())
        })
    }

    fn has_folders(&self) -> Answer<'_, bool> {
        Box::pin(async move {
            let found = self.store.list_with_delimiter(Some(&self.prefix)).await;
            found.map(|found| !found.common_prefixes.is_empty()).map_err(|error| self.problem(error))
        })
    }

    fn remove(&self, names: Vec<String>) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async move {
            let paths: Vec<_> = names.iter().map(|name| Ok(self.path(name))).collect();
            let mut removed = self.store.delete_stream(futures_util::stream::iter(paths).boxed());
            while removed.next().await.is_some() {}
        })
    }
}

impl LibraryStore {
    fn path(&self, name: &str) -> Path {
        self.prefix.parts().chain(Path::from(name).parts()).collect()
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
