//! The script that a quick run stands for, as a person would write it: what runs, and what `--show-script` prints. A
//! matrix has the scripts of its URLs from here as well.
//!
//! Params are frozen: nothing in them can change, so the request is prepared once and not for every iteration.

use convert::source;
use serde_json::Value;

use crate::curl::request::Request;

/// The whole text. `load` are options by name; an iteration makes `requests_each` requests.
pub fn script(request: &Request, load: &[(String, Value)], requests_each: u64) -> String {
    let mut text = String::from("import http from 'k6/http';\n");
    if let Some(import) = request.body.import {
        text.push_str(&format!("{import}\n"));
    }
    text.push_str(&format!("\nexport const options = {};\n", source::object(&options(request, load), 0)));
    text.push('\n');
    for line in &request.body.statements {
        text.push_str(&format!("{line}\n"));
    }
    let mut body = request.body.expression.clone();
    if let Some(expression) = body.as_ref().filter(|expression| !is_word(expression)) {
        text.push_str(&format!("const body = {expression};\n"));
        body = Some(String::from("body"));
    }
    text.push_str(&format!("const params = {};\n", params(request)));
    let call = call(request, body.as_deref().unwrap_or("null"));
    let repeated = match requests_each {
        1 => String::new(),
        count => format!("for (let n = 0; n < {count}; n++) "),
    };
    text.push_str(&format!("\nexport default function () {{\n  {repeated}{call};\n}}\n"));
    text
}

fn is_word(expression: &str) -> bool {
    expression.bytes().all(|b| b.is_ascii_alphanumeric())
}

fn options(request: &Request, load: &[(String, Value)]) -> Vec<(String, String)> {
    let load = load.iter().map(|(name, value)| (name.clone(), source::value(value, 2)));
    let discard = (String::from("discardResponseBodies"), String::from("true"));
    load.chain([discard]).chain(request.options.iter().cloned()).collect()
}

fn params(request: &Request) -> String {
    let mut fields = Vec::new();
    if !request.headers.is_empty() {
        let headers: Vec<_> = request.headers.iter().map(|(name, value)| (name.clone(), source::text(value))).collect();
        fields.push((String::from("headers"), format!("Object.freeze({})", source::object(&headers, 2))));
    }
    fields.push((String::from("redirects"), request.redirects.to_string()));
    if let Some(ms) = request.timeout_ms {
        fields.push((String::from("timeout"), ms.to_string()));
    }
    if request.digest {
        fields.push((String::from("auth"), source::text("digest")));
    }
    if request.prior_knowledge {
        fields.push((String::from("http2"), source::text("prior-knowledge")));
    }
    format!("Object.freeze({})", source::object(&fields, 0))
}

fn call(request: &Request, body: &str) -> String {
    let url = source::text(&request.url);
    match (request.method.as_str(), body) {
        ("GET", "null") => format!("http.get({url}, params)"),
        ("HEAD", "null") => format!("http.head({url}, params)"),
        ("POST", body) => format!("http.post({url}, {body}, params)"),
        ("PUT", body) => format!("http.put({url}, {body}, params)"),
        ("PATCH", body) => format!("http.patch({url}, {body}, params)"),
        ("DELETE", body) => format!("http.del({url}, {body}, params)"),
        (method, body) => format!("http.request({}, {url}, {body}, params)", source::text(method)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curl::line::{Dialect, Line};
    use crate::quick::traffic::Traffic;
    use convert::shell;

    fn shown(line: &str) -> String {
        let line = Line::read(Dialect::Curl, shell::split(line).expect("a good line"));
        let request = Request::of(&line, &line.words[0], Dialect::Curl).expect("a good request");
        script(&request, &Traffic::of(&line.given).expect("a good load").options(), 1)
    }

    #[test]
    fn a_get_is_short() {
        let expected = "\
import http from 'k6/http';

export const options = { vus: 10, duration: '10s', discardResponseBodies: true };

const params = Object.freeze({ headers: Object.freeze({ Accept: '*/*' }), redirects: 0 });

export default function () {
  http.get('http://h/', params);
}
";
        assert_eq!(shown("h"), expected);
    }

    #[test]
    fn a_form_and_a_rate_are_written_out() {
        let text = shown("-F 'a=it'\\''s' --rate 5 --digest -u a:b -m 2 -k https://h/x");
        for part in [
            "import { FormData } from 'onrush/http';",
            "const form = new FormData();\nform.append('a', \"it's\");",
            "executor: 'constant-arrival-rate'",
            "insecureSkipTLSVerify: true",
            "timeout: 2000",
            "auth: 'digest'",
            "http.post('https://a:b@h/x', form, params);",
        ] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
        let text = shown("--http2-prior-knowledge -L h");
        assert!(text.contains("redirects: 50,") && text.contains("http2: 'prior-knowledge'"), "{text}");
        let text = shown("--vus 4 --streams 25 https://h/");
        assert!(text.contains("vus: 100,") && text.contains("http2: { connections: 4, streams: 25 }"), "{text}");
        assert!(shown("-X purge -d @/etc/hostname h").contains("http.request('purge', 'http://h/', body, params)"));
    }
}
