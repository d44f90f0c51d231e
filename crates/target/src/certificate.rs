//! The target's own certificate: made at each start, valid for this machine's loopback names alone.
//!
//! Clients trust it by the PEM text, so tests need neither files nor a verification that is switched off. The key never leaves
//! the process.

use std::io;
use std::sync::Arc;

use rustls_pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

/// The names it is valid for.
const NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// A TLS configuration with a fresh self-signed certificate, and its PEM.
pub(crate) fn self_signed() -> io::Result<(Arc<rustls::ServerConfig>, String)> {
    let made = rcgen::generate_simple_self_signed(NAMES.map(String::from)).map_err(io::Error::other)?;
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .map_err(io::Error::other)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok((Arc::new(config), made.cert.pem()))
}
