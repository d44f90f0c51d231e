//! TLS over real sockets: versions, trust, names, client certificates, records in any pieces.

#![allow(clippy::unwrap_used)]

mod support;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use onrush_wire::settings::{ClientIdentity, TlsSettings};
use onrush_wire::{FailureKind, FileRange, Payload, PayloadFile, Random, Request, Segment, Settings};
use rustls::pki_types::{PrivateKeyDer, pem::PemObject};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use support::tls::{OK, key_for, server_config, tls, trust_any, trusting, url};
use support::{body, failure, get, read_request, send_all, settings};

/// What a server saw on its connections: each request, and whether the session was resumed.
type Seen = Vec<(Vec<u8>, bool)>;

/// Serves `connections` connections with `requests` requests each, all answered alike.
fn serve(config: ServerConfig, connections: usize, requests: usize, reply: Vec<u8>) -> (SocketAddr, JoinHandle<Seen>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let config = Arc::new(config);
    let thread = thread::spawn(move || {
        let mut seen = Vec::new();
        for _ in 0..connections {
            let (socket, _) = listener.accept().unwrap();
            socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
            let connection = ServerConnection::new(config.clone()).unwrap();
            let mut stream = StreamOwned::new(connection, socket);
            for _ in 0..requests {
                let request = read_request(&mut stream, true);
                if request.is_empty() {
                    break;
                }
                let resumed = stream.conn.handshake_kind() == Some(rustls::HandshakeKind::Resumed);
                seen.push((request, resumed));
                stream.write_all(&reply).unwrap();
                stream.flush().unwrap();
            }
            stream.conn.send_close_notify();
            let _ = stream.flush();
            let _ = stream.read(&mut [0]);
        }
        seen
    });
    (address, thread)
}

#[test]
fn both_versions_are_spoken_and_named() {
    let key = key_for("localhost");
    for (version, name) in [(&rustls::version::TLS12, "tls1.2"), (&rustls::version::TLS13, "tls1.3")] {
        let (address, server) = serve(server_config(&key, &[version], None), 1, 3, OK.to_vec());
        let exchanges = send_all(trusting(), &[get(url(address)), get(url(address)), get(url(address))]);
        assert!(exchanges.iter().all(|e| body(e) == b"ok"));
        let facts: Vec<_> = exchanges.iter().map(|e| e.connection.clone().unwrap()).collect();
        assert_eq!(facts.iter().map(|f| f.reused).collect::<Vec<_>>(), [false, true, true]);
        assert!(facts.iter().all(|f| f.tls_version == Some(name)));
        assert!(facts[0].tls_cipher_suite.unwrap().starts_with("TLS_"), "{facts:?}");
        assert!(exchanges[0].timings.tls_handshaking > Duration::ZERO);
        assert_eq!(exchanges[1].timings.tls_handshaking, Duration::ZERO);
        // Handshake bytes belong to the first; each later request is one record of head and overhead.
        assert!(exchanges[0].bytes_received > exchanges[1].bytes_received + 500);
        assert!((60..140).contains(&exchanges[1].bytes_sent), "{} bytes", exchanges[1].bytes_sent);
        assert_eq!(server.join().unwrap().len(), 3);
    }
}

#[test]
fn bodies_larger_than_a_record_arrive_whole_both_ways() {
    let key = key_for("localhost");
    let big: Vec<u8> = (0..300_000u32).map(|i| (i * 7 / 5) as u8).collect();
    let mut reply = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", big.len()).into_bytes();
    reply.extend_from_slice(&big);
    let (address, server) = serve(server_config(&key, rustls::ALL_VERSIONS, None), 1, 1, reply);
    let mut payload = Payload::empty();
    for piece in big.chunks(7001) {
        payload.push(Segment::Shared(bytes::Bytes::copy_from_slice(piece)));
    }
    let (streamed, whole) = streamed_and_whole();
    streamed.into_iter().for_each(|segment| payload.push(segment));
    let expected = [&big[..], &whole].concat();
    let request = Request { method: onrush_wire::Method::Post, body: Some(payload), ..get(url(address)) };
    let exchange = send_all(trusting(), &[request]).remove(0);
    assert!(body(&exchange) == big, "the response differs");
    let (seen, _) = server.join().unwrap().remove(0);
    assert!(seen.ends_with(&expected), "the upload differs");
    let len = expected.len() as u64;
    assert!(exchange.bytes_sent > len && exchange.bytes_sent < len + 6000);
}

/// Two segments that are in memory at no time, this program's own file and random bytes, and what they are together.
fn streamed_and_whole() -> (Vec<Segment>, Vec<u8>) {
    let file = PayloadFile::open(&std::env::current_exe().unwrap()).unwrap();
    let range = FileRange::whole(file).slice(11, 200_000).unwrap();
    let random = Random::new(100_001, 9);
    let mut whole = vec![0; 299_990];
    range.read_at(0, &mut whole[..199_989]).unwrap();
    random.read_at(0, &mut whole[199_989..]);
    (vec![Segment::File(range), Segment::Random(random)], whole)
}

#[test]
fn an_unknown_authority_and_a_wrong_name_are_told_apart() {
    for (name, kind, text) in [
        ("127.0.0.1", FailureKind::UnknownAuthority, "certificate signed by unknown authority"),
        ("other.example", FailureKind::WrongHost, "certificate is valid for other.example, not 127.0.0.1"),
    ] {
        let (address, server) = serve(server_config(&key_for(name), rustls::ALL_VERSIONS, None), 1, 1, OK.to_vec());
        let exchange = send_all(settings(), &[get(url(address))]).remove(0);
        let found = exchange.outcome.as_ref().unwrap_err();
        assert_eq!(
            (found.kind, found.message.clone()),
            (kind, format!("tls: failed to verify certificate: x509: {text}"))
        );
        assert!(exchange.connection.is_none());
        assert!(server.join().unwrap().is_empty(), "the server saw a request");
    }
}

/// An authority, or a server's certificate, before it is signed.
fn parameters(name: &str, change: impl FnOnce(&mut rcgen::CertificateParams)) -> rcgen::CertificateParams {
    let mut parameters = rcgen::CertificateParams::new([String::from("127.0.0.1")]).unwrap();
    parameters.distinguished_name.push(rcgen::DnType::CommonName, name);
    change(&mut parameters);
    parameters
}

fn authority(parameters: &mut rcgen::CertificateParams) {
    parameters.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
}

/// What a request to a server says that shows `shown`, of which the first is its own.
fn asked(shown: &[&rcgen::Certificate], key: &rcgen::KeyPair, trusted: &[&rcgen::Certificate]) -> String {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let private = PrivateKeyDer::from_pem_slice(key.serialize_pem().as_bytes()).unwrap();
    let chain = shown.iter().map(|certificate| certificate.der().clone()).collect();
    let config = builder.with_no_client_auth().with_single_cert(chain, private).unwrap();
    let (address, _server) = serve(config, 1, 1, OK.to_vec());
    let trusted_pem = Some(trusted.iter().map(|certificate| certificate.pem()).collect::<String>());
    match send_all(tls(TlsSettings { trusted_pem, ..TlsSettings::default() }), &[get(url(address))]).remove(0).outcome {
        Ok(response) => response.status.to_string(),
        Err(failure) if failure.kind == FailureKind::UnknownAuthority => String::from("UnknownAuthority"),
        Err(failure) => format!("{:?}: {}", failure.kind, failure.message),
    }
}

#[test]
fn who_is_trusted_is_trusted_as_in_go() {
    let key = || rcgen::KeyPair::generate().unwrap();
    let (root_key, other_key, between_key, own) = (key(), key(), key(), key());
    let root_parameters = || parameters("root", authority);
    let root = root_parameters().self_signed(&root_key).unwrap();
    let by_root = rcgen::Issuer::new(root_parameters(), &root_key);
    let other = rcgen::Issuer::new(parameters("other", authority), &other_key);
    let between = parameters("between", authority).signed_by(&between_key, &by_root).unwrap();
    let by_between = rcgen::Issuer::new(parameters("between", authority), &between_key);
    let no_authority = parameters("no authority", |_| {}).signed_by(&between_key, &by_root).unwrap();
    let by_nobody = rcgen::Issuer::new(parameters("no authority", |_| {}), &between_key);
    let server = |issuer: &rcgen::Issuer<'_, &rcgen::KeyPair>, change: fn(&mut rcgen::CertificateParams)| {
        parameters("server", change).signed_by(&own, issuer).unwrap()
    };
    let itself = parameters("itself", authority).self_signed(&own).unwrap();

    let marked = server(&by_root, authority);
    assert_eq!(asked(&[&marked], &own, &[&root]), "200", "an authority's certificate, by a trusted authority");
    let marked = server(&by_between, authority);
    assert_eq!(asked(&[&marked, &between], &own, &[&root]), "200", "the same with one between");
    assert_eq!(asked(&[&marked], &own, &[&root]), "UnknownAuthority", "the one between is missing");
    let marked = server(&by_nobody, authority);
    assert_eq!(asked(&[&marked, &no_authority], &own, &[&root]), "UnknownAuthority", "by no authority");
    let marked = server(&other, authority);
    assert_eq!(asked(&[&marked], &own, &[&root]), "UnknownAuthority", "by an unknown one");
    assert_eq!(asked(&[&marked], &own, &[&marked]), "200", "trusted itself, by an unknown authority");
    let plain = server(&other, |_| {});
    assert_eq!(asked(&[&plain], &own, &[&plain]), "200", "trusted itself, and no authority");
    assert_eq!(asked(&[&itself], &own, &[&itself]), "200", "signed by itself and trusted");
    assert_eq!(asked(&[&itself], &own, &[&root]), "UnknownAuthority", "signed by itself");
    // The same name, another key: only the signature tells them apart.
    let forged =
        parameters("server", authority).signed_by(&own, &rcgen::Issuer::new(root_parameters(), &other_key)).unwrap();
    assert_eq!(asked(&[&forged], &own, &[&root]), "UnknownAuthority", "by another of that name");

    let any_usage =
        |p: &mut rcgen::CertificateParams| p.extended_key_usages = vec![rcgen::ExtendedKeyUsagePurpose::Any];
    assert_eq!(asked(&[&server(&by_root, any_usage)], &own, &[&root]), "200", "for any usage");
    let for_clients =
        |p: &mut rcgen::CertificateParams| p.extended_key_usages = vec![rcgen::ExtendedKeyUsagePurpose::ClientAuth];
    let usage = "Other: tls: failed to verify certificate: x509: certificate specifies an incompatible key usage";
    let clients = server(&other, for_clients);
    assert_eq!(asked(&[&clients], &own, &[&clients]), usage, "trusted itself, for clients");
    let expired: fn(&mut rcgen::CertificateParams) = |p| p.not_after = rcgen::date_time_ymd(2021, 2, 3);
    let expired_authority: fn(&mut rcgen::CertificateParams) = |p| {
        authority(p);
        p.not_after = rcgen::date_time_ymd(2021, 2, 3);
    };
    let text = "Other: tls: failed to verify certificate: x509: certificate has expired on 2021-02-03T00:00:00Z";
    for change in [expired, expired_authority] {
        let server = server(&by_root, change);
        assert_eq!(asked(&[&server], &own, &[&root, &server]), text);
    }
    let early = |p: &mut rcgen::CertificateParams| p.not_before = rcgen::date_time_ymd(2090, 1, 1);
    let text = "Other: tls: failed to verify certificate: x509: certificate is not valid before 2090-01-01T00:00:00Z";
    assert_eq!(asked(&[&server(&by_root, early)], &own, &[&root]), text);
}

#[test]
fn a_server_without_tls_is_named_as_such() {
    let peer = support::Peer::play(vec![vec![
        support::write("HTTP/1.1 400 Bad Request\r\n\r\n"),
        support::Act::ShutdownWrite,
    ]]);
    let exchange = send_all(settings(), &[get(url(peer.address))]).remove(0);
    assert_eq!(exchange.outcome.as_ref().unwrap_err().kind, FailureKind::NotTls);
    assert_eq!(failure(&exchange), "tls: first record does not look like a TLS handshake");
    peer.finish();
}

#[test]
fn a_server_that_closes_in_the_handshake_is_an_eof() {
    let peer = support::Peer::play(vec![vec![support::Act::ShutdownWrite]]);
    assert_eq!(failure(&send_all(settings(), &[get(url(peer.address))])[0]), "EOF");
    peer.finish();
}

#[test]
fn bytes_of_a_failed_handshake_are_counted() {
    let peer = support::Peer::play(vec![vec![support::Act::ReadBytes(1), support::write("HTTP/1.1 400 Bad\r\n\r\n")]]);
    let exchange = send_all(settings(), &[get(url(peer.address))]).remove(0);
    assert!(failure(&exchange).starts_with("tls: first record"), "{}", failure(&exchange));
    assert_eq!(exchange.bytes_received, 20);
    assert!(exchange.bytes_sent > 100, "{} bytes of a hello", exchange.bytes_sent);
    peer.finish();

    // A certificate that is not trusted: the server's flight came in, and our hello and alert went out.
    let key = key_for("localhost");
    let (address, _server) = serve(server_config(&key, rustls::ALL_VERSIONS, None), 1, 1, OK.to_vec());
    let exchange = send_all(settings(), &[get(url(address))]).remove(0);
    assert!(exchange.outcome.is_err());
    assert!(exchange.bytes_received > 500 && exchange.bytes_sent > 200, "{exchange:?}");
}

#[test]
fn client_certificates_are_shown_where_asked_for() {
    let (server_key, client_key) = (key_for("localhost"), key_for("client"));
    let config = || server_config(&server_key, &[&rustls::version::TLS12], Some(&client_key));
    let key = client_key.signing_key.serialize_pem();
    let identity = ClientIdentity::read(Vec::new(), &client_key.cert.pem(), &key, None).unwrap();
    let (address, server) = serve(config(), 1, 1, OK.to_vec());
    let with = tls(TlsSettings { identities: vec![Arc::new(identity)], ..trust_any() });
    assert_eq!(body(&send_all(with, &[get(url(address))])[0]), b"ok");
    assert_eq!(server.join().unwrap().len(), 1);

    let (address, server) = serve(config(), 1, 1, OK.to_vec());
    let exchange = send_all(trusting(), &[get(url(address))]).remove(0);
    assert!(failure(&exchange).starts_with("remote error: tls: "), "{}", failure(&exchange));
    assert_eq!(exchange.outcome.unwrap_err().kind, FailureKind::NonTcp);
    assert!(server.join().unwrap().is_empty());
}

#[test]
fn sessions_are_resumed_only_when_asked_for() {
    let key = key_for("localhost");
    for resume in [false, true] {
        let (address, server) = serve(server_config(&key, rustls::ALL_VERSIONS, None), 2, 1, OK.to_vec());
        let tls_settings = TlsSettings { session_resumption: resume, ..trust_any() };
        let settings = Settings { no_connection_reuse: true, ..tls(tls_settings) };
        let exchanges = send_all(settings, &[get(url(address)), get(url(address))]);
        assert!(exchanges.iter().all(|e| body(e) == b"ok"));
        let resumed: Vec<_> = server.join().unwrap().into_iter().map(|(_, resumed)| resumed).collect();
        assert_eq!(resumed, [false, resume]);
    }
}

#[test]
fn the_handshake_ends_with_the_requests_time() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let request = Request { timeout: Some(Duration::from_millis(60)), ..get(url(listener.local_addr().unwrap())) };
    let exchange = send_all(trusting(), &[request]).remove(0);
    let failure = exchange.outcome.unwrap_err();
    assert_eq!((failure.message.as_str(), failure.kind), ("request timeout", FailureKind::Timeout));
    assert_eq!(failure.step, onrush_wire::Step::Handshake);
}
