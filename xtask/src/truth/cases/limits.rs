//! Who was the limit: runs each of which one thing limits, by construction. Its name must be said, or that it cannot be
//! decided between it and another; a wrong name is never right.

use crate::truth::trial::bench::{Bench, Case};
use crate::truth::trial::claim::Claim;
use crate::truth::trial::cores::{CORES, words};
use crate::truth::trial::load::{Load, Spoil};
use crate::truth::trial::referee::{Carrier, Service};

use super::verdicts::{
    BUSY, COMPUTE, GET_1_MS, GET_150_MS, alone, apart, closed, crowded, later, open, shared, stopped, throttled,
    without_files, without_ports,
};

/// What limits a run.
struct LimitedRun {
    name: &'static str,
    /// As a result names the limit.
    limit: &'static str,
    load: fn(&Bench<'_>) -> Load,
}

const RUNS: &[LimitedRun] = &[
    LimitedRun { name: "users that ask as fast as they can", limit: "generator", load: |_| alone(closed()) },
    LimitedRun { name: "a generator that stands still", limit: "generator", load: |_| stopped() },
    LimitedRun {
        name: "a generator with a tenth of a core",
        limit: "generator",
        load: |bench| throttled(&bench.programs.clock),
    },
    LimitedRun { name: "a script that computes", limit: "generator", load: |_| alone(open(1400, 2500, COMPUTE)) },
    LimitedRun { name: "programs on the generator's core", limit: "machine", load: |_| crowded() },
    LimitedRun { name: "generator and target on one core", limit: "machine", load: |_| shared() },
    LimitedRun { name: "programs on the target's core", limit: "machine", load: |_| crowded_target() },
    LimitedRun { name: "too few descriptors", limit: "connections", load: |_| without_files() },
    LimitedRun { name: "too few ports", limit: "connections", load: |_| without_ports() },
    LimitedRun { name: "10 users, 20 ms", limit: "users", load: |_| users(10, "", "delay/20000") },
    LimitedRun { name: "one user, 5 ms", limit: "users", load: |_| users(1, "", "delay/5000") },
    LimitedRun { name: "16 users, 0 to 40 ms", limit: "users", load: |_| users(16, "", "spread/20000") },
    LimitedRun { name: "500/s, 10 users, 150 ms", limit: "users", load: |_| alone(open(500, 10, GET_150_MS)) },
    LimitedRun {
        name: "200/s, 20 users, 0 to 400 ms",
        limit: "users",
        load: |_| alone(open(200, 20, "http.get(`${__ENV.SERVER}/spread/200000/0`)")),
    },
    LimitedRun { name: "a target that computes, 800/s", limit: "target_cpu", load: |_| rate(800, "compute/2000") },
    LimitedRun {
        name: "a target that computes, 20 users",
        limit: "target_cpu",
        load: |_| users(20, "", "compute/1000"),
    },
    LimitedRun {
        name: "a target that computes, TLS",
        limit: "target_cpu",
        load: |_| encrypted(rate(800, "compute/2000")),
    },
    LimitedRun { name: "a queue of 5 ms, 400/s", limit: "target_queue", load: |_| rate(400, "queue/5000") },
    LimitedRun { name: "a queue of 20 ms, 60/s", limit: "target_queue", load: |_| rate(60, "queue/20000") },
    LimitedRun { name: "a queue of 2 ms, 16 users", limit: "target_queue", load: |_| users(16, "", "queue/2000") },
    LimitedRun { name: "a queue of 1 ms, 40 users", limit: "target_queue", load: |_| users(40, "", "queue/1000") },
    LimitedRun { name: "429 beyond 200/s, at 500/s", limit: "target_refuses", load: |_| rate(500, "limit/200") },
    LimitedRun { name: "429 beyond 200/s, 10 users", limit: "target_refuses", load: |_| pausing("limit/200", 0.01) },
    LimitedRun { name: "connections that are reset", limit: "target_refuses", load: |_| rate(300, "reset/0") },
    LimitedRun {
        name: "a link of 64 kbit/s up",
        limit: "link",
        load: |_| users(10, "network: { upload: '64kbps' },", "delay/0"),
    },
    LimitedRun {
        name: "a link of 32 kbit/s down",
        limit: "link",
        load: |_| users(10, "network: { download: '32kbps' },", "delay/0"),
    },
    LimitedRun { name: "a plan that is met", limit: "nothing", load: |_| alone(open(300, 100, GET_1_MS)) },
    LimitedRun { name: "a slow target, a plan that is met", limit: "nothing", load: |_| slow() },
    LimitedRun { name: "users that pause", limit: "nothing", load: |_| pausing("delay/1000", 0.05) },
];

pub fn cases() -> Vec<Case> {
    vec![Case::new("who was the limit", limits)]
}

/// Users that begin again when they have ended, each with one request.
fn users(count: u32, options: &str, path: &str) -> Load {
    let script = format!(
        "import http from 'k6/http'
         export const options = {{ {options} vus: {count}, duration: '5s' }}
         export default () => http.get(`${{__ENV.SERVER}}/{path}/0`, {{ tags: {{ name: 'one' }} }})"
    );
    alone(Load { script, ..closed() })
}

/// More starts than the target has answers for.
fn rate(rate: u64, path: &str) -> Load {
    let call = format!("http.get(`${{__ENV.SERVER}}/{path}/0`, parameters)");
    alone(open(rate, 3000, &call))
}

fn encrypted(load: Load) -> Load {
    let flags = [load.flags, words("--insecure-skip-tls-verify")].concat();
    Load { flags, service: Service { carrier: Carrier::Tls, ..load.service }, ..load }
}

/// The target has to share its core, and goes before no one.
fn crowded_target() -> Load {
    let load = later(
        Spoil::Spin(BUSY, CORES.1),
        0,
        apart(open(800, 1500, "http.get(`${__ENV.SERVER}/compute/1000/0`, parameters)")),
    );
    Load { service: Service { counts_only: true, ..load.service }, ..load }
}

/// What takes long without a queue breaks its threshold, and limits no rate.
fn slow() -> Load {
    let load = alone(open(100, 200, GET_150_MS));
    let script = load
        .script
        .replace("summaryTrendStats:", "thresholds: { http_req_duration: ['p(95)<100'] }, summaryTrendStats:");
    Load { script, ..load }
}

fn pausing(path: &str, pause: f64) -> Load {
    let script = format!(
        "import http from 'k6/http'
         import {{ sleep }} from 'k6'
         export const options = {{ vus: 10, duration: '5s' }}
         export default () => {{ http.get(`${{__ENV.SERVER}}/{path}/0`); sleep({pause}) }}"
    );
    alone(Load { script, ..closed() })
}

fn limits(bench: &Bench<'_>) -> Result<Vec<Claim>, String> {
    let times = bench.size(1, 4);
    let (mut right, mut open, mut wrong) = (0_u64, 0_u64, 0_u64);
    let mut claims = Vec::new();
    for kind in RUNS {
        let mut said = Vec::new();
        for _ in 0..times {
            let ran = (kind.load)(bench).run(bench)?;
            let limit = &ran.summary["judgement"]["limit"];
            let name = limit["name"].as_str().unwrap_or("none");
            let between = limit["between"].as_array().into_iter().flatten().filter_map(|name| name.as_str());
            let between: Vec<&str> = between.collect();
            let (counter, line) = match name {
                _ if name == kind.limit => (&mut right, name.to_owned()),
                "undecidable" if between.contains(&kind.limit) => (&mut open, between.join(" or ")),
                _ => (&mut wrong, format!("{name} {}: {}", between.join(" or "), limit["evidence"])),
            };
            *counter += 1;
            said.push(line);
        }
        said.dedup();
        claims.push(Claim::says(format!("{} ({})", kind.name, kind.limit), said.join(", "), true));
    }
    let all = right + open + wrong;
    claims.push(Claim::same("wrong names", wrong, 0));
    claims.push(Claim::at_most("undecidable of 100", 100.0 * open as f64 / all.max(1) as f64, 10.0));
    claims.push(Claim::says("right", format!("{right} of {all}"), true));
    Ok(claims)
}
