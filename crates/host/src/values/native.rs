//! Objects of the script that stand for Rust values: the one way for everything that is no response and no buffer.
//!
//! `object` gives a plain Rust value a class with methods of its own, made in one line and without macros. `shared`
//! makes an object of a value that others have too, with whatever prototype the caller says, at the cost of an object
//! and a pointer: for hot paths. Neither holds script values (`T: 'static`); `keeper.rs` is for those that do.

use std::rc::Rc;

use rquickjs::{Ctx, Error, Object, Persistent, Result, Value};

use crate::user::User;
use crate::values::class;

/// What a Rust type needs to become a class.
pub trait NativeClass: 'static {
    /// Name of the class, for people.
    const NAME: &'static str;

    /// Puts methods onto the prototype; called once a virtual user.
    fn methods<'js>(_prototype: &Object<'js>) -> Result<()> {
        Ok(())
    }
}

/// An object made of a Rust value. It may carry ordinary properties as well.
pub fn object<'js, T: NativeClass>(ctx: &Ctx<'js>, value: T) -> Result<Object<'js>> {
    let prototype = prototype::<T>(ctx)?;
    let object = class::create(ctx, class::of::<T>(ctx)?, Some(&prototype), Rc::new(value))?;
    object.into_object().ok_or(Error::Unknown)
}

/// The prototype of the class, for a constructor to hand out.
pub fn prototype<'js, T: NativeClass>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    class::prototype(ctx, class::of::<T>(ctx)?, T::methods)
}

/// Looks at the Rust value of an object; `None` when it is no such object.
pub fn with<T: 'static, R>(value: &Value<'_>, look: impl FnOnce(&T) -> R) -> Option<R> {
    class::with(value, look)
}

/// An object that stands for a shared value; without a prototype it has none.
pub fn shared<'js, T: 'static>(ctx: &Ctx<'js>, prototype: Option<&Object<'js>>, value: Rc<T>) -> Result<Value<'js>> {
    class::create(ctx, class::of::<T>(ctx)?, prototype, value)
}

/// The shared value of an object; `None` when it is no such object.
pub fn get<T: 'static>(value: &Value<'_>) -> Option<Rc<T>> {
    class::get(value)
}

/// Keeps an object that stands for nothing as long as the user's runtime lives: what QuickJS knows of such objects is
/// then not made anew for each of them.
pub fn keep_shape<'js, T: 'static>(ctx: &Ctx<'js>, prototype: &Object<'js>) -> Result<()> {
    let object = class::empty(ctx, class::of::<T>(ctx)?, Some(prototype))?;
    User::of(ctx).state.shape_keepers.borrow_mut().push(Persistent::save(ctx, object));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_user::with_user;

    struct Left(u32);
    struct Right;

    impl NativeClass for Left {
        const NAME: &'static str = "Left";

        fn methods<'js>(prototype: &Object<'js>) -> Result<()> {
            prototype.set("kind", "left")
        }
    }

    impl NativeClass for Right {
        const NAME: &'static str = "Right";
    }

    #[test]
    fn classes_are_told_apart() {
        with_user(|ctx| {
            let left = object(ctx, Left(7)).unwrap();
            left.set("own", 1).unwrap();
            assert_eq!(with(left.as_value(), |l: &Left| l.0), Some(7));
            assert_eq!(with(left.as_value(), |_: &Right| ()), None);
            object(ctx, Right).unwrap();
            assert_eq!(with(left.as_value(), |_: &Right| ()), None);
            for other in ["({})", "5", "null", "new Error('no')", "new Proxy({}, {})"] {
                assert_eq!(with(&ctx.eval(other).unwrap(), |_: &Left| ()), None, "{other}");
            }
            assert!(!ctx.has_exception());
            assert_eq!(left.get_prototype(), Some(prototype::<Left>(ctx).unwrap()));
            ctx.globals().set("left", left).unwrap();
            assert_eq!(ctx.eval::<String, _>("left.kind + JSON.stringify(left)").unwrap(), r#"left{"own":1}"#);
        });
    }

    #[test]
    fn shared_values_live_as_long_as_their_objects() {
        let value = Rc::new(5);
        with_user(|ctx| {
            let object = shared(ctx, None, value.clone()).unwrap();
            assert_eq!(get::<i32>(&object).as_deref(), Some(&5));
            assert_eq!(Rc::strong_count(&value), 2);
            drop(object);
            assert_eq!(Rc::strong_count(&value), 1);
            ctx.globals().set("kept", shared(ctx, None, value.clone()).unwrap()).unwrap();
        });
        assert_eq!(Rc::strong_count(&value), 1, "the runtime has gone");
    }
}
