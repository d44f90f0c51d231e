//! The QuickJS runtime of one virtual user: what it contains, its limits, and how native code finds its user.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use rquickjs::context::intrinsic;
use rquickjs::{Context, Ctx, Object, Persistent, Runtime, qjs};

use super::coroutine::STACK_BYTES;
use super::memory::Memory;
use crate::vu::Vu;

/// What is left of a coroutine's stack for native functions when JavaScript has used up its part: sending a request, TLS
/// and the regular expression engine included.
const NATIVE_STACK_BYTES: usize = 192 * 1024;

/// Memory of one user, when the options name no other: high enough for scripts that read large responses.
pub(crate) const DEFAULT_MEMORY_LIMIT: usize = 1 << 30;

/// Reference cycles are collected when this much JavaScript memory is in use, some 100 KiB of which a user never gives back.
/// Most garbage of a load script is freed by reference counting at once; the rest piles up to here in every user.
const GC_THRESHOLD: usize = 256 << 10;

/// What the host keeps for a user beside the runtime itself.
#[derive(Default)]
pub(crate) struct RuntimeState {
    /// Module objects made so far, by import path.
    pub builtins: RefCell<Vec<(&'static str, Persistent<Object<'static>>)>>,
    /// What CommonJS modules, and ES modules that were required, export.
    pub exports: RefCell<Vec<(String, Persistent<rquickjs::Value<'static>>)>>,
    /// The last error of the module loader, whose exception may be on its way through the script.
    pub load_error: RefCell<Option<crate::error::ScriptError>>,
    /// The import or require being carried out: the module that asks, and what it asks for.
    pub importing: RefCell<Option<(String, String)>>,
    /// Names that the scenario of the last iteration put into `__ENV`.
    pub scenario_env: RefCell<Vec<String>>,
    /// Whether `__ITER` is there and tells the number of the iteration.
    pub has_iter: Cell<bool>,
    /// The parts of the language that were made so far, beyond those of every user.
    pub intrinsics: Cell<super::intrinsics::Parts>,
    /// A panic on its way through a script.
    pub panic: RefCell<Option<Box<dyn std::any::Any + Send>>>,
    /// Class of lazy objects; 0: not registered yet.
    pub lazy_class: Cell<qjs::JSClassID>,
    /// Classes of handles, by what they stand for.
    pub handle_classes: RefCell<Vec<(std::any::TypeId, qjs::JSClassID)>>,
    /// Objects that keep the shapes of handles alive.
    pub shape_keepers: RefCell<Vec<Persistent<rquickjs::Value<'static>>>>,
    /// QuickJS's own getter of `Error.prototype.stack`.
    pub stack_getter: RefCell<Option<Persistent<rquickjs::Function<'static>>>>,
    /// What lazy objects have in common, by type.
    pub lazy_shapes: RefCell<Vec<super::lazy_object::LazyShape>>,
}

impl RuntimeState {
    /// Goes on with a panic that a script's frames were in the way of.
    pub fn resume_panic(&self) {
        if let Some(panic) = self.panic.take() {
            std::panic::resume_unwind(panic);
        }
    }

    /// Lets go of JavaScript values before the runtime goes.
    pub fn clear(&self) {
        drop(std::mem::take(&mut *self.builtins.borrow_mut()));
        drop(std::mem::take(&mut *self.exports.borrow_mut()));
        drop(std::mem::take(&mut *self.shape_keepers.borrow_mut()));
        drop(std::mem::take(&mut *self.lazy_shapes.borrow_mut()));
        drop(self.stack_getter.take());
    }
}

/// A runtime on the current stack, which has to be the user's coroutine: QuickJS measures its stack limit from here.
/// Its memory is counted there.
pub(crate) fn create(memory: &Rc<Memory>) -> rquickjs::Result<(Runtime, Context)> {
    let runtime = Runtime::new_with_alloc(super::allocator::Mimalloc(memory.clone()))?;
    runtime.set_max_stack_size(STACK_BYTES - NATIVE_STACK_BYTES);
    runtime.set_gc_threshold(GC_THRESHOLD);
    type Basics = (intrinsic::Eval, intrinsic::RegExpCompiler, intrinsic::RegExp, intrinsic::Json);
    let context = Context::custom::<(Basics, intrinsic::Proxy, intrinsic::Promise)>(&runtime)?;
    // SAFETY: the context was just made and is used by this thread alone. rquickjs has no name for this intrinsic.
    unsafe { qjs::JS_AddIntrinsicBigInt(context.as_raw().as_ptr()) };
    Ok((runtime, context))
}

/// What the language has and k6 lacks, for programs that are no tests.
pub(crate) fn add_rest(ctx: &Ctx<'_>) {
    let context = ctx.as_raw().as_ptr();
    // SAFETY: the context is live, and each of them is called once for it.
    unsafe {
        qjs::JS_AddIntrinsicWeakRef(context);
        qjs::JS_AddIntrinsicDOMException(context);
        qjs::JS_AddIntrinsicAToB(context);
        qjs::JS_AddPerformance(context);
    }
}

/// Undoes what QuickJS makes of its threshold: after a collection it waits for half of what was left to come again, which for
/// a heap as small as a user's would be a collection for every 60 KiB. Costs two loads and a comparison.
pub(crate) fn space_collections(ctx: &Ctx<'_>) {
    // SAFETY: context and runtime are live.
    unsafe {
        let runtime = qjs::JS_GetRuntime(ctx.as_raw().as_ptr());
        if (qjs::JS_GetGCThreshold(runtime) as usize) < GC_THRESHOLD {
            qjs::JS_SetGCThreshold(runtime, GC_THRESHOLD as qjs::size_t);
        }
    }
}

/// Makes the user findable from the context and lets it be interrupted. Undone by `detach`, which must be called before the
/// runtime goes.
pub(crate) fn attach(ctx: &Ctx<'_>, vu: &Rc<Vu>) {
    let raw = Rc::into_raw(vu.clone());
    // SAFETY: context and runtime are live; `raw` stays valid until `detach` takes it back.
    unsafe {
        let context = ctx.as_raw().as_ptr();
        let runtime = qjs::JS_GetRuntime(context);
        qjs::JS_SetContextOpaque(context, raw.cast_mut().cast());
        qjs::JS_SetInterruptHandler(runtime, Some(on_interrupt), raw.cast_mut().cast());
        qjs::JS_SetHostPromiseRejectionTracker(runtime, Some(on_rejection), raw.cast_mut().cast());
    }
}

/// Takes back what `attach` gave.
pub(crate) fn detach(ctx: &Ctx<'_>) {
    // SAFETY: `attach` stored the pointer from `Rc::into_raw`; nothing reads it after this.
    unsafe {
        let context = ctx.as_raw().as_ptr();
        let runtime = qjs::JS_GetRuntime(context);
        qjs::JS_SetInterruptHandler(runtime, None, std::ptr::null_mut());
        qjs::JS_SetHostPromiseRejectionTracker(runtime, None, std::ptr::null_mut());
        let raw = qjs::JS_GetContextOpaque(context).cast::<Vu>().cast_const();
        qjs::JS_SetContextOpaque(context, std::ptr::null_mut());
        if !raw.is_null() {
            drop(Rc::from_raw(raw));
        }
    }
}

/// The user of this context.
pub(crate) fn user_of(ctx: &Ctx<'_>) -> Rc<Vu> {
    // SAFETY: `attach` stored a pointer from `Rc::into_raw`, and the count it holds is given back only by `detach`.
    unsafe {
        let raw = qjs::JS_GetContextOpaque(ctx.as_raw().as_ptr()).cast::<Vu>().cast_const();
        assert!(!raw.is_null(), "native code ran in a context without a user: this is a bug");
        Rc::increment_strong_count(raw);
        Rc::from_raw(raw)
    }
}

/// QuickJS calls this every 10,000 calls and loop turns, inside regular expressions too. Suspending here is what lets the
/// other users of the worker go on; returning 1 ends the script with an error it cannot catch.
unsafe extern "C" fn on_interrupt(_runtime: *mut qjs::JSRuntime, opaque: *mut qjs::c_void) -> qjs::c_int {
    // SAFETY: `opaque` is the pointer that `attach` gave; `detach` removes this handler before it becomes invalid.
    let vu = unsafe { &*opaque.cast::<Vu>() };
    vu.switch.tick().into()
}

unsafe extern "C" fn on_rejection(
    context: *mut qjs::JSContext,
    promise: qjs::JSValue,
    reason: qjs::JSValue,
    is_handled: bool,
    opaque: *mut qjs::c_void,
) {
    let Some(context) = std::ptr::NonNull::new(context) else { return };
    // SAFETY: as in `on_interrupt`; the values are borrowed from the caller, so each is duplicated before it is owned here.
    unsafe {
        let vu = &*opaque.cast::<Vu>();
        let ctx = Ctx::from_raw(context);
        let reason = rquickjs::Value::from_raw(ctx.clone(), qjs::JS_DupValue(context.as_ptr(), reason));
        let promise = rquickjs::Value::from_raw(ctx.clone(), qjs::JS_DupValue(context.as_ptr(), promise));
        vu.events.note_rejection(&ctx, promise, reason, is_handled);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
