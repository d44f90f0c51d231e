//! What has to become of a test in a cluster, whatever happens to its Pods.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::cluster::Cluster;
use super::node::{NODES, Nodes};

/// A case: what was seen, or what was wrong.
pub(super) type JobCase = fn(&mut JobTrial<'_>) -> Result<String, String>;

pub(super) const CASES: &[(&str, JobCase)] = &[
    ("completes", completes),
    ("coordinator-late", coordinator_is_late),
    ("agent-restarted", agent_is_restarted_before_the_start),
    ("agent-lost", agent_is_lost),
    ("coordinator-lost", coordinator_is_lost),
    ("coordinator-followed", coordinator_is_followed),
    ("node-crash", node_crashes_before_the_start),
    ("suspend", suspended_and_resumed),
    ("script-fails", script_fails_on_one_agent),
    ("fifty", fifty_begin_together),
];

const AGENTS: usize = 3;
/// Six users, ten iterations a second each, for three seconds.
const SCRIPT: &str = "import { sleep } from 'k6';
export const options = { scenarios: { a: { executor: 'constant-vus', vus: 6, duration: '3s' } } };
export function setup() { return { from: 'setup' }; }
export default function (data) { if (data.from !== 'setup') throw new Error('no data'); sleep(0.1); }
";
const FAILS: &str = "if (__ENV.JOB_COMPLETION_INDEX === '1') throw new Error('not here');
export const options = { vus: 6, duration: '3s' };
export default function () {}
";

/// One test in the cluster.
pub(super) struct JobTrial<'a> {
    cluster: &'a Cluster,
    nodes: Nodes<'a>,
    onrush: &'a Path,
    name: &'a str,
    agents: usize,
}

/// Runs a case in an empty cluster.
pub(super) fn run(case: JobCase, name: &str, cluster: &Cluster, onrush: &Path) -> Result<String, String> {
    let mut trial = JobTrial { cluster, nodes: Nodes::new(cluster, onrush)?, onrush, name, agents: AGENTS };
    let ended = case(&mut trial);
    let of_case = format!("app.kubernetes.io/instance={name}");
    let kinds = "job,service,secret,networkpolicy";
    cluster.kubectl(&["delete", kinds, "-l", &of_case, "--wait=false"], "")?;
    trial.until("the Pods' end", |trial| {
        let left = trial.cluster.get(&["pods"]);
        left.is_ok_and(|pods| pods["items"].as_array().is_none_or(Vec::is_empty))
    })?;
    ended
}

impl JobTrial<'_> {
    /// Prints the objects with `onrush k8s` and has them checked and created.
    fn apply(&self, script: &str) -> Result<(), String> {
        self.apply_with(script, &[])
    }

    fn apply_with(&self, script: &str, flags: &[&str]) -> Result<(), String> {
        let file = self.cluster.folder.join(format!("{}.js", self.name));
        fs::write(&file, script).map_err(|error| error.to_string())?;
        let port = TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr());
        let port = port.map_err(|error| error.to_string())?.port().to_string();
        let at = format!("127.0.0.1:{port}");
        let agents = self.agents.to_string();
        let mut onrush = Command::new(self.onrush);
        onrush.args(["k8s", "--agents", &agents, "--name", self.name, "--port", &port, "--join-at", &at]);
        onrush.args(flags).arg(&file);
        let output = onrush.output().map_err(|error| format!("cannot run onrush: {error}"))?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        let objects = String::from_utf8_lossy(&output.stdout);
        self.cluster.kubectl(&["apply", "--server-side", "--validate=strict", "-f", "-"], &objects).map(drop)
    }

    /// Lets the nodes work until something holds.
    fn until(&mut self, what: &str, mut holds: impl FnMut(&mut Self) -> bool) -> Result<(), String> {
        let cluster = self.cluster;
        let mut failed = None;
        cluster.until(what, || {
            if let Err(why) = self.nodes.look() {
                failed.get_or_insert(why);
            }
            failed.is_some() || holds(self)
        })?;
        failed.map_or(Ok(()), Err)
    }

    fn job(&self, suffix: &str) -> Value {
        self.cluster.get(&["job", &format!("{}{suffix}", self.name)]).unwrap_or_default()
    }

    /// Waits for the end of a Job; its last condition and the reason.
    fn ended(&mut self, suffix: &str) -> Result<(String, String), String> {
        let mut found = None;
        self.until(&format!("the end of the Job {}{suffix}", self.name), |trial| {
            let job = trial.job(suffix);
            let conditions = job["status"]["conditions"].as_array().cloned().unwrap_or_default();
            let ends = |condition: &&Value| {
                condition["status"] == "True" && (condition["type"] == "Complete" || condition["type"] == "Failed")
            };
            found = conditions.iter().find(ends).map(|condition| {
                let of = |name: &str| condition[name].as_str().unwrap_or_default().to_owned();
                (of("type"), of("reason"))
            });
            found.is_some()
        })?;
        Ok(found.unwrap_or_default())
    }

    /// What the coordinator has printed.
    fn said(&self) -> String {
        let name = format!("batch.kubernetes.io/job-name={}", self.name);
        let pods = self.cluster.get(&["pods", "-l", &name]).unwrap_or_default();
        let pod = pods["items"][0]["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        fs::read_to_string(self.nodes.log(&pod)).unwrap_or_default()
    }

    /// Both Jobs complete, with every index, and a summary that counts the whole test.
    fn is_whole(&mut self) -> Result<(), String> {
        let coordinator = self.ended("")?;
        let said = self.said();
        expect("the coordinator's Job", &coordinator.0, "Complete", &said)?;
        expect("the agents' Job", &self.ended("-agents")?.0, "Complete", &said)?;
        let indexes = self.job("-agents")["status"]["completedIndexes"].as_str().unwrap_or_default().to_owned();
        expect("the indexes", &indexes, "0-2", &said)?;
        let line = said.lines().find(|line| line.trim_start().starts_with("iterations..")).unwrap_or_default();
        let count = line.split_once(": ").and_then(|(_, rest)| rest.split(' ').next()?.parse::<u32>().ok());
        match count {
            Some(count) if (150..=186).contains(&count) => Ok(()),
            _ => Err(format!("the summary does not count 180 iterations\n{said}")),
        }
    }
}

fn expect(what: &str, found: &str, expected: &str, said: &str) -> Result<(), String> {
    match found == expected {
        true => Ok(()),
        false => Err(format!("{what}: found {found:?}, expected {expected:?}\n{said}")),
    }
}

fn completes(trial: &mut JobTrial<'_>) -> Result<String, String> {
    trial.apply(SCRIPT)?;
    trial.is_whole()?;
    match trial.said().contains("TRUSTED") {
        true => Ok(String::from("three agents, one summary, TRUSTED")),
        false => Err(format!("the verdict is not TRUSTED\n{}", trial.said())),
    }
}

/// How close together they begin is the machine's matter: here fifty processes share its cores.
fn fifty_begin_together(trial: &mut JobTrial<'_>) -> Result<String, String> {
    trial.agents = 50;
    trial.apply(&SCRIPT.replace("vus: 6", "vus: 50"))?;
    let (ended, _) = trial.ended("")?;
    let said = trial.said();
    expect("the coordinator's Job", &ended, "Complete", &said)?;
    let line = said.lines().find(|line| line.contains("50 agents began within "));
    line.map(|line| line.trim().to_owned()).ok_or_else(|| format!("nothing of the start in\n{said}"))
}

fn coordinator_is_late(trial: &mut JobTrial<'_>) -> Result<String, String> {
    trial.nodes.held = Some("coordinator");
    trial.apply(SCRIPT)?;
    trial.until("all agents", |trial| trial.nodes.agents() == AGENTS)?;
    std::thread::sleep(std::time::Duration::from_secs(3));
    trial.nodes.held = None;
    trial.is_whole()?;
    Ok(String::from("agents wait for a coordinator that is placed after them"))
}

fn agent_is_restarted_before_the_start(trial: &mut JobTrial<'_>) -> Result<String, String> {
    trial.nodes.held = Some("coordinator");
    trial.apply(SCRIPT)?;
    trial.until("all agents", |trial| trial.nodes.agents() == AGENTS)?;
    let pod = trial.nodes.kill_agent("1")?;
    trial.nodes.held = None;
    trial.is_whole()?;
    let failed = trial.job("-agents")["status"]["failed"].as_u64();
    match failed {
        Some(1) => Ok(format!("the Job replaces {pod}, which is killed before the start")),
        other => Err(format!("{other:?} Pods have failed, expected one")),
    }
}

fn agent_is_lost(trial: &mut JobTrial<'_>) -> Result<String, String> {
    trial.apply(SCRIPT)?;
    trial.until("load", |trial| trial.said().matches("has joined").count() == AGENTS)?;
    std::thread::sleep(std::time::Duration::from_millis(1500));
    trial.nodes.kill_agent("1")?;
    let (ended, reason) = trial.ended("")?;
    let said = trial.said();
    expect("the coordinator's Job", &ended, "Failed", &said)?;
    match said.contains("INVALID") {
        true => Ok(format!("an agent that is lost while the test runs makes it INVALID, and its Job fails ({reason})")),
        false => Err(format!("the verdict is not INVALID\n{said}")),
    }
}

fn coordinator_is_lost(trial: &mut JobTrial<'_>) -> Result<String, String> {
    trial.apply(SCRIPT)?;
    trial.until("load", |trial| trial.said().matches("has joined").count() == AGENTS)?;
    std::thread::sleep(std::time::Duration::from_millis(1500));
    trial.nodes.kill_coordinator()?;
    let (ended, _) = trial.ended("")?;
    expect("the coordinator's Job", &ended, "Failed", &trial.said())?;
    let pods = trial.job("")["status"]["failed"].as_u64();
    let (ended, reason) = trial.ended("-agents")?;
    let indexes = trial.job("-agents")["status"]["failedIndexes"].to_string();
    expect("the agents' Job", &ended, "Failed", &reason)?;
    expect("the indexes that failed", &indexes, "\"0-2\"", &reason)?;
    match pods {
        Some(1) => Ok(format!("neither a coordinator that is killed nor its agents are tried again ({reason})")),
        other => Err(format!("{other:?} coordinators have failed, expected one")),
    }
}

fn coordinator_is_followed(trial: &mut JobTrial<'_>) -> Result<String, String> {
    trial.apply_with(SCRIPT, &["--claim", "results"])?;
    trial.until("load", |trial| trial.said().matches("has joined").count() == AGENTS)?;
    std::thread::sleep(std::time::Duration::from_millis(1500));
    trial.nodes.kill_coordinator()?;
    let (ended, reason) = trial.ended("")?;
    expect("the coordinator's Job", &ended, "Complete", &reason)?;
    expect("the agents' Job", &trial.ended("-agents")?.0, "Complete", &reason)?;
    let result = trial.cluster.folder.join("claims/results").join(trial.name).join("result.json");
    let text = fs::read_to_string(&result).map_err(|error| format!("{}: {error}", result.display()))?;
    let document: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let metrics = document["metrics"].as_array().cloned().unwrap_or_default();
    let iterations = metrics.iter().find(|metric| metric["name"] == "iterations");
    let count = iterations.and_then(|metric| metric["value"]["count"].as_f64()).unwrap_or_default();
    match (150.0..=186.0).contains(&count) {
        true => Ok(format!("a coordinator that is killed is followed by another on its claim, {count} iterations")),
        false => Err(format!("the result counts {count} iterations, expected 180")),
    }
}

fn node_crashes_before_the_start(trial: &mut JobTrial<'_>) -> Result<String, String> {
    trial.nodes.held = Some("coordinator");
    trial.apply(SCRIPT)?;
    trial.until("all agents", |trial| trial.nodes.agents() == AGENTS)?;
    let gone = trial.nodes.crash(NODES[0])?;
    trial.nodes.held = None;
    trial.is_whole()?;
    let counts = trial.job("-agents")["status"]["failed"].as_u64();
    let tries = trial.cluster.get(&["pods"])?;
    let of = |pod: &Value| pod["metadata"]["annotations"]["batch.kubernetes.io/job-index-failure-count"].to_string();
    let tries: Vec<String> = tries["items"].as_array().into_iter().flatten().map(of).collect();
    match tries.iter().any(|tries| tries != "null" && tries != "\"0\"") {
        false => Ok(format!("{gone} agents of a node that crashes are replaced, and do not count as tries")),
        true => Err(format!("{counts:?} Pods have failed, and tries count: {tries:?}")),
    }
}

fn suspended_and_resumed(trial: &mut JobTrial<'_>) -> Result<String, String> {
    trial.nodes.held = Some("coordinator");
    trial.apply(SCRIPT)?;
    trial.until("all agents", |trial| trial.nodes.agents() == AGENTS)?;
    let job = format!("{}-agents", trial.name);
    let suspend = |is: bool| format!("{{\"spec\":{{\"suspend\":{is}}}}}");
    trial.cluster.kubectl(&["patch", "job", &job, "--type=merge", "-p", &suspend(true)], "")?;
    trial.until("no agents", |trial| trial.nodes.agents() == 0)?;
    trial.nodes.held = None;
    trial.until("the coordinator", |trial| trial.said().contains("waiting for"))?;
    trial.cluster.kubectl(&["patch", "job", &job, "--type=merge", "-p", &suspend(false)], "")?;
    trial.is_whole()?;
    Ok(String::from("suspended agents end, resumed ones join, and the test is whole"))
}

fn script_fails_on_one_agent(trial: &mut JobTrial<'_>) -> Result<String, String> {
    trial.apply(FAILS)?;
    let coordinator = trial.ended("")?;
    let (agents, reason) = trial.ended("-agents")?;
    let said = trial.said();
    expect("the coordinator's Job", &coordinator.0, "Failed", &said)?;
    expect("the agents' Job", &agents, "Failed", &said)?;
    expect("the reason", &reason, "PodFailurePolicy", &said)?;
    match said.contains("not here") {
        true => Ok(String::from("a script that throws on one agent ends both Jobs, and nothing is tried again")),
        false => Err(format!("the coordinator does not say why\n{said}")),
    }
}
