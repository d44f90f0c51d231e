//! A store and a prefix in it. The library that speaks to it is in `library`, where the build has it.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{sleep, timeout};

use super::access::{Objects, Problem};
use crate::clock;
use crate::coordinator::OUTAGE_PATIENCE;

/// Between two attempts to write during an outage, and how long one may take.
const WRITE_AGAIN: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(10));

/// Where messages lie.
#[derive(Clone, Debug)]
pub struct StorePlace {
    objects: Arc<dyn Objects>,
    shown: String,
}

impl StorePlace {
    /// The place that a URL names, with the variables of its kind of store; see `backing::STORES`. A folder exists
    /// already.
    pub fn open(url: &str) -> Result<StorePlace, String> {
        StorePlace::open_with(url, &[])
    }

    /// The same, with settings in the place of variables: `aws_endpoint` for `AWS_ENDPOINT`.
    pub fn open_with(url: &str, settings: &[(&str, &str)]) -> Result<StorePlace, String> {
        Ok(StorePlace { objects: objects_of(url, settings)?, shown: url.to_owned() })
    }

    /// As it was given.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Writes an object that is not there.
    pub(super) async fn create(&self, name: &str, content: Vec<u8>) -> Result<(), Problem> {
        self.objects.create(name, content).await
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
        self.objects.read(name).await
    }

    /// Some bytes of one.
    pub(super) async fn read_range(&self, name: &str, range: Range<u64>) -> Result<Vec<u8>, Problem> {
        self.objects.read_range(name, range).await
    }

    /// The names below this one, sorted.
    pub(super) async fn list(&self, below: &str) -> Result<Vec<String>, Problem> {
        let mut names = self.objects.list(below).await?;
        names.sort_unstable();
        Ok(names)
    }

    /// Whether there are folders right below the prefix.
    pub(super) async fn has_folders(&self) -> Result<bool, Problem> {
        self.objects.has_folders().await
    }

    /// Removes what is not needed any more; who may not delete leaves it to the store's rules.
    pub(super) async fn remove(&self, names: Vec<String>) {
        self.objects.remove(names).await;
    }
}

#[cfg(feature = "objects")]
use super::library::open as objects_of;

#[cfg(not(feature = "objects"))]
fn objects_of(url: &str, _: &[(&str, &str)]) -> Result<Arc<dyn Objects>, String> {
    Err(format!("{url}: {}", units::left_out("objects")))
}

#[cfg(all(test, feature = "objects"))]
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
