//! Connections of extensions: opened by the rules of the run, and counted as its data.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use host::Phase;
use script::Vu;
use wire::client::{ByteStream, StreamDial, StreamTls, StreamTraffic, TlsConfigs};
use wire::settings::{ClientIdentity, TlsVersions};
use wire::{Client, ClientContext, Failure, FailureKind, Step};

/// Certificates that a script gives for a connection, in PEM.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Certificates {
    /// Whom to trust beside the machine's authorities.
    pub authorities: Vec<String>,
    /// The client's certificate and its key.
    pub identity: Option<(String, String)>,
    /// Whoever answers is believed.
    pub is_unchecked: bool,
}

impl Certificates {
    /// The run's TLS with these, and with other versions if there are some; the error says what is wrong with them.
    pub fn configs(&self, vu: &Vu, versions: Option<TlsVersions>) -> Result<TlsConfigs, String> {
        let mut settings = vu.options().network_settings().tls;
        settings.versions = versions.unwrap_or(settings.versions);
        for (index, pem) in self.authorities.iter().enumerate() {
            if !pem.contains("-----BEGIN CERTIFICATE-----") {
                return Err(format!("the certificate {index} of the authorities is no PEM"));
            }
        }
        settings.insecure_skip_verify |= self.is_unchecked;
        if !self.authorities.is_empty() {
            settings.trusted_pem = Some(self.authorities.join("\n"));
        }
        if let Some((cert, key)) = &self.identity {
            let identity = ClientIdentity::read(Vec::new(), cert, key, None);
            let identity = identity.map_err(|why| format!("the client's certificate cannot be used: {why}"))?;
            settings.identities = Vec::from([Arc::new(identity)]);
        }
        Ok(TlsConfigs::new(&settings))
    }
}

/// Where a connection goes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// A name, an address, or a unix socket's path.
    pub host: String,
    /// Its port.
    pub port: u16,
}

/// Opens a connection for the user. The error is a sentence.
pub async fn open(
    vu: &Vu,
    place: &Place,
    tls: Option<Option<&TlsConfigs>>,
    timeout: Duration,
) -> Result<ByteStream, String> {
    let tls = tls.map(|configs| StreamTls { configs, server_name: None });
    let dial = StreamDial { host: &place.host, port: place.port, tls, timeout };
    let opened = client(vu)?.open_stream(&dial).await;
    opened.map_err(|failure| described(&failure, place))
}

/// The user's client. Init code has one for the moment, because the options are not known in full yet: the user's is
/// made of them once.
fn client(vu: &Vu) -> Result<Rc<Client>, String> {
    if vu.phase() != Phase::Init {
        return Ok(Rc::clone(vu.client()));
    }
    let context = ClientContext::new(Arc::new(vu.options().network_settings())).map_err(|error| error.message)?;
    Ok(Rc::new(Client::new(context)))
}

/// A failure as Go says it, with where it was dialled.
fn described(failure: &Failure, place: &Place) -> String {
    let Place { host, port } = place;
    let message = failure.message.as_str();
    match (failure.step, message.split_once(": ")) {
        (Step::Connect, Some(("dial", why))) => {
            let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
            let is_call = matches!(failure.kind, FailureKind::DialRefused | FailureKind::DialErrno);
            let call = if is_call { "connect: " } else { "" };
            match host.starts_with(['/', '@']) {
                true => format!("dial unix {host}: {call}{why}"),
                false => format!("dial tcp {host}:{port}: {call}{why}"),
            }
        }
        (Step::Lookup, Some(("lookup", why))) => format!("lookup {host}: {why}"),
        _ => message.to_owned(),
    }
}

/// Counts what went over a stream since the last time.
pub fn count(vu: &Vu, traffic: &StreamTraffic) {
    let (sent, received) = traffic.take();
    vu.count_data(sent, received);
}
