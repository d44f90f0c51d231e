//! How the engine asks a lazy object for its properties.

use std::ptr::NonNull;

use rquickjs::{Ctx, Error, Exception, qjs};

use super::cell::{Defined, LazyCell};

/// The table of functions.
pub(super) struct Methods(pub qjs::JSClassExoticMethods);
// SAFETY: a table of function pointers that nobody writes.
unsafe impl Sync for Methods {}

/// Those of lazy objects.
pub(super) static EXOTIC: Methods = Methods(qjs::JSClassExoticMethods {
    get_own_property: Some(on_get_own),
    get_own_property_names: Some(on_names),
    delete_property: Some(on_delete),
    define_own_property: Some(on_define),
    has_property: None,
    get_property: None,
    set_property: None,
});

/// Frees what the object holds.
pub(super) unsafe extern "C" fn on_finalize(runtime: *mut qjs::JSRuntime, object: qjs::JSValue) {
    let mut class = qjs::JS_INVALID_CLASS_ID;
    // SAFETY: QuickJS finalizes each object once; the pointer comes from `Rc::into_raw` in `create`. Who still has the
    // data keeps nothing of the object's.
    unsafe {
        let cell = qjs::JS_GetAnyOpaque(object, &mut class).cast::<LazyCell>().cast_const();
        let Some(of) = cell.as_ref() else { return };
        let kept = of.kept.replace(qjs::JS_UNDEFINED);
        if !of.slots.borrow().is_empty() {
            let slots = of.slots.take();
            slots.iter().for_each(|slot| qjs::JS_FreeValueRT(runtime, slot.value));
        }
        qjs::JS_FreeValueRT(runtime, kept);
        drop(of.atoms.take());
        (of.kind.release)(cell);
    }
}

/// Tells the collector what the object holds.
pub(super) unsafe extern "C" fn on_mark(runtime: *mut qjs::JSRuntime, object: qjs::JSValue, mark: qjs::JS_MarkFunc) {
    // SAFETY: the collector calls this with live objects of our class, and no slots are borrowed while it runs: making
    // a field happens outside of any borrow.
    unsafe {
        let Some(cell) = LazyCell::of(object) else { return };
        qjs::JS_MarkValue(runtime, cell.kept.get(), mark);
        if let Ok(slots) = cell.slots.try_borrow() {
            for slot in slots.iter() {
                qjs::JS_MarkValue(runtime, slot.value, mark);
            }
        }
    }
}

unsafe extern "C" fn on_get_own(
    context: *mut qjs::JSContext,
    descriptor: *mut qjs::JSPropertyDescriptor,
    object: qjs::JSValue,
    property: qjs::JSAtom,
) -> qjs::c_int {
    // SAFETY: QuickJS calls this with a live object of our class; `descriptor` is null or writable.
    unsafe {
        let Some(cell) = LazyCell::of(object) else { return 0 };
        if cell.expanded.get() {
            return 0;
        }
        let Some(index) = cell.atoms().index(property) else { return 0 };
        let Some(descriptor) = descriptor.as_mut() else { return 1 };
        let Some(raw) = NonNull::new(context) else { return -1 };
        let ctx = Ctx::from_raw(raw);
        match cell.value(&ctx, object, index) {
            Ok(value) => {
                descriptor.flags = cell.slot(index).flags as _;
                descriptor.value = qjs::JS_DupValue(context, value);
                descriptor.getter = qjs::JS_UNDEFINED;
                descriptor.setter = qjs::JS_UNDEFINED;
                1
            }
            Err(error) => fail(&ctx, error),
        }
    }
}

unsafe extern "C" fn on_names(
    context: *mut qjs::JSContext,
    table: *mut *mut qjs::JSPropertyEnum,
    length: *mut u32,
    object: qjs::JSValue,
) -> qjs::c_int {
    // SAFETY: QuickJS calls this with a live object of our class and two places to write to; it frees the table with
    // `js_free` and gives back each atom.
    unsafe {
        *table = std::ptr::null_mut();
        *length = 0;
        let Some(cell) = LazyCell::of(object) else { return 0 };
        if cell.expanded.get() {
            return 0;
        }
        let atoms = cell.atoms();
        let atoms = &atoms.atoms;
        let bytes = std::mem::size_of::<qjs::JSPropertyEnum>() * atoms.len();
        let entries = qjs::js_malloc(context, bytes.max(1) as _).cast::<qjs::JSPropertyEnum>();
        if entries.is_null() {
            return -1;
        }
        for (index, &atom) in atoms.iter().enumerate() {
            let entry = qjs::JSPropertyEnum { is_enumerable: true, atom: qjs::JS_DupAtom(context, atom) };
            entries.add(index).write(entry);
        }
        *table = entries;
        *length = atoms.len() as u32;
        0
    }
}

unsafe extern "C" fn on_delete(
    context: *mut qjs::JSContext,
    object: qjs::JSValue,
    property: qjs::JSAtom,
) -> qjs::c_int {
    // SAFETY: QuickJS calls this with a live object of our class.
    unsafe {
        let Some(cell) = LazyCell::of(object) else { return 1 };
        let slot = cell.atoms().index(property).filter(|_| !cell.expanded.get());
        let Some(index) = slot else { return 1 };
        if cell.slot(index).flags & qjs::JS_PROP_CONFIGURABLE == 0 {
            return 0;
        }
        let Some(raw) = NonNull::new(context) else { return -1 };
        let ctx = Ctx::from_raw(raw);
        match cell.expand(&ctx, object) {
            Ok(()) => qjs::JS_DeleteProperty(context, object, property, 0),
            Err(error) => fail(&ctx, error),
        }
    }
}

unsafe extern "C" fn on_define(
    context: *mut qjs::JSContext,
    object: qjs::JSValue,
    property: qjs::JSAtom,
    value: qjs::JSValue,
    getter: qjs::JSValue,
    setter: qjs::JSValue,
    flags: qjs::c_int,
) -> qjs::c_int {
    // SAFETY: QuickJS calls this with a live object of our class and live values.
    unsafe {
        let Some(cell) = LazyCell::of(object) else { return -1 };
        let Some(raw) = NonNull::new(context) else { return -1 };
        let ctx = Ctx::from_raw(raw);
        if !cell.expanded.get() {
            let defined = cell.atoms().index(property).map(|index| cell.define(&ctx, index, value, flags as u32));
            match defined {
                Some(Defined::Done) => return 1,
                Some(Defined::Refused) if flags as u32 & qjs::JS_PROP_THROW == 0 => return 0,
                Some(Defined::Refused) => {
                    Exception::throw_type(&ctx, "property is not configurable");
                    return -1;
                }
                Some(Defined::NeedsProperty) | None => {}
            }
            if let Err(error) = cell.expand(&ctx, object) {
                return fail(&ctx, error);
            }
        }
        let flags = flags | qjs::JS_PROP_NO_EXOTIC as qjs::c_int;
        qjs::JS_DefineProperty(context, object, property, value, getter, setter, flags)
    }
}

/// Leaves an exception behind and says so.
fn fail(ctx: &Ctx<'_>, error: Error) -> qjs::c_int {
    if !error.is_exception() {
        Exception::throw_message(ctx, &error.to_string());
    }
    -1
}
