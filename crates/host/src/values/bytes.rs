//! Bytes and text that native functions read out of script values, without copying where that is safe.
//!
//! A slice into the JavaScript heap is valid only while no JavaScript runs. `read` therefore lends it to a closure that
//! cannot hold a `Ctx` (it must be `'static`) and cannot let the slice escape. Strings with lone surrogates, which have
//! no UTF-8 form, are read with U+FFFD in their place, as k6 does.

use std::rc::Rc;

use rquickjs::object::Property;
use rquickjs::{ArrayBuffer, Ctx, Error, Object, Result, Value, qjs};

use crate::intrinsics;
use crate::quickjs::text::{raw_bytes, well_formed};
use crate::values::object;

pub use crate::quickjs::text::{borrow, text, to_text};
pub(crate) use crate::quickjs::text::{is_well_formed, owned};

/// Lends the bytes of a string (as UTF-8), an ArrayBuffer, a typed array or a DataView to `f`. Nothing when the value
/// is something else or its buffer is detached.
pub fn read<'js, R: 'static>(
    ctx: &Ctx<'js>,
    value: &Value<'js>,
    f: impl FnOnce(&[u8]) -> R + 'static,
) -> Result<Option<R>> {
    if let Some(string) = value.as_string() {
        let text = string.clone().to_cstring()?;
        return Ok(Some(f(well_formed(raw_bytes(&text)).as_bytes())));
    }
    let Some((buffer, offset, len)) = window(value)? else { return Ok(None) };
    let mut size = 0;
    // SAFETY: `window` returns ArrayBuffers only; a detached one yields null and a pending exception.
    let start = unsafe { qjs::JS_GetArrayBuffer(ctx.as_raw().as_ptr(), &mut size, buffer.as_raw()) };
    if start.is_null() {
        ctx.catch();
        return Ok(None);
    }
    // SAFETY: `start` points at `size` bytes owned by `buffer`, which this frame keeps alive. They stay where they are
    // as long as no JavaScript runs, and `f` cannot run any: it is `'static` and so holds no `Ctx`.
    let bytes = unsafe { std::slice::from_raw_parts(start, size as usize) };
    Ok(bytes.get(offset..offset + len).map(f))
}

/// Lends the bytes that a `Uint8Array` shows to `f`, to be filled. Nothing when the value is something else or its
/// buffer is detached or must not be changed (elements of a `SharedArray`, whose memory other threads read).
pub fn fill<'js, R: 'static>(value: &Value<'js>, f: impl FnOnce(&mut [u8]) -> R + 'static) -> Option<R> {
    let array = value.as_object()?.as_typed_array::<u8>()?;
    if is_immutable(value)? {
        return None;
    }
    let Some(mut shown) = array.as_raw() else {
        // A detached buffer leaves an exception behind.
        value.ctx().catch();
        return None;
    };
    // SAFETY: the pointer and length are those of a live buffer, which `array` keeps alive. The bytes stay where they
    // are as long as no JavaScript runs, and `f` cannot run any: it is `'static` and so holds no `Ctx`. Nothing else of
    // Rust refers to them: no function of this file lets a slice escape.
    Some(f(unsafe { shown.as_mut() }))
}

/// An ArrayBuffer of these bytes.
pub fn array_buffer<'js>(ctx: &Ctx<'js>, content: Vec<u8>) -> Result<ArrayBuffer<'js>> {
    intrinsics::for_buffers(ctx)?;
    #[expect(clippy::disallowed_methods, reason = "everybody else comes here")]
    ArrayBuffer::new(ctx.clone(), content)
}

/// A Uint8Array of these bytes.
pub fn byte_array<'js>(ctx: &Ctx<'js>, content: Vec<u8>) -> Result<Value<'js>> {
    let length = content.len();
    crate::values::received::uint8_array(ctx, array_buffer(ctx, content)?.as_value(), 0..length)
}

/// An ArrayBuffer of these bytes that is read like an array as well: it has `length` and `[i]`, as Go's byte slices
/// have.
///
/// A typed array in its chain of prototypes answers for the indexes. That one shows the same memory by a buffer of its
/// own: over this buffer, the two would hold each other until the engine's next collection.
pub fn indexed_buffer<'js>(ctx: &Ctx<'js>, content: &[u8]) -> Result<Value<'js>> {
    let mut content = content.to_vec();
    let memory = (content.as_mut_ptr(), content.len());
    let buffer = if content.is_empty() {
        array_buffer(ctx, content)?.into_value()
    } else {
        let owner = Rc::new(content);
        // SAFETY: the memory is the owner's, which lives as long as one of the buffers does; no Rust code refers to it.
        let (buffer, same) = unsafe {
            let buffer = array_buffer_over(ctx, memory, Box::new(Rc::clone(&owner)))?;
            (buffer, array_buffer_over(ctx, memory, Box::new(owner))?)
        };
        let indexes = crate::values::received::uint8_array(ctx, &same, 0..memory.1)?;
        if let (Some(buffer), Some(indexes)) = (buffer.as_object(), indexes.as_object()) {
            indexes.set_prototype(buffer.get_prototype().as_ref())?;
            buffer.set_prototype(Some(indexes))?;
        }
        buffer
    };
    if let Some(buffer) = buffer.as_object() {
        buffer.prop("length", Property::from(memory.1 as f64))?;
    }
    Ok(buffer)
}

/// A string of these bytes, which somebody else has checked to be UTF-8; the engine replaces what is not.
pub fn string<'js>(ctx: &Ctx<'js>, utf8: &[u8]) -> Result<Value<'js>> {
    // SAFETY: a live context and as many bytes as it says, which are copied; the count that is made is taken over.
    unsafe {
        let raw = qjs::JS_NewStringLen(ctx.as_raw().as_ptr(), utf8.as_ptr().cast(), utf8.len() as _);
        if qjs::JS_IsException(raw) {
            return Err(Error::Exception);
        }
        Ok(Value::from_raw(ctx.clone(), raw))
    }
}

/// Whether the buffer behind a typed array is immutable; nothing for other values and detached buffers.
fn is_immutable(array: &Value<'_>) -> Option<bool> {
    let ctx = array.ctx();
    let none = std::ptr::null_mut();
    // SAFETY: anything but a typed array with memory gives an exception; what is returned is owned here.
    let immutable = unsafe {
        let buffer = qjs::JS_GetTypedArrayBuffer(ctx.as_raw().as_ptr(), array.as_raw(), none, none, none);
        let buffer = Value::from_raw(ctx.clone(), buffer);
        qjs::JS_IsImmutableArrayBuffer(buffer.as_raw())
    };
    if immutable < 0 {
        ctx.catch();
    }
    (immutable >= 0).then_some(immutable == 1)
}

/// An ArrayBuffer over memory that `owner` keeps; the owner is dropped with the buffer. It cannot grow.
///
/// # Safety
/// The memory stays in place, and may be written unless the buffer is made immutable, for as long as the owner lives.
pub(crate) unsafe fn array_buffer_over<'js, T>(
    ctx: &Ctx<'js>,
    (start, length): (*mut u8, usize),
    owner: Box<T>,
) -> Result<Value<'js>> {
    intrinsics::for_buffers(ctx)?;
    let opaque = Box::into_raw(owner);
    // SAFETY: by the contract; `on_realloc` takes the owner back once, with size 0.
    unsafe {
        let context = ctx.as_raw().as_ptr();
        let end = Some(on_realloc::<T> as _);
        let value = qjs::JS_NewArrayBuffer(context, start, length as _, 0, end, opaque.cast(), false);
        if qjs::JS_IsException(value) {
            return Err(Error::Exception);
        }
        Ok(Value::from_raw(ctx.clone(), value))
    }
}

unsafe extern "C" fn on_realloc<T>(
    _runtime: *mut qjs::JSRuntime,
    opaque: *mut qjs::c_void,
    _start: *mut qjs::c_void,
    size: qjs::size_t,
) -> *mut qjs::c_void {
    if size == 0 {
        // SAFETY: `opaque` comes from `Box::into_raw` in `array_buffer_over`; size 0 means that this is the end of the
        // buffer.
        drop(unsafe { Box::from_raw(opaque.cast::<T>()) });
    }
    // Memory of somebody else cannot grow: null says so.
    std::ptr::null_mut()
}

/// Whether the value is an ArrayBuffer, a typed array or a DataView.
pub fn is_buffer(value: &Value<'_>) -> bool {
    // SAFETY: these look at the class of an object only.
    object::of(value).is_some_and(|object| unsafe {
        let raw = object.as_raw();
        qjs::JS_IsArrayBuffer(raw) || qjs::JS_GetTypedArrayType(raw) >= 0 || qjs::JS_IsDataView(raw)
    })
}

/// The ArrayBuffer behind a value, and the part of it that the value shows.
pub(crate) fn window<'js>(value: &Value<'js>) -> Result<Option<(Object<'js>, usize, usize)>> {
    let Some(object) = object::of(value) else { return Ok(None) };
    // SAFETY: these three look at the class of the object only.
    let (is_buffer, is_view, is_typed) = unsafe {
        let raw = object.as_raw();
        (qjs::JS_IsArrayBuffer(raw), qjs::JS_IsDataView(raw), qjs::JS_GetTypedArrayType(raw) >= 0)
    };
    if is_buffer {
        return Ok(Some((object.clone(), 0, buffer_size(object))));
    }
    if is_typed {
        return typed_window(object).map(Some);
    }
    if !is_view {
        return Ok(None);
    }
    Ok(Some((object.get("buffer")?, object.get("byteOffset")?, object.get("byteLength")?)))
}

fn typed_window<'js>(array: &Object<'js>) -> Result<(Object<'js>, usize, usize)> {
    let (ctx, mut offset, mut len) = (array.ctx(), 0, 0);
    let none = std::ptr::null_mut();
    // SAFETY: a live typed array; the buffer that is returned has a count of its own.
    let buffer = unsafe {
        let context = ctx.as_raw().as_ptr();
        let raw = qjs::JS_GetTypedArrayBuffer(context, array.as_raw(), &mut offset, &mut len, none);
        Value::from_raw(ctx.clone(), raw)
    };
    match buffer.into_object() {
        Some(buffer) => Ok((buffer, offset as usize, len as usize)),
        // Of a detached buffer the engine tells no more than that.
        None => {
            ctx.catch();
            Ok((array.get("buffer")?, 0, 0))
        }
    }
}

/// Bytes of an ArrayBuffer; 0 when it is detached.
fn buffer_size(buffer: &Object<'_>) -> usize {
    let mut size = 0;
    // SAFETY: a live ArrayBuffer; a detached one yields null and a pending exception.
    let start = unsafe { qjs::JS_GetArrayBuffer(buffer.ctx().as_raw().as_ptr(), &mut size, buffer.as_raw()) };
    if start.is_null() {
        buffer.ctx().catch();
        return 0;
    }
    size as usize
}

#[cfg(test)]
mod tests {
    use rquickjs::{Context, Runtime};

    use super::*;

    fn with_value<R>(source: &str, f: impl for<'js> FnOnce(&Ctx<'js>, &Value<'js>) -> R) -> R {
        let runtime = Runtime::new().unwrap();
        Context::full(&runtime).unwrap().with(|ctx| {
            let value = ctx.eval(source).unwrap();
            f(&ctx, &value)
        })
    }

    #[test]
    fn strings_buffers_and_views_are_bytes() {
        for (source, expected) in [
            ("'aé'", Some(vec![97, 0xc3, 0xa9])),
            ("'a' + 'b'.repeat(3)", Some(b"abbb".to_vec())),
            ("new Uint8Array([1, 2, 3]).buffer", Some(vec![1, 2, 3])),
            ("new Uint8Array([1, 2, 3, 4]).subarray(1, 3)", Some(vec![2, 3])),
            ("new Uint16Array([1, 2]).subarray(1)", Some(vec![2, 0])),
            ("new DataView(new Uint8Array([1, 2, 3]).buffer, 1)", Some(vec![2, 3])),
            ("new ArrayBuffer(0)", Some(vec![])),
            ("[1, 2]", None),
            ("({ buffer: new ArrayBuffer(8), byteOffset: 0, byteLength: 8 })", None),
            ("5", None),
            ("null", None),
            ("(() => { const b = new ArrayBuffer(4); b.transfer(); return b; })()", None),
        ] {
            let found = with_value(source, |ctx, value| {
                let bytes = read(ctx, value, |bytes| bytes.to_vec()).unwrap();
                assert!(!ctx.has_exception(), "{source}");
                bytes
            });
            assert_eq!(found, expected, "{source}");
        }
    }

    #[test]
    fn one_character_beyond_ascii_is_found_anywhere() {
        for len in 1..20 {
            for at in 0..len {
                let text: String = (0..len).map(|index| if index == at { 'é' } else { 'a' }).collect();
                let source = format!("'{text}'");
                assert_eq!(with_value(&source, |_, value| super::text(value).unwrap()), Some(text));
            }
        }
    }

    #[test]
    fn lone_surrogates_are_replaced() {
        for (source, expected) in
            [("'a\\ud800b'", "a\u{fffd}b"), ("'\\udc00'", "\u{fffd}"), ("'\\ud83d\\ude00'", "\u{1f600}")]
        {
            assert_eq!(with_value(source, |_, value| text(value).unwrap()).as_deref(), Some(expected), "{source}");
        }
    }

    #[test]
    fn byte_arrays_can_be_filled() {
        for (source, expected) in [
            ("new Uint8Array(3)", Some("7,7,7")),
            ("new Uint8Array(4).subarray(1, 3)", Some("7,7")),
            ("new Uint8Array(0)", Some("")),
            ("new Uint8ClampedArray(3)", None),
            ("new Int8Array(3)", None),
            ("new ArrayBuffer(3)", None),
            ("new Uint8Array(new ArrayBuffer(4).transferToImmutable())", None),
            ("(() => { const a = new Uint8Array(4); a.buffer.transfer(); return a; })()", None),
            ("'text'", None),
        ] {
            let filled = with_value(source, |ctx, value| {
                let length = fill(value, |bytes| bytes.fill(7));
                assert!(!ctx.has_exception(), "{source}");
                length.map(|()| to_text(ctx, value).unwrap())
            });
            assert_eq!(filled.as_deref(), expected, "{source}");
        }
        let around = with_value("globalThis.a = new Uint8Array(4); a.subarray(1, 3)", |ctx, value| {
            fill(value, |bytes| bytes.fill(7));
            ctx.eval::<rquickjs::Coerced<String>, _>("a").unwrap().0
        });
        assert_eq!(around, "0,7,7,0");
    }

    #[test]
    fn any_value_has_a_text() {
        for (source, expected) in [("12.5", "12.5"), ("null", "null"), ("({})", "[object Object]"), ("[1,2]", "1,2")] {
            assert_eq!(with_value(source, |ctx, value| to_text(ctx, value).unwrap()), expected);
        }
        assert!(with_value("Object.create(null)", |ctx, value| to_text(ctx, value).is_err()));
    }
}
