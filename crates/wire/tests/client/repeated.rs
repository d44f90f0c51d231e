//! Requests and responses that come again, for which the client keeps encoded and parsed heads: what is kept of one
//! must never be taken for another.

use std::rc::Rc;
use std::time::Duration;

use onrush_wire::{Body, Method, Payload, Request, Settings, Url};

use crate::server::{Scripted, Seen, get, headers, response, send_all};

/// The answer tells what was asked, in its head and in its body.
fn tell(seen: &Seen) -> Vec<u8> {
    let body = format!(
        "{} {} a={} length={} cookie={} authorization={} [{}]",
        seen.method,
        seen.target,
        seen.header("x-a"),
        seen.header("content-length"),
        seen.header("cookie"),
        seen.header("authorization"),
        String::from_utf8_lossy(&seen.body),
    );
    let line = format!("X-A: {}", seen.header("x-a"));
    let answer = response("200 OK", &[&line], body.as_bytes());
    let head = answer.len() - body.len();
    if seen.method == "HEAD" { answer[..head].to_vec() } else { answer }
}

/// The `X-A` and the body that the request must be answered with.
fn expected(request: &Request, body: Option<&str>) -> (String, Option<String>) {
    let given = |name: &str| request.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str());
    let a = given("x-a").unwrap_or("-").to_owned();
    let cookies: Vec<String> = request.cookies.iter().map(|(name, value, _)| format!("{name}={value}")).collect();
    let cookie = if cookies.is_empty() { String::from("-") } else { cookies.join("; ") };
    let authorization = if request.url.userinfo.is_some() { "Basic dTpw" } else { "-" };
    let length = body.map_or(String::from("-"), |body| body.len().to_string());
    let (method, target) = (request.method.as_str(), &request.url.target);
    let text = format!(
        "{method} {target} a={a} length={length} cookie={cookie} authorization={authorization} [{}]",
        body.unwrap_or("")
    );
    (a, (request.method != Method::Head).then_some(text))
}

#[test]
fn what_is_kept_of_one_request_is_never_taken_for_another() {
    let server = Scripted::start(tell);
    let mut rng = fastrand::Rng::with_seed(11);
    let mut urls: Vec<Url> = ["/", "/?x", "/y"].map(|path| get(&server.url(path)).url).into();
    urls.push(get(&server.url("/").replace("http://", "http://u:p@")).url);
    let lists = [headers(&[]), headers(&[("x-a", "1")]), headers(&[("x-a", "2")]), headers(&[("X-B", "1")])];
    let bodies = [None, None, Some(""), Some("short"), Some("other"), Some("a longer one")];
    let (mut requests, mut expectations) = (Vec::new(), Vec::new());
    for turn in 0..600 {
        // Long runs of the same request, then of ever other ones.
        let same = turn / 100 % 2 == 0 && rng.u8(..) < 200;
        let (url, list) = (&urls[if same { 0 } else { rng.usize(..urls.len()) }], &lists[rng.usize(..lists.len())]);
        // Equal headers need not be the same ones.
        let list = if rng.bool() { Rc::clone(list) } else { list.to_vec().into() };
        let method = [Method::Get, Method::Post, Method::Head][if same { 0 } else { rng.usize(..3) }].clone();
        let body = bodies[rng.usize(..bodies.len())];
        let cookies: &[(&str, &str)] = if rng.u8(..) < 30 { &[("c", "d")] } else { &[] };
        let request = Request {
            method,
            url: if rng.u8(..) < 30 { Url::parse(url.full_text()).unwrap() } else { url.clone() },
            headers: list,
            cookies: cookies.iter().map(|(n, v)| (n.to_string(), v.to_string(), false)).collect(),
            body: body.map(|text| Payload::from_bytes(text.to_owned())),
            timeout: Some(Duration::from_secs(2)),
            ..get(&server.url("/"))
        };
        expectations.push(expected(&request, body));
        requests.push(request);
    }
    let all = send_all(Settings::default(), &requests, None);
    for ((exchanges, (a, text)), turn) in all.iter().zip(expectations).zip(0..) {
        let answer = exchanges[0].outcome.as_ref().unwrap();
        assert_eq!(answer.header("X-A"), Some(a.as_bytes()), "turn {turn}");
        let body = match &answer.body {
            Body::Kept(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
            _ => None,
        };
        assert_eq!(body, text, "turn {turn}");
        assert_eq!(exchanges[0].connection.as_ref().unwrap().reused, turn > 0);
    }
}
