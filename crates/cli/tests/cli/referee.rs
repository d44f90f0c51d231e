//! `--referee`: a thread beside the workers asks for the same.

use serde_json::Value;

use crate::lab::Lab;

fn referee(lab: &Lab) -> Value {
    let document: Value = serde_json::from_str(&lab.read("r/result.json")).expect("a result");
    document["generator"]["referee"].clone()
}

const GETS: &str = "import http from 'k6/http'
    export const options = { vus: 2, iterations: 3000 }
    export default () => http.get(`${__ENV.TARGET}/get?who=${__ENV.WHO}`, { headers: { Authorization: 'Bearer x' } })";

#[test]
fn what_users_ask_for_is_asked_for_again() {
    let lab = Lab::with(GETS);
    let run = lab.run(&["--serve", "--workers", "1", "--referee", "--save", "r", "-e", "WHO=all"]).code(0);
    let said = "    referee: GET http://127.0.0.1:";
    assert!(
        run.stdout.lines().any(|line| line.starts_with(said) && line.contains("; by the users ")),
        "{}",
        run.stdout
    );
    let found = referee(&lab);
    assert!(found["url"].as_str().is_some_and(|url| url.ends_with("/get?who=all")), "{found}");
    assert!(found["requests"].as_u64() > Some(0) && found["users_requests"] == 3000, "{found}");
}

#[test]
fn an_address_may_be_chosen_and_need_not_be_asked_for_by_anybody() {
    let lab = Lab::with(GETS);
    let nobody = ["--serve", "--referee=http://127.0.0.1:9/never", "--save", "r"];
    lab.run(&nobody).code(0).prints("the referee asked for nothing: no user made a plain GET");
    assert_eq!(referee(&lab)["url"], Value::Null);
}

#[test]
fn what_is_no_address_is_refused() {
    let lab = Lab::with(GETS);
    let refused = lab.run(&["--serve", "--referee=somewhere"]).code(255);
    refused.says("--referee: somewhere: ").says("expected the http or https address of a GET");
}

#[test]
fn requests_with_bodies_are_not_repeated() {
    let lab = Lab::with(
        "import http from 'k6/http'; export const options = { iterations: 30 }
         export default () => http.post(`${__ENV.TARGET}/post`, 'a body')",
    );
    lab.run(&["--serve", "--referee", "--save", "r"]).code(0).prints("the referee asked for nothing");
    assert_eq!(referee(&lab)["requests"], 0);
}

#[test]
fn another_status_than_the_users_had_is_no_answer() {
    // The cookie that the first answer sets makes the second one another.
    let lab = Lab::with(
        "import http from 'k6/http'; export const options = { vus: 1, duration: '1s', noCookiesReset: true }
         export default () => {
           const jar = http.cookieJar(); jar.set(__ENV.BASE, 'who', 'user');
           http.get(`${__ENV.BASE}/`);
         }",
    );
    let base = format!("BASE={}", cookie_server());
    lab.run(&["--referee", "-e", &base, "--save", "r"]).code(0).prints("the referee got no answer to GET ");
    let found = referee(&lab);
    assert!(found["failed"].as_u64() > Some(0) && found["requests"] == 0, "{found}");
}

/// Answers 200 where there is a cookie and 403 where there is none.
fn cookie_server() -> String {
    use std::io::{BufRead, BufReader, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let base = format!("http://{}", listener.local_addr().expect("an address"));
    let answer = |stream: std::net::TcpStream| {
        let mut out = stream.try_clone().expect("a socket");
        let mut has_cookie = false;
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            has_cookie |= line.to_ascii_lowercase().starts_with("cookie:");
            if line.is_empty() {
                let status = if std::mem::take(&mut has_cookie) { "200 OK" } else { "403 Forbidden" };
                let text = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n");
                if out.write_all(text.as_bytes()).is_err() {
                    return;
                }
            }
        }
    };
    std::thread::spawn(move || {
        listener.incoming().flatten().for_each(|stream| drop(std::thread::spawn(move || answer(stream))));
    });
    base
}
