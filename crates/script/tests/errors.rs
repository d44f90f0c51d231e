//! What a script sees of an exception: names, classes, stacks; natives throw what k6's throw.

#![allow(clippy::unwrap_used)]

mod driver;

use std::path::PathBuf;

use driver::{Test, block_on, load, load_source, run_script};
use onrush_script::Source;

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
            "TypeError: a\nb\n\tat outer (file:///script.js:5:39)\n\tat default (file:///script.js:2:18)\n",
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
    assert_eq!(lines, ["Error: x\n\tat default (file:///script.ts:5:24)\n"]);
}
