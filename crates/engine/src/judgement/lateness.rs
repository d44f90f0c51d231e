//! Whether the generator was late, whether that touched what was measured, and what made it late.
//!
//! The harm and its reason are two things. Late starts, users that lost their time, requests without stamps and a loop
//! that stood still are harm. A CPU limit, a hypervisor, other programs, a full core and a long computation are
//! reasons. Both are told: the reason, because the advice goes by it.

use units::show::{percent, time};

use super::{Cause, Facts, Finding, IterationLag, Pressure, Severity, of};
use crate::health::{Health, Occupation};

/// A worker that runs for this share of the time has no more to give.
const FULL: f64 = 0.9;
/// So is one that runs, or waits for a core, for this share.
const NEVER_IDLE: f64 = 0.95;
/// An event loop is late from here on, at its 99th percentile; so is an iteration.
const LATE_MS: f64 = 10.0;
/// Without stamps, lateness is part of a timing from here on.
const NOTABLE_LATE_MS: f64 = 1.0;
/// A loop that stands still for so long spoils the percentiles of an arrival rate.
const GAP_MS: f64 = 100.0;
/// One that stands still for so long is worth knowing in any run.
const LONG_GAP_MS: f64 = 1000.0;
/// Users that lose less of their time to lateness make nearly the rate they would have made.
const NOTABLE_LOSS: f64 = 0.05;
/// So much of the time is notable where it is lost in one piece.
const NOTABLE_STALL: f64 = 0.01;
/// So many of the requests without a kernel stamp move the percentiles.
const NOTABLE_UNSTAMPED: f64 = 0.05;
/// Waiting for a core by this share of the time makes the other programs the cause.
const NOTABLE_WAIT: f64 = 0.002;
/// From these shares on, a worker and a target on the same machine take turns on its cores.
const SHARED: (f64, f64) = (0.25, 0.2);
/// So much stolen time moves kernel stamps too: nothing on the machine ran meanwhile.
const MUCH_STOLEN: f64 = 0.1;

/// All of them.
pub(super) fn findings(health: &Health, facts: &Facts) -> Vec<Finding> {
    let of_itself = [
        full(health, facts),
        never_idle(health, facts),
        shared_core(health, facts),
        throttled(health, facts),
        stolen(facts),
    ];
    let mut found: Vec<Finding> = of_itself.into_iter().flatten().collect();
    let harms = [late_starts(facts), unstamped(health, facts), gap(health, facts), lost(health, facts)];
    let harms: Vec<Finding> = harms.into_iter().flatten().collect();
    if let Some(severity) = harms.iter().map(|harm| harm.severity).max() {
        let reason = reason(health, facts);
        let advice = reason.advice.clone();
        let touched: Vec<&str> = harms.iter().map(|harm| harm.text.as_str()).collect();
        found.push(reason.finding(health, severity, &touched.join("; ")));
        found.extend(harms.into_iter().map(|harm| Finding { advice: advice.clone(), ..harm }));
    } else if health.worst_lag_p99_ms() >= LATE_MS {
        let reason = reason(health, facts);
        found.push(Finding { text: note(health, facts), ..reason.finding(health, Severity::Note, "") });
    }
    found
}

fn full(health: &Health, facts: &Facts) -> Option<Finding> {
    let share = health.busiest_cpu_share();
    if share < FULL {
        return None;
    }
    let workers = health.workers.len();
    let advice = if workers < facts.machine.allowed_cores {
        format!("use more workers (--workers): there are {workers} for {} cores", facts.machine.allowed_cores)
    } else {
        String::from("give the generator more cores or a core of its own (taskset), or fewer virtual users")
    };
    // A schedule that was kept shows that the core was enough.
    let is_kept = facts.closed.is_none() && facts.iteration_lag.is_some_and(|lag| lag.p99_ms < LATE_MS);
    Some(Finding {
        cause: Cause::Cpu,
        severity: if is_kept { Severity::Suspect } else { Severity::Invalid },
        figure: format!("a worker used {} of a core", percent(share, 0)),
        text: format!(
            "the generator was the limit: its busiest worker used {} of a core and was up to {:.1} ms late (p99); the \
             target may be faster than these numbers",
            percent(share, 0),
            health.worst_lag_p99_ms()
        ),
        advice,
    })
}

/// A worker that runs or waits for a core all the time is the limit as one that is full is: others had part of its
/// core. Where the schedule was kept all the same, it did no harm.
fn never_idle(health: &Health, facts: &Facts) -> Option<Finding> {
    let busy = |worker: &crate::health::WorkerHealth| worker.cpu_share + worker.waited_share.unwrap_or_default();
    let worker = health.workers.iter().max_by(|a, b| busy(a).total_cmp(&busy(b)))?;
    if facts.closed.is_none() || health.busiest_cpu_share() >= FULL || busy(worker) < NEVER_IDLE {
        return None;
    }
    let (ran, waited) = (percent(worker.cpu_share, 0), percent(worker.waited_share.unwrap_or_default(), 0));
    Some(Finding {
        cause: Cause::RunQueue,
        severity: Severity::Invalid,
        figure: format!("ran {ran}, waited {waited} of the time"),
        text: format!(
            "the generator was the limit: a worker was never idle, it ran {ran} of the time and waited for a core \
             {waited}; the target may be faster than these numbers"
        ),
        advice: others_reason(None, None).advice,
    })
}

/// A generator that computes while the target waits for its core makes the target slow.
fn shared_core(health: &Health, facts: &Facts) -> Option<Finding> {
    let waits = |worker: &crate::health::WorkerHealth| worker.waited_share.unwrap_or_default();
    let worker = health.workers.iter().filter(|worker| worker.cpu_share >= SHARED.0 && waits(worker) >= SHARED.1);
    let worker = worker.max_by(|a, b| waits(a).total_cmp(&waits(b))).filter(|_| facts.is_target_here)?;
    let (used, waited) = (percent(worker.cpu_share, 0), percent(waits(worker), 0));
    Some(Finding {
        cause: Cause::SharedCore,
        severity: Severity::Suspect,
        figure: format!("ran {used}, waited {waited} of the time"),
        text: format!(
            "the target is on this machine, and a worker that used {used} of a core waited for one {waited} of the \
             time: they take turns, so the target is slower than it is alone"
        ),
        advice: String::from(OWN_CORES),
    })
}

const OWN_CORES: &str = "give generator and target cores of their own (taskset), or run them on two machines";

fn throttled(health: &Health, facts: &Facts) -> Option<Finding> {
    let time = facts.machine.throttling.time?;
    let share = time.as_secs_f64() / health.wall.as_secs_f64().max(1e-9);
    let reason = reason(health, facts);
    (reason.cause == Cause::Throttled && share >= NOTABLE_STALL).then(|| reason.finding(health, Severity::Suspect, ""))
}

/// Stamps do not help: the whole machine stood still.
fn stolen(facts: &Facts) -> Option<Finding> {
    let share = facts.machine.stolen.filter(|share| *share >= MUCH_STOLEN)?;
    let Reason { cause, figure, text, advice } = stolen_reason(share);
    let text = format!("{text}: kernel stamps are late by that, too");
    Some(Finding { cause, severity: Severity::Suspect, figure, text, advice })
}

fn late_starts(facts: &Facts) -> Option<Finding> {
    let lag = facts.iteration_lag?;
    let IterationLag { starts, late_share, p95_ms, max_ms, .. } = lag;
    let severity = match () {
        () if p95_ms >= LATE_MS => Severity::Invalid,
        () if late_share >= NOTABLE_STALL && max_ms >= GAP_MS => Severity::Suspect,
        () => return None,
    };
    let late = of((late_share * starts as f64).round() as u64, starts);
    let text = match severity {
        Severity::Invalid => format!(
            "iterations started late, one in twenty by {p95_ms:.1} ms or more, so the load was not the planned one"
        ),
        _ => format!("{late} iterations started 10 ms late or more, the latest by {}", time(max_ms)),
    };
    let figure = format!("{late} by 10 ms or more, up to {}", time(max_ms));
    Some(harm(Cause::LateStarts, severity, figure, text))
}

fn unstamped(health: &Health, facts: &Facts) -> Option<Finding> {
    let Facts { requests, unstamped, .. } = facts;
    let late = health.worst_lag_p99_ms();
    if late < NOTABLE_LATE_MS || *unstamped as f64 <= NOTABLE_UNSTAMPED * (*requests).max(1) as f64 {
        return None;
    }
    let count = of(*unstamped, *requests);
    let severity = if late >= LATE_MS { Severity::Invalid } else { Severity::Suspect };
    let text = format!(
        "the kernel did not stamp when {count} answers arrived, so their timings hold the lateness of the event loop, \
         {} (p99)",
        time(late)
    );
    Some(harm(Cause::StampsMissing, severity, format!("{count} requests, {} late (p99)", time(late)), text))
}

fn gap(health: &Health, facts: &Facts) -> Option<Finding> {
    let gap = health.worst_gap();
    let ms = gap.length.as_secs_f64() * 1e3;
    let stalled = health.workers.iter().map(|worker| worker.stalled_share).fold(0.0, f64::max);
    let spoils = facts.iteration_lag.is_some() || stalled >= NOTABLE_STALL;
    if ms < GAP_MS || (!spoils && ms < LONG_GAP_MS) {
        return None;
    }
    let missed: u64 = health.workers.iter().map(|worker| worker.missed_beats).sum();
    let text = format!(
        "an event loop stood still for {} from {} on ({missed} beats missed, {} of the time in all)",
        time(ms),
        time((gap.began.as_secs_f64() * 1e3).round()),
        percent(stalled, 1)
    );
    Some(harm(Cause::EventLoopGap, Severity::Suspect, format!("for {}", time(ms)), text))
}

/// Users that lost a good part of their time: the reason is the finding.
fn lost(health: &Health, facts: &Facts) -> Option<Finding> {
    let lost = lost_share(health, facts)?;
    let text = format!(
        "users lost about {} of their time to a late event loop, so the target may be faster than these rates",
        percent(lost, 0)
    );
    Some(harm(Cause::EventLoopGap, Severity::Invalid, format!("users lost {} of their time", percent(lost, 0)), text))
}

/// The share of their time that users waited for a late event loop, where it is notable. Whoever waits for an answer
/// waits that much longer; but a loop that stands still for long takes no more from a user than that time.
fn lost_share(health: &Health, facts: &Facts) -> Option<f64> {
    let closed = facts.closed.filter(|closed| closed.spent_ms > 0.0)?;
    let of_worker = |worker: &crate::health::WorkerHealth| {
        let by_waits = |ms: f64| closed.waits * ms / closed.spent_ms;
        let in_short_pieces = (worker.lag_avg_ms - worker.stalled_avg_ms).max(0.0);
        by_waits(in_short_pieces) + by_waits(worker.stalled_avg_ms).min(worker.stalled_share)
    };
    let most = health.workers.iter().map(of_worker).fold(0.0, f64::max).min(1.0);
    let is_late = health.worst_lag_p99_ms() >= LATE_MS || health.worst_gap().length.as_secs_f64() * 1e3 >= GAP_MS;
    (most >= NOTABLE_LOSS && is_late).then_some(most)
}

fn harm(cause: Cause, severity: Severity, figure: String, text: String) -> Finding {
    Finding { cause, severity, figure, text, advice: String::new() }
}

fn note(health: &Health, facts: &Facts) -> String {
    let starts = facts.iteration_lag.filter(|lag| lag.p99_ms >= LATE_MS);
    let starts = starts.map(|lag| format!("; one iteration in a hundred started {:.1} ms late or more", lag.p99_ms));
    format!(
        "a worker that used {} of a core was up to {:.1} ms late (p99); {}{}. Timings of requests do not include \
         that, because the kernel stamps arrivals; times that the script takes itself may",
        percent(health.busiest_cpu_share(), 0),
        health.worst_lag_p99_ms(),
        reason(health, facts).text,
        starts.unwrap_or_default()
    )
}

/// What made a worker late that had time to spare, and what helps.
struct Reason {
    cause: Cause,
    figure: String,
    text: String,
    advice: String,
}

impl Reason {
    /// The finding, with what it `touched`.
    fn finding(self, health: &Health, severity: Severity, touched: &str) -> Finding {
        let Reason { cause, figure, text, advice } = self;
        let text = format!(
            "the generator was held up: a worker that used {} of a core was up to {:.1} ms late (p99); \
             {text}{}{touched}",
            percent(health.busiest_cpu_share(), 0),
            health.worst_lag_p99_ms(),
            if touched.is_empty() { "" } else { "; " }
        );
        Finding { cause, severity, figure, text, advice }
    }
}

fn reason(health: &Health, facts: &Facts) -> Reason {
    let gap = health.worst_gap();
    let is_gap = gap.length.as_secs_f64() * 1e3 >= GAP_MS;
    let wait = health.workers.iter().filter_map(|worker| worker.waited_share).reduce(f64::max);
    let cores = facts.machine.allowed_cores as f64;
    if let Some(reason) = throttled_reason(health, facts) {
        return reason;
    }
    if is_gap && gap.occupation == Occupation::StoodStill {
        return stopped_reason(gap.length.as_secs_f64() * 1e3, facts.machine.pressure.unwrap_or_default());
    }
    if let Some(stolen) = facts.machine.stolen {
        return stolen_reason(stolen);
    }
    if cores > 0.0 && health.process_cores >= FULL * cores {
        return Reason {
            cause: Cause::Cpu,
            figure: format!("{:.2} of {} cores used", health.process_cores, facts.machine.allowed_cores),
            text: format!("this process used {:.2} of its {} cores", health.process_cores, facts.machine.allowed_cores),
            advice: String::from(
                "give this process more cores, fewer virtual users, or a target of its own process (without --serve)",
            ),
        };
    }
    let computed = is_gap && gap.occupation == Occupation::Computed;
    if computed || wait.is_some_and(|waited| waited < NOTABLE_WAIT) {
        return Reason {
            cause: Cause::EventLoopGap,
            figure: format!("a computation of {}", time(gap.length.as_secs_f64() * 1e3)),
            text: String::from("no other program held it up: a call of the script computed for a long time"),
            advice: String::from("make the script's long computations shorter, or use more workers (--workers)"),
        };
    }
    others_reason(wait, facts.machine.pressure)
}

fn throttled_reason(health: &Health, facts: &Facts) -> Option<Reason> {
    let super::Throttling { times, time: held } = facts.machine.throttling;
    let is_little = held.is_some_and(|held| held.as_secs_f64() < NOTABLE_WAIT * health.wall.as_secs_f64());
    if times == 0 || is_little {
        return None;
    }
    let held = held.map(|held| format!(", {} in all", time(held.as_secs_f64() * 1e3))).unwrap_or_default();
    Some(Reason {
        cause: Cause::Throttled,
        figure: format!("{times} times{held}"),
        text: format!("the CPU limit of its control group held the process up {times} times{held}"),
        advice: String::from("raise the CPU limit of the container or control group, or use fewer virtual users"),
    })
}

fn stopped_reason(ms: f64, pressure: Pressure) -> Reason {
    let short_of = [(pressure.memory, "memory"), (pressure.io, "storage")];
    if let Some((share, what)) = short_of.into_iter().find(|(share, _)| *share >= NOTABLE_STALL) {
        return Reason {
            cause: Cause::EventLoopGap,
            figure: format!("for {}", time(ms)),
            text: format!(
                "for {} its thread waited, and all tasks of this machine waited for {what} {} of the time",
                time(ms),
                percent(share, 0)
            ),
            advice: format!("see what keeps the {what} of this machine busy, or use fewer virtual users"),
        };
    }
    Reason {
        cause: Cause::EventLoopGap,
        figure: format!("for {}", time(ms)),
        text: format!(
            "for {} its thread neither computed nor waited for a core: the process or the machine was stopped \
             (SIGSTOP, a debugger, a paused virtual machine) or a system call blocked",
            time(ms)
        ),
        advice: String::from("see what stops processes on this machine, and keep slow disks out of the test"),
    }
}

fn stolen_reason(share: f64) -> Reason {
    Reason {
        cause: Cause::Steal,
        figure: format!("{} of the CPU time", percent(share, 0)),
        text: format!("the hypervisor gave {} of the machine's CPU time to others", percent(share, 0)),
        advice: String::from("measure on a machine that shares its processors with fewer others"),
    }
}

fn others_reason(wait: Option<f64>, pressure: Option<Pressure>) -> Reason {
    let waited = wait.map(|waited| format!("waited {} of the time", percent(waited, 1)));
    let all = pressure.filter(|pressure| pressure.cpu > 0.0).map(|pressure| {
        format!("; of all tasks on this machine some had no core {} of the time", percent(pressure.cpu, 0))
    });
    let text = match wait {
        Some(waited) => format!("the worker waited for a core {} of the time", percent(waited, 1)),
        None => String::from("the machine was busy with something else"),
    };
    Reason {
        cause: Cause::RunQueue,
        figure: waited.unwrap_or_else(|| String::from("busy machine")),
        text: text + all.as_deref().unwrap_or_default(),
        advice: String::from(
            "end what else runs on this machine, or give generator and target cores of their own (taskset); more \
             workers do not help",
        ),
    }
}
