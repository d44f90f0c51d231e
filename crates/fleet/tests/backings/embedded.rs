//! TCP and TLS, behind a proxy.

use onrush_fleet::embedded::{TcpHub, TcpLine};
use onrush_fleet::{Credentials, Invitation, Token};

use crate::fixture::{Backing, Opening};
use crate::proxy::Proxy;

pub struct Embedded(std::sync::Arc<Proxy>);

impl Backing for Embedded {
    type Hub = TcpHub;
    type Line = TcpLine;

    fn make() -> Result<Embedded, String> {
        Proxy::start().map(|proxy| Embedded(proxy.into())).map_err(|error| error.to_string())
    }

    fn hub(&self, credentials: &Credentials, _: &[u8]) -> Opening<TcpHub> {
        let (proxy, certificate) = (self.0.clone(), credentials.certificate.clone());
        Box::pin(async move {
            let hub = TcpHub::listen("127.0.0.1:0".parse().expect("an address"), &certificate).await?;
            proxy.lead_to(hub.address());
            Ok(hub)
        })
    }

    fn line(&self, token: &Token) -> TcpLine {
        let invitation = Invitation { token: token.clone(), address: self.0.address.to_string() };
        TcpLine::new(&invitation).expect("a line")
    }

    fn cut(&self) {
        self.0.cut();
    }
}
