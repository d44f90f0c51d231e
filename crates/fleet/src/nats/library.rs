//! NATS as the library of its makers reaches it: how it is dialled, and its refusals by name.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_nats::{ConnectErrorKind, ConnectOptions, Event, RequestErrorKind, ServerAddr, Subscriber};
use futures_util::StreamExt;

use super::client::{Client, Coming, Message, Servers, Subscription, Tell};
use crate::backing::ConnectError;
use crate::cause::innermost;

/// A dial at most; then the next server of a cluster is tried.
const CONNECT_PATIENCE: Duration = Duration::from_secs(3);

/// The servers of a URL.
pub(super) fn servers(url: &str) -> Result<Arc<dyn Servers>, String> {
    let scheme = url.split_once("://").map_or("nats", |(scheme, _)| scheme);
    let full = |part: &str| match part.contains("://") {
        true => part.to_owned(),
        false => format!("{scheme}://{part}"),
    };
    let parts: Vec<String> = url.split(',').map(|part| full(part.trim())).collect();
    let shown = parts.iter().map(|part| without_password(part)).collect::<Vec<_>>().join(",");
    let read: Result<Vec<ServerAddr>, _> = parts.iter().map(|part| part.parse()).collect();
    let addresses = read.map_err(|error| format!("{shown}: {error}, expected nats://HOST:PORT"))?;
    Ok(Arc::new(Cluster { addresses, shown: shown.into() }))
}

#[derive(Debug)]
struct Cluster {
    addresses: Vec<ServerAddr>,
    shown: Arc<str>,
}

impl Servers for Cluster {
    fn shown(&self) -> &str {
        &self.shown
    }

    fn dial<'a>(
        &'a self,
        variables: &'a HashMap<String, String>,
        tell: Tell,
    ) -> Coming<'a, Result<Arc<dyn Client>, ConnectError>> {
        Box::pin(async move {
            let ever = |what: String| ConnectError::Ever(format!("{}: {what}", self.shown));
            let mut options = options(variables).await.map_err(ever)?;
            // The library reads its servers' addresses alone.
            let named = self.addresses.first().and_then(|server| server.username().zip(server.password()));
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
            let connected = options.connect(self.addresses.as_slice()).await;
            let client = connected.map_err(|error| match error.kind() {
                ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => ever(String::from(
                    "the broker refuses these credentials: set NATS_CREDS or NATS_NKEY to a file of yours, or \
                     NATS_USER and NATS_PASSWORD",
                )),
                _ => ConnectError::Now(format!("{}: no broker answers there: {}", self.shown, innermost(&error))),
            })?;
            Ok(Arc::new(Connected { client, shown: Arc::clone(&self.shown) }) as Arc<dyn Client>)
        })
    }
}

struct Connected {
    client: async_nats::Client,
    shown: Arc<str>,
}

impl Connected {
    fn failed(&self, what: &str, error: &dyn std::error::Error) -> ConnectError {
        ConnectError::Now(format!("{}: {what}: {}", self.shown, innermost(error)))
    }
}

impl Client for Connected {
    fn subscribe(&self, subject: String) -> Coming<'_, Result<Box<dyn Subscription>, ConnectError>> {
        Box::pin(async move {
            let coming = self.client.subscribe(subject).await;
            let coming = coming.map_err(|error| self.failed("cannot subscribe", &error))?;
            Ok(Box::new(coming) as Box<dyn Subscription>)
        })
    }

    fn publish(&self, subject: String, content: Vec<u8>) -> Coming<'_, bool> {
        Box::pin(async move { self.client.publish(subject, content.into()).await.is_ok() })
    }

    fn ask(&self, subject: String) -> Coming<'_, Result<Option<Vec<u8>>, ConnectError>> {
        Box::pin(async move {
            match self.client.request(subject, Vec::new().into()).await {
                Ok(answer) => Ok(Some(answer.payload.into())),
                Err(error) => match error.kind() {
                    RequestErrorKind::NoResponders | RequestErrorKind::TimedOut => Ok(None),
                    _ => Err(self.failed("nobody can be asked who coordinates", &error)),
                },
            }
        })
    }

    fn flush(&self) -> Coming<'_, bool> {
        Box::pin(async move { self.client.flush().await.is_ok() })
    }
}

impl Subscription for Subscriber {
    fn next(&mut self) -> Coming<'_, Option<Message>> {
        Box::pin(async move {
            let message = StreamExt::next(self).await?;
            let reply = message.reply.map(|reply| reply.to_string());
            Some(Message { subject: message.subject.to_string(), reply, content: message.payload.into() })
        })
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
