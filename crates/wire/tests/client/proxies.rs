//! HTTP proxies: absolute form for http, a CONNECT tunnel for https; SOCKS5 proxies for both.

use std::io::{BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use onrush_wire::settings::{Proxies, TlsSettings};
use onrush_wire::{Settings, Step};

use crate::server::{Scripted, body, fixed_hosts, get, outcome, read_request, response, send, send_all};

fn through(http: &str, https: &str) -> Settings {
    let proxies = Proxies {
        http: Some(http.to_owned()),
        https: Some(https.to_owned()),
        no_proxy: Some("direct.test".into()),
        even_local: false,
    };
    let tls = TlsSettings { insecure_skip_verify: true, ..TlsSettings::default() };
    Settings { proxies, tls, ..Settings::default() }
}

#[test]
fn http_goes_in_absolute_form_over_shared_connections() {
    let proxy = Scripted::start(|seen| response("200 OK", &[], seen.target.as_bytes()));
    let url = format!("http://us:pw@{}", proxy.address);
    let requests = [get("http://a.test/x?y"), get("http://b.test:81/")];
    let all = send_all(through(&url, ""), &requests, None);
    assert_eq!(body(&all[0][0]), b"http://a.test/x?y");
    assert_eq!(body(&all[1][0]), b"http://b.test:81/");
    assert!(all[1][0].connection.as_ref().unwrap().reused, "one proxy, one connection");
    let seen = proxy.last();
    assert_eq!(
        (seen.header("host"), seen.header("proxy-authorization")),
        ("b.test:81".into(), "Basic dXM6cHc=".into())
    );
}

#[test]
fn loopback_and_no_proxy_hosts_go_directly() {
    let proxy = Scripted::start(|_| response("502 Proxy", &[], b""));
    let server = Scripted::start(|_| response("200 OK", &[], b""));
    let mut settings = through(&proxy.url(""), "");
    settings.hosts = fixed_hosts(&[("direct.test", &server.address.to_string())]);
    let all = send_all(settings, &[get(&server.url("/")), get("http://direct.test/")], None);
    assert_eq!((outcome(&all[0][0]), outcome(&all[1][0])), ("200".into(), "200".into()));
    assert_eq!(server.last().header("proxy-authorization"), "-");
    assert!(proxy.seen().is_empty());
}

#[test]
fn loopback_goes_through_a_proxy_that_was_asked_for() {
    let proxy = Scripted::start(|seen| response("200 OK", &[], seen.target.as_bytes()));
    let mut settings = through(&proxy.url(""), "");
    settings.proxies.even_local = true;
    let all = send(settings, &get("http://127.0.0.1:1/x"), None);
    assert_eq!(body(&all[0]), b"http://127.0.0.1:1/x");
}

#[test]
fn a_refused_tunnel_is_a_failure_at_connect() {
    let proxy = Scripted::start(|_| response("407 Authenticate First", &[], b""));
    let all = send(through("", &proxy.url("")), &get("https://a.test/"), None);
    let failure = all[0].outcome.as_ref().unwrap_err();
    assert_eq!(failure.step, Step::Connect);
    assert!(failure.message.contains("Authenticate First"), "{failure}");
    assert_eq!(proxy.lines(), ["CONNECT a.test:443"]);
}

const PATIENCE: Option<Duration> = Some(Duration::from_secs(10));

/// A proxy that opens one tunnel to `to` and hands back the CONNECT it saw.
fn tunnel_to(to: SocketAddr) -> (SocketAddr, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let thread = std::thread::spawn(move || {
        let (client, _) = listener.accept().unwrap();
        client.set_read_timeout(PATIENCE).unwrap();
        let mut input = BufReader::new(client.try_clone().unwrap());
        let seen = read_request(&mut input, None).unwrap();
        let server = TcpStream::connect(to).unwrap();
        (&client).write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").unwrap();
        let (from_server, to_client) = (server.try_clone().unwrap(), client);
        std::thread::spawn(move || copy(from_server, to_client));
        copy(input, server);
        format!("{} {} {} {}", seen.method, seen.target, seen.header("host"), seen.header("proxy-authorization"))
    });
    (address, thread)
}

fn copy(mut from: impl Read, mut to: TcpStream) {
    let _ = std::io::copy(&mut from, &mut to);
    let _ = to.shutdown(std::net::Shutdown::Write);
}

/// Answers two requests on one TLS connection with their targets and the server name that was asked for.
fn tls_origin() -> SocketAddr {
    let key = rcgen::generate_simple_self_signed([String::from("a.test")]).unwrap();
    let private = rustls::pki_types::PrivatePkcs8KeyDer::from(key.signing_key.serialize_der());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_no_client_auth().with_single_cert(vec![key.cert.der().clone()], private.into()).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (socket, _) = listener.accept().unwrap();
        socket.set_read_timeout(PATIENCE).unwrap();
        let connection = rustls::ServerConnection::new(Arc::new(config)).unwrap();
        let mut stream = BufReader::new(rustls::StreamOwned::new(connection, socket));
        while let Some(seen) = read_request(&mut stream, None) {
            let text = format!("{} for {:?}", seen.target, stream.get_ref().conn.server_name());
            stream.get_mut().write_all(&response("200 OK", &[], text.as_bytes())).unwrap();
        }
    });
    address
}

#[test]
fn https_goes_through_a_tunnel() {
    let (address, proxy) = tunnel_to(tls_origin());
    let settings = through("", &format!("http://u:p@{address}"));
    let all = send_all(settings, &[get("https://a.test/x"), get("https://a.test/y")], None);
    assert_eq!(body(&all[0][0]), b"/x for Some(\"a.test\")");
    assert_eq!(body(&all[1][0]), b"/y for Some(\"a.test\")");
    let second = all[1][0].connection.as_ref().unwrap();
    assert!(second.reused && second.tls_version.is_some());
    assert_eq!(proxy.join().unwrap(), "CONNECT a.test:443 a.test:443 Basic dTpw");
}

/// Login and request for a connection, as a proxy saw them.
type Asked = (Vec<u8>, Vec<u8>);

/// A SOCKS5 proxy for one connection, whose tunnel ends at `to`, whatever was asked for. Hands back the request for a
/// login and for the connection; says `code`.
fn socks_to(to: SocketAddr, login: bool, code: u8) -> (SocketAddr, JoinHandle<Asked>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let thread = std::thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        client.set_read_timeout(PATIENCE).unwrap();
        let method = if login { 2 } else { 0 };
        let count = usize::from(take(&mut client, 2)[1]);
        assert!(take(&mut client, count).contains(&method));
        client.write_all(&[5, method]).unwrap();
        let mut said = Vec::new();
        if login {
            assert_eq!(take(&mut client, 1), [1]);
            for _ in ["name", "password"] {
                let length = usize::from(take(&mut client, 1)[0]);
                said.extend(take(&mut client, length));
                said.push(b'/');
            }
            client.write_all(&[1, 0]).unwrap();
        }
        let mut request = take(&mut client, 5);
        let length = usize::from(request[4]) + 2;
        request.extend(take(&mut client, length));
        // In two pieces: a reply may arrive so.
        client.write_all(&[5, code, 0]).unwrap();
        std::thread::sleep(Duration::from_millis(5));
        client.write_all(&[1, 127, 0, 0, 1, 0, 80]).unwrap();
        if code == 0 {
            let server = TcpStream::connect(to).unwrap();
            let (from_server, to_client) = (server.try_clone().unwrap(), client.try_clone().unwrap());
            std::thread::spawn(move || copy(from_server, to_client));
            copy(client, server);
        }
        (said, request)
    });
    (address, thread)
}

fn take(from: &mut TcpStream, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes).unwrap();
    bytes
}

#[test]
fn socks_takes_http_and_https() {
    let server = Scripted::start(|seen| response("200 OK", &[], seen.target.as_bytes()));
    let (address, proxy) = socks_to(server.address, false, 0);
    let settings = through(&format!("socks5://{address}"), "");
    let all = send_all(settings, &[get("http://a.test/x"), get("http://a.test/y")], None);
    assert_eq!((body(&all[0][0]), body(&all[1][0])), (b"/x".to_vec(), b"/y".to_vec()));
    assert!(all[1][0].connection.as_ref().unwrap().reused);
    assert_eq!(server.last().header("host"), "a.test");
    // Greeting, request and reply count as data of the first.
    assert_eq!(all[0][0].bytes_sent, all[1][0].bytes_sent + 3 + 13);
    assert_eq!(all[0][0].bytes_received, all[1][0].bytes_received + 2 + 10);
    assert_eq!(proxy.join().unwrap(), (vec![], b"\x05\x01\x00\x03\x06a.test\x00\x50".to_vec()));

    let (address, proxy) = socks_to(tls_origin(), true, 0);
    let settings = through("", &format!("socks5h://us:pw@{address}"));
    let all = send(settings, &get("https://a.test/x"), None);
    assert_eq!(body(&all[0]), b"/x for Some(\"a.test\")");
    assert_eq!(proxy.join().unwrap(), (b"us/pw/".to_vec(), b"\x05\x01\x00\x03\x06a.test\x01\xbb".to_vec()));
}

#[test]
fn what_socks_refuses_is_a_failure_at_connect() {
    let (address, _proxy) = socks_to(SocketAddr::from(([127, 0, 0, 1], 1)), false, 4);
    let all = send(through(&format!("socks5://{address}"), ""), &get("http://a.test/"), None);
    let failure = all[0].outcome.as_ref().unwrap_err();
    let expected = "SOCKS proxy refused the connection: host unreachable";
    assert_eq!((failure.step, failure.message.as_str()), (Step::Connect, expected));
    assert_eq!((all[0].bytes_sent, all[0].bytes_received), (16, 12));

    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || listener.accept().unwrap().0.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n"));
    let all = send(through(&format!("socks5://{address}"), ""), &get("http://a.test/"), None);
    assert!(all[0].outcome.as_ref().unwrap_err().message.starts_with("SOCKS proxy refused the connection: it "));
}

/// A SOCKS5 proxy that says this after each of the client's messages, which have these lengths, and hangs up.
fn socks_that_says(talk: &'static [(usize, &'static [u8])]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        client.set_read_timeout(PATIENCE).unwrap();
        for (length, reply) in talk {
            take(&mut client, *length);
            client.write_all(reply).unwrap();
        }
    });
    address
}

#[test]
fn a_socks_proxy_that_says_what_it_must_not_is_named() {
    // Of the client: a greeting of 3 bytes, or 4 with a login, the login of 7, the request for a.test of 13.
    const GREETING: (usize, &[u8]) = (3, &[5, 0]);
    /// What the proxy answers, each after so many bytes of ours.
    type Answers = &'static [(usize, &'static [u8])];
    let cases: [(&str, Answers, &str); 9] = [
        ("", &[(3, &[5, 0, 9])], "it says more than SOCKS5 asks for"),
        ("", &[(3, &[5])], "it hung up"),
        ("", &[(3, &[4, 0])], "it does not speak SOCKS5"),
        ("", &[(3, &[5, 255])], "it wants another way of logging in"),
        ("", &[(3, &[5, 2])], "it wants another way of logging in"),
        ("us:pw@", &[(4, &[5, 2]), (7, &[1, 1])], "it does not accept the name and password"),
        ("", &[GREETING, (13, &[4, 0, 0, 1, 127, 0, 0, 1, 0, 80])], "it does not speak SOCKS5"),
        ("", &[GREETING, (13, &[5, 2, 0, 1, 127, 0, 0, 1, 0, 80])], "connection not allowed by ruleset"),
        ("", &[GREETING, (13, &[5, 0, 0, 1, 127, 0, 0, 1, 0, 80, 9])], "it says more than SOCKS5 asks for"),
    ];
    for (login, talk, why) in cases {
        let proxy = format!("socks5://{login}{}", socks_that_says(talk));
        let all = send(through(&proxy, ""), &get("http://a.test/"), None);
        let failure = all[0].outcome.as_ref().unwrap_err();
        let expected = format!("SOCKS proxy refused the connection: {why}");
        assert_eq!((failure.step, &failure.message), (Step::Connect, &expected), "{talk:?}");
    }
}
