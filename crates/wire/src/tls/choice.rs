//! What can be chosen about TLS: versions, cipher suites, client certificates, trust.
//!
//! The library does not speak versions below 1.2 and suites without forward secrecy. Where nothing else is left, each
//! handshake fails and says so: the rest of the test runs.

use std::sync::Arc;

use rustls::crypto::CryptoProvider;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{CipherSuite, SupportedCipherSuite, SupportedProtocolVersion};

use crate::failure_map;
use crate::own_tls::ClientIdentity;
use crate::tls::missing_issuers::IssuerFetch;
use crate::tls::{issuers, private_key};

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

/// What a run chose.
#[derive(Clone, Debug, Default)]
pub struct TlsSettings {
    /// Accept any certificate.
    pub insecure_skip_verify: bool,
    /// Certificates as PEM that are trusted beside the machine's.
    pub trusted_pem: Option<String>,
    /// Which versions are offered.
    pub versions: TlsVersions,
    /// Which cipher suites.
    pub cipher_suites: CipherSuites,
    /// Client certificates; the first that is for a host is shown to it.
    pub identities: Vec<Arc<ClientIdentity>>,
    /// Resume sessions of earlier connections of the same worker. k6 never does: each connection is a full handshake.
    pub session_resumption: bool,
    /// Fetch certificates of authorities that a server leaves out; `None`: such a server is not trusted.
    pub issuer_fetch: Option<IssuerFetch>,
}

/// Versions to offer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsVersions {
    /// Those that the library speaks.
    spoken: Vec<&'static SupportedProtocolVersion>,
    highest: &'static str,
    /// The lowest one, where it was asked for and is not spoken.
    unspoken: Option<&'static str>,
}

impl Default for TlsVersions {
    fn default() -> Self {
        TlsVersions {
            spoken: vec![&rustls::version::TLS12, &rustls::version::TLS13],
            highest: "tls1.3",
            unspoken: None,
        }
    }
}

impl TlsVersions {
    /// From the lowest to the highest, by their names `tls1.0` … `tls1.3`; the library speaks the last two. The error
    /// says what was found and what was expected.
    pub fn between(min: Option<&str>, max: Option<&str>) -> Result<TlsVersions, String> {
        const NAMES: [&str; 4] = ["tls1.0", "tls1.1", "tls1.2", "tls1.3"];
        let index = |text: Option<&str>, absent: usize| match text {
            None => Ok(absent),
            Some(text) => NAMES
                .iter()
                .position(|name| *name == text)
                .ok_or_else(|| format!("found '{text}', expected one of {}", NAMES.join(", "))),
        };
        let is_asked = min.is_some();
        let (min, max) = (index(min, 0)?, index(max, 3)?);
        if min > max {
            return Err(format!("found min {} above max {}", NAMES[min], NAMES[max]));
        }
        let all = [(2, &rustls::version::TLS12), (3, &rustls::version::TLS13)];
        let spoken = all.into_iter().filter(|(v, _)| (min..=max).contains(v)).map(|(_, v)| v).collect();
        Ok(TlsVersions { spoken, highest: NAMES[max], unspoken: (is_asked && min < 2).then_some(NAMES[min]) })
    }

    /// What is missing of what was asked for, though a handshake may succeed without it.
    pub(crate) fn lack(&self) -> Option<String> {
        self.unspoken.map(|lowest| format!("tlsVersion: {lowest} is not supported, only tls1.2 and tls1.3 are offered"))
    }

    pub(crate) fn list(&self) -> &[&'static SupportedProtocolVersion] {
        &self.spoken
    }

    /// Why no handshake can succeed.
    pub(crate) fn problem(&self) -> Option<String> {
        let problem =
            || format!("tlsVersion: {} is the highest, and only tls1.2 and tls1.3 are supported", self.highest);
        self.spoken.is_empty().then(problem)
    }
}

/// Cipher suites to offer. As in Go, they are chosen among those of TLS 1.2; those of 1.3 are always on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CipherSuites {
    /// Empty: all.
    names: Vec<String>,
}

impl CipherSuites {
    /// Those with these names, which are Go's (IANA's). The error says which is unknown.
    pub fn named(names: &[String]) -> Result<CipherSuites, String> {
        let ours = rustls::crypto::ring::ALL_CIPHER_SUITES;
        let is_known = |name: &&String| {
            ours.iter().any(|suite| suite_name(suite.suite()) == Some(name)) || GO_ONLY.contains(&name.as_str())
        };
        match names.iter().find(|name| !is_known(name)) {
            Some(unknown) => {
                Err(format!("unknown cipher suite {unknown:?}, expected a name such as TLS_AES_128_GCM_SHA256"))
            }
            None => Ok(CipherSuites { names: names.to_vec() }),
        }
    }

    /// What is missing of what was asked for, though a handshake may succeed without it.
    pub(crate) fn lack(&self) -> Option<String> {
        let missing: Vec<&str> = self.names.iter().map(String::as_str).filter(|name| GO_ONLY.contains(name)).collect();
        let list = missing.join(", ");
        (!missing.is_empty()).then(|| format!("tlsCipherSuites: not supported and not offered: {list}"))
    }

    /// Leaves only these to the provider. Says why no handshake can succeed: none is left for the versions.
    pub(crate) fn limit(&self, provider: &mut CryptoProvider, versions: &TlsVersions) -> Option<String> {
        if self.names.is_empty() {
            return None;
        }
        let is_13 = |suite: &SupportedCipherSuite| suite.tls13().is_some();
        let is_named = |suite: &SupportedCipherSuite| {
            suite_name(suite.suite()).is_some_and(|name| self.names.iter().any(|wanted| wanted == name))
        };
        provider.cipher_suites.retain(|suite| is_13(suite) || is_named(suite));
        let is_none_left =
            !versions.spoken.contains(&&rustls::version::TLS13) && provider.cipher_suites.iter().all(is_13);
        is_none_left.then(|| {
            let list = self.names.join(", ");
            format!(
                "tlsCipherSuites: none of {list} is supported for TLS 1.2, expected an ECDHE suite with GCM or CHACHA20"
            )
        })
    }
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

impl ClientIdentity {
    /// Reads certificates and a key in PEM. `domains` are host patterns it is for; empty: all. The error says what was
    /// found and what was expected.
    pub fn read(domains: Vec<String>, cert: &str, key: &str, password: Option<&str>) -> Result<ClientIdentity, String> {
        let chain: Vec<_> = CertificateDer::pem_slice_iter(cert.as_bytes()).filter_map(Result::ok).collect();
        if chain.is_empty() {
            return Err(String::from("found no certificate in `cert`, expected PEM with BEGIN CERTIFICATE"));
        }
        let key = private_key::read(key, password)?;
        let unusable = |error: rustls::Error| {
            let (_, text) = failure_map::tls_text(&error);
            format!("found a private key that cannot be used ({text}), expected one of RSA, ECDSA or Ed25519")
        };
        let provider = rustls::crypto::ring::default_provider();
        let signing = provider.key_provider.load_private_key(key.clone_key()).map_err(unusable)?;
        // A certificate that cannot be read is shown all the same: the server may know what to do with it.
        let of_key = signing.public_key().and_then(|key| issuers::public_key_of_info(&key));
        if let (Some(of_key), Some(of_certificate)) = (of_key, issuers::public_key(&chain[0]))
            && of_key != of_certificate
        {
            return Err(String::from(
                "found a private key that is not the certificate's, expected `cert` and `key` of one pair",
            ));
        }
        Ok(ClientIdentity { domains, chain, key })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_work_is_named() {
        let versions = |min, max| TlsVersions::between(min, max).unwrap_err();
        assert_eq!(versions(Some("tls9"), None), "found 'tls9', expected one of tls1.0, tls1.1, tls1.2, tls1.3");
        assert_eq!(versions(Some("tls1.3"), Some("tls1.2")), "found min tls1.3 above max tls1.2");
        assert_eq!(
            CipherSuites::named(&["NOPE".into()]).unwrap_err(),
            "unknown cipher suite \"NOPE\", expected a name such as TLS_AES_128_GCM_SHA256"
        );
        assert_eq!(
            ClientIdentity::read(Vec::new(), "", "", None).unwrap_err(),
            "found no certificate in `cert`, expected PEM with BEGIN CERTIFICATE"
        );
    }

    #[test]
    fn client_certificates_go_to_their_domains() {
        let key = rcgen::generate_simple_self_signed([String::from("client")]).unwrap();
        let read = |domains: &[&str]| {
            let domains = domains.iter().map(|domain| String::from(*domain)).collect();
            ClientIdentity::read(domains, &key.cert.pem(), &key.signing_key.serialize_pem(), None).unwrap()
        };
        let identity = read(&["*.example.com", "one.test"]);
        assert!(identity.is_for("a.EXAMPLE.com") && identity.is_for("one.test"));
        assert!(!identity.is_for("example.com") && !identity.is_for("a.b.example.com") && !identity.is_for("two.test"));
        assert!(read(&[]).is_for("any"));
    }
}
