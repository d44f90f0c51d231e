//! The cases: what is done to server and generator, and what must come of it.

use std::time::Duration;

use super::claim::Claim;
use super::load::{Frozen, Load, Trial};
use super::{Bench, kolmogorov_smirnov, quantile};

/// A case by name.
pub struct Case {
    pub name: &'static str,
    pub run: fn(&Bench<'_>) -> Result<Vec<Claim>, String>,
}

/// All of them.
pub const ALL: &[Case] = &[
    Case { name: "quiet", run: |bench| quiet(bench) },
    Case { name: "server stands still 0.1 s", run: |bench| server_freeze(bench, 100) },
    Case { name: "server stands still 0.5 s", run: |bench| server_freeze(bench, 500) },
    Case { name: "server stands still 1.4 s", run: |bench| server_freeze(bench, 1400) },
    Case { name: "generator stops 0.5 s", run: |bench| generator_freeze(bench, 500) },
    Case { name: "generator stops 1.4 s", run: |bench| generator_freeze(bench, 1400) },
    Case { name: "users stopped 1.4 s", run: |bench| closed_freeze(bench, 1400) },
    Case { name: "delay 0.2 ms", run: |bench| delay(bench, "200", 0.2) },
    Case { name: "delay 20 ms", run: |bench| delay(bench, "20000", 20.0) },
    Case { name: "delay 1 or 100 ms", run: |bench| delay(bench, "Math.random() < 0.1 ? 100000 : 1000", 1.0) },
    Case {
        name: "delay exponential",
        run: |bench| delay(bench, "Math.ceil(-20000 * Math.log(1 - Math.random()))", 0.0),
    },
    Case { name: "counts of faults", run: faults },
    Case { name: "counts of a cut end", run: cut_end },
    Case { name: "users exhausted", run: exhausted },
];

/// For a message.
pub fn names() -> String {
    ALL.iter().map(|case| case.name).collect::<Vec<_>>().join(", ")
}

/// Starts a second; a freeze of 1.4 s needs a user for each start in it.
const RATE: u64 = 500;
const USERS: u64 = 1200;

/// An arrival rate of requests that the server delays by `us`, a JavaScript expression.
fn script(rate: u64, users: u64, seconds: u64, us: &str) -> String {
    format!(
        "import http from 'k6/http'
         export const options = {{
           summaryTrendStats: ['min', 'med', 'p(90)', 'p(99)', 'p(99.9)', 'max', 'count'],
           scenarios: {{ load: {{
             executor: 'constant-arrival-rate', rate: {rate}, duration: '{seconds}s', preAllocatedVUs: {users},
             maxVUs: {users}, gracefulStop: '10s',
           }} }},
         }}
         let own = 0
         export default () => {{
           const number = __VU * 1000000 + own++
           http.get(`${{__ENV.SERVER}}/delay/${{{us}}}/${{number}}`, {{ tags: {{ n: String(number), name: 'delay' }} }})
         }}"
    )
}

const PERCENTILES: [(&str, f64); 4] = [("med", 0.5), ("p(90)", 0.9), ("p(99)", 0.99), ("p(99.9)", 0.999)];

/// Percentiles of a metric beside the referee's, within the larger of 1 % and 2 ms.
fn percentiles(ran: &Trial, metric: &str, truth: &[f64]) -> Vec<Claim> {
    let row = |&(name, share): &(&str, f64)| {
        let true_value = quantile(truth, share);
        Claim::near(format!("{metric} {name}"), ran.figure(metric, name), true_value, (true_value * 0.01).max(2.0))
    };
    PERCENTILES.iter().map(row).collect()
}

/// Each time from plan beside the referee's answer to that request.
fn planned(ran: &Trial) -> Vec<Claim> {
    let errors = ran.plan_errors_ms(RATE as f64).unwrap_or_default();
    let at = |share: f64| quantile(&errors, share);
    vec![Claim::at_most("plan off p50, ms", at(0.5), 0.5), Claim::at_most("plan off p99, ms", at(0.99), 2.0)]
}

fn causes(ran: &Trial, wanted: &str) -> Claim {
    let said = format!("{} {}", ran.verdict(), ran.causes().join(" "));
    Claim::says(format!("verdict names {wanted}"), said, ran.causes().contains(&wanted))
}

fn counts(ran: &Trial) -> Vec<Claim> {
    let iterations = &ran.summary["judgement"]["iterations"];
    let part = |name: &str| iterations[name].as_u64().unwrap_or_default();
    let requests = ran.count("http_reqs") + ran.count("http_reqs_interrupted");
    vec![
        Claim::same("requests", requests, ran.account.records.len() as u64),
        Claim::same("bytes sent", ran.count("data_sent"), ran.account.bytes_in),
        Claim::same("bytes received", ran.count("data_received"), ran.account.bytes_out),
        Claim::same("planned iterations", part("planned"), part("ended") + part("dropped") + part("interrupted")),
    ]
}

fn quiet(bench: &Bench<'_>) -> Result<Vec<Claim>, String> {
    let ran = Load { script: script(RATE, USERS, 5, "0"), samples: true, ..Load::default() }.run(bench)?;
    let mut rows = percentiles(&ran, "http_req_duration", &ran.served_ms());
    rows.extend(planned(&ran));
    rows.extend(counts(&ran));
    rows.push(Claim::says("verdict", ran.verdict(), ran.verdict() != "INVALID"));
    Ok(rows)
}

fn server_freeze(bench: &Bench<'_>, ms: u64) -> Result<Vec<Claim>, String> {
    let freeze = Some((Frozen::Server, Duration::from_secs(3), Duration::from_millis(ms)));
    let ran = Load { script: script(RATE, USERS, 6, "1000"), freeze, samples: true, ..Load::default() }.run(bench)?;
    let mut rows = percentiles(&ran, "http_req_duration", &ran.served_ms());
    rows.extend(planned(&ran));
    rows.extend(counts(&ran));
    Ok(rows)
}

/// Requests that began late are not slow; from the plan they are.
fn generator_freeze(bench: &Bench<'_>, ms: u64) -> Result<Vec<Claim>, String> {
    let freeze = Some((Frozen::Generator, Duration::from_secs(3), Duration::from_millis(ms)));
    let ran = Load { script: script(RATE, USERS, 6, "1000"), freeze, samples: true, ..Load::default() }.run(bench)?;
    let mut rows = planned(&ran);
    rows.push(causes(&ran, "event_loop_gap"));
    rows.extend(counts(&ran));
    Ok(rows)
}

/// The same in a closed loop, which has no plan.
fn closed_freeze(bench: &Bench<'_>, ms: u64) -> Result<Vec<Claim>, String> {
    let script = "import http from 'k6/http'
        export const options = { vus: 4, duration: '6s' }
        export default () => http.get(`${__ENV.SERVER}/delay/5000/0`)";
    let freeze = Some((Frozen::Generator, Duration::from_secs(3), Duration::from_millis(ms)));
    let ran = Load { script: script.to_owned(), freeze, ..Load::default() }.run(bench)?;
    Ok(counts(&ran).into_iter().chain([causes(&ran, "event_loop_gap")]).collect())
}

/// Each request's own duration beside the referee's of that request.
fn delay(bench: &Bench<'_>, us: &str, least_ms: f64) -> Result<Vec<Claim>, String> {
    let ran = Load { script: script(200, 200, 5, us), samples: true, ..Load::default() }.run(bench)?;
    let pair = |record: &super::referee::Record| Some((*ran.durations.get(&record.number)?, record.ms()?));
    let pairs: Vec<(f64, f64)> = ran.account.records.iter().filter_map(pair).collect();
    let mut errors: Vec<f64> = pairs.iter().map(|(said, served)| (said - served).abs()).collect();
    errors.sort_by(f64::total_cmp);
    let (mut said, mut served): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
    said.sort_by(f64::total_cmp);
    served.sort_by(f64::total_cmp);
    let mut claims = vec![
        Claim::same("samples", said.len() as u64, ran.account.records.len() as u64),
        Claim::at_most("too early by, ms", (least_ms - quantile(&said, 0.0)).max(0.0), 0.0),
        Claim::at_most("error p50, ms", quantile(&errors, 0.5), 0.15),
        Claim::at_most("error p99, ms", quantile(&errors, 0.99), 1.0),
    ];
    // Where many delays are the same, a microsecond moves all of them.
    if least_ms == 0.0 {
        claims.push(Claim::at_most("Kolmogorov-Smirnov distance", kolmogorov_smirnov(&said, &served), 0.02));
    }
    Ok(claims)
}

/// Resets, cut answers, silence that ends by a timeout: all are requests.
fn faults(bench: &Bench<'_>) -> Result<Vec<Claim>, String> {
    let script = "import http from 'k6/http'
        export const options = { scenarios: { load: { executor: 'per-vu-iterations', vus: 20, iterations: 100 } } }
        const modes = ['delay/0', 'reset/0', 'cut/0', 'delay/3000', 'delay/0']
        let own = 0
        export default () => {
          const mode = own % 50 === 49 ? 'silent/0' : modes[own % modes.length]
          http.get(`${__ENV.SERVER}/${mode}/${own++}`, { timeout: '300ms', tags: { name: 'fault' } })
        }";
    let ran = Load { script: script.to_owned(), ..Load::default() }.run(bench)?;
    Ok(counts(&ran))
}

/// The end of the test cuts requests short that the server has.
fn cut_end(bench: &Bench<'_>) -> Result<Vec<Claim>, String> {
    let script = "import http from 'k6/http'
        export const options = { scenarios: { load: {
          executor: 'constant-vus', vus: 20, duration: '2s', gracefulStop: '0s' } } }
        export default () => http.get(`${__ENV.SERVER}/delay/150000/0`)";
    let ran = Load { script: script.to_owned(), ..Load::default() }.run(bench)?;
    let interrupted = ran.summary["judgement"]["iterations"]["interrupted"].as_u64().unwrap_or_default();
    Ok(counts(&ran).into_iter().chain([Claim::says("interrupted iterations", interrupted, interrupted > 0)]).collect())
}

/// Most starts find no user: percentiles from plan must not be those of the few that did.
fn exhausted(bench: &Bench<'_>) -> Result<Vec<Claim>, String> {
    let ran = Load { script: script(RATE, 15, 3, "100000"), ..Load::default() }.run(bench)?;
    let p99 = &ran.summary["metrics"]["http_req_duration_from_plan"]["p(99)"];
    let mut rows =
        vec![causes(&ran, "users_exhausted"), Claim::says("p(99) from plan is no number", p99, p99.is_null())];
    rows.extend(counts(&ran));
    Ok(rows)
}
