//! Certificates of authorities that a server should have sent and did not, found where its own certificate says (RFC
//! 5280 section 4.2.2.1, "caIssuers"): the option `tlsAIAFetch`.
//!
//! A handshake that fails because the issuer is unknown ends, and says what is missing. The client then fetches it and
//! connects once more, so that no thread waits within a handshake and no server is believed before it is checked. What
//! was fetched only helps to find a chain: trust still begins at the roots. It is remembered for the process, a failure
//! for a minute. Refuses https, which would ask the same question again, and whatever is large, slow or far away.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{CertificateError, Error, OtherError};
use tokio::sync::OnceCell;
use x509_cert::Certificate;
use x509_cert::der::asn1::{AnyRef, ContextSpecific, ObjectIdentifier};
use x509_cert::der::oid::db::rfc5280::ID_AD_CA_ISSUERS;
use x509_cert::der::oid::db::rfc5911::ID_SIGNED_DATA;
use x509_cert::der::{Decode, Header, Reader, SliceReader, Tag, TagNumber};
use x509_cert::ext::pkix::AuthorityInfoAccessSyntax;
use x509_cert::ext::pkix::name::GeneralName;

/// Certificates between the server's and a trusted one, at most.
const LEVELS: usize = 4;
/// URLs that are looked at for one chain.
const MOST_URLS: usize = 8;
/// Certificates that are taken from one URL.
pub(crate) const MOST_CERTIFICATES: usize = 8;
/// URLs that are remembered before a test that meets ever new ones has all forgotten.
const MOST_REMEMBERED: usize = 1_000;
/// How long a URL that had no certificate is not asked again.
const FAILURE_LASTS: Duration = Duration::from_secs(60);

/// Whether a server's certificates and these are enough.
type Suffice = dyn Fn(&[CertificateDer<'_>]) -> bool + Send + Sync;

/// What is at a URL, or nothing.
type Fetched = Pin<Box<dyn Future<Output = Option<Vec<u8>>>>>;

/// How certificates are fetched: by the rules of the run for names and addresses.
#[derive(Clone)]
pub struct IssuerFetch(Arc<dyn Fn(String) -> Fetched + Send + Sync>);

impl IssuerFetch {
    /// By this function, which bounds how long it takes and how much it reads.
    pub fn new(fetch: impl Fn(String) -> Fetched + Send + Sync + 'static) -> IssuerFetch {
        IssuerFetch(Arc::new(fetch))
    }
}

impl fmt::Debug for IssuerFetch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IssuerFetch")
    }
}

/// Why a certificate is refused that may be found right once its issuers were fetched.
pub(crate) struct MissingIssuers {
    fetch: IssuerFetch,
    /// The server's certificates, its own first.
    chain: Vec<CertificateDer<'static>>,
    /// Whether these beside the server's lead to a trusted one.
    suffice: Box<Suffice>,
}

impl MissingIssuers {
    /// The verdict on a chain that ends early, when there is something to fetch.
    pub(crate) fn of(
        fetch: &IssuerFetch,
        chain: Vec<CertificateDer<'static>>,
        suffice: impl Fn(&[CertificateDer<'_>]) -> bool + Send + Sync + 'static,
    ) -> Option<Error> {
        if follow(&chain).wanted.is_empty() {
            return None;
        }
        let missing = MissingIssuers { fetch: fetch.clone(), chain, suffice: Box::new(suffice) };
        Some(Error::InvalidCertificate(CertificateError::Other(OtherError(Arc::new(missing)))))
    }

    /// What is missing, if that is the error.
    pub(crate) fn in_error(error: &Error) -> Option<&MissingIssuers> {
        match error {
            Error::InvalidCertificate(CertificateError::Other(error)) => error.0.downcast_ref(),
            _ => None,
        }
    }

    /// Fetches what leads to a trusted certificate; whether it was found.
    pub(crate) async fn fetch(&self) -> bool {
        for _ in 0..LEVELS {
            let wanted = follow(&self.chain).wanted;
            if wanted.is_empty() {
                return false;
            }
            for url in wanted {
                IssuerSource::of(&url).ask(&self.fetch, url).await;
            }
            if (self.suffice)(&follow(&self.chain).found) {
                return true;
            }
        }
        false
    }
}

impl fmt::Debug for MissingIssuers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MissingIssuers")
    }
}

impl fmt::Display for MissingIssuers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the issuer of the certificate is not known")
    }
}

impl std::error::Error for MissingIssuers {}

/// What was fetched before and continues this chain.
pub(crate) fn known_issuers(chain: &[CertificateDer<'_>]) -> Vec<CertificateDer<'static>> {
    follow(chain).found
}

/// Certificates at a URL, once they were asked for.
#[derive(Default)]
struct IssuerSource {
    certificates: OnceCell<Vec<CertificateDer<'static>>>,
    failed: Mutex<Option<Instant>>,
}

static SOURCES: LazyLock<Mutex<HashMap<String, Arc<IssuerSource>>>> = LazyLock::new(Mutex::default);

impl IssuerSource {
    /// What is known of a URL.
    fn of(url: &str) -> Arc<IssuerSource> {
        let mut sources = SOURCES.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(source) = sources.get(url) {
            return Arc::clone(source);
        }
        if sources.len() >= MOST_REMEMBERED {
            sources.clear();
        }
        Arc::clone(sources.entry(url.to_owned()).or_default())
    }

    fn has_failed(&self) -> bool {
        let failed = *self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.is_some_and(|at| at.elapsed() < FAILURE_LASTS)
    }

    /// Asks once, however many users wait for the answer.
    async fn ask(&self, fetch: &IssuerFetch, url: String) {
        let asked = self.certificates.get_or_try_init(async || {
            if self.has_failed() {
                return Err(());
            }
            let found = (fetch.0)(url).await.map(|bytes| read(&bytes)).filter(|found| !found.is_empty());
            if found.is_none() {
                *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
            }
            found.ok_or(())
        });
        // Without them the chain stays what it is, and the verdict on it too.
        let _ = asked.await;
    }
}

/// The issuers of a chain, as far as they were fetched, and where the next ones may be.
#[derive(Default)]
struct Followed {
    found: Vec<CertificateDer<'static>>,
    wanted: Vec<String>,
}

fn follow(chain: &[CertificateDer<'_>]) -> Followed {
    let (mut followed, mut seen) = (Followed::default(), HashSet::new());
    let mut urls: Vec<String> = chain.iter().flat_map(urls_of).collect();
    for _ in 0..LEVELS {
        let mut next = Vec::new();
        for url in urls.drain(..) {
            if seen.len() >= MOST_URLS || !seen.insert(url.clone()) {
                continue;
            }
            let source = IssuerSource::of(&url);
            match source.certificates.get() {
                Some(found) => {
                    next.extend(found.iter().flat_map(urls_of));
                    followed.found.extend(found.iter().cloned());
                }
                None if source.has_failed() => {}
                None => followed.wanted.push(url),
            }
        }
        urls = next;
    }
    followed
}

/// Where a certificate says that its issuer's is.
pub(crate) fn urls_of(certificate: &CertificateDer<'_>) -> Vec<String> {
    let access = Certificate::from_der(certificate)
        .ok()
        .and_then(|certificate| certificate.tbs_certificate.get::<AuthorityInfoAccessSyntax>().ok().flatten());
    let described = access.into_iter().flat_map(|(_, access)| access.0);
    let of_issuers = described.filter(|described| described.access_method == ID_AD_CA_ISSUERS);
    let urls = of_issuers.filter_map(|described| match described.access_location {
        GeneralName::UniformResourceIdentifier(url) => Some(url.as_str().to_owned()),
        _ => None,
    });
    urls.filter(|url| url.get(..7).is_some_and(|scheme| scheme.eq_ignore_ascii_case("http://"))).collect()
}

/// Certificates in DER, PEM or PKCS #7, whatever their media type says.
pub(crate) fn read(bytes: &[u8]) -> Vec<CertificateDer<'static>> {
    let found: Vec<CertificateDer<'static>> = match bytes.first() {
        // A SEQUENCE: DER.
        Some(0x30) => match Certificate::from_der(bytes) {
            Ok(_) => vec![CertificateDer::from(bytes.to_vec())],
            Err(_) => bundled(bytes).unwrap_or_default(),
        },
        _ => CertificateDer::pem_slice_iter(bytes).filter_map(Result::ok).collect(),
    };
    let readable = found.into_iter().filter(|found| Certificate::from_der(found).is_ok());
    readable.take(MOST_CERTIFICATES).collect()
}

/// The certificates of a PKCS #7 bundle (RFC 5652, `SignedData` without signatures).
fn bundled(bytes: &[u8]) -> x509_cert::der::Result<Vec<CertificateDer<'static>>> {
    let mut found = Vec::new();
    SliceReader::new(bytes)?.sequence(|content| {
        if ObjectIdentifier::decode(content)? != ID_SIGNED_DATA {
            return Err(Tag::ObjectIdentifier.value_error());
        }
        let signed = ContextSpecific::<AnyRef<'_>>::decode(content)?;
        signed.value.sequence(|signed| {
            // Its version, digests and content.
            for _ in 0..3 {
                AnyRef::decode(signed)?;
            }
            let header = Header::decode(signed)?;
            let is_certificates = Tag::ContextSpecific { constructed: true, number: TagNumber::N0 };
            header.tag.assert_eq(is_certificates)?;
            let mut certificates = SliceReader::new(signed.read_slice(header.length)?)?;
            while !certificates.is_finished() {
                found.push(CertificateDer::from(certificates.tlv_bytes()?.to_vec()));
            }
            // Revocations and signatures are not asked for.
            signed.read_slice(signed.remaining_len()).map(drop)
        })
    })?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(tag: u8, content: &[u8]) -> Vec<u8> {
        let length = u16::try_from(content.len()).unwrap().to_be_bytes();
        [&[tag, 0x82], &length[..], content].concat()
    }

    #[test]
    fn certificates_are_read_in_every_form_that_authorities_use() {
        let of = |name: &str| rcgen::generate_simple_self_signed([String::from(name)]).unwrap().cert;
        let (first, second) = (of("a.example"), of("b.example"));
        let (first_der, second_der) = (first.der().clone(), second.der().clone());
        assert_eq!(read(&first_der), std::slice::from_ref(&first_der));
        assert_eq!(
            read(format!("{}\n{}", first.pem(), second.pem()).as_bytes()),
            [first_der.clone(), second_der.clone()]
        );
        let signed_data = [6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 7, 2];
        let data = [0x30, 11, 6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 7, 1];
        let certificates = wrapped(0xa0, &[&first_der[..], &second_der].concat());
        let signed = wrapped(0x30, &[&[2, 1, 1, 0x31, 0], &data[..], &certificates, &[0x31, 0]].concat());
        let bundle = wrapped(0x30, &[&signed_data[..], &wrapped(0xa0, &signed)].concat());
        assert_eq!(read(&bundle), [first_der, second_der]);
        for end in 0..bundle.len() {
            assert!(read(&bundle[..end]).is_empty(), "a bundle that breaks off at {end}");
        }
        assert!(read(b"<html>404</html>").is_empty());
    }
}
