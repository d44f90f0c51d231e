//! Fleets that something is wrong with: an agent that comes too late, a disk that is full, addresses that nobody
//! listens at. It is said by name, and nothing else is harmed.

#![allow(clippy::unwrap_used)]

use crate::api::{free_port, until};
use crate::fleet::{agent, coordinator, metric, result};
use crate::lab::{Lab, begin};

const SLEEPS: &str =
    "import { sleep } from 'k6'; import { Counter } from 'k6/metrics'; const mine = new Counter('mine')
    export const options = { vus: 4, iterations: 16 }
    export default function () { mine.add(1); sleep(0.5) }";

#[test]
fn an_agent_that_comes_after_the_start_is_turned_away() {
    let lab = Lab::with(SLEEPS);
    let (run, invitation) = coordinator(&lab, "2", &["--save", "r"]);
    let agents = [agent(&lab, &invitation, &[]), agent(&lab, &invitation, &[])];
    // It is there before the test begins; from then on it says on which boot of the machine that was.
    let state = || std::fs::read_to_string(lab.path().join("r/fleet.state")).unwrap_or_default();
    until("the start", || state().contains(r#""boot":""#) && !state().contains(r#""boot":"""#));
    let late = agent(&lab, &invitation, &[]).wait().code(255);
    late.says("the test has begun without it: agents join before the start");
    for agent in agents {
        agent.wait().code(0);
    }
    run.wait().code(0);
    assert_eq!(metric(&result(&lab, "r"), "mine")["count"], 16.0);
}

#[test]
fn an_agent_whose_disk_is_full_says_so_and_its_seconds_are_counted() {
    let lab = Lab::with(SLEEPS);
    let (run, invitation) = coordinator(&lab, "2", &["--save", "r"]);
    std::fs::create_dir(lab.path().join("full")).unwrap();
    std::os::unix::fs::symlink("/dev/full", lab.path().join("full/journal.frames")).unwrap();
    let full = agent(&lab, &invitation, &["--index", "0", "--keep", "full"]);
    let other = agent(&lab, &invitation, &["--index", "1"]);
    full.wait().code(0).says("No space left on device");
    other.wait().code(0);
    run.wait().code(0);
    let log = lab.read("coordinator.log");
    assert!(log.contains("agent 0 (") && log.contains("No space left on device"), "{log}");
    assert_eq!(metric(&result(&lab, "r"), "mine")["count"], 16.0);
}

#[test]
fn agents_that_listen_are_dialled() {
    let lab = Lab::with(SLEEPS);
    let addresses = [0; 2].map(|_| format!("127.0.0.1:{}", free_port()));
    let log = format!("--log-output=file={}", lab.path().join("coordinator.log").display());
    let run = begin(lab.command(&["run", "--agents", &addresses.join(","), "--save", "r", &log, "script.js"]));
    let text = || std::fs::read_to_string(lab.path().join("coordinator.log")).unwrap_or_default();
    until("the commands", || text().contains("onrush agent --listen"));
    let text = text();
    assert!(addresses.iter().all(|address| text.contains(&format!("# {address}"))), "{text}");
    let token = text.split("ONRUSH_JOIN=").nth(1).unwrap().split(' ').next().unwrap();
    let agents = addresses.map(|address| agent(&lab, token, &["--listen", &address]));
    for agent in agents {
        agent.wait().code(0).says("waiting for a coordinator to dial 127.0.0.1:");
    }
    run.wait().code(0);
    assert_eq!(metric(&result(&lab, "r"), "mine")["count"], 16.0);
}

#[test]
fn addresses_of_no_use_are_refused() {
    let lab = Lab::with(SLEEPS);
    for (arguments, said) in [
        (&["--agents", "a:1,b"][..], "--agents: found 'b', expected a whole number from 1 to 1000, or HOST:PORT"),
        (&["--agents", "a:1,a:1"], "--agents: a:1 is there twice"),
        (&["--agents", "a:1", "--fleet-listen", ":0"], "--agents with addresses dials them: leave out --fleet-listen"),
    ] {
        lab.run(arguments).code(255).says(said);
    }
    let nobody = format!("127.0.0.1:{}", free_port());
    let run = lab.run(&["--agents", &nobody, "--join-timeout", "400ms"]);
    run.code(117).says("no agent has joined as number 0 within 0.4 s");
    let token = "x".repeat(64);
    lab.onrush(&["agent", "--listen", "nowhere", "--join", &token]).code(255).says("--listen: found 'nowhere'");
    let both = format!("{token}@10.0.0.1:1");
    lab.onrush(&["agent", "--listen", ":1", "--join", &both]).code(255).says("--listen waits for one");
}
