//! A second of an agent on its two ways to a result: by frames to a coordinator, and by journals that are read when
//! nobody coordinated. Both come to the same; a disk that is full changes nothing of what is sent.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::RunState;
use metrics::{Aggregate, Registry, Thresholds};
use onrush_journal::{AgentFrame, FILE_NAME, Members, MessagePiece, all, join};

use crate::agent::Agent;
use crate::support::{SECOND, folder};

/// Two agents; the second one stands still for its second second.
fn run(dir: &Path) -> [Agent; 2] {
    let begin = |index: u32| {
        let own = dir.join(index.to_string());
        std::fs::create_dir_all(&own).expect("made");
        Agent::begin(&own, index, 2)
    };
    let mut agents = [begin(0), begin(1)];
    (1..=3).for_each(|second| agents[0].tick(second * SECOND, u64::from(second)));
    agents[1].tick(SECOND, 10);
    agents[1].tick(3 * SECOND, 20);
    agents
}

fn dirs(dir: &Path) -> [PathBuf; 2] {
    ["0", "1"].map(|index| dir.join(index))
}

#[test]
fn a_coordinator_and_the_journals_alone_come_to_the_same() {
    let dir = folder("same");
    let mut agents = run(&dir);
    let registry = Registry::new();
    let mut members = Members::new(2, &registry);
    let mut totals = Aggregate::new(Arc::clone(&registry), Thresholds::default());
    let mut seconds = Vec::new();
    for number in 1..=3 {
        for (index, agent) in agents.iter().enumerate() {
            let frame = agent.frames.frame(number).expect("it is kept");
            members.take(index as u32, number, &frame, &RunState::default()).expect("it can be read");
        }
        let (reached, samples) = members.pass_on(number);
        samples.into_iter().for_each(|samples| totals.merge(samples));
        seconds.push((reached, totals.results(reached, false).count("iterations")));
    }
    assert_eq!(seconds, [(SECOND, 11), (2 * SECOND, 13), (3 * SECOND, 36)]);
    agents.iter_mut().for_each(|agent| agent.end(3 * SECOND));
    let parts = join(all(&dirs(&dir)).expect("they can be read")).expect("parts of one test");
    assert_eq!((parts.test.results.count("iterations"), parts.test.duration), (36, 3 * SECOND));
    assert!(parts.test.is_crossed && !parts.agents.has_lost());
    assert_eq!(parts.agents.start_bound_ms, 2.0);
    assert!(parts.test.head.options.get("executionSegment").is_none(), "the test is whole again");
}

#[test]
fn a_part_without_an_end_is_lost_and_counts() {
    let dir = folder("lost");
    let mut agents = run(&dir);
    agents[0].end(3 * SECOND);
    let parts = join(all(&dirs(&dir)).expect("they can be read")).expect("parts of one test");
    assert_eq!(parts.test.results.count("iterations"), 36);
    let lost: Vec<_> = parts.agents.figures.iter().map(|agent| agent.lost.as_deref()).collect();
    assert_eq!(lost, [None, Some("its journal ends early, after second 3")]);
}

#[test]
fn what_is_sent_does_not_depend_on_the_disk() {
    let (whole, full) = (folder("whole"), folder("full"));
    for index in ["0", "1"] {
        std::fs::create_dir_all(full.join(index)).expect("made");
        std::os::unix::fs::symlink("/dev/full", full.join(index).join(FILE_NAME)).expect("made");
    }
    let [sent, from_memory] = [&whole, &full].map(|dir| run(dir).map(|agent| agent.sent()));
    assert_eq!(sent, from_memory);
    // A frame: which kind, users, scenarios, the length of the interval. Nothing was measured in it.
    assert_eq!(sent[1][1], [0, 3, 0, 0]);
    // An interval: which kind, its number, its start and end, those of the scenarios, and the samples.
    let (one, three) = ([0x80, 0x94, 0xeb, 0xdc, 3], [0x80, 0xbc, 0xc1, 0x96, 0x0b]);
    let began = [&[0, 1, 3][..], &one, &three, &[0], &three].concat();
    assert!(sent[1][2].windows(began.len()).any(|bytes| bytes == began), "{:?}", sent[1][2]);
}

#[test]
fn messages_follow_the_last_second() {
    let dir = folder("messages");
    let [agent, _] = run(&dir);
    let file = dir.join("messages");
    std::fs::write(&file, [5; 100_000]).expect("written");
    assert_eq!(agent.frames.add_messages(file), 2);
    let pieces = [4, 5].map(|number| MessagePiece::of(&agent.frames.frame(number).expect("it is kept")));
    let piece = |length| Some(MessagePiece { file: 0, bytes: vec![5; length] });
    assert_eq!(pieces, [piece(65_536), piece(34_464)]);
    assert_eq!(MessagePiece::of(&agent.frames.frame(3).expect("it is kept")), None);
    assert_eq!(AgentFrame::Messages(MessagePiece { file: 1, bytes: vec![9] }).to_bytes(), [1, 1, 1, 9]);
}
