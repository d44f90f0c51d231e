//! TLS configurations: versions, suites, trust and client certificates, as rustls wants them.
//!
//! One configuration per client certificate and offer of protocols, made when the first https endpoint needs it.
//! Sessions are not resumed unless the settings ask for it: k6 does a full handshake for every connection, and users
//! that share tickets would load a server less than real ones do.

use std::cell::RefCell;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, SignatureScheme};

use crate::failure::{Failure, FailureKind, Step};
use crate::failure_map;
use crate::own_tls::{ClientIdentity, OwnTls};
use crate::tls::choice::TlsSettings;
use crate::tls::issuers::{self, IssuerSearch};
use crate::tls::missing_issuers::{IssuerFetch, MissingIssuers, known_issuers};
use crate::tls::roots::Roots;
use crate::tls::weak_rsa;

/// TLS towards a server: whom to expect and what to offer.
#[derive(Clone, Debug)]
pub(crate) struct TlsTarget {
    /// Name the certificate must be for; sent as SNI unless it is an address.
    pub(crate) name: ServerName<'static>,
    /// Versions, suites, trust, client certificate.
    pub(crate) config: Arc<ClientConfig>,
    /// What the settings ask for and the library lacks: likely why a server refuses the handshake.
    lack: Option<Arc<str>>,
}

impl TlsTarget {
    /// A failure of the handshake, with what the server may miss.
    pub(crate) fn explain(&self, mut failure: Failure) -> Failure {
        let is_refusal = ["protocol version not supported", "handshake failure"]
            .iter()
            .any(|what| failure.message.strip_prefix("remote error: tls: ") == Some(what));
        if let Some(lack) = self.lack.as_ref().filter(|_| is_refusal) {
            failure.message = format!("{} ({lack})", failure.message);
        }
        failure
    }
}

/// The protocols offered to the server (ALPN); without TLS the client decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offer {
    /// HTTP/1.1 alone: http URLs, websockets, and users without HTTP/2.
    Http1,
    /// HTTP/2, else HTTP/1.1: the server chooses.
    Http2,
    /// HTTP/2 alone: gRPC, and by prior knowledge without TLS.
    OnlyHttp2,
    /// No protocol at all: streams that carry something else than HTTP.
    Nothing,
}

impl Offer {
    const COUNT: usize = 4;

    fn protocols(self) -> Vec<Vec<u8>> {
        let offered: &[&[u8]] = match self {
            Offer::Http1 => &[b"http/1.1"],
            Offer::Http2 => &[b"h2", b"http/1.1"],
            Offer::OnlyHttp2 => &[b"h2"],
            Offer::Nothing => &[],
        };
        offered.iter().map(|name| name.to_vec()).collect()
    }
}

/// The configurations of one worker, or of a client that has some of its own. Keys and roots are read at the first
/// handshake.
pub struct TlsConfigs {
    provider: Arc<CryptoProvider>,
    settings: TlsSettings,
    /// Why no handshake can succeed.
    problem: Option<String>,
    /// What is missing, though a handshake may succeed.
    lack: Option<Arc<str>>,
    /// By identity, for each one an offer; the last ones are without a client certificate.
    made: RefCell<Vec<Option<Arc<ClientConfig>>>>,
}

impl TlsConfigs {
    /// Puts versions and suites together. Loads nothing.
    pub fn new(settings: &TlsSettings) -> TlsConfigs {
        let mut provider = rustls::crypto::ring::default_provider();
        provider.signature_verification_algorithms = weak_rsa::algorithms();
        let problem = settings.versions.problem();
        let problem = problem.or_else(|| settings.cipher_suites.limit(&mut provider, &settings.versions));
        TlsConfigs {
            provider: Arc::new(provider),
            settings: settings.clone(),
            problem,
            lack: settings.versions.lack().or_else(|| settings.cipher_suites.lack()).map(Arc::from),
            made: RefCell::new(vec![None; Offer::COUNT * (settings.identities.len() + 1)]),
        }
    }

    /// The same for requests that want something of their own. Made each time, and with it the sessions to resume.
    pub(crate) fn own_target_for(&self, host: &str, offer: Offer, own: &OwnTls) -> Result<TlsTarget, Failure> {
        let name = self.name_of(host)?;
        let of_run = || self.settings.identities.iter().find(|identity| identity.is_for(host));
        let identity = own.identity.as_ref().or_else(of_run).map(Arc::as_ref);
        let config = self.make(identity, offer, own.resumes).map_err(|e| failed(failure_map::tls_text(&e).1))?;
        Ok(TlsTarget { name, config: Arc::new(config), lack: self.lack.clone() })
    }

    /// What a host's certificate must be for, where a handshake can succeed at all.
    fn name_of(&self, host: &str) -> Result<ServerName<'static>, Failure> {
        if let Some(problem) = &self.problem {
            return Err(failed(problem.clone()));
        }
        ServerName::try_from(host.trim_end_matches('.').to_owned())
            .map_err(|_| failed(format!("tls: {host:?} cannot be used as a server name")))
    }

    /// TLS for a host of a URL.
    pub(crate) fn target_for(&self, host: &str, offer: Offer) -> Result<TlsTarget, Failure> {
        let name = self.name_of(host)?;
        let identities = &self.settings.identities;
        let of = identities.iter().position(|identity| identity.is_for(host));
        let at = Offer::COUNT * of.unwrap_or(identities.len()) + offer as usize;
        if let Some(config) = &self.made.borrow()[at] {
            return Ok(TlsTarget { name, config: config.clone(), lack: self.lack.clone() });
        }
        let identity = of.map(|of| &*identities[of]);
        let config = self.make(identity, offer, self.settings.session_resumption);
        let config = Arc::new(config.map_err(|e| failed(failure_map::tls_text(&e).1))?);
        self.made.borrow_mut()[at] = Some(config.clone());
        Ok(TlsTarget { name, config, lack: self.lack.clone() })
    }

    fn make(&self, identity: Option<&ClientIdentity>, offer: Offer, resumes: bool) -> Result<ClientConfig, Error> {
        let builder = ClientConfig::builder_with_provider(self.provider.clone())
            .with_protocol_versions(self.settings.versions.list())?;
        let verifier = Verifier::new(self.provider.clone(), &self.settings);
        let builder = builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier));
        let mut config = match identity {
            // Not checked against the library's own parser, which knows no certificates of X.509 version 1: that the
            // key is the certificate's, `ClientIdentity::read` has found out.
            Some(i) => {
                let key = self.provider.key_provider.load_private_key(i.key.clone_key())?;
                let shown = SingleCertAndKey::from(CertifiedKey::new(i.chain.clone(), key));
                builder.with_client_cert_resolver(Arc::new(shown))
            }
            None => builder.with_no_client_auth(),
        };
        config.alpn_protocols = offer.protocols();
        if !resumes {
            config.resumption = Resumption::disabled();
        }
        Ok(config)
    }
}

fn failed(message: String) -> Failure {
    Failure { step: Step::Prepare, kind: FailureKind::Tls, message }
}

/// Decides on a server's certificate in Go's order: time, then name, then authority; or accepts any.
#[derive(Debug)]
struct Verifier {
    provider: Arc<CryptoProvider>,
    /// `None`: any certificate will do; the handshake's signature must still be right.
    trust: Option<Arc<Trust>>,
    issuer_fetch: Option<IssuerFetch>,
}

#[derive(Debug)]
struct Trust {
    roots: Arc<Roots>,
    algorithms: WebPkiSupportedAlgorithms,
    /// `None` when the machine trusts nobody.
    chains: Option<Arc<WebPkiServerVerifier>>,
}

impl Verifier {
    fn new(provider: Arc<CryptoProvider>, settings: &TlsSettings) -> Verifier {
        let trust = (!settings.insecure_skip_verify).then(|| {
            let (roots, trusted) = (Roots::of_this_machine(), settings.trusted_pem.as_deref());
            let roots = trusted.map_or_else(|| roots.clone(), |pem| Arc::new(roots.with(pem)));
            let chains = WebPkiServerVerifier::builder_with_provider(roots.anchors.clone(), provider.clone());
            let algorithms = provider.signature_verification_algorithms;
            Arc::new(Trust { chains: chains.build().ok(), algorithms, roots })
        });
        Verifier { provider, trust, issuer_fetch: settings.issuer_fetch.clone() }
    }
}

/// A server's certificates, and its name.
struct ShownChain<'a> {
    leaf: &'a CertificateDer<'a>,
    others: &'a [CertificateDer<'a>],
    name: &'a ServerName<'a>,
}

/// Decides once more on a chain that ends early: with the certificates that were fetched before, or by telling the
/// client that there is something to fetch.
fn check_with_fetched(
    trust: &Arc<Trust>,
    fetch: &IssuerFetch,
    shown: &ShownChain<'_>,
    ocsp: &[u8],
    now: UnixTime,
) -> Option<Result<ServerCertVerified, Error>> {
    let chain: Vec<CertificateDer<'static>> =
        [shown.leaf].into_iter().chain(shown.others).map(|shown| shown.clone().into_owned()).collect();
    let known = known_issuers(&chain);
    if !known.is_empty() {
        let others = [&chain[1..], &known].concat();
        let verdict = trust.check(shown.leaf, &others, shown.name, ocsp, now);
        if verdict.is_ok() {
            return Some(verdict);
        }
    }
    let (trust, name, of_server) = (Arc::clone(trust), shown.name.to_owned(), chain.clone());
    let suffice = move |fetched: &[CertificateDer<'_>]| {
        let others: Vec<CertificateDer<'_>> = of_server[1..].iter().chain(fetched).cloned().collect();
        trust.check(&of_server[0], &others, &name, &[], now).is_ok()
    };
    MissingIssuers::of(fetch, chain, suffice).map(Err)
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

/// The library did not even look for the authority: the certificate is marked as one itself, or its usages do not name
/// servers.
fn is_refused_as_such(reason: &CertificateError) -> bool {
    match reason {
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => true,
        CertificateError::Other(error) => format!("{error:?}").contains("CaUsedAsEndEntity"),
        _ => false,
    }
}

impl Verifier {
    /// Whoever accepts any certificate accepts those that the library cannot read, too: their key must have signed, no
    /// more.
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
        let Some(trust) = &self.trust else { return Ok(ServerCertVerified::assertion()) };
        let verdict = trust.check(leaf, others, name, ocsp, now);
        match (&self.issuer_fetch, &verdict) {
            (Some(fetch), Err(Error::InvalidCertificate(CertificateError::UnknownIssuer))) => {
                check_with_fetched(trust, fetch, &ShownChain { leaf, others, name }, ocsp, now).unwrap_or(verdict)
            }
            _ => verdict,
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
    use crate::tls::choice::{CipherSuites, TlsVersions, suite_name};

    #[test]
    fn a_list_of_suites_limits_tls_1_2_alone() {
        let name = "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256";
        let cipher_suites = CipherSuites::named(&[name.into()]).unwrap();
        let configs = TlsConfigs::new(&TlsSettings { cipher_suites, ..TlsSettings::default() });
        let suites = configs.provider.cipher_suites.iter();
        let of_12: Vec<_> = suites.filter(|s| s.tls13().is_none()).filter_map(|s| suite_name(s.suite())).collect();
        assert_eq!(of_12, [name]);
        assert!(configs.provider.cipher_suites.len() > 1);
    }

    #[test]
    fn handshakes_fail_where_nothing_can_be_offered() {
        let refused = |highest: &str, suite: &str| {
            let settings = TlsSettings {
                cipher_suites: CipherSuites::named(&[suite.into()]).unwrap(),
                versions: TlsVersions::between(None, Some(highest)).unwrap(),
                ..TlsSettings::default()
            };
            let failure = TlsConfigs::new(&settings).target_for("a", Offer::Http1).err()?;
            assert_eq!((failure.step, failure.kind), (Step::Prepare, FailureKind::Tls));
            Some(failure.message)
        };
        assert_eq!(
            refused("tls1.2", "TLS_RSA_WITH_RC4_128_SHA").unwrap(),
            "tlsCipherSuites: none of TLS_RSA_WITH_RC4_128_SHA is supported for TLS 1.2, expected an ECDHE suite with \
             GCM or CHACHA20"
        );
        assert_eq!(
            refused("tls1.1", "TLS_RSA_WITH_RC4_128_SHA").unwrap(),
            "tlsVersion: tls1.1 is the highest, and only tls1.2 and tls1.3 are supported"
        );
        assert_eq!(refused("tls1.3", "TLS_RSA_WITH_RC4_128_SHA"), None);
    }
}
