//! `--save-messages` with `--agents`: one file at the coordinator, whose lines name their agent.

#![allow(clippy::unwrap_used)]

use std::io::Read;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::api::until;
use crate::fleet::{agent, coordinator, result};
use crate::lab::Lab;

/// Each user has 120 messages that it knows by its number; the first of them are long, so that a file has many pieces.
const TALK: &str = "import ws from 'k6/ws'
    import exec from 'k6/execution'
    import { record, stamp } from 'onrush/delay'
    export const options = { scenarios: { talk: { executor: 'per-vu-iterations', vus: 4, iterations: 1 } } }
    const noise = () => Array.from({ length: 9000 }, () => String.fromCharCode(33 + Math.random() * 90)).join('')
    export default function () {
      let left = 120
      ws.connect(`ws${__ENV.TARGET.slice(4)}/ws/echo`, (socket) => {
        const say = () => socket.send(JSON.stringify({ user: exec.vu.idInTest, left, at: stamp('said'), n: noise() }))
        socket.on('open', say)
        socket.on('message', (text) => {
          record('said', JSON.parse(text).at)
          if (--left > 0) say(); else socket.close()
        })
      })
    }";

fn lines(lab: &Lab) -> Vec<Value> {
    let packed = std::fs::File::open(lab.path().join("kept/messages/agents.jsonl.gz")).unwrap();
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Every message once, by time, with its agent and its user.
fn are_whole(lab: &Lab) {
    let messages = result(lab, "kept")["messages"].clone();
    let expected = serde_json::json!({ "files": ["messages/agents.jsonl.gz"], "written": 480, "dropped": 0 });
    assert_eq!(messages, expected);
    let lines = lines(lab);
    assert_eq!(lines.len(), 480);
    let times: Vec<u64> = lines.iter().map(|line| line["t"].as_u64().unwrap()).collect();
    assert!(times.is_sorted(), "by arrival");
    let mut seen: Vec<(u64, u64, u64)> = lines
        .iter()
        .map(|line| {
            let data: Value = serde_json::from_str(line["data"].as_str().unwrap()).unwrap();
            assert_eq!(line["vu"], data["user"], "the user's number in the whole test");
            assert_eq!((&line["event"], &line["stamps"][0]), (&"said".into(), &data["at"]));
            (line["agent"].as_u64().unwrap(), data["user"].as_u64().unwrap(), data["left"].as_u64().unwrap())
        })
        .collect();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), 480);
    let users = |of: u64| seen.iter().filter(|(agent, ..)| *agent == of).map(|(_, user, _)| *user).collect::<Vec<_>>();
    let [mut first, mut second] = [users(0), users(1)];
    first.dedup();
    second.dedup();
    assert_eq!((first.len(), second.len()), (2, 2), "two users on each agent");
    let left: Vec<_> = std::fs::read_dir(lab.path().join("kept/messages")).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn messages_of_all_agents_are_in_one_file() {
    let lab = Lab::with(TALK);
    for _again in 0..2 {
        lab.run(&["--serve", "--agents", "2", "--save", "kept", "--save-messages"]).code(0);
        are_whole(&lab);
    }
    // What one process keeps has its own names again.
    lab.run(&["--serve", "--save", "kept", "--save-messages"]).code(0);
    assert!(!lab.path().join("kept/messages/agents.jsonl.gz").exists());
}

#[test]
fn a_coordinator_that_is_killed_gets_them_again() {
    let script = format!("import {{ sleep }} from 'k6'\n{TALK}\nexport function late() {{ sleep(4) }}");
    let script = script.replace("scenarios: {", "scenarios: { late: { executor: 'shared-iterations', exec: 'late' },");
    let lab = Lab::with(&script);
    let server = crate::fleet_clocks::Server::start(&lab);
    let target = format!("TARGET=http://127.0.0.1:{}", server.port);
    let flags = ["--save", "kept", "--save-messages", "-e", &target];
    let (run, invitation) = coordinator(&lab, "2", &flags);
    let agents = ["0", "1"].map(|index| agent(&lab, &invitation, &["--index", index]));
    let state = || std::fs::read_to_string(lab.path().join("kept/fleet.state")).unwrap_or_default();
    until("the start", || state().contains(r#""boot":""#) && !state().contains(r#""boot":"""#));
    // The agent without the late user has sent its file by then.
    std::thread::sleep(Duration::from_millis(2_500));
    kill_process(Pid::from_raw(run.pid() as i32).unwrap(), Signal::KILL).unwrap();
    run.wait();
    let (_, address) = invitation.rsplit_once('@').unwrap();
    let again = ["--agents", "2", "--fleet-listen", address, "--resume"];
    lab.run(&[&again[..], &flags[..]].concat()).code(0).says("going on with a test that had begun");
    agents.into_iter().for_each(|agent| drop(agent.wait().code(0)));
    are_whole(&lab);
}
