//! Ctrl-C: once, and the summary of what ran is printed; twice, and the process is gone.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::lab::Lab;

const LONG: &str = "import { sleep } from 'k6';
    export const options = { vus: 2, duration: '10m' };
    export default function () { sleep(0.05); }
    export function teardown() { console.log('teardown ran'); if (__ENV.SLOW) sleep(60); }";

fn interrupt(pid: u32) {
    let status = Command::new("kill").args(["-INT", &pid.to_string()]).status().expect("kill runs");
    assert!(status.success());
}

#[test]
fn the_first_interrupt_stops_gracefully() {
    let lab = Lab::with(LONG);
    let started = lab.start(&["run", "-q", "script.js"]);
    std::thread::sleep(Duration::from_millis(700));
    interrupt(started.pid());
    started.wait().code(105).prints("iterations").says("teardown ran");
}

#[test]
fn init_code_that_does_not_end_is_left_at_once() {
    for script in
        ["for (;;); export default function () {}", "setInterval(() => {}, 50); export default function () {}"]
    {
        let lab = Lab::with(script);
        let started = lab.start(&["run", "-q", "script.js"]);
        std::thread::sleep(Duration::from_millis(700));
        interrupt(started.pid());
        started.wait().code(105).says("SIGINT came while the script was being loaded");
    }
}

#[test]
fn the_second_interrupt_leaves_at_once() {
    let lab = Lab::with(LONG);
    let started = lab.start(&["run", "-q", "-e", "SLOW=1", "script.js"]);
    std::thread::sleep(Duration::from_millis(700));
    interrupt(started.pid());
    std::thread::sleep(Duration::from_millis(700));
    let before = Instant::now();
    interrupt(started.pid());
    started.wait().code(105);
    assert!(before.elapsed() < Duration::from_secs(30), "teardown was waited for");
}
