//! Answers as peers may send them, to many users of one worker at once: what one connection brings is no other user's,
//! and whatever ends a connection, the next request goes out on another one.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::Value;

use crate::lab::Lab;
use crate::peer::{Peer, Request, Socket, Then, drain, read_body, say, whole};

/// Users, and how often each asks for every kind; every other time by POST.
const USERS: usize = 16;
const ROUNDS: usize = 2;
const KINDS: [&str; 9] =
    ["whole", "pieces", "late-chunk", "surplus", "two", "half-closed", "closed", "refused", "early"];

/// The pause before the last chunk.
const PAUSE: Duration = Duration::from_millis(40);

/// Longer than what a connection buffers while nobody reads.
const LARGE: usize = 4 << 20;

fn script() -> String {
    format!(
        "import http from 'k6/http'; import {{ check, sleep }} from 'k6';
         const kinds = {KINDS:?}, large = 'x'.repeat({LARGE}), socket = __ENV.SOCKET;
         export const options = {{
           hosts: socket ? {{ 'app.test': `unix:${{socket}}` }} : {{}},
           scenarios: {{ all: {{ executor: 'per-vu-iterations', vus: {USERS}, iterations: {} }} }} }};
         export default function () {{
           const kind = kinds[(__ITER + __VU) % kinds.length], id = `${{__VU}}-${{__ITER}}`;
           const url = `${{socket ? 'http://app.test' : __ENV.PEER}}/${{kind}}/${{id}}`;
           const body = ['refused', 'early'].includes(kind) ? large : __ITER < kinds.length ? null : 'small';
           const res = body ? http.post(url, body) : http.get(url);
           const status = kind === 'refused' ? 413 : 200;
           if (!check(res, {{ right: (r) => r.status === status && r.body === `answer to /${{kind}}/${{id}}` }}))
             console.error(kind, id, res.status, res.error, res.body);
           if (kind === 'late-chunk') check(res, {{ 'it lasts until the last chunk': (r) => r.timings.duration > {} }});
           // The end of the stream comes after the answer, and not with it.
           if (kind.endsWith('closed')) sleep(0.2);
         }}",
        KINDS.len() * ROUNDS,
        PAUSE.as_millis() * 9 / 10,
    )
}

/// Bytes that came where none should have.
#[derive(Default)]
struct Stray {
    /// The most of an upload that was refused.
    refused: AtomicUsize,
    /// On a connection that had brought more than its answer.
    after: AtomicUsize,
}

/// Answers as the first part of the path says.
fn answer(socket: &mut dyn Socket, request: &Request, stray: &Stray) -> Then {
    let body = format!("answer to {}", request.path);
    let kind = request.path.split('/').nth(1).expect("a kind");
    if !["refused", "early"].contains(&kind) {
        read_body(socket, request.length);
    }
    match kind {
        "pieces" => whole(&body).as_bytes().chunks(7).for_each(|piece| {
            let _gone = socket.write_all(piece);
            std::thread::sleep(Duration::from_micros(300));
        }),
        "late-chunk" => {
            let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
            let _gone = write!(socket, "{head}{:x}\r\n{body}\r\n", body.len());
            std::thread::sleep(PAUSE);
            let _gone = socket.write_all(b"0\r\n\r\n");
        }
        "surplus" | "two" => {
            let more = if kind == "two" { whole("of another request") } else { "more than was said".into() };
            // In one piece: what came later could be taken for the next answer.
            let _gone = socket.write_all(format!("{}{more}", whole(&body)).as_bytes());
            stray.after.fetch_add(drain(socket), Ordering::Relaxed);
            return Then::Close;
        }
        "refused" => {
            let _gone = write!(socket, "HTTP/1.1 413 Too Large\r\nContent-Length: {}\r\n\r\n", body.len());
            std::thread::sleep(PAUSE);
            socket.wait_at_most(PAUSE * 2);
            stray.refused.fetch_max(drain(socket), Ordering::Relaxed);
            let _gone = socket.write_all(body.as_bytes());
            return Then::Close;
        }
        "early" => {
            let _gone = write!(socket, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
            read_body(socket, request.length);
            let _gone = socket.write_all(body.as_bytes());
        }
        _ => say(socket, &body),
    }
    match kind {
        "closed" => return Then::Close,
        "half-closed" => socket.end_sending(),
        _ => {}
    }
    Then::Next
}

fn all_are_right(lab: &Lab, peer: &Peer, flag: &str, stray: &Stray) {
    let run = lab.run(&["--workers", "1", "--summary-export", "s.json", "-e", flag]).code(0);
    let summary: Value = serde_json::from_str(&lab.read("s.json")).expect("JSON");
    let count = |metric: &str, part: &str| summary["metrics"][metric][part].as_u64();
    let (requests, late) = (USERS * ROUNDS * KINDS.len(), USERS * ROUNDS);
    assert_eq!(count("checks", "fails"), Some(0), "{}", run.stderr);
    assert_eq!(count("checks", "passes"), Some((requests + late) as u64));
    let paths = peer.paths();
    let each: BTreeSet<&String> = paths.iter().collect();
    assert_eq!((paths.len(), each.len()), (requests, requests), "each request reached the server once");
    assert_eq!(count("http_reqs", "count"), Some(requests as u64));
    // The head of one of them, at least, was read before the pause was over.
    let longest = summary["metrics"]["http_req_receiving"]["max"].as_f64().expect("a time");
    assert!(longest > PAUSE.as_secs_f64() * 900.0, "the pause within an answer is in none of {longest} ms");
    let most = stray.refused.load(Ordering::Relaxed);
    assert!(most < LARGE, "an upload went on after it was refused");
    assert_eq!(stray.after.load(Ordering::Relaxed), 0, "a connection with more than an answer was used again");
}

#[test]
fn whatever_answers_look_like_each_user_has_its_own() {
    let lab = Lab::with(&script());
    let stray: Arc<Stray> = Arc::default();
    let own = Arc::clone(&stray);
    let peer = Peer::on_tcp(move |socket, request| answer(socket, request, &own));
    all_are_right(&lab, &peer, &format!("PEER={}", peer.url), &stray);
}

#[test]
fn and_so_on_unix_sockets_which_have_no_stamps() {
    let lab = Lab::with(&script());
    let stray: Arc<Stray> = Arc::default();
    let own = Arc::clone(&stray);
    let path = lab.path().join("app.sock");
    let peer = Peer::on_unix(&path, move |socket, request| answer(socket, request, &own));
    all_are_right(&lab, &peer, &format!("SOCKET={}", path.display()), &stray);
}
