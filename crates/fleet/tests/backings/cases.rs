//! What a backing has to carry, from the welcome to the dismissal, a case a function. None knows which backing it is
//! run over; what one cannot do (cut a connection, turn away a stranger) it says by the trait in `fixture.rs`.

use std::time::Duration;

use onrush_fleet::drive::{Command, Local};
use onrush_fleet::{AgentEvent, Event, Token};

use crate::fixture::{Backing, DATA, EPOCH, Fleet, Joined, Seen, agents, content};

const FAST: Duration = Duration::from_millis(20);

fn is_over(event: &Event) -> bool {
    *event == Event::Over
}

/// Every frame of everybody, in order, once; and the last words.
fn all_is_here(fleet: &Fleet, count: u32, frames: u64) {
    for index in 0..count {
        let expected: Vec<_> = (1..=frames).map(|number| (number, content(index, number))).collect();
        assert!(fleet.frames(index) == expected, "agent {index}: {} frames", fleet.frames(index).len());
        let ends = |event: &&Event| matches!(event, Event::Ended { index: of, .. } if *of == index);
        let ends: Vec<_> = fleet.seen.iter().filter(ends).collect();
        let outcome = format!("end of {index}").into_bytes();
        assert_eq!(ends, [&Event::Ended { index, outcome }]);
    }
    let closed = |event: &Event| if let Event::Closed { number } = event { Some(*number) } else { None };
    assert!(fleet.seen.iter().filter_map(closed).eq(1..=frames));
}

fn end(fleet: Fleet, threads: Vec<std::thread::JoinHandle<Seen>>) -> Vec<Seen> {
    let archive = fleet.archive.clone();
    fleet.thread.finish();
    let seen: Vec<Seen> = threads.into_iter().map(|thread| thread.join().expect("the agent's part")).collect();
    assert!(seen.iter().all(|seen| seen.archive == archive), "an archive is not whole");
    assert!(seen.iter().all(|seen| seen.setup == Some(Some(DATA.to_owned()))));
    seen
}

/// Join, archive, data of `setup()`, start, frames, end, dismissal.
pub fn whole_test<B: Backing>(backing: &B) {
    let mut fleet = Fleet::start(backing, 2);
    let threads = agents(backing, &fleet, 2, (30, FAST));
    fleet.until(is_over);
    all_is_here(&fleet, 2, 30);
    let prepared = Event::Prepared { users: 6, agents: 2 };
    assert!(fleet.seen.contains(&prepared));
    let seen = end(fleet, threads);
    assert!(seen.iter().map(|seen| seen.index).eq(0..2));
}

/// Threads of one machine read one clock: what an agent was told is the coordinator's instant, give or take its bound.
pub fn one_instant<B: Backing>(backing: &B) {
    let mut fleet = Fleet::start(backing, 3);
    let threads = agents(backing, &fleet, 3, (1, FAST));
    let started = fleet.until(|event| matches!(event, Event::Starting { .. }));
    let Event::Starting { at, bound, .. } = started else { unreachable!() };
    fleet.until(is_over);
    let late = |event: &Event| if let Event::Started { late, .. } = event { Some(*late) } else { None };
    let lates: Vec<u64> = fleet.seen.iter().filter_map(late).collect();
    assert_eq!(lates.len(), 3);
    for seen in end(fleet, threads) {
        let (own, own_bound) = seen.start.expect("a start");
        assert!(own.abs_diff(at) <= own_bound && own_bound <= bound, "{own} for {at}, {own_bound} of {bound}");
        assert!(!seen.clocks.is_empty());
        let wrong = |(at, wall): &(u64, u64)| wall.abs_diff(at + EPOCH) > own_bound;
        assert_eq!(seen.clocks.iter().find(|clock| wrong(clock)), None, "the time of the test");
    }
    println!("the start's bound: {:.3} ms, told late by at most {:.3} ms", ms(bound), ms(*lates.iter().max().unwrap()));
}

fn ms(ns: u64) -> f64 {
    ns as f64 / 1e6
}

/// Connections break twice while frames are under way.
pub fn cut<B: Backing>(backing: &B) {
    let mut fleet = Fleet::start(backing, 3);
    // The test is not over when the second outage is.
    let threads = agents(backing, &fleet, 3, (100, FAST + B::OUTAGE / 20));
    for number in [20, 60] {
        fleet.until(|event| *event == Event::Closed { number });
        backing.cut();
    }
    fleet.until(is_over);
    all_is_here(&fleet, 3, 100);
    let is_gone = |event: &Event| matches!(event, Event::Missed { .. } | Event::Back { .. });
    assert!(B::RETRIES || fleet.seen.iter().any(is_gone), "nothing was cut");
    end(fleet, threads);
}

/// What carries the messages is gone for longer than it takes to lose an agent: nobody is lost, and nothing is missing.
pub fn outage<B: Backing>(backing: &B, lasts: Duration) {
    let mut fleet = Fleet::start(backing, 2);
    // A client of NATS looks again after four seconds at the latest.
    let seconds = lasts.as_secs() + 6;
    let threads = agents(backing, &fleet, 2, (seconds, Duration::from_secs(1)));
    fleet.until(|event| *event == Event::Closed { number: 1 });
    backing.cut_for(lasts);
    fleet.until(is_over);
    all_is_here(&fleet, 2, seconds);
    let told = |event: &&Event| matches!(event, Event::Unreachable { .. } | Event::Reachable { .. });
    assert_eq!(fleet.seen.iter().filter(told).count(), 2, "an outage and its end");
    // A connection that is made anew is told, and is nobody's silence.
    let is_blamed = |event: &&Event| match event {
        Event::Missed { what, .. } => what != "its connection is gone",
        other => matches!(other, Event::Lost { .. }),
    };
    assert_eq!(fleet.seen.iter().find(is_blamed), None);
    end(fleet, threads);
}

/// A token of another run, and one with this run's fingerprint and another secret.
pub fn another_token<B: Backing>(backing: &B) {
    let mut fleet = Fleet::start(backing, 1);
    let own = fleet.credentials.token();
    let other = onrush_fleet::Credentials::make().expect("credentials").token();
    let forged = Token { secret: other.secret, fingerprint: own.fingerprint };
    let refused = Joined::start(backing.line(&forged), &forged, None);
    match refused.next() {
        AgentEvent::Refused(why) => assert!(why.contains("token"), "{why}"),
        other => panic!("found {other:?}, expected a refusal"),
    }
    refused.thread.finish();
    let threads = agents(backing, &fleet, 1, (2, FAST));
    fleet.until(is_over);
    all_is_here(&fleet, 1, 2);
    end(fleet, threads);
}

/// Two agents want one index.
pub fn doubled_index<B: Backing>(backing: &B) {
    let mut fleet = Fleet::start(backing, 2);
    let token = fleet.credentials.token();
    let mut threads = agents(backing, &fleet, 1, (2, FAST));
    fleet.until(|event| matches!(event, Event::Joined { index: 0, .. }));
    let second = Joined::start(backing.line(&token), &token, Some(0));
    match second.next() {
        AgentEvent::Refused(why) => assert!(why.contains("give each agent an index of its own"), "{why}"),
        other => panic!("found {other:?}, expected a refusal"),
    }
    second.thread.finish();
    let any = Joined::start(backing.line(&token), &token, None);
    threads.push(std::thread::spawn(move || any.play(2, FAST)));
    fleet.until(is_over);
    all_is_here(&fleet, 2, 2);
    end(fleet, threads);
}

/// The coordinator ends the test early.
pub fn stop<B: Backing>(backing: &B) {
    let mut fleet = Fleet::start(backing, 2);
    let token = fleet.credentials.token();
    let play = |index| {
        let joined = Joined::start(backing.line(&token), &token, Some(index));
        std::thread::spawn(move || {
            let mut seen = Seen::default();
            loop {
                match joined.next() {
                    AgentEvent::Piece(content) => seen.archive.extend(content),
                    AgentEvent::ArchiveEnds => joined.thread.tell(Local::Prepared(1)),
                    AgentEvent::Setup(data) => seen.setup = Some(data),
                    AgentEvent::Stop(cause) => {
                        seen.stop = Some(cause);
                        joined.thread.tell(Local::Ended(format!("end of {index}").into_bytes()));
                    }
                    AgentEvent::Dismissed => return seen,
                    _ => {}
                }
            }
        })
    };
    let threads = (0..2).map(play).collect();
    fleet.until(|event| matches!(event, Event::Starting { .. }));
    fleet.thread.tell(Command::Stop(b"enough".to_vec()));
    fleet.until(is_over);
    all_is_here(&fleet, 2, 0);
    let seen = end(fleet, threads);
    assert!(seen.iter().all(|seen| seen.stop.as_deref() == Some(b"enough")));
}

/// Many agents.
pub fn crowd<B: Backing>(backing: &B) {
    let mut fleet = Fleet::start(backing, B::CROWD);
    let threads = agents(backing, &fleet, B::CROWD, (5, Duration::from_millis(200)));
    fleet.until(is_over);
    all_is_here(&fleet, B::CROWD, 5);
    end(fleet, threads);
}
