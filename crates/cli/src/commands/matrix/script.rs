//! The script that a load given as a URL stands for: that of a quick run with the same request.
//!
//! The same engine and the same samples as for any script; every text is written as a literal, so nothing of a plan is
//! ever run as code.

use std::collections::BTreeMap;

use report::matrix::parts::{Amount, BodySpec, LoadSpec};
use serde_json::{Value, json};

use crate::curl::body::{self, Body};
use crate::curl::request::Request;
use crate::quick::script;
use convert::source;

/// How long requests under way at the end may take.
const GRACE: &str = "10s";

/// JavaScript for `onrush run`. Paths of files must be absolute. Fails when the body's file cannot be read.
pub fn of_url(
    url: &str,
    method: &str,
    headers: &BTreeMap<String, String>,
    body: Option<&BodySpec>,
    load: &LoadSpec,
) -> Result<String, String> {
    let request = Request {
        method: method.to_owned(),
        url: address(url, load),
        headers: headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
        body: body.map_or_else(|| Ok(Body::default()), written)?,
        ..Request::default()
    };
    Ok(script::script(&request, &options(load), load.requests_per_connection.unwrap_or(1)))
}

fn written(body: &BodySpec) -> Result<Body, String> {
    match body {
        BodySpec::Text(text) => Ok(Body { expression: Some(source::text(text)), ..Body::default() }),
        BodySpec::Bytes(size) => Ok(generated(*size)),
        BodySpec::File(path) => body::upload(path),
    }
}

/// So many bytes, made while they are sent: arrays of 1 MiB took 200 users 9 CPU seconds and 271 MB to begin with. Not
/// zeros: a server or a proxy may treat those better than what users send.
fn generated(size: u64) -> Body {
    Body {
        expression: Some(format!("repeat(Uint8Array.from({{ length: 256 }}, (_, n) => (n * 167) & 255), {size})")),
        import: Some("import { repeat } from 'onrush/payload';"),
        ..Body::default()
    }
}

/// Connections to a unix socket go by the name of a host that stands for it.
fn address(url: &str, load: &LoadSpec) -> String {
    match (&load.unix, url.split_once("://")) {
        (Some(_), Some((scheme, rest))) => {
            let path = rest.find('/').map_or("/", |at| &rest[at..]);
            format!("{scheme}://unix.socket{path}")
        }
        _ => url.to_owned(),
    }
}

fn options(load: &LoadSpec) -> Vec<(String, Value)> {
    let option = |name: &str, value: Value| (String::from(name), value);
    let mut options = vec![option("scenarios", json!({ "load": scenario(load) }))];
    if load.requests_per_connection.is_some() {
        options.push(option("noVUConnectionReuse", json!(true)));
    }
    if load.insecure {
        options.push(option("insecureSkipTLSVerify", json!(true)));
    }
    if let Some(path) = &load.unix {
        options.push(option("hosts", json!({ "unix.socket": format!("unix:{path}") })));
    }
    options
}

/// A fixed number of iterations is at most so long under way.
const PATIENCE: &str = "10m";

fn scenario(load: &LoadSpec) -> Value {
    let vus = load.connections;
    let a_time = load.requests_per_connection.unwrap_or(1);
    match (load.amount, load.rate) {
        // Executors with a duration begin at a second; a stage may be shorter. Only warm-ups are.
        (Amount::Time(time), None) if time.seconds() < 1.0 => json!({
            "executor": "ramping-vus", "startVUs": vus, "stages": [{ "duration": time.to_string(), "target": vus }],
            "gracefulStop": GRACE, "gracefulRampDown": GRACE,
        }),
        (Amount::Time(time), Some(rate)) if time.seconds() < 1.0 => json!({
            "executor": "ramping-arrival-rate", "startRate": per_minute(rate, a_time), "timeUnit": "1m",
            "stages": [{ "duration": time.to_string(), "target": per_minute(rate, a_time) }], "preAllocatedVUs": vus,
            "gracefulStop": GRACE,
        }),
        (Amount::Time(time), None) => {
            json!({ "executor": "constant-vus", "vus": vus, "duration": time.to_string(), "gracefulStop": GRACE })
        }
        (Amount::Time(time), Some(rate)) => json!({
            "executor": "constant-arrival-rate", "rate": per_minute(rate, a_time), "timeUnit": "1m",
            "duration": time.to_string(), "preAllocatedVUs": vus, "gracefulStop": GRACE,
        }),
        (Amount::Requests(requests), _) => json!({
            "executor": "shared-iterations", "vus": vus.min(requests.div_ceil(a_time)),
              "iterations": requests.div_ceil(a_time),
            "maxDuration": PATIENCE,
        }),
    }
}

/// Iterations a minute: rates below one a second and fractions stay what they are.
fn per_minute(rate: f64, requests_each: u64) -> u64 {
    (rate * 60.0 / requests_each as f64).round().max(1.0) as u64
}

#[cfg(test)]
mod tests {
    use report::matrix::parts::LoadKind;

    use super::*;

    fn load() -> LoadSpec {
        LoadSpec {
            kind: LoadKind::Script(String::new()),
            connections: 8,
            amount: Amount::Time(String::from("2s").try_into().expect("a time")),
            given: Default::default(),
            rate: None,
            requests_per_connection: None,
            unix: None,
            insecure: false,
            flags: vec![],
            binary: None,
            env: BTreeMap::new(),
        }
    }

    fn text(url: &str, load: &LoadSpec) -> String {
        let headers = BTreeMap::from([(String::from("x"), String::from("\n"))]);
        let body = BodySpec::Text(String::from("a'b"));
        of_url(url, "POST", &headers, Some(&body), load).expect("no file")
    }

    #[test]
    fn texts_are_quoted() {
        let text = text("http://h:1/a?b='\"</script>", &load());
        assert!(text.contains(r#"http.post("http://h:1/a?b='\"</script>", body, params);"#), "{text}");
        assert!(text.contains(r#"const body = "a'b";"#), "{text}");
        assert!(text.contains(r#"headers: Object.freeze({ x: "\n" })"#), "{text}");
    }

    #[test]
    fn a_file_that_is_not_there_is_refused() {
        let body = BodySpec::File(String::from("/no/such"));
        let refused = of_url("http://h", "PUT", &BTreeMap::new(), Some(&body), &load());
        assert!(refused.is_err_and(|problem| problem.starts_with("cannot read the file /no/such: ")));
    }

    #[test]
    fn connections_may_make_few_requests() {
        let text = text("http://h/", &LoadSpec { requests_per_connection: Some(10), ..load() });
        assert!(text.contains("for (let n = 0; n < 10; n++) http.post("), "{text}");
        assert!(text.contains("noVUConnectionReuse: true"), "{text}");
    }

    #[test]
    fn amounts_become_executors() {
        let of = |change: &dyn Fn(&mut LoadSpec)| {
            let mut load = load();
            change(&mut load);
            scenario(&load)
        };
        assert_eq!(of(&|_| {})["executor"], "constant-vus");
        let rate = of(&|load| load.rate = Some(0.5));
        assert_eq!((&rate["executor"], &rate["rate"]), (&json!("constant-arrival-rate"), &json!(30)));
        let few = of(&|load| {
            load.amount = Amount::Requests(45);
            load.requests_per_connection = Some(10);
        });
        assert_eq!(
            (&few["iterations"], &few["vus"]),
            (&json!(5), &json!(5)),
            "tens of requests, the last one begun is ended"
        );
    }

    #[test]
    fn warm_ups_of_less_than_a_second_are_stages() {
        let short = Amount::Time(String::from("250ms").try_into().expect("a time"));
        let closed = scenario(&LoadSpec { amount: short, ..load() });
        assert_eq!((&closed["executor"], &closed["startVUs"]), (&json!("ramping-vus"), &json!(8)));
        assert_eq!(closed["stages"], json!([{ "duration": "250ms", "target": 8 }]));
        let open = scenario(&LoadSpec { amount: short, rate: Some(2.0), ..load() });
        assert_eq!((&open["executor"], &open["startRate"]), (&json!("ramping-arrival-rate"), &json!(120)));
        assert_eq!(open["stages"], json!([{ "duration": "250ms", "target": 120 }]));
    }

    #[test]
    fn bodies_of_a_size_are_generated() {
        let text =
            of_url("http://h/", "POST", &BTreeMap::new(), Some(&BodySpec::Bytes(1 << 20)), &load()).expect("text");
        assert!(text.contains("import { repeat } from 'onrush/payload';"), "{text}");
        let body = "const body = repeat(Uint8Array.from({ length: 256 }, (_, n) => (n * 167) & 255), 1048576);";
        assert!(text.contains(body), "{text}");
    }

    #[test]
    fn unix_sockets_are_hosts() {
        for path in ["/run/x.sock", "@name"] {
            let text = text("http://h:1/a?b=1", &LoadSpec { unix: Some(path.to_owned()), ..load() });
            assert!(text.contains(&format!("hosts: {{ 'unix.socket': 'unix:{path}' }}")), "{text}");
            assert!(text.contains("http.post('http://unix.socket/a?b=1', body, params)"), "{text}");
        }
    }
}
