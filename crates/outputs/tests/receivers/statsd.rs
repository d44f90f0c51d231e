//! A listener of statsd.

use std::net::UdpSocket;
use std::time::Duration;

use crate::run::Run;

fn lines(socket: &UdpSocket) -> Vec<String> {
    socket.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    let (mut lines, mut packet) = (Vec::new(), [0; 65_536]);
    while let Ok(length) = socket.recv(&mut packet) {
        assert!(length <= 1432, "a packet of {length} bytes");
        let text = std::str::from_utf8(&packet[..length]).unwrap();
        lines.extend(text.lines().map(str::to_owned));
    }
    lines.sort();
    lines
}

#[test]
fn counters_are_added_up_and_each_value_of_a_trend_is_a_line() {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap().to_string();
    let run = Run::start("statsd", &[("K6_STATSD_ADDR", &address), ("K6_STATSD_NAMESPACE", "my.")]);
    run.add_all_kinds();
    assert_eq!(run.finish(), (vec![], vec![]));
    let expected = [
        "my.check.is_ \"200\".fail:1|c",
        "my.check.is_ \"200\".pass:3|c",
        "my.data_sent:120.5|c",
        "my.http_req_duration:0|ms",
        "my.http_req_duration:2.5|ms",
        "my.http_req_duration:300|ms",
        "my.http_req_duration:7|ms",
        "my.http_reqs:3|c",
        "my.vus:4|g",
    ];
    assert_eq!(lines(&socket), expected);
}

#[test]
fn tags_are_sent_when_they_are_asked_for() {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let output = format!("statsd={}", socket.local_addr().unwrap());
    let run = Run::start(&output, &[("K6_STATSD_ENABLE_TAGS", "true"), ("K6_STATSD_TAG_BLOCKLIST", "url")]);
    run.add(metrics::builtin::HTTP_REQS, &[("url", "u"), ("a", "b|c"), ("e", ""), ("status", "200")], &[1.0]);
    assert_eq!(run.finish(), (vec![], vec![]));
    assert_eq!(lines(&socket), ["k6.http_reqs:1|c|#a:b_c,status:200"]);
}

#[test]
fn nobody_listening_is_told() {
    let address = {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.local_addr().unwrap()
    };
    let run = Run::start(&format!("statsd={address}"), &[]);
    run.add_all_kinds();
    let (lost, told) = run.finish();
    let why = format!("{address}: Connection refused (os error 111)");
    assert_eq!(told, [format!("output statsd: {why}")]);
    assert_eq!(lost, [format!("output statsd lost 9 lines: {why}")]);
}
