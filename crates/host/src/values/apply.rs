//! `Function.prototype.apply` and `Reflect.apply` for lists of any length.
//!
//! The engine's own refuse lists of more than 65,535 elements, k6's do not: scripts that put bodies together byte by
//! byte say `all.push.apply(all, bytes)` with hundreds of thousands. Calls that spread a list (`f(...list)`) are
//! compiled into the engine's own and keep its limit. Invariant: every value taken out of the list is given back,
//! whatever happens.

use rquickjs::object::Property;
use rquickjs::{Ctx, Error, Exception, Object, Result, Value, qjs};

use crate::values::plain::{self, Args, Plain};

/// Elements of a list at most: 64 MiB of arguments.
const MOST: i64 = 1 << 22;

/// Puts both functions into a fresh context.
pub fn install(ctx: &Ctx<'_>) -> Result<()> {
    let function: Object<'_> = ctx.globals().get("Function")?;
    for (number, length, object) in
        [(0, 2, function.get::<_, Object<'_>>("prototype")?), (1, 3, ctx.globals().get("Reflect")?)]
    {
        let apply = plain::function::<Apply>(ctx, c"apply", number)?;
        apply.prop("length", Property::from(length).configurable())?;
        object.prop("apply", Property::from(apply).writable().configurable())?;
    }
    Ok(())
}

/// 0: a method of functions, 1: `Reflect.apply`.
struct Apply;

impl Plain for Apply {
    fn call<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>, number: i32) -> Result<Value<'js>> {
        let given = |index: i32| usize::try_from(index).ok().and_then(|index| args.get(index));
        let function = if number == 0 { Some(args.this()) } else { given(0) };
        let Some(function) = function.filter(Value::is_function) else {
            return Err(Exception::throw_type(ctx, "not a function"));
        };
        let this = given(number).unwrap_or_else(|| Value::new_undefined(ctx.clone()));
        let list = given(number + 1).filter(|list| number == 1 || !list.is_null() && !list.is_undefined());
        let mut elements = match (list, number) {
            (Some(list), _) => Elements::of(ctx, &list)?,
            (None, 0) => Elements { ctx, values: Vec::new() },
            (None, _) => return Err(Exception::throw_type(ctx, "not a object")),
        };
        let (count, values) = (elements.values.len() as qjs::c_int, elements.values.as_mut_ptr());
        // SAFETY: function, object and `count` values are alive during the call, which takes over none of them.
        let result = unsafe {
            let raw = qjs::JS_Call(ctx.as_raw().as_ptr(), function.as_raw(), this.as_raw(), count, values);
            if qjs::JS_IsException(raw) {
                return Err(Error::Exception);
            }
            Value::from_raw(ctx.clone(), raw)
        };
        Ok(result)
    }
}

/// The elements of a list, each with a count of its own.
struct Elements<'a, 'js> {
    ctx: &'a Ctx<'js>,
    values: Vec<qjs::JSValue>,
}

impl<'a, 'js> Elements<'a, 'js> {
    fn of(ctx: &'a Ctx<'js>, list: &Value<'js>) -> Result<Elements<'a, 'js>> {
        if !list.is_object() {
            return Err(Exception::throw_type(ctx, "not a object"));
        }
        let context = ctx.as_raw().as_ptr();
        let mut length = 0;
        // SAFETY: context and object are alive.
        if unsafe { qjs::JS_GetLength(context, list.as_raw(), &mut length) } < 0 {
            return Err(Error::Exception);
        }
        if length > MOST {
            let message = format!("too many arguments in function call (only {MOST} allowed)");
            return Err(Exception::throw_range(ctx, &message));
        }
        let mut elements = Elements { ctx, values: Vec::with_capacity(length as usize) };
        for index in 0..length {
            // SAFETY: as above; the value comes with a count, which `drop` gives back.
            let value = unsafe { qjs::JS_GetPropertyUint32(context, list.as_raw(), index as u32) };
            // SAFETY: looks at the tag only.
            if unsafe { qjs::JS_IsException(value) } {
                return Err(Error::Exception);
            }
            elements.values.push(value);
        }
        Ok(elements)
    }
}

impl Drop for Elements<'_, '_> {
    fn drop(&mut self) {
        for value in self.values.drain(..) {
            // SAFETY: the count was made in `of`.
            unsafe { qjs::JS_FreeValue(self.ctx.as_raw().as_ptr(), value) };
        }
    }
}

#[cfg(test)]
mod tests {
    use rquickjs::{Coerced, Context, Runtime};

    use super::*;

    fn text(source: &str) -> String {
        let runtime = Runtime::new().unwrap();
        Context::full(&runtime).unwrap().with(|ctx| {
            install(&ctx).unwrap();
            let source = format!("try {{ String({source}) }} catch (error) {{ String(error) }}");
            ctx.eval::<Coerced<String>, _>(source).unwrap().0
        })
    }

    #[test]
    fn short_lists_are_as_ever() {
        for (source, expected) in [
            ("Math.max.apply(null, [1, 3, 2])", "3"),
            ("(function () { return this.a + arguments.length; }).apply({ a: 1 })", "1"),
            ("(function () { return arguments.length; }).apply(1, null)", "0"),
            ("Reflect.apply(Math.min, null, { length: 2, 0: 5, 1: 4 })", "4"),
            ("((a, b) => a + b).apply(null, ['x', 'y'])", "xy"),
            ("(function () { return arguments.length; }).apply(null, new Uint8Array(3))", "3"),
            ("Reflect.apply(Math.min, null)", "TypeError: not a object"),
            ("Math.max.apply(null, 5)", "TypeError: not a object"),
            ("Function.prototype.apply.call(5)", "TypeError: not a function"),
            ("Reflect.apply(5, null, [])", "TypeError: not a function"),
            ("(() => { throw new Error('own'); }).apply()", "Error: own"),
            ("Math.max.apply(null, { length: 1, get 0() { throw new Error('read'); } })", "Error: read"),
            (
                "Math.max.apply(null, { length: 2 ** 23 })",
                "RangeError: too many arguments in function call (only 4194304 allowed)",
            ),
            (
                "[(() => {}).apply.name, (() => {}).apply.length, Reflect.apply.length, \
                 Object.keys(Function.prototype)]",
                "apply,2,3,",
            ),
        ] {
            assert_eq!(text(source), expected, "{source}");
        }
    }

    #[test]
    fn long_lists_are_taken() {
        for (source, expected) in [
            (
                "(() => { const a = []; a.push.apply(a, new Array(200000).fill(7)); return [a.length, a[199999]]; })()",
                "200000,7",
            ),
            ("String.fromCharCode.apply(null, new Uint8Array(150000).fill(65)).length", "150000"),
            ("Math.max.apply(null, Array.from({ length: 100000 }, (_, i) => i))", "99999"),
            ("((...rest) => rest.length).apply(null, new Array(100000))", "100000"),
            ("(function () { return arguments[99999]; }).apply(null, new Array(100000).fill('s'))", "s"),
            ("Reflect.apply((a, b) => b, null, new Array(70000).fill(3))", "3"),
        ] {
            assert_eq!(text(source), expected, "{source}");
        }
    }
}
