//! Objects of one shape that native code makes and reads often: the names of their fields are looked up once a user.
//!
//! A record is an ordinary object with ordinary fields, which scripts may change. Its prototype, which nothing else
//! has, tells it from other objects.

use std::cell::OnceCell;
use std::ffi::CStr;

use rquickjs::{Ctx, Error, Object, Result, Value, qjs};

use crate::object;

/// The shape of `N` fields. Made at first use, of the runtime that it is used with first, and of no other.
pub struct RecordShape<const N: usize> {
    made: OnceCell<Made<N>>,
}

struct Made<const N: usize> {
    runtime: *mut qjs::JSRuntime,
    prototype: qjs::JSValue,
    names: [qjs::JSAtom; N],
    /// A record without fields, one with the first, and so on, none of which is handed out. The engine forgets a shape
    /// with the last object that has it, and would make each of these again for each record.
    begun: Vec<qjs::JSValue>,
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
        // SAFETY: `made` owns prototype and names; values are live.
        let raw = unsafe { fill(ctx.as_raw().as_ptr(), made, &fields.each_ref().map(|(_, value)| value.as_raw()))? };
        // SAFETY: the count is ours to give.
        let record = unsafe { Value::from_raw(ctx.clone(), raw) };
        Ok(record.into_object().expect("it was made as one"))
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
        let context = value.ctx().as_raw().as_ptr();
        // SAFETY: context and object are live; addresses are compared, and the count that was made is given back.
        unsafe {
            if qjs::JS_IsProxy(object.as_raw()) {
                // Asking one for its prototype would run code of the script.
                return false;
            }
            let prototype = qjs::JS_GetPrototype(context, object.as_raw());
            let same = qjs::JS_IsObject(prototype)
                && qjs::JS_VALUE_GET_PTR(prototype) == qjs::JS_VALUE_GET_PTR(made.prototype);
            qjs::JS_FreeValue(context, prototype);
            same
        }
    }

    fn make(&self, ctx: &Ctx<'_>, names: [&CStr; N]) -> Result<&Made<N>> {
        let context = ctx.as_raw().as_ptr();
        // SAFETY: a live context and names that end with a zero byte; what is made is given back with `made`.
        let mut made = unsafe {
            let prototype = qjs::JS_NewObject(context);
            if qjs::JS_IsException(prototype) {
                return Err(Error::Exception);
            }
            let names = names.map(|name| qjs::JS_NewAtomLen(context, name.as_ptr(), name.count_bytes() as _));
            Made { runtime: qjs::JS_GetRuntime(context), prototype, names, begun: Vec::with_capacity(N + 1) }
        };
        for count in 0..=N {
            // SAFETY: as in `object`.
            let record = unsafe { fill(context, &made, &[qjs::JS_UNDEFINED; N][..count])? };
            made.begun.push(record);
        }
        Ok(self.made.get_or_init(|| made))
    }
}

impl<const N: usize> Drop for Made<N> {
    fn drop(&mut self) {
        // SAFETY: owned here, and a user's state goes before its runtime.
        unsafe {
            self.names.iter().for_each(|name| qjs::JS_FreeAtomRT(self.runtime, *name));
            self.begun.iter().chain([&self.prototype]).for_each(|value| qjs::JS_FreeValueRT(self.runtime, *value));
        }
    }
}

/// A new record of these values, as many of the first fields as there are.
///
/// # Safety
/// The context is live, the shape is of its runtime, and so are the values.
unsafe fn fill<const N: usize>(
    context: *mut qjs::JSContext,
    made: &Made<N>,
    values: &[qjs::JSValue],
) -> Result<qjs::JSValue> {
    let flags = qjs::JS_PROP_C_W_E as i32;
    // SAFETY: by the contract; defining takes over the count that is made here, and a record that fails is given back.
    unsafe {
        let record = qjs::JS_NewObjectProto(context, made.prototype);
        if qjs::JS_IsException(record) {
            return Err(Error::Exception);
        }
        for (name, value) in made.names.iter().zip(values) {
            if qjs::JS_DefinePropertyValue(context, record, *name, qjs::JS_DupValue(context, *value), flags) < 0 {
                qjs::JS_FreeValue(context, record);
                return Err(Error::Exception);
            }
        }
        Ok(record)
    }
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
