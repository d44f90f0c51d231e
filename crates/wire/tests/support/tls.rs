//! Servers with TLS made for a test, and settings of clients that trust them.

use std::net::SocketAddr;
use std::sync::Arc;

use onrush_wire::settings::TlsSettings;
use onrush_wire::{Settings, Url};
use rustls::pki_types::{PrivateKeyDer, pem::PemObject};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};

use super::settings;

/// A certificate and its key.
pub type Key = rcgen::CertifiedKey<rcgen::KeyPair>;

/// A self-signed certificate for a name.
pub fn key_for(name: &str) -> Key {
    rcgen::generate_simple_self_signed([String::from(name)]).unwrap()
}

/// A server's configuration; `clients`: whom it demands to see.
pub fn server_config(
    key: &Key,
    versions: &[&'static rustls::SupportedProtocolVersion],
    clients: Option<&Key>,
) -> ServerConfig {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider.clone()).with_protocol_versions(versions).unwrap();
    let builder = match clients {
        None => builder.with_no_client_auth(),
        Some(client) => {
            let mut roots = RootCertStore::empty();
            roots.add(client.cert.der().clone()).unwrap();
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build().unwrap();
            builder.with_client_cert_verifier(verifier)
        }
    };
    let private = PrivateKeyDer::from_pem_slice(key.signing_key.serialize_pem().as_bytes()).unwrap();
    builder.with_single_cert(vec![key.cert.der().clone()], private).unwrap()
}

/// The root of a server.
pub fn url(address: SocketAddr) -> Url {
    Url::parse(&format!("https://{address}/")).unwrap()
}

/// Settings with these of TLS.
pub fn tls(tls: TlsSettings) -> Settings {
    Settings { tls, ..settings() }
}

/// Any certificate will do.
pub fn trust_any() -> TlsSettings {
    TlsSettings { insecure_skip_verify: true, ..TlsSettings::default() }
}

/// Settings that any certificate will do for.
pub fn trusting() -> Settings {
    tls(trust_any())
}

/// A response with a body of two bytes.
pub const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
