//! Rust values inside of script objects that hold script values too.
//!
//! `native.rs` has the plainer kind, which holds none. The garbage collector knows what is held here, so a script can
//! tie knots without leaking. Looking into an object hands out its two halves; while they are out, nothing may run that
//! looks into the same object again, so take what is needed and let go.

use std::cell::RefCell;

use rquickjs::class::{JsClass, Readable, Trace, Tracer};
use rquickjs::function::Constructor;
use rquickjs::{Class, Ctx, JsLifetime, Object, Result, Value};

use crate::native::{NativeClass, is_plain};
use crate::object;

/// The script-side holder of a `T` and of script values.
pub struct Keeper<'js, T> {
    own: RefCell<T>,
    kept: RefCell<Vec<Value<'js>>>,
}

/// An object made of a Rust value, holding no script value yet.
pub fn object<'js, T: NativeClass>(ctx: &Ctx<'js>, own: T) -> Result<Object<'js>> {
    let keeper = Keeper { own: RefCell::new(own), kept: RefCell::default() };
    Class::instance(ctx.clone(), keeper).map(Class::into_inner)
}

/// The prototype of the class, for a constructor to hand out.
pub fn prototype<'js, T: NativeClass>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    match Class::<Keeper<'js, T>>::prototype(ctx)? {
        Some(prototype) => Ok(prototype),
        None => Object::new(ctx.clone()),
    }
}

/// Looks at the Rust value of an object and at the script values it holds; `None` when it is no such object.
pub fn with<'js, T: NativeClass, R>(
    value: &Value<'js>,
    f: impl FnOnce(&mut T, &mut Vec<Value<'js>>) -> R,
) -> Option<R> {
    if is_plain(value) {
        return None;
    }
    let keeper = object::of(value)?.as_class::<Keeper<'js, T>>()?.borrow();
    // Lent out already: only a script that replaces getters of buffers can get here, in the middle of a form being
    // sent.
    let (mut own, mut kept) = (keeper.own.try_borrow_mut().ok()?, keeper.kept.try_borrow_mut().ok()?);
    Some(f(&mut own, &mut kept))
}

impl<'js, T: 'static> Trace<'js> for Keeper<'js, T> {
    fn trace<'a>(&self, tracer: Tracer<'a, 'js>) {
        // While they are lent, a collection that begins takes them for held from outside, which they are.
        if let Ok(kept) = self.kept.try_borrow() {
            kept.iter().for_each(|value| tracer.mark(value));
        }
    }
}

// SAFETY: `T: 'static` cannot hold anything of the lifetime of a context; the values change with it.
unsafe impl<'js, T: 'static> JsLifetime<'js> for Keeper<'js, T> {
    type Changed<'to> = Keeper<'to, T>;
}

impl<'js, T: NativeClass> JsClass<'js> for Keeper<'js, T> {
    const NAME: &'static str = T::NAME;
    type Mutable = Readable;

    fn prototype(ctx: &Ctx<'js>) -> Result<Option<Object<'js>>> {
        let prototype = Object::new(ctx.clone())?;
        T::methods(&prototype)?;
        Ok(Some(prototype))
    }

    fn constructor(_ctx: &Ctx<'js>) -> Result<Option<Constructor<'js>>> {
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use rquickjs::{Context, Runtime};

    use super::*;

    struct Box(u32);

    impl NativeClass for Box {
        const NAME: &'static str = "Box";
    }

    #[test]
    fn values_are_kept_and_knots_are_collected() {
        let runtime = Runtime::new().unwrap();
        let context = Context::full(&runtime).unwrap();
        context.with(|ctx| {
            ctx.eval::<(), _>("globalThis.gone = 0; globalThis.reg = new FinalizationRegistry(() => { gone++; });")
                .unwrap();
            let object = object(&ctx, Box(1)).unwrap();
            let inner: Value<'_> = ctx.eval("globalThis.inner = { back: null }; reg.register(inner); inner").unwrap();
            with(object.as_value(), |own: &mut Box, kept| {
                own.0 = 7;
                kept.push(inner);
            });
            ctx.globals().set("holder", object.clone()).unwrap();
            ctx.eval::<(), _>("inner.back = holder; delete globalThis.inner; delete globalThis.holder;").unwrap();
            assert_eq!(with(object.as_value(), |own: &mut Box, kept| (own.0, kept.len())), Some((7, 1)));
            assert_eq!(with(&ctx.eval("({})").unwrap(), |_: &mut Box, _| ()), None);
        });
        runtime.run_gc();
        while runtime.is_job_pending() {
            runtime.execute_pending_job().unwrap();
        }
        context.with(|ctx| assert_eq!(ctx.eval::<u32, _>("gone").unwrap(), 1, "the knot was collected"));
    }
}
