//! `onrush serve --witness` and `onrush witness`: what the target saw, and whether what a tool printed of it is true.
//!
//! Clients are sockets of the test where times matter, since their own times are the truth; and Onrush.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::json_answers::keeps_to;
use crate::lab::Lab;

/// A target with a witness, which writes `witness.json` of its lab.
struct Target {
    child: Child,
    address: String,
}

impl Target {
    fn start(lab: &Lab, flags: &[&str]) -> Target {
        Target::on("tcp://127.0.0.1:0", lab, flags)
    }

    fn on(listener: &str, lab: &Lab, flags: &[&str]) -> Target {
        let all = [&["serve", "--listen", listener, "--witness", "witness.json"], flags].concat();
        let mut child = lab.command(&all).stdout(Stdio::piped()).spawn().expect("onrush starts");
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().expect("piped"));
        stdout.read_line(&mut line).expect("a line");
        child.stdout = Some(stdout.into_inner());
        let (_, address) = line.trim().split_once("://").expect("it listens");
        let address = address.to_owned();
        Target { child, address }
    }

    fn signal(&self, name: &str) {
        let killed = Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status();
        assert!(killed.expect("kill runs").success());
    }

    fn connect(&self) -> Client {
        let stream = TcpStream::connect(&self.address).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a limit");
        Client(BufReader::new(stream))
    }

    /// Ends it; what it saw.
    fn end(mut self, lab: &Lab) -> Value {
        self.signal("TERM");
        assert!(self.child.wait().expect("it ends").success());
        keeps_to("witness-1.json", &lab.read("witness.json"))
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _ended = self.child.wait();
    }
}

/// One connection of a client that waits for each answer.
struct Client(BufReader<TcpStream>);

impl Client {
    /// How long the answer took, in milliseconds.
    fn get(&mut self, path: &str) -> f64 {
        let began = Instant::now();
        let request = format!("GET {path} HTTP/1.1\r\nHost: h\r\n\r\n");
        self.0.get_mut().write_all(request.as_bytes()).expect("sent");
        let (mut line, mut length) = (String::new(), 0);
        loop {
            line.clear();
            self.0.read_line(&mut line).expect("a head");
            if let Some(found) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = found.trim().parse().expect("a number");
            }
            if line == "\r\n" {
                break;
            }
        }
        self.0.read_exact(&mut vec![0; length]).expect("a body");
        began.elapsed().as_secs_f64() * 1e3
    }
}

/// The verdict and reason of a figure.
fn ruled<'a>(trial: &'a Value, name: &str) -> (&'a str, &'a str) {
    let figures = trial["figures"].as_array().expect("figures");
    let figure = figures.iter().find(|figure| figure["name"] == name).unwrap_or_else(|| panic!("{name} in {trial}"));
    (figure["verdict"].as_str().expect("a verdict"), figure["why"].as_str().expect("a reason"))
}

fn judged(lab: &Lab, output: &str) -> Value {
    lab.file("output", output);
    let run = lab.onrush(&["witness", "witness.json", "--claims", "output", "--json"]).code(0);
    keeps_to("trial-1.json", &run.stdout)
}

#[test]
fn counts_and_times_are_those_of_the_requests() {
    let lab = Lab::new();
    let target = Target::start(&lab, &[]);
    let mut client = target.connect();
    let mut times: Vec<f64> = (0..50).map(|_| client.get("/delay/2ms")).collect();
    times.extend((0..10).map(|_| client.get("/status/404")));
    client.get("/stats");
    // One that is still waiting when its client goes.
    let mut gone = target.connect();
    gone.0.get_mut().write_all(b"GET /fault/stall HTTP/1.1\r\nHost: h\r\n\r\n").expect("sent");
    client.get("/bytes/1000");
    drop((gone, client));
    let seen = target.end(&lab);
    let requests = &seen["requests"];
    assert_eq!(
        (&requests["arrived"], &requests["answered"], &requests["abandoned"]),
        (&json!(62), &json!(61), &json!(1))
    );
    assert_eq!(requests["statuses"], json!({ "200": 51, "404": 10 }));
    assert_eq!((&requests["stamped"], &seen["connections"]["opened"]), (&json!(62), &json!(2)));
    assert_eq!(seen["connections"]["rows"][0]["requests"], 61);
    assert_eq!(seen["service_ms"]["count"], 61);
    // Service time is inside of what the client measured, sum by sum as well as one by one.
    let service = seen["service_ms"]["sum"].as_f64().expect("a sum");
    assert!(service >= 100.0 && service <= times.iter().sum::<f64>() + 1e3, "{service} {times:?}");
    // First and last request of a connection have no upper bound.
    assert_eq!((&seen["turnaround_ms"]["count"], &seen["turnaround_ms"]["censored"]), (&json!(59), &json!(2)));
    let series: u64 = seen["series"]["arrivals"].as_array().expect("a list").iter().filter_map(Value::as_u64).sum();
    assert_eq!(series, 62);
}

#[test]
fn a_tools_figures_are_true_or_not() {
    let lab = Lab::new();
    let target = Target::start(&lab, &[]);
    let mut client = target.connect();
    let began = Instant::now();
    let mut times: Vec<f64> = Vec::new();
    while began.elapsed() < Duration::from_secs(1) {
        times.push(client.get("/delay/20ms"));
    }
    drop(client);
    let seen = target.end(&lab);
    let at = |name: &str| seen[name].as_f64().expect("a time");
    let took_s = at("last_answer_s") - at("first_arrival_s");
    times.sort_by(f64::total_cmp);
    let n = times.len();
    let (p50, max) = (times[n / 2], times[n - 1]);
    let bytes = seen["bytes"]["sent"].as_u64().expect("bytes");
    let output = |requests: usize, s: f64, rate: f64, p50: f64, max: f64| {
        format!(
            "{{\"spec\":{{}},\"result\":{{\"bytesRead\":{bytes},\"timeTakenSeconds\":{s},\
             \"req2xx\":{requests},\"others\":0,\
             \"latency\":{{\"max\":{},\"percentiles\":{{\"50\":{}}}}},\"rps\":{{\"mean\":{rate}}}}}}}",
            max * 1e3,
            p50 * 1e3
        )
    };
    let honest = judged(&lab, &output(n, took_s, n as f64 / took_s, p50, max));
    for name in ["requests", "rate", "duration", "bytes received", "errors", "status 2xx", "latency, p50"] {
        assert_eq!(ruled(&honest, name).0, "true", "{name} of {honest}");
    }
    // The last request has no request behind it.
    assert_eq!(ruled(&honest, "latency, max").0, "cannot be told");

    let flattering = judged(&lab, &output(2 * n, took_s / 2.0, 4.0 * n as f64 / took_s, 1.0, 2.0));
    for (name, why) in [
        ("requests", "more than arrived at the target"),
        ("rate", "too high"),
        ("duration", "still answered after that time"),
        ("latency, p50", "the target alone took"),
        ("latency, max", "the target alone took"),
    ] {
        let (verdict, found) = ruled(&flattering, name);
        assert!(verdict == "not true" && found.contains(why), "{name}: {verdict}, {found}");
    }
    let slow = judged(&lab, &output(n, took_s, n as f64 / took_s, 60_000.0, 60_000.0));
    assert!(ruled(&slow, "latency, p50").1.contains("the next request of the same connection arrived within"));
    let fewer = judged(&lab, &output(n / 2, took_s, n as f64 / took_s, p50, max));
    assert!(ruled(&fewer, "requests").1.contains("the target answered"), "{fewer}");
    let text = lab.onrush(&["witness", "witness.json", "--claims", "output"]).code(0).stdout;
    assert!(text.contains("bombardier on trial") && text.contains("not true"), "{text}");
}

#[test]
fn a_stall_is_seen_and_what_it_kept_from_being_sent() {
    let lab = Lab::new();
    let target = Target::start(&lab, &[]);
    let mut client = target.connect();
    let mut times: Vec<f64> = (0..200).map(|_| client.get("/delay/2ms")).collect();
    let stopped = Instant::now();
    std::thread::scope(|scope| {
        target.signal("STOP");
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(700));
            target.signal("CONT");
        });
        times.push(client.get("/delay/2ms"));
    });
    let stood_ms = stopped.elapsed().as_secs_f64() * 1e3;
    times.extend((0..200).map(|_| client.get("/delay/2ms")));
    drop(client);
    let seen = target.end(&lab);
    let length = |stall: &&Value| stall["length_s"].as_f64().expect("a length");
    let stalls = seen["stalls"].as_array().expect("a list").iter();
    let stall = stalls.max_by(|one, other| length(one).total_cmp(&length(other))).expect("a stall");
    let length_ms = stall["length_s"].as_f64().expect("a stall") * 1e3;
    assert!(length_ms > 500.0 && length_ms < stood_ms + 50.0, "{stall} of {stood_ms}");
    assert!(stall["expected"].as_u64() > Some(20) && stall["arrivals"].as_u64() <= Some(2), "{stall}");
    // The kernel stamped the request while the process stood still.
    let slowest = seen["service_ms"]["max"].as_f64().expect("a time");
    assert!(slowest > 500.0, "{slowest}");
    let output = |max: f64| {
        format!(
            "{{\"metrics\":{{\"http_reqs\":{{\"count\":401}},\"http_req_duration\":{{\"p(99)\":3.0,\"max\":{max}}}}}}}"
        )
    };
    let shown = judged(&lab, &output(stood_ms));
    assert_eq!(shown["findings"][0]["name"], "coordinated_omission", "{shown}");
    assert_eq!(ruled(&shown, "latency, max").0, "cannot be told");
    let figures = shown["figures"].as_array().expect("figures");
    let p99 = figures.iter().find(|figure| figure["name"] == "latency, p99").expect("printed");
    assert!(p99["on_schedule"].as_f64() > Some(400.0), "{p99}");
    let hidden = judged(&lab, &output(10.0));
    assert_eq!(ruled(&hidden, "latency, max").0, "not true");
}

#[test]
fn onrush_prints_what_its_target_saw() {
    let lab = Lab::with(
        "import http from 'k6/http';
         export const options = { vus: 3, iterations: 300 };
         export default function () { http.post(__ENV.URL + '/upload', 'x'.repeat(5000)); }",
    );
    let target = Target::start(&lab, &["--workers", "2"]);
    let url = format!("URL=http://{}", target.address);
    lab.onrush(&["run", "-q", "-e", &url, "--summary-export", "output", "script.js"]).code(0);
    let seen = target.end(&lab);
    assert_eq!((&seen["workers"], &seen["gap_ms"]), (&json!(2), &Value::Null));
    assert_eq!(seen["bytes"]["bodies_received"], 1_500_000);
    let run = lab.onrush(&["witness", "witness.json", "--claims", "output", "--json"]).code(0);
    let trial = keeps_to("trial-1.json", &run.stdout);
    for name in ["requests", "bytes received", "bytes sent", "failed"] {
        assert_eq!(ruled(&trial, name).0, "true", "{name} of {trial}");
    }
    let wrong: Vec<_> =
        trial["figures"].as_array().expect("figures").iter().filter(|f| f["verdict"] == "not true").collect();
    assert!(wrong.iter().all(|figure| figure["name"] == "rate"), "{wrong:?}");
}

#[test]
fn http2_and_tls_are_seen() {
    let lab = Lab::with(
        "import http from 'k6/http';
         export const options = { iterations: 20, insecureSkipTLSVerify: true };
         export default function () { http.get(__ENV.URL + '/bytes/100'); }",
    );
    let target = Target::on("tls://127.0.0.1:0", &lab, &[]);
    let url = format!("URL=https://{}", target.address);
    lab.onrush(&["run", "-q", "-e", &url, "--summary-export", "output", "script.js"]).code(0);
    let seen = target.end(&lab);
    assert_eq!((&seen["has_tls"], &seen["requests"]["answered"]), (&json!(true), &json!(20)));
    assert_eq!((&seen["bytes"]["bodies_sent"], &seen["service_ms"]["count"]), (&json!(2000), &json!(20)));
    // Streams share their connection: their order bounds nothing.
    assert_eq!((&seen["turnaround_ms"]["count"], &seen["turnaround_ms"]["censored"]), (&json!(0), &json!(20)));
    let trial = judged(&lab, &lab.read("output"));
    assert_eq!(ruled(&trial, "requests").0, "true", "{trial}");
    assert_ne!(ruled(&trial, "bytes received").0, "not true", "{trial}");
}

#[test]
fn wrong_files_are_named() {
    let lab = Lab::new();
    lab.file("output", "Running 1s test @ http://h/\n");
    let refused = |arguments: &[&str]| lab.onrush(&[&["witness"], arguments].concat()).code(255).stderr;
    let found = refused(&["output", "--claims", "output"]);
    assert!(
        found.contains("output: found no JSON") && found.contains("expected the file of onrush serve --witness"),
        "{found}"
    );
    let target = Target::start(&lab, &[]);
    target.connect().get("/");
    target.end(&lab);
    let found = refused(&["witness.json", "--claims", "output"]);
    assert!(found.contains("--claims: output: found the output of wrk without a figure"), "{found}");
    let found = refused(&["witness.json", "--claims", "missing"]);
    assert!(found.contains("--claims: cannot read missing: "), "{found}");
    lab.file("output", "nothing of the kind");
    let found = refused(&["witness.json", "--claims", "output"]);
    assert!(found.contains("expected the output of wrk and wrk2, k6"), "{found}");
    let found = lab.onrush(&["serve", "--witness", "no/such/folder/w.json"]).code(255).stderr;
    assert!(found.contains("--witness") && found.contains("a file in a folder that exists"), "{found}");
}
