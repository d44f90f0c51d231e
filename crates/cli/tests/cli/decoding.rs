//! Response bodies that become large by decoding: what a run says of them, and how much memory they take.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};

use bytes::Bytes;
use wire::codec::{Coding, encode};
use wire::{Payload, Segment};

use crate::lab::Lab;

const MIB: usize = 1 << 20;
const CODINGS: [Coding; 4] = [Coding::Gzip, Coding::Deflate, Coding::Brotli, Coding::Zstd];

/// So many MiB of zeros, packed.
fn zeros(coding: Coding, mib: usize) -> Vec<u8> {
    let block = Bytes::from(vec![0; MIB]);
    let mut body = Payload::empty();
    (0..mib).for_each(|_| body.push(Segment::Shared(block.clone())));
    let mut packed = Vec::new();
    encode(coding, &body)
        .expect("it is in memory")
        .read(|piece| packed.extend_from_slice(piece))
        .expect("it is in memory");
    packed
}

/// Serves `/CODING/MIB` and `/done`, which it tells of and answers when the test has looked.
fn serve() -> (String, Receiver<TcpStream>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("bound"));
    let (tell, told) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            answer(stream, |stream| tell.send(stream).is_ok());
        }
    });
    (url, told)
}

fn answer(mut stream: TcpStream, done: impl FnOnce(TcpStream) -> bool) {
    let mut lines = BufReader::new(stream.try_clone().expect("a socket")).lines().map_while(Result::ok);
    let line = lines.next().unwrap_or_default();
    lines.find(String::is_empty);
    let path: Vec<&str> = line.split(['/', ' ']).filter(|part| !part.is_empty()).collect();
    let (name, size) = (path[1], path[2]);
    let Some(coding) = Coding::parse(name) else {
        done(stream);
        return;
    };
    let body = zeros(coding, size.parse().expect("a size"));
    let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Encoding: ";
    let _gone = write!(stream, "{head}{name}\r\nContent-Length: {}\r\n\r\n", body.len());
    let _gone = stream.write_all(&body);
}

/// Runs the script against the server: what it said, and the most memory it took, in MiB.
fn run(script: &str, arguments: &[&str]) -> (String, usize) {
    let lab = Lab::with(script);
    let (url, told) = serve();
    let env = format!("URL={url}");
    let all = [&["run", "-q", "-e", &env], arguments, &["script.js"]].concat();
    let started = lab.start(&all);
    let mut waiting = told.recv_timeout(std::time::Duration::from_secs(80)).expect("the script asks for /done");
    let status = std::fs::read_to_string(format!("/proc/{}/status", started.pid())).expect("it runs");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("the kernel tells it");
    let peak: usize = peak.trim().trim_end_matches(" kB").parse().expect("a number");
    waiting.write_all(b"HTTP/1.1 204 No\r\nConnection: close\r\n\r\n").expect("it waits");
    (started.wait().code(0).stderr, peak / 1024)
}

/// What a run takes without bombs: mostly pages of the program itself, more of them the larger the build.
fn without_bombs() -> usize {
    run(BOMBS, &["-e", "MIB=1"]).1
}

const BOMBS: &str = "
    import http from 'k6/http';
    const size = __ENV.MIB || '300';
    export const options = { thresholds: { http_req_failed: [__ENV.FAILED || 'rate>=0'] } };
    export default function () {
        for (const coding of ['gzip', 'deflate', 'br', 'zstd']) {
            const { status, error_code, error, body } = http.get(`${__ENV.URL}/${coding}/${size}`);
            console.log(`${coding}: ${status} ${error_code} ${error} ${body === null ? 'no body' : body.length}`);
        }
        http.get(`${__ENV.URL}/done/0`);
    }";

#[test]
fn bombs_fail_with_a_code_of_their_own_in_twice_the_cap() {
    let (said, peak) = run(BOMBS, &["--max-decoded-ratio", "10000000", "-e", "FAILED=rate==0.8"]);
    for coding in CODINGS.map(Coding::name) {
        let expected = format!(
            "{coding}: 0 1710 response body too large: it decodes to more than 104857600 bytes, the limit of the \
             option maxDecodedBody no body"
        );
        assert!(said.contains(&expected), "{expected}\n{said}");
    }
    let without = without_bombs();
    assert!(peak <= without + 200, "{peak} MiB, {without} without bombs, with a cap of 100 MiB");
}

#[test]
fn bombs_of_a_few_kilobytes_stop_at_the_ratio() {
    let (said, peak) = run(BOMBS, &["-e", "MIB=40"]);
    for coding in ["br", "zstd"] {
        assert!(said.contains(&format!("{coding}: 0 1710 response body too large: ")), "{said}");
    }
    assert!(said.contains("decode to more than 1000 times as much, the limit of the option maxDecodedRatio"), "{said}");
    let without = without_bombs();
    assert!(peak <= without + 200, "{peak} MiB, {without} without bombs");
}

#[test]
fn the_cap_is_an_option_a_variable_and_a_flag() {
    for (options, arguments, size) in [
        ("maxDecodedBody: '3m'", vec![], "4"),
        ("maxDecodedBody: 3 * 1024 * 1024", vec![], "4"),
        ("maxDecodedBody: '1g'", vec!["--max-decoded-body", "3m"], "4"),
    ] {
        let script = BOMBS.replace("thresholds: {", &format!("{options}, thresholds: {{"));
        let (said, _) = run(&script, &[&arguments[..], &["-e", &format!("MIB={size}")]].concat());
        let expected = "gzip: 0 1710 response body too large: it decodes to more than 3145728 bytes";
        assert!(said.contains(expected), "{options} {arguments:?}: {said}");
    }
    let lab = Lab::with(BOMBS);
    let refused = lab.run(&["--max-decoded-body", "lots"]).code(255);
    refused.says("--max-decoded-body: found \"lots\", expected bytes, as 64m or 1g");
}

#[test]
fn bodies_count_in_the_memory_of_their_user() {
    let (said, _) = run(BOMBS, &["-e", "MIB=40", "--max-decoded-ratio", "10000000", "--vu-memory-limit", "32m"]);
    for coding in CODINGS.map(Coding::name) {
        let expected = format!(
            "{coding}: 0 1710 response body too large: out of memory: 41943040 more bytes do not fit into the 33554432 \
             bytes of a virtual user; raise the limit with --vu-memory-limit no body"
        );
        assert!(said.contains(&expected), "{expected}\n{said}");
    }
}

#[test]
fn discarded_bodies_are_never_decoded() {
    let (said, peak) = run(BOMBS, &["--discard-response-bodies", "-e", "FAILED=rate==0"]);
    for coding in CODINGS.map(Coding::name) {
        assert!(said.contains(&format!("{coding}: 200 0  no body")), "{said}");
    }
    let without = without_bombs();
    assert!(peak < without + 40, "{peak} MiB, {without} without bombs, for bodies that nobody decodes");
}
