//! `onrush record`: requests through the proxy arrive, over HTTP and HTTPS, and the script makes them again.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

use server::{Server, ServerConfig};

use crate::capture::{Capture, arrived};
use crate::lab::{Lab, Started};

/// A script's requests through a proxy.
const CLIENT: &str = "import { Client, Request } from 'k6/x/fasthttp';
import { check } from 'k6';
const client = new Client({ proxy: __ENV.PROXY, tls_config: { insecure_skip_verify: true } });
const json = { 'Content-Type': 'application/json' };
const at = `http://${__ENV.AT}`;
export default function () {
  client.get(new Request(`${at}/a?x=1`, { headers: { 'X-A': 'b' } }));
  client.post(new Request(`${at}/b`, { body: JSON.stringify({ n: [1, 2] }), headers: json }));
  client.put(new Request(`${at}/c`, { body: new Uint8Array([0, 255, 1]).buffer }));
  const secure = client.get(new Request(`https://${__ENV.TLS}/json`));
  check(secure, { secure: (r) => r.status === 200 && r.json() !== null });
  check(client.get(new Request('http://127.0.0.1:9/none')), { refused: (r) => r.status === 502 });
}
";

/// Waits for a file.
fn wait_for(path: &Path) {
    let end = Instant::now() + Duration::from_secs(30);
    while !path.exists() {
        assert!(Instant::now() < end, "{} is not written", path.display());
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A recorder that listens, and its address.
fn record(lab: &Lab) -> (Started, String) {
    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a free port");
    let listen = free.to_string();
    let recorder = lab.start(&["record", "--listen", &listen, "-k", "-O", "again.js", "--no-timing"]);
    wait_for(&lab.path().join("onrush-ca.key"));
    let end = Instant::now() + Duration::from_secs(30);
    while TcpStream::connect(free).is_err() {
        assert!(Instant::now() < end, "the proxy does not listen");
        std::thread::sleep(Duration::from_millis(10));
    }
    (recorder, listen)
}

/// A server whose answers never end; its address.
fn endless() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it listens");
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut sent = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
            while sent.is_ok() {
                sent = stream.write_all(&[b'x'; 1 << 16]);
            }
        }
    });
    address
}

#[test]
fn an_answer_without_an_end_is_refused() {
    let lab = Lab::with("");
    let (recorder, listen) = record(&lab);
    let mut stream = TcpStream::connect(&listen).expect("the proxy listens");
    write!(stream, "GET http://{}/ HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", endless()).expect("it reads");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a limit");
    let mut answer = String::new();
    // The client said that it wants no more: the proxy ends the connection.
    stream.read_to_string(&mut answer).expect("an answer and its end within a minute");
    assert!(answer.starts_with("HTTP/1.1 502 "), "{answer}");
    assert!(answer.contains("the proxy holds no more than 268435456 bytes of answers at a time"), "{answer}");
    let pid = rustix::process::Pid::from_raw(recorder.pid() as i32).expect("a process");
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("a signal");
    recorder.wait();
}

#[test]
fn what_is_recorded_is_sent_again() {
    let (lab, capture) = (Lab::with(CLIENT), Capture::start().expect("a server"));
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let target = Server::start(ServerConfig { tls: vec![any], ..ServerConfig::default() }).expect("a target");
    let tls = target.addresses().tls[0].to_string();
    let (recorder, listen) = record(&lab);
    let env = [format!("PROXY={listen}"), format!("AT={}", capture.address), format!("TLS={tls}")];
    let run = lab.run(&["-e", &env[0], "-e", &env[1], "-e", &env[2]]).code(0).prints("checks_succeeded...: 100.00%");
    let first = arrived(&capture);
    assert_eq!(first.len(), 3, "through the proxy: {run:?}");
    let pid = rustix::process::Pid::from_raw(recorder.pid() as i32).expect("a process");
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("a signal");
    let ended = recorder.wait().code(0).says("again.js: 4 requests, from what was recorded");
    let ended = ended.says("request 5: no answer was recorded; the request is left out");
    let script = lab.read("again.js");
    assert!(script.contains(&format!("http.get('https://{tls}/json'")), "{script}\n{}", ended.stderr);
    assert!(script.contains("JSON.stringify({ n: [1, 2] })"), "{script}");
    lab.onrush(&["run", "-q", "--insecure-skip-tls-verify", "again.js"]).code(0);
    assert_eq!(arrived(&capture), first);
}
