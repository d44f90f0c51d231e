//! Objects whose properties become JavaScript values only when the script reads them.
//!
//! A response has some twenty properties and a script reads two of them. The fields of a `LazyObject` are own
//! properties in a fixed order: `Object.keys`, spread, `JSON.stringify`, `in`, assignment and `delete` behave as on an
//! ordinary object. A value is made at its first read and kept. Adding or deleting a property first turns all fields
//! into ordinary properties, so that their order stays that of an ordinary object.

use std::any::{Any, TypeId};
use std::cell::{Cell, RefCell, RefMut};
use std::ptr::NonNull;
use std::rc::Rc;

use rquickjs::{Ctx, Error, Exception, Object, Value, qjs};

use crate::user::User;

/// Data whose fields a script may read as properties.
pub trait LazyFields: 'static {
    /// Property names, in order.
    const FIELDS: &'static [&'static str];

    /// The object that holds the methods, made once for each user; `None` means `Object.prototype`.
    fn prototype<'js>(_ctx: &Ctx<'js>) -> rquickjs::Result<Option<Object<'js>>> {
        Ok(None)
    }

    /// The value of `FIELDS[index]`, always the same. Called at most once for each unless it fails or gives a whole
    /// number.
    fn field<'js>(&self, ctx: &Ctx<'js>, index: usize) -> rquickjs::Result<Value<'js>>;

    /// The same for an object that keeps a script value.
    fn field_with<'js>(&self, ctx: &Ctx<'js>, index: usize, _kept: Value<'js>) -> rquickjs::Result<Value<'js>> {
        self.field(ctx, index)
    }
}

/// Makes objects from `LazyFields`.
pub struct LazyObject;

impl LazyObject {
    /// A new object with these fields.
    pub fn create<'js, T: LazyFields>(ctx: &Ctx<'js>, fields: Rc<T>) -> rquickjs::Result<Object<'js>> {
        Self::create_keeping(ctx, fields, None)
    }

    /// A new object with these fields that keeps a script value, out of the script's sight, for `field_with`.
    pub fn create_keeping<'js, T: LazyFields>(
        ctx: &Ctx<'js>,
        fields: Rc<T>,
        kept: Option<Value<'js>>,
    ) -> rquickjs::Result<Object<'js>> {
        let user = User::of(ctx);
        let class = register_class(ctx, &user)?;
        let (atoms, prototype) = LazyShape::of::<T>(ctx, &user, class)?;
        let object = new_object(ctx, prototype, class)?;
        // SAFETY: one count is made for the cell, given back by `on_finalize`.
        let kept =
            kept.map_or(qjs::JS_UNDEFINED, |kept| unsafe { qjs::JS_DupValue(ctx.as_raw().as_ptr(), kept.as_raw()) });
        let cell = LazyCell { atoms, fields, kept, slots: RefCell::default(), expanded: Cell::new(false) };
        let cell = Box::new(cell);
        // SAFETY: the object was made just now, with our class; the pointer is taken back by `on_finalize`.
        unsafe {
            qjs::JS_SetOpaque(object, Box::into_raw(cell).cast());
            Value::from_raw(ctx.clone(), object).into_object().ok_or(Error::Unknown)
        }
    }

    /// The data behind an object, when it was made from a `T`.
    pub fn data<T: LazyFields>(value: &Value<'_>) -> Option<Rc<T>> {
        let user = User::of(value.ctx());
        // SAFETY: objects of our class carry a `LazyCell` from their making to their end, and `value` keeps this one
        // alive.
        let cell = unsafe {
            let cell = qjs::JS_GetOpaque(value.as_raw(), user.runtime.lazy_class.get()).cast::<LazyCell>();
            cell.as_ref()?
        };
        cell.fields.clone().as_any().downcast::<T>().ok()
    }

    /// The data behind an object when the script has neither read nor changed its field `index`: what the field would
    /// hold can then be taken from the data.
    pub fn unread<T: LazyFields>(value: &Value<'_>, index: usize) -> Option<Rc<T>> {
        let data = Self::data::<T>(value)?;
        // SAFETY: `data` has made sure that it is an object of our class.
        let cell = unsafe { LazyCell::of(value.as_raw())? };
        let unread = !cell.expanded.get() && !cell.slot(index).is_made();
        unread.then_some(data)
    }
}

/// `LazyFields` as a trait object.
trait Fields {
    fn field<'js>(&self, ctx: &Ctx<'js>, index: usize) -> rquickjs::Result<Value<'js>>;
    fn field_with<'js>(&self, ctx: &Ctx<'js>, index: usize, kept: Value<'js>) -> rquickjs::Result<Value<'js>>;
    fn as_any(self: Rc<Self>) -> Rc<dyn Any>;
}

impl<T: LazyFields> Fields for T {
    fn field<'js>(&self, ctx: &Ctx<'js>, index: usize) -> rquickjs::Result<Value<'js>> {
        LazyFields::field(self, ctx, index)
    }

    fn field_with<'js>(&self, ctx: &Ctx<'js>, index: usize, kept: Value<'js>) -> rquickjs::Result<Value<'js>> {
        LazyFields::field_with(self, ctx, index, kept)
    }

    fn as_any(self: Rc<Self>) -> Rc<dyn Any> {
        self
    }
}

/// An object of our class that holds nothing yet.
fn new_object(ctx: &Ctx<'_>, prototype: Option<qjs::JSValue>, class: qjs::JSClassID) -> rquickjs::Result<qjs::JSValue> {
    // SAFETY: the class is registered in this runtime, and the shape keeps its prototype alive.
    unsafe {
        let context = ctx.as_raw().as_ptr();
        let object = match prototype {
            Some(prototype) => qjs::JS_NewObjectProtoClass(context, prototype, class),
            None => qjs::JS_NewObjectClass(context, class),
        };
        if qjs::JS_IsException(object) { Err(Error::Exception) } else { Ok(object) }
    }
}

/// What the objects of one type have in common in one runtime.
pub(crate) struct LazyShape {
    of: TypeId,
    atoms: Rc<FieldAtoms>,
    /// Owned.
    prototype: Option<qjs::JSValue>,
    /// Owned: an object without fields. As long as it lives, QuickJS need not make the shape of the next one again.
    keeper: qjs::JSValue,
}

impl LazyShape {
    /// Atoms and prototype; the latter stays alive as long as the user's state does.
    fn of<T: LazyFields>(
        ctx: &Ctx<'_>,
        user: &User,
        class: qjs::JSClassID,
    ) -> rquickjs::Result<(Rc<FieldAtoms>, Option<qjs::JSValue>)> {
        let id = TypeId::of::<T>();
        if let Some(known) = user.runtime.lazy_shapes.borrow().iter().find(|known| known.of == id) {
            return Ok((known.atoms.clone(), known.prototype));
        }
        let made = T::prototype(ctx)?;
        // SAFETY: the count made here is given back by `drop`.
        let prototype = made.map(|object| unsafe { qjs::JS_DupValue(ctx.as_raw().as_ptr(), object.as_raw()) });
        let atoms = Rc::new(FieldAtoms::of::<T>(ctx));
        let mut shape = LazyShape { of: id, atoms: atoms.clone(), prototype, keeper: qjs::JS_UNDEFINED };
        shape.keeper = new_object(ctx, prototype, class)?;
        user.runtime.lazy_shapes.borrow_mut().push(shape);
        Ok((atoms, prototype))
    }
}

impl Drop for LazyShape {
    fn drop(&mut self) {
        for owned in [Some(self.keeper), self.prototype].into_iter().flatten() {
            // SAFETY: shapes belong to the user's state, which is cleared before the runtime goes.
            unsafe { qjs::JS_FreeValueRT(self.atoms.runtime.as_ptr(), owned) };
        }
    }
}

/// Field names of one type as atoms of one runtime: comparing numbers finds a field.
pub(crate) struct FieldAtoms {
    atoms: Box<[qjs::JSAtom]>,
    runtime: NonNull<qjs::JSRuntime>,
}

impl FieldAtoms {
    fn of<T: LazyFields>(ctx: &Ctx<'_>) -> FieldAtoms {
        // SAFETY: the context is live; each atom is given back by `drop`.
        unsafe {
            let context = ctx.as_raw().as_ptr();
            let atom = |name: &&str| qjs::JS_NewAtomLen(context, name.as_ptr().cast(), name.len() as _);
            let runtime = NonNull::new(qjs::JS_GetRuntime(context)).expect("a live context has a runtime");
            FieldAtoms { atoms: T::FIELDS.iter().map(atom).collect(), runtime }
        }
    }

    fn index(&self, atom: qjs::JSAtom) -> Option<usize> {
        self.atoms.iter().position(|&known| known == atom)
    }
}

impl Drop for FieldAtoms {
    fn drop(&mut self) {
        for &atom in &self.atoms {
            // SAFETY: the last owners are the user's state, cleared before the runtime goes, and objects that the
            // runtime itself finalizes while it still has its atoms.
            unsafe { qjs::JS_FreeAtomRT(self.runtime.as_ptr(), atom) };
        }
    }
}

/// A field's value and what may be done with the property.
#[derive(Clone, Copy)]
struct Slot {
    /// `JS_UNINITIALIZED` until it is made.
    value: qjs::JSValue,
    flags: u32,
}

impl Slot {
    const EMPTY: Slot = Slot { value: qjs::JS_UNINITIALIZED, flags: qjs::JS_PROP_C_W_E };

    fn is_made(&self) -> bool {
        // SAFETY: only the tag is looked at.
        unsafe { qjs::JS_VALUE_GET_TAG(self.value) != qjs::JS_TAG_UNINITIALIZED }
    }
}

struct LazyCell {
    atoms: Rc<FieldAtoms>,
    fields: Rc<dyn Fields>,
    /// `JS_UNDEFINED` when there is none; owned.
    kept: qjs::JSValue,
    /// Empty until it keeps something: scripts never look at most responses.
    slots: RefCell<Box<[Slot]>>,
    /// All fields have become ordinary properties; the slots are empty.
    expanded: Cell<bool>,
}

impl LazyCell {
    /// The cell of an object of our class.
    ///
    /// # Safety
    /// `object` must be one, and alive as long as the result is used.
    unsafe fn of<'a>(object: qjs::JSValue) -> Option<&'a LazyCell> {
        let mut class = qjs::JS_INVALID_CLASS_ID;
        // SAFETY: by the contract; QuickJS calls the exotic methods with objects of our class alone.
        unsafe { qjs::JS_GetAnyOpaque(object, &mut class).cast::<LazyCell>().as_ref() }
    }

    fn kept<'js>(&self, ctx: &Ctx<'js>) -> Option<Value<'js>> {
        // SAFETY: the cell owns the value; the result gets a count of its own.
        unsafe {
            let is_there = qjs::JS_VALUE_GET_TAG(self.kept) != qjs::JS_TAG_UNDEFINED;
            is_there.then(|| Value::from_raw(ctx.clone(), qjs::JS_DupValue(ctx.as_raw().as_ptr(), self.kept)))
        }
    }

    fn slot(&self, index: usize) -> Slot {
        self.slots.borrow().get(index).copied().unwrap_or(Slot::EMPTY)
    }

    /// All slots, to be changed.
    fn slots_mut(&self) -> RefMut<'_, Box<[Slot]>> {
        let mut slots = self.slots.borrow_mut();
        if slots.is_empty() {
            *slots = vec![Slot::EMPTY; self.atoms.atoms.len()].into_boxed_slice();
        }
        slots
    }

    /// The value of a field, owned by the slot where it has an owner.
    fn value(&self, ctx: &Ctx<'_>, index: usize) -> rquickjs::Result<qjs::JSValue> {
        let slot = self.slot(index);
        if slot.is_made() {
            return Ok(slot.value);
        }
        let made = match self.kept(ctx) {
            None => self.fields.field(ctx, index)?,
            Some(kept) => self.fields.field_with(ctx, index, kept)?,
        };
        if made.is_int() && self.slots.borrow().is_empty() {
            // Nobody owns a number, and making it again costs less than the slots: `status` is often all that is read.
            return Ok(made.as_raw());
        }
        // SAFETY: one count is made for the slot; `made` gives back its own.
        let value = unsafe { qjs::JS_DupValue(ctx.as_raw().as_ptr(), made.as_raw()) };
        let mut slots = self.slots_mut();
        if slots[index].is_made() {
            // Making it ran code that read it, too: the first one made stays.
            // SAFETY: gives back the count made above.
            unsafe { qjs::JS_FreeValue(ctx.as_raw().as_ptr(), value) };
        } else {
            slots[index].value = value;
        }
        Ok(slots[index].value)
    }

    /// Turns all fields into ordinary properties, in order.
    fn expand(&self, ctx: &Ctx<'_>, object: qjs::JSValue) -> rquickjs::Result<()> {
        // From here on numbers are kept, too.
        drop(self.slots_mut());
        for index in 0..self.atoms.atoms.len() {
            self.value(ctx, index)?;
        }
        self.expanded.set(true);
        let slots: Vec<Slot> = self.slots_mut().iter_mut().map(|slot| std::mem::replace(slot, Slot::EMPTY)).collect();
        for (slot, &atom) in slots.iter().zip(&self.atoms.atoms) {
            let all_given = qjs::JS_PROP_HAS_VALUE
                | qjs::JS_PROP_HAS_CONFIGURABLE
                | qjs::JS_PROP_HAS_WRITABLE
                | qjs::JS_PROP_HAS_ENUMERABLE;
            let flags = slot.flags | all_given | qjs::JS_PROP_NO_EXOTIC | qjs::JS_PROP_THROW;
            // SAFETY: object, atom and value are live; the slot's count is given back after the property made its own.
            let result = unsafe {
                let context = ctx.as_raw().as_ptr();
                let none = qjs::JS_UNDEFINED;
                let result = qjs::JS_DefineProperty(context, object, atom, slot.value, none, none, flags as _);
                qjs::JS_FreeValue(context, slot.value);
                result
            };
            if result < 0 {
                return Err(Error::Exception);
            }
        }
        Ok(())
    }

    /// Applies a property descriptor to a field that is still a slot.
    fn define(&self, ctx: &Ctx<'_>, index: usize, value: qjs::JSValue, flags: u32) -> Defined {
        let current = self.slot(index).flags;
        let given = (flags >> qjs::JS_PROP_HAS_SHIFT) & qjs::JS_PROP_C_W_E;
        let changes = (current ^ flags) & given;
        let has_accessor = flags & (qjs::JS_PROP_HAS_GET | qjs::JS_PROP_HAS_SET) != 0;
        let has_value = flags & qjs::JS_PROP_HAS_VALUE != 0;
        let is_writable = current & qjs::JS_PROP_WRITABLE != 0;
        if current & qjs::JS_PROP_CONFIGURABLE == 0 {
            // Of a property that is not configurable only the value may change, or `writable` to false, while it is
            // writable.
            let other_changes = changes & !qjs::JS_PROP_WRITABLE != 0;
            if has_accessor || other_changes || !is_writable && (has_value || changes != 0) {
                return Defined::Refused;
            }
        }
        if has_accessor {
            return Defined::NeedsProperty;
        }
        if has_value {
            // SAFETY: one count for the slot; the old value's is given back after the borrow has ended, because freeing
            // it may run finalizers.
            unsafe {
                let context = ctx.as_raw().as_ptr();
                let value = qjs::JS_DupValue(context, value);
                let old = std::mem::replace(&mut self.slots_mut()[index].value, value);
                qjs::JS_FreeValue(context, old);
            }
        }
        self.slots_mut()[index].flags = (current & !given) | (flags & given);
        Defined::Done
    }
}

/// The outcome for a descriptor.
enum Defined {
    Done,
    /// Only an ordinary property can hold it.
    NeedsProperty,
    /// The slot's flags forbid it.
    Refused,
}

fn register_class(ctx: &Ctx<'_>, user: &User) -> rquickjs::Result<qjs::JSClassID> {
    let known = user.runtime.lazy_class.get();
    if known != qjs::JS_INVALID_CLASS_ID {
        return Ok(known);
    }
    let definition = qjs::JSClassDef {
        class_name: c"Object".as_ptr(),
        finalizer: Some(on_finalize),
        gc_mark: Some(on_mark),
        call: None,
        exotic: (&raw const EXOTIC.0).cast_mut(),
    };
    let mut class = qjs::JS_INVALID_CLASS_ID;
    // SAFETY: the runtime is live; QuickJS copies the definition and only reads the static table of methods.
    unsafe {
        let context = ctx.as_raw().as_ptr();
        let runtime = qjs::JS_GetRuntime(context);
        qjs::JS_NewClassID(runtime, &mut class);
        if qjs::JS_NewClass(runtime, class, &definition) < 0 {
            return Err(Error::Exception);
        }
        let prototype = Object::new(ctx.clone())?.get_prototype().ok_or(Error::Unknown)?;
        qjs::JS_SetClassProto(context, class, qjs::JS_DupValue(context, prototype.as_raw()));
    }
    user.runtime.lazy_class.set(class);
    Ok(class)
}

struct Methods(qjs::JSClassExoticMethods);
// SAFETY: a table of function pointers that nobody writes.
unsafe impl Sync for Methods {}

static EXOTIC: Methods = Methods(qjs::JSClassExoticMethods {
    get_own_property: Some(on_get_own),
    get_own_property_names: Some(on_names),
    delete_property: Some(on_delete),
    define_own_property: Some(on_define),
    has_property: None,
    get_property: None,
    set_property: None,
});

unsafe extern "C" fn on_finalize(runtime: *mut qjs::JSRuntime, object: qjs::JSValue) {
    let mut class = qjs::JS_INVALID_CLASS_ID;
    // SAFETY: QuickJS finalizes each object once; the pointer comes from `Box::into_raw` in `create`.
    unsafe {
        let cell = qjs::JS_GetAnyOpaque(object, &mut class).cast::<LazyCell>();
        if cell.is_null() {
            return;
        }
        let cell = Box::from_raw(cell);
        qjs::JS_FreeValueRT(runtime, cell.kept);
        for slot in cell.slots.borrow().iter() {
            qjs::JS_FreeValueRT(runtime, slot.value);
        }
    }
}

unsafe extern "C" fn on_mark(runtime: *mut qjs::JSRuntime, object: qjs::JSValue, mark: qjs::JS_MarkFunc) {
    // SAFETY: the collector calls this with live objects of our class, and no slots are borrowed while it runs: making
    // a field happens outside of any borrow.
    unsafe {
        let Some(cell) = LazyCell::of(object) else { return };
        qjs::JS_MarkValue(runtime, cell.kept, mark);
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
        let Some(index) = cell.atoms.index(property) else { return 0 };
        let Some(descriptor) = descriptor.as_mut() else { return 1 };
        let Some(raw) = NonNull::new(context) else { return -1 };
        let ctx = Ctx::from_raw(raw);
        match cell.value(&ctx, index) {
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
        let atoms = &cell.atoms.atoms;
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
        let slot = cell.atoms.index(property).filter(|_| !cell.expanded.get());
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
            let defined = cell.atoms.index(property).map(|index| cell.define(&ctx, index, value, flags as u32));
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

#[cfg(test)]
mod tests {
    use super::*;

    struct Answer(Rc<Cell<u32>>);

    impl LazyFields for Answer {
        const FIELDS: &'static [&'static str] = &["status", "body", "list"];

        fn prototype<'js>(ctx: &Ctx<'js>) -> rquickjs::Result<Option<Object<'js>>> {
            ctx.eval("globalThis.p = { json() { return this.status } }; p").map(Some)
        }

        fn field<'js>(&self, ctx: &Ctx<'js>, index: usize) -> rquickjs::Result<Value<'js>> {
            self.0.set(self.0.get() + 1);
            match index {
                0 => Ok(Value::new_int(ctx.clone(), 200)),
                1 => Ok(rquickjs::String::from_str(ctx.clone(), "text")?.into_value()),
                _ => Ok(rquickjs::Array::new(ctx.clone())?.into_value()),
            }
        }
    }

    /// What `source` makes of `o`, a fresh object whose prototype is `p`, as text; and how many fields were made.
    fn eval(source: &str) -> (String, u32) {
        crate::test_user::with_user(|ctx| {
            let count = Rc::new(Cell::new(0));
            let object = LazyObject::create(ctx, Rc::new(Answer(count.clone()))).unwrap();
            assert!(Rc::ptr_eq(&LazyObject::data::<Answer>(object.as_value()).unwrap().0, &count));
            ctx.globals().set("o", object).unwrap();
            let text: rquickjs::Result<rquickjs::Coerced<String>> = ctx.eval(source);
            let text = text.map(|text| text.0).unwrap_or_else(|_| {
                let thrown = ctx.catch();
                thrown.get::<rquickjs::Coerced<String>>().unwrap().0
            });
            (text, count.get())
        })
    }

    #[test]
    fn values_are_made_when_read_and_kept() {
        assert_eq!(eval("1"), ("1".into(), 0));
        assert_eq!(eval("o.status + o.status"), ("400".into(), 2));
        assert_eq!(eval("o.body + o.body"), ("texttext".into(), 1));
        assert_eq!(eval("o.body; o.status + o.status"), ("400".into(), 2));
        assert_eq!(eval("o.list === o.list"), ("true".into(), 1));
        assert_eq!(eval("o.json() + ' ' + o.nothing"), ("200 undefined".into(), 1));
        assert_eq!(eval("'body' in o && !('x' in o) && Object.hasOwn(o, 'list')"), ("true".into(), 0));
    }

    #[test]
    fn fields_are_ordinary_properties() {
        let all = r#"{"status":200,"body":"text","list":[]}"#;
        for (source, expected) in [
            ("JSON.stringify(o)", all),
            ("o.list; JSON.stringify(o)", all),
            ("JSON.stringify({ ...o })", all),
            ("JSON.stringify(Object.assign({}, o))", all),
            ("Object.keys(o).join()", "status,body,list"),
            ("let k = ''; for (const n in o) k += n + ' '; k", "status body list json "),
            (
                "JSON.stringify(Object.getOwnPropertyDescriptor(o, 'status'))",
                r#"{"value":200,"writable":true,"enumerable":true,"configurable":true}"#,
            ),
            ("o.body = 7; o.body", "7"),
            ("o.body = 7; Object.keys(o).join()", "status,body,list"),
            ("o.extra = 1; JSON.stringify(o)", r#"{"status":200,"body":"text","list":[],"extra":1}"#),
            ("delete o.body; JSON.stringify(o)", r#"{"status":200,"list":[]}"#),
            ("delete o.body; o.body = 1; Object.keys(o).join()", "status,list,body"),
            ("delete o.nothing; Object.keys(o).join()", "status,body,list"),
            (
                "Object.defineProperty(o, 'status', { get() { return 1 } }); o.status + JSON.stringify(o)",
                r#"1{"status":1,"body":"text","list":[]}"#,
            ),
            (
                "Object.defineProperty(o, 'status', { enumerable: false }); JSON.stringify(o)",
                r#"{"body":"text","list":[]}"#,
            ),
            ("Object.freeze(o); o.status = 5", "TypeError: 'status' is read-only"),
            ("Object.freeze(o); Object.isFrozen(o)", "true"),
            ("Object.freeze(o); Reflect.deleteProperty(o, 'status') + ' ' + o.status", "false 200"),
            ("Object.freeze(o); o.extra = 5", "TypeError: object is not extensible"),
            ("Object.seal(o); o.status = 5; o.status", "5"),
            ("Object.setPrototypeOf(o, null); String(o.json)", "undefined"),
            (
                "const c = Object.create(o); c.status = 1; c.status + ' ' + o.status + ' ' + Object.keys(c)",
                "1 200 status",
            ),
            ("o[Symbol.toStringTag] = 'R'; String(o)", "[object R]"),
            ("o.self = o; o.list.push(o); typeof o.self", "object"),
            ("Object.entries(o).length + ' ' + Object.prototype.toString.call(o)", "3 [object Object]"),
        ] {
            assert_eq!(eval(source).0, expected, "{source}");
        }
    }
}
