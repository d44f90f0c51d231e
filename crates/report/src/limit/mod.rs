//! Who was the limit of a run: the generator, its users, the link, connections, the target, a shared machine, or none.
//!
//! Pure: facts come in, a name with its evidence comes out. What the verdict found about the generator is asked first,
//! because then nothing else can be told. Where the facts fit two limits the answer is that it cannot be decided, with
//! both names: a wrong name costs a day, an open question a look at `top`.

mod course;
mod of_run;

use units::show::{percent, time};

use crate::document::{Finding, LimitName, RunLimit, Severity};

pub use course::{AnswerCourse, AnswerTimes};
pub use of_run::{RunLoad, of_run, used};

/// What a limit is told by.
#[derive(Clone, Debug, Default)]
pub struct LimitFacts<'a> {
    /// What the verdict on the generator found.
    pub findings: &'a [Finding],
    /// The target's use of CPU, where it runs here.
    pub target: Option<TargetUse>,
    /// HTTP requests made.
    pub requests: f64,
    /// Those that the target refused or failed: connections refused or reset, status 429 and those from 500 on.
    pub refused: f64,
    /// Iterations that an arrival rate planned, and those that ended; none without one.
    pub planned: Option<(f64, f64)>,
    /// Users that start again when they have ended; none without them.
    pub closed: Option<ClosedUse>,
    /// The most used of the users' links, as a share of its bandwidth.
    pub link: Option<f64>,
    /// How much slower answers are than without a queue.
    pub slower: Option<Slower>,
    /// Whether answers take as long as a queue of all users would make them, and all about as long.
    pub is_one_queue: bool,
    /// Whether an objective broke: an arrival rate that was made and answered has no limit otherwise.
    pub is_broken: bool,
}

/// A request without a queue, and as it was: in ms.
#[derive(Clone, Copy, Debug)]
pub struct Slower {
    /// Without a queue.
    pub light: f64,
    /// The median of this load.
    pub now: f64,
    /// What `light` is: `a light load sees`.
    pub light_is: &'static str,
}

/// CPU of the target.
#[derive(Clone, Debug, Default)]
pub struct TargetUse {
    /// Whose it is.
    pub name: String,
    /// CPU, in cores.
    pub cores: f64,
    /// Share of the time that its busiest thread ran.
    pub busiest: Option<f64>,
    /// Share of the time that this thread waited for a core.
    pub waited: Option<f64>,
}

/// What users did who begin again when they have ended.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClosedUse {
    /// How many users.
    pub users: f64,
    /// Share of their time that they waited for answers.
    pub waiting: f64,
}

/// A thread that runs so much of the time is the limit.
const FULL: f64 = 0.9;
/// A thread that runs less of the time had CPU to spare.
const FREE: f64 = 0.75;
/// A thread that waits so much for a core has to share it.
const SHARED: f64 = 0.1;
/// From this share of refusals on, they are the limit.
const NOTABLE: f64 = 0.01;
/// Users that wait so much of their time are all busy.
const BUSY: f64 = 0.9;
/// Answers that take so many times as long as at a light load stand in a queue.
const QUEUED: f64 = 2.0;
/// A plan whose answers take so many times as long as at its beginning is not held, even when all starts are made: they
/// wait in a queue that grows.
const GROWN: f64 = 3.0;
/// And by so much longer.
const GROWN_MS: f64 = 2.0;
/// Less is the noise of a machine.
const NOISE_MS: f64 = 0.3;
/// Answers that take less than so many times as long do not.
const UNQUEUED: f64 = 1.3;
/// Causes of a verdict that are others' use of the machine.
const OF_MACHINE: [&str; 3] = ["run_queue", "steal", "shared_core"];
/// The cause that an event loop stood still.
const HELD_UP: &str = "event_loop_gap";
/// Causes about connections.
const OF_CONNECTIONS: [&str; 2] = ["files_exhausted", "ports_exhausted"];
/// Causes that are the target's or the plan's doing, or touch no rate.
const NOT_THE_GENERATOR: [&str; 5] =
    ["users_exhausted", "too_few_samples", "clock_stepped", "output_backpressure", "generator_bias"];

/// Names the limit.
pub fn limit(facts: &LimitFacts<'_>) -> RunLimit {
    let named = |name: LimitName, evidence: String| RunLimit { name, between: Vec::new(), evidence };
    let invalid = |finding: &&Finding| finding.severity == Severity::Invalid;
    let found = |causes: &[&str]| facts.findings.iter().find(|finding| causes.contains(&finding.cause.as_str()));
    if let Some(finding) = found(&OF_CONNECTIONS).filter(invalid) {
        return named(LimitName::Connections, finding.text.clone());
    }
    // What holds the generator up is named twice, where others use its core: what they do comes first.
    let is_held_up = facts.findings.iter().any(|finding| finding.cause == HELD_UP && invalid(&finding));
    let of_machine =
        found(&OF_MACHINE).filter(|finding| finding.severity != Severity::Note && is_held_up || invalid(finding));
    if let Some(finding) = of_machine {
        return named(LimitName::Machine, finding.text.clone());
    }
    let of_generator = facts.findings.iter().filter(invalid);
    let of_generator = of_generator.filter(|finding| !NOT_THE_GENERATOR.contains(&finding.cause.as_str()));
    if let Some(finding) = of_generator.into_iter().next() {
        return named(LimitName::Generator, finding.text.clone());
    }
    if let Some(share) = facts.link.filter(|share| *share >= FULL) {
        let evidence = format!("a user's link carried {} of its bandwidth", percent(share, 0));
        return named(LimitName::Link, evidence);
    }
    if facts.refused >= NOTABLE * facts.requests.max(1.0) {
        let share = percent(facts.refused / facts.requests.max(1.0), 1);
        return named(LimitName::TargetRefuses, format!("{share} of the requests were refused or failed"));
    }
    of_target(facts).unwrap_or_else(|| of_load(facts))
}

/// By the target's CPU.
fn of_target(facts: &LimitFacts<'_>) -> Option<RunLimit> {
    let target = facts.target.as_ref()?;
    let (busiest, waited) = (target.busiest?, target.waited.unwrap_or_default());
    let used =
        format!("{} used {:.2} cores, its busiest thread {} of one", target.name, target.cores, percent(busiest, 0));
    if waited >= SHARED && busiest + waited >= FULL {
        let evidence = format!("{used}, and waited for one {} of the time", percent(waited, 0));
        return Some(RunLimit { name: LimitName::Machine, between: Vec::new(), evidence });
    }
    (busiest >= FULL).then(|| RunLimit { name: LimitName::TargetCpu, between: Vec::new(), evidence: used })
}

/// By what became of the load.
fn of_load(facts: &LimitFacts<'_>) -> RunLimit {
    let is_behind = facts.planned.is_some_and(|(planned, ended)| ended < planned * (1.0 - NOTABLE));
    let all_busy = facts.closed.filter(|closed| closed.waiting >= BUSY);
    let is_slower =
        |least: f64| facts.slower.is_some_and(|it| it.now >= least * it.light && it.now >= it.light + NOISE_MS);
    let (is_queued, is_unqueued) = (is_slower(QUEUED), facts.slower.is_some() && !is_slower(UNQUEUED));
    let grew = |it: &Slower| it.now >= GROWN * it.light && it.now >= it.light + GROWN_MS;
    let is_growing = facts.planned.is_some() && facts.slower.as_ref().is_some_and(grew);
    // What is slow by itself breaks an objective, and limits no rate.
    let is_broken = facts.is_broken && !is_unqueued;
    if !is_behind && !is_growing && all_busy.is_none() && !is_broken {
        let evidence = String::from("what was planned was started and answered");
        return RunLimit { name: LimitName::Nothing, between: Vec::new(), evidence };
    }
    let cpu = facts.target.as_ref().and_then(|target| target.busiest);
    let is_idle = cpu.is_some_and(|busiest| busiest < FREE);
    let in_target = match is_idle {
        true => vec![LimitName::TargetQueue],
        false => vec![LimitName::TargetCpu, LimitName::TargetQueue],
    };
    let candidates = match (is_behind || is_growing || is_broken, is_queued, is_unqueued) {
        // Every start that was left out had no free user, and the answers were as fast as at the beginning.
        (true, _, true) => vec![LimitName::Users],
        (true, true, _) => in_target,
        (true, ..) if is_behind && facts.slower.is_some() => vec![LimitName::Users, LimitName::TargetQueue],
        (true, ..) => in_target,
        // Not slower than at a light load: more users would make more.
        (false, _, true) => vec![LimitName::Users],
        (false, true, _) if facts.is_one_queue => in_target,
        (false, ..) => vec![LimitName::Users, LimitName::TargetQueue],
    };
    let evidence = evidence(facts, is_behind, all_busy, is_queued);
    match candidates[..] {
        [name] => RunLimit { name, between: Vec::new(), evidence },
        _ => RunLimit { name: LimitName::Undecidable, between: candidates, evidence },
    }
}

/// What shows it, in one line.
fn evidence(facts: &LimitFacts<'_>, is_behind: bool, all_busy: Option<ClosedUse>, is_queued: bool) -> String {
    let behind = facts
        .planned
        .filter(|_| is_behind)
        .map(|(planned, ended)| format!("{} of the planned iterations ended", percent(ended / planned.max(1.0), 1)));
    let users = all_busy.map(|closed| {
        format!("{} users waited for answers {} of their time", closed.users, percent(closed.waiting, 0))
    });
    let taken = facts.slower.filter(|_| is_queued || is_behind || all_busy.is_some());
    let slower = taken.map(|it| format!("answers take {} where {} {}", time(it.now), it.light_is, time(it.light)));
    let cpu = facts.target.as_ref().and_then(|target| target.busiest);
    let idle = cpu
        .filter(|busiest| *busiest < FREE)
        .map(|busiest| format!("its busiest thread used {} of a core", percent(busiest, 0)));
    [behind, users, slower, idle].into_iter().flatten().collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(cause: &str, severity: Severity) -> Finding {
        Finding {
            cause: cause.to_owned(),
            title: cause.to_owned(),
            severity,
            figure: String::new(),
            text: format!("because of {cause}"),
            advice: String::new(),
        }
    }

    fn target(busiest: f64, waited: f64) -> Option<TargetUse> {
        let name = String::from("nginx at port 80");
        Some(TargetUse { name, cores: busiest, busiest: Some(busiest), waited: Some(waited) })
    }

    fn slower(light: f64, now: f64) -> Option<Slower> {
        Some(Slower { light, now, light_is: "a light load sees" })
    }

    fn named(facts: &LimitFacts<'_>) -> LimitName {
        limit(facts).name
    }

    #[test]
    fn what_the_verdict_found_comes_first() {
        let of = |cause: &str| {
            let findings = [finding(cause, Severity::Invalid)];
            named(&LimitFacts {
                findings: &findings,
                target: target(0.99, 0.0),
                requests: 9.0,
                ..LimitFacts::default()
            })
        };
        assert_eq!(of("cpu"), LimitName::Generator);
        assert_eq!(of("event_loop_gap"), LimitName::Generator);
        let others = [finding("event_loop_gap", Severity::Invalid), finding("run_queue", Severity::Suspect)];
        assert_eq!(named(&LimitFacts { findings: &others, ..LimitFacts::default() }), LimitName::Machine);
        assert_eq!(of("run_queue"), LimitName::Machine);
        assert_eq!(of("ports_exhausted"), LimitName::Connections);
        assert_eq!(of("users_exhausted"), LimitName::TargetCpu, "that is the target's doing");
        let suspect = [finding("cpu", Severity::Suspect)];
        assert_eq!(
            named(&LimitFacts { findings: &suspect, requests: 9.0, ..LimitFacts::default() }),
            LimitName::Nothing
        );
    }

    #[test]
    fn the_target_is_named_by_its_busiest_thread() {
        let facts = |busiest: f64, waited: f64| LimitFacts {
            target: target(busiest, waited),
            requests: 1000.0,
            planned: Some((1000.0, 900.0)),
            slower: slower(2.0, 300.0),
            ..LimitFacts::default()
        };
        assert_eq!(named(&facts(0.95, 0.02)), LimitName::TargetCpu);
        assert_eq!(named(&facts(0.6, 0.35)), LimitName::Machine, "it had to wait for its core");
        assert_eq!(named(&facts(0.2, 0.0)), LimitName::TargetQueue);
        let open = limit(&facts(0.8, 0.0));
        assert_eq!(open.name, LimitName::Undecidable);
        assert!(open.line().starts_with("undecidable between the target's CPU and a queue in the target: 90.0 %"));
        let elsewhere = limit(&LimitFacts { target: None, ..facts(0.0, 0.0) });
        assert_eq!(elsewhere.between, [LimitName::TargetCpu, LimitName::TargetQueue]);
    }

    #[test]
    fn refusals_and_links_are_told_by_their_shares() {
        let facts = LimitFacts { requests: 1000.0, refused: 20.0, target: target(0.99, 0.0), ..LimitFacts::default() };
        assert_eq!(limit(&facts).line(), "the target refuses: 2.0 % of the requests were refused or failed");
        let facts = LimitFacts { requests: 1000.0, link: Some(0.97), ..LimitFacts::default() };
        assert_eq!(named(&facts), LimitName::Link);
    }

    #[test]
    fn a_plan_without_free_users_is_limited_by_them_where_answers_stay_as_fast() {
        let facts = |now: f64| LimitFacts {
            requests: 1000.0,
            planned: Some((1000.0, 400.0)),
            slower: slower(150.0, now),
            target: target(0.1, 0.0),
            ..LimitFacts::default()
        };
        assert_eq!(named(&facts(151.0)), LimitName::Users);
        assert_eq!(named(&facts(900.0)), LimitName::TargetQueue);
        let all_answered = LimitFacts { planned: Some((1000.0, 1000.0)), ..facts(900.0) };
        assert_eq!(named(&all_answered), LimitName::TargetQueue, "a queue that grew was emptied at the end");
        assert_eq!(limit(&facts(240.0)).between, [LimitName::Users, LimitName::TargetQueue]);
        let slow = LimitFacts { planned: Some((1000.0, 1000.0)), is_broken: true, ..facts(151.0) };
        assert_eq!(named(&slow), LimitName::Nothing, "what takes long by itself limits no rate");
    }

    #[test]
    fn users_that_wait_are_the_limit_where_answers_are_not_slower() {
        let closed = Some(ClosedUse { users: 10.0, waiting: 0.98 });
        let facts = LimitFacts { requests: 1000.0, closed, target: target(0.3, 0.0), ..LimitFacts::default() };
        assert_eq!(named(&LimitFacts { slower: slower(20.0, 20.5), ..facts.clone() }), LimitName::Users);
        let queue = LimitFacts { slower: slower(2.0, 20.0), is_one_queue: true, ..facts.clone() };
        assert_eq!(named(&queue), LimitName::TargetQueue);
        let uneven = LimitFacts { slower: slower(2.0, 20.0), ..facts.clone() };
        assert_eq!(
            limit(&uneven).between,
            [LimitName::Users, LimitName::TargetQueue],
            "times may differ by themselves"
        );
        assert_eq!(limit(&facts).between, [LimitName::Users, LimitName::TargetQueue]);
        let sleeping = Some(ClosedUse { users: 10.0, waiting: 0.1 });
        assert_eq!(named(&LimitFacts { closed: sleeping, ..facts }), LimitName::Nothing);
    }
}
