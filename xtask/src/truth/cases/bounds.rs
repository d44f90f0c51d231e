//! How far response times are from the truth: each run prints a bound of its own error, and the referee knows that
//! error. The client tells what it measured for each request; the answer left between two readings of the server's
//! clock, so the error is what lies outside of both.

use crate::truth::trial::bench::{Bench, Case};
use crate::truth::trial::claim::Claim;
use crate::truth::trial::cores::{CORES, own_core, words};
use crate::truth::trial::load::{Load, Spoil, Trial};
use crate::truth::trial::referee::{Carrier, Service};
use crate::truth::trial::statistics::{quantile, sorted};

/// A run whose error is known.
struct BoundedRun {
    name: &'static str,
    /// An executor with its load.
    load: &'static str,
    /// Microseconds, in JavaScript.
    delay: &'static str,
    /// Programs that compute on the generator's core.
    beside: usize,
    carrier: Carrier,
}

const STEADY: &str = "executor: 'constant-arrival-rate', rate: 1000, preAllocatedVUs: 100, maxVUs: 100";
const FAST: &str = "executor: 'constant-arrival-rate', rate: 4000, preAllocatedVUs: 100, maxVUs: 100";
const SLOW: &str = "executor: 'constant-arrival-rate', rate: 60, preAllocatedVUs: 20, maxVUs: 20";
const BURSTS: &str = "executor: 'ramping-arrival-rate', startRate: 50, preAllocatedVUs: 100, maxVUs: 100, stages: [
    { duration: '1s', target: 50 }, { duration: '0s', target: 4000 }, { duration: '1s', target: 4000 },
    { duration: '0s', target: 50 }, { duration: '2s', target: 50 }]";
const USERS: &str = "executor: 'constant-vus', vus: 10";

const RUNS: &[BoundedRun] = &[
    BoundedRun { name: "1,000/s", load: STEADY, delay: "20000", beside: 0, carrier: Carrier::Tcp },
    BoundedRun { name: "4,000/s", load: FAST, delay: "1000", beside: 0, carrier: Carrier::Tcp },
    BoundedRun { name: "60/s", load: SLOW, delay: "5000", beside: 0, carrier: Carrier::Tcp },
    BoundedRun { name: "50/s and 4,000/s", load: BURSTS, delay: "1000", beside: 0, carrier: Carrier::Tcp },
    BoundedRun { name: "10 users", load: USERS, delay: "200", beside: 0, carrier: Carrier::Tcp },
    BoundedRun { name: "1,000/s, TLS", load: STEADY, delay: "2000", beside: 0, carrier: Carrier::Tls },
    BoundedRun { name: "1,000/s beside 1 program", load: STEADY, delay: "20000", beside: 1, carrier: Carrier::Tcp },
    BoundedRun { name: "10 users beside 4 programs", load: USERS, delay: "1000", beside: 4, carrier: Carrier::Tcp },
];

pub fn cases() -> Vec<Case> {
    vec![Case::new("error of response times", bounds)]
}

fn load(run: &BoundedRun) -> Load {
    let duration = if run.load.contains("stages") { "" } else { "duration: '4s'," };
    let script = format!(
        "import http from 'k6/http'
         import exec from 'k6/execution'
         export const options = {{ scenarios: {{ load: {{ {}, {duration} gracefulStop: '10s' }} }} }}
         let last = ''
         export default () => {{
           const number = exec.scenario.iterationInTest + 1
           if (number === 1) console.log('mark')
           const url = `${{__ENV.SERVER}}/delay/${{{}}}/${{number}}${{last}}`
           const took = http.get(url, {{ tags: {{ name: 'delay' }} }}).timings.duration
           last = `/${{number}}/${{Math.round(took * 1e6)}}`
         }}",
        run.load, run.delay
    );
    let is_alone = run.beside == 0;
    Load {
        script,
        service: Service { core: Some(CORES.1), carrier: run.carrier, ..Service::default() },
        before: if is_alone { own_core() } else { words(&format!("taskset -c {}", CORES.0)) },
        flags: words("--workers 1 --insecure-skip-tls-verify"),
        spoil: (!is_alone).then_some(Spoil::Spin(run.beside, CORES.0)),
        ..Load::default()
    }
}

/// The least error of each request that was told, in ms, ascending.
fn errors(ran: &Trial) -> Vec<f64> {
    let records = || ran.account.records.iter();
    let told: std::collections::HashMap<u64, f64> = records()
        .filter(|record| record.told_ns > 0)
        .map(|record| (record.told_number, record.told_ns as f64 / 1e6))
        .collect();
    let error = |record: &crate::truth::trial::account::Record| {
        let told = told.get(&record.number).filter(|_| record.written_ns > 0)?;
        let [least, most] = [record.begun_ns, record.written_ns].map(|ns| (ns - record.arrived_ns) as f64 / 1e6);
        Some((told - most).max(least - told).max(0.0))
    };
    sorted(records().filter_map(error).collect())
}

fn bounds(bench: &Bench<'_>) -> Result<Vec<Claim>, String> {
    let times = bench.size(2, 13);
    let (mut covered, mut all) = (0_u64, 0_u64);
    let mut claims = Vec::new();
    for run in RUNS {
        let (mut missed, mut tightness) = (Vec::new(), Vec::new());
        for _ in 0..times {
            let ran = load(run).run(bench)?;
            let said = &ran.summary["judgement"]["timing_error"];
            let (of_100, within) = (said["of_100"].as_f64(), said["within_ms"].as_f64());
            let errors = errors(&ran);
            let (Some(of_100), Some(within), false) = (of_100, within, errors.is_empty()) else {
                return Err(format!("{}: no bound, or nothing to hold it against: {said}", run.name));
            };
            let error = quantile(&errors, of_100 / 100.0);
            all += 1;
            covered += u64::from(error <= within);
            tightness.push(within / error.max(1e-3));
            if error > within {
                missed.push(format!("{within:.3} said, {error:.3} true ({of_100} of 100)"));
            }
        }
        let median = quantile(&sorted(tightness), 0.5);
        claims.push(Claim::says(format!("{}: bound / error", run.name), format!("{median:.1}"), true));
        claims.extend(missed.into_iter().map(|line| Claim::says(run.name, line, true)));
    }
    claims.push(Claim::at_most("not covered, of 100 runs", 100.0 * (all - covered) as f64 / all as f64, 1.0));
    claims.push(Claim::says("covered", format!("{covered} of {all}"), true));
    Ok(claims)
}
