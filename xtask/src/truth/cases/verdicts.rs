//! Runs that something spoils, each cause in a way a test can bring about, and runs on a busy machine that nothing
//! spoils: the first must be flagged with the right cause, and early; the second not at all.
//!
//! Not here: stolen time, which only a hypervisor can take.

use std::path::Path;
use std::time::Duration;

use crate::truth::trial::bench::{Bench, Case};
use crate::truth::trial::claim::Claim;
use crate::truth::trial::cores::{CORES, own_core, words};
use crate::truth::trial::load::{Load, Spoil, Trial};
use crate::truth::trial::referee::{Carrier, Service};
use crate::truth::trial::statistics::{quantile, sorted};

/// What spoils a run.
struct Ruin {
    /// The name of the cause.
    cause: &'static str,
    load: fn(&Path) -> Load,
    /// Whether it can be seen before the run ends.
    is_live: bool,
}

const RUINS: &[Ruin] = &[
    Ruin { cause: "cpu", load: |_| alone(closed()), is_live: true },
    Ruin { cause: "event_loop_gap", load: |_| stopped(), is_live: true },
    Ruin { cause: "run_queue", load: |_| crowded(), is_live: true },
    Ruin { cause: "throttled", load: throttled, is_live: true },
    Ruin { cause: "users_exhausted", load: |_| open(500, 10, GET_150_MS), is_live: true },
    Ruin { cause: "files_exhausted", load: |_| without_files(), is_live: true },
    Ruin { cause: "ports_exhausted", load: |_| without_ports(), is_live: true },
    Ruin { cause: "stamps_missing", load: |_| unstamped(), is_live: true },
    Ruin { cause: "clock_stepped", load: stepped, is_live: true },
    Ruin { cause: "below_rate", load: |_| alone(open(1400, 2500, COMPUTE)), is_live: true },
    Ruin { cause: "late_starts", load: |_| alone(open(1400, 2500, COMPUTE)), is_live: true },
    Ruin { cause: "shared_core", load: |_| shared(), is_live: true },
    Ruin { cause: "output_backpressure", load: |_| full_disk(), is_live: false },
    Ruin { cause: "too_few_samples", load: |_| thin(), is_live: false },
];

pub fn cases() -> Vec<Case> {
    let spoiled =
        |ruin: &'static Ruin| Case::new(format!("spoiled: {}", ruin.cause), move |bench| spoiled(bench, ruin));
    RUINS.iter().map(spoiled).chain([Case::new("clean runs on a busy machine", clean)]).collect()
}

/// Programs that compute.
pub(super) const BUSY: usize = 10;

const CLOSED: &str = "import http from 'k6/http'
    export const options = { vus: 16, duration: '4s' }
    export default () => {
      if (__VU === 1 && __ITER === 0) console.log('mark')
      http.get(`${__ENV.SERVER}/delay/0/0`, { tags: { name: 'closed' } })
    }";

/// An arrival rate; the mark is its start, or a second later where that is when it is spoiled.
fn arrivals(rate: u64, users: u64, options: &str, call: &str) -> String {
    format!(
        "import http from 'k6/http'
         import exec from 'k6/execution'
         export const options = {{
           summaryTrendStats: ['med', 'p(90)'], {options}
           scenarios: {{ load: {{ executor: 'constant-arrival-rate', rate: {rate}, duration: '4s',
             preAllocatedVUs: {users}, maxVUs: {users}, gracefulStop: '5s' }} }},
         }}
         export default () => {{
           if (exec.scenario.iterationInTest === Number(__ENV.MARK)) console.log('mark')
           const url = `${{__ENV.SERVER}}/delay`, parameters = {{ tags: {{ name: 'open' }} }}
           {call}
         }}"
    )
}

pub(super) const GET_1_MS: &str = "http.get(`${url}/1000/0`, parameters)";
pub(super) const GET_150_MS: &str = "http.get(`${url}/150000/0`, parameters)";
/// Three requests at a time, each with its connection.
const BATCH: &str = "http.batch(['', '', ''].map(() => ['GET', `${url}/150000/0`, null, parameters]))";
/// A millisecond of the core for each iteration.
pub(super) const COMPUTE: &str =
    "for (const end = Date.now() + 1; Date.now() < end; ); http.get(`${url}/0/0`, parameters)";

pub(super) fn open(rate: u64, users: u64, call: &str) -> Load {
    Load { script: arrivals(rate, users, "", call), ..closed() }
}

/// Spoiled at its start number `number`.
pub(super) fn later(spoil: Spoil, number: u64, load: Load) -> Load {
    Load { spoil: Some(spoil), flags: words(&format!("--workers 1 -e MARK={number}")), ..load }
}

/// Onrush and the server have a core each, and others are there.
pub(super) fn apart(load: Load) -> Load {
    let before = words(&format!("taskset -c {}", CORES.0));
    let service = Service { core: Some(CORES.1), ..load.service };
    Load { before, service, ..load }
}

/// They have a core each of their own.
pub(super) fn alone(load: Load) -> Load {
    Load { before: own_core(), ..apart(load) }
}

pub(super) fn closed() -> Load {
    Load { script: CLOSED.to_owned(), flags: words("--workers 1 -e MARK=0"), ..Load::default() }
}

pub(super) fn stopped() -> Load {
    later(Spoil::FreezeGenerator(Duration::from_millis(700)), 500, open(500, 700, GET_1_MS))
}

/// Others have the generator's core, too.
pub(super) fn crowded() -> Load {
    later(Spoil::Spin(BUSY, CORES.0), 2000, apart(open(2000, 3000, GET_1_MS)))
}

pub(super) fn throttled(_: &Path) -> Load {
    let group = "/sys/fs/cgroup/cpu/onrush-truth";
    let enter = format!(
        "mkdir -p {group} && echo 10000 > {group}/cpu.cfs_quota_us && echo $$ > {group}/cgroup.procs \
         && {{ (echo 0 > {group}/../cgroup.procs; while kill -0 $$; do sleep 1; done; rmdir {group}) \
         > /dev/null 2>&1 & exec \"$@\"; }}"
    );
    let before = ["sh", "-c", &enter, "sh"].map(String::from).to_vec();
    Load { before, ..open(1500, 1000, GET_1_MS) }
}

/// A file for each user, and they want three.
pub(super) fn without_files() -> Load {
    let before = ["sh", "-c", "ulimit -n 170; exec \"$@\"", "sh"].map(String::from).to_vec();
    Load { before, ..open(500, 100, BATCH) }
}

/// In a network of its own that has few ports.
pub(super) fn without_ports() -> Load {
    let script = arrivals(500, 100, "noConnectionReuse: true,", GET_1_MS);
    Load { script, service: Service { is_apart: true, ..Service::default() }, ..closed() }
}

fn unstamped() -> Load {
    let script = arrivals(500, 600, "hosts: { 'referee.test': __ENV.HOST },", GET_1_MS);
    let service = Service { carrier: Carrier::Unix, ..Service::default() };
    later(Spoil::Spin(BUSY, CORES.0), 500, apart(Load { script, service, ..closed() }))
}

fn stepped(clock: &Path) -> Load {
    let file = clock.with_file_name("step");
    let _ = std::fs::remove_file(&file);
    let settings = ["LD_PRELOAD=", "CLOCK_STEP_S=-3600", "CLOCK_STEP_FILE="];
    let [preload, step, when] = settings.map(String::from);
    let before =
        vec![String::from("env"), preload + &clock.display().to_string(), step, when + &file.display().to_string()];
    later(Spoil::Touch(file), 500, Load { before, ..open(500, 100, GET_1_MS) })
}

/// Both take turns on one core.
pub(super) fn shared() -> Load {
    let apart = apart(closed());
    Load { service: Service { core: Some(CORES.0), counts_only: true, ..Service::default() }, ..apart }
}

fn full_disk() -> Load {
    Load { flags: words("--workers 1 -e MARK=0 --out json=/dev/full"), ..open(500, 100, GET_1_MS) }
}

fn thin() -> Load {
    let script = arrivals(50, 20, "thresholds: { http_req_duration: ['p(99)<1000'] },", GET_1_MS);
    Load { script, ..closed() }
}

/// When a doubt was first told while the run went on, any or that of one cause, in s from the moment it was spoiled. A
/// doubt from before, by what else runs on the machine, is not told again, so it counts as told at once.
fn told_after(ran: &Trial, cause: &str) -> Option<f64> {
    let spoiled = ran.spoiled?;
    let is_it = |line: &str| line.contains(" from here on: ") && line.contains(cause);
    let (at, _) = ran.lines.iter().find(|(_, line)| is_it(line))?;
    Some(at.saturating_sub(spoiled).as_secs_f64())
}

fn spoiled(bench: &Bench<'_>, ruin: &Ruin) -> Result<Vec<Claim>, String> {
    let runs = bench.size(1, 8);
    let title = engine::Cause::ALL.iter().find(|known| known.name() == ruin.cause).map_or("", |known| known.title());
    let (mut named, mut flagged, mut told) = (0, Vec::new(), Vec::new());
    let mut said = String::new();
    for _ in 0..runs {
        let ran = (ruin.load)(&bench.programs.clock).run(bench)?;
        let is_named = ran.causes().contains(&ruin.cause) && ran.verdict() != "TRUSTED";
        named += u64::from(is_named);
        if !is_named || said.is_empty() {
            said = format!("{} {}", ran.verdict(), ran.causes().join(" "));
        }
        flagged.extend(told_after(&ran, ""));
        told.extend(told_after(&ran, &format!("{title} (")));
    }
    let mut claims = vec![Claim::same("runs that name the cause", named, runs), Claim::says("verdict", said, true)];
    if ruin.is_live {
        let (flagged, told) = (sorted(flagged), sorted(told));
        claims.push(Claim::same("runs flagged on the way", flagged.len() as u64, runs));
        claims.push(Claim::at_most("flagged after, s, at most", quantile(&flagged, 1.0), 2.0));
        let (count, most) = (told.len(), quantile(&told, 1.0));
        claims.push(Claim::says(format!("by this cause in {count}, s, at most"), format!("{most:.3}"), true));
    }
    Ok(claims)
}

/// Beside programs that compute and have to yield to it, a load that they do not touch.
fn clean(bench: &Bench<'_>) -> Result<Vec<Claim>, String> {
    let runs = bench.size(4, 100);
    let mut flagged = Vec::new();
    for _ in 0..runs {
        let ran = Load { spinners: BUSY, ..alone(open(500, 100, GET_1_MS)) }.run(bench)?;
        if ran.verdict() != "TRUSTED" {
            flagged.push(format!("{} {}", ran.verdict(), ran.causes().join(" ")));
        }
    }
    let mut claims = vec![Claim::at_most("clean runs that are flagged", flagged.len() as f64, (runs / 100) as f64)];
    flagged.sort();
    flagged.dedup();
    claims.extend(flagged.into_iter().map(|said| Claim::says("flagged as", said, true)));
    Ok(claims)
}
