//! The QuickJS runtime of one user: what it contains, its limits, and how native code finds its user.
//!
//! Invariant: `detach` takes every callback back from the engine before it frees what the callback would be given.

use std::any::TypeId;
use std::ffi::c_void;
use std::rc::Rc;

use rquickjs::context::intrinsic;
use rquickjs::{Context, Ctx, Error, Result, Runtime, qjs};

use crate::coroutine::switch::STACK_BYTES;
use crate::memory::Memory;
use crate::module;
use crate::quickjs::contexts::{Contexts, JS_SetAsyncContexts};
use crate::user::{Embedder, User};

/// What is left of a coroutine's stack for native functions when JavaScript has used up its part: sending a request,
/// TLS and the regular expression engine included.
const NATIVE_STACK_BYTES: usize = 192 * 1024;

/// Memory of one user, when the options name no other: high enough for scripts that read large responses.
pub const DEFAULT_MEMORY_LIMIT: usize = 1 << 30;

/// Reference cycles are collected when this much JavaScript memory is in use, some 100 KiB of which a user never gives
/// back. Most garbage of a load script is freed by reference counting at once; the rest piles up to here in every user.
const GC_THRESHOLD: usize = 256 << 10;

/// What a context leads to.
struct Attached {
    user: Rc<User>,
    embedder: Rc<dyn Embedder>,
    /// Compared instead of asking the embedder: every native function comes by here.
    embedder_type: TypeId,
    runtime: Runtime,
    /// For the engine, where async contexts are kept.
    contexts: Option<Contexts>,
}

/// Makes a runtime on the current stack, which has to be the user's coroutine, and enters its context: QuickJS measures
/// its stack limit from here. Memory is counted on the user's account. What the user keeps of the script is forgotten
/// at the end, then the runtime goes.
pub fn enter<E: Embedder, R>(
    user: &Rc<User>,
    embedder: &Rc<E>,
    main: impl for<'js> FnOnce(&Ctx<'js>) -> R,
) -> Result<R> {
    let (runtime, context) = create(user.memory())?;
    let returned = context.with(|ctx| {
        attach(&ctx, user, embedder.clone(), runtime.clone());
        module::install(&ctx);
        let returned = main(&ctx);
        user.events.clear(&ctx);
        embedder.clear();
        user.clear();
        detach(&ctx);
        returned
    });
    drop(context);
    drop(runtime);
    Ok(returned)
}

/// A runtime whose memory is counted there. rquickjs goes on when a part of the context was refused; a script would
/// find half of a language, so that is an error here.
pub(crate) fn create(memory: &Rc<Memory>) -> Result<(Runtime, Context)> {
    let refusals = memory.refusals();
    let runtime = Runtime::new_with_alloc(crate::quickjs::allocator::Mimalloc(memory.clone()))?;
    runtime.set_max_stack_size(STACK_BYTES - NATIVE_STACK_BYTES);
    runtime.set_gc_threshold(GC_THRESHOLD);
    type Basics = (intrinsic::Eval, intrinsic::RegExpCompiler, intrinsic::RegExp, intrinsic::Json);
    let context = Context::custom::<(Basics, intrinsic::Proxy, intrinsic::Promise)>(&runtime)?;
    // SAFETY: the context was just made and is used by this thread alone. rquickjs has no name for this intrinsic.
    unsafe { qjs::JS_AddIntrinsicBigInt(context.as_raw().as_ptr()) };
    if memory.refusals() != refusals {
        return Err(Error::Allocation);
    }
    Ok((runtime, context))
}

/// Undoes what QuickJS makes of its threshold: after a collection it waits for half of what was left to come again,
/// which for a heap as small as a user's would be a collection for every 60 KiB. Costs two loads and a comparison.
#[inline]
pub fn space_collections(ctx: &Ctx<'_>) {
    // SAFETY: context and runtime are live.
    unsafe {
        let runtime = qjs::JS_GetRuntime(ctx.as_raw().as_ptr());
        if (qjs::JS_GetGCThreshold(runtime) as usize) < GC_THRESHOLD {
            qjs::JS_SetGCThreshold(runtime, GC_THRESHOLD as qjs::size_t);
        }
    }
}

/// Writes the name of what is called at a place, and a zero, to a buffer.
type CalleeNamer = unsafe extern "C" fn(
    context: *mut qjs::JSContext,
    module: *const qjs::c_char,
    line: qjs::c_int,
    column: qjs::c_int,
    name: *mut qjs::c_char,
    size: usize,
    opaque: *mut qjs::c_void,
) -> bool;

unsafe extern "C" {
    /// Of `quickjs/callees.patch`.
    fn JS_SetCalleeNamer(runtime: *mut qjs::JSRuntime, namer: Option<CalleeNamer>, opaque: *mut qjs::c_void);
}

unsafe extern "C" {
    /// Of `quickjs/trim.patch`.
    fn JS_TrimObjects(context: *mut qjs::JSContext) -> qjs::c_int;
}

/// Gives back what tables of objects have beyond their properties, for when init code has run.
pub fn trim_objects(ctx: &Ctx<'_>) {
    // SAFETY: the context is live.
    if unsafe { JS_TrimObjects(ctx.as_raw().as_ptr()) } < 0 {
        // Memory is short: the rest of the tables stays as it is.
        drop(ctx.catch());
    }
}

/// Makes the user findable from the context and lets it be interrupted. Undone by `detach`, which must be called before
/// the runtime goes.
fn attach<E: Embedder>(ctx: &Ctx<'_>, user: &Rc<User>, embedder: Rc<E>, runtime: Runtime) {
    let is_kept = embedder.keeps_async_contexts();
    let contexts = is_kept.then(|| Contexts::new(&user.async_context, on_async_context, on_counted_context));
    let attached = Attached { user: user.clone(), embedder, embedder_type: TypeId::of::<E>(), runtime, contexts };
    let raw = Box::into_raw(Box::new(attached));
    // SAFETY: context and runtime are live; `raw` stays valid until `detach` takes it back.
    unsafe {
        let context = ctx.as_raw().as_ptr();
        let runtime = qjs::JS_GetRuntime(context);
        qjs::JS_SetContextOpaque(context, raw.cast());
        qjs::JS_SetInterruptHandler(runtime, Some(on_interrupt), raw.cast());
        qjs::JS_SetHostPromiseRejectionTracker(runtime, Some(on_rejection), raw.cast());
        JS_SetCalleeNamer(runtime, Some(on_no_function), raw.cast());
        if let Some(contexts) = &mut (*raw).contexts {
            contexts.set_opaque(raw.cast());
            JS_SetAsyncContexts(runtime, contexts);
        }
    }
}

/// Takes back what `attach` gave.
fn detach(ctx: &Ctx<'_>) {
    // SAFETY: `attach` stored the pointer from `Box::into_raw`; nothing reads it after this.
    unsafe {
        let context = ctx.as_raw().as_ptr();
        let runtime = qjs::JS_GetRuntime(context);
        qjs::JS_SetInterruptHandler(runtime, None, std::ptr::null_mut());
        qjs::JS_SetHostPromiseRejectionTracker(runtime, None, std::ptr::null_mut());
        JS_SetCalleeNamer(runtime, None, std::ptr::null_mut());
        JS_SetAsyncContexts(runtime, std::ptr::null());
        let raw = qjs::JS_GetContextOpaque(context).cast::<Attached>();
        qjs::JS_SetContextOpaque(context, std::ptr::null_mut());
        drop(Box::from_raw(raw));
    }
}

#[inline]
fn attached<'a>(ctx: &'a Ctx<'_>) -> &'a Attached {
    // SAFETY: `attach` stored a pointer from `Box::into_raw`, which is taken back only by `detach`, when `enter`
    // returns; no context is handed out beyond that.
    let attached = unsafe { qjs::JS_GetContextOpaque(ctx.as_raw().as_ptr()).cast::<Attached>().as_ref() };
    attached.expect("native code runs in the context of a user")
}

/// The user of this context.
#[inline]
pub(crate) fn user_of(ctx: &Ctx<'_>) -> Rc<User> {
    attached(ctx).user.clone()
}

/// The same without a count of its own.
#[inline]
pub(crate) fn peek_user<'a>(ctx: &'a Ctx<'_>) -> &'a User {
    &attached(ctx).user
}

/// The embedder of this context, when it is of this type.
#[inline]
pub(crate) fn embedder_of<T: Embedder>(ctx: &Ctx<'_>) -> Option<Rc<T>> {
    let attached = attached(ctx);
    if attached.embedder_type != TypeId::of::<T>() {
        return None;
    }
    // SAFETY: the type was compared; `Rc<dyn Embedder>` points at the value that the `Rc<T>` it was made of pointed at.
    Some(unsafe { Rc::from_raw(Rc::into_raw(attached.embedder.clone()).cast::<T>()) })
}

/// The same without a count of its own.
#[inline]
pub(crate) fn peek_embedder<'a, T: Embedder>(ctx: &'a Ctx<'_>) -> Option<&'a T> {
    let attached = attached(ctx);
    // SAFETY: the type was compared, and what is attached lives as long as native code runs in the context.
    (attached.embedder_type == TypeId::of::<T>()).then(|| unsafe { &*Rc::as_ptr(&attached.embedder).cast::<T>() })
}

/// Keeps the runtime of this context alive.
pub(crate) fn handle(ctx: &Ctx<'_>) -> Runtime {
    attached(ctx).runtime.clone()
}

/// The embedder, for the host's own questions.
pub(crate) fn embedder(ctx: &Ctx<'_>) -> Rc<dyn Embedder> {
    attached(ctx).embedder.clone()
}

/// QuickJS calls this every 10,000 calls and loop turns, inside regular expressions too. Suspending here is what lets
/// the other users of the worker go on; returning 1 ends the script with an error it cannot catch.
unsafe extern "C" fn on_interrupt(_runtime: *mut qjs::JSRuntime, opaque: *mut qjs::c_void) -> qjs::c_int {
    // SAFETY: `opaque` is the pointer that `attach` gave; `detach` removes this handler before it becomes invalid.
    let attached = unsafe { &*opaque.cast::<Attached>() };
    attached.user.switch().tick().into()
}

/// The engine switched to another async context.
unsafe extern "C" fn on_async_context(opaque: *mut c_void) {
    // SAFETY: as in `on_interrupt`.
    let attached = unsafe { &*opaque.cast::<Attached>() };
    attached.embedder.async_context_changed(attached.user.async_context.get());
}

/// The engine keeps a context more often than before, or less.
unsafe extern "C" fn on_counted_context(opaque: *mut c_void, number: i64, by: std::ffi::c_int) {
    // SAFETY: as in `on_interrupt`.
    let attached = unsafe { &*opaque.cast::<Attached>() };
    attached.embedder.async_context_counted(number, by);
}

unsafe extern "C" fn on_rejection(
    context: *mut qjs::JSContext,
    promise: qjs::JSValue,
    reason: qjs::JSValue,
    is_handled: bool,
    opaque: *mut qjs::c_void,
) {
    let Some(context) = std::ptr::NonNull::new(context) else { return };
    // SAFETY: as in `on_interrupt`; the values are borrowed from the caller, so each is duplicated before it is owned
    // here.
    unsafe {
        let attached = &*opaque.cast::<Attached>();
        let ctx = Ctx::from_raw(context);
        let reason = rquickjs::Value::from_raw(ctx.clone(), qjs::JS_DupValue(context.as_ptr(), reason));
        let promise = rquickjs::Value::from_raw(ctx.clone(), qjs::JS_DupValue(context.as_ptr(), promise));
        attached.user.events.note_rejection(&ctx, promise, reason, is_handled);
    }
}

/// Something was called that is no function.
unsafe extern "C" fn on_no_function(
    _context: *mut qjs::JSContext,
    module: *const qjs::c_char,
    line: qjs::c_int,
    column: qjs::c_int,
    name: *mut qjs::c_char,
    size: usize,
    opaque: *mut qjs::c_void,
) -> bool {
    // SAFETY: `opaque` as in `on_interrupt`; the engine gives a text that ends with a zero and a buffer of that size,
    // both for the time of this call.
    let (attached, module, buffer) = unsafe {
        let module = std::ffi::CStr::from_ptr(module);
        (&*opaque.cast::<Attached>(), module, std::slice::from_raw_parts_mut(name.cast::<u8>(), size))
    };
    let (Ok(module), Ok(line), Ok(column)) = (module.to_str(), line.try_into(), column.try_into()) else {
        return false;
    };
    let Some(callee) = attached.embedder.callee_at(module, line, column) else { return false };
    let Some((name, rest)) = buffer.split_at_mut_checked(callee.len()) else { return false };
    let Some(end) = rest.first_mut() else { return false };
    name.copy_from_slice(callee.as_bytes());
    *end = 0;
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quickjs::faults::in_tests;

    #[test]
    fn the_engine_is_the_patched_one_whose_arenas_begin_small() {
        let memory = Rc::new(Memory::default());
        memory.set_limit(1 << 20);
        let _fresh = create(&memory).unwrap();
        let held = (1 << 20) - memory.room();
        assert!(held < 100 << 10, "a fresh runtime holds {held} bytes; build.rs says which library should be linked");
    }

    #[test]
    fn a_refused_block_makes_no_runtime_and_breaks_none() {
        // The engine asks a second time when it has blocks to give back: one refusal, two, and all.
        for many in [1, 2, u64::MAX] {
            let first_made = (1..10_000).find(|nth| !is_refused(*nth, many)).unwrap();
            assert!(first_made > 40, "a runtime takes {first_made} blocks");
        }
    }

    /// Whether no runtime was made, on a thread of its own: the names of a thread are made with its first runtime.
    fn is_refused(nth: u64, many: u64) -> bool {
        let refused = std::thread::spawn(move || {
            let memory = Rc::new(Memory::default());
            in_tests::refuse(nth, many);
            let is_refused = create(&memory).is_err();
            in_tests::refuse(0, 0);
            assert!(create(&memory).is_ok(), "after block {nth}");
            // rquickjs does not free a runtime whose room for its own classes was refused.
            let lost = usize::MAX - memory.room();
            assert!(lost < 8 << 10, "{lost} bytes are left after block {nth}");
            is_refused
        });
        refused.join().unwrap()
    }

    /// More names than the table of a thread has room for, long ones and wide ones; well-known symbols as weak keys.
    const NAMES: &str = r#"
        const o = {}, seen = new WeakMap([[Symbol.iterator, mark], [o, 1]]);
        const names = Array.from({ length: 6000 }, (_, i) => (i % 3 ? 'name' : i % 2 ? 'näme' : '名') + i);
        names.push('length', 'x'.repeat(65), 'x'.repeat(64), '7');
        names.forEach((name, i) => { o[name] = i });
        const wrong = names.filter((name, i) => o[name] !== i || o[name.split('').join('')] !== i);
        const order = names.slice(-1).concat(names.slice(0, -1)).join();
        const same = Object.keys(o).join() === order && Symbol.for('a') === Symbol.for('a');
        names.forEach(name => delete o[name]);
        [wrong.length, same, Object.keys(o).length, seen.get(Symbol.iterator), seen.delete(Symbol.iterator)].join()
    "#;

    #[test]
    fn names_are_shared_by_the_runtimes_of_a_thread() {
        let run = |context: &Context, mark: u32| {
            context.with(|ctx| {
                // SAFETY: a live context, and called once for it.
                unsafe { qjs::JS_AddIntrinsicMapSet(ctx.as_raw().as_ptr()) };
                ctx.globals().set("mark", mark).unwrap();
                assert_eq!(ctx.eval::<String, _>(NAMES).unwrap(), format!("0,true,0,{mark},true"));
            });
        };
        let (first, second) = (create(&Rc::default()).unwrap(), create(&Rc::default()).unwrap());
        run(&second.1, 2);
        run(&first.1, 1);
        drop(first);
        run(&create(&Rc::default()).unwrap().1, 3);
        second.1.with(|ctx| {
            assert_eq!(ctx.eval::<String, _>("'' + Object.keys({ name1: 1, other: 2 })").unwrap(), "name1,other")
        });
        drop(second);
        let further = Rc::new(Memory::default());
        further.set_limit(1 << 20);
        let _user = create(&Rc::default()).unwrap();
        let _fresh = create(&further).unwrap();
        let held = (1 << 20) - further.room();
        assert!(held < 64 << 10, "a further runtime of a thread holds {held} bytes");
    }

    #[test]
    fn trimmed_objects_keep_their_properties_and_take_more() {
        let memory = Rc::new(Memory::default());
        memory.set_limit(8 << 20);
        let (_runtime, context) = create(&memory).unwrap();
        context.with(|ctx| {
            let made = "globalThis.all = Array.from({ length: 300 }, (_, many) => { const o = { __proto__: { many } }; \
                for (let i = 0; i < many; i++) o['p' + i] = i; return o })";
            ctx.eval::<(), _>(made).unwrap();
            let before = memory.room();
            trim_objects(&ctx);
            assert!(memory.room() - before > 50 << 10, "{} bytes came back", memory.room() - before);
            let right = "all.every((o, many) => { o.more = 1; delete o.p9; o.last = 2; \
                const names = Object.keys(o).join(), { length } = Object.keys(o); \
                return o.many === many && names.endsWith('more,last') && length === many + 2 - (many > 9) && \
                    (many < 1 || o['p' + (many - 1)] === (many === 10 ? undefined : many - 1)) }) && \
                [3, 1, 2].sort().map(String).join() === '1,2,3' && new Function('return this')() === globalThis";
            assert!(ctx.eval::<bool, _>(right).unwrap());
        });
    }

    #[test]
    fn collections_are_spaced_but_never_brought_closer() {
        let (_runtime, context) = create(&Rc::default()).unwrap();
        context.with(|ctx| {
            // SAFETY: context and runtime are live.
            let runtime = unsafe { qjs::JS_GetRuntime(ctx.as_raw().as_ptr()) };
            for (threshold, expected) in [(60 << 10, GC_THRESHOLD), (GC_THRESHOLD * 3, GC_THRESHOLD * 3)] {
                // SAFETY: as above.
                let spaced = unsafe {
                    qjs::JS_SetGCThreshold(runtime, threshold as qjs::size_t);
                    space_collections(&ctx);
                    qjs::JS_GetGCThreshold(runtime) as usize
                };
                assert_eq!(spaced, expected);
            }
        });
    }

    #[test]
    fn shapes_without_objects_stay_until_a_collection() {
        let (_runtime, context) = create(&Rc::default()).unwrap();
        context.with(|ctx| {
            // SAFETY: context and runtime are live; the usage is written only.
            let shapes = || unsafe {
                let mut usage = std::mem::zeroed();
                qjs::JS_ComputeMemoryUsage(qjs::JS_GetRuntime(ctx.as_raw().as_ptr()), &mut usage);
                usage.shape_count
            };
            let run = |text: &str| ctx.eval::<i32, _>(text).unwrap();
            run("globalThis.make = (n) => { \
                 let sum = 0; for (let i = 0; i < n; i++) sum += ({ a: i, b: 1, c: 2 }).b; return sum }; 0");
            ctx.run_gc();
            let before = shapes();
            // The shapes in between come to stay one a round.
            assert_eq!(run("make(10)"), 10);
            let kept = shapes();
            assert!(kept > before, "{kept} shapes behind, {before} before");
            assert_eq!((run("make(100)"), shapes()), (100, kept), "the next objects have the same shapes");
            // More kinds than are kept, with prototypes that go with them.
            let many = "(() => { let sum = 0; for (let i = 0; i < 500; i++) { \
                        const o = { __proto__: { ['p' + i]: 1 } }; o['k' + i] = i; sum += o['p' + i] } return sum })()";
            assert_eq!(run(many), 500);
            assert!(shapes() < before + 100, "{} shapes behind, {before} before", shapes());
            ctx.run_gc();
            assert_eq!((run("make(7)"), run("make(7)")), (7, 7));
            ctx.run_gc();
            assert!(shapes() <= before, "{} shapes after a collection, {before} before", shapes());
        });
    }
}
