//! Bytes of script values borrowed to a request instead of copied: bodies go to the socket from where the script has
//! them.
//!
//! `Borrows::with` borrows for the time of a call: after it a `Borrowed` has its length and no bytes. A `Borrowed`
//! shows its bytes to a closure and looks them up each time, and the engine itself guards them meanwhile: a buffer that
//! is shown is immutable, so that nothing can write, move or free what is behind it, not even a closure that runs
//! JavaScript. Strings never change.
//!
//! What is sent while the script goes on (`asyncRequest`) or prepared beside others (`batch`) is copied instead, and so
//! is what is short. Bytes of a `SharedArray` never change and need neither.

use std::cell::{Cell, OnceCell, RefCell};
use std::fmt;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::rc::Rc;

use ::bytes::Bytes;
use rquickjs::{CString, Ctx, Exception, Object, Result, Value, qjs};

use crate::coroutine::switch::Switch;
use crate::user::User;
use crate::values::bytes;
use crate::values::shared_buffer;

/// Up to this length a copy costs less than a borrow.
const SHORT: usize = 4 << 10;

/// Bytes of a script value, for a payload.
#[derive(Clone, Debug)]
pub enum Content {
    /// Shared or copied.
    Shared(Bytes),
    /// Borrowed.
    Borrowed(Borrowed),
}

/// The borrows of one request.
pub struct Borrows<'js> {
    /// Not counted: it outlives `'js`.
    context: NonNull<qjs::JSContext>,
    _context: PhantomData<Ctx<'js>>,
    borrows_values: bool,
    borrows: RefCell<Vec<Borrow<'js>>>,
}

struct Borrow<'js> {
    /// What the script gave; keeps the bytes.
    value: Value<'js>,
    borrowed: Borrowed,
    _keeper: Kept<'js>,
}

/// Keeps what a `Place` points at.
enum Kept<'js> {
    Buffer(#[expect(dead_code, reason = "keeps the buffer")] Object<'js>),
    Text(#[expect(dead_code, reason = "keeps the text")] CString<'js>),
}

/// Bytes that are borrowed. Cheap to clone.
#[derive(Clone)]
pub struct Borrowed(Rc<Inner>);

struct Inner {
    length: usize,
    /// Where the bytes are, while they are borrowed.
    source: Cell<Option<Place>>,
    /// A copy, when the script goes on while the request is under way.
    copy: OnceCell<Box<[u8]>>,
    switch: Rc<Switch>,
}

/// Valid as long as the keeper lives; taken out of `Inner` before that goes.
#[derive(Clone, Copy)]
enum Place {
    /// A part of an ArrayBuffer.
    Buffer { context: *mut qjs::JSContext, buffer: qjs::JSValue, offset: usize },
    /// The text in UTF-8, which for ASCII is the string itself.
    Text(*const u8),
}

impl fmt::Debug for Borrowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Borrowed({} bytes)", self.0.length)
    }
}

impl Borrowed {
    /// Number of bytes; never changes.
    pub fn len(&self) -> usize {
        self.0.length
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.length == 0
    }

    /// Shows the bytes; none when they are not borrowed any more, or a buffer was detached or became shorter.
    pub fn show<R>(&self, look: impl FnOnce(&[u8]) -> R) -> R {
        if let Some(copy) = self.0.copy.get() {
            return look(copy);
        }
        // A user that is suspended in the middle of native code may be changing the very buffer.
        match self.0.source.get().filter(|_| !self.0.switch.is_preempted()) {
            None => look(&[]),
            // SAFETY: the string is kept, and strings never change.
            Some(Place::Text(start)) => look(unsafe { std::slice::from_raw_parts(start, self.0.length) }),
            Some(Place::Buffer { context, buffer, offset }) => {
                let guard = Guard::of(buffer);
                // SAFETY: context and buffer are kept, as the source is there; the user is not halfway through native
                // code.
                let bytes = unsafe { window(context, buffer, offset, self.0.length) };
                // SAFETY: the buffer has `length` bytes there, and while it is immutable they stay as they are.
                let shown =
                    look(bytes.map_or(&[], |start| unsafe { std::slice::from_raw_parts(start, self.0.length) }));
                drop(guard);
                shown
            }
        }
    }
}

/// A buffer is immutable as long as this lives.
struct Guard {
    buffer: qjs::JSValue,
    was_immutable: bool,
}

impl Guard {
    fn of(buffer: qjs::JSValue) -> Guard {
        // SAFETY: a live ArrayBuffer, whose mark alone is looked at and set.
        let was_immutable = unsafe {
            let was_immutable = qjs::JS_IsImmutableArrayBuffer(buffer) == 1;
            qjs::JS_SetImmutableArrayBuffer(buffer, true);
            was_immutable
        };
        Guard { buffer, was_immutable }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // SAFETY: as in `of`; the borrow that showed it keeps it.
        unsafe { qjs::JS_SetImmutableArrayBuffer(self.buffer, self.was_immutable) };
    }
}

/// Where `length` bytes of a buffer begin, if it has them.
///
/// # Safety
/// Context and buffer are live.
unsafe fn window(
    context: *mut qjs::JSContext,
    buffer: qjs::JSValue,
    offset: usize,
    length: usize,
) -> Option<*const u8> {
    let mut size = 0;
    // SAFETY: by the contract. A buffer without memory gives null and an exception, which is taken here in favour of
    // one that was pending before. Runs no JavaScript.
    unsafe {
        let pending = qjs::JS_HasException(context).then(|| qjs::JS_GetException(context));
        let start = qjs::JS_GetArrayBuffer(context, &mut size, buffer);
        if start.is_null() {
            qjs::JS_FreeValue(context, qjs::JS_GetException(context));
        }
        if let Some(pending) = pending {
            qjs::JS_Throw(context, pending);
        }
        if start.is_null() {
            return None;
        }
        let fits = offset.checked_add(length).is_some_and(|end| end <= size as usize);
        fits.then(|| start.add(offset).cast_const())
    }
}

impl<'js> Borrows<'js> {
    /// Borrows as long as `call` runs: for a request in which the user is blocked.
    pub fn with<R>(ctx: &Ctx<'js>, call: impl FnOnce(&Borrows<'js>) -> R) -> R {
        call(&Borrows::new(ctx, true))
    }

    /// Copies everything.
    pub fn none(ctx: &Ctx<'js>) -> Borrows<'js> {
        Borrows::new(ctx, false)
    }

    #[inline]
    fn new(ctx: &Ctx<'js>, borrows_values: bool) -> Borrows<'js> {
        Borrows { context: ctx.as_raw(), _context: PhantomData, borrows_values, borrows: RefCell::default() }
    }

    fn ctx(&self) -> Ctx<'js> {
        // SAFETY: the context is live for `'js`.
        unsafe { Ctx::from_raw(self.context) }
    }

    /// The bytes of an ArrayBuffer or of a view of one; nothing for other values and detached buffers.
    pub fn buffer(&self, value: &Value<'js>) -> Result<Option<Content>> {
        if let Some(shared) = shared_buffer::bytes_of(&self.ctx(), value)? {
            return Ok(Some(Content::Shared(shared)));
        }
        let Some((buffer, offset, length)) = bytes::window(value)? else { return Ok(None) };
        if !self.borrows_values || length <= SHORT {
            return Ok(bytes::read(&self.ctx(), value, Bytes::copy_from_slice)?.map(Content::Shared));
        }
        let source = Place::Buffer { context: self.context.as_ptr(), buffer: buffer.as_raw(), offset };
        Ok(Some(self.borrow(value, source, Kept::Buffer(buffer), length)))
    }

    /// The text of a string in UTF-8; nothing for other values.
    pub fn text(&self, value: &Value<'js>) -> Result<Option<Content>> {
        let Some(string) = value.as_string() else { return Ok(None) };
        let text = string.clone().to_cstring()?;
        let length = text.len();
        if self.borrows_values && length > SHORT && bytes::is_well_formed(&text) {
            let source = Place::Text(text.as_ptr().cast());
            return Ok(Some(self.borrow(value, source, Kept::Text(text), length)));
        }
        Ok(Some(Content::Shared(Bytes::from(bytes::owned(&text)))))
    }

    fn borrow(&self, value: &Value<'js>, source: Place, keeper: Kept<'js>, length: usize) -> Content {
        let switch = User::of(&self.ctx()).switch().clone();
        let inner = Inner { length, source: Cell::new(Some(source)), copy: OnceCell::new(), switch };
        let borrowed = Borrowed(Rc::new(inner));
        self.borrows.borrow_mut().push(Borrow { value: value.clone(), borrowed: borrowed.clone(), _keeper: keeper });
        Content::Borrowed(borrowed)
    }

    /// Throws when a buffer no longer has the part that was to be borrowed: converting the arguments behind it may have
    /// run code of the script that detached or resized it.
    pub fn check(&self) -> Result<()> {
        let borrows = self.borrows.borrow();
        if borrows.iter().all(|borrow| borrow.borrowed.show(<[u8]>::len) == borrow.borrowed.len()) {
            return Ok(());
        }
        let message = "the buffer of the request's body was detached or resized while the arguments were read";
        Err(Exception::throw_type(&self.ctx(), message))
    }

    /// Makes copies of what is borrowed: from here on the script may change it.
    pub fn copy(&self) {
        for borrow in &*self.borrows.borrow() {
            let copy: Box<[u8]> = borrow.borrowed.show(|bytes| bytes.into());
            let _known = borrow.borrowed.0.copy.set(copy);
        }
    }

    /// The values that were borrowed, in the order of their segments.
    #[inline]
    pub fn values(&self) -> Vec<Value<'js>> {
        if self.borrows.borrow().is_empty() {
            return Vec::new();
        }
        self.borrows.borrow().iter().map(|borrow| borrow.value.clone()).collect()
    }
}

impl Drop for Borrow<'_> {
    fn drop(&mut self) {
        self.borrowed.0.source.set(None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_user::with_user;

    fn all(content: &Content) -> Vec<u8> {
        match content {
            Content::Shared(bytes) => bytes.to_vec(),
            Content::Borrowed(borrowed) => borrowed.show(<[u8]>::to_vec),
        }
    }

    #[test]
    fn long_values_are_lent_for_the_call_and_short_ones_are_copied() {
        with_user(|ctx| {
            let kept = Borrows::with(ctx, |borrows| {
                let view = ctx.eval("const b = new Uint8Array(10000).fill(7); b[3] = 1; b.subarray(3)").unwrap();
                let segment = borrows.buffer(&view).unwrap().unwrap();
                let text = borrows.text(&ctx.eval("'ab'.repeat(5000)").unwrap()).unwrap().unwrap();
                let latin = borrows.text(&ctx.eval("'é'.repeat(5000)").unwrap()).unwrap().unwrap();
                let short = borrows.buffer(&ctx.eval("new Uint8Array([1, 2])").unwrap()).unwrap().unwrap();
                assert!(matches!(
                    (&segment, &text, &short),
                    (Content::Borrowed(_), Content::Borrowed(_), Content::Shared(_))
                ));
                // Written after it was borrowed: it is no copy.
                ctx.eval::<(), _>("b[4] = 2").unwrap();
                borrows.check().unwrap();
                assert_eq!((&all(&segment)[..3], all(&segment).len()), (&[1, 2, 7][..], 9997));
                assert_eq!((all(&text), all(&latin)), ("ab".repeat(5000).into_bytes(), "é".repeat(5000).into_bytes()));
                assert_eq!(all(&short), [1, 2]);
                assert_eq!(borrows.values().len(), 3);
                let Content::Borrowed(borrowed) = segment else { panic!("it is long") };
                borrowed
            });
            assert_eq!((kept.show(<[u8]>::len), kept.len()), (0, 9997));
            Borrows::with(ctx, |borrows| {
                let segment = borrows.buffer(&ctx.eval("b").unwrap()).unwrap().unwrap();
                borrows.copy();
                ctx.eval::<(), _>("b.fill(9)").unwrap();
                assert_eq!((&all(&segment)[3..6], all(&segment).len()), (&[1, 2, 7][..], 10_000));
            });
        });
    }

    #[test]
    fn what_is_shown_cannot_be_changed_meanwhile() {
        with_user(|ctx| {
            let buffer = ctx.eval("var b = new ArrayBuffer(9000, { maxByteLength: 9000 }); b").unwrap();
            Borrows::with(ctx, |borrows| {
                let Some(Content::Borrowed(borrowed)) = borrows.buffer(&buffer).unwrap() else { panic!("it is long") };
                borrowed.show(|bytes| {
                    for spoil in ["b.transfer()", "b.resize(100)", "new Uint8Array(b).fill(1)"] {
                        let spoilt = format!("try {{ {spoil}; 'done' }} catch (error) {{ error.name }}");
                        assert_eq!(ctx.eval::<String, _>(spoilt).unwrap(), "TypeError", "{spoil}");
                    }
                    assert_eq!((bytes.len(), bytes[0]), (9000, 0));
                    // The same buffer again, within.
                    borrowed.show(|inner| assert_eq!(inner.len(), 9000));
                    assert!(ctx.eval::<(), _>("b.transfer()").is_err());
                });
                ctx.eval::<(), _>("new Uint8Array(b)[0] = 5; b.transfer(); 0").unwrap();
                assert_eq!(borrowed.show(<[u8]>::len), 0);
            });
        });
    }

    #[test]
    fn text_with_lone_surrogates_and_what_is_not_to_be_lent_is_copied() {
        with_user(|ctx| {
            Borrows::with(ctx, |borrows| {
                let broken = ctx.eval("'\\ud800' + 'a'.repeat(9000)").unwrap();
                let text = borrows.text(&broken).unwrap().unwrap();
                assert!(all(&text).starts_with("\u{fffd}aaa".as_bytes()) && all(&text).len() == 9003);
                assert!(borrows.buffer(&ctx.eval("({})").unwrap()).unwrap().is_none());
            });
            let buffer = ctx.eval("new ArrayBuffer(9000)").unwrap();
            let copy = Borrows::none(ctx).buffer(&buffer).unwrap().unwrap();
            assert!(matches!(copy, Content::Shared(bytes) if bytes.len() == 9000));
        });
    }

    #[test]
    fn a_buffer_that_went_away_is_noticed_before_it_is_sent() {
        for (make, spoil) in [
            ("var b = new ArrayBuffer(9000); b", "b.transfer()"),
            ("var b = new ArrayBuffer(9000, { maxByteLength: 9000 }); new Uint8Array(b)", "b.resize(100)"),
        ] {
            with_user(|ctx| {
                Borrows::with(ctx, |borrows| {
                    let content = borrows.buffer(&ctx.eval(make).unwrap()).unwrap().unwrap();
                    ctx.eval::<(), _>(format!("{spoil}; 0")).unwrap();
                    assert!(borrows.check().is_err(), "{spoil}");
                    assert_eq!(all(&content), b"", "{spoil}");
                    let error = ctx.catch();
                    let message: String = error.as_object().unwrap().get("message").unwrap();
                    assert!(message.contains("detached or resized"), "{message}");
                });
            });
        }
    }
}
