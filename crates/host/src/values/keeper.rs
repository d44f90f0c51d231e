//! Rust values inside of script objects that hold script values too.
//!
//! What is held here is told to the garbage collector, so a script can tie knots without leaking. Looking into an
//! object hands out its two halves; while they are out, nothing may run that looks into the same object again, so take
//! what is needed and let go.

use std::cell::RefCell;
use std::mem::transmute;
use std::rc::Rc;

use rquickjs::{Ctx, Error, Object, Result, Value, qjs};

use crate::values::class::{self, Marked};
use crate::values::native::NativeClass;

/// A `T` and the values of the script that it holds.
struct Keeper<T> {
    own: RefCell<T>,
    /// Of the runtime whose object holds this.
    kept: RefCell<Vec<Value<'static>>>,
}

impl<T: 'static> Marked for Keeper<T> {
    fn mark(&self, runtime: *mut qjs::JSRuntime, mark: qjs::JS_MarkFunc) {
        // While they are handed out, a collection that begins takes them for held from outside, which they are.
        if let Ok(kept) = self.kept.try_borrow() {
            // SAFETY: live values of this runtime, while it collects.
            kept.iter().for_each(|value| unsafe { qjs::JS_MarkValue(runtime, value.as_raw(), mark) });
        }
    }
}

/// An object made of a Rust value, holding no script value yet.
pub fn object<'js, T: NativeClass>(ctx: &Ctx<'js>, own: T) -> Result<Object<'js>> {
    let prototype = prototype::<T>(ctx)?;
    let keeper = Keeper { own: RefCell::new(own), kept: RefCell::default() };
    let object = class::create(ctx, class::of_marked::<Keeper<T>>(ctx)?, Some(&prototype), Rc::new(keeper))?;
    object.into_object().ok_or(Error::Unknown)
}

/// The prototype of the class, for a constructor to hand out.
pub fn prototype<'js, T: NativeClass>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    class::prototype(ctx, class::of_marked::<Keeper<T>>(ctx)?, T::methods)
}

/// Looks at the Rust value of an object and at the script values it holds; `None` when it is no such object.
pub fn with<'js, T: NativeClass, R>(
    value: &Value<'js>,
    f: impl FnOnce(&mut T, &mut Vec<Value<'js>>) -> R,
) -> Option<R> {
    class::with(value, |keeper: &Keeper<T>| {
        // Handed out already: only a script that replaces getters of buffers can get here, in the middle of a form
        // being sent.
        let (mut own, mut kept) = (keeper.own.try_borrow_mut().ok()?, keeper.kept.try_borrow_mut().ok()?);
        // SAFETY: only the lifetime changes. The values are of the runtime of `value`, whose object holds them.
        let kept = unsafe { transmute::<&mut Vec<Value<'static>>, &mut Vec<Value<'js>>>(&mut *kept) };
        Some(f(&mut own, kept))
    })
    .flatten()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::test_user::with_user;
    use crate::values::native;

    struct Number(u32);

    impl NativeClass for Number {
        const NAME: &'static str = "Number";
    }

    /// Notices its end.
    struct Canary(Rc<Cell<bool>>);

    impl Drop for Canary {
        fn drop(&mut self) {
            self.0.set(true);
        }
    }

    #[test]
    fn values_are_kept_and_knots_are_collected() {
        let gone = Rc::new(Cell::new(false));
        with_user(|ctx| {
            let object = object(ctx, Number(1)).unwrap();
            let inner = native::shared(ctx, None, Rc::new(Canary(gone.clone()))).unwrap();
            inner.as_object().unwrap().set("back", object.clone()).unwrap();
            with(object.as_value(), |own: &mut Number, kept| {
                own.0 = 7;
                kept.push(inner);
            });
            assert_eq!(with(object.as_value(), |own: &mut Number, kept| (own.0, kept.len())), Some((7, 1)));
            assert_eq!(with(&ctx.eval("({})").unwrap(), |_: &mut Number, _| ()), None);
            ctx.run_gc();
            assert!(!gone.get(), "it is still held");
            drop(object);
            ctx.run_gc();
            assert!(gone.get(), "the knot was collected");
        });
    }
}
