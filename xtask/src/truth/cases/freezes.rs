//! Server or generator stands still in the middle of an arrival rate: the percentiles from plan are those of the
//! referee, over tcp, TLS and a unix socket, on a machine of its own and beside ten programs that compute.
//!
//! All connections are made before, by a request of each user: a listener's queue would hide what is looked for.

use std::time::Duration;

use crate::truth::trial::bench::{Bench, Case};
use crate::truth::trial::claim::Claim;
use crate::truth::trial::cores::words;
use crate::truth::trial::evidence::{causes, counts, quantile_claims};
use crate::truth::trial::load::{Load, Spoil};
use crate::truth::trial::referee::{Carrier, Service};

/// Starts a second.
const RATE: u64 = 2000;
/// Programs that compute on a busy machine.
const BUSY: usize = 10;

/// With a tenth of a core, which is what ten others leave, no program makes this rate: Onrush gets more than they.
const FIRST: &str = "nice -n -10";

#[derive(Clone, Copy)]
struct Freeze {
    is_server: bool,
    ms: u64,
    carrier: Carrier,
    is_busy: bool,
}

impl Freeze {
    fn name(self) -> String {
        let Freeze { is_server, ms, carrier, is_busy } = self;
        let who = if is_server { "server" } else { "generator" };
        let busy = if is_busy { ", busy" } else { "" };
        format!("{who} stops {} s, {}{busy}", ms as f64 / 1e3, carrier.name())
    }
}

pub fn cases(is_full: bool) -> Vec<Case> {
    let usual = |is_server, ms, carrier, is_busy| Freeze { is_server, ms, carrier, is_busy };
    let mut freezes = vec![
        usual(true, 500, Carrier::Tcp, false),
        usual(true, 1400, Carrier::Tls, false),
        usual(true, 500, Carrier::Unix, false),
        usual(false, 1400, Carrier::Tcp, false),
        usual(false, 500, Carrier::Tcp, true),
    ];
    if is_full {
        freezes.clear();
        for is_busy in [false, true] {
            for carrier in [Carrier::Tcp, Carrier::Tls, Carrier::Unix] {
                for ms in [100, 500, 1400, 5000] {
                    freezes.extend([true, false].map(|is_server| usual(is_server, ms, carrier, is_busy)));
                }
            }
        }
    }
    let stop = |freeze: Freeze| Case::new(freeze.name(), move |bench| stop(bench, freeze));
    let closed = Case::new("users stopped 1.4 s", closed);
    freezes.into_iter().map(stop).chain([closed]).collect()
}

fn script(freeze: Freeze) -> String {
    // A user for each start while nobody answers, and for those that follow until all are answered.
    let users = RATE * freeze.ms / 1000 + if freeze.is_busy { 4000 } else { 1200 };
    let (warm, seconds) = (3 + users / 1200, 4 + freeze.ms.div_ceil(1000));
    format!(
        "import http from 'k6/http'
         import exec from 'k6/execution'
         export const options = {{
           insecureSkipTLSVerify: true, hosts: {{ 'referee.test': __ENV.HOST }},
           summaryTrendStats: ['min', 'med', 'p(90)', 'p(99)', 'p(99.9)', 'max', 'count'],
           scenarios: {{
             warm: {{ executor: 'per-vu-iterations', vus: {users}, iterations: 1, exec: 'warm',
               maxDuration: '{warm}s', gracefulStop: '0s' }},
             load: {{ executor: 'constant-arrival-rate', rate: {RATE}, duration: '{seconds}s', startTime: '{start}s',
               preAllocatedVUs: {users}, maxVUs: {users}, gracefulStop: '20s' }},
           }},
         }}
         export function warm() {{ http.get(`${{__ENV.SERVER}}/delay/0/0`) }}
         export default () => {{
           const number = exec.scenario.iterationInTest + 1
           if (number === {mark}) console.log('mark')
           http.get(`${{__ENV.SERVER}}/delay/1000/${{number}}`, {{ tags: {{ name: 'delay' }} }})
         }}",
        start = warm + 1,
        mark = 2 * RATE,
    )
}

fn stop(bench: &Bench<'_>, freeze: Freeze) -> Result<Vec<Claim>, String> {
    let time = Duration::from_millis(freeze.ms);
    let ran = Load {
        script: script(freeze),
        service: Service { carrier: freeze.carrier, ..Service::default() },
        spoil: Some(if freeze.is_server { Spoil::FreezeServer(time) } else { Spoil::FreezeGenerator(time) }),
        spinners: if freeze.is_busy { BUSY } else { 0 },
        before: if freeze.is_busy { words(FIRST) } else { Vec::new() },
        flags: words("--workers 1"),
    }
    .run(bench)?;
    let mut rows = quantile_claims(&ran, "http_req_duration_from_plan", &ran.planned_ms(RATE as f64));
    // Without stamps the referee does not know what lay in its socket while it stood still.
    if freeze.carrier != Carrier::Unix {
        rows.extend(quantile_claims(&ran, "http_req_duration", &ran.served_ms()));
    }
    if !freeze.is_server && freeze.ms >= 500 {
        rows.push(causes(&ran, "event_loop_gap"));
    }
    rows.push(Claim::same("dropped", ran.iterations("dropped"), 0));
    rows.extend(counts(&ran));
    Ok(rows)
}

/// The same in a closed loop, which has no plan.
fn closed(bench: &Bench<'_>) -> Result<Vec<Claim>, String> {
    let script = "import http from 'k6/http'
        import exec from 'k6/execution'
        export const options = { vus: 4, duration: '6s' }
        export default () => {
          if (exec.vu.idInTest === 1 && exec.vu.iterationInScenario === 400) console.log('mark')
          http.get(`${__ENV.SERVER}/delay/5000/0`)
        }";
    let spoil = Some(Spoil::FreezeGenerator(Duration::from_millis(1400)));
    let ran = Load { script: script.to_owned(), spoil, ..Load::default() }.run(bench)?;
    Ok(counts(&ran).into_iter().chain([causes(&ran, "event_loop_gap")]).collect())
}
