//! A coordinator that is killed, phase by phase, and the one that follows it with `--resume`: the run ends as if it had
//! never been killed.

#![allow(clippy::unwrap_used)]

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::api::until;
use crate::fleet::{agent, coordinator, metric, result};
use crate::lab::{Lab, Run, Started};

/// What `setup()`, users and `teardown()` each count; a file's presence holds a phase up until the test has seen it.
const SCRIPT: &str = "import { sleep, check } from 'k6'
    import { Counter, Trend } from 'k6/metrics'
    import exec from 'k6/execution'
    const mine = new Counter('mine'), numbers = new Trend('numbers'), around = new Counter('around')
    export const options = {
      scenarios: { a: { executor: 'per-vu-iterations', vus: 4, iterations: 4, maxDuration: '20s' } },
      thresholds: { mine: ['count==112'], around: [`count==${__ENV.CROSSED ? 0 : 101}`] },
    }
    const wait = (seconds) => { for (let i = 0; i < seconds * 10; i++) sleep(0.1) }
    export function setup() { console.log('SETUP'); around.add(1); wait(Number(__ENV.SETUP || 0)); return { n: 7 } }
    export default function (d) {
      mine.add(d.n); numbers.add(exec.scenario.iterationInTest); check(d, { 'is seven': ({ n }) => n === 7 })
      sleep(Number(__ENV.LOAD || 0.05))
    }
    export function teardown(d) { console.log(`TEARDOWN ${d.n}`); around.add(100); wait(Number(__ENV.TEARDOWN || 0)) }
    export function handleSummary(data) {
      console.log('SUMMARY')
      const until = Date.now() + 1000 * Number(__ENV.SUMMARY || 0)
      while (Date.now() < until);
      return { stdout: `passed ${data.metrics.checks.values.passes}, mine ${data.metrics.mine.values.count}` }
    }";

/// The coordinator and its agents; `env` makes a phase long.
struct Trial {
    lab: Lab,
    run: Option<Started>,
    agents: Vec<Started>,
    invitation: String,
    env: String,
}

impl Trial {
    fn begin(env: &str) -> Trial {
        let lab = Lab::with(SCRIPT);
        let (run, invitation) = coordinator(&lab, "2", &["--save", "fleet", "-e", env]);
        let agents = ["0", "1"].map(|index| agent(&lab, &invitation, &["--index", index])).into();
        Trial { lab, run: Some(run), agents, invitation, env: env.to_owned() }
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.lab.path().join("coordinator.log")).unwrap_or_default()
    }

    fn state(&self) -> Value {
        let text = std::fs::read_to_string(self.lab.path().join("fleet/fleet.state")).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    fn kill(&mut self) {
        let run = self.run.take().unwrap();
        kill_process(Pid::from_raw(run.pid() as i32).unwrap(), Signal::KILL).unwrap();
        assert_eq!(run.wait().code, -1);
    }

    fn killed_when(mut self, what: &str, holds: impl Fn(&Trial) -> bool) -> Trial {
        until(what, || holds(&self));
        self.kill();
        self
    }

    fn agents_end(&mut self, code: i32) {
        self.agents.drain(..).for_each(|agent| drop(agent.wait().code(code)));
    }

    /// The same command with `--resume`.
    fn resume(&self) -> Run {
        self.lab.run(&self.again())
    }

    fn start_again(&self) -> Started {
        let log = format!("--log-output=file={}", self.lab.path().join("again.log").display());
        self.lab.start(&[&["run"], &self.again()[..], &[&log, "script.js"]].concat())
    }

    fn again(&self) -> [&str; 9] {
        let (_, address) = self.invitation.rsplit_once('@').unwrap();
        ["--agents", "2", "--fleet-listen", address, "--save", "fleet", "--resume", "-e", &self.env]
    }

    /// The result is that of an undisturbed run.
    fn is_whole(&self) {
        let document = result(&self.lab, "fleet");
        let count = |name: &str| metric(&document, name)["count"].as_f64().unwrap_or_else(|| panic!("{name}"));
        assert_eq!((count("mine"), count("iterations"), count("around")), (112.0, 16.0, 101.0));
        assert_eq!(
            (&metric(&document, "numbers")["min"], &metric(&document, "numbers")["max"]),
            (&0.0.into(), &15.0.into())
        );
        assert_eq!(document["checks"][0]["passes"], 16);
        let agents = document["generator"]["agents"].as_array().unwrap();
        assert!(agents.iter().all(|agent| agent["lost"].is_null() && agent["start_late_ms"].is_number()), "{agents:?}");
        for left in ["fleet.state", "fleet.frames", "journal.frames"] {
            assert!(!self.lab.path().join("fleet").join(left).exists(), "{left} is left");
        }
    }
}

#[test]
fn killed_in_setup_it_runs_again_and_the_agents_come_back() {
    let mut trial = Trial::begin("SETUP=2").killed_when("setup()", |trial| trial.log().contains("SETUP"));
    trial.resume().code(0).prints("passed 16, mine 112").says("SETUP").says("TEARDOWN 7");
    trial.agents_end(0);
    trial.is_whole();
}

/// An agent that stands still has not heard of what `setup()` returned.
#[test]
fn killed_after_setup_before_the_start_it_does_not_set_up_again() {
    let trial = Trial::begin("SETUP=1");
    until("setup()", || trial.log().contains("SETUP"));
    let still = Pid::from_raw(trial.agents[0].pid() as i32).unwrap();
    kill_process(still, Signal::STOP).unwrap();
    let mut trial = trial.killed_when("the end of setup()", |trial| trial.state()["setup"].is_string());
    assert_eq!(trial.state()["boot"], "", "the test has not begun");
    kill_process(still, Signal::CONT).unwrap();
    let run = trial.resume().code(0).prints("passed 16, mine 112").says("TEARDOWN 7");
    assert!(!run.stderr.contains("SETUP"), "{}", run.stderr);
    trial.agents_end(0);
    trial.is_whole();
}

#[test]
fn killed_in_the_load_it_gets_every_second_again() {
    let has_begun = |trial: &Trial| trial.state()["boot"].as_str().is_some_and(|boot| !boot.is_empty());
    let mut trial = Trial::begin("LOAD=1").killed_when("the load", has_begun);
    trial.resume().code(0).prints("passed 16, mine 112").says("TEARDOWN 7");
    trial.agents_end(0);
    trial.is_whole();
}

#[test]
fn killed_in_teardown_it_tears_down_again_and_waits_for_nobody() {
    let mut trial = Trial::begin("TEARDOWN=3").killed_when("teardown()", |trial| trial.log().contains("TEARDOWN"));
    trial.agents_end(0);
    // Killed once more, it is followed once more.
    let again = trial.start_again();
    let seen =
        |text: &str| std::fs::read_to_string(trial.lab.path().join("again.log")).is_ok_and(|log| log.contains(text));
    until("teardown() again", || seen("TEARDOWN"));
    kill_process(Pid::from_raw(again.pid() as i32).unwrap(), Signal::KILL).unwrap();
    again.wait();
    let began = Instant::now();
    let run = trial.resume().code(0).prints("passed 16, mine 112").says("TEARDOWN 7").says("waits for no agent");
    assert!(!run.stderr.contains("SETUP"), "{}", run.stderr);
    assert!(began.elapsed() < Duration::from_secs(30));
    trial.is_whole();
}

/// A run that fails, fails.
#[test]
fn killed_in_teardown_its_exit_code_stays() {
    let lab = Lab::with(SCRIPT);
    let flags = ["-e", "CROSSED=1", "-e", "TEARDOWN=3"];
    let (run, invitation) = coordinator(&lab, "2", &[&["--save", "fleet"], &flags[..]].concat());
    let agents = ["0", "1"].map(|index| agent(&lab, &invitation, &["--index", index]));
    until("teardown()", || lab.read("coordinator.log").contains("TEARDOWN"));
    kill_process(Pid::from_raw(run.pid() as i32).unwrap(), Signal::KILL).unwrap();
    run.wait();
    agents.into_iter().for_each(|agent| drop(agent.wait().code(0)));
    let (_, address) = invitation.rsplit_once('@').unwrap();
    let again = ["--agents", "2", "--fleet-listen", address, "--save", "fleet", "--resume"];
    lab.run(&[&again[..], &flags[..]].concat()).code(99).says("thresholds on metrics 'around' have been crossed");
    assert_eq!(result(&lab, "fleet")["exit"]["code"], 99);
}

#[test]
fn killed_in_handle_summary_it_does_not_tear_down_again() {
    let mut trial = Trial::begin("SUMMARY=2").killed_when("handleSummary()", |trial| trial.log().contains("SUMMARY"));
    trial.agents_end(0);
    // The result was written before: it is read as it is, and no journal takes its place.
    let report = trial.lab.onrush(&["report", "fleet", "-o", "-"]).code(0);
    assert!(!report.stderr.contains("has not come to its end"), "{}", report.stderr);
    let run = trial.resume().code(0).prints("passed 16, mine 112").says("SUMMARY");
    assert!(!run.stderr.contains("TEARDOWN"), "{}", run.stderr);
    trial.is_whole();
}

/// Its part is here: that it ends while `teardown()` runs changes nothing.
#[test]
fn an_agent_that_is_killed_in_teardown_changes_nothing() {
    let mut trial = Trial::begin("TEARDOWN=2");
    until("teardown()", || trial.log().contains("TEARDOWN"));
    let pid = Pid::from_raw(trial.agents[0].pid() as i32).unwrap();
    let _has_ended = kill_process(pid, Signal::KILL);
    trial.run.take().unwrap().wait().code(0).prints("passed 16, mine 112");
    trial.is_whole();
}

/// In `setup()` it is waited for, and another one takes its place.
#[test]
fn an_agent_that_is_killed_in_setup_is_replaced() {
    let mut trial = Trial::begin("SETUP=3");
    until("setup()", || trial.log().contains("SETUP"));
    let dead = trial.agents.remove(0);
    kill_process(Pid::from_raw(dead.pid() as i32).unwrap(), Signal::KILL).unwrap();
    dead.wait();
    let other = agent(&trial.lab, &trial.invitation, &["--index", "0"]);
    trial.agents.push(other);
    trial.run.take().unwrap().wait().code(0).prints("passed 16, mine 112");
    trial.agents_end(0);
    trial.is_whole();
}
