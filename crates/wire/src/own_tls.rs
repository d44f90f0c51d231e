//! Client certificates, and what some requests want of TLS where the run's settings say something else: a certificate
//! of their own, and whether sessions are resumed.
//!
//! Connections are shared by requests that have the same value, the same `Rc`: those of another certificate never meet.
//! Sessions are kept for each value, so that users who have values of their own resume their own sessions alone.

use std::sync::Arc;

use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// TLS of some requests of one user.
#[derive(Debug)]
pub struct OwnTls {
    /// Shown to every host; `None`: the run's certificate for the host, if there is one.
    pub identity: Option<Arc<ClientIdentity>>,
    /// Whether connections go on with sessions of earlier ones.
    pub resumes: bool,
}

/// A client certificate and the hosts it is shown to.
#[derive(Debug, PartialEq, Eq)]
pub struct ClientIdentity {
    /// Host patterns; empty: all hosts.
    pub(crate) domains: Vec<String>,
    /// The certificate first.
    pub(crate) chain: Vec<CertificateDer<'static>>,
    pub(crate) key: PrivateKeyDer<'static>,
}

impl ClientIdentity {
    /// Whether it is shown to this host.
    pub(crate) fn is_for(&self, host: &str) -> bool {
        let matches = |pattern: &String| match pattern.strip_prefix("*.") {
            Some(parent) => host.split_once('.').is_some_and(|(_, rest)| rest.eq_ignore_ascii_case(parent)),
            None => pattern.eq_ignore_ascii_case(host),
        };
        self.domains.is_empty() || self.domains.iter().any(matches)
    }
}
