//! Poisson arrivals: the gaps between starts of one seed, by the referee's stamps, are exponential. The test is that of
//! Anderson and Darling at 1 %, which one true seed in a hundred fails: three may.

use std::collections::BTreeMap;

use crate::truth::trial::bench::{Bench, Case};
use crate::truth::trial::claim::Claim;
use crate::truth::trial::cores::{CORES, own_core, words};
use crate::truth::trial::evidence::counts;
use crate::truth::trial::load::Load;
use crate::truth::trial::referee::Service;
use crate::truth::trial::statistics::{ANDERSON_DARLING_1_PERCENT, anderson_darling, sorted};

pub fn cases() -> Vec<Case> {
    vec![Case::new("Poisson arrivals", run)]
}

/// Starts a second of one seed.
const RATE: u64 = 200;
/// Seeds that run side by side.
const SEEDS: u64 = 25;

fn script(first: u64) -> String {
    let scenario = |seed: u64| {
        format!(
            "s{seed}: {{ executor: 'constant-arrival-rate', rate: {RATE}, duration: '6s', preAllocatedVUs: 20,
               maxVUs: 20, arrivals: 'poisson', seed: {seed}, env: {{ SEED: '{seed}' }} }}"
        )
    };
    let scenarios: Vec<String> = (first..first + SEEDS).map(scenario).collect();
    format!(
        "import http from 'k6/http'
         export const options = {{ scenarios: {{ {} }} }}
         export default () => http.get(`${{__ENV.SERVER}}/delay/0/${{__ENV.SEED}}`, {{ tags: {{ name: 'visit' }} }})",
        scenarios.join(", ")
    )
}

fn run(bench: &Bench<'_>) -> Result<Vec<Claim>, String> {
    let runs = bench.size(1, 4);
    let (mut passed, mut worst, mut claims) = (0_u32, 0.0_f64, Vec::new());
    for at in 0..runs {
        let ran = Load {
            script: script(1 + at * SEEDS),
            service: Service { core: Some(CORES.1), ..Service::default() },
            before: own_core(),
            flags: words("--workers 1"),
            ..Load::default()
        }
        .run(bench)?;
        let mut arrivals: BTreeMap<u64, Vec<i64>> = BTreeMap::new();
        for record in &ran.account.records {
            arrivals.entry(record.number).or_default().push(record.arrived_ns);
        }
        for times in arrivals.values_mut() {
            times.sort_unstable();
            let gap = |pair: &[i64]| (pair[1] - pair[0]) as f64 / 1e9 * RATE as f64;
            let distance = anderson_darling(&sorted(times.windows(2).map(gap).collect()));
            passed += u32::from(distance <= ANDERSON_DARLING_1_PERCENT);
            worst = worst.max(distance);
        }
        claims = counts(&ran);
    }
    let seeds = (runs * SEEDS) as u32;
    let most_that_fail = (seeds * 3 / 100).max(1);
    let mut all = vec![
        Claim::at_most(
            format!("of {seeds} seeds not exponential"),
            f64::from(seeds - passed),
            f64::from(most_that_fail),
        ),
        Claim::at_most("largest distance, no limit", worst, f64::INFINITY),
    ];
    all.extend(claims);
    Ok(all)
}
