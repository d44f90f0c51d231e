//! Cookies over several requests and hops.

use std::rc::Rc;

use onrush_wire::cookies::CookieJar;
use onrush_wire::{Request, Settings, Url};

use crate::server::{Scripted, get, headers, response, send, send_all};

#[test]
fn what_a_server_sets_comes_back_hop_by_hop() {
    let server = Scripted::start(|seen| match seen.target.as_str() {
        "/login" => {
            response("302 Go", &["Set-Cookie: a=1; Path=/", "set-cookie: b=2; Path=/deep", "Location: /deep/x"], b"")
        }
        "/deep/x" => response("200 OK", &["Set-Cookie: a=; Max-Age=0; Path=/", "Set-Cookie: c=\"q\"; Path=/"], b""),
        _ => response("200 OK", &[], b""),
    });
    let jar = CookieJar::default();
    send_all(Settings::default(), &[get(&server.url("/login")), get(&server.url("/end"))], Some(&jar));
    let cookies: Vec<String> = server.seen().iter().map(|s| s.header("cookie")).collect();
    assert_eq!(cookies, ["-", "b=2; a=1", "c=\"q\""]);
    assert_eq!(jar.for_url(&Url::parse(&server.url("/")).unwrap()), [("c".to_owned(), "q".to_owned())]);
}

#[test]
fn cookies_of_the_request_stand_beside_or_replace_those_of_the_jar() {
    let server = Scripted::start(|seen| match seen.target.as_str() {
        "/a" => response("302 Go", &["Location: /b"], b""),
        _ => response("200 OK", &[], b""),
    });
    let jar = CookieJar::default();
    let url = Url::parse(&server.url("/")).unwrap();
    jar.set_from_header(&url, b"x=jar");
    jar.set_from_header(&url, b"y=jar");
    let own: Rc<[_]> = Rc::new([("x".to_owned(), "1".to_owned(), false), ("y".to_owned(), "2".to_owned(), true)]);
    let request = Request { cookies: own, headers: headers(&[("Cookie", "hand=1")]), ..get(&server.url("/a")) };
    send(Settings::default(), &request, Some(&jar));
    let cookies: Vec<String> = server.seen().iter().map(|s| s.header("cookie")).collect();
    assert_eq!(cookies, ["hand=1; x=1; y=2; x=jar", "x=1; y=2; x=jar"]);
}

#[test]
fn without_a_jar_nothing_is_kept() {
    let server = Scripted::start(|_| response("200 OK", &["Set-Cookie: a=1"], b""));
    send_all(Settings::default(), &[get(&server.url("/")), get(&server.url("/"))], None);
    assert_eq!(server.last().header("cookie"), "-");
}
