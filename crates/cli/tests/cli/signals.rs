//! Signals, phase by phase: the first ends what is running and the summary of what ran is printed, the second ends the
//! process. Whatever phase it was, the exit code is 105 and the saved result is whole.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use report::document::{Value, read};

use crate::lab::{Lab, Run};

/// A phase that never ends, and how to tell that it has begun.
struct Phase {
    name: &'static str,
    script: &'static str,
    /// Iterations in the saved result at least.
    iterations: f64,
}

const PHASES: [Phase; 8] = [
    Phase {
        name: "users are made",
        // Every user but the first, which only reads the script, is stuck in its init code.
        script: "export const options = { vus: 3, iterations: 3 };
            if (__VU > 0) { console.log('reached'); for (;;); }
            export default function () {}",
        iterations: 0.0,
    },
    Phase {
        name: "setup waits",
        script: "import { sleep } from 'k6';
            export function setup() { console.log('reached'); sleep(600); }
            export default function () {}",
        iterations: 0.0,
    },
    Phase {
        name: "setup loops",
        script: "export function setup() { console.log('reached'); for (;;); }
            export default function () {}",
        iterations: 0.0,
    },
    Phase {
        name: "iterations",
        script: "import { sleep } from 'k6';
            export const options = { vus: 2, duration: '10m' };
            export default function () { if (__ITER === 1) { console.log('reached'); sleep(600); } }
            export function teardown() { console.log('torn down'); }",
        iterations: 2.0,
    },
    Phase {
        name: "teardown waits",
        script: "import { sleep } from 'k6';
            export function teardown() { console.log('reached'); sleep(50); }
            export default function () {}",
        iterations: 1.0,
    },
    Phase {
        name: "teardown loops",
        script: "export function teardown() { console.log('reached'); for (;;); }
            export default function () {}",
        iterations: 1.0,
    },
    Phase {
        name: "handleSummary waits",
        script: "export default function () {}
            export async function handleSummary() {
              console.log('reached');
              await new Promise(() => setTimeout(() => {}, 1e8));
            }",
        iterations: 1.0,
    },
    Phase {
        name: "handleSummary loops",
        script: "export default function () {}
            export function handleSummary() { console.log('reached'); for (;;); }",
        iterations: 1.0,
    },
];

/// A run whose output goes to files, so that a test can wait for what it says.
struct Watched<'a> {
    lab: &'a Lab,
    child: Child,
}

impl<'a> Watched<'a> {
    fn start(lab: &'a Lab, arguments: &[&str]) -> Self {
        let mut command = hearing_hangups(lab.command(arguments));
        let child = command.stdout(create(lab, "stdout")).stderr(create(lab, "stderr")).spawn().expect("onrush starts");
        Watched { lab, child }
    }

    fn says(&mut self, text: &str) {
        self.until(|this| this.lab.read("stderr").contains(text).then_some(()));
    }

    fn signal(&self, name: &str) {
        let arguments = [format!("-{name}"), self.child.id().to_string()];
        assert!(Command::new("kill").args(arguments).status().expect("kill runs").success());
    }

    fn ends(mut self) -> Run {
        let status = self.until(|this| this.child.try_wait().expect("a child of ours"));
        Run { code: status.code().unwrap_or(-1), stdout: self.lab.read("stdout"), stderr: self.lab.read("stderr") }
    }

    fn until<T>(&mut self, mut look: impl FnMut(&mut Self) -> Option<T>) -> T {
        let end = Instant::now() + Duration::from_secs(45);
        loop {
            if let Some(found) = look(self) {
                return found;
            }
            assert!(Instant::now() < end, "onrush hangs; it said {}", self.lab.read("stderr"));
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn create(lab: &Lab, name: &str) -> std::fs::File {
    std::fs::File::create(lab.path().join(name)).expect("a file in the lab")
}

/// The same command with SIGHUP at its default. Whoever runs the tests may ignore it (`nohup` does), and children
/// inherit that.
fn hearing_hangups(onrush: Command) -> Command {
    let mut env = Command::new("env");
    env.arg("--default-signal=HUP").arg(onrush.get_program()).args(onrush.get_args());
    for (name, value) in onrush.get_envs() {
        match value {
            Some(value) => env.env(name, value),
            None => env.env_remove(name),
        };
    }
    env.current_dir(onrush.get_current_dir().expect("the lab's folder")).stdin(Stdio::null());
    env
}

/// Asserts the name of the phase with everything it shows.
fn check(phase: &Phase, signal: &str, lab: &Lab, run: &Run) {
    let Run { code, stdout, stderr } = run;
    let what = format!("{signal}, {}: {stdout}\n{stderr}", phase.name);
    assert_eq!(*code, 105, "{what}");
    assert!(stderr.contains(&format!("the test was stopped by {signal}")), "{what}");
    assert!(stdout.contains("TOTAL RESULTS"), "no summary: {what}");
    let result = read(lab.path().join("r")).unwrap_or_else(|error| panic!("{error}: {what}"));
    assert_eq!(result.exit.code, 105, "{what}");
    let iterations = match result.metric("iterations").map(|metric| &metric.value) {
        Some(Value::Counter { count, .. }) => *count,
        _ => 0.0,
    };
    assert!(iterations >= phase.iterations, "{iterations} iterations: {what}");
}

#[test]
fn the_first_signal_ends_every_phase_with_a_summary() {
    for (phase, signal) in PHASES.iter().zip(["INT", "TERM", "HUP"].into_iter().cycle()) {
        let lab = Lab::with(phase.script);
        let mut run = Watched::start(&lab, &["run", "-q", "--save", "r", "script.js"]);
        run.says("reached");
        run.signal(signal);
        check(phase, &format!("SIG{signal}"), &lab, &run.ends());
    }
}

#[test]
fn a_run_that_is_stopped_still_tears_down() {
    let lab = Lab::with(PHASES[3].script);
    let mut run = Watched::start(&lab, &["run", "-q", "script.js"]);
    run.says("reached");
    run.signal("INT");
    let run = run.ends().code(105).says("torn down").prints("iterations");
    assert!(!run.stderr.contains("level=warning"), "{}", run.stderr);
}

#[test]
fn the_result_is_there_while_handle_summary_runs() {
    let lab = Lab::with(PHASES[7].script);
    let mut run = Watched::start(&lab, &["run", "-q", "--save", "r", "script.js"]);
    run.says("reached");
    let result = read(lab.path().join("r")).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(result.exit.code, 0, "nothing is known of a signal yet");
    run.signal("INT");
    run.ends().code(105);
}

#[test]
fn init_code_that_does_not_end_is_left_at_once() {
    for script in [
        "console.log('reached'); for (;;); export default function () {}",
        "console.log('reached'); setInterval(() => {}, 50); export default function () {}",
    ] {
        let lab = Lab::with(script);
        let mut run = Watched::start(&lab, &["run", "-q", "script.js"]);
        run.says("reached");
        run.signal("INT");
        run.ends().code(105).says("SIGINT came while the script was being loaded; nothing has run");
    }
}

#[test]
fn the_second_signal_leaves_at_once() {
    let lab = Lab::with(
        "import { sleep } from 'k6';
         export const options = { vus: 2, duration: '10m' };
         export default function () { console.log('reached'); sleep(600); }
         export function teardown() { console.log('teardown'); sleep(50); }",
    );
    let mut run = Watched::start(&lab, &["run", "-q", "script.js"]);
    run.says("reached");
    run.signal("INT");
    run.says("teardown");
    let before = Instant::now();
    run.signal("INT");
    run.ends().code(105);
    assert!(before.elapsed() < Duration::from_secs(30), "teardown was waited for");
}

#[test]
fn the_second_signal_ends_handle_summary_too_and_the_result_says_why() {
    let lab = Lab::with(
        "import { sleep } from 'k6';
         export const options = { vus: 2, duration: '10m' };
         export default function () { console.log('reached'); sleep(600); }
         export function handleSummary() { console.log('summarising'); for (;;); }",
    );
    let mut run = Watched::start(&lab, &["run", "-q", "--save", "r", "script.js"]);
    run.says("reached");
    run.signal("INT");
    run.says("summarising");
    run.signal("INT");
    run.ends().code(105);
    assert_eq!(read(lab.path().join("r")).expect("a whole result").exit.code, 105);
}

/// `nohup` has SIGHUP ignored, and means it.
#[test]
fn a_hangup_that_is_ignored_stays_ignored() {
    let lab = Lab::with(
        "import { sleep } from 'k6';
         export default function () { console.log('reached'); sleep(1.5); console.log('went on'); }",
    );
    let onrush = lab.command(&["run", "-q", "script.js"]);
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' HUP; exec \"$0\" run -q script.js"]).arg(onrush.get_program()).current_dir(lab.path());
    let child = shell.stdout(create(&lab, "stdout")).stderr(create(&lab, "stderr")).spawn().expect("sh runs");
    let mut run = Watched { lab: &lab, child };
    run.says("reached");
    run.signal("HUP");
    run.ends().code(0).says("went on");
}
