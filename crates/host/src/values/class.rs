//! Classes of the engine for Rust types: one a type and runtime, registered when it is first needed.
//!
//! Objects of such a class carry a count of an `Rc<T>` from their making to their end, at the cost of an object and a
//! pointer. Scripts cannot forge one. Looking for a `T` in any other value costs a comparison and makes no exception.

use std::any::TypeId;
use std::rc::Rc;

use rquickjs::{Ctx, Error, Object, Result, Value, qjs};

use crate::user::User;

/// What the values of `T` hold of the script; those that are no `Marked` hold nothing.
pub(crate) trait Marked: 'static {
    /// Marks each value held.
    fn mark(&self, runtime: *mut qjs::JSRuntime, mark: qjs::JS_MarkFunc);
}

/// The class of a type in one runtime.
#[derive(Clone, Copy)]
pub(crate) struct Class {
    of: TypeId,
    id: qjs::JSClassID,
}

/// An object of the class that stands for the value; without a prototype it has none.
pub(crate) fn create<'js, T: 'static>(
    ctx: &Ctx<'js>,
    class: Class,
    prototype: Option<&Object<'js>>,
    value: Rc<T>,
) -> Result<Value<'js>> {
    assert!(class.of == TypeId::of::<T>(), "the class is that of the value");
    // SAFETY: the object is of this class; the count that goes into it is taken back by `on_finalize`.
    unsafe {
        let object = empty(ctx, class, prototype)?;
        qjs::JS_SetOpaque(object.as_raw(), Rc::into_raw(value).cast_mut().cast());
        Ok(object)
    }
}

/// An object of the class that stands for nothing.
pub(crate) fn empty<'js>(ctx: &Ctx<'js>, class: Class, prototype: Option<&Object<'js>>) -> Result<Value<'js>> {
    let prototype = prototype.map_or(qjs::JS_NULL, |prototype| prototype.as_raw());
    // SAFETY: class and prototype are of this runtime; the object is ours.
    unsafe {
        let raw = qjs::JS_NewObjectProtoClass(ctx.as_raw().as_ptr(), prototype, class.id);
        if qjs::JS_IsException(raw) {
            return Err(Error::Exception);
        }
        Ok(Value::from_raw(ctx.clone(), raw))
    }
}

/// Looks at the value that an object stands for; nothing when it stands for no `T`.
pub(crate) fn with<T: 'static, R>(value: &Value<'_>, look: impl FnOnce(&T) -> R) -> Option<R> {
    let raw = opaque::<T>(value)?;
    // SAFETY: objects of this class carry a count of an `Rc<T>` from their making to their end, and `value` keeps this
    // alive.
    Some(look(unsafe { &*raw }))
}

/// The value that an object stands for.
pub(crate) fn get<T: 'static>(value: &Value<'_>) -> Option<Rc<T>> {
    let raw = opaque::<T>(value)?;
    // SAFETY: as in `with`; the count made here is the result's.
    unsafe {
        Rc::increment_strong_count(raw);
        Some(Rc::from_raw(raw))
    }
}

fn opaque<T: 'static>(value: &Value<'_>) -> Option<*const T> {
    let class = known::<T>(&User::of(value.ctx()))?;
    // SAFETY: gives null for every value that is no object of this class.
    let raw = unsafe { qjs::JS_GetOpaque(value.as_raw(), class.id) }.cast::<T>().cast_const();
    (!raw.is_null()).then_some(raw)
}

/// The class of a type, when objects of it were made.
fn known<T: 'static>(user: &User) -> Option<Class> {
    let id = TypeId::of::<T>();
    user.state.classes.borrow().iter().find(|(of, _)| *of == id).map(|(of, id)| Class { of: *of, id: *id })
}

/// The class of a type whose values hold nothing of the script.
pub(crate) fn of<T: 'static>(ctx: &Ctx<'_>) -> Result<Class> {
    match known::<T>(&User::of(ctx)) {
        Some(class) => Ok(class),
        None => register::<T>(ctx, None),
    }
}

/// The class of a type whose values hold values of the script.
pub(crate) fn of_marked<T: Marked>(ctx: &Ctx<'_>) -> Result<Class> {
    match known::<T>(&User::of(ctx)) {
        Some(class) => Ok(class),
        None => register::<T>(ctx, Some(on_mark::<T>)),
    }
}

fn register<T: 'static>(
    ctx: &Ctx<'_>,
    gc_mark: Option<unsafe extern "C" fn(*mut qjs::JSRuntime, qjs::JSValue, qjs::JS_MarkFunc)>,
) -> Result<Class> {
    let definition = qjs::JSClassDef {
        class_name: c"Object".as_ptr(),
        finalizer: Some(on_finalize::<T>),
        gc_mark,
        call: None,
        exotic: std::ptr::null_mut(),
    };
    let mut id = qjs::JS_INVALID_CLASS_ID;
    // SAFETY: the runtime is live; QuickJS copies the definition.
    unsafe {
        let runtime = qjs::JS_GetRuntime(ctx.as_raw().as_ptr());
        qjs::JS_NewClassID(runtime, &mut id);
        if qjs::JS_NewClass(runtime, id, &definition) < 0 {
            return Err(Error::Exception);
        }
    }
    let class = Class { of: TypeId::of::<T>(), id };
    User::of(ctx).state.classes.borrow_mut().push((class.of, class.id));
    Ok(class)
}

/// The prototype that belongs to a class, made at the first call by `make` and kept by the engine.
pub(crate) fn prototype<'js>(
    ctx: &Ctx<'js>,
    class: Class,
    make: impl FnOnce(&Object<'js>) -> Result<()>,
) -> Result<Object<'js>> {
    let context = ctx.as_raw().as_ptr();
    // SAFETY: the class is of this runtime; the count that comes back is ours.
    let known = unsafe { Value::from_raw(ctx.clone(), qjs::JS_GetClassProto(context, class.id)) };
    if let Some(known) = known.into_object() {
        return Ok(known);
    }
    let made = Object::new(ctx.clone())?;
    make(&made)?;
    // SAFETY: as above; the call takes over the count that is made here.
    unsafe { qjs::JS_SetClassProto(context, class.id, qjs::JS_DupValue(context, made.as_raw())) };
    Ok(made)
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

unsafe extern "C" fn on_mark<T: Marked>(runtime: *mut qjs::JSRuntime, object: qjs::JSValue, mark: qjs::JS_MarkFunc) {
    let mut class = qjs::JS_INVALID_CLASS_ID;
    // SAFETY: the collector calls this with live objects of this class; the pointer is as in `on_finalize`.
    unsafe {
        if let Some(value) = qjs::JS_GetAnyOpaque(object, &mut class).cast::<T>().as_ref() {
            value.mark(runtime, mark);
        }
    }
}
