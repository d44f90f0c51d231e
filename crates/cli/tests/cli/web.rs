//! The page of a run, by real sockets: the page itself, its events, readers that come late or from elsewhere, the
//! report at the end, and what cannot be.

#![allow(clippy::unwrap_used)]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use crate::api::{ask, free_port, until};
use crate::lab::{Lab, begin, finish};

const SCRIPT: &str = "import http from 'k6/http'; import { check, sleep } from 'k6';
    export const options = { vus: 2, duration: '4s', thresholds: { http_req_duration: ['p(95)<60000'] } };
    export default function () {
      check(http.get(__ENV.TARGET), { 'is <fine>': (r) => r.status === 200 });
      sleep(0.1);
    }";

/// A reader of events that has just come.
struct Reader {
    stream: TcpStream,
    text: String,
}

impl Reader {
    fn join(port: u16) -> Reader {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.write_all(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        Reader { stream, text: String::new() }
    }

    /// Reads until there are so many of these.
    fn until(&mut self, what: &str, count: usize) -> &str {
        let mut bytes = [0; 4096];
        while self.text.matches(what).count() < count {
            let read = self.stream.read(&mut bytes).unwrap();
            assert!(read > 0, "no {count} × {what:?} in {}", self.text);
            self.text.push_str(&String::from_utf8_lossy(&bytes[..read]));
        }
        &self.text
    }
}

#[test]
fn a_run_is_shown_as_it_goes_on() {
    let (lab, port) = (Lab::with(SCRIPT), free_port());
    let run = lab.start(&["run", "-q", "--serve", "--web", "--web-port", &port.to_string(), "script.js"]);
    until("the page", || ask(port, "GET", "/", "").0 == 200 || TcpStream::connect(("127.0.0.1", port)).is_ok());
    let mut first = Reader::join(port);
    let seen = first.until("event: second", 2).to_owned();
    assert!(seen.starts_with("HTTP/1.1 200 ") && seen.contains("Content-Type: text/event-stream"), "{seen}");
    assert!(seen.contains("event: past\ndata: {\"title\":\"script.js\",\"tracks\":["), "{seen}");
    for part in ["\"what\":\"requests\"", "http_req_duration", "\"trust\":{\"now\":", "is <fine>", "p(95)<60000"] {
        assert!(seen.contains(part), "{part}: {seen}");
    }
    let mut late = Reader::join(port);
    let past = late.until("event: second", 1);
    let past = past.split("event: second").next().unwrap();
    assert!(past.contains("\"name\":\"http_reqs\"") && !past.contains("\"last\":null"), "the past: {past}");
    // Reads nothing, and holds nobody up.
    let _lazy = Reader::join(port);
    for reader in [&mut first, &mut late] {
        reader.until("event: end\ndata: {}\n\n", 1);
    }
    run.wait().code(0).says(&format!("the page of this run is at http://127.0.0.1:{port}"));
}

#[test]
fn the_page_stays_while_a_run_lingers_and_is_for_this_machine() {
    let (lab, port) = (Lab::with("export default function () {}"), free_port());
    let run = lab.start(&["run", "-q", "--linger", "--web", "--web-port", &port.to_string(), "script.js"]);
    until("the page", || TcpStream::connect(("127.0.0.1", port)).is_ok());
    let mut reader = Reader::join(port);
    reader.until("event: end", 1);
    let with = |head: &str| {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.write_all(format!("{head}\r\nConnection: close\r\n\r\n").as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let page = with("GET / HTTP/1.1\r\nHost: 127.0.0.1");
    assert!(page.contains("<html lang=\"en\">") && page.contains("Content-Security-Policy: default-src 'none'"));
    for (head, status) in [
        ("GET / HTTP/1.1\r\nHost: attacker.example", "421"),
        ("GET /events HTTP/1.1\r\nHost: attacker.example:5665", "421"),
        ("GET /nothing HTTP/1.1\r\nHost: localhost", "404"),
        ("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0", "405"),
    ] {
        assert!(with(head).starts_with(&format!("HTTP/1.1 {status} ")), "{head}: {}", with(head));
    }
    let pid = rustix::process::Pid::from_raw(run.pid() as i32).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    // The signal may come before it lingers.
    assert!([0, 105].contains(&run.wait().code));
}

#[test]
fn a_port_that_is_taken_is_a_warning_and_the_variables_of_k6_are_obeyed() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let lab = Lab::with("export default function () {}");
    let run = |variables: &[(&str, &str)]| {
        let mut command = lab.command(&["run", "-q", "script.js"]);
        command.envs(variables.iter().copied());
        begin(command).wait().code(0)
    };
    let on = ("K6_WEB_DASHBOARD", "true");
    let warned = run(&[on, ("K6_WEB_DASHBOARD_PORT", &port)]);
    let expected =
        format!("--web: cannot listen on 127.0.0.1:{port}: Address already in use (os error 98); the test goes on");
    assert!(warned.stderr.contains(&expected), "{}", warned.stderr);
    let export = ("K6_WEB_DASHBOARD_EXPORT", "report.html.gz");
    let exported = run(&[on, ("K6_WEB_DASHBOARD_PORT", "-1"), ("K6_WEB_DASHBOARD_PERIOD", "2s"), export]);
    assert!(!exported.stderr.contains("page"), "{}", exported.stderr);
    assert_eq!(std::fs::read(lab.path().join("report.html.gz")).unwrap()[..2], [0x1f, 0x8b]);
    let alone = run(&[("K6_WEB_DASHBOARD_EXPORT", "alone.html")]);
    assert!(!lab.path().join("alone.html").exists() && !alone.stderr.contains("page"), "as in k6: {}", alone.stderr);
}

#[test]
fn the_page_has_k6s_name_too() {
    let (lab, port) = (Lab::with(SCRIPT), free_port());
    let dashboard = format!("web-dashboard=host=127.0.0.1&port={port}&period=1s&record=x&export=report%2Ehtml");
    let run = lab.start(&["run", "-q", "--serve", "--out", &dashboard, "--out", "json=samples.json", "script.js"]);
    until("the page", || TcpStream::connect(("127.0.0.1", port)).is_ok());
    let mut reader = Reader::join(port);
    assert!(reader.until("event: second", 1).starts_with("HTTP/1.1 200 "));
    drop(reader);
    let why = "--out web-dashboard: 'record' is not obeyed: --save DIR keeps what was measured";
    run.wait().code(0).says(why);
    assert!(lab.read("report.html").contains("is &lt;fine&gt;") && lab.read("samples.json").contains("http_reqs"));

    let quick = Lab::with("export default function () {}");
    let mut command = quick.command(&["run", "-q", "--web-port=-1", "script.js"]);
    command.envs([
        ("K6_OUT", "json=samples.json,web-dashboard=port=many"),
        ("K6_WEB_DASHBOARD_EXPORT", "of-variable.html"),
    ]);
    finish(command).code(0);
    assert!(quick.read("of-variable.html").contains("<html") && quick.path().join("samples.json").exists());
}

#[test]
fn the_report_is_written_whether_the_result_is_saved_or_not() {
    let lab = Lab::with(&SCRIPT.replace("'4s'", "'1s'"));
    let all = ["--serve", "--web", "--web-port=-1", "--web-export", "report.html"];
    lab.run(&all).code(0);
    let alone = lab.read("report.html");
    assert!(alone.contains("is &lt;fine&gt;") && alone.contains("<figure class=\"chart\""), "{alone}");
    lab.run(&[&all[..], &["--save", "kept"]].concat()).code(0);
    assert!(lab.path().join("kept/result.json").exists() && lab.read("report.html").contains("is &lt;fine&gt;"));
    let lost = [&all[..4], &["missing/report.html"]].concat();
    lab.run(&lost).code(111).says("--web-export missing/report.html: cannot write the report: No such file");
}

#[test]
fn what_cannot_be_is_refused() {
    let lab = Lab::with("export default function () {}");
    for (flags, message) in [
        (&["--web-export", "x.html"][..], "--web-export is about the page: give --web as well, or leave it out"),
        (&["--web", "--web-port", "many"], "--web-port: found 'many', expected a port, 0 for any that is free, or -1"),
        (&["--web", "--web-period", "0s"], "--web-period: found '0s', expected a time such as 1s"),
        (
            &["--out", "web-dashboard=prot=1"],
            "--out web-dashboard: unknown parameter 'prot'; did you mean 'port'?, expected one of host, port, period, ",
        ),
        (&["--out", "web-dashboard=port=many"], "--out web-dashboard: port: found 'many', expected a port, 0 for any"),
        (
            &["--out", "web-dashboard=open=perhaps"],
            "--out web-dashboard: open: found 'perhaps', expected true or false",
        ),
        (&["--web=perhaps"], "--web: found 'perhaps', expected true or false"),
    ] {
        let arguments = [&["run", "-q"], flags, &["script.js"]].concat();
        let run = finish(lab.command(&arguments));
        assert!(run.code != 0 && run.stderr.contains(message), "{flags:?}: {}", run.stderr);
    }
}

#[test]
fn secrets_are_on_no_page() {
    let lab = Lab::with(
        "import secrets from 'k6/secrets'; import { check } from 'k6';
         export default async function () {
           const found = await secrets.get('key');
           check(found, { [`is ${found}`]: (f) => f === 'hidden-' + 'value' });
         }",
    );
    let port = free_port();
    let source = ["--secret-source", "mock=key=hidden-value"];
    let flags = ["run", "-q", "--linger", "--web", "--web-port", &port.to_string(), source[0], source[1], "script.js"];
    let run = lab.start(&flags);
    until("the page", || TcpStream::connect(("127.0.0.1", port)).is_ok());
    let mut reader = Reader::join(port);
    let text = reader.until("event: end", 1);
    assert!(text.contains("{\"name\":\"is ***") && text.contains("\"passes\":1"), "{text}");
    assert!(!text.contains("hidden-value"), "{text}");
    let pid = rustix::process::Pid::from_raw(run.pid() as i32).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    // The signal may come before it lingers.
    assert!([0, 105].contains(&run.wait().code));
}
