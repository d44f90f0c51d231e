//! Conservation: each planned iteration, request and byte is in one count, whatever the server does, and equal to the
//! referee's.

use crate::truth::trial::bench::{Bench, Case};
use crate::truth::trial::claim::Claim;
use crate::truth::trial::evidence::{causes, counts};
use crate::truth::trial::load::{Load, Trial};
use crate::truth::trial::referee::Service;

pub fn cases() -> Vec<Case> {
    vec![
        Case::new("counts of faults", faults),
        Case::new("counts of dropped starts", dropped),
        Case::new("counts of a cut end", |bench| cut_end(bench, 20, 150_000)),
        Case::new("counts of a busy cut end", |bench| cut_end(bench, 200, 0)),
        Case::new("users exhausted", exhausted),
    ]
}

const TOTALS: Service =
    Service { carrier: crate::truth::trial::referee::Carrier::Tcp, counts_only: true, core: None, is_apart: false };

/// Requests by what became of them.
fn outcomes(ran: &Trial) -> Vec<Claim> {
    let part = |name: &str| ran.summary["metrics"]["http_req_failed"][name].as_u64().unwrap_or_default();
    vec![
        Claim::same("requests that failed", part("passes"), ran.account.faulty),
        Claim::same("requests that did not", part("fails"), ran.account.sound),
    ]
}

/// Resets, closed connections, cut answers, silence that ends by a timeout: all are requests.
fn faults(bench: &Bench<'_>) -> Result<Vec<Claim>, String> {
    let requests = bench.size(200_000, 9_900_000);
    let script = format!(
        "import http from 'k6/http'
         import exec from 'k6/execution'
         export const options = {{ scenarios: {{ load: {{
           executor: 'shared-iterations', vus: 64, iterations: {requests}, maxDuration: '14m' }} }} }}
         const faults = {{ 3: 'reset', 33: 'cut', 63: 'drop', 93: 'reset', 123: 'cut', 153: 'drop', 183: 'silent' }}
         let own = 0
         export default () => {{
           const mode = faults[own++ % 1000]
           const path = mode ? `${{mode}}/0/0` : 'delay/0/0'
           http.get(`${{__ENV.SERVER}}/${{path}}`, {{ timeout: '1s', tags: {{ name: 'fault' }} }})
         }}"
    );
    let ran = Load { script, service: TOTALS, ..Load::default() }.run(bench)?;
    let mut claims = vec![Claim::same("planned", ran.account.requests, requests)];
    claims.extend(counts(&ran));
    claims.extend(outcomes(&ran));
    Ok(claims)
}

/// Many starts find no user.
fn dropped(bench: &Bench<'_>) -> Result<Vec<Claim>, String> {
    let (rate, seconds) = bench.size((2000, 5), (5000, 20));
    let script = format!(
        "import http from 'k6/http'
         export const options = {{ scenarios: {{ load: {{ executor: 'constant-arrival-rate', rate: {rate},
           duration: '{seconds}s', preAllocatedVUs: 10, maxVUs: 10, gracefulStop: '5s' }} }} }}
         let own = 0
         const modes = ['delay/15000/0', 'delay/15000/0', 'reset/0/0', 'delay/15000/0', 'cut/0/0', 'drop/0/0']
         const parameters = {{ tags: {{ name: 'fault' }} }}
         export default () => http.get(`${{__ENV.SERVER}}/${{modes[own++ % modes.length]}}`, parameters)"
    );
    let ran = Load { script, service: TOTALS, ..Load::default() }.run(bench)?;
    let mut claims = vec![
        // A start at the last moment counts.
        Claim::same("planned", ran.iterations("planned"), rate * seconds + 1),
        Claim::says("dropped", ran.iterations("dropped"), ran.iterations("dropped") > 100),
    ];
    claims.extend(counts(&ran));
    Ok(claims)
}

/// The end of the test cuts requests short that the server has. An answer on its way when the end comes is read by
/// nobody, so bytes are the same where the delay keeps answers away from the end.
fn cut_end(bench: &Bench<'_>, users: u64, us: u64) -> Result<Vec<Claim>, String> {
    let script = format!(
        "import http from 'k6/http'
         export const options = {{ scenarios: {{ load: {{
           executor: 'constant-vus', vus: {users}, duration: '2s', gracefulStop: '0s' }} }} }}
         export default () => http.get(`${{__ENV.SERVER}}/delay/{us}/0`)"
    );
    let ran = Load { script, service: TOTALS, ..Load::default() }.run(bench)?;
    let interrupted = ran.iterations("interrupted");
    let mut claims = counts(&ran);
    if us == 0 {
        let unread = ran.account.bytes_out - ran.count("data_received");
        claims[2] = Claim::at_most("bytes of answers nobody read", unread as f64, (interrupted * ANSWER_BYTES) as f64);
    }
    claims.push(Claim::says("interrupted iterations", interrupted, interrupted > 0));
    Ok(claims)
}

/// The referee's answer.
const ANSWER_BYTES: u64 = 40;

/// Most starts find no user: percentiles from plan must not be those of the few that did.
fn exhausted(bench: &Bench<'_>) -> Result<Vec<Claim>, String> {
    let ran = Load { script: super::delays::script(500, 15, 3, "100000"), ..Load::default() }.run(bench)?;
    let p99 = &ran.summary["metrics"]["http_req_duration_from_plan"]["p(99)"];
    let mut rows =
        vec![causes(&ran, "users_exhausted"), Claim::says("p(99) from plan is no number", p99, p99.is_null())];
    rows.extend(counts(&ran));
    Ok(rows)
}
