//! Servers that leave certificates of authorities out, and what fetches them: real TLS, real authorities over http.
//!
//! What was fetched is remembered for the process, in which all tests of this file run: each has URLs of its own,
//! because each authority listens at a port of its own.

#![allow(clippy::unwrap_used)]

mod support;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use onrush_wire::client::issuer_fetch;
use onrush_wire::settings::{Blocked, TlsSettings};
use onrush_wire::{FailureKind, Request, Settings};
use rcgen::{BasicConstraints, CertificateParams, CustomExtension, DnType, IsCa, Issuer, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use support::tls::{OK, tls, url};
use support::{get, read_request, send_all};

/// Paths and what is there.
type Files = Vec<(String, Vec<u8>)>;

/// An http server with files, as authorities have them; counts what it is asked.
struct Authorities {
    address: SocketAddr,
    files: Arc<Mutex<Files>>,
    asked: Arc<AtomicUsize>,
}

impl Authorities {
    fn start() -> Authorities {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (files, asked) = (Arc::new(Mutex::new(Files::new())), Arc::new(AtomicUsize::new(0)));
        let (known, count) = (Arc::clone(&files), Arc::clone(&asked));
        thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                let head = String::from_utf8(read_request(&mut stream, false)).unwrap();
                count.fetch_add(1, Ordering::SeqCst);
                let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
                let found = known.lock().unwrap().iter().find(|(name, _)| *name == path).map(|(_, file)| file.clone());
                let (status, body) = found.map_or(("404 Not Found", Vec::new()), |file| ("200 OK", file));
                let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
                let _sent = stream.write_all(&[head.as_bytes(), &body].concat());
            }
        });
        Authorities { address, files, asked }
    }

    fn put(&self, path: &str, file: &[u8]) {
        self.files.lock().unwrap().push((path.to_owned(), file.to_vec()));
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

/// `AuthorityInfoAccess` with one issuer's URL, in DER.
fn issuer_at(url: &str) -> CustomExtension {
    let wrapped = |tag: u8, content: &[u8]| [&[tag, u8::try_from(content.len()).unwrap()], content].concat();
    let is_issuer = [6, 8, 0x2b, 6, 1, 5, 5, 7, 0x30, 2];
    let described = wrapped(0x30, &[&is_issuer[..], &wrapped(0x86, url.as_bytes())].concat());
    CustomExtension::from_oid_content(&[1, 3, 6, 1, 5, 5, 7, 1, 1], wrapped(0x30, &described))
}

fn parameters(name: &str, issuer: Option<&str>, is_authority: bool) -> CertificateParams {
    let mut parameters = CertificateParams::new([String::from("127.0.0.1")]).unwrap();
    parameters.distinguished_name.push(DnType::CommonName, name);
    parameters.custom_extensions.extend(issuer.map(issuer_at));
    if is_authority {
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    }
    parameters
}

/// A server's certificate with as many authorities above it as there are URLs of issuers; the last one is trusted.
struct Chain {
    /// The server's first, the root last.
    certificates: Vec<rcgen::Certificate>,
    key: KeyPair,
}

impl Chain {
    /// `issuers`: where each certificate says that the one above it is.
    fn new(name: &str, issuers: &[String]) -> Chain {
        let authority =
            |level: usize| parameters(&format!("{name} {level}"), issuers.get(level).map(String::as_str), true);
        let mut key = KeyPair::generate().unwrap();
        let mut certificates = vec![authority(issuers.len()).self_signed(&key).unwrap()];
        for level in (0..issuers.len()).rev() {
            let issuer = Issuer::new(authority(level + 1), key);
            key = KeyPair::generate().unwrap();
            let own = parameters(&format!("{name} {level}"), Some(&issuers[level]), level > 0);
            certificates.insert(0, own.signed_by(&key, &issuer).unwrap());
        }
        Chain { certificates, key }
    }

    fn der(&self, level: usize) -> &CertificateDer<'static> {
        self.certificates[level].der()
    }

    /// A server that shows its own certificate alone.
    fn serve(&self) -> SocketAddr {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let private = PrivateKeyDer::from_pem_slice(self.key.serialize_pem().as_bytes()).unwrap();
        let config = builder.with_no_client_auth().with_single_cert(vec![self.der(0).clone()], private).unwrap();
        let (config, listener) = (Arc::new(config), TcpListener::bind("127.0.0.1:0").unwrap());
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for socket in listener.incoming().map_while(Result::ok) {
                socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
                let mut stream = StreamOwned::new(ServerConnection::new(config.clone()).unwrap(), socket);
                if !read_request(&mut stream, false).is_empty() {
                    let _sent = stream.write_all(OK).and_then(|()| stream.flush());
                    let _ended = stream.read(&mut [0]);
                }
            }
        });
        address
    }

    /// Settings that trust its root.
    fn trusted(&self) -> Settings {
        let trusted_pem = Some(self.certificates.last().unwrap().pem());
        tls(TlsSettings { trusted_pem, ..TlsSettings::default() })
    }

    /// The same, and what is missing is fetched.
    fn fetching(&self) -> Settings {
        fetching(self.trusted())
    }
}

fn fetching(mut settings: Settings) -> Settings {
    settings.tls.issuer_fetch = Some(issuer_fetch(settings.clone()));
    settings
}

/// What a request comes to.
fn asked(settings: Settings, address: SocketAddr) -> String {
    match send_all(settings, &[get(url(address))]).remove(0).outcome {
        Ok(response) => response.status.to_string(),
        Err(failure) => {
            assert_eq!(failure.kind, FailureKind::UnknownAuthority, "{}", failure.message);
            failure.message
        }
    }
}

const UNKNOWN: &str = "tls: failed to verify certificate: x509: certificate signed by unknown authority";

#[test]
fn a_missing_issuer_is_fetched_once_and_only_when_asked_for() {
    let authorities = Authorities::start();
    let chain = Chain::new("one", &[authorities.url("/one.crt"), authorities.url("/root.crt")]);
    authorities.put("/one.crt", chain.der(1));
    let address = chain.serve();
    assert_eq!(asked(chain.trusted(), address), UNKNOWN);
    assert_eq!(authorities.asked(), 0, "nothing is fetched without the option");
    let exchange = send_all(chain.fetching(), &[get(url(address))]).remove(0);
    assert_eq!(exchange.outcome.as_ref().unwrap().status, 200);
    assert!(exchange.timings.tls_handshaking > Duration::ZERO, "{:?}", exchange.timings);
    for _ in 0..3 {
        assert_eq!(asked(chain.fetching(), address), "200");
    }
    assert_eq!(authorities.asked(), 1, "the root is there, and what was fetched is remembered");
    // Without the option the process does not know what it has fetched.
    assert_eq!(asked(chain.trusted(), address), UNKNOWN);
}

#[test]
fn several_levels_are_fetched_but_not_endlessly_many() {
    let authorities = Authorities::start();
    let urls = |name: &str, levels: usize| -> Vec<String> {
        (1..=levels).map(|level| authorities.url(&format!("/{name}-{level}.crt"))).collect()
    };
    for (levels, expected) in [(3, "200"), (5, "200"), (6, UNKNOWN)] {
        let name = format!("deep{levels}");
        let chain = Chain::new(&name, &urls(&name, levels));
        for level in 1..levels {
            authorities.put(&format!("/{name}-{level}.crt"), chain.certificates[level].pem().as_bytes());
        }
        assert_eq!(asked(chain.fetching(), chain.serve()), expected, "{levels} certificates above the server's");
    }
}

#[test]
fn what_cannot_be_fetched_leaves_the_usual_verdict() {
    let authorities = Authorities::start();
    let other = Chain::new("other", &[authorities.url("/none.crt")]);
    authorities.put("/other.crt", other.der(1));
    authorities.put("/page.crt", b"<html>moved</html>");
    authorities.put("/large.crt", &[b'x'; 300_000]);
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for place in [
        authorities.url("/missing.crt"),
        authorities.url("/other.crt"),
        authorities.url("/page.crt"),
        authorities.url("/large.crt"),
        format!("http://{closed}/refused.crt"),
        format!("https://{}/https.crt", authorities.address),
        String::from("ldap://127.0.0.1/cn=x"),
        String::from("http://"),
    ] {
        let chain = Chain::new("lost", &[place.clone(), place.clone()]);
        assert_eq!(asked(chain.fetching(), chain.serve()), UNKNOWN, "{place}");
    }
    // A failure is remembered, too.
    let before = authorities.asked();
    let chain = Chain::new("lost", &[authorities.url("/missing.crt"), authorities.url("/missing.crt")]);
    assert_eq!(asked(chain.fetching(), chain.serve()), UNKNOWN);
    assert_eq!(authorities.asked(), before);
}

#[test]
fn addresses_that_are_never_connected_to_are_not_fetched_from() {
    let authorities = Authorities::start();
    let chain = Chain::new("blocked", &[authorities.url("/blocked.crt"), authorities.url("/root.crt")]);
    authorities.put("/blocked.crt", chain.der(1));
    let blocked = Blocked { addresses: Arc::new(vec!["127.0.0.0/8".parse().unwrap()]), ..Blocked::default() };
    let mut settings = chain.trusted();
    settings.tls.issuer_fetch = Some(issuer_fetch(Settings { blocked, ..settings.clone() }));
    assert_eq!(asked(settings, chain.serve()), UNKNOWN);
    assert_eq!(authorities.asked(), 0);
}

#[test]
fn an_authority_that_does_not_answer_takes_no_longer_than_the_request_has() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = format!("http://{}/silent.crt", silent.local_addr().unwrap());
    let chain = Chain::new("silent", &[place.clone(), place]);
    let request = Request { timeout: Some(Duration::from_millis(300)), ..get(url(chain.serve())) };
    let began = Instant::now();
    let failure = send_all(chain.fetching(), &[request]).remove(0).outcome.unwrap_err();
    assert_eq!((failure.kind, &*failure.message), (FailureKind::UnknownAuthority, UNKNOWN));
    assert!((Duration::from_millis(300)..Duration::from_secs(4)).contains(&began.elapsed()), "{:?}", began.elapsed());
}
