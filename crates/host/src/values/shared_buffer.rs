//! ArrayBuffers over bytes that the whole process shares. They are immutable: writing to one throws, in any view of it.
//!
//! One copy of the bytes serves all users, because none of them can change it. The worker remembers which addresses
//! belong to such buffers, so that one that comes back as a body is sent from where it is, by reference count.
//! Invariant: memory behind these buffers is read only; QuickJS checks the mark at each way to write.

use std::cell::RefCell;
use std::collections::BTreeMap;

use ::bytes::Bytes;
use rquickjs::{Ctx, Error, Result, Value, qjs};

use crate::user::User;
use crate::values::bytes;
use crate::values::kind::BufferKind;

/// The shared bytes that the users of a worker have seen, by address.
#[derive(Default)]
struct Seen {
    bytes: RefCell<BTreeMap<usize, Bytes>>,
}

/// An immutable ArrayBuffer over the bytes.
pub fn array_buffer<'js>(ctx: &Ctx<'js>, shared: &Bytes) -> Result<Value<'js>> {
    let buffer = if shared.is_empty() {
        bytes::array_buffer(ctx, Vec::new())?.into_value()
    } else {
        User::of(ctx)
            .worker_local::<Seen>()
            .bytes
            .borrow_mut()
            .entry(shared.as_ptr() as usize)
            .or_insert_with(|| shared.clone());
        over(ctx, shared.clone())?
    };
    // SAFETY: it is an ArrayBuffer, and only its mark is set.
    unsafe { qjs::JS_SetImmutableArrayBuffer(buffer.as_raw(), true) };
    Ok(buffer)
}

fn over<'js>(ctx: &Ctx<'js>, shared: Bytes) -> Result<Value<'js>> {
    let memory = (shared.as_ptr().cast_mut(), shared.len());
    // SAFETY: the bytes stay in place as long as there is a reference to them; the caller marks the buffer immutable
    // before the script sees it.
    unsafe { bytes::array_buffer_over(ctx, memory, Box::new(shared)) }
}

/// The shared bytes that an ArrayBuffer or a view shows; nothing when its memory is not shared.
pub fn bytes_of<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<Option<Bytes>> {
    let Some((buffer, offset, len)) = bytes::window(value)? else { return Ok(None) };
    // SAFETY: looks at the class and the mark of an object.
    if unsafe { qjs::JS_IsImmutableArrayBuffer(buffer.as_raw()) } != 1 {
        return Ok(None);
    }
    let mut size = 0;
    // SAFETY: it is an ArrayBuffer; one without memory gives null and a pending exception.
    let start = unsafe { qjs::JS_GetArrayBuffer(ctx.as_raw().as_ptr(), &mut size, buffer.as_raw()) };
    if start.is_null() {
        ctx.catch();
        return Ok(None);
    }
    let seen = User::of(ctx).worker_local::<Seen>();
    let seen = seen.bytes.borrow();
    let known = seen.get(&(start as usize)).filter(|known| known.len() == size as usize);
    Ok(known.and_then(|known| (offset + len <= known.len()).then(|| known.slice(offset..offset + len))))
}

/// A value of this kind over shared bytes; a buffer instead of a DataView.
pub fn view<'js>(ctx: &Ctx<'js>, shared: &Bytes, kind: BufferKind) -> Result<Value<'js>> {
    let buffer = array_buffer(ctx, shared)?;
    let BufferKind::Typed(elements) = kind else { return Ok(buffer) };
    let mut arguments = [buffer.as_raw()];
    // SAFETY: the number is one of QuickJS; the argument is live during the call.
    unsafe {
        let value =
            qjs::JS_NewTypedArray(ctx.as_raw().as_ptr(), 1, arguments.as_mut_ptr(), elements as qjs::JSTypedArrayEnum);
        if qjs::JS_IsException(value) {
            return Err(Error::Exception);
        }
        Ok(Value::from_raw(ctx.clone(), value))
    }
}
