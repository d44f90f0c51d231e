//! S3 as versitygw speaks it, behind a proxy.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use onrush_fleet::objects::{ObjectsHub, ObjectsLine, StorePlace};
use onrush_fleet::{Credentials, Token};

use crate::fixture::{Backing, Opening};
use crate::programs::{self, Server};
use crate::proxy::Proxy;

pub struct Gateway {
    front: Proxy,
    at: SocketAddr,
    folder: PathBuf,
    _server: Server,
}

impl Gateway {
    fn place(&self) -> StorePlace {
        let endpoint = format!("http://{}", self.front.address);
        let settings = [
            ("aws_endpoint", endpoint.as_str()),
            ("aws_access_key_id", "onrush"),
            ("aws_secret_access_key", "onrush-secret"),
            ("aws_region", "us-east-1"),
        ];
        StorePlace::open_with("s3://fleet/some/prefix", &settings).expect("a bucket")
    }
}

impl Backing for Gateway {
    type Hub = ObjectsHub;
    type Line = ObjectsLine;
    const RETRIES: bool = true;
    const OUTAGE: Duration = Duration::from_secs(2);
    // Each agent makes dozens of requests a second while clocks are sighted, here by libraries that are not optimised.
    const CROWD: u32 = 10;

    fn make() -> Result<Gateway, String> {
        let program = programs::find("versitygw", "VERSITYGW")?;
        let at = programs::free();
        let folder = std::env::temp_dir().join(format!("onrush-gateway-{}-{}", std::process::id(), at.port()));
        std::fs::create_dir_all(folder.join("fleet")).map_err(|error| error.to_string())?;
        let mut command = Command::new(program);
        command.args(["--access", "onrush", "--secret", "onrush-secret", "--port", &at.to_string(), "posix"]);
        let server = programs::start(command.arg(&folder), at)?;
        let front = Proxy::start().map_err(|error| error.to_string())?;
        front.lead_to(at);
        Ok(Gateway { front, at, folder, _server: server })
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

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
