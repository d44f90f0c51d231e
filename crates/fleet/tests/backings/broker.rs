//! A real NATS, behind a proxy.

use std::process::Command;
use std::sync::Arc;

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
    direct: String,
    _server: Server,
}

impl Backing for Nats {
    type Hub = NatsHub;
    type Line = NatsLine;

    fn make() -> Result<Nats, String> {
        let program = programs::find("nats-server", "NATS_SERVER")?;
        let at = programs::free();
        let mut command = Command::new(program);
        command.args(["--addr", "127.0.0.1", "--port", &at.port().to_string()]);
        let server = programs::start(&mut command, at)?;
        let made = || Proxy::start().map_err(|error| error.to_string());
        let (front, bulk) = (made()?, made()?);
        front.lead_to(at);
        Ok(Nats { front, bulk: Arc::new(bulk), direct: format!("nats://{at}"), _server: server })
    }

    fn hub(&self, credentials: &Credentials, _: &[u8]) -> Opening<NatsHub> {
        let (direct, credentials, proxy) = (self.direct.clone(), credentials.clone(), Arc::clone(&self.bulk));
        Box::pin(async move {
            let bulk = TcpHub::listen("127.0.0.1:0".parse().expect("an address"), &credentials.certificate).await?;
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
}
