//! Users of one worker that are suspended in the middle of native code, again and again, and compute what they would
//! alone.

#![allow(clippy::disallowed_macros, reason = "prints a figure for whoever runs it alone")]
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
#![allow(clippy::unwrap_used)]

mod driver;

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use driver::{iteration, load, scenario};
use engine::{IterationEnd, RareEnd, StopReason, VirtualUser};

/// Each round calls long natives of many kinds, checks what they give, leaves knots for the collector and throws inside
/// of them.
const SCRIPT: &str = r#"
function random(seed) { let s = seed; return () => (s = (s * 48271) % 2147483647); }
function same(what, found, expected) {
  if (found !== expected) throw new Error(`${what}: ${String(found).slice(0, 80)}, expected ${String(expected).slice(0, 80)}`);
}
function round(seed) {
  const next = random(seed), numbers = [];
  let sum = 0;
  for (let i = 0; i < 60000; i++) { numbers.push(next()); sum += numbers[i]; }
  const texts = numbers.slice().sort();
  for (let i = 1; i < texts.length; i++) if (`${texts[i - 1]}` > `${texts[i]}`) throw new Error('not sorted');
  const typed = Float64Array.from(numbers).sort();
  for (let i = 1; i < typed.length; i++) if (typed[i - 1] > typed[i]) throw new Error('not sorted by value');
  const text = numbers.join();
  same('split', text.split(',').reduce((a, b) => a + Number(b), 0), sum);
  const data = { numbers, text, deep: numbers.slice(0, 20000).map((n) => ({ n, s: `é${n}` })) };
  const json = JSON.stringify(data, null, 1);
  const back = JSON.parse(json);
  same('numbers', back.numbers.join(), text);
  same('deep', back.deep[19999].s, `é${numbers[19999]}`);
  const uri = encodeURIComponent(json);
  same('uri', decodeURIComponent(uri), json);
  same('replace', text.replace(/\d+/g, 'x').length, 60000 * 2 - 1);
  same('float', parseFloat('1'.repeat(3e6)), Infinity);
  same('index', ('a'.repeat(20000)).indexOf('a'.repeat(10000) + 'b'), -1);
  same('sparse', new Array(1e6).reverse().length, 1e6);
  const map = new Map(numbers.map((n, i) => [n, i]));
  same('map', map.get(numbers[777]), 777);
  let knots = null;
  for (let i = 0; i < 20000; i++) { const a = { knots: null, i }; const b = { a }; a.knots = b; knots = i % 100 ? knots : a; }
  let caught = 0;
  try { numbers.sort(() => { throw new Error('in sort'); }); } catch (e) { caught += e.message === 'in sort'; }
  try { JSON.parse(json.slice(0, -5)); } catch (e) { caught += e instanceof SyntaxError; }
  try { JSON.parse(json, (k, v) => { if (k === '500') throw new Error('in parse'); return v; }); } catch (e) { caught += e.message === 'in parse'; }
  same('caught', caught, 3);
  return text.length;
}
export default function () {
  const end = Date.now() + 4000;
  let rounds = 0, first = round(__VU);
  do { same('again', round(__VU), first); rounds++; } while (Date.now() < end);
  console.log(`ok ${rounds > 0}`);
}
"#;

/// What a future comes to; counts how often it was pending.
async fn counted<T>(future: impl Future<Output = T>, pending: &Cell<u32>) -> T {
    let mut future = pin!(future);
    poll_fn(|cx| {
        let polled = future.as_mut().poll(cx);
        pending.set(pending.get() + u32::from(polled.is_pending()));
        polled
    })
    .await
}

fn on_a_worker<T>(future: impl Future<Output = T>) -> T {
    let runtime = wire::event_loop().unwrap();
    runtime.block_on(async { tokio::time::timeout(Duration::from_secs(300), future).await.expect("the test hangs") })
}

#[test]
fn users_suspended_in_native_code_compute_what_they_would_alone() {
    const USERS: u64 = 6;
    on_a_worker(async {
        let test = load(SCRIPT).await;
        let (scenario, suspended) = (scenario("default"), Rc::new(Cell::new(0)));
        let mut running = Vec::new();
        for id in 1..=USERS {
            let (mut user, _) = test.user(id).await;
            let (iteration, suspended) = (iteration(&scenario, 0), suspended.clone());
            running.push(tokio::task::spawn_local(async move {
                assert_eq!(counted(user.iterate(iteration), &suspended).await, IterationEnd::Completed);
            }));
        }
        for user in running {
            user.await.unwrap();
        }
        assert_eq!(test.log.take(), vec!["ok true"; USERS as usize]);
        println!("suspended {} times", suspended.get());
        assert!(suspended.get() > 500, "suspended {} times only", suspended.get());
    });
}

#[test]
fn a_user_that_stays_in_native_code_is_given_up_and_the_next_one_lives() {
    on_a_worker(async {
        let test =
            load("export default function () { if (__VU === 1) new Array(4e9).reverse(); console.log('done'); }");
        let test = test.await;
        let scenario = scenario("default");
        let (mut stuck, interrupt) = test.user(1).await;
        let stuck_one = async {
            let end = stuck.iterate(iteration(&scenario, 0)).await;
            let IterationEnd::Rare(end) = end else { panic!("{end:?}") };
            let RareEnd::Lost(text) = *end else { panic!("{end:?}") };
            let expected = "VU 1 could not be stopped in iteration 0 of scenario 'default': it is in native code of \
                the JavaScript engine (js_array_reverse), where it has computed for ";
            assert!(text.starts_with(expected), "{text}");
            assert_eq!(stuck.iterate(iteration(&scenario, 1)).await, IterationEnd::lost(text));
        };
        let other = async {
            tokio::time::sleep(Duration::from_millis(300)).await;
            let (mut user, _) = test.user(2).await;
            assert_eq!(user.iterate(iteration(&scenario, 0)).await, IterationEnd::Completed);
            assert_eq!(test.log.take(), ["done"]);
            interrupt.set(StopReason::GracefulStopOver);
        };
        tokio::join!(stuck_one, other);
        drop(stuck);
        let (mut user, _) = test.user(3).await;
        assert_eq!(user.iterate(iteration(&scenario, 0)).await, IterationEnd::Completed);
    });
}
