//! Tests that guard patches of QuickJS which no other test of this crate needs; `quickjs/UPGRADING.md` has the whole
//! list. Each fails without its patch.

use std::ffi::{CStr, CString, c_char};
use std::process::Command;
use std::rc::Rc;

use rquickjs::{Context, Ctx, FromJs, Runtime, qjs};

use crate::memory::Memory;
use crate::quickjs::exception::take_trace;
use crate::runtime;

const LIMIT: usize = 64 << 20;

fn user() -> (Rc<Memory>, Runtime, Context) {
    let memory = Rc::new(Memory::default());
    memory.set_limit(LIMIT);
    let (runtime, context) = runtime::create(&memory).unwrap();
    (memory, runtime, context)
}

fn eval<T: for<'js> FromJs<'js>>(text: &str) -> T {
    let (_memory, _runtime, context) = user();
    context.with(|ctx| ctx.eval(text).unwrap())
}

/// The message and stack of what a text throws.
fn thrown(text: &str) -> String {
    eval(&format!("try {{ eval({text:?}); '' }} catch (e) {{ e + '\\n' + e.stack }}"))
}

/// `empty_arenas.patch`.
#[test]
fn the_arena_of_a_block_that_went_stays() {
    let (memory, _runtime, context) = user();
    context.with(|ctx| {
        // Texts of the largest small size, of which there are none before.
        let make = |many: u32| {
            let text = format!("Array.from({{ length: {many} }}, (_, i) => 'x'.repeat(440 + i)).length");
            assert_eq!(ctx.eval::<u32, _>(text).unwrap(), many);
            ctx.run_gc();
            memory.room()
        };
        let (before, after) = (make(0), make(12));
        assert!(after < before, "an arena is kept: {after} bytes left of {before}");
        assert_eq!(make(12), after, "one arena, not one more each time");
    });
}

/// `class_table.patch`.
#[test]
fn a_further_class_takes_little_room() {
    let (memory, _runtime, context) = user();
    context.with(|ctx| {
        let most = (0..40).map(|_| room_of_a_class(&ctx, &memory)).max().unwrap_or_default();
        assert!(most > 0 && most < 1536, "a class took {most} bytes");
    });
}

fn room_of_a_class(ctx: &Ctx<'_>, memory: &Memory) -> usize {
    const NAME: &CStr = c"Further";
    let before = memory.room();
    // SAFETY: the runtime is live, and a definition of zeros but for its name has no hooks.
    unsafe {
        let runtime = qjs::JS_GetRuntime(ctx.as_raw().as_ptr());
        let mut definition: qjs::JSClassDef = std::mem::zeroed();
        definition.class_name = NAME.as_ptr();
        let mut id = 0;
        qjs::JS_NewClassID(runtime, &mut id);
        assert_eq!(qjs::JS_NewClass(runtime, id, &definition), 0);
    }
    before.saturating_sub(memory.room())
}

/// `positions.patch`.
#[test]
fn errors_have_the_place_of_a_call_a_throw_and_an_iteration() {
    for (text, place) in [
        ("const u = 1;\nString(u(String(1),\n 2))", ":2:9"),
        ("const u = 1;\nString(1, new u(String(1)))", ":2:11"),
        ("if (1)\n  throw new Error(String(1))", ":2:9"),
        ("const u = 1;\nfor (const x of   u) {}", ":2:19"),
        ("const u = null;\nconst { a } =   u", ":2:7"),
    ] {
        let told = thrown(text);
        assert!(told.lines().any(|line| line.trim_end_matches(')').ends_with(place)), "{text}: {place} in {told}");
    }
}

/// `callees.patch`; names of what a script calls are a matter of the crate above.
#[test]
fn what_a_function_of_the_engine_was_given_is_named() {
    for (given, found) in [("({})", "an object"), ("'x'", "a string"), ("7", "7"), ("Symbol.iterator", "a symbol")] {
        let told = thrown(&format!("[1].map({given})"));
        assert!(told.starts_with(&format!("TypeError: {found} is not a function\n")), "{told}");
    }
}

/// `thrown.patch`.
#[test]
fn the_trace_of_a_thrown_text_is_that_of_its_throw() {
    let (_memory, _runtime, context) = user();
    context.with(|ctx| {
        let text = "function make() { return new Error('made, not thrown') }\nmake();\n\
                    function deep() {\n throw 'boom' }\ndeep()";
        assert!(ctx.eval::<(), _>(text).is_err());
        assert_eq!(ctx.catch().as_string().map(|text| text.to_string().unwrap()).as_deref(), Some("boom"));
        let trace = take_trace(&ctx);
        assert!(trace.contains("deep") && !trace.contains("make"), "{trace}");
    });
}

unsafe extern "C" {
    fn JS_LendText(runtime: *mut qjs::JSRuntime, text: *const c_char, length: usize);
}

/// `sources.patch`.
#[test]
fn functions_of_a_lent_text_have_no_copies_of_it() {
    const LONG: usize = 100 << 10;
    let source = format!("globalThis.f = () => {{ /*{}*/ return () => 1 }}", "x".repeat(LONG));
    let text = CString::new(source).unwrap();
    // Made after the text, and so gone before it.
    let (memory, _runtime, context) = user();
    context.with(|ctx| {
        let room = memory.room();
        // SAFETY: the context is live, and the text outlives it.
        unsafe {
            let raw = ctx.as_raw().as_ptr();
            JS_LendText(qjs::JS_GetRuntime(raw), text.as_ptr(), text.as_bytes().len());
            let length = text.as_bytes().len() as _;
            qjs::JS_FreeValue(raw, qjs::JS_Eval(raw, text.as_ptr(), length, c"a.js".as_ptr(), 0));
        }
        let taken = room - memory.room();
        assert!(taken < LONG / 2, "{taken} bytes for {LONG} of a source");
        assert!(ctx.eval::<bool, _>("String(f).endsWith('*/ return () => 1 }') && String(f()) === '() => 1'").unwrap());
    });
}

/// `native_text.patch`.
#[test]
fn the_text_of_a_native_function_is_one_line() {
    assert_eq!(eval::<String>("String(Math.max)"), "function max() { [native code] }");
}

/// `spread.patch`.
#[test]
fn a_text_is_spread_by_its_characters() {
    assert_eq!(eval::<String>("JSON.stringify({ ...'ab' })"), r#"{"0":"a","1":"b"}"#);
}

/// `find.patch`, and whatever else of the engine calls back in a loop: each place of these loops is interrupted, and no
/// item loses a count.
#[test]
fn loops_of_the_engine_can_be_interrupted_anywhere() {
    /// The engine asks every 10,000 calls and turns of loops; none of these loops has more places than this.
    const PLACES: usize = 40;
    let endless = [
        "items.find(() => false)",
        "items.findLast(() => false)",
        "items.findIndex(() => false)",
        "items.findLastIndex(() => false)",
        "items.every(() => true)",
        "items.some(() => false)",
        "items.forEach(() => {})",
        "items.map((item) => [item])",
        "items.filter(() => true)",
        "items.flatMap((item) => [item])",
        "items.reduce((all, item) => [all, item])",
        "items.reduceRight((all, item) => [all, item])",
        "items.includes({})",
        "items.indexOf({})",
        "items.lastIndexOf({})",
        "items.toSorted((one, other) => other.a - one.a)",
        "for (const name in Object.create(items)) [name, items[name]]",
        "for (const item of new Set(items)) [item]",
        "class A extends Array { constructor(...all) { super(...all) } }; new A(...items)",
        "items[0] instanceof function () {}.bind({})",
        "Object.prototype.isPrototypeOf.call(items[0], new Proxy(items[1], {}))",
        "'abcabc'.replace(/b/g, (found) => [found, ...items])",
        "JSON.parse('[{}, {}]', (name, value) => [name, value, ...items])",
        "Array.from(items, (item) => [item])",
        "(function* () { try { yield* items } finally { [...items] } })().next()",
    ];
    for text in endless {
        for place in 0..PLACES {
            interrupted(place, text);
        }
    }
}

/// Repeats what a text does, after so many calls, until the engine asks for the first time, and looks at the items that
/// it was done to.
fn interrupted(calls: usize, text: &str) {
    unsafe extern "C" fn at_once(_: *mut qjs::JSRuntime, _: *mut qjs::c_void) -> qjs::c_int {
        1
    }
    let (memory, runtime, context) = user();
    context.with(|ctx| {
        let made = "const f = () => 0, items = Object.freeze([{ a: 1 }, { a: 2 }, { a: 3 }]), \
                    known = items.map((item) => new WeakRef(item))";
        // SAFETY: the context is live, and the handler looks at nothing.
        unsafe {
            let context = ctx.as_raw().as_ptr();
            qjs::JS_AddIntrinsicMapSet(context);
            qjs::JS_AddIntrinsicWeakRef(context);
            ctx.eval::<(), _>(made).unwrap();
            let runtime = qjs::JS_GetRuntime(context);
            qjs::JS_SetInterruptHandler(runtime, Some(at_once), std::ptr::null_mut());
        }
        assert!(ctx.eval::<(), _>(format!("{} for (;;) {{ {text} }}", "f();".repeat(calls))).is_err(), "{text} ended");
        drop(ctx.catch());
        let are_whole = "known.every((item, i) => item.deref() === items[i])";
        assert!(ctx.eval::<bool, _>(are_whole).unwrap(), "{text}, {calls} calls later: an item is gone");
    });
    drop((context, runtime));
    assert_eq!(memory.room(), LIMIT, "{text}, {calls} calls later: each block is given back");
}

/// `local_times.patch`, `zone_names.patch`, `day_hours.patch`: the test starts itself in a process that is in Vienna.
#[test]
#[allow(clippy::disallowed_methods, reason = "the time zone of a process is in its environment")]
fn local_times_are_those_of_the_zone() {
    const VIENNA: &str = "CET-1CEST,M3.5.0,M10.5.0/3";
    if std::env::var("TZ").as_deref() != Ok(VIENNA) {
        let mut command = Command::new(std::env::current_exe().unwrap());
        let output = command.arg("local_times_are_those_of_the_zone").env("TZ", VIENNA).output().unwrap();
        let told = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && told.contains("1 passed"), "{told}");
        return;
    }
    let (_memory, _runtime, context) = user();
    context.with(|ctx| {
        // SAFETY: the context is live, and this is called once for it.
        unsafe { qjs::JS_AddIntrinsicDate(ctx.as_raw().as_ptr()) };
        for (text, expected) in [
            // An hour before the clock goes forward, in the hour that it skips, and after it.
            ("new Date(2024, 2, 31, 1, 30).toISOString()", "2024-03-31T00:30:00.000Z"),
            ("new Date(2024, 2, 31, 2, 30).toISOString()", "2024-03-31T01:30:00.000Z"),
            ("new Date(2024, 2, 31, 3, 30).toISOString()", "2024-03-31T01:30:00.000Z"),
            ("new Date(2024, 9, 27, 1, 30).toISOString()", "2024-10-26T23:30:00.000Z"),
            ("String(new Date(2024, 0, 2, 3, 4, 5))", "Tue Jan 02 2024 03:04:05 GMT+0100 (CET)"),
            ("String(new Date(2024, 6, 2, 3, 4, 5))", "Tue Jul 02 2024 03:04:05 GMT+0200 (CEST)"),
            ("new Date(2024, 0, 2, 13, 4, 5).toLocaleTimeString()", "13:04:05"),
        ] {
            assert_eq!(ctx.eval::<String, _>(text).unwrap(), expected, "{text}");
        }
    });
}
