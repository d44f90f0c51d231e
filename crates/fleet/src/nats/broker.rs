//! Where the broker is, and with which credentials it is reached. The library that speaks to it is in `library`, where
//! the build has it.

use std::collections::HashMap;
use std::sync::Arc;

use super::client::{Client, Servers};
use crate::backing::ConnectError;

/// NATS at one or more addresses.
#[derive(Clone, Debug)]
pub struct Broker {
    servers: Arc<dyn Servers>,
    variables: HashMap<String, String>,
}

impl Broker {
    /// From `nats://host:port`, `tls://host:port`, or several of them with commas between. Credentials are those of the
    /// URL, or of variables.
    pub fn new(url: &str) -> Result<Broker, String> {
        Ok(Broker { servers: servers_of(url)?, variables: HashMap::new() })
    }

    /// With the variables that NATS's own tools read: `NATS_CREDS`, `NATS_NKEY`, `NATS_USER`, `NATS_PASSWORD`,
    /// `NATS_CA`, `NATS_CERT`, `NATS_KEY`.
    #[must_use]
    pub fn with_variables(self, variables: impl IntoIterator<Item = (String, String)>) -> Broker {
        Broker { variables: variables.into_iter().collect(), ..self }
    }

    /// As it may be printed.
    pub fn shown(&self) -> &str {
        self.servers.shown()
    }

    /// Makes a connection; `tell` hears whenever it is there, or is not any more.
    pub(super) async fn connect(
        &self,
        tell: impl Fn(bool) + Send + Sync + 'static,
    ) -> Result<Arc<dyn Client>, ConnectError> {
        self.servers.dial(&self.variables, Box::new(tell)).await
    }
}

#[cfg(feature = "nats")]
use super::library::servers as servers_of;

#[cfg(not(feature = "nats"))]
fn servers_of(_: &str) -> Result<Arc<dyn Servers>, String> {
    Err(format!("a fleet by NATS: {}", units::left_out("nats")))
}

#[cfg(all(test, feature = "nats"))]
mod tests {
    use super::*;

    #[test]
    fn a_url_names_servers_and_is_shown_without_its_password() {
        let broker = Broker::new("nats://me:secret@one:4222,two:4223").unwrap();
        assert_eq!(broker.shown(), "nats://one:4222,nats://two:4223");
        let error = Broker::new("nats://me:secret@one:port").unwrap_err();
        assert!(error.contains("expected nats://HOST:PORT") && !error.contains("secret"), "{error}");
    }

    #[tokio::test]
    async fn a_broker_that_is_not_there_is_named() {
        let broker = Broker::new("nats://127.0.0.1:1").unwrap();
        match broker.connect(drop).await.err().unwrap() {
            ConnectError::Now(why) => assert!(why.starts_with("nats://127.0.0.1:1: no broker answers there"), "{why}"),
            other => panic!("{other:?}"),
        }
    }
}
