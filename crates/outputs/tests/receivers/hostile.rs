//! Receivers that are gone, hang, are slow, refuse or babble: adding samples takes no longer for it, memory is bounded,
//! and what was lost is counted.

use std::net::TcpListener;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use metrics::{Series, TagSet, builtin};

use crate::http::{Manner, Receiver};
use crate::run::{BEGIN, Run};

/// Requests of a busy test: 70 MB of samples as they are queued.
const REQUESTS: u64 = 800_000;

fn resident_bytes() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

/// Adds the samples of so many requests; how much memory grew meanwhile.
fn flood(run: &Run) -> u64 {
    let tags = TagSet::new([("url", "http://127.0.0.1/some/path"), ("status", "200"), ("scenario", "default")]);
    let metrics = [
        builtin::HTTP_REQS,
        builtin::HTTP_REQ_DURATION,
        builtin::HTTP_REQ_BLOCKED,
        builtin::HTTP_REQ_CONNECTING,
        builtin::HTTP_REQ_TLS_HANDSHAKING,
        builtin::HTTP_REQ_SENDING,
        builtin::HTTP_REQ_WAITING,
        builtin::HTTP_REQ_RECEIVING,
        builtin::HTTP_REQ_FAILED,
    ];
    let series: Vec<Series> = metrics.iter().map(|metric| run.recorder.series(*metric, &tags)).collect();
    let bundle = run.recorder.bundle(&series);
    let (before, mut most) = (resident_bytes(), 0);
    for number in 0..REQUESTS {
        let time = number as f64 / 1e3;
        let values = [1.0, time, 0.0, 0.0, 0.0, 0.01, time / 2.0, 0.02, 0.0];
        run.recorder.add_bundle(bundle, &values, BEGIN + number * 1_000);
        if number.is_multiple_of(10_000) {
            most = most.max(resident_bytes());
        }
    }
    most.saturating_sub(before)
}

/// How many are said to be lost.
fn lost(lines: &[String]) -> u64 {
    let [line] = lines else { panic!("one line, not {lines:?}") };
    let words: Vec<&str> = line.split(' ').collect();
    assert_eq!(words[2], "lost", "{line}");
    words[3].parse().unwrap()
}

// One test, because all of them look at the memory of the same process.
#[test]
fn memory_is_bounded_and_what_is_lost_is_counted() {
    let gone = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap()
    };
    let manners = [
        ("hangs", Manner::Hangs),
        ("is slow", Manner::IsSlow(Duration::from_millis(700))),
        ("refuses", Manner::Answers(500)),
        ("hangs up", Manner::HangsUp),
        ("babbles", Manner::Babbles),
    ];
    let mut receivers = vec![("gone", gone)];
    let kept: Vec<Receiver> = manners.iter().map(|(_, manner)| Receiver::start(*manner)).collect();
    receivers.extend(manners.iter().zip(&kept).map(|((name, _), receiver)| (*name, receiver.address)));
    for (name, address) in receivers {
        let run = Run::start(&format!("influxdb=http://{address}/db"), &[]);
        let grown = flood(&run);
        let began = Instant::now();
        let (lines, told) = run.finish();
        assert!(grown < 64 << 20, "{name}: memory grew by {grown} bytes");
        assert!(began.elapsed() < Duration::from_secs(40), "{name}: the end took {:?}", began.elapsed());
        assert!(told.len() <= 5, "{name}: {told:?}");
        let lost = lost(&lines);
        assert!(lost <= REQUESTS * 9 && lost > 0, "{name}: {lines:?}");
        if name != "is slow" {
            assert_eq!(lost, REQUESTS * 9, "{name}: nothing arrived: {lines:?}");
        }
    }
    let receiver = Receiver::start(Manner::Answers(204));
    let run = Run::start(&format!("influxdb=http://{}/db", receiver.address), &[]);
    flood(&run);
    let (lines, _) = run.finish();
    let arrived = receiver.lines.load(Ordering::Relaxed);
    let lost = if lines.is_empty() { 0 } else { lost(&lines) };
    assert_eq!(arrived + lost, REQUESTS * 9, "each sample arrived or was counted: {lines:?}");
}
