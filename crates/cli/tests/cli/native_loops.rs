//! Native functions of the JavaScript engine that do not end, and what the other users of their worker make of it.

use std::process::Command;

use crate::lab::{Lab, Run, binary, finish};

/// Two scenarios on one worker: `fine` sleeps and counts, `stuck` runs `native`.
fn beside(native: &str) -> Run {
    let lab = with_both(native);
    lab.run(&WORKER)
}

const WORKER: [&str; 4] = ["--workers", "1", "--vu-memory-limit", "256m"];

fn with_both(native: &str) -> Lab {
    Lab::with(&format!(
        "import {{ sleep }} from 'k6';
         import {{ Counter }} from 'k6/metrics';
         const ticks = new Counter('ticks');
         const times = {{ vus: 1, duration: '4s', gracefulStop: '500ms' }};
         export const options = {{ scenarios: {{
           stuck: {{ executor: 'constant-vus', exec: 'stuck', ...times }},
           fine: {{ executor: 'constant-arrival-rate', rate: 50, preAllocatedVUs: 20, exec: 'fine', ...times, vus: \
           undefined }} }} }};
         export function stuck() {{ {native}; sleep(0.5); }}
         export function fine() {{ ticks.add(1); }}
         export function handleSummary(data) {{
           return {{ stdout: `ticks=${{data.metrics.ticks.values.count}} \
           iterations=${{data.metrics.iterations.values.count}}` }};
         }}"
    ))
}

/// Iterations of `fine`.
fn ticks(run: &Run) -> u32 {
    let count = run.stdout.split_whitespace().find_map(|word| word.strip_prefix("ticks="));
    count.and_then(|count| count.parse().ok()).unwrap_or_else(|| panic!("no summary: {run:?}"))
}

/// What 50 a second come to in 4 seconds, and 2 % less.
const KEPT_PACE: u32 = 196;

#[test]
fn others_keep_their_pace_beside_a_native_loop_that_does_not_end() {
    assert!(ticks(&beside("").code(0)) >= KEPT_PACE, "without a hang");
    for (native, name) in [
        ("new Array(1e9).join()", "js_array_join"),
        ("Array(1e9) + ''", "js_array_"),
        ("new Array(4e9).reverse()", "js_array_reverse"),
    ] {
        let run = beside(native);
        assert_eq!(run.code, 114, "{native}: {run:?}");
        assert!(ticks(&run) >= KEPT_PACE, "{native}: {run:?}");
        for part in [
            "VU 1 could not be stopped in iteration 0 of scenario 'stuck': it is in native code of the JavaScript \
             engine (",
            name,
            "; the VU is given up with all it holds, and the iteration counts as interrupted; avoid the call, or make \
             its data smaller",
        ] {
            assert!(run.stderr.contains(part), "{native}: {part} in {}", run.stderr);
        }
    }
}

/// What is handed out has no symbols.
#[test]
fn a_stripped_program_keeps_the_pace_and_names_the_function() {
    let lab = with_both("new Array(1e9).join()");
    let stripped = lab.path().join("onrush");
    let strip = Command::new("strip").arg("--strip-all").arg("-o").arg(&stripped).arg(binary()).status();
    assert!(strip.expect("strip comes with the C compiler").success());
    let mut command = Command::new(&stripped);
    command.args(["run", "-q"]).args(WORKER).arg("script.js").current_dir(lab.path());
    let run = finish(command);
    assert_eq!(run.code, 114, "{run:?}");
    assert!(ticks(&run) >= KEPT_PACE && run.stderr.contains("js_array_join"), "{run:?}");
}

#[test]
fn others_keep_their_pace_beside_native_code_that_ends() {
    for native in [
        "const a = []; for (let i = 0; i < 1e6; i++) a.push((i * 7919) % 1000003); a.sort()",
        "JSON.parse('[' + '1,'.repeat(4e6) + '1]')",
        "parseFloat('1'.repeat(1e8))",
        "encodeURIComponent('é'.repeat(1e7))",
        "'a,'.repeat(4e6).split(',')",
        "for (;;) {}",
    ] {
        let run = beside(&format!(
            "try {{ {native} }} catch (e) {{ if (e !== null && e.name !== 'InternalError') throw e }}"
        ));
        // A machine that is slow enough does not come to the end of it in time.
        assert!([0, 114].contains(&run.code), "{native}: {run:?}");
        assert!(ticks(&run) >= KEPT_PACE, "{native}: {run:?}");
        assert!(!run.stderr.contains("Error"), "{native}: {run:?}");
    }
}

#[test]
fn a_user_that_was_given_up_is_replaced_where_its_scenario_needs_one() {
    let lab = Lab::with(
        "export const options = { scenarios: {
           first: { executor: 'per-vu-iterations', vus: 1, maxDuration: '1s', gracefulStop: '100ms', exec: 'first' },
           second: { executor: 'per-vu-iterations', vus: 1, startTime: '6s', exec: 'second' } } };
         export function first() { new Array(4e9).reverse(); }
         export function second() { console.log(`here is VU ${__VU}`); }",
    );
    let run = lab.run(&["--workers", "1"]).code(114);
    assert!(run.stderr.contains("here is VU 1"), "{run:?}");
}

#[test]
fn phases_that_run_once_keep_their_time_limits_in_native_code() {
    let slow = |name: &str| {
        format!(
            "export const options = {{ setupTimeout: '200ms', teardownTimeout: '200ms' }};
             export function {name}() {{ new Array(4e9).reverse(); }}
             export default function () {{ console.log('ran'); }}"
        )
    };
    for (name, code) in [("setup", 100), ("teardown", 101)] {
        let run = Lab::with(&slow(name)).run(&[]).code(code);
        let expected = format!(
            "{name}() did not end within 200ms; raise the limit with the option {name}Timeout; {name}() could not be \
             stopped: it is in native code of the JavaScript engine (js_array_reverse), where it has computed for "
        );
        assert!(run.stderr.contains(&expected), "{}", run.stderr);
    }
}
