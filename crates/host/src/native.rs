//! Rust values inside of script objects: a class for every plain Rust type, made in one line and without macros.
//!
//! A `Native<T>` object is recognised by its class, so scripts cannot forge one; it may carry ordinary properties as
//! well. The Rust value holds no script values: `T: 'static` makes sure of it.

use rquickjs::class::{JsClass, Readable, Trace, Tracer};
use rquickjs::function::Constructor;
use rquickjs::{Class, Ctx, JsLifetime, Object, Result, Value, qjs};

use crate::object;

/// What a Rust type needs to become a class.
pub trait NativeClass: 'static {
    /// Name of the class.
    const NAME: &'static str;

    /// Puts methods onto the prototype; called once a virtual user.
    fn methods<'js>(_prototype: &Object<'js>) -> Result<()> {
        Ok(())
    }
}

/// The script-side holder of a `T`.
pub struct Native<T>(T);

/// An object made of a Rust value.
pub fn object<'js, T: NativeClass>(ctx: &Ctx<'js>, value: T) -> Result<Object<'js>> {
    Class::instance(ctx.clone(), Native(value)).map(Class::into_inner)
}

/// The prototype of the class, for a constructor to hand out.
pub fn prototype<'js, T: NativeClass>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    match Class::<Native<T>>::prototype(ctx)? {
        Some(prototype) => Ok(prototype),
        None => Object::new(ctx.clone()),
    }
}

/// Looks at the Rust value of an object; `None` when it is no such object.
pub fn with<'js, T: NativeClass, R>(value: &Value<'js>, f: impl FnOnce(&T) -> R) -> Option<R> {
    if is_plain(value) {
        return None;
    }
    let holder = object::of(value)?.as_class::<Native<T>>()?.borrow();
    Some(f(&holder.0))
}

/// Whether it is an object of a literal, of a class of the script, or a buffer: the usual cases. Asking one for its
/// Rust value would make an exception and drop it, which takes 7,000 instructions.
pub(crate) fn is_plain(value: &Value<'_>) -> bool {
    // SAFETY: these look at the class of an object only; other values have none.
    object::of(value).is_some_and(|object| unsafe {
        let raw = object.as_raw();
        qjs::JS_GetClassID(raw) == object::PLAIN_CLASS
            || qjs::JS_IsArrayBuffer(raw)
            || qjs::JS_GetTypedArrayType(raw) >= 0
    })
}

impl<'js, T: 'static> Trace<'js> for Native<T> {
    fn trace<'a>(&self, _tracer: Tracer<'a, 'js>) {}
}

// SAFETY: `T: 'static` cannot hold anything of the lifetime of a context, so there is nothing to change.
unsafe impl<'js, T: 'static> JsLifetime<'js> for Native<T> {
    type Changed<'to> = Native<T>;
}

impl<'js, T: NativeClass> JsClass<'js> for Native<T> {
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

    struct Left(u32);
    struct Right;

    impl NativeClass for Left {
        const NAME: &'static str = "Left";
    }

    impl NativeClass for Right {
        const NAME: &'static str = "Right";
    }

    #[test]
    fn classes_are_told_apart() {
        let runtime = Runtime::new().unwrap();
        Context::full(&runtime).unwrap().with(|ctx| {
            let left = object(&ctx, Left(7)).unwrap();
            left.set("own", 1).unwrap();
            assert_eq!(with(left.as_value(), |l: &Left| l.0), Some(7));
            assert_eq!(with(left.as_value(), |_: &Right| ()), None);
            let plain: Value<'_> = ctx.eval("({})").unwrap();
            assert_eq!(with(&plain, |_: &Left| ()), None);
            for (source, expected) in
                [("({})", true), ("new (class {})", true), ("new Uint8Array(1)", true), ("5", false)]
            {
                assert_eq!(is_plain(&ctx.eval(source).unwrap()), expected, "{source}");
            }
            assert!(!is_plain(left.as_value()));
            ctx.globals().set("left", left).unwrap();
            assert_eq!(ctx.eval::<String, _>("JSON.stringify(left)").unwrap(), r#"{"own":1}"#);
        });
    }
}
