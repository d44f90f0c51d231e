//! `onrush report` of agents' journals: without their coordinator, what it came to.

use std::path::Path;
use std::time::{Duration, Instant};

use report::document::{Document, Trust, Value, read};

use crate::lab::{Lab, Started, begin};

const SCRIPT: &str = "import { check, group, sleep } from 'k6'; import { Counter, Gauge, Trend } from 'k6/metrics';
    const [trend, fractions, gauge] = [new Trend('waiting', true), new Counter('fractions'), new Gauge('depth')];
    export const options = {
      scenarios: { main: { executor: 'constant-vus', vus: 4, duration: '2s' } },
      thresholds: { waiting: ['avg<60', 'p(95)<1'], fractions: ['count>1'] },
    };
    export default function () {
      group('zeta', () => check(__VU, { 'has a number': (n) => n > 0, 'seldom': () => Math.random() < 0.5 }));
      trend.add(Math.random() * 100); fractions.add(0.1); gauge.add(Math.random());
      if (Math.random() < 0.2) { throw new Error('now and then'); }
      sleep(0.02);
    }";

/// A test that so many agents have run, each with its journal in `0`, `1`, …; the coordinator's result is in `fleet`.
fn run(lab: &Lab, agents: usize) {
    let count = agents.to_string();
    // The invitation of a run before.
    let _ = std::fs::remove_file(lab.path().join("log"));
    let coordinator = lab.start(&[
        "run",
        "-q",
        "--agents",
        &count,
        "--fleet-listen",
        "127.0.0.1:0",
        "--log-output",
        "file=log",
        "--save",
        "fleet",
        "script.js",
    ]);
    let end = Instant::now() + Duration::from_secs(60);
    let invitation = loop {
        let log = std::fs::read_to_string(lab.path().join("log")).unwrap_or_default();
        if let Some((_, rest)) = log.split_once("ONRUSH_JOIN=") {
            break rest.split(' ').next().unwrap_or_default().to_owned();
        }
        assert!(Instant::now() < end, "no invitation in {log}");
        std::thread::sleep(Duration::from_millis(20));
    };
    let started: Vec<_> = (0..agents)
        .map(|index| {
            let index = index.to_string();
            let mut agent = lab.command(&["agent", "--index", &index, "--keep", &index]);
            agent.env("ONRUSH_JOIN", &invitation);
            begin(agent)
        })
        .collect();
    for agent in started {
        agent.wait().code(0);
    }
    coordinator.wait().code(99);
}

fn result(lab: &Lab, name: &str) -> Document {
    read(lab.path().join(name)).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn journals_of_agents_come_to_what_their_coordinator_came_to() {
    let lab = Lab::with(SCRIPT);
    run(&lab, 3);
    lab.onrush(&["report", "2", "0", "1", "--save", "made"])
        .code(0)
        .says("made of the whole journals of 3 of 3 agents: 0 (");
    let (fleet, made) = (result(&lab, "fleet"), result(&lab, "made"));
    assert_eq!(made.metrics, fleet.metrics);
    assert_eq!((&made.checks, &made.groups, &made.errors), (&fleet.checks, &fleet.groups, &fleet.errors));
    assert_eq!((made.load_s, &made.options), (fleet.load_s, &fleet.options));
    assert_eq!((made.exit.code, made.passed()), (99, false), "the threshold is judged");
    let loads =
        |document: &Document| document.generator.agents.iter().map(|agent| agent.load.clone()).collect::<Vec<_>>();
    assert!(loads(&made) == loads(&fleet) && loads(&made).iter().all(Option::is_some), "{:?}", loads(&made));
    let verdict = |document: &Document| document.generator.judgement.as_ref().map(|judged| judged.verdict);
    assert_eq!(verdict(&made), verdict(&fleet));
    let most = made.metrics.iter().find(|metric| metric.name == "vus_max").expect("recorded");
    assert!(format!("{:?}", most.value).contains("max: 4.0"), "users of all agents add up: {:?}", most.value);
    assert!(lab.path().join("made/report.html").exists());

    // A second life in the same folder leaves what the first one measured.
    let first = std::fs::read(lab.path().join("0/journal.frames")).expect("kept");
    run(&lab, 3);
    assert!(std::fs::read(lab.path().join("0/journal.before.frames")).expect("kept") == first, "the first life");

    // One is missing, and one has lost its end.
    let journal = lab.path().join("1/journal.frames");
    let whole = std::fs::read(&journal).expect("kept");
    std::fs::write(&journal, &whole[..whole.len() - 1]).expect("written");
    let said = lab.onrush(&["report", "0", "1", "--save", "less"]).code(0).stderr;
    assert!(said.contains("agent 2 is lost, and the result INVALID: its journal is missing"), "{said}");
    assert!(said.contains("agent 1 is lost, and the result INVALID: interval "), "{said}");
    let less = result(&lab, "less");
    assert_eq!((verdict(&less), less.exit.code), (Some(Trust::Invalid), 99));
    assert_eq!(less.generator.agents.iter().filter(|agent| agent.lost.is_some()).count(), 2);
    cut(&journal, &whole);
    lab.onrush(&["report", "0", "1", "2", "-o", "-"]).code(0).says("its journal ends early, after second ");
}

/// Without the last frame, which tells how the part ended.
fn cut(journal: &Path, whole: &[u8]) {
    let (mut at, mut last) = (0, 0);
    while let Some(length) = whole.get(at..at + 4) {
        last = at;
        at += 8 + u32::from_le_bytes(length.try_into().expect("four bytes")) as usize;
    }
    std::fs::write(journal, &whole[..last]).expect("written");
}

#[test]
fn what_makes_no_test_together_is_refused() {
    let (lab, other) = (Lab::with(SCRIPT), Lab::with(SCRIPT));
    run(&lab, 1);
    run(&other, 1);
    let other = other.path().join("0");
    let other = other.to_str().expect("plain");
    let refused = |arguments: &[&str], said: &str| {
        let all: Vec<&str> = ["report"].into_iter().chain(arguments.iter().copied()).collect();
        lab.onrush(&all).code(255).says(said);
    };
    refused(&["0", "0", "-o", "-"], "0 and 0 are both of agent 0: give one of them");
    refused(&["0", other, "-o", "-"], "are of different tests: run ");
    refused(&["0", "fleet", "-o", "-"], "fleet: there is no journal of an agent; a result is given alone");
    refused(&["0"], "say where the report of many agents belongs: --save DIR, or -o FILE");
    refused(&["nowhere", "0"], "nowhere: there is no journal of an agent");
}

/// A run of one part of three, which nobody coordinates.
fn part(lab: &Lab, index: usize, store: &str) -> Started {
    let segment = format!("{index}/3:{}/3", index + 1);
    let own = index.to_string();
    lab.start(&[
        "run",
        "-q",
        "--execution-segment",
        &segment,
        "--execution-segment-sequence",
        "0,1/3,2/3,1",
        "--shards",
        store,
        "--save",
        &own,
        "script.js",
    ])
}

#[test]
fn runs_that_divide_a_test_make_one_result_in_a_store() {
    let script =
        SCRIPT.replace("vus: 4", "vus: 3").replace("sleep(0.02)", "record('x', stamp(), stamp()); sleep(0.02)");
    let lab = Lab::with(&format!("import {{ record, stamp }} from 'onrush/delay'; {script}"));
    std::fs::create_dir(lab.path().join("store")).expect("made");
    let store = format!("file://{}", lab.path().join("store").display());
    let runs: Vec<_> = (0..3).map(|index| part(&lab, index, &store)).collect();
    for run in runs {
        run.wait().code(99);
    }
    lab.onrush(&["report", &store, "--save", "made"]).code(0).says("made of the whole journals of 3 of 3 agents: 0 (");
    let (parts, made) = ([0, 1, 2].map(|index| result(&lab, &index.to_string())), result(&lab, "made"));
    for name in ["iterations", "waiting"] {
        let count = |document: &Document| {
            let metric = document.metrics.iter().find(|metric| metric.name == name && metric.filter.is_none());
            match &metric.expect("recorded").value {
                Value::Counter { count, .. } => *count,
                Value::Trend(values) => values.count as f64,
                other => panic!("found {other:?}"),
            }
        };
        assert_eq!(count(&made), parts.iter().map(count).sum::<f64>(), "{name}");
    }
    assert_eq!((made.exit.code, made.passed()), (99, false), "the threshold is judged");
    let notes = made.generator.notes.join("\n");
    assert!(notes.contains("3 parts began within ") && notes.contains(" by the clocks of their machines"), "{notes}");
    assert!(
        notes.contains("message delays between machines are the difference of clocks that nothing compared"),
        "{notes}"
    );
    assert!(made.generator.agents.iter().all(|agent| agent.load.is_some() && agent.clock_bound_ms.is_none()));

    // A run that was started again, a part that two have sent at once, and one that nobody has sent.
    let again = part(&lab, 1, &store).wait().code(255).stderr;
    assert!(again.contains("part 1 of 3 is there already") && again.contains("a prefix of its own"), "{again}");
    let own = lab.path().join("store/00001-of-00003");
    let life = std::fs::read_dir(&own).expect("listed").flatten().next().expect("one life").path();
    std::fs::create_dir(own.join("0123456789abcdef")).expect("made");
    std::fs::copy(life.join("0000000001"), own.join("0123456789abcdef/0000000001")).expect("copied");
    let twice = lab.onrush(&["report", &store, "--save", "twice"]).code(255).stderr;
    assert!(twice.contains("part 1 of 3 was written twice") && twice.contains("a prefix of its own"), "{twice}");
    std::fs::remove_dir_all(own).expect("was there");
    let less = lab.onrush(&["report", &store, "--save", "less"]).code(0).stderr;
    assert!(less.contains("agent 1 is lost, and the result INVALID: its journal is missing"), "{less}");
}

#[test]
fn a_place_for_shards_that_cannot_be_is_named() {
    let lab = Lab::with(SCRIPT);
    for (flags, code, said) in [
        (&["--shards", "ftp://x/y"][..], 255, "--shards: ftp://x/y: found 'ftp://', expected s3://BUCKET/PREFIX"),
        (&["--shards", "file:///no/such/place"], 255, "there is no folder /no/such/place: make it, or mount it"),
        (&["--shards", "file:///", "--execution-segment", "0:1/2"], 104, "give --execution-segment-sequence beside"),
        (&["--shards", "file:///", "--agents", "2"], 255, "--shards does not go with --agents: the coordinator merges"),
    ] {
        let run = lab.onrush(&[&["run", "-q"], flags, &["script.js"]].concat()).code(code);
        assert!(run.stderr.contains(said), "{}", run.stderr);
    }
    let empty = format!("file://{}", lab.path().display());
    lab.onrush(&["report", &empty, "-o", "-"])
        .code(255)
        .says("nothing is there that `onrush run --shards` has written");
}
