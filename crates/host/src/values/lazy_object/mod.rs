//! Objects whose properties become JavaScript values only when the script reads them.
//!
//! A response has some twenty properties and a script reads two of them. The fields of a `LazyObject` are own
//! properties in a fixed order: `Object.keys`, spread, `JSON.stringify`, `in`, assignment and `delete` behave as on an
//! ordinary object. A value is made at its first read and kept. Adding or deleting a property first turns all fields
//! into ordinary properties, so that their order stays that of an ordinary object.

mod cell;
mod exotic;

use std::any::TypeId;
use std::rc::Rc;

use rquickjs::{Ctx, Error, Object, Value, qjs};

use crate::quickjs::lazy_shape::{FieldAtoms, LazyShape, new_object};
use crate::runtime;
use crate::user::User;
use cell::LazyCell;

pub use cell::{Lazy, Spare};

/// Data whose fields a script may read as properties.
pub trait LazyFields: 'static {
    /// Property names, in order.
    const FIELDS: &'static [&'static str];

    /// Methods of the prototype that are own properties, too, behind the fields.
    const METHODS: &'static [&'static str] = &[];

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

    /// Takes the block of an object that is gone; it may keep the memory for another one (`Lazy::into_spare`).
    fn retire(block: Rc<Lazy<Self>>)
    where
        Self: Sized,
    {
        drop(block);
    }
}

/// Makes objects from `LazyFields`.
pub struct LazyObject;

impl LazyObject {
    /// A new object with these fields. It may keep a script value, out of the script's sight, for `field_with`.
    pub fn create<'js, T: LazyFields>(
        ctx: &Ctx<'js>,
        data: Rc<Lazy<T>>,
        kept: Option<Value<'js>>,
    ) -> rquickjs::Result<Value<'js>> {
        let user = runtime::peek_user(ctx);
        let class = class_of(ctx, user)?;
        let (atoms, prototype) = shape_of::<T>(ctx, user, class)?;
        let object = new_object(ctx, prototype, class)?;
        let before = data.cell.atoms.replace(Some(atoms));
        assert!(before.is_none(), "data is for one object");
        if let Some(kept) = kept {
            // SAFETY: one count is made for the cell, given back by `on_finalize`.
            data.cell.kept.set(unsafe { qjs::JS_DupValue(ctx.as_raw().as_ptr(), kept.as_raw()) });
        }
        // SAFETY: the object was made just now, with our class; the pointer is taken back by `on_finalize`.
        unsafe {
            qjs::JS_SetOpaque(object, Rc::into_raw(data).cast_mut().cast());
            Ok(Value::from_raw(ctx.clone(), object))
        }
    }

    /// The data behind an object, when it was made from a `T`.
    pub fn data<T: LazyFields>(value: &Value<'_>) -> Option<Rc<Lazy<T>>> {
        // SAFETY: an object of our class holds a count of its block.
        unsafe { Lazy::of(cell_of(value)?) }
    }

    /// The data behind an object when the script has neither read nor changed its field `index`: what the field would
    /// hold can then be taken from the data.
    pub fn unread<T: LazyFields>(value: &Value<'_>, index: usize) -> Option<Rc<Lazy<T>>> {
        let cell = cell_of(value)?;
        let unread = !cell.expanded.get() && !cell.slot(index).is_made();
        if unread { Self::data(value) } else { None }
    }

    /// Whether an object was made from a `T`.
    pub fn is_of<T: LazyFields>(value: &Value<'_>) -> bool {
        cell_of(value).is_some_and(|cell| cell.kind.of == TypeId::of::<T>())
    }
}

/// The inside of a lazy object; none of another value.
fn cell_of<'a>(value: &'a Value<'_>) -> Option<&'a LazyCell> {
    let user = runtime::peek_user(value.ctx());
    // SAFETY: objects of our class carry a `LazyCell` from their making to their end, and `value` keeps this one alive.
    unsafe { qjs::JS_GetOpaque(value.as_raw(), user.state.lazy_class.get()).cast::<LazyCell>().as_ref() }
}

/// Names and prototype of a type's objects; the latter stays alive as long as the user's state does.
fn shape_of<T: LazyFields>(
    ctx: &Ctx<'_>,
    user: &User,
    class: qjs::JSClassID,
) -> rquickjs::Result<(Rc<FieldAtoms>, Option<qjs::JSValue>)> {
    let id = TypeId::of::<T>();
    if let Some(known) = user.state.lazy_shapes.borrow().iter().find(|known| known.of == id) {
        return Ok((known.atoms.clone(), known.prototype));
    }
    let shape = LazyShape::new(ctx, id, FieldAtoms::of(ctx, T::FIELDS, T::METHODS), T::prototype(ctx)?, class)?;
    let found = (shape.atoms.clone(), shape.prototype);
    user.state.lazy_shapes.borrow_mut().push(shape);
    Ok(found)
}

#[inline]
fn class_of(ctx: &Ctx<'_>, user: &User) -> rquickjs::Result<qjs::JSClassID> {
    let known = user.state.lazy_class.get();
    if known == qjs::JS_INVALID_CLASS_ID { register_class(ctx, user) } else { Ok(known) }
}

#[cold]
fn register_class(ctx: &Ctx<'_>, user: &User) -> rquickjs::Result<qjs::JSClassID> {
    let definition = qjs::JSClassDef {
        class_name: c"Object".as_ptr(),
        finalizer: Some(exotic::on_finalize),
        gc_mark: Some(exotic::on_mark),
        call: None,
        exotic: (&raw const exotic::EXOTIC.0).cast_mut(),
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
    user.state.lazy_class.set(class);
    Ok(class)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    struct Answer(Rc<Cell<u32>>);

    impl LazyFields for Answer {
        const FIELDS: &'static [&'static str] = &["status", "body", "list"];
        const METHODS: &'static [&'static str] = &["json"];

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
            let object = LazyObject::create(ctx, Lazy::new(|| Answer(count.clone())), None).unwrap();
            assert!(Rc::ptr_eq(&LazyObject::data::<Answer>(&object).unwrap().0, &count));
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
            ("Object.keys(o).join()", "status,body,list,json"),
            ("let k = ''; for (const n in o) k += n + ' '; k", "status body list json "),
            ("typeof { ...o }.json + Object.hasOwn(o, 'json') + (o.json === p.json)", "functiontruetrue"),
            ("o.json = 5; o.json + o.status + Object.keys(o).join()", "205status,body,list,json"),
            ("delete o.json; typeof o.json + Object.keys(o).join()", "functionstatus,body,list"),
            ("delete p.json; String(o.json)", "undefined"),
            (
                "JSON.stringify(Object.getOwnPropertyDescriptor(o, 'status'))",
                r#"{"value":200,"writable":true,"enumerable":true,"configurable":true}"#,
            ),
            ("o.body = 7; o.body", "7"),
            ("o.body = 7; Object.keys(o).join()", "status,body,list,json"),
            ("o.extra = 1; JSON.stringify(o)", r#"{"status":200,"body":"text","list":[],"extra":1}"#),
            ("delete o.body; JSON.stringify(o)", r#"{"status":200,"list":[]}"#),
            ("delete o.body; o.body = 1; Object.keys(o).join()", "status,list,json,body"),
            ("delete o.nothing; Object.keys(o).join()", "status,body,list,json"),
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
            ("Object.entries(o).length + ' ' + Object.prototype.toString.call(o)", "4 [object Object]"),
        ] {
            assert_eq!(eval(source).0, expected, "{source}");
        }
    }

    #[test]
    fn the_memory_of_an_object_that_is_gone_is_for_another_one() {
        let counts = [Rc::new(Cell::new(0)), Rc::new(Cell::new(0))];
        let first = Lazy::new(|| Answer(counts[0].clone()));
        let place = Rc::as_ptr(&first).addr();
        let other = first.clone();
        assert!(Lazy::into_spare(first).is_none(), "somebody still has it");
        assert_eq!(Rc::strong_count(&counts[0]), 2, "and its data");
        let spare = Lazy::into_spare(other);
        assert_eq!(Rc::strong_count(&counts[0]), 1, "the data is gone");
        let second = Lazy::new_in(spare, || Answer(counts[1].clone()));
        assert_eq!(Rc::as_ptr(&second).addr(), place);
        assert!(Rc::ptr_eq(&second.0, &counts[1]));
    }
}
