//! Objects of one shape that native code makes and reads often: the names of their fields are looked up once a user,
//! and an object is made in one step (`quickjs/object_like.patch`).
//!
//! A record is an ordinary object with ordinary fields, which scripts may change. Its prototype, which nothing else
//! has, tells it from other objects.

use std::cell::OnceCell;
use std::ffi::CStr;

use rquickjs::{Ctx, Error, Object, Result, Value, qjs};

use crate::values::object;

/// The shape of `N` fields. Made at first use, of the runtime that it is used with first, and of no other.
pub struct RecordShape<const N: usize> {
    made: OnceCell<Made<N>>,
}

struct Made<const N: usize> {
    names: [qjs::JSAtom; N],
    template: Template<N>,
}

impl<const N: usize> Default for RecordShape<N> {
    fn default() -> Self {
        RecordShape { made: OnceCell::new() }
    }
}

impl<const N: usize> RecordShape<N> {
    /// An object with these fields, in this order. The names are those of the first call.
    pub fn object<'js>(&self, ctx: &Ctx<'js>, fields: [(&CStr, Value<'js>); N]) -> Result<Object<'js>> {
        let made = match self.made.get() {
            Some(made) => made,
            None => self.make(ctx, fields.each_ref().map(|(name, _)| *name))?,
        };
        made.template.object(ctx, fields.each_ref().map(|(_, value)| value))
    }

    /// The fields of a record, as they are now; `None` when the value is no such record.
    pub fn fields<'js>(&self, value: &Value<'js>) -> Result<Option<[Value<'js>; N]>> {
        let Some(made) = self.made.get().filter(|_| self.is(value)) else { return Ok(None) };
        let ctx = value.ctx();
        let mut fields = [const { None }; N];
        for (name, field) in made.names.iter().zip(&mut fields) {
            // SAFETY: context, object and name are live; the result has a count of its own. May run a getter.
            let raw = unsafe { qjs::JS_GetProperty(ctx.as_raw().as_ptr(), value.as_raw(), *name) };
            // SAFETY: looks at the tag; then takes over the count.
            *field = Some(unsafe {
                if qjs::JS_IsException(raw) {
                    return Err(Error::Exception);
                }
                Value::from_raw(ctx.clone(), raw)
            });
        }
        Ok(Some(fields.map(|field| field.expect("every one was read"))))
    }

    /// Whether the value is such a record.
    pub fn is(&self, value: &Value<'_>) -> bool {
        let (Some(made), Some(object)) = (self.made.get(), object::of(value)) else { return false };
        if !made.template.is_of(value.ctx()) {
            return false;
        }
        let context = value.ctx().as_raw().as_ptr();
        // SAFETY: context and object are live; addresses are compared, and the count that was made is given back.
        unsafe {
            if qjs::JS_IsProxy(object.as_raw()) {
                // Asking one for its prototype would run code of the script.
                return false;
            }
            let [prototype, own] = [object.as_raw(), made.template.first].map(|of| qjs::JS_GetPrototype(context, of));
            let same = qjs::JS_IsObject(prototype) && qjs::JS_VALUE_GET_PTR(prototype) == qjs::JS_VALUE_GET_PTR(own);
            [prototype, own].iter().for_each(|value| qjs::JS_FreeValue(context, *value));
            same
        }
    }

    fn make(&self, ctx: &Ctx<'_>, names: [&CStr; N]) -> Result<&Made<N>> {
        let template = Template::new(ctx, &Object::new(ctx.clone())?, names)?;
        let context = ctx.as_raw().as_ptr();
        // SAFETY: a live context and names that end with a zero byte; they are given back with `Made`.
        let names = names.map(|name| unsafe { qjs::JS_NewAtomLen(context, name.as_ptr(), name.count_bytes() as _) });
        Ok(self.made.get_or_init(|| Made { names, template }))
    }
}

impl<const N: usize> Drop for Made<N> {
    fn drop(&mut self) {
        // SAFETY: owned here, and a user's state goes before its runtime.
        self.names.iter().for_each(|name| unsafe { qjs::JS_FreeAtomRT(self.template.runtime, *name) });
    }
}

/// The shape of objects as literals make them, made at first use of the runtime that it is used with first.
pub struct LiteralShape<const N: usize> {
    template: OnceCell<Template<N>>,
}

impl<const N: usize> Default for LiteralShape<N> {
    fn default() -> Self {
        LiteralShape { template: OnceCell::new() }
    }
}

impl<const N: usize> LiteralShape<N> {
    /// An object with these fields, in this order. The names are those of the first call.
    pub fn object<'js>(&self, ctx: &Ctx<'js>, names: [&CStr; N], values: [Value<'js>; N]) -> Result<Object<'js>> {
        let template = match self.template.get() {
            Some(template) => template,
            None => {
                let template = Template::literal(ctx, names)?;
                self.template.get_or_init(|| template)
            }
        };
        template.object(ctx, values.each_ref())
    }
}

/// An object that is never handed out: others are made like it in one step. It belongs to one runtime.
pub struct Template<const N: usize> {
    runtime: *mut qjs::JSRuntime,
    first: qjs::JSValue,
}

impl<const N: usize> Template<N> {
    /// Objects as literals with these names are.
    pub fn literal(ctx: &Ctx<'_>, names: [&CStr; N]) -> Result<Self> {
        let literal = Object::new(ctx.clone())?;
        let prototype = literal.get_prototype().expect("literals have one");
        Template::new(ctx, &prototype, names)
    }

    fn new<'js>(ctx: &Ctx<'js>, prototype: &Object<'js>, names: [&CStr; N]) -> Result<Self> {
        let context = ctx.as_raw().as_ptr();
        // SAFETY: context and prototype are live; the count goes to `first`, and another one to what fills it.
        let (first, object) = unsafe {
            let first = qjs::JS_NewObjectProto(context, prototype.as_raw());
            if qjs::JS_IsException(first) {
                return Err(Error::Exception);
            }
            let runtime = qjs::JS_GetRuntime(context);
            (Template { runtime, first }, Value::from_raw(ctx.clone(), qjs::JS_DupValue(context, first)))
        };
        let object = object.into_object().expect("it was made as one");
        for name in names {
            object::define(&object, name, Value::new_undefined(ctx.clone()))?;
        }
        Ok(first)
    }

    /// Whether it belongs to the runtime of this context.
    fn is_of(&self, ctx: &Ctx<'_>) -> bool {
        // SAFETY: a live context; addresses are compared.
        unsafe { qjs::JS_GetRuntime(ctx.as_raw().as_ptr()) == self.runtime }
    }

    /// An object with these values, in the order of the names. Panics in another runtime than the template's, whose
    /// shapes and prototypes mean nothing there.
    pub fn object<'js>(&self, ctx: &Ctx<'js>, values: [&Value<'js>; N]) -> Result<Object<'js>> {
        assert!(self.is_of(ctx), "a template is used in the runtime that it was made in");
        let mut values = values.map(Value::as_raw);
        // SAFETY: context and values are live, and `first` is of the same runtime and as it was made: ordinary,
        // with `N` values.
        let raw = unsafe { JS_NewObjectLike(ctx.as_raw().as_ptr(), self.first, N as i32, values.as_mut_ptr()) };
        // SAFETY: looks at the tag; then takes over the count.
        let made = unsafe {
            if qjs::JS_IsException(raw) {
                return Err(Error::Exception);
            }
            Value::from_raw(ctx.clone(), raw)
        };
        Ok(made.into_object().expect("it was made as one"))
    }
}

impl<const N: usize> Drop for Template<N> {
    fn drop(&mut self) {
        // SAFETY: owned here, and a user's state goes before its runtime.
        unsafe { qjs::JS_FreeValueRT(self.runtime, self.first) }
    }
}

unsafe extern "C" {
    fn JS_NewObjectLike(
        context: *mut qjs::JSContext,
        object: qjs::JSValue,
        count: qjs::c_int,
        values: *mut qjs::JSValue,
    ) -> qjs::JSValue;
}

#[cfg(test)]
mod tests {
    use rquickjs::{Context, Runtime};

    use super::*;

    #[test]
    fn records_are_ordinary_objects_that_are_known() {
        let runtime = Runtime::new().unwrap();
        Context::full(&runtime).unwrap().with(|ctx| {
            let record = RecordShape::<2>::default();
            let number = |n: i32| Value::new_int(ctx.clone(), n);
            assert!(!record.is(&number(1)));
            let object = record.object(&ctx, [(c"a", number(1)), (c"b", number(2))]).unwrap().into_value();
            assert!(record.is(&object));
            ctx.globals().set("record", object.clone()).unwrap();
            ctx.eval::<(), _>("record.b = 'changed'; record.c = 3").unwrap();
            let [a, b] = record.fields(&object).unwrap().unwrap();
            assert_eq!((a.as_int(), b.get::<String>().unwrap().as_str()), (Some(1), "changed"));
            assert_eq!(ctx.eval::<String, _>("JSON.stringify(record)").unwrap(), r#"{"a":1,"b":"changed","c":3}"#);
            for other in ["({ a: 1, b: 2 })", "null", "'text'", "Object.create(record)", "new Proxy(record, {})"] {
                assert!(record.fields(&ctx.eval(other).unwrap()).unwrap().is_none(), "{other}");
            }
            ctx.eval::<(), _>("Object.defineProperty(record, 'a', { get() { throw new Error('no') } })").unwrap();
            assert!(record.fields(&object).is_err());
            ctx.catch();
            drop(record);
        });
    }
}
