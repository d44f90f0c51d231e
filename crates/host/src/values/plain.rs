//! Native functions for hot paths: a C function and a number, without a boxed closure and an object of a class of its
//! own.
//!
//! They hold nothing but values of the script that they are bound to; what else they need they find through the
//! user. A panic does not unwind through the frames of C: it is kept, the script ends with an error that it cannot
//! catch, and the panic continues where Rust called the script.

use std::ffi::CStr;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

use rquickjs::{Ctx, Error, Exception, Function, Object, Result, Value, qjs};

use crate::quickjs::exception;
use crate::user::User;

/// The body of native functions that differ in a number only.
pub trait Plain: 'static {
    /// Runs one of them.
    fn call<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>, number: i32) -> Result<Value<'js>>;
}

/// What a script handed over.
#[derive(Clone, Copy)]
pub struct Args<'a, 'js> {
    ctx: &'a Ctx<'js>,
    this: qjs::JSValue,
    values: &'a [qjs::JSValue],
    bound: &'a [qjs::JSValue],
}

impl<'js> Args<'_, 'js> {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.values.len()
    }

    /// What it was called on.
    pub fn this(&self) -> Value<'js> {
        // SAFETY: as in `get`.
        unsafe { Value::from_raw(self.ctx.clone(), qjs::JS_DupValue(self.ctx.as_raw().as_ptr(), self.this)) }
    }

    /// An argument, if it was given, for the time of the call: neither it nor the context is counted.
    pub fn peek(&self, index: usize) -> Option<Peeked<'_, 'js>> {
        Some(self.peeked(*self.values.get(index)?))
    }

    /// The same, or undefined.
    pub fn peek_or_undefined(&self, index: usize) -> Peeked<'_, 'js> {
        self.peeked(self.values.get(index).copied().unwrap_or(qjs::JS_UNDEFINED))
    }

    /// One of the values that the function is bound to (`bound`), for the time of the call.
    pub fn bound(&self, index: usize) -> Peeked<'_, 'js> {
        self.peeked(self.bound[index])
    }

    fn peeked(&self, raw: qjs::JSValue) -> Peeked<'_, 'js> {
        // SAFETY: arguments and context are alive while the function runs, and `Peeked` outlives neither. The second
        // handle of the context and the value are never dropped, so that no count is given back that was not made.
        let value = unsafe { Value::from_raw(std::ptr::read(self.ctx), raw) };
        Peeked { value: ManuallyDrop::new(value), _call: PhantomData }
    }

    /// An argument, if it was given.
    pub fn get(&self, index: usize) -> Option<Value<'js>> {
        let raw = *self.values.get(index)?;
        // SAFETY: arguments are alive while the function runs; the value gets a count of its own.
        Some(unsafe { Value::from_raw(self.ctx.clone(), qjs::JS_DupValue(self.ctx.as_raw().as_ptr(), raw)) })
    }
}

/// An argument as long as the call lasts.
pub struct Peeked<'a, 'js> {
    value: ManuallyDrop<Value<'js>>,
    _call: PhantomData<&'a ()>,
}

impl<'js> Deref for Peeked<'_, 'js> {
    type Target = Value<'js>;

    #[inline]
    fn deref(&self) -> &Value<'js> {
        &self.value
    }
}

/// Makes function `number` of a kind.
pub fn function<'js, F: Plain>(ctx: &Ctx<'js>, name: &CStr, number: i32) -> Result<Function<'js>> {
    let call = qjs::JSCFunctionType { generic_magic: Some(enter::<F>) };
    // SAFETY: the context is live, the name ends with a zero byte and is copied, and the kind says which variant of the
    // union was written.
    unsafe {
        let kind = qjs::JSCFunctionEnum_JS_CFUNC_generic_magic;
        let raw = qjs::JS_NewCFunction2(ctx.as_raw().as_ptr(), call.generic, name.as_ptr(), 0, kind, number);
        if qjs::JS_IsException(raw) {
            return Err(Error::Exception);
        }
        Value::from_raw(ctx.clone(), raw).into_function().ok_or(Error::Unknown)
    }
}

/// Makes function `number` of a kind that is bound to some values; without a name, as an arrow function handed over.
pub fn bound<'js, F: Plain, const N: usize>(
    ctx: &Ctx<'js>,
    number: i32,
    values: [&Value<'js>; N],
) -> Result<Function<'js>> {
    let mut values = values.map(Value::as_raw);
    // SAFETY: context and values are live; the function makes counts of its own.
    unsafe {
        let (call, values) = (Some(enter_bound::<F, N> as _), values.as_mut_ptr());
        let raw = qjs::JS_NewCFunctionData(ctx.as_raw().as_ptr(), call, 1, number, N as qjs::c_int, values);
        if qjs::JS_IsException(raw) {
            return Err(Error::Exception);
        }
        Value::from_raw(ctx.clone(), raw).into_function().ok_or(Error::Unknown)
    }
}

/// Makes a class of objects that function `number` of a kind makes; callable with and without `new`.
pub fn constructor<'js, F: Plain>(
    ctx: &Ctx<'js>,
    name: &CStr,
    number: i32,
    prototype: &Object<'js>,
) -> Result<Function<'js>> {
    let call = qjs::JSCFunctionType { constructor_magic: Some(enter::<F>) };
    // SAFETY: as in `function`.
    unsafe {
        let kind = qjs::JSCFunctionEnum_JS_CFUNC_constructor_or_func_magic;
        let raw = qjs::JS_NewCFunction2(ctx.as_raw().as_ptr(), call.generic, name.as_ptr(), 0, kind, number);
        if qjs::JS_IsException(raw) {
            return Err(Error::Exception);
        }
        qjs::JS_SetConstructor(ctx.as_raw().as_ptr(), raw, prototype.as_raw());
        Value::from_raw(ctx.clone(), raw).into_function().ok_or(Error::Unknown)
    }
}

unsafe extern "C" fn enter<F: Plain>(
    context: *mut qjs::JSContext,
    this: qjs::JSValue,
    count: qjs::c_int,
    values: *mut qjs::JSValue,
    number: qjs::c_int,
) -> qjs::JSValue {
    // SAFETY: QuickJS calls this with a live context and `count` live values.
    unsafe { run::<F>(context, this, (count, values), &[], number) }
}

unsafe extern "C" fn enter_bound<F: Plain, const N: usize>(
    context: *mut qjs::JSContext,
    this: qjs::JSValue,
    count: qjs::c_int,
    values: *mut qjs::JSValue,
    number: qjs::c_int,
    bound: *mut qjs::JSValue,
) -> qjs::JSValue {
    // SAFETY: as in `enter`; the `N` values of `bound` live as long as the function, which the call holds.
    unsafe { run::<F>(context, this, (count, values), std::slice::from_raw_parts(bound.cast_const(), N), number) }
}

/// # Safety
/// The context is live, and so are the arguments and what the function is bound to.
#[inline(always)]
unsafe fn run<F: Plain>(
    context: *mut qjs::JSContext,
    this: qjs::JSValue,
    (count, values): (qjs::c_int, *mut qjs::JSValue),
    bound: &[qjs::JSValue],
    number: qjs::c_int,
) -> qjs::JSValue {
    let Some(raw) = NonNull::new(context) else { return qjs::JS_EXCEPTION };
    // SAFETY: by the contract.
    let (ctx, values) = unsafe {
        let values = match usize::try_from(count) {
            Ok(count) if count > 0 => std::slice::from_raw_parts(values.cast_const(), count),
            _ => &[],
        };
        (Ctx::from_raw(raw), values)
    };
    let result = catch_unwind(AssertUnwindSafe(|| F::call(&ctx, Args { ctx: &ctx, this, values, bound }, number)));
    match result {
        Ok(Ok(value)) => {
            // The caller takes the value's count over; the context's is given back.
            let value = ManuallyDrop::new(value);
            // SAFETY: read once, and never dropped where it was.
            drop(unsafe { std::ptr::read(value.ctx()) });
            value.as_raw()
        }
        Ok(Err(error)) => {
            match error {
                Error::Exception => {}
                Error::FromJs { .. } => _ = Exception::throw_type(&ctx, &error.to_string()),
                _ => _ = Exception::throw_message(&ctx, &error.to_string()),
            }
            qjs::JS_EXCEPTION
        }
        Err(panic) => {
            User::of(&ctx).state.panic.replace(Some(panic));
            _ = exception::throw_uncatchable(&ctx, "native code panicked: this is a bug");
            qjs::JS_EXCEPTION
        }
    }
}

#[cfg(test)]
mod tests {
    use rquickjs::{Context, Runtime};

    use super::*;

    struct Sum;

    impl Plain for Sum {
        fn call<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>, number: i32) -> Result<Value<'js>> {
            let mut sum = number;
            for index in 0..args.count() {
                sum += args.get(index).expect("it was given").get::<i32>()?;
            }
            Ok(Value::new_int(ctx.clone(), sum))
        }
    }

    #[test]
    fn reads_arguments_and_throws() {
        let runtime = Runtime::new().unwrap();
        Context::full(&runtime).unwrap().with(|ctx| {
            ctx.globals().set("sum", function::<Sum>(&ctx, c"sum", 10).unwrap()).unwrap();
            let cases = [("sum()", "10"), ("sum(1, 2)", "13"), ("sum.name", "sum"), ("sum.call(null, 5)", "15")];
            for (source, expected) in cases {
                assert_eq!(ctx.eval::<rquickjs::Coerced<String>, _>(source).unwrap().0, expected);
            }
            let kind = "try { sum('x') } catch (e) { e.name }";
            assert_eq!(ctx.eval::<String, _>(kind).unwrap(), "TypeError");
        });
    }

    struct Joined;

    impl Plain for Joined {
        fn call<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>, number: i32) -> Result<Value<'js>> {
            let [first, second] = [0, 1].map(|index| args.bound(index).get::<String>());
            let given = args.get(0).map_or(Ok(String::new()), |value| value.get::<String>())?;
            Ok(rquickjs::String::from_str(ctx.clone(), &format!("{}{}{given}{number}", first?, second?))?.into_value())
        }
    }

    #[test]
    fn bound_values_come_with_each_call() {
        let runtime = Runtime::new().unwrap();
        Context::full(&runtime).unwrap().with(|ctx| {
            let [first, second]: [Value<'_>; 2] = ["'a' + 1", "'b' + 2"].map(|text| ctx.eval(text).unwrap());
            ctx.globals().set("joined", bound::<Joined, 2>(&ctx, 7, [&first, &second]).unwrap()).unwrap();
            drop((first, second));
            for (source, expected) in [("joined()", "a1b27"), ("joined.call(5, 'c', 'd')", "a1b2c7")] {
                assert_eq!(ctx.eval::<String, _>(source).unwrap(), expected);
            }
        });
    }
}
