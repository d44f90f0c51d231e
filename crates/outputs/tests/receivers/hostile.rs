//! Receivers that are gone, hang, are slow, refuse or babble: adding samples takes no longer for it, memory is bounded,
//! and what was lost is counted.

use std::net::{SocketAddr, TcpListener};
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use metrics::{Series, TagSet, builtin};

use crate::grpc::{Answer, collector};
use crate::http::{Manner, Receiver};
use crate::run::{BEGIN, End, Run};

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

/// Floods one run after the other and ends all at once, because an end waits; what each has lost and told. A run's
/// memory is bounded while it is flooded, and its end comes.
fn flooded<'a>(runs: Vec<(&'a str, Run)>) -> Vec<(&'a str, End)> {
    let ending = runs.into_iter().map(|(name, run)| {
        let grown = flood(&run);
        assert!(grown < 64 << 20, "{name}: memory grew by {grown} bytes");
        let end = run.ending();
        let waiting = std::thread::spawn(move || {
            let began = Instant::now();
            let found = end();
            assert!(began.elapsed() < Duration::from_secs(40), "the end took {:?}", began.elapsed());
            found
        });
        (name, waiting)
    });
    let ending: Vec<_> = ending.collect();
    let ended = |(name, waiting): (&'a str, std::thread::JoinHandle<_>)| {
        (name, waiting.join().unwrap_or_else(|_| panic!("{name}: see above")))
    };
    ending.into_iter().map(ended).collect()
}

/// How many are said to be lost.
fn lost(lines: &[String]) -> u64 {
    let [line] = lines else { panic!("one line, not {lines:?}") };
    let words: Vec<&str> = line.split(' ').collect();
    assert_eq!(words[2], "lost", "{line}");
    words[3].parse().unwrap()
}

/// These tests look at the memory of the same process: one at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// An address where nobody listens.
fn nobody() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap()
}

#[test]
fn memory_is_bounded_and_what_is_lost_is_counted() {
    let _alone = ALONE.lock();
    let gone = nobody();
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
    let runs = receivers.into_iter().map(|(name, address)| {
        let run = Run::start(&format!("influxdb=http://{address}/db"), &[]);
        (name, run)
    });
    for (name, (lines, told)) in flooded(runs.collect()) {
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

/// What a collector does, and why its points are lost: the reason's end.
fn bad_collectors() -> Vec<(Option<Answer>, &'static str)> {
    vec![
        (None, "dial: connection refused"),
        (Some(Answer::IsMute), "no answer within 5 s after the test"),
        (Some(Answer::Hangs), "no answer within 5 s after the test"),
        (Some(Answer::Http(500)), "HTTP status 500"),
        (Some(Answer::Status("14", "out of order")), "gRPC status 14: out of order"),
        (Some(Answer::Resets), "the stream was reset (code 2)"),
        (Some(Answer::HangsUp), ""),
        (Some(Answer::Babbles), "no answer within 5 s after the test"),
    ]
}

#[test]
fn a_collector_that_is_gone_hangs_or_fails_over_grpc_costs_points_and_nothing_else() {
    let _alone = ALONE.lock();
    let run = |address: &str| {
        let env = [("K6_OTEL_GRPC_EXPORTER_INSECURE", "true"), ("K6_OTEL_GRPC_EXPORTER_ENDPOINT", address)];
        Run::start("opentelemetry", &[&env[..], &[("K6_OTEL_EXPORT_INTERVAL", "50ms")]].concat())
    };
    let runs = bad_collectors().into_iter().map(|(answer, why)| {
        let address = answer.map_or_else(|| nobody().to_string(), |answer| collector(answer).0);
        (why, run(&address))
    });
    for (why, (lines, told)) in flooded(runs.collect()) {
        // What the output itself has no time for is told apart.
        let points: Vec<String> = lines.iter().filter(|line| line.contains(" points: ")).cloned().collect();
        assert!(lost(&points) >= 9 && points[0].ends_with(why), "{why}: {lines:?}");
        assert!(told.iter().any(|line| line.starts_with("output opentelemetry: ")), "{told:?}");
        assert!(told.len() <= 6, "{told:?}");
    }
    let (address, calls) = collector(Answer::IsSlow(Duration::from_millis(300)));
    let run = run(&address);
    run.add_all_kinds();
    assert_eq!(run.finish().0, Vec::<String>::new(), "a slow one gets all in the end");
    assert_eq!(calls.iter().take(1).count(), 1);
}
