//! From names to sockets: hosts, unix sockets, blocked names and addresses, local addresses.

use std::net::IpAddr;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::sync::Arc;

use onrush_wire::hosts::HostPatterns;
use onrush_wire::settings::Blocked;
use onrush_wire::{Client, ClientContext, FailureKind, Settings, Step, parse_block, parse_local_ips};

use crate::server::{Scripted, body, fixed_hosts, get, outcome, response, run, send, send_all};

fn hosts(pairs: &[(&str, &str)]) -> Settings {
    Settings { hosts: fixed_hosts(pairs), ..Settings::default() }
}

#[test]
fn hosts_lead_elsewhere_and_the_host_header_stays() {
    let server = Scripted::start(|seen| response("200 OK", &[], seen.header("host").as_bytes()));
    let address = server.address.to_string();
    let settings = hosts(&[("*.w.test", &address), ("exact.test", "127.0.0.1")]);
    let exact = format!("http://exact.test:{}/", server.address.port());
    let all = send_all(settings, &[get("http://A.w.test/"), get(&exact)], None);
    assert_eq!(body(&all[0][0]), b"A.w.test");
    assert_eq!(body(&all[1][0]), format!("exact.test:{}", server.address.port()).as_bytes());
    assert_eq!(all[0][0].connection.as_ref().unwrap().remote, Some(server.address));
}

#[test]
fn hosts_lead_to_a_unix_socket() {
    let path = std::env::temp_dir().join(format!("onrush-names-{}.sock", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let server = Scripted::start_unix(UnixListener::bind(&path).unwrap(), |seen| {
        response("200 OK", &[], seen.header("host").as_bytes())
    });
    let settings = hosts(&[("app.test", &format!("unix:{}", path.display()))]);
    let all = send_all(settings, &[get("http://app.test/a"), get("http://app.test/b")], None);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(body(&all[0][0]), b"app.test");
    let second = all[1][0].connection.as_ref().unwrap();
    assert!(second.reused && second.remote.is_none());
    assert_eq!(server.lines(), ["GET /a", "GET /b"]);
}

#[test]
fn hosts_lead_to_a_socket_without_a_file() {
    let name = format!("onrush-names-{}", std::process::id());
    let listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    let server = Scripted::start_unix(listener, |_| response("200 OK", &[], b"here"));
    let all = send_all(hosts(&[("app.test", &format!("unix:@{name}"))]), &[get("http://app.test/a")], None);
    assert_eq!(body(&all[0][0]), b"here");
    assert_eq!(server.lines(), ["GET /a"]);
}

#[test]
fn localhost_is_looked_up() {
    let server = Scripted::start(|_| response("200 OK", &[], b""));
    let all = send(Settings::default(), &get(&format!("http://localhost:{}/", server.address.port())), None);
    assert_eq!(outcome(&all[0]), "200");
    assert!(all[0].timings.looking_up > std::time::Duration::ZERO);
    assert!(all[0].timings.blocked >= all[0].timings.looking_up);
}

#[test]
fn blocked_names_and_addresses_are_never_connected_to() {
    let server = Scripted::start(|_| response("200 OK", &[], b""));
    let settings = Settings {
        blocked: Blocked {
            names: Arc::new(HostPatterns::read(&["*.blk.test".into()]).unwrap()),
            addresses: Arc::new(vec![parse_block("127.0.0.0/8").unwrap()]),
        },
        ..hosts(&[("*.blk.test", &server.address.to_string())])
    };
    let all = send_all(settings, &[get("http://a.blk.test/"), get(&server.url("/"))], None);
    assert_eq!(outcome(&all[0][0]), "BlockedHost: hostname (a.blk.test) is in a blocked pattern (*.blk.test)");
    assert_eq!(outcome(&all[1][0]), "BlacklistedIp: IP (127.0.0.1) is in a blacklisted range (127.0.0.0/8)");
    assert!(server.seen().is_empty());
}

#[test]
fn names_that_do_not_exist_fail_at_lookup() {
    let all = send(Settings::default(), &get("http://nothing.invalid/"), None);
    let failure = all[0].outcome.as_ref().unwrap_err();
    assert_eq!(failure.step, Step::Lookup);
    assert!(matches!(failure.kind, FailureKind::Dns | FailureKind::NoSuchHost), "{failure}");
}

#[test]
fn clients_come_from_the_local_addresses_in_turn() {
    let server = Scripted::start(|_| response("200 OK", &[], b""));
    let local_ips = parse_local_ips("127.0.0.21-127.0.0.23").unwrap();
    run(async {
        let worker =
            ClientContext::new(Arc::new(Settings { local_ips: local_ips.clone(), ..Settings::default() })).unwrap();
        for _ in 0..6 {
            let client = Client::new(worker.clone());
            assert_eq!(outcome(&*client.send(&get(&server.url("/")), None, &mut |_| {}).await), "200");
        }
    });
    let mut peers: Vec<IpAddr> = server.seen().iter().map(|s| s.peer.unwrap()).collect();
    assert!(peers.windows(2).all(|pair| pair[0] != pair[1]), "{peers:?}");
    peers.sort();
    peers.dedup();
    assert_eq!(peers, local_ips);
}

#[test]
fn settings_that_cannot_work_are_refused_with_their_name() {
    let message =
        |settings: Settings| run(async { ClientContext::new(Arc::new(settings)).err().expect("refused").message });
    let mut proxied = Settings::default();
    proxied.proxies.http = Some("https://h".into());
    assert!(message(proxied).starts_with("HTTP_PROXY: proxies over \"https\""));
}
