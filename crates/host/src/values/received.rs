//! Memory that passes between sockets and scripts without being copied, in both directions.
//!
//! A piece in memory of the server becomes a buffer that gives the memory back when it is released or collected. Memory
//! that an app allocated is taken from the script (`ArrayBuffer.prototype.transfer`), so that nobody else can free,
//! shrink or read it, and keeps its runtime alive: what a socket has been given to read into stays, whatever becomes of
//! the app.

use std::any::Any;
use std::cell::RefCell;
use std::fmt;
use std::ops::Range;

use rquickjs::function::This;
use rquickjs::{Ctx, Error, Exception, Function, Object, Persistent, Result, Runtime, Value, qjs};

use crate::runtime;
use crate::user::User;
use crate::values::bytes;

/// Bytes of somebody else that a script may look at, and write to when they are nobody else's.
pub trait ForeignMemory: Any {
    /// The bytes.
    fn bytes(&self) -> &[u8];
    /// The same to be written; `None` when others read them.
    fn bytes_mut(&mut self) -> Option<&mut [u8]>;
}

/// Memory of an app that the socket reads into.
pub struct ReceiveBuffer {
    /// The only reference to the ArrayBuffer.
    buffer: Persistent<Value<'static>>,
    start: *mut u8,
    length: usize,
    /// Dropped last: the memory is the runtime's.
    _runtime: Runtime,
}

impl ReceiveBuffer {
    /// Takes the memory of an ArrayBuffer, which is detached thereby.
    pub fn take<'js>(ctx: &Ctx<'js>, buffer: &Value<'js>) -> Result<ReceiveBuffer> {
        let buffer: Value<'js> = transfer(ctx)?.call((This(buffer.clone()),))?;
        let mut size = 0;
        // SAFETY: anything but an ArrayBuffer with memory gives null and a pending exception; immutability is looked at
        // only.
        let start = unsafe {
            if qjs::JS_IsImmutableArrayBuffer(buffer.as_raw()) == 1 {
                let message = "allocate() gave an immutable buffer, expected one to be written to";
                return Err(Exception::throw_type(ctx, message));
            }
            qjs::JS_GetArrayBuffer(ctx.as_raw().as_ptr(), &mut size, buffer.as_raw())
        };
        if start.is_null() {
            return Err(Error::Exception);
        }
        let runtime = runtime::handle(ctx);
        Ok(ReceiveBuffer { buffer: Persistent::save(ctx, buffer), start, length: size as usize, _runtime: runtime })
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the buffer was made by `take` and nobody else has a reference to it, so its memory stays as long as
        // this lives.
        unsafe { std::slice::from_raw_parts(self.start, self.length) }
    }

    /// The same, to be written.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`; `self` is the only one who knows the memory.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.length) }
    }

    /// The part that was filled, for the script again.
    pub fn give_back<'js>(self, ctx: &Ctx<'js>, range: Range<usize>) -> Result<Value<'js>> {
        uint8_array(ctx, &self.buffer.restore(ctx)?, range)
    }
}

impl fmt::Debug for ReceiveBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReceiveBuffer({} bytes)", self.length)
    }
}

/// The engine's own function, whatever the script has made of the prototype since.
#[derive(Default)]
struct Transfer(RefCell<Option<Persistent<Function<'static>>>>);

/// Remembers what the engine does with buffers, before a script runs that takes part in this.
pub fn install(ctx: &Ctx<'_>) -> Result<()> {
    let class: Object<'_> = ctx.globals().get("ArrayBuffer")?;
    let own: Function<'_> = class.get::<_, Object<'_>>("prototype")?.get("transfer")?;
    User::of(ctx).local::<Transfer>().0.replace(Some(Persistent::save(ctx, own)));
    Ok(())
}

fn transfer<'js>(ctx: &Ctx<'js>) -> Result<Function<'js>> {
    let known = User::of(ctx).local::<Transfer>().0.borrow().clone();
    known.ok_or(Error::Unknown)?.restore(ctx)
}

/// A Uint8Array over memory of the server. It goes back when the script releases the array, or has no reference to it.
pub fn view<'js>(ctx: &Ctx<'js>, mut memory: Box<dyn ForeignMemory>) -> Result<Value<'js>> {
    // Asked once each: what was given stays borrowed as long as the owner lives, who is not asked again.
    let writable = memory.bytes_mut().map(|bytes| (bytes.as_mut_ptr(), bytes.len()));
    let (start, length) = writable.unwrap_or_else(|| {
        let bytes = memory.bytes();
        (bytes.as_ptr().cast_mut(), bytes.len())
    });
    if length == 0 {
        return uint8_array(ctx, bytes::array_buffer(ctx, Vec::new())?.as_value(), 0..0);
    }
    // SAFETY: the memory stays in place as long as its owner lives, which is put into the buffer; when it is not the
    // script's to write, the buffer is marked immutable before the script sees it.
    let buffer = unsafe {
        let buffer = bytes::array_buffer_over(ctx, (start, length), Box::new(memory))?;
        qjs::JS_SetImmutableArrayBuffer(buffer.as_raw(), writable.is_none());
        buffer
    };
    uint8_array(ctx, &buffer, 0..length)
}

/// Takes the memory away from an ArrayBuffer or a view of one: what it showed goes back to its owner at once.
pub fn release<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<()> {
    let Some((buffer, _, _)) = bytes::window(value)? else {
        let message = format!("Onrush.release() got {}, expected a piece of a body", value.type_name());
        return Err(Exception::throw_type(ctx, &message));
    };
    // SAFETY: it is an ArrayBuffer; detaching one that is detached or immutable does nothing wrong.
    unsafe { qjs::JS_DetachArrayBuffer(ctx.as_raw().as_ptr(), buffer.as_raw()) };
    Ok(())
}

pub(crate) fn uint8_array<'js>(ctx: &Ctx<'js>, buffer: &Value<'js>, range: Range<usize>) -> Result<Value<'js>> {
    let (offset, length) = (number(ctx, range.start), number(ctx, range.len()));
    let mut arguments = [buffer.as_raw(), offset.as_raw(), length.as_raw()];
    // SAFETY: the arguments are live during the call; a failure leaves an exception.
    unsafe {
        let kind = qjs::JSTypedArrayEnum_JS_TYPED_ARRAY_UINT8;
        let value = qjs::JS_NewTypedArray(ctx.as_raw().as_ptr(), 3, arguments.as_mut_ptr(), kind);
        if qjs::JS_IsException(value) {
            return Err(Error::Exception);
        }
        Ok(Value::from_raw(ctx.clone(), value))
    }
}

fn number<'js>(ctx: &Ctx<'js>, number: usize) -> Value<'js> {
    Value::new_number(ctx.clone(), number as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_user::with_user;

    #[test]
    fn memory_that_was_taken_is_nobody_elses_and_outlives_the_runtime() {
        let mut kept = with_user(|ctx| {
            install(ctx).unwrap();
            ctx.eval::<(), _>(
                "ArrayBuffer.prototype.transfer = function () { return this }; var b = new ArrayBuffer(3)",
            )
            .unwrap();
            let given: Value<'_> = ctx.eval("b").unwrap();
            let mut taken = ReceiveBuffer::take(ctx, &given).unwrap();
            assert_eq!(ctx.eval::<String, _>("b.byteLength + ' ' + b.detached").unwrap(), "0 true");
            taken.bytes_mut().copy_from_slice(b"abc");
            ctx.globals().set("shown", taken.give_back(ctx, 1..3).unwrap()).unwrap();
            assert_eq!(ctx.eval::<String, _>("String(shown)").unwrap(), "98,99");
            ReceiveBuffer::take(ctx, &ctx.eval("new ArrayBuffer(5)").unwrap()).unwrap()
        });
        kept.bytes_mut().fill(7);
        assert_eq!(kept.bytes(), [7; 5]);
    }

    #[test]
    fn what_is_no_buffer_is_refused() {
        with_user(|ctx| {
            install(ctx).unwrap();
            for other in ["({})", "null", "new Uint8Array(3)", "(b => (b.transfer(), b))(new ArrayBuffer(3))"] {
                assert!(ReceiveBuffer::take(ctx, &ctx.eval(other).unwrap()).is_err(), "{other}");
                ctx.catch();
            }
        });
    }
}
