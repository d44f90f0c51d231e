//! What scripts ask of a certificate, read from PEM (RFC 5280, RFC 7468). No JavaScript.
//!
//! Of several certificates in a text the first is read. Only its form is checked: not whom it is for, and not who
//! signed it.

use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use sha1::{Digest, Sha1};
use x509_cert::attr::AttributeTypeAndValue;
use x509_cert::der::asn1::{AnyRef, Ia5StringRef, ObjectIdentifier, PrintableStringRef, UintRef, Utf8StringRef};
use x509_cert::der::{Decode, Encode, Reader, SliceReader};
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::spki::SubjectPublicKeyInfoOwned;
use x509_cert::{Certificate, name::Name};

/// What a certificate says.
pub(super) struct Facts {
    pub(super) subject: NameFacts,
    pub(super) issuer: NameFacts,
    /// As in `2026-11-23T05:20:35Z`.
    pub(super) not_before: String,
    pub(super) not_after: String,
    /// Host names, then mail addresses, IP addresses and URIs.
    pub(super) alternative_names: Vec<String>,
    pub(super) signature_algorithm: String,
    /// The SHA-1 digest of the certificate.
    pub(super) fingerprint: Vec<u8>,
    key: SubjectPublicKeyInfoOwned,
}

/// A name: each part with its object identifier, in the order of the certificate.
#[derive(Debug)]
pub(super) struct NameFacts(pub(super) Vec<(String, String)>);

/// The public key of a certificate. Numbers are big-endian.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PublicKeyFacts {
    Rsa { modulus: Vec<u8>, exponent: Vec<u8> },
    Ecdsa { curve: &'static str, x: Vec<u8>, y: Vec<u8> },
    Dsa { p: Vec<u8>, q: Vec<u8>, g: Vec<u8>, y: Vec<u8> },
}

impl NameFacts {
    pub(super) const COMMON_NAME: &str = "2.5.4.3";
    pub(super) const COUNTRY: &str = "2.5.4.6";
    pub(super) const LOCALITY: &str = "2.5.4.7";
    pub(super) const STATE: &str = "2.5.4.8";
    pub(super) const STREET: &str = "2.5.4.9";
    pub(super) const ORGANIZATION: &str = "2.5.4.10";
    pub(super) const UNIT: &str = "2.5.4.11";
    pub(super) const POSTAL_CODE: &str = "2.5.4.17";

    fn of(name: &Name) -> NameFacts {
        let parts = name.0.iter().flat_map(|set| set.0.iter());
        NameFacts(parts.map(|part| (part.oid.to_string(), text_of(part))).collect())
    }

    /// The parts of this identifier.
    pub(super) fn all<'a>(&'a self, identifier: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(known, _)| known == identifier).map(|(_, text)| text.as_str())
    }

    /// The first of them, or nothing.
    pub(super) fn first(&self, identifier: &str) -> &str {
        self.0.iter().find(|(known, _)| known == identifier).map_or("", |(_, text)| text)
    }
}

fn text_of(part: &AttributeTypeAndValue) -> String {
    let value = AnyRef::from(&part.value);
    let text = value
        .decode_as::<Utf8StringRef<'_>>()
        .map(|text| text.as_str().to_owned())
        .or_else(|_| value.decode_as::<PrintableStringRef<'_>>().map(|text| text.as_str().to_owned()))
        .or_else(|_| value.decode_as::<Ia5StringRef<'_>>().map(|text| text.as_str().to_owned()));
    text.unwrap_or_else(|_| String::from_utf8_lossy(part.value.value()).into_owned())
}

impl Facts {
    /// Reads the first certificate of a text.
    ///
    /// # Errors
    /// When there is none, or its bytes are none.
    pub(super) fn read(pem: &str) -> Result<Facts, String> {
        let der = CertificateDer::from_pem_slice(pem.as_bytes()).map_err(|_| {
            String::from("the text has no certificate, expected PEM that begins with -----BEGIN CERTIFICATE-----")
        })?;
        let malformed = |why: x509_cert::der::Error| format!("the certificate is malformed: {why}");
        let certificate = Certificate::from_der(&der).map_err(malformed)?;
        let content = certificate.tbs_certificate;
        Ok(Facts {
            subject: NameFacts::of(&content.subject),
            issuer: NameFacts::of(&content.issuer),
            not_before: content.validity.not_before.to_date_time().to_string(),
            not_after: content.validity.not_after.to_date_time().to_string(),
            alternative_names: match content.get::<SubjectAltName>().map_err(malformed)? {
                Some((_, names)) => alternative_names(&names),
                None => Vec::new(),
            },
            signature_algorithm: signature_algorithm(&certificate.signature_algorithm),
            fingerprint: Sha1::digest(&*der).to_vec(),
            key: content.subject_public_key_info,
        })
    }

    /// The public key.
    ///
    /// # Errors
    /// When it is none of RSA, ECDSA and DSA.
    pub(super) fn public_key(&self) -> Result<PublicKeyFacts, String> {
        let identifier = self.key.algorithm.oid.to_string();
        let bits = self.key.subject_public_key.raw_bytes();
        let key = match identifier.as_str() {
            "1.2.840.113549.1.1.1" => rsa_key(bits),
            "1.2.840.10045.2.1" => ec_key(&self.key, bits),
            "1.2.840.10040.4.1" => dsa_key(&self.key, bits),
            other => {
                return Err(format!("the public key's algorithm {other} is not supported, expected RSA, ECDSA or DSA"));
            }
        };
        key.ok_or_else(|| format!("the public key of the algorithm {identifier} is malformed"))
    }
}

fn number(reader: &mut SliceReader<'_>) -> Option<Vec<u8>> {
    reader.decode::<UintRef<'_>>().ok().map(|number| number.as_bytes().to_vec())
}

fn rsa_key(bits: &[u8]) -> Option<PublicKeyFacts> {
    let mut reader = SliceReader::new(bits).ok()?;
    let (modulus, exponent) = reader
        .sequence(|inner| {
            Ok((UintRef::decode(inner)?.as_bytes().to_vec(), UintRef::decode(inner)?.as_bytes().to_vec()))
        })
        .ok()?;
    Some(PublicKeyFacts::Rsa { modulus, exponent })
}

fn ec_key(key: &SubjectPublicKeyInfoOwned, bits: &[u8]) -> Option<PublicKeyFacts> {
    let curve = key.algorithm.parameters.as_ref()?.decode_as::<ObjectIdentifier>().ok()?.to_string();
    let (curve, size) = match curve.as_str() {
        "1.2.840.10045.3.1.7" => ("P-256", 32),
        "1.3.132.0.33" => ("P-224", 28),
        "1.3.132.0.34" => ("P-384", 48),
        "1.3.132.0.35" => ("P-521", 66),
        _ => return None,
    };
    let point = bits.strip_prefix(&[4]).filter(|point| point.len() == 2 * size)?;
    let (x, y) = point.split_at(size);
    Some(PublicKeyFacts::Ecdsa { curve, x: x.to_vec(), y: y.to_vec() })
}

fn dsa_key(key: &SubjectPublicKeyInfoOwned, bits: &[u8]) -> Option<PublicKeyFacts> {
    let parameters = key.algorithm.parameters.as_ref()?.to_der().ok()?;
    let mut reader = SliceReader::new(&parameters).ok()?;
    let one = |inner: &mut _| UintRef::decode(inner).map(|number| number.as_bytes().to_vec());
    let (p, q, g) = reader.sequence(|inner| Ok((one(inner)?, one(inner)?, one(inner)?))).ok()?;
    let y = number(&mut SliceReader::new(bits).ok()?)?;
    Some(PublicKeyFacts::Dsa { p, q, g, y })
}

fn alternative_names(names: &SubjectAltName) -> Vec<String> {
    let address = |bytes: &[u8]| match bytes.len() {
        4 => <[u8; 4]>::try_from(bytes).ok().map(|bytes| std::net::Ipv4Addr::from(bytes).to_string()),
        16 => <[u8; 16]>::try_from(bytes).ok().map(|bytes| std::net::Ipv6Addr::from(bytes).to_string()),
        _ => None,
    };
    let shown = names.0.iter().filter_map(|name| match name {
        GeneralName::DnsName(name) => Some((0, name.to_string())),
        GeneralName::Rfc822Name(name) => Some((1, name.to_string())),
        GeneralName::IpAddress(bytes) => Some((2, address(bytes.as_bytes())?)),
        GeneralName::UniformResourceIdentifier(name) => Some((3, name.to_string())),
        _ => None,
    });
    let mut shown: Vec<(u8, String)> = shown.collect();
    shown.sort_by_key(|(kind, _)| *kind);
    shown.into_iter().map(|(_, name)| name).collect()
}

/// As Go names them; the object identifier of others.
fn signature_algorithm(algorithm: &x509_cert::spki::AlgorithmIdentifierOwned) -> String {
    const NAMES: [(&str, &str); 13] = [
        ("1.2.840.113549.1.1.4", "MD5-RSA"),
        ("1.2.840.113549.1.1.5", "SHA1-RSA"),
        ("1.2.840.113549.1.1.11", "SHA256-RSA"),
        ("1.2.840.113549.1.1.12", "SHA384-RSA"),
        ("1.2.840.113549.1.1.13", "SHA512-RSA"),
        ("1.2.840.113549.1.1.10", "SHA256-RSAPSS"),
        ("1.2.840.10040.4.3", "DSA-SHA1"),
        ("2.16.840.1.101.3.4.3.2", "DSA-SHA256"),
        ("1.2.840.10045.4.1", "ECDSA-SHA1"),
        ("1.2.840.10045.4.3.2", "ECDSA-SHA256"),
        ("1.2.840.10045.4.3.3", "ECDSA-SHA384"),
        ("1.2.840.10045.4.3.4", "ECDSA-SHA512"),
        ("1.3.101.112", "Ed25519"),
    ];
    let identifier = algorithm.oid.to_string();
    NAMES.iter().find(|(known, _)| *known == identifier).map_or(identifier.clone(), |(_, name)| (*name).to_owned())
}
