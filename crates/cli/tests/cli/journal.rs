//! The journal of `--save`: a run that is killed has a report, up to its last whole second.

use std::path::Path;
use std::time::{Duration, Instant};

use report::document::{Document, Value, read};

use crate::lab::{Lab, Started};

const SCRIPT: &str = "import http from 'k6/http'; import { check, group, sleep } from 'k6';
    export const options = { vus: 2, duration: '60s', thresholds: { checks: ['rate>2'] } };
    export default function () {
      group('outer', () => check(http.get(__ENV.TARGET), { 'status is 200': (r) => r.status === 200 }));
      sleep(0.02);
    }";

const JOURNAL: &str = "r/journal.frames";

/// Where each whole frame of a journal ends: the head's, then one an interval.
fn ends(journal: &[u8]) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut at = 0;
    while let Some(length) = journal.get(at..at + 4) {
        at += 8 + u32::from_le_bytes(length.try_into().expect("four bytes")) as usize;
        if at > journal.len() {
            break;
        }
        ends.push(at);
    }
    ends
}

/// A run with so many whole frames in its journal.
fn running(lab: &Lab, frames: usize) -> Started {
    let run = lab.start(&["run", "-q", "--serve", "--save", "r", "--label", "which=killed", "script.js"]);
    let end = Instant::now() + Duration::from_secs(60);
    let written = || ends(&std::fs::read(lab.path().join(JOURNAL)).unwrap_or_default()).len();
    while written() < frames {
        assert!(Instant::now() < end, "the journal has {} frames, expected {frames}", written());
        std::thread::sleep(Duration::from_millis(20));
    }
    run
}

fn result(lab: &Lab) -> Document {
    read(lab.path().join("r")).unwrap_or_else(|error| panic!("{error}"))
}

fn count(document: &Document, metric: &str) -> f64 {
    let metric = document.metrics.iter().find(|found| found.name == metric).expect("recorded");
    let Value::Counter { count, .. } = &metric.value else { panic!("no counter") };
    *count
}

#[test]
fn a_killed_run_is_rebuilt_to_its_last_second() {
    let lab = Lab::with(SCRIPT);
    // Ends with SIGKILL.
    drop(running(&lab, 4));
    lab.onrush(&["report", "r"]).code(0).says("the run has not come to its end").prints("wrote ");
    let rebuilt = result(&lab);
    assert_eq!(rebuilt.labels.get("which").map(String::as_str), Some("killed"));
    assert!(rebuilt.duration_s >= 2.0 && rebuilt.seconds.starts_s.len() >= 3, "{:?}", rebuilt.seconds);
    // Each of the two users may have been between its request and the end of its iteration.
    let unfinished = count(&rebuilt, "http_reqs") - count(&rebuilt, "iterations");
    assert!((0.0..=2.0).contains(&unfinished), "{unfinished}");
    assert_eq!((rebuilt.exit.code, rebuilt.passed()), (99, false), "the threshold is judged");
    assert!(rebuilt.exit.reason.as_deref().is_some_and(|why| why.starts_with("the run did not come to its end")));
    assert_eq!(rebuilt.groups.groups[0].checks[0].path, "::outer::status is 200");
    assert!(
        std::fs::read_to_string(lab.path().join("r/report.html")).expect("written").contains("did not come to its end")
    );
}

#[test]
fn an_interval_that_was_cut_or_damaged_ends_the_journal() {
    let lab = Lab::with(SCRIPT);
    drop(running(&lab, 4));
    let path = lab.path().join(JOURNAL);
    let bytes = std::fs::read(&path).expect("written");
    let ends = ends(&bytes);
    let whole = count_after(&lab, &path, &bytes[..ends[3]]);
    assert_eq!(count_after(&lab, &path, &bytes[..ends[3] - 1]), count_after(&lab, &path, &bytes[..ends[2]]));
    assert!(count_after(&lab, &path, &bytes[..ends[2]]) < whole);
    let mut damaged = bytes[..ends[3]].to_vec();
    damaged[ends[3] - 1] ^= 1;
    count_after(&lab, &path, &damaged);
    let notes = result(&lab).generator.notes;
    let said = "interval 3 of the journal is damaged and ends it: found checksum ";
    assert!(notes.iter().any(|note| note.starts_with(said)), "{notes:?}");
    for (wrong, said) in [
        (&b""[..], "it is empty: the run ended before it had written anything"),
        (b"{\"kind\":\"x\"}", "it does not begin as the journal of a run with --save does: found a frame of "),
        (&bytes[..ends[0]], "it has no interval: the run was over before its first second was"),
    ] {
        std::fs::write(&path, wrong).expect("written");
        lab.onrush(&["report", "r"]).code(255).says(said);
    }
}

fn count_after(lab: &Lab, path: &Path, journal: &[u8]) -> f64 {
    std::fs::write(path, journal).expect("written");
    lab.onrush(&["report", "r"]).code(0);
    count(&result(lab), "iterations")
}

#[test]
fn a_disk_that_is_full_loses_the_journal_and_not_the_run() {
    let lab = Lab::with(&SCRIPT.replace("60s", "1500ms").replace("rate>2", "rate>0.5"));
    std::fs::create_dir_all(lab.path().join("r")).expect("made");
    std::os::unix::fs::symlink("/dev/full", lab.path().join(JOURNAL)).expect("made");
    let run = lab.run(&["--serve", "--save", "r"]).code(0).says("journal.frames: No space left on device");
    assert_eq!(run.stderr.matches("cannot write ").count(), 1, "{}", run.stderr);
    assert!(count(&result(&lab), "iterations") > 0.0);
    assert!(std::fs::symlink_metadata(lab.path().join(JOURNAL)).is_err(), "it goes when the result is there");
}
