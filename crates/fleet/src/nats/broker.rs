//! How the broker is reached, and its refusals by name.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use async_nats::{Client, ConnectErrorKind, ConnectOptions, Event, ServerAddr};

use crate::backing::ConnectError;

/// A dial at most; then the next server of a cluster is tried.
const CONNECT_PATIENCE: Duration = Duration::from_secs(3);

/// NATS at one or more addresses.
#[derive(Clone, Debug)]
pub struct Broker {
    servers: Vec<ServerAddr>,
    shown: String,
    variables: HashMap<String, String>,
}

impl Broker {
    /// From `nats://host:port`, `tls://host:port`, or several of them with commas between. Credentials are those of the
    /// URL, or of variables.
    pub fn new(url: &str) -> Result<Broker, String> {
        let scheme = url.split_once("://").map_or("nats", |(scheme, _)| scheme);
        let full = |part: &str| match part.contains("://") {
            true => part.to_owned(),
            false => format!("{scheme}://{part}"),
        };
        let parts: Vec<String> = url.split(',').map(|part| full(part.trim())).collect();
        let shown = parts.iter().map(|part| without_password(part)).collect::<Vec<_>>().join(",");
        let read: Result<Vec<ServerAddr>, _> = parts.iter().map(|part| part.parse()).collect();
        let servers = read.map_err(|error| format!("{shown}: {error}, expected nats://HOST:PORT"))?;
        Ok(Broker { servers, shown, variables: HashMap::new() })
    }

    /// With the variables that NATS's own tools read: `NATS_CREDS`, `NATS_NKEY`, `NATS_USER`, `NATS_PASSWORD`,
    /// `NATS_CA`, `NATS_CERT`, `NATS_KEY`.
    #[must_use]
    pub fn with_variables(self, variables: impl IntoIterator<Item = (String, String)>) -> Broker {
        Broker { variables: variables.into_iter().collect(), ..self }
    }

    /// As it may be printed.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Makes a connection, which the client makes anew when it breaks, by any server of the cluster. `tell` hears
    /// whenever it is there, or is not any more.
    pub(super) async fn connect(&self, tell: impl Fn(bool) + Send + Sync + 'static) -> Result<Client, ConnectError> {
        let ever = |what: String| ConnectError::Ever(format!("{}: {what}", self.shown));
        let mut options = options(&self.variables).await.map_err(ever)?;
        // The client reads its servers' addresses alone.
        let named = self.servers.first().and_then(|server| server.username().zip(server.password()));
        if let Some((user, password)) = named {
            options = options.user_and_password(user.to_owned(), password.to_owned());
        }
        let options = options.event_callback(move |event| {
            match event {
                Event::Connected => tell(true),
                Event::Disconnected => tell(false),
                _ => {}
            }
            std::future::ready(())
        });
        options.connect(self.servers.as_slice()).await.map_err(|error| match error.kind() {
            ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => ever(String::from(
                "the broker refuses these credentials: set NATS_CREDS or NATS_NKEY to a file of yours, or NATS_USER \
                 and NATS_PASSWORD",
            )),
            _ => ConnectError::Now(format!("{}: no broker answers there: {}", self.shown, innermost(&error))),
        })
    }

    pub(super) fn failed(&self, what: &str, error: &dyn std::error::Error) -> ConnectError {
        ConnectError::Now(format!("{}: {what}: {}", self.shown, innermost(error)))
    }
}

async fn options(variables: &HashMap<String, String>) -> Result<ConnectOptions, String> {
    let set = |name: &str| variables.get(name).filter(|value| !value.is_empty()).cloned();
    let mut options = ConnectOptions::new().name("onrush").connection_timeout(CONNECT_PATIENCE).max_reconnects(None);
    if let Some(path) = set("NATS_CREDS") {
        let read = options.credentials_file(&path).await;
        options = read.map_err(|error| format!("NATS_CREDS: cannot read the credentials in {path}: {error}"))?;
    }
    if let Some(path) = set("NATS_NKEY") {
        let seed = std::fs::read_to_string(&path);
        let seed = seed.map_err(|error| format!("NATS_NKEY: cannot read the seed in {path}: {error}"))?;
        options = options.nkey(seed.trim().to_owned());
    }
    if let (Some(user), Some(password)) = (set("NATS_USER"), set("NATS_PASSWORD")) {
        options = options.user_and_password(user, password);
    }
    if let Some(path) = set("NATS_CA") {
        options = options.add_root_certificates(PathBuf::from(path));
    }
    if let (Some(certificate), Some(key)) = (set("NATS_CERT"), set("NATS_KEY")) {
        options = options.add_client_certificate(certificate.into(), key.into());
    }
    Ok(options)
}

/// `scheme://user:password@host` without what stands before the `@`.
fn without_password(url: &str) -> String {
    match url.split_once("://") {
        Some((scheme, rest)) => format!("{scheme}://{}", rest.rsplit_once('@').map_or(rest, |(_, host)| host)),
        None => url.to_owned(),
    }
}

/// The cause of causes.
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

    #[test]
    fn a_url_names_servers_and_is_shown_without_its_password() {
        let broker = Broker::new("nats://me:secret@one:4222,two:4223").unwrap();
        assert_eq!(broker.servers.len(), 2);
        assert_eq!(broker.shown(), "nats://one:4222,nats://two:4223");
        let error = Broker::new("nats://me:secret@one:port").unwrap_err();
        assert!(error.contains("expected nats://HOST:PORT") && !error.contains("secret"), "{error}");
    }

    #[tokio::test]
    async fn a_broker_that_is_not_there_is_named() {
        let broker = Broker::new("nats://127.0.0.1:1").unwrap();
        match broker.connect(drop).await.unwrap_err() {
            ConnectError::Now(why) => assert!(why.starts_with("nats://127.0.0.1:1: no broker answers there"), "{why}"),
            other => panic!("{other:?}"),
        }
    }
}
