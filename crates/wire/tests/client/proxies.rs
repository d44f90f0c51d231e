//! HTTP proxies: absolute form for http, a CONNECT tunnel for https.

use onrush_wire::settings::Proxies;
use onrush_wire::{Settings, Step};

use crate::server::{Scripted, body, get, outcome, response, send, send_all};

fn through(http: &str, https: &str) -> Settings {
    let proxies =
        Proxies { http: Some(http.to_owned()), https: Some(https.to_owned()), no_proxy: Some("direct.test".into()) };
    Settings { proxies, insecure_skip_tls_verify: true, ..Settings::default() }
}

#[test]
fn http_goes_in_absolute_form_over_shared_connections() {
    let proxy = Scripted::start(|seen| response("200 OK", &[], seen.target.as_bytes()));
    let url = format!("http://us:pw@{}", proxy.address);
    let requests = [get("http://a.test/x?y"), get("http://b.test:81/")];
    let all = send_all(through(&url, ""), &requests, None);
    assert_eq!(body(&all[0][0]), b"http://a.test/x?y");
    assert_eq!(body(&all[1][0]), b"http://b.test:81/");
    assert!(all[1][0].connection.as_ref().unwrap().reused, "one proxy, one connection");
    let seen = proxy.last();
    assert_eq!(
        (seen.header("host"), seen.header("proxy-authorization")),
        ("b.test:81".into(), "Basic dXM6cHc=".into())
    );
}

#[test]
fn loopback_and_no_proxy_hosts_go_directly() {
    let proxy = Scripted::start(|_| response("502 Proxy", &[], b""));
    let server = Scripted::start(|_| response("200 OK", &[], b""));
    let mut settings = through(&proxy.url(""), "");
    settings.hosts = [("direct.test".to_owned(), server.address.to_string())].into();
    let all = send_all(settings, &[get(&server.url("/")), get("http://direct.test/")], None);
    assert_eq!((outcome(&all[0][0]), outcome(&all[1][0])), ("200".into(), "200".into()));
    assert_eq!(server.last().header("proxy-authorization"), "-");
    assert!(proxy.seen().is_empty());
}

#[test]
fn a_refused_tunnel_is_a_failure_at_connect() {
    let proxy = Scripted::start(|_| response("407 Authenticate First", &[], b""));
    let all = send(through("", &proxy.url("")), &get("https://a.test/"), None);
    let failure = all[0].outcome.as_ref().unwrap_err();
    assert_eq!(failure.step, Step::Connect);
    assert!(failure.message.contains("Authenticate First"), "{failure}");
    assert_eq!(proxy.lines(), ["CONNECT a.test:443"]);
}
