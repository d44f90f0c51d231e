//! How punctual starts are, by the referee's stamps, beside a bare loop in C on the same core: `xtask/truth/pacer.c`.
//!
//! A plan has no mark on the referee's clock. The earliest arrival by its own planned time gives one, later by what the
//! least late start was late, which each program says of itself: what remains is the way of a request to the kernel of
//! the other side, some 10 µs, and it counts neither for nor against one of them.

use std::process::Command;

use crate::truth::trial::account::Account;
use crate::truth::trial::bench::{Bench, Case};
use crate::truth::trial::claim::Claim;
use crate::truth::trial::cores::{CORES, own_core, words};
use crate::truth::trial::evidence::counts;
use crate::truth::trial::load::{Load, Trial};
use crate::truth::trial::referee::{Referee, Service};
use crate::truth::trial::statistics::{origin_ns, quantile, rate_of, sorted};

/// Starts a second, and how late in the median they may be, in ms.
const RATES: [(u64, f64); 3] = [(5_000, 0.04), (10_000, 0.05), (20_000, 0.06)];
const CONNECTIONS: u64 = 200;

pub fn cases() -> Vec<Case> {
    let case = |(rate, p50)| Case::new(format!("{rate} starts a second"), move |bench| run(bench, rate, p50));
    RATES.into_iter().map(case).chain([Case::new("100,000 URLs", urls)]).collect()
}

fn service() -> Service {
    Service { core: Some(CORES.1), ..Service::default() }
}

/// Starts at a rate, each over a connection that was made before.
fn script(rate: u64, seconds: u64, path: &str) -> String {
    format!(
        "import http from 'k6/http'
         import exec from 'k6/execution'
         export const options = {{
           summaryTrendStats: ['min', 'med', 'p(99)', 'max', 'count'],
           scenarios: {{
             warm: {{ executor: 'per-vu-iterations', vus: {CONNECTIONS}, iterations: 1, exec: 'warm', maxDuration: '1s',
               gracefulStop: '0s' }},
             load: {{ executor: 'constant-arrival-rate', rate: {rate}, duration: '{seconds}s', startTime: '2s',
               preAllocatedVUs: {CONNECTIONS}, maxVUs: {CONNECTIONS} }},
           }},
         }}
         export function warm() {{ http.get(`${{__ENV.SERVER}}/delay/0/0`) }}
         export default () => {{
           const number = exec.scenario.iterationInTest + 1
           http.get(`${{__ENV.SERVER}}/delay/0/${{number}}{path}`)
         }}"
    )
}

/// How late starts were, in ms, ascending; and the share by which their rate was off.
struct Punctuality {
    late_ms: Vec<f64>,
    rate_off: f64,
}

impl Punctuality {
    fn of(account: &Account, rate: u64, least_ms: f64) -> Punctuality {
        let planned = account.records.iter().filter(|record| record.number > 0);
        let arrivals: Vec<(u64, i64)> = planned.map(|record| (record.number - 1, record.arrived_ns)).collect();
        let origin = origin_ns(arrivals.iter().copied(), rate as f64).unwrap_or(f64::NAN) - least_ms * 1e6;
        let late = |&(number, at): &(u64, i64)| (at as f64 - origin - number as f64 * 1e9 / rate as f64) / 1e6;
        let late_ms = sorted(arrivals.iter().map(late).collect());
        Punctuality { late_ms, rate_off: (rate_of(&arrivals) / rate as f64 - 1.0).abs() }
    }

    fn at(&self, share: f64) -> f64 {
        quantile(&self.late_ms, share)
    }
}

fn of_onrush(bench: &Bench<'_>, rate: u64, seconds: u64) -> Result<(Trial, Punctuality), String> {
    let (script, flags) = (script(rate, seconds, ""), words("--workers 1 --no-thresholds"));
    let script = script.replace("number}`", "number}`, { tags: { name: 'start' } }");
    let ran = Load { script, service: service(), before: own_core(), flags, ..Load::default() }.run(bench)?;
    let punctuality = Punctuality::of(&ran.account, rate, ran.figure("iteration_lag", "min"));
    Ok((ran, punctuality))
}

fn of_pacer(bench: &Bench<'_>, rate: u64, seconds: u64) -> Result<Punctuality, String> {
    let referee = Referee::start(&bench.programs.referee, &bench.folder, service())?;
    let port = referee.url.rsplit(':').next().unwrap_or_default().to_owned();
    let numbers = [port, rate.to_string(), seconds.to_string(), CONNECTIONS.to_string()];
    let core = own_core();
    let mut command = Command::new(&core[0]);
    command.args(&core[1..]).arg(&bench.programs.pacer).args(numbers);
    let said = command.output();
    let said = said.map_err(|error| format!("cannot start the loop in C: {error}"))?;
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    let least_ns = text.trim().strip_prefix("earliest ").and_then(|number| number.parse::<f64>().ok());
    let least_ns = least_ns.ok_or_else(|| {
        let why = String::from_utf8_lossy(&said.stderr);
        format!("the loop in C ended with {} and said '{}'", said.status, why.trim())
    })?;
    Ok(Punctuality::of(&referee.account()?, rate, least_ns / 1e6))
}

fn median(rounds: &[Punctuality], figure: impl Fn(&Punctuality) -> f64) -> f64 {
    quantile(&sorted(rounds.iter().map(figure).collect()), 0.5)
}

fn run(bench: &Bench<'_>, rate: u64, p50_ms: f64) -> Result<Vec<Claim>, String> {
    let (rounds, seconds) = bench.size((3, 3), (3, 8));
    let (mut ours, mut loops, mut claims) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        loops.push(of_pacer(bench, rate, seconds)?);
        let (ran, punctuality) = of_onrush(bench, rate, seconds)?;
        ours.push(punctuality);
        claims = counts(&ran);
    }
    let p99 = |punctuality: &Punctuality| punctuality.at(0.99);
    let beside = median(&loops, p99);
    let mut all = vec![
        Claim::at_most("late p50, ms", median(&ours, |round| round.at(0.5)), p50_ms),
        Claim::beside("late p99, ms; twice the loop's", median(&ours, p99), beside, 2.0 * beside),
        Claim::beside(
            "late p50, ms; the loop's, no limit",
            median(&ours, |round| round.at(0.5)),
            median(&loops, |round| round.at(0.5)),
            f64::INFINITY,
        ),
        Claim::at_most("rate off by, %", 100.0 * median(&ours, |round| round.rate_off), 0.01),
    ];
    all.extend(claims);
    Ok(all)
}

/// A URL of its own for each request is a time series of its own: growing tables must hold up no start.
fn urls(bench: &Bench<'_>) -> Result<Vec<Claim>, String> {
    let (rate, seconds) = (2000, bench.size(5, 50));
    let (script, flags) = (script(rate, seconds, "?u=${number}"), words("--workers 1 --no-thresholds"));
    let ran = Load { script, service: service(), before: own_core(), flags, ..Load::default() }.run(bench)?;
    let punctuality = Punctuality::of(&ran.account, rate, ran.figure("iteration_lag", "min"));
    let mut claims = vec![
        Claim::at_most("late p99, ms", punctuality.at(0.99), 2.0),
        Claim::at_most("the latest, ms", punctuality.at(1.0), 2.0),
        Claim::near("the latest, ms, by both", ran.figure("iteration_lag", "max"), punctuality.at(1.0), 0.5),
    ];
    claims.extend(counts(&ran));
    Ok(claims)
}
