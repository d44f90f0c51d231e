//! The fast `JSON.stringify` writes exactly what the engine's own does. An empty indentation means the same as none and
//! sends a call to the engine's, so each value is written both ways.

mod driver;
mod echo_server;

const SCRIPT: &str = r#"
function both(make) {
  const attempt = (f) => { try { return f(); } catch (e) { return `${e.name}: ${e.message}`; } };
  const fast = attempt(() => JSON.stringify(make()));
  const slow = attempt(() => JSON.stringify(make(), undefined, ''));
  if (fast !== slow) console.log(`${make}: ${fast} instead of ${slow}`);
  return fast;
}

const deep = (n) => { let v = {}; for (let i = 0; i < n; i++) v = { v }; return v; };
const sparse = () => { const a = [1]; a[3] = 2; a.extra = 3; return a; };
const cycle = () => { const a = { b: {} }; a.b.a = a; return a; };
const shared = () => { const a = { x: 1 }; return { a, b: a, c: [a, a] }; };

const makers = [
  () => undefined, () => null, () => true, () => 0, () => -0, () => -17, () => 2 ** 31, () => 1.5, () => 1e21, () => 1e-7,
  () => NaN, () => -Infinity, () => 'plain', () => '"\\\n\r\t\b\f\u0001\u001f\u007f', () => 'é€😀\u2028\u2029',
  () => '\ud800', () => 'a\udc00b', () => ({ '\ud800': 1 }), () => 'x'.repeat(300) + 'y', () => Symbol('s'), () => () => 1,
  () => [], () => [undefined, () => 1, Symbol('s'), null], sparse, () => new Array(3),
  () => ({}), () => ({ a: undefined, b: 1, c: () => 1, d: Symbol('s'), e: 2 }), () => ({ a: undefined }),
  () => ({ b: 1, a: 2, 10: 'x', 2: 'y', '-1': 'z', 'with "quotes"': 1, '': 0 }),
  () => ({ [Symbol('s')]: 1, x: 1 }), () => Object.create({ inherited: 1 }), () => Object.create(null, { h: { value: 1 } }),
  () => ({ get g() { return [1, { z: 2 }]; } }), () => ({ get g() { throw new TypeError('no'); } }),
  () => ({ get a() { return { ['k' + 1]: 1 }; }, get b() { return { ['k' + 2]: 2 }; } }),
  () => { const o = { a: { get x() { delete o.b; delete o.a; return 1; } }, b: 'gone', c: 'here' }; return o; },
  () => ({ b: { z: 1, 7: 2, 0: [{ y: 3, 1: 4 }] }, 5: 1, a: 2, 4294967294: 3, 4294967295: 4, '07': 5, 0: 6 }),
  () => new Date(0), () => [new Date(NaN)], () => ({ toJSON: () => 'mine' }), () => ({ toJSON: 5, a: 1 }),
  () => ({ d: { toJSON(key) { return `key ${key}`; } } }),
  () => [new Number(3), new String('s'), new Boolean(false)], () => 10n, () => ({ n: 10n }), () => Object(10n),
  () => new Map([[1, 2]]), () => new Set([1]), () => /x/g, () => new Error('e'), () => new Uint8Array([1, 2]),
  () => new ArrayBuffer(2), () => Promise.resolve(1), () => Math, () => JSON, () => globalThis.console,
  () => new Proxy({ a: 1, b: [2] }, {}), () => new Proxy([1, 2], {}), () => new (class Foo { constructor() { this.a = 1; } })(),
  () => new (class extends Array {})(1, 2, 3), () => Object.freeze({ a: Object.freeze([1]) }),
  cycle, shared, () => deep(50), () => deep(199), () => deep(200), () => deep(201), () => deep(1000),
  () => ({ nested: { list: [{ id: 1, name: 'n', tags: ['a', 'b'], at: 1.25, ok: true, none: null }] } }),
];

export default function () {
  for (const make of makers) both(make);
  if (JSON.stringify() !== undefined) console.log('no argument');
  if (JSON.stringify({ a: [1] }, null, 2) !== '{\n  "a": [\n    1\n  ]\n}') console.log('indentation');
  if (JSON.stringify({ a: 1, b: 2 }, ['b']) !== '{"b":2}') console.log('list of keys');
  if (JSON.stringify({ a: 1 }, (k, v) => (k ? v + 1 : v)) !== '{"a":2}') console.log('replacer');
  if (JSON.stringify.name !== 'stringify' || JSON.stringify.length !== 3) console.log('name or length');
  if (Object.keys(JSON).length !== 0) console.log('enumerable');
  console.log('done');
}
"#;

#[test]
fn both_ways_agree() {
    assert_eq!(driver::run_script(SCRIPT), ["done"]);
}

/// More paths in turn than a user's memo knows, and each kind of value that is made without parsing.
#[test]
fn paths_of_a_response_are_read_in_turn() {
    let address = echo_server::start();
    let lines = driver::run_script(&format!(
        r#"import http from 'k6/http';
        const a = {{ b: 12, c: 'x"y', d: 'plain', e: '', f: 1.5, g: 123456789012, h: true, i: false, j: null, k: 'ü' }};
        const raw = '{{"a":' + JSON.stringify(a).slice(0, -1) + ',"o":-0,"p":1e3,"q":[1,"two"],"r":999999999}}}}';
        export default function () {{
          const response = http.post('{address}/body', raw);
          const sent = JSON.parse(raw).a;
          for (let round = 0; round < 3; round++) for (const name of Object.keys(sent)) {{
            const [found, wanted] = [response.json(`a.${{name}}`), sent[name]];
            if (!Object.is(found, wanted) && JSON.stringify(found) !== JSON.stringify(wanted)) console.log(name, found);
          }}
          console.log(Object.is(response.json('a.o'), -0), response.json('a.nothing'), response.json('a.q.1'));
        }}"#
    ));
    assert_eq!(lines, ["true undefined two"]);
}
