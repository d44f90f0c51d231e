//! The wall clock is set by an hour while Onrush runs, for its process alone (`xtask/truth/clock.c`, preloaded): stamps
//! of the kernel jump with it, and no latency may.

use super::delays::{pairs, script};
use crate::truth::trial::bench::{Bench, Case};
use crate::truth::trial::claim::Claim;
use crate::truth::trial::cores::{CORES, own_core, words};
use crate::truth::trial::evidence::{causes, counts, quantile_claims};
use crate::truth::trial::load::{Load, Spoil, Trial};
use crate::truth::trial::referee::Service;
use crate::truth::trial::statistics::{quantile, sorted};

pub fn cases() -> Vec<Case> {
    vec![
        Case::new("clock set forward 1 h", |bench| step(bench, 3600)),
        Case::new("clock set back 1 h", |bench| step(bench, -3600)),
    ]
}

const RATE: u64 = 1000;
/// A thousandth of it is more than the noise of a quiet machine.
const DELAY_US: &str = "200000";

fn run(bench: &Bench<'_>, seconds: i64) -> Result<Trial, String> {
    let file = bench.folder.join("step");
    let _ = std::fs::remove_file(&file);
    let preload = format!("LD_PRELOAD={}", bench.programs.clock.display());
    let steps = [format!("CLOCK_STEP_S={seconds}"), format!("CLOCK_STEP_FILE={}", file.display())];
    let before = [String::from("env"), preload].into_iter().chain(steps).chain(own_core()).collect();
    Load {
        script: script(RATE, 500, 6, DELAY_US),
        service: Service { core: Some(CORES.1), ..Service::default() },
        before,
        flags: words("--workers 1"),
        spoil: Some(Spoil::Touch(file)),
        ..Load::default()
    }
    .run(bench)
}

/// By how much each latency is off the referee's, in %, ascending.
fn off(ran: &Trial) -> Vec<f64> {
    sorted(pairs(ran).iter().map(|pair| 100.0 * (pair.told - pair.served).abs() / pair.served).collect())
}

fn step(bench: &Bench<'_>, seconds: i64) -> Result<Vec<Claim>, String> {
    let (still, ran) = (run(bench, 0)?, run(bench, seconds)?);
    let (without, with) = (off(&still), off(&ran));
    let at = |share: f64| (quantile(&with, share), quantile(&without, share));
    let (p50, most) = (at(0.5), at(1.0));
    let false_alarm = still.causes().contains(&"clock_stepped");
    let mut claims = vec![
        Claim::beside("off p50, %; without a step", p50.0, p50.1, 0.1),
        Claim::beside("off at most, %; without a step", most.0, most.1, 0.1),
        causes(&ran, "clock_stepped"),
        Claim::says("verdict without a step", still.verdict(), !false_alarm),
    ];
    claims.extend(quantile_claims(&ran, "http_req_duration_from_plan", &ran.planned_ms(RATE as f64)));
    claims.extend(counts(&ran));
    Ok(claims)
}
