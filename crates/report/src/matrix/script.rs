//! The script that a load given as a URL stands for.
//!
//! The same engine and the same samples as for any script; every text is written as JSON, so nothing of a plan is ever run as
//! code.

use serde_json::{Value, json};

use super::parts::{Amount, BodySpec, LoadKind, LoadSpec};

/// Params that cannot change are read once instead of for each request.
const FREEZE: &str = "Object.freeze(params.headers);\nObject.freeze(params);";

/// How long requests under way at the end may take.
const GRACE: &str = "10s";

/// JavaScript for `onrush run`; nothing for loads that are not a URL. Paths of files must be absolute.
pub fn script(load: &LoadSpec) -> Option<String> {
    let LoadKind::Url { url, method, headers, body } = &load.kind else { return None };
    let body = match body {
        None => String::from("null"),
        Some(BodySpec::Text(text)) => json!(text).to_string(),
        // Not zeros: a server or a proxy may treat those better than what users send.
        Some(BodySpec::Bytes(size)) => {
            format!("Uint8Array.from({{ length: {size} }}, (_, n) => (n * 167) & 255).buffer")
        }
        Some(BodySpec::File(path)) => format!("open({}, 'b')", json!(path)),
    };
    let call = format!("http.request({}, {}, body, params);", json!(method), json!(address(url, load)));
    let calls = match load.requests_per_connection {
        Some(count) => format!("for (let n = 0; n < {count}; n++) {call}"),
        None => call,
    };
    Some(format!(
        "import http from 'k6/http';\nexport const options = {};\nconst body = {body};\nconst params = {};\n\
         {FREEZE}\nexport default function () {{\n  {calls}\n}}\n",
        options(load),
        json!({ "headers": headers }),
    ))
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

fn options(load: &LoadSpec) -> Value {
    let mut options = json!({
        "scenarios": { "load": scenario(load) },
        "discardResponseBodies": true,
        "noVUConnectionReuse": load.requests_per_connection.is_some(),
        "insecureSkipTLSVerify": load.insecure,
    });
    if let Some(path) = &load.unix {
        options["hosts"] = json!({ "unix.socket": format!("unix:{path}") });
    }
    options
}

/// A fixed number of iterations is at most so long under way.
const PATIENCE: &str = "10m";

fn scenario(load: &LoadSpec) -> Value {
    let vus = load.connections;
    let a_time = load.requests_per_connection.unwrap_or(1);
    match (load.amount, load.rate) {
        (Amount::Time(time), None) => {
            json!({ "executor": "constant-vus", "vus": vus, "duration": time.to_string(), "gracefulStop": GRACE })
        }
        (Amount::Time(time), Some(rate)) => json!({
            "executor": "constant-arrival-rate", "rate": per_minute(rate, a_time), "timeUnit": "1m",
            "duration": time.to_string(), "preAllocatedVUs": vus, "gracefulStop": GRACE,
        }),
        (Amount::Requests(requests), _) => json!({
            "executor": "shared-iterations", "vus": vus.min(requests.div_ceil(a_time)), "iterations": requests.div_ceil(a_time),
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
    use std::collections::BTreeMap;

    use super::*;
    use crate::matrix::time::Time;

    fn load() -> LoadSpec {
        LoadSpec {
            kind: LoadKind::Url {
                url: String::from("http://h:1/a?b='\"</script>"),
                method: String::from("POST"),
                headers: BTreeMap::from([(String::from("x"), String::from("\n"))]),
                body: Some(BodySpec::Text(String::from("a\"b"))),
            },
            connections: 8,
            amount: Amount::Time(Time::try_from(String::from("2s")).unwrap()),
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

    #[test]
    fn texts_are_quoted() {
        let text = script(&load()).unwrap();
        assert!(text.contains(r#"http.request("POST", "http://h:1/a?b='\"</script>", body, params);"#), "{text}");
        assert!(text.contains(r#"const body = "a\"b";"#), "{text}");
        assert!(text.contains(r#"const params = {"headers":{"x":"\n"}};"#), "{text}");
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
    fn unix_sockets_are_hosts() {
        let text = script(&LoadSpec { unix: Some(String::from("/run/x.sock")), ..load() }).unwrap();
        assert!(text.contains(r#""hosts":{"unix.socket":"unix:/run/x.sock"}"#), "{text}");
        assert!(text.contains(r#""http://unix.socket/a?b="#), "{text}");
    }
}
