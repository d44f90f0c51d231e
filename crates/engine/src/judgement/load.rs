//! Whether the planned load was applied, with the means it needs, and whether what is told of it has a basis. None of
//! this depends on how long the run was, but for its rate.

use units::show::{grouped, percent, time};

use super::{Cause, Facts, Finding, Percentile, Severity, of};
use crate::health::Health;

/// From this share of dropped iterations on, the load was another one.
const ANOTHER_LOAD: f64 = 0.05;
/// A rate that is lower by this share is not the planned one.
const NOTABLE_SHORTFALL: f64 = 0.01;
/// From this share of unanswered requests on, they are what was measured.
const NOTABLE_FAILURES: f64 = 0.01;
/// What slewing and two readings of a clock do is below this.
const NOTABLE_STEP_MS: f64 = 10.0;

/// All of them.
pub(super) fn findings(health: &Health, facts: &Facts, is_long: bool) -> Vec<Finding> {
    let found = [
        users_exhausted(health),
        is_long.then(|| below_rate(health)).flatten(),
        files_exhausted(facts),
        ports_exhausted(facts),
        clock_stepped(facts),
        bias(facts),
        outputs(facts),
        is_long.then(|| too_few(&facts.percentiles)).flatten(),
        disagreements(&facts.disagreements),
    ];
    found.into_iter().flatten().collect()
}

fn users_exhausted(health: &Health) -> Option<Finding> {
    let load = &health.arrivals;
    let planned = load.started + load.dropped;
    if load.dropped == 0 {
        return None;
    }
    let share = load.dropped as f64 / planned as f64;
    let dropped = of(load.dropped, planned);
    Some(Finding {
        cause: Cause::UsersExhausted,
        severity: if share >= ANOTHER_LOAD { Severity::Invalid } else { Severity::Suspect },
        figure: format!("{dropped} planned iterations dropped"),
        text: format!(
            "{dropped} planned iterations ({}) never started, because no virtual user was free: the load was lower \
             than planned, and percentiles leave those visitors out but for the ones from plan",
            percent(share, 1)
        ),
        advice: String::from(
            "raise preAllocatedVUs and maxVUs (--vus of a URL); where that many users wait, the target is slower than \
             the rate asks for",
        ),
    })
}

fn below_rate(health: &Health) -> Option<Finding> {
    let share = health.arrivals.achieved_share();
    if share > 1.0 - NOTABLE_SHORTFALL {
        return None;
    }
    Some(Finding {
        cause: Cause::BelowRate,
        severity: Severity::Invalid,
        figure: format!("{} of the planned rate", percent(share, 1)),
        text: format!(
            "iterations started at {} of the planned rate: the last one began {} after its time",
            percent(share, 1),
            time(health.arrivals.behind.as_secs_f64() * 1e3)
        ),
        advice: String::from("lower the rate, use more workers (--workers), or make the script's iterations cheaper"),
    })
}

fn files_exhausted(facts: &Facts) -> Option<Finding> {
    exhausted(
        Cause::FilesExhausted,
        (facts.without_file, facts.requests),
        "there were no file descriptors left for their connections",
        "raise the limit of open files (ulimit -n) or use fewer connections",
    )
}

fn ports_exhausted(facts: &Facts) -> Option<Finding> {
    exhausted(
        Cause::PortsExhausted,
        (facts.without_port, facts.requests),
        "this machine had no local port left towards the target",
        "keep connections (noConnectionReuse, noVUConnectionReuse), add addresses with localIPs, or widen \
         net.ipv4.ip_local_port_range",
    )
}

fn exhausted(cause: Cause, (failed, requests): (u64, u64), why: &str, advice: &str) -> Option<Finding> {
    if failed == 0 {
        return None;
    }
    let much = failed as f64 >= NOTABLE_FAILURES * requests as f64;
    let failed = of(failed, requests);
    Some(Finding {
        cause,
        severity: if much { Severity::Invalid } else { Severity::Suspect },
        figure: format!("{failed} requests"),
        text: format!("{failed} requests failed before they were sent, because {why}"),
        advice: advice.to_owned(),
    })
}

fn clock_stepped(facts: &Facts) -> Option<Finding> {
    let step = facts.machine.clock_step_ms.abs();
    (step >= NOTABLE_STEP_MS).then(|| Finding {
        cause: Cause::ClockStepped,
        severity: Severity::Suspect,
        figure: format!("by {}", time(step)),
        text: format!(
            "somebody set the machine's clock by {} while the test ran: durations come from another clock and hold; \
             times of day in outputs, and kernel stamps of the tenth of a second around it, do not",
            time(step)
        ),
        advice: String::from("let the clock be slewed (chrony, ntpd) instead of set while tests run"),
    })
}

fn bias(facts: &Facts) -> Option<Finding> {
    let (users, referee) = facts.bias?;
    let (more, users, referee) = (time(users - referee), time(users), time(referee));
    Some(Finding {
        cause: Cause::GeneratorBias,
        severity: Severity::Suspect,
        figure: format!("by {more}"),
        text: format!(
            "a referee beside the workers measured a median of {referee} where the users measured {users}: {more} of \
             it is the generator's, or the target treats its one connection better"
        ),
        advice: String::from("give the generator more cores or fewer virtual users, and compare again"),
    })
}

fn outputs(facts: &Facts) -> Option<Finding> {
    let lost = &facts.outputs.lost;
    (!lost.is_empty()).then(|| Finding {
        cause: Cause::OutputBackpressure,
        severity: Severity::Suspect,
        figure: lost.join("; "),
        text: format!("{}: what reads there sees fewer samples than this summary", lost.join("; ")),
        advice: String::from("write to a faster disk or receiver, or send fewer metrics"),
    })
}

/// Of figures that contradict each other at least one was measured wrongly.
fn disagreements(broken: &[String]) -> Option<Finding> {
    let first = broken.first()?;
    Some(Finding {
        cause: Cause::FiguresDisagree,
        severity: Severity::Suspect,
        figure: first.clone(),
        text: format!("figures contradict each other: {}", broken.join("; ")),
        advice: String::from(
            "keep the result (--save) and report it: this is a mistake of Onrush, or of the machine's clocks",
        ),
    })
}

/// One finding for all percentiles, the one with the fewest samples for its need first.
fn too_few(percentiles: &[Percentile]) -> Option<Finding> {
    let thin = || percentiles.iter().filter(|percentile| percentile.is_thin());
    let share = |percentile: &&Percentile| percentile.samples as f64 / percentile.needed() as f64;
    let wanted = thin().filter(|percentile| percentile.is_wanted).min_by(|a, b| share(a).total_cmp(&share(b)));
    let worst = wanted.or_else(|| thin().min_by(|a, b| share(a).total_cmp(&share(b))))?;
    let (named, samples) = (format!("p({}) of {}", worst.percent, worst.metric), grouped(worst.samples));
    Some(Finding {
        cause: Cause::TooFewSamples,
        severity: if wanted.is_some() { Severity::Suspect } else { Severity::Note },
        figure: format!("{named} from {samples}"),
        text: format!(
            "{named} comes from {samples} samples, fewer than ten of them beyond it: it may be that of a few chance \
             events; it needs {}",
            grouped(worst.needed())
        ),
        advice: String::from("run for longer, or judge by a lower percentile"),
    })
}
