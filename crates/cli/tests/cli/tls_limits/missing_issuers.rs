//! `tlsAIAFetch`: a server shows its own certificate alone, and the authority's is where that says.
//!
//! What else there is to it is tried at the client: `missing_issuers` of wire's tests.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CustomExtension, DnType, IsCa, Issuer, KeyPair};
use rustls::pki_types::{PrivateKeyDer, pem::PemObject};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::lab::{Lab, finish};

fn listen(answer: impl Fn(TcpStream) + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || listener.incoming().map_while(Result::ok).for_each(answer));
    address
}

fn read_head(stream: &mut impl Read) -> String {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|n| n == 1) {
        head.extend(byte);
    }
    String::from_utf8_lossy(&head).into_owned()
}

fn respond(stream: &mut impl Write, body: &[u8]) {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    let _sent = stream.write_all(&[head.as_bytes(), body].concat()).and_then(|()| stream.flush());
}

fn parameters(name: &str, is_authority: bool) -> CertificateParams {
    let mut parameters = CertificateParams::new([String::from("127.0.0.1")]).expect("a name");
    parameters.distinguished_name.push(DnType::CommonName, name);
    if is_authority {
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    }
    parameters
}

/// `AuthorityInfoAccess` with one issuer's URL, in DER.
fn issuer_at(url: &str) -> CustomExtension {
    let wrapped = |tag: u8, content: &[u8]| [&[tag, u8::try_from(content.len()).expect("short")], content].concat();
    let is_issuer = [6, 8, 0x2b, 6, 1, 5, 5, 7, 0x30, 2];
    let described = wrapped(0x30, &[&is_issuer[..], &wrapped(0x86, url.as_bytes())].concat());
    CustomExtension::from_oid_content(&[1, 3, 6, 1, 5, 5, 7, 1, 1], wrapped(0x30, &described))
}

#[test]
fn the_option_lets_a_server_leave_its_authority_out() {
    let key = || KeyPair::generate().expect("a key");
    let (root_key, between_key, own_key) = (key(), key(), key());
    let root = parameters("root", true).self_signed(&root_key).expect("a root");
    let by_root = Issuer::new(parameters("root", true), root_key);
    let between = parameters("between", true).signed_by(&between_key, &by_root).expect("an authority");
    let file = between.der().to_vec();
    let authority = listen(move |mut stream| match read_head(&mut stream).starts_with("GET /between.crt ") {
        true => respond(&mut stream, &file),
        false => respond(&mut stream, b"not here"),
    });
    let by_between = Issuer::new(parameters("between", true), between_key);
    let own = |path: &str| {
        let mut own = parameters("server", false);
        own.custom_extensions.push(issuer_at(&format!("http://{authority}{path}")));
        let own = own.signed_by(&own_key, &by_between).expect("a certificate");
        let private = PrivateKeyDer::from_pem_slice(own_key.serialize_pem().as_bytes()).expect("a key");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let builder = builder.expect("versions").with_no_client_auth();
        let config = Arc::new(builder.with_single_cert(vec![own.der().clone()], private).expect("a configuration"));
        listen(move |socket| {
            let mut stream = StreamOwned::new(ServerConnection::new(config.clone()).expect("a session"), socket);
            if !read_head(&mut stream).is_empty() {
                respond(&mut stream, b"hello");
            }
        })
    };
    let (right, wrong) = (own("/between.crt"), own("/wrong.crt"));
    let lab = Lab::with(
        "import http from 'k6/http'
         export const options = { tlsAIAFetch: __ENV.FETCH ? true : undefined }
         export default function () {
           const { status, error_code, error } = http.get(__ENV.PLACE)
           console.log(`${status} ${error_code} ${error}|`)
         }",
    );
    lab.file("root.pem", &root.pem());
    let run = |place: SocketAddr, more: &[&str], option: Option<&str>| {
        let place = format!("PLACE=https://{place}/");
        let mut command =
            lab.command(&[&["run", "-q", "--log-format=raw", "-e", &place][..], more, &["script.js"]].concat());
        command.env("SSL_CERT_FILE", lab.path().join("root.pem"));
        command.envs(option.map(|value| ("K6_TLS_AIA_FETCH", value)));
        finish(command).code(0)
    };
    let refused = "0 1310 x509: unknown authority|";
    run(right, &[], None).says(refused);
    run(right, &["-e", "FETCH=1"], None).says("200 0 |");
    run(right, &[], Some("true")).says("200 0 |");
    run(right, &[], Some("false")).says(refused);
    run(wrong, &["-e", "FETCH=1"], None).says(refused);
}
