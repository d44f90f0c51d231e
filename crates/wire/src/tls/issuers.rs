//! Which certificates trusted authorities vouch for, beyond what the TLS library decides: Go's answer for a server that
//! shows the certificate of an authority (CA:TRUE), as `openssl req -x509` makes them, or one for any usage.
//!
//! The library refuses such a certificate before it looks for its authority, so the way to a trusted one is walked
//! here. Stricter than Go where it is rarely asked: a chain with name constraints, or with a critical extension that is
//! not known here, leads nowhere. Asked only about certificates whose dates the library found right.

use std::time::Duration;

use rustls::crypto::WebPkiSupportedAlgorithms;
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::{DigitallySignedStruct, SignatureScheme};
use x509_cert::Certificate;
use x509_cert::der::asn1::ObjectIdentifier;
use x509_cert::der::oid::AssociatedOid;
use x509_cert::der::oid::db::rfc5280::{ANY_EXTENDED_KEY_USAGE, ID_KP_SERVER_AUTH};
use x509_cert::der::{Decode, Encode};
use x509_cert::ext::pkix::{BasicConstraints, ExtendedKeyUsage, KeyUsage, NameConstraints, SubjectAltName};
use x509_cert::spki::SubjectPublicKeyInfoOwned;

/// Authorities between a server's certificate and a trusted one, at most.
const LONGEST: u8 = 8;

/// The certificates at hand and what their signatures are checked with.
pub(crate) struct IssuerSearch<'c> {
    pub(crate) roots: &'c [CertificateDer<'static>],
    pub(crate) others: &'c [CertificateDer<'c>],
    pub(crate) algorithms: WebPkiSupportedAlgorithms,
    pub(crate) now: UnixTime,
}

impl IssuerSearch<'_> {
    /// Whether a chain of authorities leads from a trusted one to this certificate.
    pub(crate) fn reaches(&self, leaf: &CertificateDer<'_>) -> bool {
        parse(leaf).is_some_and(|leaf| self.leads(&leaf, 0))
    }

    /// `below`: authorities between this certificate and the server's.
    fn leads(&self, certificate: &Certificate, below: u8) -> bool {
        let issued = |issuer: &Certificate| {
            issuer.tbs_certificate.subject == certificate.tbs_certificate.issuer
                && self.may_issue(issuer, below)
                && self.has_signed(issuer, certificate)
        };
        let trusted = || self.roots.iter().filter_map(parse).any(|issuer| issued(&issuer));
        let between =
            || self.others.iter().filter_map(parse).any(|issuer| issued(&issuer) && self.leads(&issuer, below + 1));
        below < LONGEST && (trusted() || between())
    }

    fn may_issue(&self, issuer: &Certificate, below: u8) -> bool {
        let tbs = &issuer.tbs_certificate;
        let is_authority = match tbs.get::<BasicConstraints>() {
            Ok(Some((_, found))) => found.ca && found.path_len_constraint.is_none_or(|limit| below <= limit),
            _ => false,
        };
        let signs = match tbs.get::<KeyUsage>() {
            Ok(usage) => usage.is_none_or(|(_, usage)| usage.key_cert_sign()),
            Err(_) => false,
        };
        let now = Duration::from_secs(self.now.as_secs());
        let validity = &tbs.validity;
        let is_current = validity.not_before.to_unix_duration() <= now && now <= validity.not_after.to_unix_duration();
        is_authority && signs && is_current && allows_servers(issuer) && has_known_limits(issuer)
    }

    fn has_signed(&self, issuer: &Certificate, certificate: &Certificate) -> bool {
        let (Ok(message), Ok(algorithm)) =
            (certificate.tbs_certificate.to_der(), certificate.signature_algorithm.to_der())
        else {
            return false;
        };
        let Some(key) = Key::of(issuer) else { return false };
        let fitting =
            self.algorithms.all.iter().filter(|known| known.signature_alg_id().as_ref() == content(&algorithm));
        fitting.into_iter().any(|known| {
            known.public_key_alg_id().as_ref() == content(&key.algorithm)
                && known.verify_signature(&key.bits, &message, certificate.signature.raw_bytes()).is_ok()
        })
    }
}

/// Whether a server may show this certificate, or an authority vouch for servers with it: its extended key usage says
/// so, or nothing.
pub(crate) fn is_for_servers(leaf: &CertificateDer<'_>) -> bool {
    parse(leaf).is_some_and(|leaf| allows_servers(&leaf))
}

/// Whether the certificate's key has signed a handshake, whatever else the certificate says: for clients that accept
/// any.
pub(crate) fn has_signed_handshake(
    certificate: &CertificateDer<'_>,
    message: &[u8],
    signed: &DigitallySignedStruct,
    algorithms: &WebPkiSupportedAlgorithms,
) -> bool {
    let Some(key) = parse(certificate).as_ref().and_then(Key::of) else { return false };
    let of_scheme = |(scheme, _): &&(SignatureScheme, _)| *scheme == signed.scheme;
    let fitting = algorithms.mapping.iter().filter(of_scheme).flat_map(|(_, algorithms)| algorithms.iter());
    fitting.into_iter().any(|known| {
        known.public_key_alg_id().as_ref() == content(&key.algorithm)
            && known.verify_signature(&key.bits, message, signed.signature()).is_ok()
    })
}

/// A public key: its algorithm in DER, and its bits.
struct Key {
    algorithm: Vec<u8>,
    bits: Vec<u8>,
}

impl Key {
    fn of(certificate: &Certificate) -> Option<Key> {
        let info = &certificate.tbs_certificate.subject_public_key_info;
        Some(Key { algorithm: info.algorithm.to_der().ok()?, bits: info.subject_public_key.raw_bytes().to_vec() })
    }
}

/// The key in a certificate: the bits alone, since its algorithm may be written in several ways.
pub(crate) fn public_key(certificate: &CertificateDer<'_>) -> Option<Vec<u8>> {
    Some(parse(certificate)?.tbs_certificate.subject_public_key_info.subject_public_key.raw_bytes().to_vec())
}

/// The same of a key that stands alone.
pub(crate) fn public_key_of_info(info: &[u8]) -> Option<Vec<u8>> {
    let info = SubjectPublicKeyInfoOwned::from_der(info).ok()?;
    Some(info.subject_public_key.raw_bytes().to_vec())
}

fn parse(certificate: &CertificateDer<'_>) -> Option<Certificate> {
    Certificate::from_der(certificate).ok()
}

/// What an algorithm's SEQUENCE holds: the library leaves tag and length out. None is as long as 128 bytes.
fn content(algorithm: &[u8]) -> &[u8] {
    algorithm.get(2..).unwrap_or_default()
}

fn allows_servers(certificate: &Certificate) -> bool {
    match certificate.tbs_certificate.get::<ExtendedKeyUsage>() {
        Ok(None) => true,
        Ok(Some((_, usages))) => {
            usages.0.iter().any(|usage| [ID_KP_SERVER_AUTH, ANY_EXTENDED_KEY_USAGE].contains(usage))
        }
        Err(_) => false,
    }
}

fn has_known_limits(certificate: &Certificate) -> bool {
    const KNOWN: [ObjectIdentifier; 4] =
        [BasicConstraints::OID, KeyUsage::OID, ExtendedKeyUsage::OID, SubjectAltName::OID];
    let extensions = certificate.tbs_certificate.extensions.iter().flatten();
    extensions.into_iter().all(|extension| {
        extension.extn_id != NameConstraints::OID && (!extension.critical || KNOWN.contains(&extension.extn_id))
    })
}
