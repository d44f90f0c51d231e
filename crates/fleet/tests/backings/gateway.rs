//! Object stores as other programs speak them, behind a proxy: S3 by versitygw, Azure's blobs by Azurite.

use std::marker::PhantomData;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use onrush_fleet::objects::{ObjectsHub, ObjectsLine, StorePlace};
use onrush_fleet::{Credentials, Token};

use crate::fixture::{Backing, Opening};
use crate::programs::{self, Server};
use crate::proxy::Proxy;

/// A program that speaks as a service of a cloud does.
pub trait Service {
    /// The place in it.
    const PLACE: &'static str;

    /// Starts it on this folder, with a bucket.
    fn start(folder: &Path, at: SocketAddr) -> Result<Server, String>;

    /// What has to be set, where it is reached so.
    fn settings(front: SocketAddr) -> Vec<(&'static str, String)>;
}

pub struct Versity;

impl Service for Versity {
    const PLACE: &'static str = "s3://fleet/some/prefix";

    fn start(folder: &Path, at: SocketAddr) -> Result<Server, String> {
        let program = programs::find("versitygw", "VERSITYGW")?;
        std::fs::create_dir_all(folder.join("fleet")).map_err(|error| error.to_string())?;
        let mut command = Command::new(program);
        command.args(["--access", "onrush", "--secret", "onrush-secret", "--port", &at.to_string(), "posix"]);
        programs::start(command.arg(folder), at)
    }

    fn settings(front: SocketAddr) -> Vec<(&'static str, String)> {
        let endpoint = format!("http://{front}");
        let given = [("access_key_id", "onrush"), ("secret_access_key", "onrush-secret"), ("region", "us-east-1")];
        [("endpoint", endpoint)].into_iter().chain(given.map(|(name, value)| (name, value.to_owned()))).collect()
    }
}

pub struct Gateway<S> {
    front: Proxy,
    at: SocketAddr,
    folder: PathBuf,
    _server: Server,
    service: PhantomData<S>,
}

impl<S: Service> Gateway<S> {
    fn place(&self) -> StorePlace {
        let settings = S::settings(self.front.address);
        let settings: Vec<_> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
        StorePlace::open_with(S::PLACE, &settings).expect("a bucket")
    }
}

impl<S: Service> Backing for Gateway<S> {
    type Hub = ObjectsHub;
    type Line = ObjectsLine;
    const RETRIES: bool = true;
    const OUTAGE: Duration = Duration::from_secs(2);
    // Each agent makes dozens of requests a second while clocks are sighted, here by libraries that are not optimised.
    const CROWD: u32 = 10;

    fn make() -> Result<Gateway<S>, String> {
        let at = programs::free();
        let folder = std::env::temp_dir().join(format!("onrush-gateway-{}-{}", std::process::id(), at.port()));
        std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let server = S::start(&folder, at)?;
        let front = Proxy::start().map_err(|error| error.to_string())?;
        front.lead_to(at);
        Ok(Gateway { front, at, folder, _server: server, service: PhantomData })
    }

    fn hub(&self, credentials: &Credentials, archive: &[u8]) -> Opening<ObjectsHub> {
        let (place, token, archive) = (self.place(), credentials.token(), archive.to_vec());
        Box::pin(async move { ObjectsHub::open(place, &token, archive).await })
    }

    fn line(&self, token: &Token) -> ObjectsLine {
        ObjectsLine::new(self.place(), token)
    }

    fn cut(&self) {
        self.cut_for(Self::OUTAGE);
    }

    /// Nobody answers for longer than requests are tried again.
    fn cut_for(&self, time: Duration) {
        self.front.shut();
        std::thread::sleep(time);
        self.front.lead_to(self.at);
    }
}

impl<S> Drop for Gateway<S> {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
