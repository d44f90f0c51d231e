//! A real NATS, behind a proxy.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use onrush_fleet::embedded::TcpHub;
use onrush_fleet::nats::{Broker, NatsHub, NatsLine};
use onrush_fleet::{Credentials, Token};

use crate::fixture::{Backing, Opening};
use crate::programs::{self, Server};
use crate::proxy::Proxy;

pub struct Nats {
    /// The broker behind it is the agents' one.
    front: Proxy,
    /// The coordinator behind it takes what is large.
    bulk: Arc<Proxy>,
    program: PathBuf,
    at: SocketAddr,
    server: Mutex<Option<Server>>,
}

impl Nats {
    fn serve(&self) -> Result<(), String> {
        let mut command = Command::new(&self.program);
        command.args(["--addr", "127.0.0.1", "--port", &self.at.port().to_string()]);
        let started = programs::start(&mut command, self.at)?;
        *self.server.lock().expect("no panics") = Some(started);
        Ok(())
    }
}

impl Backing for Nats {
    type Hub = NatsHub;
    type Line = NatsLine;

    fn make() -> Result<Nats, String> {
        let program = programs::find("nats-server", "NATS_SERVER")?;
        let at = programs::free();
        let made = || Proxy::start().map_err(|error| error.to_string());
        let (front, bulk) = (made()?, made()?);
        front.lead_to(at);
        let nats = Nats { front, bulk: Arc::new(bulk), program, at, server: Mutex::default() };
        nats.serve().map(|()| nats)
    }

    fn hub(&self, credentials: &Credentials, _: &[u8]) -> Opening<NatsHub> {
        let (direct, credentials, proxy) = (format!("nats://{}", self.at), credentials.clone(), Arc::clone(&self.bulk));
        Box::pin(async move {
            let any = "127.0.0.1:0".parse().expect("an address");
            let bulk = TcpHub::listen_beside(any, &credentials.certificate, credentials.secret.clone()).await?;
            proxy.lead_to(bulk.address());
            NatsHub::open(&Broker::new(&direct)?, &credentials, bulk, proxy.address.to_string()).await
        })
    }

    fn line(&self, token: &Token) -> NatsLine {
        NatsLine::new(Broker::new(&format!("nats://{}", self.front.address)).expect("a URL"), token)
    }

    fn cut(&self) {
        self.front.cut();
        self.bulk.cut();
    }

    /// The broker is killed, and there again later.
    fn cut_for(&self, time: Duration) {
        drop(self.server.lock().expect("no panics").take());
        std::thread::sleep(time);
        self.serve().expect("the broker, again");
    }
}
