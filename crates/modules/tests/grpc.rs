//! Clients of `k6/net/grpc` in front of servers that speak no HTTP/2, or no gRPC.

#![allow(clippy::unwrap_used)]

mod driver;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use driver::run_script;
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// A listener whose connections are served one after the other; it lives as long as the process.
fn listen(mut serve: impl FnMut(TcpStream) + Send + 'static) -> SocketAddr {
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

/// What `connect` throws.
fn refusal(address: SocketAddr, params: &str) -> Vec<String> {
    let port = address.port();
    run_script(&format!(
        "import {{ Client }} from 'k6/net/grpc';
        export default function () {{
            try {{ new Client().connect('localhost:{port}', {params}); }}
            catch (error) {{ console.log(error.message); }}
        }}"
    ))
}

#[test]
fn a_server_that_does_not_choose_http2_over_tls_is_refused() {
    let own = rcgen::generate_simple_self_signed(["localhost".to_string()]).unwrap();
    let key = PrivatePkcs8KeyDer::from(own.signing_key.serialize_der()).into();
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![own.cert.der().clone()], key)
        .unwrap();
    let with_alpn = |protocols: &[&[u8]]| {
        let mut config = config.clone();
        config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        let config = Arc::new(config);
        listen(move |socket| {
            let mut stream = StreamOwned::new(ServerConnection::new(config.clone()).unwrap(), socket);
            let _ = stream.read_to_end(&mut Vec::new());
        })
    };
    let params = format!("{{ tls: {{ cacerts: {:?} }} }}", own.cert.pem());
    let failed = "connection error: desc = \"transport: authentication handshake failed: ";
    let silent = "the server does not offer HTTP/2: it chose no protocol, expected \"h2\" (ALPN)\"";
    assert_eq!(refusal(with_alpn(&[]), &params), [format!("{failed}{silent}")]);
    let refused = "remote error: tls: no application protocol\"";
    assert_eq!(refusal(with_alpn(&[b"http/1.1"]), &params), [format!("{failed}{refused}")]);
}

#[test]
fn a_server_of_http1_is_refused_in_cleartext() {
    let address = listen(|mut socket| {
        let mut preface = [0; 24];
        socket.read_exact(&mut preface).unwrap();
        socket.write_all(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n").unwrap();
        let _ = socket.read_to_end(&mut Vec::new());
    });
    let told = refusal(address, "{ plaintext: true }");
    let prefix = "connection error: desc = \"error reading server preface: the server does not speak HTTP/2: http2: ";
    assert!(told.len() == 1 && told[0].starts_with(prefix), "{told:?}");
}
