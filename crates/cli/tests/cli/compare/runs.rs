//! `onrush compare --run`: real runs by turns against a server whose paths differ in time, until it is known.
//!
//! The runs are short, and a busy machine may hold their generator up: `--accept-late`.

use std::time::Duration;

use serde_json::Value;

use crate::lab::{Lab, Run};
use crate::peer::{Peer, Then, say};

/// `/fast` takes 4 ms, `/slow` 80 ms: further apart than a busy machine moves them.
fn peer() -> Peer {
    Peer::on_tcp(|socket, request| {
        std::thread::sleep(Duration::from_millis(if request.path == "/slow" { 80 } else { 4 }));
        say(socket, "ok");
        Then::Next
    })
}

/// Compares two paths by the median, six requests a run.
fn compare(lab: &Lab, peer: &Peer, paths: [&str; 2], more: &[&str]) -> Run {
    let [a, b] = paths.map(|path| format!("{}{path}", peer.url));
    let own = ["compare", "--run", &a, &b, "--metric", "http_req_duration:med", "--accept-late"];
    lab.onrush(&[&own, more, &["--", "-i", "6"]].concat())
}

#[test]
fn a_clear_change_is_known_after_the_fewest_pairs() {
    let (lab, peer) = (Lab::new(), peer());
    let run = compare(&lab, &peer, ["/fast", "/slow"], &["--most-pairs", "20", "--save", "kept"]).code(1);
    let run = run.prints("worse: http_req_duration med +").prints("· decided after 7 of at most 20 pairs");
    run.says("pair 7: worse: http_req_duration med +");
    assert_eq!((peer.count("/fast"), peer.count("/slow")), (42, 42));
    // A B B A, and the results can be compared again.
    let result = |name: &str| -> Value {
        serde_json::from_str(&lab.read(&format!("kept/{name}/result.json"))).expect("a result")
    };
    let started = ["a-01", "b-01", "b-02", "a-02", "a-03"].map(|name| result(name)["started_at"].to_string());
    assert!(started.is_sorted(), "{started:?}");
    let again = ["compare", "kept:variant=a", "kept:variant=b", "--metric", "http_req_duration:med", "--accept-late"];
    lab.onrush(&again).code(1).prints("7 pairs compared");
    compare(&lab, &peer, ["/fast", "/slow"], &["--save", "kept"]).code(3).says("expected a new or empty folder");
}

#[test]
fn the_same_within_a_margin_is_known_too_and_programs_are_told() {
    let (lab, peer) = (Lab::new(), peer());
    let more = ["--most-pairs", "12", "--margin", "50%", "--json"];
    let run = compare(&lab, &peer, ["/slow", "/slow"], &more).code(0);
    let answer: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(answer["verdict"], "same");
    assert_eq!(answer["looks"]["decided"], true);
    assert_eq!(answer["looks"]["most_pairs"], 12);
    assert!(answer["pairs"].as_u64().is_some_and(|pairs| (6..12).contains(&pairs)), "{}", answer["pairs"]);
}

/// Conditions decide when it is known, too, and time that is over ends it without an answer.
#[test]
fn conditions_and_the_budget_end_it() {
    let (lab, peer) = (Lab::new(), peer());
    let condition = ["--fail-on", "med +50%", "--most-pairs", "20"];
    compare(&lab, &peer, ["/fast", "/slow"], &condition).code(1).prints("decided after 7 of at most 20 pairs");
    // Seven pairs take longer on any machine; on a busy one the first may.
    let run = compare(&lab, &peer, ["/fast", "/slow"], &["--budget", "1200ms"]);
    match run.code {
        3 => drop(run.says("before the first pair had ended")),
        _ => drop(run.code(2).prints("not decided after ").prints(" of at most 30 pairs: the time was over (")),
    }
    compare(&lab, &peer, ["/fast", "/slow"], &["--budget", "20ms"]).code(3).says("before the first pair had ended");
}

#[test]
fn what_cannot_be_run_is_refused_with_the_reason() {
    let lab = Lab::with("export default () => {}");
    let refused = |code: i32, arguments: &[&str]| lab.onrush(&[&["compare"], arguments].concat()).code(code);
    refused(255, &["a", "b", "--budget", "5m"]).says("--run");
    refused(255, &["a", "b", "--", "-i", "1"]).says("--run");
    refused(255, &["a", "b", "--run", "--budget", "5"]).says("--budget: found '5', expected a time with its unit");
    refused(255, &["a", "b", "--run", "--most-pairs", "5"]).says("--most-pairs: found '5', expected a number from 6");
    refused(255, &["a", "b", "--run", "--", "--save", "x"]).says("found --save behind --");
    refused(3, &["--run", "no-such.js", "no-such.js"]).says("A (no-such.js) ended with exit code");
    lab.file("broken.js", "export default () => { nonsense( }");
    refused(3, &["--run", "broken.js", "broken.js"]).says("A (broken.js) ended with exit code 107");
}
