//! Clients of `k6/x/fasthttp` that go through a proxy or show a certificate.

#![allow(clippy::unwrap_used)]

mod driver;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use driver::run_script;
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};

/// Reads a request's head; its first line and the line with this header.
fn head(stream: &mut impl Read, header: &str) -> String {
    let lines: Vec<String> =
        BufReader::with_capacity(1, stream).lines().map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
    let found = lines.iter().find(|line| line.to_lowercase().starts_with(header));
    format!("{} {}", lines.first().cloned().unwrap_or_default(), found.cloned().unwrap_or_default())
}

fn answer(stream: &mut impl Write, body: &str) {
    let length = body.len();
    let reply = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}");
    let _ = stream.write_all(reply.as_bytes()).and_then(|()| stream.flush());
}

/// A listener whose connections are served one after the other; it lives as long as the process.
fn listen(mut serve: impl FnMut(std::net::TcpStream) + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
            serve(socket);
        }
    });
    address
}

#[test]
fn a_proxy_is_used_for_every_host() {
    let proxy = listen(|mut socket| {
        let seen = head(&mut socket, "proxy-authorization");
        answer(&mut socket, &seen);
    });
    let script = format!(
        "import {{ Client, Request }} from 'k6/x/fasthttp';
        const client = new Client({{ proxy: 'us:pw@{proxy}' }});
        const near = new Request('http://127.0.0.1:1/near'), far = new Request('http://far.test/far');
        export default function () {{ console.log(client.get(near).body); console.log(client.get(far).body); }}"
    );
    let expected = [
        "GET http://127.0.0.1:1/near HTTP/1.1 Proxy-Authorization: Basic dXM6cHc=",
        "GET http://far.test/far HTTP/1.1 Proxy-Authorization: Basic dXM6cHc=",
    ];
    assert_eq!(run_script(&script), expected);
}

#[test]
fn a_certificate_is_shown_as_text_or_from_files() {
    let server = rcgen::generate_simple_self_signed(["localhost".to_string()]).unwrap();
    let client = rcgen::generate_simple_self_signed(["client".to_string()]).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut roots = RootCertStore::empty();
    roots.add(client.cert.der().clone()).unwrap();
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone()).build().unwrap();
    let key = PrivatePkcs8KeyDer::from(server.signing_key.serialize_der()).into();
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_client_cert_verifier(verifier)
        .with_single_cert(vec![server.cert.der().clone()], key)
        .unwrap();
    let config = Arc::new(config);
    let address = listen(move |socket| {
        let mut stream = StreamOwned::new(ServerConnection::new(config.clone()).unwrap(), socket);
        let seen = head(&mut stream, "host");
        let shown = stream.conn.peer_certificates().map_or(0, <[_]>::len);
        answer(&mut stream, &format!("{shown} {}", seen.split(' ').next().unwrap_or_default()));
        stream.conn.send_close_notify();
        let _ = stream.flush();
    });
    let folder = std::env::temp_dir().join(format!("onrush-fasthttp-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("cert.pem"), client.cert.pem()).unwrap();
    std::fs::write(folder.join("key.pem"), client.signing_key.serialize_pem()).unwrap();
    let script = format!(
        "import {{ Client, Request }} from 'k6/x/fasthttp';
        const folder = {folder:?}, tls = (more) => new Client({{ tls_config: {{ insecure_skip_verify: true, ...more }} \
        }});
        const texts = tls({{ certificate: open(folder + '/cert.pem'), private_key: open(folder + '/key.pem') }});
        const files = tls({{ certificate: folder + '/cert.pem', private_key: folder + '/key.pem' }});
        const none = tls({{}});
        const request = new Request('https://{address}/');
        export default function () {{
            for (const client of [texts, files]) console.log(client.post(request).body);
            console.log(none.get(request).status);
        }}"
    );
    let lines = run_script(&script);
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!([lines[0].as_str(), lines[1].as_str(), lines[lines.len() - 1].as_str()], ["1 POST", "1 POST", "0"]);
}
