//! What a coordinator knows of its agents and tells of them: verdict, findings, notes, figures, and what another
//! coordinator goes on with.

use std::sync::Arc;
use std::time::Duration;

use engine::health::{ArrivalCounts, WorkerHealth};
use engine::scenario::Scenarios;
use engine::segment::Stripes;
use engine::state::Counts;
use engine::{Cause as Doubt, Finding, Health, Outcome, Plan, RunState, Severity, StopCause, Stopper, Verdict};
use metrics::metric::{Contains, Kind};
use metrics::{Aggregate, Recorder, Registry, TagSet, Thresholds, builtin};
use onrush_journal::{
    AgentFrame, AgentSecond, Cause, EndedBy, EndedLoad, IntervalTimes, Journal, Members, MessagePiece, NoSecrets,
    PartCounts, PartEnd, Record,
};
use report::document::{AgentFigures, AgentLoad, MessageLogs};

use crate::support::{SECOND, folder, head};

const MS: Duration = Duration::from_millis(1);

fn counts(n: u64) -> Counts {
    Counts { started: n + 3, completed: n, interrupted: 1, dropped: 2, active: 4 }
}

fn live(n: u64) -> PartCounts {
    PartCounts { initialised: n, scenarios: vec![(counts(n), 5 * MS)] }
}

/// A part that ended with this verdict.
fn end(verdict: Verdict) -> PartEnd {
    let outcome = Outcome {
        stopped: None,
        started: Some(7 * SECOND),
        ended: 17 * SECOND,
        loaded_until: 16 * SECOND,
        health: Health::default(),
        lost_users: 1,
        stuck_workers: vec![0, 2],
    };
    PartEnd { verdict, ..PartEnd::of(&outcome, &RunState::default(), 2) }
}

fn finding(cause: Doubt, severity: Severity, what: &str) -> Finding {
    let [figure, text, advice] = ["figure", "text", "advice"].map(|field| format!("{what} {field}"));
    Finding { cause, severity, figure, text, advice }
}

/// A state of one scenario, for so many agents.
fn state(agents: usize) -> Arc<RunState> {
    let scenarios = serde_json::json!({ "a": { "executor": "constant-vus", "vus": 4, "duration": "10s" } });
    let scenarios = Scenarios::from_json(&scenarios).expect("a plan");
    Plan::new(&scenarios, &Stripes::whole(), agents).expect("a plan").state()
}

/// An agent that sends seconds.
struct Sender {
    recorder: Recorder,
    journal: Journal,
}

impl Sender {
    fn new(name: &str) -> Sender {
        let registry = Registry::new();
        let journal = Journal::begin(&folder(name), &head(), registry.clone(), Box::new(NoSecrets));
        Sender { recorder: Recorder::new(registry), journal }
    }

    fn second(&mut self, number: u64, iterations: u64, users: u64) -> Vec<u8> {
        let series = self.recorder.series(builtin::ITERATIONS, &TagSet::new([("scenario", "a")]));
        self.recorder.add(series, iterations as f64, 0);
        self.recorder.add(self.recorder.series(builtin::VUS_MAX, &TagSet::empty()), users as f64, 0);
        let to = SECOND * number as u32;
        let times = IntervalTimes::new((to - SECOND, to), (Duration::ZERO, to));
        let interval = self.journal.add(Some(number), times, &[self.recorder.take()]);
        AgentFrame::Second(AgentSecond { live: live(users), interval }).to_bytes()
    }
}

#[test]
fn the_worst_verdict_is_that_of_all_and_a_lost_agent_makes_it_invalid() {
    let mut members = Members::new(3, &Registry::new());
    assert_eq!(members.report().verdict, Verdict::NotJudged);
    members.ended(0, end(Verdict::Trusted), &RunState::default());
    assert_eq!(members.report().verdict, Verdict::Trusted);
    members.ended(1, end(Verdict::Suspect), &RunState::default());
    members.ended(2, end(Verdict::Trusted), &RunState::default());
    let report = members.report();
    assert_eq!((report.verdict, report.has_lost(), report.is_marked_failed), (Verdict::Suspect, false, false));
    members.lose(2, String::from("it is silent"), &RunState::default());
    let report = members.report();
    assert_eq!((report.verdict, report.has_lost()), (Verdict::Invalid, true));
    members.of(1).end = Some(PartEnd { is_marked_failed: true, ..end(Verdict::Trusted) });
    assert!(members.report().is_marked_failed);
}

#[test]
fn findings_of_one_cause_are_one_and_who_is_lost_comes_first() {
    let mut members = Members::new(3, &Registry::new());
    let cpu = |what: &str| finding(Doubt::Cpu, Severity::Suspect, what);
    let with = |findings| PartEnd { findings, ..end(Verdict::Suspect) };
    members.ended(0, with(vec![finding(Doubt::Steal, Severity::Note, "stolen")]), &RunState::default());
    members.ended(1, with(vec![cpu("first"), finding(Doubt::Cpu, Severity::Note, "noted")]), &RunState::default());
    members.ended(2, with(vec![cpu("second")]), &RunState::default());
    let of_agent = |agent: u32, rest: &str, own: Finding| Finding {
        figure: format!("agent {agent}: {}", own.figure),
        text: format!("agent {agent}: {}{rest}", own.text),
        ..own
    };
    let found = [
        of_agent(0, "", finding(Doubt::Steal, Severity::Note, "stolen")),
        of_agent(1, "", finding(Doubt::Cpu, Severity::Note, "noted")),
        of_agent(1, " (so it was at 2 of 3 agents)", cpu("first")),
    ];
    assert_eq!(members.report().findings, found);
    members.of(2).name = String::from("host-7");
    members.lose(1, String::from("its power went"), &RunState::default());
    members.lose(2, String::from("it is silent"), &RunState::default());
    let lost = Finding {
        cause: Doubt::AgentsLost,
        severity: Severity::Invalid,
        figure: String::from("2 of 3 agents"),
        text: String::from(
            "2 of 3 agents were lost, and with them a part of the load: agent 1 (agent 1): its power went; agent 2 \
             (host-7): it is silent",
        ),
        advice: String::from("look into the log of that agent's machine, and run the test again"),
    };
    assert_eq!(members.report().findings, [&[lost][..], &found].concat());
}

#[test]
fn the_basis_names_the_worst_worker_of_any_agent() {
    let mut members = Members::new(2, &Registry::new());
    let basis = |members: &Members| members.report().basis;
    assert_eq!(basis(&members), "2 agents, the busiest worker of any 0 % of a core, event loop 0s late (p99)");
    let worker = |cpu_share, lag_p99_ms| WorkerHealth { cpu_share, lag_p99_ms, ..WorkerHealth::default() };
    let workers = [vec![worker(0.25, 7.5)], vec![worker(0.5, 2.0), worker(0.125, 3.0)]];
    for (index, workers) in workers.into_iter().enumerate() {
        let mut end = end(Verdict::Trusted);
        end.outcome.health = Health { workers, process_cores: 0.75, ..Health::default() };
        members.ended(index as u32, end, &RunState::default());
    }
    assert_eq!(basis(&members), "2 agents, the busiest worker of any 50 % of a core, event loop 7.5ms late (p99)");
    let arrivals = ArrivalCounts { started: 9, dropped: 2, behind: MS, lasts: SECOND };
    let health = members.health(counts(6), arrivals, 4 * SECOND);
    let shares: Vec<f64> = health.workers.iter().map(|worker| worker.cpu_share).collect();
    assert_eq!((shares, health.process_cores), (vec![0.25, 0.5, 0.125], 1.5));
    assert_eq!((health.counts, health.arrivals, health.wall), (counts(6), arrivals, 4 * SECOND));
}

#[test]
fn notes_tell_of_the_start_of_clocks_and_of_silences() {
    let registry = Registry::new();
    let mut members = Members::new(2, &registry);
    members.bound = 2 * MS;
    members.started(1, 30 * MS);
    let start =
        |late: &str| format!("2 agents began within {late} of the agreed instant, their clocks known within 2ms");
    assert_eq!(members.report().notes, [start("30ms")]);
    let mut late = end(Verdict::Trusted);
    late.outcome.awake_late = 40 * MS;
    members.ended(0, late, &RunState::default());
    members.apart = 5 * MS;
    assert_eq!(members.report().notes, [start("40ms")], "no delay was measured");
    registry.define("message_delay", Kind::Trend, Contains::Time).expect("a new name");
    members.lose(1, String::from("it is silent"), &RunState::default());
    members.silent(1, String::from("it was silent for 9 s"));
    let report = members.report();
    let stamps = "message delays between agents are exact to 5ms: so well their clocks are known";
    assert_eq!(report.notes, [&start("40ms"), stamps, "agent 1 (agent 1): it was silent for 9 s"]);
    assert_eq!((report.start_bound_ms, report.stamps_apart_ms, report.has_lost()), (2.0, Some(5.0), false));
}

#[test]
fn notes_of_parts_without_a_coordinator_say_that_nothing_compared_their_clocks() {
    let registry = Registry::new();
    let alone = |registry: &Arc<Registry>, agents| {
        let mut members = Members::new(agents, registry);
        members.began_apart = Some(250 * MS);
        let report = members.report();
        assert_eq!(report.stamps_apart_ms, None);
        report.notes
    };
    let apart = |parts| format!("{parts} parts began within 250ms of each other, by the clocks of their machines");
    assert_eq!(alone(&registry, 2), [apart(2)]);
    registry.define("message_delay", Kind::Trend, Contains::Time).expect("a new name");
    let unknown = "message delays between machines are the difference of clocks that nothing compared here: those of \
                   one machine are exact, and agents of a fleet know their clocks";
    assert_eq!(alone(&registry, 2), [&apart(2), unknown]);
    assert_eq!(alone(&registry, 1), [apart(1)], "one machine has one clock");
}

#[test]
fn figures_are_those_of_each_agent() {
    let mut members = Members::new(2, &Registry::new());
    let load = AgentLoad { requests: 9, ..AgentLoad::default() };
    let mut ended = PartEnd { clock_bound: Some(3 * MS), load: Some(load.clone()), ..end(Verdict::Trusted) };
    (ended.outcome.awake_late, ended.outcome.health.process_cores) = (20 * MS, 1.25);
    members.ended(1, ended, &RunState::default());
    members.started(1, 10 * MS);
    members.started(0, 10 * MS);
    members.lose(0, String::from("it is silent"), &RunState::default());
    let first = AgentFigures {
        index: 0,
        name: String::from("agent 0"),
        lost: Some(String::from("it is silent")),
        ..AgentFigures::default()
    };
    let second = AgentFigures {
        index: 1,
        name: String::from("agent 1"),
        start_late_ms: Some(30.0),
        process_cores: 1.25,
        allowed_cores: Some(2),
        clock_bound_ms: Some(3.0),
        lost: None,
        load: Some(load),
    };
    assert_eq!(members.report().figures, [first, second]);
    assert_eq!(members.title(1), "agent 1 (agent 1)");
}

#[test]
fn a_part_counts_from_the_start_of_the_scenarios() {
    let state = state(2);
    state.set_counts(0, 3, &[(counts(7), 2 * MS)]);
    state.set_counts(1, 4, &[(counts(1), 9 * MS)]);
    let outcome = Outcome {
        stopped: None,
        started: None,
        ended: 17 * SECOND,
        loaded_until: 16 * SECOND,
        health: Health { process_cores: 0.5, ..Health::default() },
        lost_users: 1,
        stuck_workers: vec![0, 2],
    };
    let part = |outcome: &Outcome| PartEnd::of(outcome, &state, 3).outcome;
    let never = part(&outcome);
    assert_eq!((never.ended, never.loaded_until), (Duration::ZERO, Duration::ZERO));
    let ended = part(&Outcome { started: Some(7 * SECOND), ..outcome });
    assert_eq!((ended.ended, ended.loaded_until), (10 * SECOND, 9 * SECOND));
    assert_eq!((ended.lost_users, ended.stuck_workers, ended.health.process_cores), (1, 2, 0.5));
    let all = Counts { started: 14, completed: 8, interrupted: 2, dropped: 4, active: 8 };
    assert_eq!((ended.live.initialised, ended.live.scenarios), (7, vec![(all, 9 * MS)]));
}

#[test]
fn only_what_an_agent_decided_alone_is_its_own_cause() {
    let own = |cause: StopCause| {
        let stopper = Stopper::new();
        stopper.stop(cause);
        Cause::own(&stopper)
    };
    assert_eq!(Cause::own(&Stopper::new()), None);
    assert_eq!(own(StopCause::Script(String::from("enough"))), Some(Cause::Script(String::from("enough"))));
    assert_eq!(own(StopCause::Signal("SIGINT")), Some(Cause::Signal(String::from("SIGINT"))));
    assert_eq!(
        [StopCause::Threshold(String::new()), StopCause::Api, StopCause::Requested].map(own),
        [None, None, None]
    );
}

#[test]
fn seconds_are_put_together_by_number_and_passed_on_once() {
    let registry = Registry::new();
    let (mut members, state) = (Members::new(2, &registry), state(2));
    let mut totals = Aggregate::new(registry, Thresholds::default());
    let mut agents = ["seconds-0", "seconds-1"].map(Sender::new);
    members.take(0, 1, &agents[0].second(1, 10, 3), &state).expect("a second");
    members.take(1, 1, &agents[1].second(1, 20, 4), &state).expect("a second");
    members.take(0, 3, &agents[0].second(3, 1, 3), &state).expect("a second");
    assert_eq!((members.last_second, state.vus_initialised()), (3, 7));
    assert_eq!(state.counts(), Counts { started: 13, completed: 7, interrupted: 2, dropped: 4, active: 8 });
    let mut passed_on = |members: &mut Members, through| {
        let (reached, samples) = members.pass_on(through);
        let seconds = samples.len();
        samples.into_iter().for_each(|samples| totals.merge(samples));
        (reached, seconds, totals.results(SECOND, false).count("iterations"))
    };
    assert_eq!(passed_on(&mut members, 1), (SECOND, 1, 30));
    assert_eq!(passed_on(&mut members, 2), (Duration::ZERO, 0, 30), "nobody brought the second one");
    // It is late: its samples are in the next one, which reaches as far as the others of it.
    members.take(1, 2, &agents[1].second(2, 400, 4), &state).expect("a second");
    assert_eq!((members.last_second, passed_on(&mut members, 2)), (3, (Duration::ZERO, 0, 30)));
    assert_eq!(passed_on(&mut members, 9), (3 * SECOND, 1, 431));
}

#[test]
fn what_is_no_second_is_refused_or_left_to_others() {
    let registry = Registry::new();
    let (mut members, state) = (Members::new(1, &registry), state(1));
    let mut take = |content: &[u8]| members.take(0, 5, content, &state);
    let piece = AgentFrame::Messages(MessagePiece { file: 0, bytes: vec![1] });
    assert_eq!(take(&piece.to_bytes()), Ok(()), "it was written when it came");
    let second = |interval: Vec<u8>| AgentFrame::Second(AgentSecond { live: live(2), interval }).to_bytes();
    assert_eq!(
        take(&[&second(Vec::new())[..], &[0]].concat()),
        Err("a message with 1 bytes behind its end".to_owned())
    );
    let of_end = postcard::to_allocvec(&Record::End(vec![7])).expect("plain data");
    assert_eq!(take(&second(of_end)), Err("it is no interval of a journal".to_owned()));
    assert_eq!(take(&second(Vec::new())), Ok(()));
    assert_eq!(take(&[]), Err("a message that Hit the end of buffer, expected more data".to_owned()));
    assert_eq!((members.last_second, state.vus_initialised()), (5, 2));
    assert!(members.pass_on(9).1.is_empty(), "nothing was measured");
}

#[test]
fn users_of_a_lost_agent_are_at_work_no_more() {
    let registry = Registry::new();
    let (mut members, state) = (Members::new(2, &registry), state(2));
    let mut agents = ["lost-users-0", "lost-users-1"].map(Sender::new);
    let most = |members: &mut Members, through| {
        let mut totals = Aggregate::new(registry.clone(), Thresholds::default());
        members.pass_on(through).1.into_iter().for_each(|samples| totals.merge(samples));
        match totals.results(SECOND, false).metric("vus_max").map(|metric| metric.value.clone()) {
            Some(metrics::results::Value::Gauge { value, .. }) => value,
            other => panic!("{other:?}"),
        }
    };
    for (index, agent) in agents.iter_mut().enumerate() {
        members.take(index as u32, 1, &agent.second(1, 1, 3), &state).expect("a second");
    }
    assert_eq!(most(&mut members, 1), 6.0);
    members.take(0, 2, &agents[0].second(2, 1, 3), &state).expect("a second");
    assert_eq!(most(&mut members, 2), 6.0, "who tells no more has its users still");
    members.lose(1, String::from("it is silent"), &state);
    members.take(0, 3, &agents[0].second(3, 1, 3), &state).expect("a second");
    assert_eq!(most(&mut members, 3), 3.0);
    assert_eq!(state.counts(), Counts { active: 4, ..state.counts() });
    let mut ended = end(Verdict::Trusted);
    ended.outcome.live = PartCounts { initialised: 5, ..PartCounts::default() };
    members.ended(1, ended, &state);
    assert_eq!((state.vus_initialised(), members.report().has_lost()), (8, false), "it is back, and at its end");
}

/// All that `report` says.
fn told(members: &Members) -> String {
    format!("{:?}", members.report())
}

#[test]
fn another_coordinator_goes_on_where_one_was_killed() {
    let registry = Registry::new();
    let mut members = Members::new(3, &registry);
    (members.bound, members.apart) = (2 * MS, 3 * MS);
    let files = vec![String::from("messages.0")];
    members.messages = Some((MessageLogs { files, written: 5, dropped: 6 }, true));
    let mut ended = PartEnd { findings: vec![finding(Doubt::Cpu, Severity::Suspect, "busy")], ..end(Verdict::Suspect) };
    ended.outcome.live = live(4);
    members.ended(1, ended, &RunState::default());
    members.of(0).name = String::from("host-1");
    members.started(0, 8 * MS);
    members.silent(0, String::from("it was silent for 9 s"));
    members.lose(2, String::from("it is silent"), &RunState::default());
    let load = members.ended_load(9 * SECOND, 1_234, Some(EndedBy::Signal(String::from("SIGTERM"))));
    assert_eq!((load.is_let_go, load.is_torn_down), (false, false));
    let read = EndedLoad::read(&load.to_bytes()).expect("what was written");
    assert_eq!((read.journal, read.started), (1_234, 9 * SECOND));

    let (mut other, state, stopper) = (Members::new(3, &registry), state(3), Stopper::new());
    read.go_on(&mut other, &state, &stopper);
    assert_eq!(told(&other), told(&members));
    assert_eq!((state.started(), state.vus_initialised()), (Some(9 * SECOND), 4));
    assert_eq!(state.counts(), counts(4));
    assert_eq!(stopper.cause(), Some(&StopCause::Signal("SIGTERM")));
    assert!(EndedLoad::read(&[&load.to_bytes()[..], &[0]].concat()).is_err());
}

#[test]
fn why_a_load_ended_goes_over_to_the_run_that_ends_it() {
    let members = Members::new(1, &Registry::new());
    let text = || String::from("text");
    for (cause, by, after) in [
        (StopCause::Script(text()), EndedBy::Script(text()), StopCause::Script(text())),
        (StopCause::Threshold(text()), EndedBy::Threshold(text()), StopCause::Threshold(text())),
        (StopCause::Signal("SIGHUP"), EndedBy::Signal("SIGHUP".into()), StopCause::Signal("SIGHUP")),
        (StopCause::Signal("SIGUSR1"), EndedBy::Signal("SIGUSR1".into()), StopCause::Signal("a signal")),
        (StopCause::Api, EndedBy::Api, StopCause::Api),
        (StopCause::Requested, EndedBy::Requested, StopCause::Requested),
    ] {
        let stopper = Stopper::new();
        stopper.stop(cause);
        let found = EndedBy::of(&stopper);
        assert_eq!(found, Some(by));
        let other = Stopper::new();
        let load = members.ended_load(SECOND, 0, found);
        load.go_on(&mut Members::new(1, &Registry::new()), &RunState::default(), &other);
        assert_eq!(other.cause(), Some(&after));
    }
    assert_eq!(EndedBy::of(&Stopper::new()), None);
    let other = Stopper::new();
    let load = members.ended_load(SECOND, 0, None);
    load.go_on(&mut Members::new(1, &Registry::new()), &RunState::default(), &other);
    assert_eq!((other.cause(), other.is_stopped()), (None, false));
}
