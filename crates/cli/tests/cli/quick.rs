//! A URL instead of a script: `onrush run URL` and `onrush curl …`, against a real target, and byte for byte beside
//! curl.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use server::{Server, ServerConfig};

use crate::capture::{Capture, cases, with_address, write_files};
use crate::lab::{Lab, Run};

const TABLE: &str = include_str!("../curl/requests.txt");

/// A target on tcp, TLS and a unix socket in the lab's folder.
fn target(lab: &Lab) -> Server {
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let unix = vec![lab.path().join("t.sock")];
    Server::start(ServerConfig { tcp: vec![any], tls: vec![any], unix, ..ServerConfig::default() }).expect("a target")
}

fn plain(server: &Server) -> String {
    format!("http://{}", server.addresses().tcp[0])
}

/// `onrush run -q ARGUMENTS`.
fn run(lab: &Lab, arguments: &[&str]) -> Run {
    let all: Vec<&str> = ["run", "-q"].into_iter().chain(arguments.iter().copied()).collect();
    lab.onrush(&all)
}

#[test]
fn requests_are_those_that_curl_sends() {
    let cases = cases(TABLE);
    assert!(cases.len() > 40, "the table is read");
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some((command, expected)) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let sent = sent_by_onrush(command);
                    if sent.trim_end() != *expected {
                        wrong.lock().unwrap().push(format!("{command}\ncurl sends\n{expected}\nand onrush\n{sent}"));
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n----\n"));
}

fn sent_by_onrush(command: &str) -> String {
    let lab = Lab::new();
    write_files(lab.path()).expect("files in the lab");
    let server = Capture::start().expect("a server");
    let command = with_address(command, &server.address);
    let run = lab.onrush(&["curl", "--quiet", "--vus", "1", "--requests", "1", &command]);
    if run.code == 0 { server.next() } else { run.stderr }
}

#[test]
fn a_url_is_requested_by_many_users() {
    let lab = Lab::new();
    let server = target(&lab);
    let run = run(&lab, &["-c", "4", "-n", "40", &format!("{}/get", plain(&server))]).code(0);
    assert!(run.stderr.is_empty(), "{}", run.stderr);
    let run = run.prints("    40 requests in ").prints("    latency: p50 ").prints("    by status: 200: 40\n");
    run.prints("http_reqs").prints("{ status:200 }");
}

#[test]
fn a_rate_tells_the_time_from_the_plan() {
    let lab = Lab::new();
    let server = target(&lab);
    // Ten a second for a second: ten, or one more at its very end.
    let run = run(&lab, &["--rate", "600/m", "-d", "1s", "-c", "3", &plain(&server)]).code(0);
    let run = run.prints("    from the planned start: p50 ").prints("iteration_lag");
    assert!(run.stdout.contains("    10 requests in") || run.stdout.contains("    11 requests in"), "{}", run.stdout);
}

#[test]
fn answers_are_counted_by_status() {
    let lab = Lab::new();
    let server = target(&lab);
    let url = |path: &str| format!("{}{path}", plain(&server));
    let failed = run(&lab, &["-n", "3", &url("/status/503")]).code(113).prints("by status: 503: 3\n");
    failed.says("all 3 requests failed: 503 × 3");
    run(&lab, &["-n", "2", "-L", &url("/redirect-to?url=/status/404")])
        .code(113)
        .says("all 2 requests failed: 404 × 2");
    run(&lab, &["-n", "2", &url("/redirect/2")]).code(0).prints("by status: 302: 2\n");
    run(&lab, &["-n", "2", "-L", &url("/redirect/2")]).code(0).prints("by status: 200: 2, 302: 4\n");
    let digest = url("/digest-auth/auth/me/secret");
    run(&lab, &["-n", "2", "--digest", "-u", "me:secret", &digest]).code(0).prints("by status: 200: 2, 401: 2\n");
}

#[test]
fn failures_are_told_once_and_counted() {
    let lab = Lab::new();
    let run = run(&lab, &["-c", "2", "-n", "50", "127.0.0.1:1/x"]).code(113);
    assert_eq!(run.stderr.matches("Request Failed").count(), 1, "{}", run.stderr);
    let run = run.says("connect: connection refused").says("none of the 50 requests got an answer");
    let run = run.prints("    no answer: 50 (100.00%)\n      50 × dial tcp 127.0.0.1:1: connect: connection refused\n");
    assert!(!run.stdout.contains("latency"), "nothing was answered:\n{}", run.stdout);
}

#[test]
fn tls_and_unix_sockets_are_reached() {
    let lab = Lab::new();
    let server = target(&lab);
    let tls = format!("https://{}/get", server.addresses().tls[0]);
    run(&lab, &["-n", "3", "-k", &tls]).code(0).prints("by status: 200: 3\n");
    run(&lab, &["-n", "3", &tls]).code(113).prints("(-k accepts any certificate)");
    run(&lab, &["-n", "3", "--unix-socket", "t.sock", "http://any.test/get"]).code(0).prints("by status: 200: 3\n");
    let to_plain_port = format!("https://{}/get", server.addresses().tcp[0]);
    run(&lab, &["-n", "3", "-k", &to_plain_port])
        .code(113)
        .says("none of the 3 requests got an answer")
        .prints("try http://");
}

#[test]
fn a_run_without_requests_is_no_success() {
    let lab = Lab::new();
    let server = target(&lab);
    // The last tenth of a schedule of one request an hour.
    let late = ["--rate", "1/h", "-d", "1s", "--execution-segment", "9/10:1", &plain(&server)];
    run(&lab, &late).code(113).says("no request was made").prints("    0 requests in ");
}

#[test]
fn the_script_that_is_shown_does_the_same() {
    let lab = Lab::new();
    write_files(lab.path()).expect("files in the lab");
    for request in [
        "-d a=b -H 'x-text: it'\\''s' {@}/x",
        "-F file=@image.png -F 'text=<text.txt' {@}",
        "-d @text.txt -d c=d -u me:secret {@}",
        "--data-binary @image.png -X PURGE {@}",
    ] {
        let server = Capture::start().expect("a server");
        let command = format!("curl {}", with_address(request, &server.address));
        let load = ["curl", "-q", "--vus", "1", "--requests", "1", &command];
        lab.onrush(&load).code(0);
        let script = lab.onrush(&[&load[..], &["--show-script"]].concat()).code(0).stdout;
        lab.file("script.js", &script);
        lab.run(&[]).code(0);
        assert_eq!(server.next(), server.next(), "{script}");
    }
}

#[test]
fn flags_beat_the_environment() {
    let lab = Lab::new();
    let server = target(&lab);
    let mut command = lab.command(&["run", "-q", "--rate", "20", "-d", "1s", &plain(&server)]);
    command.env("K6_VUS", "3").env("K6_ITERATIONS", "3");
    crate::lab::finish(command).code(0).prints("from the planned start");
    let mut command = lab.command(&["run", "-n", "7", &plain(&server)]);
    command.env("K6_ITERATIONS", "3").env("K6_VUS", "2");
    crate::lab::finish(command).code(0).prints("7 iterations shared among 2 VUs").prints("    7 requests in");
}

#[test]
fn what_concerns_output_is_left_aside_and_named_once() {
    let lab = Lab::new();
    let server = target(&lab);
    let command = format!("curl -sS -o /dev/null -o x -w '%{{http_code}}' -i {}/get", plain(&server));
    let run = lab.onrush(&["curl", "--quiet", "--requests", "2", &command]).code(0);
    run.says("ignored (output only): -s -S -o -w -i").prints("by status: 200: 2");
}

/// Command lines, and what is said of them.
const REFUSED: &[(&[&str], &str)] = &[
    (&["run", "nope"], "nope is neither a script nor a URL: there is no such file"),
    (&["run", "nope.js"], "there is no script"),
    (
        &["run", "-d", "10", "localhost:1"],
        "-d 10 can mean two things with a URL: write --duration 10s for how long (wrk, bombardier, k6), or --data \
         10 for a body",
    ),
    (
        &["run", "-u", "me", "localhost:1"],
        "--vus 10 for virtual users (k6), --user NAME:PASSWORD for name and password (curl), or",
    ),
    (&["run", "--duration", "10", "localhost:1"], "--duration 10: expected a time with its unit"),
    (&["run", "--unknown", "http://h/"], "unknown flag --unknown"),
    (&["run", "--dat", "a", "http://h/"], "did you mean --data?"),
    (&["run", "-d", "a=b", "-F", "c=d", "http://h/"], "-d and -F: each sets the method"),
    (&["run", "-F", "c=@gone", "http://h/"], "cannot read the file gone: No such file"),
    (&["run", "-d", "@gone", "http://h/"], "cannot read the file gone: No such file"),
    (&["run", "-T", ".", "http://h/"], "standard input"),
    (&["run", "-H", "nothing", "http://h/"], "-H 'nothing': found no colon, expected 'Name: value'"),
    (
        &["run", "--http2", "http://h/"],
        "--http2: over http:// curl asks the server for an upgrade, which Onrush does not do; write \
         --http2-prior-knowledge, or an https:// URL",
    ),
    (&["run", "--htp2", "https://h/"], "unknown flag --htp2; did you mean --http2?"),
    (
        &["run", "--http3", "https://h/"],
        "--http3: Onrush speaks HTTP/1.1 and HTTP/2 (--http1.1, --http2); leave it out",
    ),
    (&["run", "-p", "10", "https://h/"], "write --streams 10 for streams on each connection of HTTP/2 (oha)"),
    (&["run", "-x", "proxy:1", "http://h/"], "set the environment variables HTTP_PROXY"),
    (&["run", "ftp://h/"], "found the scheme ftp, expected http, https or h2c"),
    (&["run", "ws://h/"], "WebSockets need a script"),
    (&["run", "http://"], "found no host"),
    (&["run", "http://h/", "http://i/"], "found two URLs"),
    (&["run", "--rate", "5", "-n", "5", "http://h/"], "--duration instead of --requests"),
    (
        &["run", "-t", "30", "http://h/"],
        "-t 30 can mean two things with a URL: write --workers 30 for threads (wrk), or",
    ),
    (
        &["run", "-D", "body.json", "http://h/"],
        "write --data-binary @body.json for a body from this file (oha, hey), or",
    ),
    (&["http://h/", "-r", "100"], "write --rate 100 for requests a second (bombardier), --location --max-redirs 100"),
    (&["run", "-c", "10000000", "http://h/"], "found 10000000 virtual users, expected at most 1000000"),
    (&["run", "--vsu", "5", "http://h/"], "unknown flag --vsu; did you mean --vus?"),
    (&["run", "--vsu", "5", "script.js"], "a similar argument exists: '--vus'"),
    (
        &["run", "-c", "10", "script.js"],
        "cannot read the config file 10: No such file or directory (os error 2); for 10 virtual users write -u 10",
    ),
    (&["rnu", "script.js"], "a similar subcommand exists: 'run'"),
    (&["script.js"], "script.js is not a command; to run it write: onrush run script.js"),
    (&["run", "--fail-on", "p(95)>200", "script.js"], "for a metric write --threshold 'http_req_duration: p(95)<=200'"),
    (&["run", "--threshold", "p(95)<200", "script.js"], "--threshold: found 'p(95)<200', expected METRIC: CONDITION"),
    (&["curl", "curl 'http://h/"], "the pasted command cannot be read: a ' is not closed"),
    (&["curl", "curl http://h/ | jq ."], "found | outside of quotes"),
    (&["curl", "-X", "POST"], "there is no URL"),
    (&["curl", "-K", "file", "http://h/"], "-K: write its flags on the command line"),
];

#[test]
fn what_cannot_be_done_is_refused_before_anything_is_sent() {
    let lab = Lab::with("export default function () {}");
    for (arguments, says) in REFUSED {
        let run = lab.onrush(arguments).says(says);
        assert!([104, 255].contains(&run.code), "{arguments:?}: {}", run.code);
        assert!(run.stderr.starts_with("error: ") && run.stdout.is_empty(), "{arguments:?}:\n{}", run.stderr);
    }
}

#[test]
fn help_tells_of_urls() {
    let lab = Lab::new();
    lab.onrush(&["run", "--help"]).code(0).prints("A URL instead of a script").prints("--show-script");
    lab.onrush(&["curl", "--help"]).code(0).prints("copy as cURL (bash)");
}
