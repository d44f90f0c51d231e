//! Clocks of a fleet that are not set alike: no figure may be the difference of two machines' clocks.

#![allow(clippy::unwrap_used)]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::fleet::{agent, coordinator, metric, result};
use crate::lab::{Lab, begin};

const AHEAD_MS: f64 = 200.0;
/// What a busy machine adds to a message's delay is far below what the clocks are apart.
const SLACK_MS: f64 = 90.0;

/// The wall clock of `cargo xtask truth`, as a library to be preloaded.
fn clock(lab: &Lab) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../xtask/truth/clock.c");
    let library = lab.path().join("clock.so");
    let made =
        Command::new("cc").args(["-O1", "-shared", "-fPIC", "-o"]).arg(&library).arg(source).arg("-ldl").status();
    assert!(made.unwrap().success(), "cc makes the library");
    library
}

/// A target that all agents reach.
pub struct Server {
    child: Child,
    pub port: String,
}

impl Server {
    pub fn start(lab: &Lab) -> Server {
        let mut command = lab.command(&["serve", "--listen", "tcp://127.0.0.1:0"]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.split("127.0.0.1:").nth(1).unwrap();
        Server { child, port: address.chars().take_while(char::is_ascii_digit).collect() }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = (self.child.kill(), self.child.wait());
    }
}

/// Two users, each on an agent, send each other stamps of every kind that a script can make.
const TALK: &str = "import { WebSocket } from 'k6/websockets'
    import { Trend } from 'k6/metrics'
    import exec from 'k6/execution'
    import { stamp, record } from 'onrush/delay'
    import { ready } from 'onrush/together'
    const dates = new Trend('dates', true), opened = new Trend('opened', true), began = new Trend('began', true)
    const metAt = new Trend('met_at', true)
    export const options = { scenarios: { a: { executor: 'per-vu-iterations', vus: 2, iterations: 1 } } }
    export default async function () {
      const met = await ready()
      const me = exec.vu.idInTest
      const start = exec.scenario.startTime
      const socket = new WebSocket(`${__ENV.SERVER}/ws/broadcast/room`)
      socket.onopen = () => {
        const say = () => socket.send(JSON.stringify({ me, at: Date.now(), stamps: [stamp()], start, met: met.at }))
        const timer = setInterval(say, 50)
        setTimeout(() => { clearInterval(timer); socket.close() }, 2500)
      }
      socket.onmessage = ({ data }) => {
        const message = JSON.parse(data)
        if (message.me === me) return
        dates.add(Date.now() - message.at)
        record('said', message.stamps)
        opened.add(Math.abs(new Date().getTime() - message.at))
        metAt.add(Math.abs(met.at - message.met))
        began.add(Math.abs(start - message.start))
      }
    }";

#[test]
fn a_clock_that_is_ahead_moves_no_delay() {
    let lab = Lab::with(TALK);
    let server = Server::start(&lab);
    let at = format!("SERVER=ws://127.0.0.1:{}", server.port);

    let (run, invitation) = coordinator(&lab, "2", &["--save", "r", "-e", &at]);
    let right = agent(&lab, &invitation, &["--index", "0"]);
    let mut wrong = lab.command(&["agent", "--index", "1"]);
    wrong.env("ONRUSH_JOIN", &invitation).env("LD_PRELOAD", clock(&lab)).env("CLOCK_AHEAD_MS", AHEAD_MS.to_string());
    let wrong = begin(wrong);
    let ended = run.wait();
    let log = lab.read("coordinator.log");
    assert_eq!(ended.code, 0, "{log}");
    [right, wrong].into_iter().for_each(|agent| drop(agent.wait().code(0)));

    let document = result(&lab, "r");
    let bound = document["generator"]["stamps_apart_ms"].as_f64().unwrap();
    assert!(bound > 0.0 && bound < SLACK_MS / 3.0, "{bound}");
    let figure = |name: &str, of: &str| -> f64 {
        let figures: Value = metric(&document, name);
        figures[of].as_f64().unwrap_or_else(|| panic!("{name} has no {of}: {figures}"))
    };
    let mean = |name: &str| figure(name, "sum") / figure(name, "count");
    for name in ["dates", "message_delay"] {
        // Of whole milliseconds one is lost to rounding.
        assert!(figure(name, "min") >= -bound - 1.0, "{name} {}: {bound}", metric(&document, name));
        assert!(mean(name) <= SLACK_MS, "{name} {}", metric(&document, name));
    }
    for name in ["opened", "met_at", "began"] {
        assert!(figure(name, "min").abs() <= SLACK_MS, "{name} {}", metric(&document, name));
        assert!(mean(name).abs() <= SLACK_MS, "{name} {}", metric(&document, name));
    }
    // Half of the messages came to the agent whose clock is wrong: both ways are in the figures.
    assert!(figure("message_delay", "count") >= 40.0, "{}", metric(&document, "message_delay"));
}
