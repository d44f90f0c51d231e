//! TLS configurations: what the options of a test say about versions, suites, trust and client certificates, as rustls
//! wants it.
//!
//! One configuration per client certificate, made when the first https endpoint needs it. ALPN offers http/1.1 alone.
//! Sessions are not resumed unless the settings ask for it: k6 does a full handshake for every connection, and users that
//! share tickets would load a server less than real ones do.
//! Refuses versions below 1.2 and suites without forward secrecy: the library does not speak them, and says so.

use std::cell::RefCell;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, CipherSuite, ClientConfig, DigitallySignedStruct, Error, SignatureScheme,
    SupportedProtocolVersion,
};

use crate::failure::{Failure, FailureKind, Step};
use crate::settings::{Settings, TlsAuth};
use crate::tls::issuers::{self, IssuerSearch};
use crate::tls::private_key;
use crate::tls::roots::Roots;
use crate::tls::weak_rsa;

/// Suites that Go knows and the TLS library does not: static RSA, CBC, RC4.
const GO_ONLY: [&str; 13] = [
    "TLS_RSA_WITH_RC4_128_SHA",
    "TLS_RSA_WITH_3DES_EDE_CBC_SHA",
    "TLS_RSA_WITH_AES_128_CBC_SHA",
    "TLS_RSA_WITH_AES_256_CBC_SHA",
    "TLS_RSA_WITH_AES_128_CBC_SHA256",
    "TLS_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_RC4_128_SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA",
];

/// TLS towards a server: whom to expect and what to offer.
#[derive(Clone, Debug)]
pub(crate) struct TlsTarget {
    /// Name the certificate must be for; sent as SNI unless it is an address.
    pub(crate) name: ServerName<'static>,
    /// Versions, suites, trust, client certificate.
    pub(crate) config: Arc<ClientConfig>,
}

/// The configurations of one worker.
pub(crate) struct TlsConfigs {
    provider: Arc<CryptoProvider>,
    versions: Vec<&'static SupportedProtocolVersion>,
    verify: bool,
    trusted_pem: Option<String>,
    resume: bool,
    identities: Vec<Identity>,
    /// By identity; the last is without a client certificate.
    made: RefCell<Vec<Option<Arc<ClientConfig>>>>,
}

/// A client certificate and where it is shown.
struct Identity {
    domains: Vec<String>,
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
}

impl TlsConfigs {
    /// Reads the options; the error names option, found and expected. Loads nothing.
    pub(crate) fn new(settings: &Settings) -> Result<TlsConfigs, String> {
        let versions = versions(&settings.tls_version.0, &settings.tls_version.1)?;
        let mut provider = rustls::crypto::ring::default_provider();
        provider.signature_verification_algorithms = weak_rsa::algorithms();
        limit_suites(&mut provider, &settings.tls_cipher_suites, &versions)?;
        let identities: Vec<_> = settings.tls_auth.iter().map(Identity::read).collect::<Result<_, _>>()?;
        Ok(TlsConfigs {
            provider: Arc::new(provider),
            versions,
            verify: !settings.insecure_skip_tls_verify,
            trusted_pem: settings.trusted_pem.clone(),
            resume: settings.tls_session_resumption,
            made: RefCell::new(vec![None; identities.len() + 1]),
            identities,
        })
    }

    /// TLS for a host of a URL.
    pub(crate) fn target_for(&self, host: &str) -> Result<TlsTarget, Failure> {
        let failed = |message| Failure { step: Step::Prepare, kind: FailureKind::Tls, message };
        let name = ServerName::try_from(host.trim_end_matches('.').to_owned())
            .map_err(|_| failed(format!("tls: {host:?} cannot be used as a server name")))?;
        let at = self.identities.iter().position(|i| i.is_for(host)).unwrap_or(self.identities.len());
        if let Some(config) = &self.made.borrow()[at] {
            return Ok(TlsTarget { name, config: config.clone() });
        }
        let config = Arc::new(self.make(self.identities.get(at)).map_err(|e| failed(format!("tls: {e}")))?);
        self.made.borrow_mut()[at] = Some(config.clone());
        Ok(TlsTarget { name, config })
    }

    fn make(&self, identity: Option<&Identity>) -> Result<ClientConfig, Error> {
        let builder =
            ClientConfig::builder_with_provider(self.provider.clone()).with_protocol_versions(&self.versions)?;
        let verifier = Verifier::new(self.provider.clone(), self.verify, self.trusted_pem.as_deref());
        let builder = builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier));
        let mut config = match identity {
            Some(i) => builder.with_client_auth_cert(i.chain.clone(), i.key.clone_key())?,
            None => builder.with_no_client_auth(),
        };
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        if !self.resume {
            config.resumption = Resumption::disabled();
        }
        Ok(config)
    }
}

impl Identity {
    fn read(auth: &TlsAuth) -> Result<Identity, String> {
        let chain: Vec<_> = CertificateDer::pem_slice_iter(auth.cert.as_bytes()).filter_map(Result::ok).collect();
        if chain.is_empty() {
            return Err(String::from("tlsAuth: found no certificate in `cert`, expected PEM with BEGIN CERTIFICATE"));
        }
        let key =
            private_key::read(&auth.key, auth.password.as_deref()).map_err(|error| format!("tlsAuth: {error}"))?;
        Ok(Identity { domains: auth.domains.clone(), chain, key })
    }

    fn is_for(&self, host: &str) -> bool {
        let matches = |pattern: &String| match pattern.strip_prefix("*.") {
            Some(parent) => host.split_once('.').is_some_and(|(_, rest)| rest.eq_ignore_ascii_case(parent)),
            None => pattern.eq_ignore_ascii_case(host),
        };
        self.domains.is_empty() || self.domains.iter().any(matches)
    }
}

fn versions(min: &Option<String>, max: &Option<String>) -> Result<Vec<&'static SupportedProtocolVersion>, String> {
    const NAMES: [&str; 4] = ["tls1.0", "tls1.1", "tls1.2", "tls1.3"];
    let index = |text: &Option<String>, absent: usize| match text.as_deref() {
        None | Some("") => Ok(absent),
        Some(text) => NAMES
            .iter()
            .position(|n| *n == text)
            .ok_or_else(|| format!("tlsVersion: found {text:?}, expected one of {}", NAMES.join(", "))),
    };
    let (min, max) = (index(min, 0)?, index(max, 3)?);
    if min > max {
        return Err(format!("tlsVersion: found min {} above max {}", NAMES[min], NAMES[max]));
    }
    let all = [(2, &rustls::version::TLS12), (3, &rustls::version::TLS13)];
    let chosen: Vec<_> = all.into_iter().filter(|(v, _)| (min..=max).contains(v)).map(|(_, v)| v).collect();
    if chosen.is_empty() {
        return Err(format!("tlsVersion: found {} as the highest, expected tls1.2 or tls1.3", NAMES[max]));
    }
    Ok(chosen)
}

/// As in Go, the list chooses among the suites of TLS 1.2; those of 1.3 are always on.
fn limit_suites(
    provider: &mut CryptoProvider,
    names: &[String],
    versions: &[&SupportedProtocolVersion],
) -> Result<(), String> {
    if names.is_empty() {
        return Ok(());
    }
    let known = |name: &String| {
        let ours = provider.cipher_suites.iter().any(|s| suite_name(s.suite()) == Some(name));
        ours || GO_ONLY.contains(&name.as_str())
    };
    if let Some(unknown) = names.iter().find(|n| !known(n)) {
        return Err(format!(
            "tlsCipherSuites: unknown cipher suite {unknown:?}, expected a name such as TLS_AES_128_GCM_SHA256"
        ));
    }
    let is_13 = |suite: &rustls::SupportedCipherSuite| suite.tls13().is_some();
    provider.cipher_suites.retain(|s| is_13(s) || suite_name(s.suite()).is_some_and(|n| names.iter().any(|m| m == n)));
    if !versions.contains(&&rustls::version::TLS13) && provider.cipher_suites.iter().all(is_13) {
        let list = names.join(", ");
        return Err(format!(
            "tlsCipherSuites: none of {list} is supported, expected an ECDHE suite with GCM or CHACHA20"
        ));
    }
    Ok(())
}

/// IANA name of a suite, as Go prints it.
pub(crate) fn suite_name(suite: CipherSuite) -> Option<&'static str> {
    Some(match suite {
        CipherSuite::TLS13_AES_128_GCM_SHA256 => "TLS_AES_128_GCM_SHA256",
        CipherSuite::TLS13_AES_256_GCM_SHA384 => "TLS_AES_256_GCM_SHA384",
        CipherSuite::TLS13_CHACHA20_POLY1305_SHA256 => "TLS_CHACHA20_POLY1305_SHA256",
        CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256 => "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
        CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384 => "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
        CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256 => "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
        CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 => "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
        CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384 => "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
        CipherSuite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256 => "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
        _ => return None,
    })
}

/// Decides on a server's certificate in Go's order: time, then name, then authority; or accepts any.
#[derive(Debug)]
struct Verifier {
    provider: Arc<CryptoProvider>,
    /// `None`: any certificate will do; the handshake's signature must still be right.
    trust: Option<Trust>,
}

#[derive(Debug)]
struct Trust {
    roots: Arc<Roots>,
    algorithms: WebPkiSupportedAlgorithms,
    /// `None` when the machine trusts nobody.
    chains: Option<Arc<WebPkiServerVerifier>>,
}

impl Verifier {
    fn new(provider: Arc<CryptoProvider>, verify: bool, trusted_pem: Option<&str>) -> Verifier {
        let trust = verify.then(|| {
            let roots = Roots::of_this_machine();
            let roots = trusted_pem.map_or_else(|| roots.clone(), |pem| Arc::new(roots.with(pem)));
            let chains = WebPkiServerVerifier::builder_with_provider(roots.anchors.clone(), provider.clone());
            Trust { chains: chains.build().ok(), algorithms: provider.signature_verification_algorithms, roots }
        });
        Verifier { provider, trust }
    }
}

impl Trust {
    fn check(
        &self,
        leaf: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verdict = match &self.chains {
            Some(chains) => chains.verify_server_cert(leaf, others, name, ocsp, now),
            None => Err(CertificateError::UnknownIssuer.into()),
        };
        let Err(Error::InvalidCertificate(reason)) = verdict else { return verdict };
        if !is_about_authority(&reason) {
            return Err(reason.into());
        }
        verify_server_name(&ParsedCertificate::try_from(leaf)?, name)?;
        let search = IssuerSearch { roots: self.roots.certificates(), others, algorithms: self.algorithms, now };
        // A certificate that is trusted itself may be presented, no matter which authority signed it.
        let is_issued_by_trusted =
            || self.roots.contains(leaf) || (is_refused_as_such(&reason) && search.reaches(leaf));
        if issuers::is_for_servers(leaf) && is_issued_by_trusted() {
            return Ok(ServerCertVerified::assertion());
        }
        Err(reason.into())
    }
}

/// What the library says of a certificate whose dates are right and whose authority it does not accept.
fn is_about_authority(reason: &CertificateError) -> bool {
    use CertificateError as C;
    matches!(
        reason,
        C::UnknownIssuer
            | C::BadSignature
            | C::UnsupportedSignatureAlgorithmContext { .. }
            | C::UnsupportedSignatureAlgorithmForPublicKeyContext { .. }
    ) || is_refused_as_such(reason)
}

/// The library did not even look for the authority: the certificate is marked as one itself, or its usages do not name servers.
fn is_refused_as_such(reason: &CertificateError) -> bool {
    match reason {
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => true,
        CertificateError::Other(error) => format!("{error:?}").contains("CaUsedAsEndEntity"),
        _ => false,
    }
}

impl Verifier {
    /// Whoever accepts any certificate accepts those that the library cannot read, too: their key must have signed, no more.
    fn signed_by_any(
        &self,
        verdict: Result<HandshakeSignatureValid, Error>,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        match verdict {
            Err(Error::InvalidCertificate(_))
                if self.trust.is_none() && issuers::has_signed_handshake(certificate, message, signed, algorithms) =>
            {
                Ok(HandshakeSignatureValid::assertion())
            }
            verdict => verdict,
        }
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        leaf: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        match &self.trust {
            Some(trust) => trust.check(leaf, others, name, ocsp, now),
            None => Ok(ServerCertVerified::assertion()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        self.signed_by_any(
            verify_tls12_signature(message, certificate, signed, algorithms),
            message,
            certificate,
            signed,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        self.signed_by_any(
            verify_tls13_signature(message, certificate, signed, algorithms),
            message,
            certificate,
            signed,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(change: impl FnOnce(&mut Settings)) -> String {
        let mut settings = Settings::default();
        change(&mut settings);
        TlsConfigs::new(&settings).err().expect("settings were accepted")
    }

    #[test]
    fn settings_that_cannot_work_are_named() {
        let text = |t: &str| Some(String::from(t));
        assert_eq!(
            error(|s| s.tls_version = (text("tls9"), None)),
            "tlsVersion: found \"tls9\", expected one of tls1.0, tls1.1, tls1.2, tls1.3"
        );
        assert_eq!(
            error(|s| s.tls_version = (text("tls1.3"), text("tls1.2"))),
            "tlsVersion: found min tls1.3 above max tls1.2"
        );
        assert_eq!(
            error(|s| s.tls_version = (None, text("tls1.1"))),
            "tlsVersion: found tls1.1 as the highest, expected tls1.2 or tls1.3"
        );
        assert!(error(|s| s.tls_cipher_suites = vec!["NOPE".into()]).contains("unknown cipher suite \"NOPE\""));
        let rsa = vec![String::from("TLS_RSA_WITH_AES_128_GCM_SHA256")];
        assert!(error(|s| (s.tls_cipher_suites, s.tls_version.1) = (rsa, text("tls1.2"))).contains("none of TLS_RSA"));
    }

    #[test]
    fn a_list_of_suites_limits_tls_1_2_alone() {
        let name = "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256";
        let settings = Settings { tls_cipher_suites: vec![name.into()], ..Settings::default() };
        let configs = TlsConfigs::new(&settings).unwrap();
        let suites = configs.provider.cipher_suites.iter();
        let of_12: Vec<_> = suites.filter(|s| s.tls13().is_none()).filter_map(|s| suite_name(s.suite())).collect();
        assert_eq!(of_12, [name]);
        assert!(configs.provider.cipher_suites.len() > 1);
    }

    #[test]
    fn client_certificates_go_to_their_domains() {
        let key = rcgen::generate_simple_self_signed([String::from("client")]).unwrap();
        let auth = |domains: &[&str]| TlsAuth {
            domains: domains.iter().map(|d| String::from(*d)).collect(),
            cert: key.cert.pem(),
            key: key.signing_key.serialize_pem(),
            password: None,
        };
        let identity = Identity::read(&auth(&["*.example.com", "one.test"])).unwrap();
        assert!(identity.is_for("a.EXAMPLE.com") && identity.is_for("one.test"));
        assert!(!identity.is_for("example.com") && !identity.is_for("a.b.example.com") && !identity.is_for("two.test"));
        assert!(Identity::read(&auth(&[])).unwrap().is_for("any"));
    }
}
