//! Known delays: the server answers after a time that the client asked for. Each user tells with its next request what
//! it measured for the last one, so the referee has both sides of each request; the last request of each user stays
//! untold.

use std::collections::HashMap;

use crate::truth::trial::bench::{Bench, Case};
use crate::truth::trial::claim::Claim;
use crate::truth::trial::cores::{CORES, own_core, words};
use crate::truth::trial::evidence::counts;
use crate::truth::trial::load::{Load, Trial};
use crate::truth::trial::referee::Service;
use crate::truth::trial::statistics::{kolmogorov_smirnov, quantile, sorted};

/// A distribution of delays.
#[derive(Clone, Copy)]
struct Delay {
    name: &'static str,
    /// Microseconds, in JavaScript.
    us: &'static str,
    /// Users for 1,000 starts a second.
    users: u64,
    /// Whether it has a density: then a microsecond moves no share of it that matters.
    is_smooth: bool,
}

const ALL: &[Delay] = &[
    Delay { name: "delay 0.2 ms", us: "200", users: 100, is_smooth: false },
    Delay { name: "delay 20 ms", us: "20000", users: 100, is_smooth: false },
    Delay { name: "delay 1 s", us: "1000000", users: 1200, is_smooth: false },
    Delay { name: "delay 1 or 100 ms", us: "Math.random() < 0.1 ? 100000 : 1000", users: 100, is_smooth: false },
    Delay {
        name: "delay exponential, 100 ms",
        us: "Math.ceil(Math.min(1000000, 200 - 100000 * Math.log(1 - Math.random())))",
        users: 300,
        is_smooth: true,
    },
];

pub fn cases() -> Vec<Case> {
    ALL.iter().map(|delay| Case::new(delay.name, move |bench| run(bench, *delay))).collect()
}

/// A rate of requests whose delay is `us`, a JavaScript expression.
pub(super) fn script(rate: u64, users: u64, seconds: u64, us: &str) -> String {
    format!(
        "import http from 'k6/http'
         import exec from 'k6/execution'
         export const options = {{
           summaryTrendStats: ['min', 'med', 'p(90)', 'p(99)', 'p(99.9)', 'max', 'count', 'avg'],
           scenarios: {{ load: {{
             executor: 'constant-arrival-rate', rate: {rate}, duration: '{seconds}s', preAllocatedVUs: {users},
             maxVUs: {users}, gracefulStop: '10s',
           }} }},
         }}
         let last = ''
         export default () => {{
           const number = exec.scenario.iterationInTest + 1
           if (number === 2 * {rate}) console.log('mark')
           const url = `${{__ENV.SERVER}}/delay/${{{us}}}/${{number}}${{last}}`
           const took = http.get(url, {{ tags: {{ name: 'delay' }} }}).timings.duration
           last = `/${{number}}/${{Math.round(took * 1e6)}}`
         }}"
    )
}

/// A request by both sides, in ms.
pub(super) struct Pair {
    pub asked: f64,
    pub served: f64,
    pub told: f64,
}

/// Those that were told.
pub(super) fn pairs(ran: &Trial) -> Vec<Pair> {
    let told = ran.account.records.iter().filter(|record| record.told_ns > 0);
    let told: HashMap<u64, i64> = told.map(|record| (record.told_number, record.told_ns)).collect();
    let pair = |record: &crate::truth::trial::account::Record| {
        let told = *told.get(&record.number)? as f64 / 1e6;
        let (asked, served) = (record.asked_us as f64 / 1e3, record.ms()?);
        Some(Pair { asked, served, told })
    };
    ran.account.records.iter().filter_map(pair).collect()
}

fn run(bench: &Bench<'_>, delay: Delay) -> Result<Vec<Claim>, String> {
    let (rate, seconds) = bench.size((2000, 5), (5000, 40));
    let users = delay.users * rate / 1000;
    let ran = Load {
        script: script(rate, users, seconds, delay.us),
        service: Service { core: Some(CORES.1), ..Service::default() },
        before: own_core(),
        flags: words("--workers 1"),
        ..Load::default()
    }
    .run(bench)?;
    let pairs = pairs(&ran);
    let early = pairs.iter().map(|pair| pair.asked - pair.told).fold(0.0, f64::max);
    let errors = sorted(pairs.iter().map(|pair| (pair.told - pair.served).abs()).collect());
    let told = sorted(pairs.iter().map(|pair| pair.told).collect());
    let served = sorted(pairs.iter().map(|pair| pair.served).collect());
    let untold = ran.account.requests - pairs.len() as u64;
    let slack = if delay.is_smooth { 0.0 } else { ERROR_P50_MS };
    let distance = kolmogorov_smirnov(&told, &served, slack);
    let mut claims = vec![
        Claim::at_most("requests of which nothing was told", untold as f64, users as f64),
        Claim::at_most("too early by, ms", early, 0.0),
        Claim::at_most("error p50, ms", quantile(&errors, 0.5), ERROR_P50_MS),
        Claim::at_most("error p99, ms", quantile(&errors, 0.99), ERROR_P99_MS),
        Claim::at_most("Kolmogorov-Smirnov distance", distance, 0.003),
        Claim::near("mean", ran.figure("http_req_duration", "avg"), mean(&ran.served_ms()), ERROR_P99_MS),
    ];
    claims.extend(counts(&ran));
    Ok(claims)
}

const ERROR_P50_MS: f64 = 0.04;
const ERROR_P99_MS: f64 = 0.15;

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
