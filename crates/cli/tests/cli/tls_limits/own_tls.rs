//! Certificates and sessions of single requests and users: `tlsAuth`, `tlsResumption`, `useTLS`.
//!
//! The server says which certificate it saw, whether the session was resumed, and on which of its connections: those of
//! different certificates must never be the same.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustls::pki_types::{PrivateKeyDer, pem::PemObject};
use rustls::server::WebPkiClientVerifier;
use rustls::{HandshakeKind, RootCertStore, ServerConfig, ServerConnection, StreamOwned};

use crate::lab::{Lab, finish};

type Key = rcgen::CertifiedKey<rcgen::KeyPair>;
type Stream = StreamOwned<ServerConnection, std::net::TcpStream>;

const CLIENTS: [&str; 3] = ["run", "ann", "bob"];

fn key_for(name: &str) -> Key {
    rcgen::generate_simple_self_signed([String::from(name)]).expect("a certificate")
}

fn configuration(keys: &[Key]) -> ServerConfig {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut roots = RootCertStore::empty();
    keys.iter().for_each(|key| roots.add(key.cert.der().clone()).expect("a root"));
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone());
    let verifier = verifier.allow_unauthenticated().build().expect("a verifier");
    let own = key_for("localhost");
    let private = PrivateKeyDer::from_pem_slice(own.signing_key.serialize_pem().as_bytes()).expect("a key");
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.expect("versions").with_client_cert_verifier(verifier);
    builder.with_single_cert(vec![own.cert.der().clone()], private).expect("a configuration")
}

/// A server for all of these certificates.
fn serve(keys: Vec<Key>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let (config, keys, connections) = (Arc::new(configuration(&keys)), Arc::new(keys), AtomicUsize::new(0));
    std::thread::spawn(move || {
        for socket in listener.incoming().map_while(Result::ok) {
            let connection = connections.fetch_add(1, Ordering::Relaxed);
            let stream = StreamOwned::new(ServerConnection::new(config.clone()).expect("a session"), socket);
            let keys = Arc::clone(&keys);
            std::thread::spawn(move || talk(stream, &keys, connection));
        }
    });
    address
}

fn talk(mut stream: Stream, keys: &[Key], connection: usize) {
    loop {
        let (mut head, mut byte) = (Vec::new(), [0]);
        while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|n| n == 1) {
            head.extend(byte);
        }
        let head = String::from_utf8_lossy(&head).into_owned();
        let Some(path) = head.split(' ').nth(1) else { return };
        let shown = stream.conn.peer_certificates().and_then(|chain| chain.first().cloned());
        let of = |key: &Key| shown.as_ref() == Some(key.cert.der());
        let client = keys.iter().position(of).map_or("none", |at| CLIENTS[at]);
        let resumed = stream.conn.handshake_kind() == Some(HandshakeKind::Resumed);
        let body = format!("{{\"client\":\"{client}\",\"resumed\":{resumed},\"connection\":{connection}}}");
        let (status, more) = match path.strip_prefix("/to/") {
            Some(to) => ("302 Found", format!("Location: https://{to}/\r\n")),
            None if head.contains("Upgrade: websocket") => ("400 Bad Request", String::new()),
            None => ("200 OK", String::new()),
        };
        let closes = path == "/close";
        let close = if closes { "Connection: close\r\n" } else { "" };
        let length = body.len();
        let answer =
            format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nX-Client: {client}\r\n{more}{close}\r\n{body}");
        if stream.write_all(answer.as_bytes()).and_then(|()| stream.flush()).is_err() {
            return;
        }
        if closes {
            stream.conn.send_close_notify();
            let _gone = stream.flush();
            return;
        }
    }
}

/// A folder with the certificates, and the server's address.
fn with_server(script: &str) -> (Lab, SocketAddr) {
    let lab = Lab::with(script);
    let keys: Vec<Key> = CLIENTS.iter().map(|name| key_for(name)).collect();
    for (name, key) in CLIENTS.iter().zip(&keys) {
        lab.file(&format!("{name}.pem"), &key.cert.pem());
        lab.file(&format!("{name}.key"), &key.signing_key.serialize_pem());
    }
    (lab, serve(keys))
}

const BEGINNING: &str = "import http from 'k6/http'; import ws from 'k6/ws'; import { useTLS } from 'onrush/http'
    const pair = (name) => ({ cert: open(`${name}.pem`), key: open(`${name}.key`) })
    const [RUN, ANN, BOB] = ['run', 'ann', 'bob'].map(pair)
    const ask = (params, path = '/') => http.get(`https://${__ENV.PLACE}${path}`, params).json()
    const holds = (what, is) => { if (!is) console.log(`wrong: ${what}`) }";

fn holds(script: &str, more: &[&str]) {
    let (lab, place) = with_server(&format!("{BEGINNING}\n{script}"));
    let (place, port) = (format!("PLACE={place}"), format!("PORT={}", place.port()));
    let arguments = [&["run", "-q", "--log-format=raw", "-e", &place, "-e", &port][..], more, &["script.js"]].concat();
    let run = finish(lab.command(&arguments)).code(0).says("all asked");
    assert!(!run.stderr.contains("wrong: "), "{}", run.stderr);
}

#[test]
fn a_request_and_a_user_choose_a_certificate_and_connections_are_not_shared() {
    holds(
        "export const options = { insecureSkipTLSVerify: true, tlsAuth: [RUN], vus: 2, iterations: 6 }
         export default function () {
           const [run, ann, bob] = [ask(), ask({ tlsAuth: ANN }), ask({ tlsAuth: BOB })]
           holds('each is shown', run.client === 'run' && ann.client === 'ann' && bob.client === 'bob')
           holds('connections differ', new Set([run, ann, bob].map((seen) => seen.connection)).size === 3)
           const again = [ask({ tlsAuth: { ...BOB } }), ask(), ask({ tlsAuth: ANN, headers: { a: 'b' } })]
           holds('and are kept', again.map((seen) => seen.connection).join() ===
             [bob, run, ann].map((seen) => seen.connection).join())
           const all = http.batch([{ method: 'GET', url: `https://${__ENV.PLACE}/`, params: { tlsAuth: ANN } },
             ['GET', `https://${__ENV.PLACE}/`]]).map((answer) => answer.json('client'))
           holds('in a batch', all.join() === 'ann,run')

           const there = ask({ tlsAuth: ANN }, `/to/${__ENV.PLACE}`)
           const elsewhere = ask({ tlsAuth: ANN }, `/to/localhost:${__ENV.PORT}`)
           holds('a redirect to the same host', there.client === 'ann')
           holds('a redirect to another', elsewhere.client === 'run')

           useTLS({ tlsAuth: BOB })
           holds('of a user', ask().client === 'bob' && ask().connection === bob.connection)
           holds('a request goes before', ask({ tlsAuth: ANN }).client === 'ann')
           const socket = () => ws.connect(`wss://${__ENV.PLACE}/`, () => {}).headers['X-Client']
           holds('of sockets', socket() === 'bob')
           useTLS()
           holds('the options again', ask().client === 'run' && socket() === 'run')

           for (const [tlsAuth, why] of [[{ cert: 'c', key: 'k' }, 'tlsAuth: found no certificate in `cert`'],
             [{ cert: ANN.cert }, 'tlsAuth: key is missing, expected an object with cert and key as PEM'],
             ['ann', 'tlsAuth is string, expected an object'],
             [{ ...ANN, key: BOB.key }, \"is not the certificate's\"]]) {
             const { error } = http.get(`https://${__ENV.PLACE}/`, { tlsAuth })
             holds(error, error.includes(why))
           }
           console.log('all asked')
         }",
        &[],
    );
}

#[test]
fn sessions_are_resumed_by_request_scenario_user_and_option() {
    let resumption = "export default function () {
           const twice = (params) => [ask(params, '/close'), ask(params, '/close')].map((seen) => seen.resumed).join()
           holds(`as the options say: ${twice()}`, twice() === `${__ENV.ON},${__ENV.ON}`)
           holds('a request says no', twice({ tlsResumption: false }) === 'false,false')
           const [first, second] = [ask({ tlsResumption: true }, '/close'), ask({ tlsResumption: true }, '/close')]
           holds('a request says yes', second.resumed)
           const ann = { tlsAuth: ANN, tlsResumption: true }
           ask(ann, '/close')
           const resumed = ask(ann, '/close')
           holds('a session of its own for each certificate', resumed.resumed && resumed.client === 'ann')
           useTLS({ tlsResumption: __ENV.ON !== 'true' })
           ask({}, '/close')
           holds('a user says something else', ask({}, '/close').resumed === (__ENV.ON !== 'true'))
           useTLS()
           console.log('all asked')
         }";
    let options = "export const options = { insecureSkipTLSVerify: true, iterations: 1";
    holds(&format!("{options} }}\n{resumption}"), &["-e", "ON=false"]);
    // The first connection of all has nothing to resume.
    let warm = resumption.replace("const twice", "ask({}, '/close'); const twice");
    holds(&format!("{options}, tlsResumption: true }}\n{warm}"), &["-e", "ON=true"]);
    holds(&format!("{options} }}\n{warm}"), &["-e", "ON=true", "--tls-resumption"]);
    let scenarios = "scenarios: { a: { executor: 'per-vu-iterations', vus: 1, iterations: 1, tlsResumption: true } }";
    let of_scenario = options.replace("iterations: 1", scenarios);
    holds(&format!("{of_scenario} }}\n{warm}"), &["-e", "ON=true"]);
}

#[test]
fn a_scenario_field_that_is_no_switch_is_refused() {
    let lab = Lab::with(
        "export const options = { scenarios: { a: {
           executor: 'per-vu-iterations', vus: 1, iterations: 1, tlsResumption: 'often' } } }
         export default function () {}",
    );
    lab.run(&[]).code(104).says("scenario 'a': field 'tlsResumption': found \"often\", expected true or false");
}
