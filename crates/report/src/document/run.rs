//! What a result document tells of the run itself: machine, generator, end.
//!
//! All of it is measured by the caller; what a machine does not tell (a container without /proc/stat, say) is null,
//! never 0.

use data_encoding::HEXLOWER;
use md5::{Digest, Md5};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agent_load::AgentLoad;
use super::judgement::{Judgement, Trust};

/// The machine that ran the generator, and what else went on there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Environment {
    /// Name and version of the system: `Debian GNU/Linux 12 (bookworm)`.
    pub os: String,
    /// Release of the kernel.
    pub kernel: String,
    /// As /proc/cpuinfo names it.
    pub cpu_model: String,
    /// Cores that are online.
    pub cores: usize,
    /// Numbers of the cores that the generator was allowed to use.
    pub allowed_cores: Vec<usize>,
    /// Memory of the machine.
    pub memory_bytes: u64,
    /// Load average of one minute when the run began.
    pub load_average_1m_start: Option<f64>,
    /// Load average of one minute when it ended.
    pub load_average_1m_end: Option<f64>,
    /// Share of all CPU time during the run that the hypervisor gave to somebody else, 0 to 1.
    pub steal_share: Option<f64>,
    /// How many times the CPU limit of the control group held the generator up during the run.
    pub throttled: Option<u64>,
    /// For how long, summed over processors.
    #[serde(default)]
    pub throttled_s: Option<f64>,
    /// How much tasks of the whole machine waited during the run; none where the kernel does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pressure: Option<Pressure>,
    /// A hash of processor, cores, kernel, memory and host name: it distinguishes machines and names none.
    pub machine_id: String,
}

/// Pressure stall information: shares of the time, 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pressure {
    /// Some task was ready to run and had no processor.
    pub cpu: f64,
    /// All tasks that had something to do waited for memory.
    pub memory: f64,
    /// The same, for storage.
    pub io: f64,
}

/// A smaller share of stolen time moves a figure by less than the machine's own noise.
pub const NOTABLE_STEAL: f64 = 0.02;

impl Environment {
    /// `steal_share`, where it is so much that it is worth telling.
    pub fn notable_steal(&self) -> Option<f64> {
        self.steal_share.filter(|share| *share >= NOTABLE_STEAL)
    }

    /// Whether a CPU limit held the generator up.
    pub fn was_throttled(&self) -> bool {
        self.throttled.is_some_and(|times| times > 0)
    }
}

/// The `machine_id` of an environment: 16 hexadecimal digits of a hash.
pub fn machine_id(machine: &Environment, host_name: &str) -> String {
    let Environment { kernel, cpu_model, cores, memory_bytes, .. } = machine;
    let facts = format!("{cpu_model}\n{cores}\n{kernel}\n{memory_bytes}\n{host_name}");
    HEXLOWER.encode(&Md5::digest(facts)[..8])
}

/// How the generator fared.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Generator {
    /// CPU used by the whole process while the scenarios ran, in cores.
    pub process_cores: f64,
    /// One entry a worker.
    pub workers: Vec<WorkerFigures>,
    /// Planned iterations that never started.
    pub dropped_iterations: u64,
    /// What the run's figures are worth, and why; null for an older result.
    #[serde(default)]
    pub judgement: Option<Judgement>,
    /// Whether the run says more about the generator than about what it tested.
    pub saturated: bool,
    /// Why; null for an older result, whose complaint tells.
    #[serde(default)]
    pub cause: Option<Cause>,
    /// The line that says so.
    pub complaint: Option<String>,
    /// What to do about it.
    #[serde(default)]
    pub advice: Option<String>,
    /// Whether somebody overruled that with `--accept-late`: the run counts, and everything made of it says so.
    #[serde(default)]
    pub late_accepted: bool,
    /// Whether the run was too short to judge its generator.
    #[serde(default)]
    pub too_short: bool,
    /// What `--referee` found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub referee: Option<Referee>,
    /// The agents of a fleet; none where one process did everything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<AgentFigures>,
    /// No agent's clock was further from the coordinator's than this at the start, in ms; null without agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_bound_ms: Option<f64>,
    /// Stamps that two agents put into messages may be so far apart for the same instant, in ms: message delays between
    /// agents are exact to this. Null where all read one clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stamps_apart_ms: Option<f64>,
    /// Further lines about the generator that the summary printed.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// One agent of a fleet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentFigures {
    /// Which part of the test it ran, from 0 on.
    pub index: u32,
    /// What it is called: machine and process.
    pub name: String,
    /// Its first iterations began so long after the agreed instant, by its own clock, in ms; null when it never did.
    pub start_late_ms: Option<f64>,
    /// CPU used by its process, in cores.
    pub process_cores: f64,
    /// Processors that it may use; null when its last words did not come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_cores: Option<usize>,
    /// Its clock was no further from the coordinator's than this at the start, in ms; null where nothing compared them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_bound_ms: Option<f64>,
    /// Why its samples are not all here; null when they are.
    pub lost: Option<String>,
    /// What it measured by itself; null when its last words did not come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<AgentLoad>,
}

/// What a thread beside the workers was answered, which asked for what the users asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Referee {
    /// What it asked for; null when no user made a request that it could repeat.
    pub url: Option<String>,
    /// Its requests that were answered with the status that the users got.
    pub requests: u64,
    /// Its other requests.
    pub failed: u64,
    /// Median of `http_req_duration` of its requests, in ms.
    pub med_ms: Option<f64>,
    /// The users' requests of the same kind.
    pub users_requests: u64,
    /// Median of `http_req_duration` of these, in ms.
    pub users_med_ms: Option<f64>,
}

/// Why a run says more about its generator than about what it tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The generator computed all the time.
    Busy,
    /// The generator had time, and something else had the processor.
    HeldUp,
    /// Iterations started later than planned.
    LateStarts,
}

impl Cause {
    /// As reports say it.
    pub const fn text(self) -> &'static str {
        match self {
            Cause::Busy => "the generator was the limit",
            Cause::HeldUp => "the generator was held up by something else",
            Cause::LateStarts => "iterations started late",
        }
    }
}

impl Generator {
    /// Why the run is no evidence about its target; none when it is, or when somebody accepted it all the same.
    pub fn limit(&self) -> Option<Cause> {
        if self.late_accepted { None } else { self.found() }
    }

    /// Overrules a verdict, where there is one.
    pub fn accept(&mut self) {
        self.late_accepted = self.saturated;
    }

    /// The line about a run that counts although some of its figures are in doubt, and nobody has overruled that.
    pub fn doubt(&self) -> Option<String> {
        let judgement = self.judgement.as_ref().filter(|judgement| judgement.verdict > Trust::Trusted)?;
        if self.saturated { None } else { judgement.line(false) }
    }

    /// The line about a verdict that was overruled.
    pub fn accepted(&self) -> Option<String> {
        let complaint = self.complaint.as_deref().unwrap_or("the generator was the limit");
        self.late_accepted.then(|| accepted(complaint))
    }

    /// What was found, accepted or not. Older results have words only.
    fn found(&self) -> Option<Cause> {
        let told = self.complaint.as_deref().unwrap_or_default();
        let by_words = || if told.starts_with("the generator was held up") { Cause::HeldUp } else { Cause::Busy };
        self.saturated.then(|| self.cause.unwrap_or_else(by_words))
    }
}

/// How every output marks a verdict that was overruled.
pub fn accepted(complaint: &str) -> String {
    format!("late accepted (--accept-late): {complaint}")
}

/// How one worker thread fared.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkerFigures {
    /// Share of the time its thread was running, 0 to 1.
    pub cpu_share: f64,
    /// Share of the time its thread was ready to run and had no core; null where the kernel does not tell.
    #[serde(default)]
    pub waited_share: Option<f64>,
    /// How late its event loop was: mean.
    #[serde(default)]
    pub lag_avg_ms: f64,
    /// Median.
    pub lag_p50_ms: f64,
    /// 99 of 100 times it was no later.
    pub lag_p99_ms: f64,
    /// The latest.
    pub lag_max_ms: f64,
    /// Beats of its event loop that could not take place, one each 10 ms, because it stood still.
    #[serde(default)]
    pub missed_beats: u64,
    /// Share of the time in which its event loop stood still for 10 ms or more in one piece, 0 to 1.
    #[serde(default)]
    pub stalled_share: f64,
    /// When the longest such piece began, from the start of the scenarios.
    #[serde(default)]
    pub longest_gap_start_s: f64,
    /// What its thread did meanwhile: `computed`, `waited_for_core` or `stood_still`; null without such a piece.
    #[serde(default)]
    pub longest_gap_occupation: Option<String>,
}

/// How the run ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Exit {
    /// The exit code.
    pub code: u8,
    /// What it means; null for 0.
    pub reason: Option<String>,
}

/// Logs of received messages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MessageLogs {
    /// The files, relative to the document's directory.
    pub files: Vec<String>,
    /// Messages that are in them.
    pub written: u64,
    /// Messages left out because writing could not keep up.
    pub dropped: u64,
}
