//! What a script sees of an exception: names, classes, stacks; natives throw what k6's throw.

#![allow(clippy::unwrap_used)]

mod driver;

use std::path::PathBuf;

use driver::{Test, block_on, load, load_source, run_script};
use script::Source;

#[test]
fn natives_throw_go_errors() {
    let lines = block_on(async {
        load(
            "import { check, fail, group } from 'k6';
             import http from 'k6/http'; import encoding from 'k6/encoding'; import crypto from 'k6/crypto';
             import { SharedArray } from 'k6/data'; import { Counter } from 'k6/metrics';
             const told = [];
             const see = (what, action) => { try { action(); told.push(`${what} is fine`); } catch (e) {
               if (e.name !== 'GoError' || !(e instanceof Error) || e.constructor.name !== 'GoError' || e.constructor \
               !== GoError
                 || String(e) !== (e.message ? `GoError: ${e.message}` : 'GoError') || Object.keys(e).join() !== 'value'
                 || !e.stack.startsWith(`${String(e)}\\n\\tat `)) told.push(`${what}: ${e.name}: ${e.message} \
                 ${e.stack}`);
             } };
             see('open', () => open('/no/such/file'));
             see('require', () => require('./nothing.js'));
             see('check in init', () => check(1, {}));
             see('request in init', () => http.get('http://127.0.0.1:1'));
             see('SharedArray', () => new SharedArray('a', () => 1));
             see('metric', () => new Counter('1'));
             const counter = new Counter('mine');
             export default function () {
               see('fail', () => fail('why')); see('fail without a reason', () => fail());
               see('request', () => http.get('http://127.0.0.1:1/', { throw: true }));
               see('check', () => check(1)); see('check tags', () => check(1, { a: true }, { b: {} }));
               see('group', () => group('a')); see('tags', () => counter.add(1, { a: [] }));
               see('base64', () => encoding.b64decode('!')); see('bytes', () => encoding.b64encode({}));
               see('hash', () => crypto.sha256('a', 'bad')); see('random', () => crypto.randomBytes(0));
               see('SharedArray in an iteration', () => new SharedArray('late', () => []));
               for (const name of ['html', 'submitForm', 'clickLink']) see(name, () => \
               http.get('http://127.0.0.1:1/')[name]());
               console.log(told.join('; '));
             }",
        )
        .await
        .run(1)
        .await
    });
    let told: Vec<_> = lines.iter().filter(|line| !line.starts_with("warning Request Failed")).collect();
    assert_eq!(told, [""]);
}

#[test]
fn what_is_missing_says_so() {
    let lines = run_script(
        "import http from 'k6/http';
         export default function () { try { http.get('http://127.0.0.1:1/').html() } catch (e) \
         { console.log(e.message) } }",
    );
    assert_eq!(
        lines.last().unwrap(),
        "the body is null so we can't transform it to HTML - this likely was because of a request error getting the \
         response"
    );
}

#[test]
fn a_stack_begins_with_the_error() {
    let lines = run_script(
        "export default function () {
           try { outer() } catch (e) { console.log(e.stack) }
           const own = new RangeError('r'); own.stack = 'mine'; console.log(own.stack, Error.prototype.stack);
         }
         function outer() { throw new TypeError('a\\nb') }",
    );
    assert_eq!(
        lines,
        [
            "TypeError: a\nb\n\tat outer (file:///script.js:5:35)\n\tat default (file:///script.js:2:23)\n",
            "mine undefined"
        ]
    );
}

#[test]
fn a_stack_shows_places_of_the_source_as_written() {
    let script = "interface Wide {\n  a: number;\n}\nexport default function (): void \
        {\n  const e: Error = new Error('x');\n  console.log(e.stack);\n}";
    let source = Source::Text { name: "script.ts".into(), text: script.into() };
    let lines = block_on(async {
        let (program, log, recorder) = load_source(source, PathBuf::from("/")).await;
        Test { program: program.unwrap(), log, recorder }.run(1).await
    });
    assert_eq!(lines, ["Error: x\n\tat default (file:///script.ts:5:20)\n"]);
}

/// Errors of one iteration as they are logged.
fn logged(body: &str) -> String {
    run_script(&format!("export default function () {{\n  {body}\n}}")).join("\n")
}

#[test]
fn what_is_no_function_is_named() {
    for (body, text, column) in [
        ("const x = {}; x.foo();", "x.foo is not a function", 22),
        ("const x = { a: {} }; x.a.b(x.a, String(1))", "x.a.b is not a function", 29),
        ("const u = undefined; u()", "u is not a function", 25),
        ("const u = undefined; console.log(u(console.log))", "u is not a function", 37),
        ("const x = {}; console.log(String(1), x.foo(String(2), x), x)", "x.foo is not a function", 45),
        ("const f = () => 1; f(f)(f)", "f(f) is not a function", 26),
        ("const x = {}; x.foo(...[x], x.y)", "x.foo is not a function", 22),
        ("const x = {}; x['k k']()", "x['k k'] is not a function", 25),
        ("'text'.foo /* ( */ ()", "'text'.foo is not a function", 22),
        ("const a = [1]; 'üß'; a[0]('ü', 2)", "a[0] is not a function", 30),
        ("class A { m() { this.q() } }; new A().m()", "this.q is not a function", 25),
        ("const x = {}; x.foo`a${x}`", "x.foo is not a function", 22),
        ("const x = { a: 1 }; x?.a?.(1)", "x?.a is not a function", 29),
        ("const x = {}; (x.foo)(1)", "(x.foo) is not a function", 24),
        ("const x = {}; new x.Y(String(1))", "x.Y is not a constructor", 17),
        ("const x = {}; new x.Y", "x.Y is not a constructor", 17),
        ("const x = {}; new x.Y(...[1])", "x.Y is not a constructor", 17),
        ("const x = {}; String(x.a); x.foo?.bar; x.one(x.two)", "x.one is not a function", 47),
        ("const f = () => 1; new f(1)", "f is not a constructor", 22),
        ("new ((x) => x)(2)", "((x) => x) is not a constructor", 3),
        ("const x = { get: Math.max }; new x.get()", "x.get is not a constructor", 32),
    ] {
        let wanted = format!("TypeError: {text}\n\tat ");
        let log = logged(body);
        assert!(log.contains(&wanted) && log.contains(&format!(".js:2:{column})")), "{body}: {log}");
    }
    let log = logged("const x = {};\n  x\n    .there = 1; x\n    .foo()");
    assert!(log.contains("TypeError: (…).foo is not a function\n\tat default (file:///script.js:5:9)"), "{log}");
    // A script that catches it reads the same; the native function has no place in the source.
    assert_eq!(logged("try { ({}).no() } catch (e) { console.log(e.message) }"), "({}).no is not a function");
    for (given, found) in [("3", "3"), ("undefined", "undefined"), ("'x'", "a string"), ("{}", "an object")] {
        let log = logged(&format!("[1].map({given})"));
        assert!(log.contains(&format!("TypeError: {found} is not a function\n\tat map (native)")), "{log}");
    }
    // What the language calls on its own account has no name in the source.
    let log = logged("const x = { [Symbol.iterator]() { return { next: String(1) } } };\n  for (const a of x) {}");
    assert!(log.contains("TypeError: not a function\n\tat default (file:///script.js:3:"), "{log}");
}

#[test]
fn what_is_no_function_is_named_in_what_was_compiled() {
    let script = "interface Wide {\n  a: number;\n}\nexport default (): void => {\n  const x = { ü: 'ß' } as any;\n  \
        console.log('ü', x.foo<number>('ß' as any));\n}";
    let source = Source::Text { name: "script.ts".into(), text: script.into() };
    let lines = block_on(async {
        let (program, log, recorder) = load_source(source, PathBuf::from("/")).await;
        Test { program: program.unwrap(), log, recorder }.run(1).await
    });
    assert!(
        lines[0].contains("TypeError: x.foo is not a function\n\tat default (file:///script.ts:6:25)"),
        "{lines:?}"
    );
    let common = run_script("exports.default = function () { const x = {}; if (x.a) x.b(); x.c(1) }");
    let wanted = "TypeError: x.c is not a function\n\tat <anonymous> (file:///script.js:1:66)";
    assert!(common[0].contains(wanted), "{common:?}");
}

#[test]
fn what_cannot_be_taken_apart_has_its_place() {
    for (body, text, column) in [
        ("String(1);\n  const { a } = null", "Cannot convert undefined or null to object", 9),
        ("String(1);\n  (({ a }) => a)(undefined)", "Cannot convert undefined or null to object", 5),
        ("String(1);\n  const [a] = {}", "value is not iterable", 9),
        ("String(1);\n  for (const x of Math.max(5)) {}", "value is not iterable", 19),
    ] {
        let log = logged(body);
        assert!(log.contains(&format!("TypeError: {text}\n\tat ")), "{body}: {log}");
        assert!(log.contains(&format!(".js:3:{column})")), "{body}: {log}");
    }
}

#[test]
fn what_is_no_error_has_its_place() {
    let log = logged("new Error('made, not thrown');\n  throw 'boom';");
    assert!(log.contains("boom\n\tat default (file:///script.js:3:3)"), "{log}");
    let log = logged("if (1) throw 'first';\n  if (2) throw 'second';");
    assert!(log.contains("first\n\tat default (file:///script.js:2:10)"), "{log}");
    let log = logged("String(1);\n  throw Math.random() > 2 ? 'one' : 'another';");
    assert!(log.contains("another\n\tat default (file:///script.js:3:3)"), "{log}");
    let log = logged("try { throw 'first' } catch {}\n  deep();\n  function deep() { throw { a: 1 } }");
    assert!(log.contains("[object Object]\n\tat deep (file:///script.js:4:21)"), "{log}");
    assert!(log.contains("\tat default (file:///script.js:3:7)"), "{log}");
}
