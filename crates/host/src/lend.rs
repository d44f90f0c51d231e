//! Memory that passes between sockets and scripts without being copied, in both directions.
//!
//! A piece in memory of the server becomes a buffer that gives the memory back when it is released or collected. Memory
//! that the app's `allocate` gave is lent to the socket: the script's own reference has been detached before, so nobody
//! can free, shrink or read it meanwhile. Invariant: what is lent ends with the runtime; a `LentBuffer` that outlives
//! it is empty.

use std::any::Any;
use std::cell::RefCell;
use std::fmt;
use std::ops::Range;
use std::rc::{Rc, Weak};

use rquickjs::{Ctx, Error, Exception, Persistent, Result, Value, qjs};

use crate::bytes;

/// Bytes of somebody else that a script may look at, and write to when they are nobody else's.
pub trait ForeignMemory: Any {
    /// The bytes. They stay where they are until this is dropped.
    fn bytes(&self) -> &[u8];
    /// The same to be written; `None` when others read them.
    fn bytes_mut(&mut self) -> Option<&mut [u8]>;
}

/// The buffers that are lent now, by number. Cleared before the runtime goes.
#[derive(Default)]
pub struct Lent {
    buffers: RefCell<Vec<Option<Persistent<Value<'static>>>>>,
}

/// Memory of an app that the socket reads into.
pub struct LentBuffer {
    lent: Weak<Lent>,
    number: usize,
    start: *mut u8,
    length: usize,
}

impl LentBuffer {
    /// The bytes; none once the app has ended.
    pub fn bytes(&self) -> &[u8] {
        if self.lent.strong_count() == 0 {
            return &[];
        }
        // SAFETY: the buffer is kept by `Lent`, which lives; nobody else has a reference to it, so its memory stays.
        // `Lent` continues this thread alone, and nothing that holds this slice lets other code of the thread run.
        unsafe { std::slice::from_raw_parts(self.start, self.length) }
    }

    /// The same, to be written.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        if self.lent.strong_count() == 0 {
            return &mut [];
        }
        // SAFETY: as in `bytes`; `self` is the only one who knows the memory.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.length) }
    }
}

impl Drop for LentBuffer {
    fn drop(&mut self) {
        let kept = self.lent.upgrade().and_then(|lent| lent.buffers.borrow_mut()[self.number].take());
        drop(kept);
    }
}

impl fmt::Debug for LentBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LentBuffer({} bytes)", self.length)
    }
}

/// Lends an ArrayBuffer that the script has no reference to any more.
pub fn lend<'js>(ctx: &Ctx<'js>, lent: &Rc<Lent>, buffer: &Value<'js>) -> Result<LentBuffer> {
    let mut size = 0;
    // SAFETY: anything but an ArrayBuffer with memory gives null and a pending exception; immutability is looked at
    // only.
    let start = unsafe {
        if qjs::JS_IsImmutableArrayBuffer(buffer.as_raw()) == 1 {
            return Err(Exception::throw_type(
                ctx,
                "allocate() gave an immutable buffer, expected one to be written to",
            ));
        }
        qjs::JS_GetArrayBuffer(ctx.as_raw().as_ptr(), &mut size, buffer.as_raw())
    };
    if start.is_null() {
        return Err(Error::Exception);
    }
    let kept = Some(Persistent::save(ctx, buffer.clone()));
    let mut buffers = lent.buffers.borrow_mut();
    let number = buffers.iter().position(Option::is_none).unwrap_or(buffers.len());
    if number == buffers.len() {
        buffers.push(kept)
    } else {
        buffers[number] = kept
    }
    drop(buffers);
    Ok(LentBuffer { lent: Rc::downgrade(lent), number, start, length: size as usize })
}

/// The part of a lent buffer that was filled, for the script again.
pub fn give_back<'js>(ctx: &Ctx<'js>, buffer: &LentBuffer, range: Range<usize>) -> Result<Value<'js>> {
    let kept = buffer.lent.upgrade().and_then(|lent| lent.buffers.borrow_mut()[buffer.number].take());
    let kept = kept.ok_or(Error::Unknown)?.restore(ctx)?;
    uint8_array(ctx, &kept, range)
}

/// A Uint8Array over memory of the server. It goes back when the script releases the array, or has no reference to it.
pub fn view<'js>(ctx: &Ctx<'js>, mut memory: Box<dyn ForeignMemory>) -> Result<Value<'js>> {
    let length = memory.bytes().len();
    let (start, is_ours) = match memory.bytes_mut() {
        Some(bytes) => (bytes.as_mut_ptr(), true),
        None => (memory.bytes().as_ptr().cast_mut(), false),
    };
    if length == 0 {
        return uint8_array(ctx, bytes::array_buffer(ctx, Vec::new())?.as_value(), 0..0);
    }
    // SAFETY: the memory stays in place as long as its owner lives, which is put into the buffer; when it is not ours
    // alone the buffer is marked immutable before the script sees it.
    let buffer = unsafe {
        let buffer = bytes::array_buffer_over(ctx, (start, length), Box::new(memory))?;
        qjs::JS_SetImmutableArrayBuffer(buffer.as_raw(), !is_ours);
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
