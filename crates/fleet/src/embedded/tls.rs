//! Trust by fingerprint: the coordinator makes a certificate for its run, and agents accept that one alone.

use std::fmt;
use std::sync::Arc;

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, ServerConfig, SignatureScheme};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// What agents say whom they mean; any name would do.
const NAME: &str = "coordinator.onrush";

/// A run's certificate and its key.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Certificate {
    /// In DER.
    #[serde(with = "serde_bytes")]
    certificate: Vec<u8>,
    /// In DER, PKCS #8.
    #[serde(with = "serde_bytes")]
    key: Vec<u8>,
}

impl fmt::Debug for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Certificate")
    }
}

impl Certificate {
    /// A new one.
    pub fn make() -> Result<Certificate, String> {
        let made = generate_simple_self_signed([NAME.to_owned()]);
        let CertifiedKey { cert, signing_key } = made.map_err(|error| format!("cannot make a certificate: {error}"))?;
        Ok(Certificate { certificate: cert.der().to_vec(), key: signing_key.serialize_der() })
    }

    /// What agents know it by.
    pub fn fingerprint(&self) -> [u8; 32] {
        fingerprint(&self.certificate)
    }

    pub(super) fn server(&self) -> Result<Arc<ServerConfig>, String> {
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(self.key.clone()));
        let config =
            ServerConfig::builder_with_provider(provider()).with_safe_default_protocol_versions().and_then(|builder| {
                let chain = vec![CertificateDer::from(self.certificate.clone())];
                builder.with_no_client_auth().with_single_cert(chain, key)
            });
        config.map(Arc::new).map_err(|error| format!("the certificate of the run cannot be used: {error}"))
    }
}

/// The settings of an agent that trusts this fingerprint.
pub(super) fn client(fingerprint: [u8; 32]) -> Result<Arc<ClientConfig>, String> {
    let builder = ClientConfig::builder_with_provider(provider()).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| format!("TLS cannot be used: {error}"))?;
    let verifier = Arc::new(Pinned { fingerprint, provider: provider() });
    Ok(Arc::new(builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth()))
}

pub(super) fn server_name() -> ServerName<'static> {
    ServerName::try_from(NAME).unwrap_or_else(|error| unreachable!("bug: a name: {error}"))
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

fn fingerprint(certificate: &[u8]) -> [u8; 32] {
    Sha256::digest(certificate).into()
}

/// Accepts one certificate. Whether the other side has its key is verified as ever.
#[derive(Debug)]
struct Pinned {
    fingerprint: [u8; 32],
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        match fingerprint(certificate) == self.fingerprint {
            true => Ok(ServerCertVerified::assertion()),
            false => Err(rustls::CertificateError::ApplicationVerificationFailure.into()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
