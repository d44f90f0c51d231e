//! Scripts through the real host: coroutines, stops, limits, event loop.

mod driver;

use std::time::Duration;

use driver::{block_on, iteration, load, run_script, scenario, try_load};
use engine::{IterationEnd, StopReason, VirtualUser};

#[test]
fn runs_iterations() {
    let lines = block_on(async {
        load("let n = 0; export default function () { console.log('iteration', n++, __ITER, __VU, __ENV.KEY) }")
            .await
            .run(3)
            .await
    });
    assert_eq!(lines, ["iteration 0 0 1 value", "iteration 1 1 1 value", "iteration 2 2 1 value"]);
}

#[test]
fn imports_built_in_modules() {
    let lines = run_script(
        "import encoding, { b64encode } from 'k6/encoding';
         export default function () { console.log(b64encode('a'), encoding.b64encode('b'), require === undefined) }",
    );
    assert_eq!(lines, ["YQ== Yg== false"]);
}

#[test]
fn promises_and_timers_run_before_the_iteration_ends() {
    let lines = run_script(
        "export default async function () {
           setTimeout((x) => console.log('timer', x), 20, 7);
           Promise.resolve().then(() => console.log('microtask'));
           await new Promise((resolve) => setTimeout(resolve, 5));
           console.log('after await');
         }",
    );
    assert_eq!(lines, ["microtask", "after await", "timer 7"]);
}

#[test]
fn an_exception_is_logged_with_its_place() {
    let lines =
        run_script("export default function () {\n  inner();\n}\nfunction inner() { throw new TypeError('boo') }");
    assert_eq!(
        lines,
        ["error TypeError: boo\n\tat inner (file:///script.js:4:30)\n\tat default (file:///script.js:2:3)\n"]
    );
}

#[test]
fn unhandled_rejections_are_logged() {
    let lines = run_script("export default function () { Promise.reject('a'); Promise.reject('b').catch(() => {}) }");
    assert_eq!(lines, ["error Uncaught (in promise) a"]);
}

/// Starts an iteration, lets it run, stops it; how it ended and what it logged.
fn stop_during(body: &str) -> (IterationEnd, Vec<String>) {
    let script = format!("export default function () {{ {body} }}");
    block_on(async {
        let test = load(&script).await;
        let (mut user, interrupt) = test.user(1).await;
        tokio::task::spawn_local(async move {
            tokio::time::sleep(Duration::from_millis(30)).await;
            interrupt.set(StopReason::GracefulStopOver);
        });
        let end = user.iterate(iteration(&scenario("default"), 0)).await;
        (end, test.log.take())
    })
}

#[test]
fn endless_loops_end() {
    let (end, lines) =
        stop_during("try { while (true) {} } catch (e) { console.log('caught') } finally { console.log('finally') }");
    assert_eq!((end, lines), (IterationEnd::Interrupted, vec![]));
}

#[test]
fn endless_regular_expressions_end() {
    let (end, _) = stop_during("/(x+x+)+y/.test('x'.repeat(200))");
    assert_eq!(end, IterationEnd::Interrupted);
}

#[test]
fn waits_for_promises_end() {
    let (end, lines) = stop_during(
        "setTimeout(() => console.log('never'), 60000);
         return (async () => { try { await new Promise(() => {}) } finally { console.log('finally') } })()",
    );
    assert_eq!((end, lines), (IterationEnd::Interrupted, vec![]));
}

#[test]
fn a_user_works_on_after_a_stop() {
    block_on(async {
        let test =
            load("export default function () { if (__ITER == 0) { while (true) {} } console.log('on', __ITER) }").await;
        let (mut user, interrupt) = test.user(1).await;
        interrupt.set(StopReason::GracefulStopOver);
        let scenario = scenario("default");
        assert_eq!(user.iterate(iteration(&scenario, 0)).await, IterationEnd::Interrupted);
        interrupt.clear();
        assert_eq!(user.iterate(iteration(&scenario, 1)).await, IterationEnd::Completed);
        assert_eq!(test.log.take(), ["on 1"]);
    });
}

#[test]
fn computing_users_share_the_worker() {
    block_on(async {
        let test = load("export default function () { while (true) {} }").await;
        let (mut busy, interrupt) = test.user(1).await;
        let task = tokio::task::spawn_local(async move { busy.iterate(iteration(&scenario("default"), 0)).await });
        for _ in 0..5 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        interrupt.set(StopReason::Aborted);
        assert_eq!(task.await.unwrap(), IterationEnd::Interrupted);
    });
}

#[test]
fn deep_recursion_is_an_exception() {
    for body in [
        "(function f() { f() })()",
        "let o = {}; for (let i = 0; i < 100000; i++) o = { o }; JSON.stringify(o)",
        "JSON.parse('['.repeat(1000000))",
        "new RegExp('('.repeat(100000))",
        "/(?:a|b)*c/.test('ab'.repeat(2000))",
        "let a = []; a[0] = a; let p = new Proxy({}, { get(t, k, r) { return r[k] } }); p.x",
        "let f = () => {}; for (let i = 0; i < 100000; i++) f = f.bind(null); f()",
        "eval('('.repeat(100000))",
        "[1,2,3].sort(function f(a, b) { return [3,2,1].sort(f) })",
        "let s = 'x'; for (let i = 0; i < 100000; i++) s = { toString: ((p) => () => String(p))(s) }; String(s)",
        "let a = []; for (let i = 0; i < 100000; i++) a = [a]; console.log(a); a.flat(Infinity)",
    ] {
        let script = format!(
            "export default function () {{ try {{ {body} }} catch (e) {{ console.log(e.name) }} console.log('alive') }}"
        );
        let t = std::time::Instant::now();
        let lines = run_script(&script);
        eprintln!(
            "{body} {:?} {:?}",
            t.elapsed(),
            lines.iter().map(|l| l.chars().take(100).collect::<String>()).collect::<Vec<_>>()
        );
        assert_eq!(lines.last().unwrap(), "alive", "{body}");
    }
}

#[test]
fn init_errors_name_the_place() {
    let error = |script: &str| block_on(async { try_load(script).await.err().expect("must fail").to_string() });
    assert_eq!(
        error("let a = 1;\nlet b = ;\nexport default 1"),
        "file:///script.js:2:9: SyntaxError: Unexpected token\n  2 | let b = ;\n    |         ^"
    );
    assert_eq!(
        error("import x from 'k6/ws';\nexport default 1"),
        "module k6/ws is not there yet: this version of onrush does not have it"
    );
    assert_eq!(
        error("\nnope();\nexport default 1"),
        "file:///script.js:2:1: ReferenceError: nope is not defined\n  2 | nope();\n    | ^"
    );
}
