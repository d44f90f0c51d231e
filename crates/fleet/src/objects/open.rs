//! Which store a URL names: its kind, how that is asked, and what people have to set for it.

use std::sync::{Arc, Once};
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{BackoffConfig, ClientOptions, Error, ObjectStore, RetryConfig};
use url::Url;

use crate::backing::STORES;

/// A request that fails is tried again at once, but not for so long that nobody learns of an outage.
const RETRY_PATIENCE: Duration = Duration::from_secs(1);

/// A kind of store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A folder.
    Folder,
    /// S3, of Amazon or of others.
    S3,
    /// Cloud Storage of Google.
    Google,
    /// Blob Storage of Azure.
    Azure,
}

impl Kind {
    fn of(url: &Url) -> Option<Kind> {
        match url.scheme() {
            "file" => Some(Kind::Folder),
            "s3" => Some(Kind::S3),
            "gs" => Some(Kind::Google),
            "az" | "abfs" | "abfss" => Some(Kind::Azure),
            _ => None,
        }
    }

    /// What it calls that in which objects lie.
    pub(super) fn bucket(self) -> &'static str {
        match self {
            Kind::Folder => "folder",
            Kind::S3 | Kind::Google => "bucket",
            Kind::Azure => "container",
        }
    }

    /// The variables that give access.
    pub(super) fn credentials(self) -> &'static str {
        match self {
            Kind::Folder => "its rights",
            Kind::S3 => "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION",
            Kind::Google => "GOOGLE_APPLICATION_CREDENTIALS to the file of a service account",
            Kind::Azure => "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY",
        }
    }

    /// Whether this is its answer when there is no such bucket.
    pub(super) fn is_bucket_missing(self, answer: &str) -> bool {
        match self {
            Kind::Folder => false,
            Kind::S3 => answer.contains("NoSuchBucket"),
            Kind::Google => answer.contains("NoSuchBucket") || answer.contains("bucket does not exist"),
            Kind::Azure => answer.contains("ContainerNotFound"),
        }
    }
}

/// The store of this URL, and the prefix in it.
pub(super) fn open(url: &str, settings: &[(&str, &str)]) -> Result<(Kind, Arc<dyn ObjectStore>, Path), String> {
    let wrong = |why: String| format!("{url}: {why}, expected {STORES}");
    let read = Url::parse(url).map_err(|error| wrong(error.to_string()))?;
    let Some(kind) = Kind::of(&read) else { return Err(wrong(format!("found '{}://'", read.scheme()))) };
    if kind == Kind::Folder {
        let folder = read.to_file_path().map_err(|()| wrong(String::from("it names no folder")))?;
        if !folder.is_dir() {
            return Err(format!("{url}: there is no folder {}: make it, or mount it", folder.display()));
        }
        let store = LocalFileSystem::new_with_prefix(&folder).map_err(|error| format!("{url}: {error}"))?;
        return Ok((kind, Arc::new(store), Path::default()));
    }
    if read.host_str().is_none_or(str::is_empty) {
        return Err(wrong(format!("it names no {}", kind.bucket())));
    }
    let prefix = Path::from_url_path(read.path()).map_err(|error| wrong(error.to_string()))?;
    static PROVIDER: Once = Once::new();
    // The clients take what the process uses; ours names its own wherever else TLS is spoken.
    PROVIDER.call_once(|| {
        let _is_set_already = rustls::crypto::ring::default_provider().install_default();
    });
    let store = match kind {
        Kind::Google => google(url, settings),
        Kind::Azure => azure(url, settings),
        Kind::S3 | Kind::Folder => s3(url, settings),
    };
    Ok((kind, store.map_err(|error| format!("{url}: {error}"))?, prefix))
}

fn s3(url: &str, settings: &[(&str, &str)]) -> Result<Arc<dyn ObjectStore>, Error> {
    let mut builder = AmazonS3Builder::from_env().with_url(url);
    for (name, value) in settings {
        builder = builder.with_config(name.parse()?, *value);
    }
    let client = client(builder.get_config_value(&AmazonS3ConfigKey::Endpoint));
    Ok(Arc::new(builder.with_client_options(client).with_retry(retries()).build()?))
}

fn google(url: &str, settings: &[(&str, &str)]) -> Result<Arc<dyn ObjectStore>, Error> {
    let mut builder = GoogleCloudStorageBuilder::from_env().with_url(url);
    for (name, value) in settings {
        builder = builder.with_config(name.parse()?, *value);
    }
    let client = client(builder.get_config_value(&GoogleConfigKey::BaseUrl));
    Ok(Arc::new(builder.with_client_options(client).with_retry(retries()).build()?))
}

fn azure(url: &str, settings: &[(&str, &str)]) -> Result<Arc<dyn ObjectStore>, Error> {
    let mut builder = MicrosoftAzureBuilder::from_env().with_url(url);
    for (name, value) in settings {
        builder = builder.with_config(name.parse()?, *value);
    }
    let client = client(builder.get_config_value(&AzureConfigKey::Endpoint));
    Ok(Arc::new(builder.with_client_options(client).with_retry(retries()).build()?))
}

/// An endpoint without TLS is one that somebody has written so.
fn client(endpoint: Option<String>) -> ClientOptions {
    ClientOptions::new()
        .with_connect_timeout(Duration::from_secs(3))
        .with_timeout(Duration::from_secs(30))
        .with_allow_http(endpoint.is_some_and(|endpoint| endpoint.starts_with("http://")))
}

fn retries() -> RetryConfig {
    let backoff = BackoffConfig {
        init_backoff: Duration::from_millis(50),
        max_backoff: Duration::from_secs(1),
        ..BackoffConfig::default()
    };
    RetryConfig { backoff, max_retries: 2, retry_timeout: RETRY_PATIENCE }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_url_is_named() {
        for (wrong, said) in [
            ("bucket", "relative URL without a base"),
            ("ftp://x/y", "found 'ftp://'"),
            ("s3://", "it names no bucket"),
            ("gs://", "it names no bucket"),
            ("az:///prefix", "it names no container"),
            ("file:///no/such/folder", "there is no folder /no/such/folder"),
        ] {
            let error = open(wrong, &[]).unwrap_err();
            assert!(error.starts_with(&format!("{wrong}: ")) && error.contains(said), "{error}");
        }
    }
}
