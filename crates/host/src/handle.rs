//! Objects of the script that stand for a shared Rust value, made at the cost of an object and a pointer.
//!
//! `native.rs` has the more comfortable kind; this one is for hot paths. The class is registered for each runtime when
//! it is first needed, and the prototype is whatever the caller says, so a class of the script can have such objects as
//! instances. Invariant: the object owns one count of the `Rc` from its making to its end.

use std::any::TypeId;
use std::rc::Rc;

use rquickjs::{Ctx, Error, Object, Persistent, Result, Value, qjs};

use crate::user::User;

/// An object that stands for the value; without a prototype it has none.
pub fn create<'js, T: 'static>(ctx: &Ctx<'js>, prototype: Option<&Object<'js>>, value: Rc<T>) -> Result<Value<'js>> {
    let class = class_of::<T>(ctx)?;
    // SAFETY: the object is of this class; the count that goes into it is taken back by `on_finalize`.
    unsafe {
        let object = empty(ctx, prototype, class)?;
        qjs::JS_SetOpaque(object.as_raw(), Rc::into_raw(value).cast_mut().cast());
        Ok(object)
    }
}

/// Keeps an object that stands for nothing as long as the user's runtime lives: what QuickJS knows of such objects is
/// then not made again for each of them.
pub fn keep_shape<'js, T: 'static>(ctx: &Ctx<'js>, prototype: &Object<'js>) -> Result<()> {
    let object = empty(ctx, Some(prototype), class_of::<T>(ctx)?)?;
    User::of(ctx).runtime.shape_keepers.borrow_mut().push(Persistent::save(ctx, object));
    Ok(())
}

fn empty<'js>(ctx: &Ctx<'js>, prototype: Option<&Object<'js>>, class: qjs::JSClassID) -> Result<Value<'js>> {
    let prototype = prototype.map_or(qjs::JS_NULL, |prototype| prototype.as_raw());
    // SAFETY: class and prototype are of this runtime; the object is ours.
    unsafe {
        let raw = qjs::JS_NewObjectProtoClass(ctx.as_raw().as_ptr(), prototype, class);
        if qjs::JS_IsException(raw) {
            return Err(Error::Exception);
        }
        Ok(Value::from_raw(ctx.clone(), raw))
    }
}

/// The value an object stands for; nothing when it was not made by `create::<T>`.
pub fn get<T: 'static>(value: &Value<'_>) -> Option<Rc<T>> {
    let class = known_class::<T>(&User::of(value.ctx()))?;
    // SAFETY: objects of this class carry a count of an `Rc<T>` from their making to their end, and `value` keeps this
    // alive.
    unsafe {
        let raw = qjs::JS_GetOpaque(value.as_raw(), class).cast::<T>().cast_const();
        if raw.is_null() {
            return None;
        }
        Rc::increment_strong_count(raw);
        Some(Rc::from_raw(raw))
    }
}

fn known_class<T: 'static>(user: &User) -> Option<qjs::JSClassID> {
    let id = TypeId::of::<T>();
    user.runtime.handle_classes.borrow().iter().find(|(of, _)| *of == id).map(|(_, class)| *class)
}

fn class_of<T: 'static>(ctx: &Ctx<'_>) -> Result<qjs::JSClassID> {
    let user = User::of(ctx);
    if let Some(class) = known_class::<T>(&user) {
        return Ok(class);
    }
    let definition = qjs::JSClassDef {
        class_name: c"Object".as_ptr(),
        finalizer: Some(on_finalize::<T>),
        gc_mark: None,
        call: None,
        exotic: std::ptr::null_mut(),
    };
    let mut class = qjs::JS_INVALID_CLASS_ID;
    // SAFETY: the runtime is live; QuickJS copies the definition.
    unsafe {
        let runtime = qjs::JS_GetRuntime(ctx.as_raw().as_ptr());
        qjs::JS_NewClassID(runtime, &mut class);
        if qjs::JS_NewClass(runtime, class, &definition) < 0 {
            return Err(Error::Exception);
        }
    }
    user.runtime.handle_classes.borrow_mut().push((TypeId::of::<T>(), class));
    Ok(class)
}

unsafe extern "C" fn on_finalize<T: 'static>(_runtime: *mut qjs::JSRuntime, object: qjs::JSValue) {
    let mut class = qjs::JS_INVALID_CLASS_ID;
    // SAFETY: QuickJS finalizes each object once; the pointer comes from `Rc::into_raw` in `create`, or is null when
    // `create` did not come so far.
    unsafe {
        let raw = qjs::JS_GetAnyOpaque(object, &mut class).cast::<T>().cast_const();
        if !raw.is_null() {
            drop(Rc::from_raw(raw));
        }
    }
}
