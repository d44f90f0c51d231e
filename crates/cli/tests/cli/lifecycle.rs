//! Init, setup, iterations, teardown, handleSummary: what runs when, and what passes between them.

mod several;

use crate::lab::Lab;

#[test]
fn setup_data_reaches_users_and_teardown_through_json() {
    let lab = Lab::with(
        "export const options = { vus: 2, iterations: 4 };
         export function setup() { return { n: 1, when: new Date(0), gone: undefined }; }
         export default function (data) {
           if (data.when !== '1970-01-01T00:00:00Z' && data.when !== '1970-01-01T00:00:00.000Z') throw new \
           Error(`when ${data.when}`);
           if (data.gone !== null) throw new Error(`gone ${data.gone}`); // k6 does not leave it out
           data.n += 1;
           console.log(`n=${data.n} iter=${__ITER}`);
         }
         export function teardown(data) { console.log(`teardown n=${data.n}`); }",
    );
    let run = lab.run(&[]).code(0).says("teardown n=1");
    assert!(!run.stderr.contains("level=error"), "{}", run.stderr);
    // A user parses the data once: its own changes stay.
    assert!(run.stderr.contains("n=3 iter=1"), "{}", run.stderr);
}

#[test]
fn handle_summary_writes_what_it_returns() {
    let lab = Lab::with(
        "import { Counter } from 'k6/metrics';
         const c = new Counter('things');
         export const options = { iterations: 3 };
         export default function () { c.add(2); }
         export function setup() { return { a: 1 }; }
         export function handleSummary(data) {
           return { stdout: `things ${data.metrics.things.values.count}\\n`, stderr: 'to stderr\\n', 'out.json': \
           JSON.stringify(data) };
         }",
    );
    lab.run(&[]).code(0).prints("things 6").says("to stderr");
    let data: serde_json::Value = serde_json::from_str(&lab.read("out.json")).expect("JSON");
    assert_eq!(data["metrics"]["iterations"]["values"]["count"], 3);
    assert_eq!(data["metrics"]["things"]["type"], "counter");
    assert_eq!(data["setup_data"]["a"], 1);
    assert_eq!(data["root_group"]["name"], "");
    assert!(data["state"]["testRunDurationMs"].as_f64().expect("a number") > 0.0);
}

#[test]
fn exports_named_by_exec_run_with_their_env_and_tags() {
    let lab = Lab::with(
        "import exec from 'k6/execution';
         export const options = { scenarios: {
           a: { executor: 'per-vu-iterations', exec: 'one', env: { NAME: 'ada' }, tags: { kind: 'x' } },
           b: { executor: 'shared-iterations', exec: 'two', startTime: '50ms' } } };
         export function one() { console.log(`one ${__ENV.NAME} ${exec.scenario.name} ${exec.vu.metrics.tags.kind}`); }
         export async function two() { await new Promise((r) => setTimeout(r, 10)); console.log(`two \
         ${exec.scenario.executor}`); }",
    );
    lab.run(&[]).code(0).says("one ada a x").says("two shared-iterations");
}

#[test]
fn commonjs_typescript_and_modules_work_together() {
    let lab = Lab::new();
    lab.file("legacy.js", "exports.twice = function (n) { return 2 * n; };\n");
    lab.file(
        "typed.ts",
        "export interface Point { x: number }\nexport function px(p: Point): number {\n  return p.x as number;\n}\n",
    );
    lab.file("data.json", "{\"k\": 5}");
    lab.file(
        "script.js",
        "import { twice } from './legacy.js';
         import { px } from './typed.ts';
         const data = JSON.parse(open('./data.json'));
         const again = require('./legacy.js');
         export default function () { console.log(`${twice(4)} ${px({ x: 7 })} ${data.k} ${again.twice(1)}`); }",
    );
    lab.run(&[]).code(0).says("8 7 5 2");
}

#[test]
fn typescript_errors_point_into_the_source_as_written() {
    let lab = Lab::new();
    let script = "interface A {\n  b: string;\n}\n\nfunction f(a: A): void {\n  throw new Error(a.b);\n}\n\nexport \
        default function (): void {\n  f({ b: 'here' });\n}\n";
    lab.file("script.ts", script);
    lab.onrush(&["run", "-q", "script.ts"]).code(0).says("Error: here").says("script.ts:6:").says("script.ts:10:");
}

#[test]
fn a_script_may_come_from_standard_input() {
    let lab = Lab::new();
    lab.file("in.js", "export default function () { console.log('from stdin'); }");
    let mut command = lab.command(&["run", "-q", "-"]);
    command.stdin(std::fs::File::open(lab.path().join("in.js")).expect("the file just written"));
    crate::lab::finish(command).code(0).says("from stdin");
}

#[test]
fn endless_loops_end_with_the_graceful_stop() {
    let lab = Lab::with(
        "import { sleep } from 'k6';
         import { Counter } from 'k6/metrics';
         const ticks = new Counter('ticks');
         export const options = { scenarios: {
           stuck: { executor: 'constant-vus', vus: 1, duration: '1s', gracefulStop: '200ms', exec: 'stuck' },
           fine: { executor: 'constant-vus', vus: 1, duration: '1s', gracefulStop: '200ms', exec: 'fine' } } };
         export function stuck() { try { while (true) {} } catch (e) { console.log('caught'); } finally { \
         console.log('finally'); } }
         export function fine() { ticks.add(1); sleep(0.02); }
         export function handleSummary(data) { return { stdout: `ticks=${data.metrics.ticks.values.count}` }; }",
    );
    let run = lab.run(&["--workers", "1"]).code(0);
    assert!(!run.stderr.contains("caught") && !run.stderr.contains("finally"), "{}", run.stderr);
    // The neighbour on the same worker went on: far more than the one tick it would get if the loop held the thread.
    let ticks: u32 = run.stdout.trim().strip_prefix("ticks=").expect("the summary").parse().expect("a number");
    assert!(ticks >= 10, "{ticks} ticks");
}

#[test]
fn unhandled_rejections_are_logged() {
    let lab = Lab::with("export default async function () { throw new Error('lost'); }");
    lab.run(&[]).code(0).says("Uncaught (in promise)").says("lost");
}

#[test]
fn a_rejection_that_nobody_handles_outside_of_iterations_ends_the_test() {
    for (script, says) in [
        ("Promise.reject(new Error('lost')); export default function () {}", "script.js:1:16: Uncaught (in promise)"),
        ("export default function () {} export function setup() { Promise.reject('lost'); }", "lost"),
        ("export default function () {} export function teardown() { Promise.reject('lost'); }", "lost"),
    ] {
        Lab::with(script).run(&[]).code(255).says(says);
    }
    let handled = "const late = Promise.reject('found'); late.catch(() => {}); export default function () {}";
    Lab::with(handled).run(&[]).code(0);
}

#[test]
fn names_that_modules_do_not_have_are_undefined() {
    let lab = Lab::with(
        "import { nothing, get } from 'k6/http';
        import { answer, question } from './answer.js';
        import { later } from './later.js';
        export default function () {
            console.log(typeof nothing, typeof get, answer, typeof question, later);
        }",
    );
    lab.file("answer.js", "exports.answer = 42;");
    lab.file("later.js", "import { neither } from 'k6/http'; export const later = typeof neither;");
    lab.run(&[]).code(0).says("msg=\"undefined function 42 undefined undefined\"");
    let lab = Lab::with("import { nothing } from './later.js'; export default function () {}");
    lab.file("later.js", "export const later = 1;");
    lab.run(&[]).code(107).says("Could not find export 'nothing' in module");
}

#[test]
fn deep_recursion_and_memory_hunger_are_exceptions() {
    let lab = Lab::with(
        "function f(n) { return f(n + 1) + 1; }
         export default function () {
           try { f(0); } catch (e) { console.log(`recursion: ${e.name}`); }
           const hoard = []; while (true) hoard.push(new Array(1000).fill(hoard.length));
         }",
    );
    lab.run(&["--vu-memory-limit", "32m"]).code(0).says("recursion: RangeError").says("out of memory");
}

#[test]
fn setup_and_teardown_have_time_limits() {
    let slow = |name: &str| {
        format!(
            "import {{ sleep }} from 'k6';
             export const options = {{ setupTimeout: '100ms', teardownTimeout: '100ms' }};
             export function {name}() {{ sleep(30); }}
             export default function () {{}}"
        )
    };
    Lab::with(&slow("setup")).run(&[]).code(100).says("setup");
    Lab::with(&slow("teardown")).run(&[]).code(101).says("teardown");
}

#[test]
fn a_test_without_a_finished_iteration_says_so() {
    let script = |iteration: &str| {
        Lab::with(&format!(
            "import {{ sleep }} from 'k6'; import exec from 'k6/execution';
             export const options = {{ scenarios: {{
               only: {{ executor: 'constant-vus', vus: 1, duration: '1s', gracefulStop: '0s' }} }} }};
             export default function () {{ {iteration} }}
             export function teardown() {{ console.warn('in teardown') }}
             export function handleSummary() {{ console.warn('in the summary'); return {{}}; }}"
        ))
    };
    let text = "no iteration finished";
    let cut = script("sleep(30)").run(&[]).code(0);
    let place = |part: &str| cut.stderr.find(part).unwrap_or_else(|| panic!("no {part} in {}", cut.stderr));
    assert!(place("in teardown") < place(text) && place(text) < place("in the summary"), "{}", cut.stderr);
    let thrown = script("sleep(0.3); throw new Error('thrown')").run(&[]).code(0);
    assert!(!thrown.stderr.contains(text), "{}", thrown.stderr);
    // One that the script ended did what the script wanted.
    let aborted = script("sleep(0.01); exec.test.abort('enough')").run(&[]).code(108);
    assert!(!aborted.stderr.contains(text), "{}", aborted.stderr);
}
