//! Scripts through the real host: coroutines, stops, limits, event loop.

#![allow(clippy::unwrap_used)]

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
fn what_a_script_assigns_to_iter_holds_for_the_iteration() {
    let source = "export default function () { const was = __ITER; __ITER = 'mine'; console.log(was, __ITER) }";
    let lines = block_on(async { load(source).await.run(3).await });
    assert_eq!(lines, ["0 mine", "1 mine", "2 mine"]);
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
           Promise.resolve().then(() => console.log('microtask'));
           await new Promise((resolve) => setTimeout(resolve, 5));
           setTimeout((x) => console.log('timer', x), 5, 7);
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
        ["error TypeError: boo\n\tat inner (file:///script.js:4:26)\n\tat default (file:///script.js:2:8)\n"]
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
    let stopped = "warning setTimeout 1 was stopped because the VU iteration was interrupted";
    assert_eq!((end, lines), (IterationEnd::Interrupted, vec![stopped.to_string()]));
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
        let lines = run_script(&script);
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
        error("import x from 'k6/x/icmp';\nexport default 1"),
        "file:///script.js:1:15: the extension k6/x/icmp is not built in; those that are: k6/x/fasthttp, k6/x/sse\n  \
         1 | import x from 'k6/x/icmp';\n    |               ^"
    );
    assert_eq!(
        error("\nnope();\nexport default 1"),
        "file:///script.js:2:1: ReferenceError: nope is not defined\n  2 | nope();\n    | ^"
    );
}

#[test]
fn globals_are_those_of_k6() {
    let lines = run_script(
        "export default function () {
           const names = Object.getOwnPropertyNames(globalThis).filter((name) => name != '__ITER');
           console.log(names.sort().join());
         }",
    );
    let k6 = "AggregateError,Array,ArrayBuffer,BigInt,BigInt64Array,BigUint64Array,Boolean,DataView,Date,Error,EvalError,\
              Float32Array,Float64Array,Function,GoError,Infinity,Int16Array,Int32Array,Int8Array,JSON,Map,Math,NaN,Number,\
              Object,Promise,Proxy,RangeError,ReferenceError,Reflect,RegExp,Set,String,Symbol,SyntaxError,TextDecoder,\
              TextEncoder,TypeError,URIError,Uint16Array,Uint32Array,Uint8Array,Uint8ClampedArray,WeakMap,WeakSet,__ENV,\
              __VU,clearInterval,clearTimeout,console,crypto,decodeURI,decodeURIComponent,encodeURI,encodeURIComponent,\
              escape,eval,exports,global,globalThis,isFinite,isNaN,module,open,parseFloat,parseInt,require,setInterval,\
              setTimeout,undefined,unescape";
    assert_eq!(lines, [k6]);
}

#[test]
fn console_prints_as_k6_does() {
    let lines = run_script(
        "export default function () {
           console.log({ a: 1, b: [1, undefined, null, 'x'], c: () => 1, d: new Date(0), e: new Map([[1, 2]]),
             f: new Uint8Array([1, 2]), g: new ArrayBuffer(3), h: /x/g, i: Symbol('q'), j: new Error('boo'), k: 1n,
             l: undefined, m: NaN, n: 'it\\'s \"q\"', o: true, p: {} }, [], 's', 1.5, null, undefined, new Error('top'),
             () => 2, Symbol('z'), [-0], new Date(5));
           console.log(); console.warn('a', 1);
           const o = {}; o.o = o; console.log(o, { 'a-b': 1, 1: 2 });
         }",
    );
    assert_eq!(
        lines,
        [
            "{ a: 1, b: [ 1, null, null, \"x\" ], c: [object Function], d: \"1970-01-01T00:00:00.000Z\", e: {}, f: \
             Uint8Array(2) [ 1, 2 ], g: ArrayBuffer { [Uint8Contents]: <00 00 00>, byteLength: 3 }, h: {}, i: \"q\", \
             j: Error: boo, k: 1, l: null, m: NaN, n: \"it's \"q\"\", o: true, p: {} } [] s 1.5 null undefined Error: \
             top [object Function] z [ 0 ] \"1970-01-01T00:00:00.005Z\"",
            "",
            "warning a 1",
            "{ o: [Circular] } { 1: 2, a-b: 1 }",
        ]
    );
}

#[test]
fn text_encoder_and_decoder() {
    let lines = run_script(
        "export default function () {
           console.log(new TextEncoder().encode('aé'), new TextDecoder().decode(new Uint8Array([0xef, 0xbb, 0xbf, 97, \
           0xff])));
           console.log(new TextDecoder('utf-16le').decode(new Uint8Array([97, 0])), new \
           TextDecoder('utf-16be').decode(new Uint8Array([0, 98]).buffer));
           const d = new TextDecoder(); console.log(d.decode(new Uint8Array([0xc3]), { stream: true }) + d.decode(new \
           Uint8Array([0xa9])));
           try { new TextDecoder('latin1') } catch (e) { console.log(e.name) }
           try { new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([0xff])) } catch (e) \
           { console.log(e.name) }
           console.log(new TextEncoder().encodeInto('aéb', new Uint8Array(2)));
         }",
    );
    assert_eq!(
        lines,
        ["Uint8Array(3) [ 97, 195, 169 ] a\u{fffd}", "a b", "é", "RangeError", "TypeError", "{ read: 1, written: 1 }"]
    );
}

#[test]
fn labels_of_encodings_and_marks_are_those_of_the_standard() {
    let lines = run_script(
        r"export default function () {
           const labels = ['utf-8', ' UTF8\n', 'unicode11utf8', 'x-unicode20utf8', 'unicode-1-1-utf-8',
             'unicode20utf8', 'unicodefffe', 'UTF-16be', 'csunicode', 'iso-10646-ucs-2', 'ucs-2', 'unicode',
             'unicodefeff', 'utf-16', 'utf-16le'];
           console.log(labels.map((label) => new TextDecoder(label).encoding).join());
           for (const label of ['latin1', '\u00a0utf-8', 'utf-32', '']) {
             try { console.log(new TextDecoder(label).encoding) } catch (e) { console.log(e.name, e.message) }
           }
           const d = new TextDecoder();
           const codes = (text) => Array.from(text, (c) => c.charCodeAt(0).toString(16)).join(' ');
           const parts = [[0xef, 0xbb], [0xbf, 0x61], [0xef, 0xbb, 0xbf, 0x62]];
           console.log(parts.map((part) => codes(d.decode(new Uint8Array(part), { stream: true }))).join());
           console.log([codes(d.decode()), codes(d.decode(new Uint8Array([0xef, 0xbb, 0xbf, 0x63])))].join());
           try { d.decode(5) } catch (e) { console.log(e.message) }
           const fatal = new TextDecoder('utf-8', { fatal: true });
           try { fatal.decode(new Uint8Array([0xc3, 0x28]), { stream: true }) } catch (e) { console.log(e.name) }
           console.log(fatal.decode(new Uint8Array([0x64])));
         }",
    );
    let (utf8, utf16) = (["utf-8"; 6].join(","), ["utf-16le"; 7].join(","));
    let unsupported =
        |label: &str| format!("RangeError unsupported encoding: {label}: expected utf-8, utf-16le or utf-16be");
    assert_eq!(lines[0], format!("{utf8},utf-16be,utf-16be,{utf16}"));
    assert_eq!(lines[1..5], ["latin1", "\u{a0}utf-8", "utf-32", ""].map(unsupported));
    let rest = [",61,feff 62", ",63", "data is not an ArrayBuffer, typed array, or DataView", "TypeError", "d"];
    assert_eq!(lines[5..], rest);
}

#[test]
fn crypto_gives_random_values() {
    let lines = run_script(
        "export default function () {
           const a = crypto.getRandomValues(new Uint32Array(8));
           console.log(a.length, a.some((x) => x !== 0));
           console.log(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID()));
           try { crypto.getRandomValues(new Float32Array(1)) } catch (e) { console.log(e.name) }
         }",
    );
    assert_eq!(lines, ["8 true", "true", "TypeError"]);
}

#[test]
fn an_exhausted_memory_limit_is_an_exception() {
    block_on(async {
        let test = load(
            "export default function () { try { let a = []; for (;;) a.push('x'.repeat(100000) + a.length) } catch (e) \
            { console.log(`${e}`.includes(\"out of memory\") || e === null) } }",
        )
        .await;
        let options = script::options::Options { vu_memory_limit: Some(8_000_000), ..Default::default() };
        test.program.set_options(options);
        assert_eq!(test.run(2).await, ["true", "true"]);
    });
}

#[test]
fn what_native_code_builds_and_keeps_holds_to_the_memory_limit() {
    block_on(async {
        let test = load(
            "const told = (f) => { try { f() } catch (e) { console.log(`${e}`.replace(/[0-9]+ more/, 'N more')) } };
             export function setup() { return new Array(1e9) }
             export default function () {
               told(() => JSON.stringify(new Array(1e5).fill('x'.repeat(1000))));
               told(() => console.log(new Array(1e9)));
               told(() => { for (;;) setTimeout(() => {}, 1) });
             }",
        )
        .await;
        let options = script::options::Options { vu_memory_limit: Some(16_000_000), ..Default::default() };
        test.program.set_options(options);
        let over = "InternalError: out of memory: N more bytes do not fit into the 16000000 bytes of a virtual user; \
                    raise the limit with --vu-memory-limit";
        assert_eq!(test.run(1).await, [over; 3]);
        let error = test.program.run_setup(&test.recorder, std::future::pending()).await.unwrap_err();
        assert!(error.message.starts_with("InternalError: out of memory: "), "{}", error.message);
    });
}

#[test]
fn a_cleared_timer_among_many_does_not_fire_and_the_others_fire_in_their_order() {
    let lines = run_script(
        "export default function () {
           const fired = [], all = [];
           for (let i = 0; i < 20000; i++) all.push(setTimeout((n) => fired.push(n), (i * 7) % 5, i));
           for (let i = 0; i < 20000; i++) if (i % 3) clearTimeout(all[i]);
           clearTimeout(all[1]);
           setTimeout(() => {
             console.log(fired.length, fired.every((n) => n % 3 === 0));
             for (const ms of [30, 10, 20, 10]) setTimeout(() => console.log(ms), ms);
           }, 200);
         }",
    );
    assert_eq!(lines, ["6667 true", "10", "10", "20", "30"]);
}

#[test]
fn setup_data_reaches_users_and_teardown() {
    block_on(async {
        let test = load(
            "export function setup() \
             { return { u: undefined, d: new Date(0), b: new ArrayBuffer(2), n: [1, null], y: new Uint8Array([1, 2]), m: new Map([[1, 2]]) } }
             export default function (data) { data.count = (data.count || 0) + 1; console.log(JSON.stringify(data)) }
             export function teardown(data) { console.log('teardown', JSON.stringify(data)) }
             export function handleSummary(data) { return { stdout: data.text, 'a.bin': new Uint8Array([1]).buffer } }",
        )
        .await;
        test.program.run_setup(&test.recorder, std::future::pending()).await.unwrap();
        let json = r#"{"u":null,"d":"1970-01-01T00:00:00Z","b":{},"n":[1,null],"y":"AQI=","m":[[1,2]]"#;
        assert_eq!(test.run(2).await, [format!("{json},\"count\":1}}"), format!("{json},\"count\":2}}")]);
        test.program.run_teardown(&test.recorder, std::future::pending()).await.unwrap();
        assert_eq!(test.log.take(), [format!("teardown {json}}}")]);
        let files = test
            .program
            .run_handle_summary("{\"text\":\"hi\"}", &test.recorder, std::future::pending())
            .await
            .unwrap()
            .unwrap();
        assert_eq!(files, [("stdout".to_string(), b"hi".to_vec()), ("a.bin".to_string(), vec![1])]);
    });
}

#[test]
fn setup_fails_with_its_own_exit_codes() {
    block_on(async {
        let run = async |script: &str| {
            let test = load(&format!("{script}; export default function () {{}}")).await;
            let (options, _) =
                script::options::Options::from_json(&serde_json::json!({"setupTimeout": 30}), "script").unwrap();
            test.program.set_options(options);
            let error = test.program.run_setup(&test.recorder, std::future::pending()).await.unwrap_err();
            (error.exit_code, error.message)
        };
        let late = "setup() did not end within 30ms; raise the limit with the option setupTimeout".to_string();
        assert_eq!(run("export function setup() { while (true) {} }").await, (100, late.clone()));
        assert_eq!(
            run("export function setup() { return new Promise((r) => setTimeout(r, 60000)) }").await,
            (100, late)
        );
        assert_eq!(run("export function setup() { throw new Error('x') }").await, (107, "Error: x".to_string()));
        let shared = "setup() returned a value that cannot be shared as JSON: a function".to_string();
        assert_eq!(run("export function setup() { return { f() {} } }").await, (255, shared));
    });
}

#[test]
fn unhandled_rejections_end_the_iteration() {
    let lines = run_script(
        "export default async function () {
           setTimeout(() => console.log('never'), 20);
           await 5;
           throw 'async';
         }",
    );
    assert_eq!(
        lines,
        [
            "error Uncaught (in promise) async",
            "warning setTimeout 1 was stopped because the VU iteration was interrupted"
        ]
    );
}

#[test]
fn buffers_are_whole_in_scripts_that_name_no_class() {
    let lines = run_script(
        "import { b64decode } from 'k6/encoding';
         export default function () {
           const made = b64decode('YWJj');
           console.log(made.byteLength, made.slice(1).byteLength, made.constructor.name, String(made));
         }",
    );
    assert_eq!(lines, ["3 2 ArrayBuffer [object ArrayBuffer]"]);
}

#[test]
fn a_text_is_spread_into_an_object_by_its_characters() {
    let lines = run_script(
        "export default function () {
           const { 0: first, ...rest } = 'xyz';
           const all = [{ ...'ab' }, { ...new String('q') }, { ...[1] }, { ...5, ...true, ...null }, rest];
           console.log(JSON.stringify(all));
         }",
    );
    assert_eq!(lines, [r#"[{"0":"a","1":"b"},{"0":"q"},{"0":1},{},{"1":"y","2":"z"}]"#]);
}

/// As k6 prints them, but that it keeps `export` in front of functions.
#[test]
fn functions_know_their_sources() {
    let lines = run_script(
        "const arrow = (a, b) => a  +  b; // not a part of it
         class A { #p = 1; constructor(a) { this.a = a; } m(x) { return  x; } static s() {} get g() { return 'ü'; } }
         function* gen(a) { yield  a; }
         const o = { meth(x) { return x }, ['comp' + 1]() {}, fn: async function named(q) { return q; } };
         export function exported ( x ) { /* kept */ return () => { inner ( x ) } }
         export default function () {
           const getter = Object.getOwnPropertyDescriptor(A.prototype, 'g').get;
           class B extends A {}
           const all = [arrow, A, A.prototype.m, A.s, getter, gen, o.meth, o.comp1, o.fn, exported, exported(), B,
             new Function('a', 'b', 'return a + b'), eval('(x)  => x'), Math.max, arrow.bind(null), Date];
           for (const each of all) console.log(String(each));
           console.log(String(arrow) === String(arrow), JSON.stringify({ arrow }), String(String));
         }",
    );
    let expected = [
        "(a, b) => a  +  b",
        "class A { #p = 1; constructor(a) { this.a = a; } m(x) { return  x; } static s() {} get g() { return 'ü'; } }",
        "m(x) { return  x; }",
        "s() {}",
        "get g() { return 'ü'; }",
        "function* gen(a) { yield  a; }",
        "meth(x) { return x }",
        "['comp' + 1]() {}",
        "async function named(q) { return q; }",
        "function exported ( x ) { /* kept */ return () => { inner ( x ) } }",
        "() => { inner ( x ) }",
        "class B extends A {}",
        "function anonymous(a,b\n) {\nreturn a + b\n}",
        "(x)  => x",
        "function max() { [native code] }",
        "function bound arrow() { [native code] }",
        "function Date() { [native code] }",
        "true {} function String() { [native code] }",
    ];
    assert_eq!(lines, expected);
}
