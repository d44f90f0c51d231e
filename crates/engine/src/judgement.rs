//! Whether a run measured its target or its generator, judged from recorded facts.
//!
//! A late event loop alone is no reason to throw a run out. The kernel stamps when bytes arrived, so a worker that came
//! late to read them reports true timings all the same. Lateness counts when it touched what was measured: a worker
//! that computed all the time, requests without stamps, arrival-rate iterations that started late, users that lost a
//! good part of their time. Everything else is a note. The advice goes by the cause: more workers help a full core and
//! no busy machine.

use std::time::Duration;

use units::show::percent;

use crate::health::Health;

/// Shares of a shorter run say nothing: starting up is most of it.
const SHORTEST_JUDGED: Duration = Duration::from_secs(1);
/// A worker that runs for this share of the time has no more to give.
const FULL: f64 = 0.9;
/// An event loop is late from here on, at its 99th percentile.
const LATE_MS: f64 = 10.0;
/// Users that lose less of their time to lateness make nearly the rate they would have made.
const NOTABLE_LOSS: f64 = 0.05;
/// So many of the requests without a kernel stamp move the percentiles.
const NOTABLE_UNSTAMPED: f64 = 0.05;
/// Waiting for a core by this share of the time makes the other programs the cause.
const NOTABLE_WAIT: f64 = 0.002;

/// What the samples and the machine tell, beside the generator's own figures.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// HTTP requests.
    pub requests: u64,
    /// Those whose timings this program took because the kernel did not stamp them.
    pub unstamped: u64,
    /// How late the iterations of arrival-rate scenarios started; none without such iterations.
    pub iteration_lag: Option<IterationLag>,
    /// What the users of the other scenarios did; none without such iterations.
    pub closed: Option<ClosedLoop>,
    /// Cores that the process may use.
    pub allowed_cores: usize,
    /// Share of the machine's CPU time that the hypervisor gave to others, where it is notable.
    pub stolen: Option<f64>,
    /// Times that the CPU limit of its control group held the process up.
    pub throttled: u64,
}

/// Planned to real start, in ms.
#[derive(Clone, Copy, Debug, Default)]
pub struct IterationLag {
    /// 95 of 100 iterations started no later.
    pub p95_ms: f64,
    /// 99 of 100.
    pub p99_ms: f64,
}

/// Users that begin an iteration when the one before has ended: what they lose, the rate loses.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClosedLoop {
    /// How often they waited for an answer: requests, or iterations where those are more.
    pub waits: f64,
    /// The sum of their iterations, in ms.
    pub spent_ms: f64,
}

/// What can be said of a run's generator.
#[derive(Clone, Debug, PartialEq)]
pub enum Judgement {
    /// The run was too short to judge.
    TooShort,
    /// It was on time.
    OnTime,
    /// It was late, and what was measured does not depend on that.
    Note(String),
    /// The run says more about the generator than about the target.
    Limit {
        /// Of what kind.
        cause: Cause,
        /// What happened.
        complaint: String,
        /// What to do about it.
        advice: String,
    },
}

/// Why a run says little about its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The generator computed all the time.
    Busy,
    /// The generator had time, and something else had the processor.
    HeldUp,
    /// Iterations started later than planned.
    LateStarts,
}

/// Judges a run.
pub fn judge(health: &Health, facts: &Facts) -> Judgement {
    if health.wall < SHORTEST_JUDGED {
        return Judgement::TooShort;
    }
    if health.busiest_cpu_share() >= FULL {
        return busy(health, facts);
    }
    if health.worst_lag_p99_ms() < LATE_MS {
        return Judgement::OnTime;
    }
    if let Some(lag) = facts.iteration_lag.filter(|lag| lag.p95_ms >= LATE_MS) {
        return late_starts(health, facts, lag);
    }
    if let Some(touched) = touched(health, facts) {
        return held_up(health, facts, &touched);
    }
    Judgement::Note(note(health, facts))
}

fn busy(health: &Health, facts: &Facts) -> Judgement {
    let complaint = format!(
        "the generator was the limit: its busiest worker used {} of a core and was up to {:.1} ms late (p99); the \
         target may be faster than these numbers",
        percent(health.busiest_cpu_share(), 0),
        health.worst_lag_p99_ms()
    );
    let workers = health.workers.len();
    let advice = if workers < facts.allowed_cores {
        format!("use more workers (--workers): there are {workers} for {} cores", facts.allowed_cores)
    } else {
        String::from("give the generator more cores or a core of its own (taskset), or fewer virtual users")
    };
    Judgement::Limit { cause: Cause::Busy, complaint, advice }
}

fn late_starts(health: &Health, facts: &Facts, lag: IterationLag) -> Judgement {
    let Why { text, advice } = why(health, facts);
    let complaint = format!(
        "iterations started late: one in twenty by {:.1} ms or more; {text}; the load was not the planned one",
        lag.p95_ms
    );
    Judgement::Limit { cause: Cause::LateStarts, complaint, advice }
}

fn held_up(health: &Health, facts: &Facts, touched: &str) -> Judgement {
    let Why { text, advice } = why(health, facts);
    let complaint = format!(
        "the generator was held up: a worker that used {} of a core was up to {:.1} ms late (p99); {text}; {touched}",
        percent(health.busiest_cpu_share(), 0),
        health.worst_lag_p99_ms()
    );
    Judgement::Limit { cause: Cause::HeldUp, complaint, advice }
}

/// Which of the measured figures hold the lateness; none when none does.
fn touched(health: &Health, facts: &Facts) -> Option<String> {
    let Facts { requests, unstamped, .. } = facts;
    if *unstamped as f64 > NOTABLE_UNSTAMPED * (*requests).max(1) as f64 {
        return Some(format!(
            "the timings of {unstamped} of {requests} requests include that, because the kernel did not stamp their \
             arrival"
        ));
    }
    let lost = lost(health, facts.closed?);
    (lost >= NOTABLE_LOSS).then(|| {
        format!(
            "its users lost about {} of their time to that, so the target may be faster than these rates",
            percent(lost, 0)
        )
    })
}

/// The share of their time that users waited for a late event loop. Whoever waits for an answer waits that much longer.
fn lost(health: &Health, closed: ClosedLoop) -> f64 {
    if closed.spent_ms > 0.0 { (closed.waits * health.worst_lag_avg_ms() / closed.spent_ms).min(1.0) } else { 0.0 }
}

fn note(health: &Health, facts: &Facts) -> String {
    let Why { text, .. } = why(health, facts);
    let starts = facts.iteration_lag.filter(|lag| lag.p99_ms >= LATE_MS);
    let starts = starts.map(|lag| format!("; one iteration in a hundred started {:.1} ms late or more", lag.p99_ms));
    format!(
        "a worker that used {} of a core was up to {:.1} ms late (p99); {text}{}. Timings of requests do not include \
         that, because the kernel stamps arrivals; times that the script takes itself may",
        percent(health.busiest_cpu_share(), 0),
        health.worst_lag_p99_ms(),
        starts.unwrap_or_default()
    )
}

/// Why a worker with time to spare was late, and what helps.
struct Why {
    text: String,
    advice: String,
}

fn why(health: &Health, facts: &Facts) -> Why {
    let of = |text: String, advice: &str| Why { text, advice: advice.to_owned() };
    if facts.throttled > 0 {
        return of(
            format!("the CPU limit of its control group held the process up {} times", facts.throttled),
            "raise the CPU limit of the container or control group, or use fewer virtual users",
        );
    }
    if let Some(stolen) = facts.stolen {
        return of(
            format!("the hypervisor gave {} of the machine's CPU time to others", percent(stolen, 0)),
            "measure on a machine that shares its processors with fewer others",
        );
    }
    let cores = facts.allowed_cores as f64;
    if cores > 0.0 && health.process_cores >= FULL * cores {
        return of(
            format!("this process used {:.2} of its {} cores", health.process_cores, facts.allowed_cores),
            "give this process more cores, fewer virtual users, or a target of its own process (without --serve)",
        );
    }
    let waits = health.workers.iter().map(|worker| worker.waited_share);
    match waits.max_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal)).flatten() {
        Some(waited) if waited < NOTABLE_WAIT => of(
            String::from("no other program held it up: a call of the script computed for a long time"),
            "make the script's long computations shorter, or use more workers (--workers)",
        ),
        waited => of(
            match waited {
                Some(waited) => format!("the worker waited for a core {} of the time", percent(waited, 1)),
                None => String::from("the machine was busy with something else"),
            },
            "end what else runs on this machine, or give generator and target cores of their own (taskset); more \
             workers do not help",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::WorkerHealth;

    /// Two workers on two cores for five seconds; the first as given.
    fn health(cpu_share: f64, lag_avg_ms: f64, lag_p99_ms: f64) -> Health {
        let first =
            WorkerHealth { cpu_share, lag_avg_ms, lag_p99_ms, waited_share: Some(0.04), ..WorkerHealth::default() };
        Health {
            workers: vec![first, WorkerHealth { waited_share: Some(0.0), ..WorkerHealth::default() }],
            process_cores: cpu_share,
            wall: Duration::from_secs(5),
            ..Health::default()
        }
    }

    /// A thousand stamped requests of 100 ms each.
    fn facts() -> Facts {
        let closed = Some(ClosedLoop { waits: 1000.0, spent_ms: 100_000.0 });
        Facts { requests: 1000, allowed_cores: 2, closed, ..Facts::default() }
    }

    fn limit(judgement: Judgement) -> (Cause, String, String) {
        match judgement {
            Judgement::Limit { cause, complaint, advice } => (cause, complaint, advice),
            other => panic!("no verdict: {other:?}"),
        }
    }

    #[test]
    fn an_idle_worker_that_was_late_on_a_busy_machine_is_a_note() {
        let expected = "a worker that used 1 % of a core was up to 13.0 ms late (p99); the worker waited for a core \
            4.0 % of the time. Timings of requests do not include that, because the kernel stamps arrivals; times that \
            the script takes itself may";
        assert_eq!(judge(&health(0.01, 0.3, 13.0), &facts()), Judgement::Note(String::from(expected)));
        assert_eq!(judge(&health(0.01, 0.3, 9.0), &facts()), Judgement::OnTime);
        // The same with a rate that was kept, but for some starts.
        let lag = Some(IterationLag { p95_ms: 2.0, p99_ms: 12.0 });
        let Judgement::Note(note) = judge(&health(0.01, 0.3, 13.0), &Facts { iteration_lag: lag, ..facts() }) else {
            panic!("a verdict")
        };
        assert!(
            note.contains("of the time; one iteration in a hundred started 12.0 ms late or more. Timings"),
            "{note}"
        );
    }

    #[test]
    fn a_full_worker_is_a_verdict_and_more_workers_help_only_where_there_are_cores() {
        let (cause, complaint, advice) = limit(judge(&health(0.97, 0.1, 2.0), &facts()));
        let expected = "the generator was the limit: its busiest worker used 97 % of a core and was up to 2.0 ms late \
            (p99); the target may be faster than these numbers";
        assert_eq!((cause, complaint.as_str()), (Cause::Busy, expected));
        assert_eq!(advice, "give the generator more cores or a core of its own (taskset), or fewer virtual users");
        let (.., advice) = limit(judge(&health(0.95, 0.1, 2.0), &Facts { allowed_cores: 8, ..facts() }));
        assert_eq!(advice, "use more workers (--workers): there are 2 for 8 cores");
    }

    #[test]
    fn a_run_of_milliseconds_is_not_judged() {
        let short = Health { wall: Duration::from_millis(40), ..health(0.97, 5.0, 20.0) };
        assert_eq!(judge(&short, &facts()), Judgement::TooShort);
    }

    #[test]
    fn late_starts_are_a_verdict_and_no_advice_to_add_cores() {
        let facts = Facts { iteration_lag: Some(IterationLag { p95_ms: 41.0, p99_ms: 60.0 }), closed: None, ..facts() };
        let (cause, complaint, advice) = limit(judge(&health(0.2, 3.0, 45.0), &facts));
        let expected = "iterations started late: one in twenty by 41.0 ms or more; the worker waited for a core 4.0 % \
            of the time; the load was not the planned one";
        assert_eq!((cause, complaint.as_str()), (Cause::LateStarts, expected));
        let expected = "end what else runs on this machine, or give generator and target cores of their own (taskset); \
            more workers do not help";
        assert_eq!(advice, expected);
    }

    #[test]
    fn lateness_that_is_in_the_figures_is_a_verdict() {
        let unstamped = Facts { unstamped: 900, ..facts() };
        let (cause, complaint, _) = limit(judge(&health(0.01, 0.3, 13.0), &unstamped));
        assert_eq!(cause, Cause::HeldUp);
        assert!(
            complaint.ends_with(
                "the timings of 900 of 1000 requests include that, because the kernel did not stamp their arrival"
            ),
            "{complaint}"
        );
        // One user that waits a millisecond for each answer loses a third of its time to 0.5 ms of lateness.
        let fast = Facts { closed: Some(ClosedLoop { waits: 1000.0, spent_ms: 1500.0 }), ..facts() };
        let (cause, complaint, _) = limit(judge(&health(0.3, 0.5, 13.0), &fast));
        assert_eq!(cause, Cause::HeldUp);
        let expected = "its users lost about 33 % of their time to that, so the target may be faster than these rates";
        assert!(complaint.ends_with(expected), "{complaint}");
    }

    #[test]
    fn the_advice_fits_the_cause() {
        let late = |facts: Facts, health: Health| {
            let (_, complaint, advice) = limit(judge(&health, &Facts { unstamped: 900, ..facts }));
            (complaint, advice)
        };
        let (complaint, advice) = late(Facts { throttled: 7, ..facts() }, health(0.1, 1.0, 20.0));
        assert!(complaint.contains("the CPU limit of its control group held the process up 7 times"), "{complaint}");
        assert!(advice.starts_with("raise the CPU limit"), "{advice}");
        let (complaint, advice) = late(Facts { stolen: Some(0.12), ..facts() }, health(0.1, 1.0, 20.0));
        assert!(complaint.contains("the hypervisor gave 12 % of the machine's CPU time to others"), "{complaint}");
        assert!(advice.starts_with("measure on a machine"), "{advice}");
        let full = Health { process_cores: 1.95, ..health(0.8, 1.0, 20.0) };
        let (complaint, _) = late(facts(), full);
        assert!(complaint.contains("this process used 1.95 of its 2 cores"), "{complaint}");
        let mut alone = health(0.6, 1.0, 20.0);
        alone.workers[0].waited_share = Some(0.0001);
        let (complaint, advice) = late(facts(), alone.clone());
        assert!(complaint.contains("a call of the script computed for a long time"), "{complaint}");
        assert!(advice.ends_with("use more workers (--workers)"), "{advice}");
        alone.workers.iter_mut().for_each(|worker| worker.waited_share = None);
        assert!(late(facts(), alone).0.contains("the machine was busy with something else"));
    }
    /// Each limit from both sides: what lies on it counts.
    #[test]
    fn limits_count_from_their_own_value_on() {
        let of = |health: Health, facts: Facts| match judge(&health, &facts) {
            Judgement::TooShort => "too short",
            Judgement::OnTime => "on time",
            Judgement::Note(_) => "note",
            Judgement::Limit { cause: Cause::Busy, .. } => "busy",
            Judgement::Limit { cause: Cause::HeldUp, .. } => "held up",
            Judgement::Limit { cause: Cause::LateStarts, .. } => "late starts",
        };
        let lasting = |ms| Health { wall: Duration::from_millis(ms), ..health(0.01, 0.3, 2.0) };
        assert_eq!([of(lasting(999), facts()), of(lasting(1000), facts())], ["too short", "on time"]);
        assert_eq!([0.899, 0.9].map(|share| of(health(share, 0.1, 2.0), facts())), ["on time", "busy"]);
        assert_eq!([9.99, 10.0].map(|p99| of(health(0.1, 0.1, p99), facts())), ["on time", "note"]);
        let starting = |p95_ms| Facts { iteration_lag: Some(IterationLag { p95_ms, p99_ms: 20.0 }), ..facts() };
        assert_eq!([9.99, 10.0].map(|p95| of(health(0.1, 0.1, 20.0), starting(p95))), ["note", "late starts"]);
        let unstamped = |unstamped| Facts { unstamped, ..facts() };
        assert_eq!([50, 51].map(|count| of(health(0.1, 0.1, 20.0), unstamped(count))), ["note", "held up"]);
        let nothing_sent = Facts { requests: 0, unstamped: 0, closed: None, ..facts() };
        assert_eq!(of(health(0.1, 0.1, 20.0), nothing_sent), "note");
        // 1000 waits of 0.5 ms are 500 ms: a twentieth of 10 s, and less of more.
        let spent = |spent_ms| Facts { closed: Some(ClosedLoop { waits: 1000.0, spent_ms }), ..facts() };
        assert_eq!([10_100.0, 10_000.0].map(|ms| of(health(0.1, 0.5, 20.0), spent(ms))), ["note", "held up"]);
        assert_eq!(of(health(0.1, 0.5, 20.0), spent(0.0)), "note");
    }

    #[test]
    fn users_lose_no_more_than_all_of_their_time() {
        let fast = Facts { closed: Some(ClosedLoop { waits: 1000.0, spent_ms: 100.0 }), ..facts() };
        let (_, complaint, _) = limit(judge(&health(0.3, 5.0, 13.0), &fast));
        assert!(complaint.contains("its users lost about 100 % of their time"), "{complaint}");
    }

    #[test]
    fn a_note_tells_of_late_starts_from_the_limit_on() {
        let note = |p99_ms| {
            let facts = Facts { iteration_lag: Some(IterationLag { p95_ms: 1.0, p99_ms }), ..facts() };
            match judge(&health(0.01, 0.3, 13.0), &facts) {
                Judgement::Note(note) => note.contains("one iteration in a hundred"),
                other => panic!("no note: {other:?}"),
            }
        };
        assert_eq!([note(9.99), note(10.0)], [false, true]);
    }

    #[test]
    fn causes_begin_at_their_limits() {
        let why_of = |health: &Health, facts: &Facts| why(health, facts).text;
        let using = |process_cores| Health { process_cores, ..health(0.1, 1.0, 20.0) };
        assert!(why_of(&using(1.8), &facts()).starts_with("this process used 1.80 of its 2 cores"));
        assert!(why_of(&using(1.79), &facts()).starts_with("the worker waited"));
        let unknown = Facts { allowed_cores: 0, ..facts() };
        assert!(why_of(&using(1.9), &unknown).starts_with("the worker waited"));
        let waiting = |share| {
            let mut health = health(0.1, 1.0, 20.0);
            health.workers[1].waited_share = Some(share);
            health.workers[0].waited_share = Some(0.0);
            why_of(&health, &facts())
        };
        assert_eq!(waiting(0.002), "the worker waited for a core 0.2 % of the time");
        assert!(waiting(0.0019).starts_with("no other program held it up"));
    }

    #[test]
    fn as_many_workers_as_cores_are_enough() {
        let advice = |allowed_cores| limit(judge(&health(0.95, 0.1, 2.0), &Facts { allowed_cores, ..facts() })).2;
        assert!(advice(2).starts_with("give the generator more cores"));
        assert_eq!(advice(3), "use more workers (--workers): there are 2 for 3 cores");
    }
}
