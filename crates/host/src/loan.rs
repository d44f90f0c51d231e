//! Bytes of script values lent to a request instead of copied: bodies go to the socket from where the script has them.
//!
//! `Loans::with` lends for the time of a call: after it a `Lent` has its length and no bytes. A loan shows its bytes to a closure
//! and looks them up each time, and the engine itself guards them meanwhile: a buffer that is shown is immutable, so that
//! nothing can write, move or free what is behind it, not even a closure that runs JavaScript. Strings never change.
//!
//! What is sent while the script continues (`asyncRequest`) or prepared beside others (`batch`) is copied instead, and
//! so is what is short. Bytes of a `SharedArray` never change and need neither.

use std::cell::{Cell, OnceCell, RefCell};
use std::fmt;
use std::rc::Rc;

use ::bytes::Bytes;
use rquickjs::{CString, Ctx, Exception, Object, Result, Value, qjs};

use crate::switch::Switch;
use crate::user::User;
use crate::{bytes, shared_buffer};

/// Up to this length a copy costs less than a loan.
const SHORT: usize = 4 << 10;

/// Bytes of a script value, for a payload.
#[derive(Clone, Debug)]
pub enum Content {
    /// Shared or copied.
    Shared(Bytes),
    /// Lent.
    Lent(Lent),
}

/// The loans of one request.
pub struct Loans<'js> {
    ctx: Ctx<'js>,
    lends: bool,
    loans: RefCell<Vec<Loan<'js>>>,
}

struct Loan<'js> {
    /// What the script gave; keeps the bytes.
    value: Value<'js>,
    lent: Lent,
    _keeper: Keeper<'js>,
}

/// Keeps what a `Source` points at.
enum Keeper<'js> {
    Buffer(#[expect(dead_code, reason = "keeps the buffer")] Object<'js>),
    Text(#[expect(dead_code, reason = "keeps the text")] CString<'js>),
}

/// Bytes that are lent. Cheap to clone.
#[derive(Clone)]
pub struct Lent(Rc<Inner>);

struct Inner {
    length: usize,
    /// Where the bytes are, while they are lent.
    source: Cell<Option<Source>>,
    /// A copy, when the script continues while the request is under way.
    copy: OnceCell<Box<[u8]>>,
    switch: Rc<Switch>,
}

/// Valid as long as the keeper lives; taken out of `Inner` before that goes.
#[derive(Clone, Copy)]
enum Source {
    /// A part of an ArrayBuffer.
    Buffer { context: *mut qjs::JSContext, buffer: qjs::JSValue, offset: usize },
    /// The text in UTF-8, which for ASCII is the string itself.
    Text(*const u8),
}

impl fmt::Debug for Lent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lent({} bytes)", self.0.length)
    }
}

impl Lent {
    /// Number of bytes; never changes.
    pub fn len(&self) -> usize {
        self.0.length
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.length == 0
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        // Replaced by `show` with the next change of wire.
        self.show(|bytes| unsafe { std::slice::from_raw_parts(bytes.as_ptr(), bytes.len()) })
    }

    /// Shows the bytes; none when they are not lent any more, or a buffer was detached or became shorter.
    pub fn show<R>(&self, look: impl FnOnce(&[u8]) -> R) -> R {
        if let Some(copy) = self.0.copy.get() {
            return look(copy);
        }
        // A user that is suspended in the middle of native code may be changing the very buffer.
        match self.0.source.get().filter(|_| !self.0.switch.is_preempted()) {
            None => look(&[]),
            // SAFETY: the string is kept, and strings never change.
            Some(Source::Text(start)) => look(unsafe { std::slice::from_raw_parts(start, self.0.length) }),
            Some(Source::Buffer { context, buffer, offset }) => {
                let guard = Guard::of(buffer);
                // SAFETY: context and buffer are kept, as the source is there; the user is not halfway through native code.
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
        // SAFETY: as in `of`; the loan that showed it keeps it.
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
    // SAFETY: by the contract. A buffer without memory gives null and a pending exception, which is taken here. Runs no JavaScript.
    unsafe {
        let start = qjs::JS_GetArrayBuffer(context, &mut size, buffer);
        if start.is_null() {
            qjs::JS_FreeValue(context, qjs::JS_GetException(context));
            return None;
        }
        let fits = offset.checked_add(length).is_some_and(|end| end <= size as usize);
        fits.then(|| start.add(offset).cast_const())
    }
}

impl<'js> Loans<'js> {
    /// Lends as long as `call` runs: for a request in which the user is blocked.
    pub fn with<R>(ctx: &Ctx<'js>, call: impl FnOnce(&Loans<'js>) -> R) -> R {
        let loans = Loans { ctx: ctx.clone(), lends: true, loans: RefCell::default() };
        call(&loans)
    }

    /// Copies everything.
    pub fn none(ctx: &Ctx<'js>) -> Loans<'js> {
        Loans { ctx: ctx.clone(), lends: false, loans: RefCell::default() }
    }

    /// The bytes of an ArrayBuffer or of a view of one; nothing for other values and detached buffers.
    pub fn buffer(&self, value: &Value<'js>) -> Result<Option<Content>> {
        if let Some(shared) = shared_buffer::bytes_of(&self.ctx, value)? {
            return Ok(Some(Content::Shared(shared)));
        }
        let Some((buffer, offset, length)) = bytes::window(value)? else { return Ok(None) };
        if !self.lends || length <= SHORT {
            return Ok(bytes::read(&self.ctx, value, Bytes::copy_from_slice)?.map(Content::Shared));
        }
        let source = Source::Buffer { context: self.ctx.as_raw().as_ptr(), buffer: buffer.as_raw(), offset };
        Ok(Some(self.lend(value, source, Keeper::Buffer(buffer), length)))
    }

    /// The text of a string in UTF-8; nothing for other values.
    pub fn text(&self, value: &Value<'js>) -> Result<Option<Content>> {
        let Some(string) = value.as_string() else { return Ok(None) };
        let text = string.clone().to_cstring()?;
        let length = text.len();
        if self.lends && length > SHORT && bytes::is_well_formed(&text) {
            let source = Source::Text(text.as_ptr().cast());
            return Ok(Some(self.lend(value, source, Keeper::Text(text), length)));
        }
        Ok(Some(Content::Shared(Bytes::from(bytes::owned(&text)))))
    }

    fn lend(&self, value: &Value<'js>, source: Source, keeper: Keeper<'js>, length: usize) -> Content {
        let switch = User::of(&self.ctx).switch().clone();
        let inner = Inner { length, source: Cell::new(Some(source)), copy: OnceCell::new(), switch };
        let lent = Lent(Rc::new(inner));
        self.loans.borrow_mut().push(Loan { value: value.clone(), lent: lent.clone(), _keeper: keeper });
        Content::Lent(lent)
    }

    /// Throws when a buffer no longer has the part that was to be lent: converting the arguments behind it may have run code
    /// of the script that detached or resized it.
    pub fn check(&self) -> Result<()> {
        let loans = self.loans.borrow();
        if loans.iter().all(|loan| loan.lent.show(<[u8]>::len) == loan.lent.len()) {
            return Ok(());
        }
        let message = "the buffer of the request's body was detached or resized while the arguments were read";
        Err(Exception::throw_type(&self.ctx, message))
    }

    /// Makes copies of what is lent: from here on the script may change it.
    pub fn copy(&self) {
        for loan in &*self.loans.borrow() {
            let copy: Box<[u8]> = loan.lent.show(|bytes| bytes.into());
            let _known = loan.lent.0.copy.set(copy);
        }
    }

    /// The values that were lent, in the order of their segments.
    pub fn values(&self) -> Vec<Value<'js>> {
        self.loans.borrow().iter().map(|loan| loan.value.clone()).collect()
    }
}

impl Drop for Loan<'_> {
    fn drop(&mut self) {
        self.lent.0.source.set(None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_user::with_user;

    fn all(content: &Content) -> Vec<u8> {
        match content {
            Content::Shared(bytes) => bytes.to_vec(),
            Content::Lent(lent) => lent.show(<[u8]>::to_vec),
        }
    }

    #[test]
    fn long_values_are_lent_for_the_call_and_short_ones_are_copied() {
        with_user(|ctx| {
            let kept = Loans::with(ctx, |loans| {
                let view = ctx.eval("const b = new Uint8Array(10000).fill(7); b[3] = 1; b.subarray(3)").unwrap();
                let segment = loans.buffer(&view).unwrap().unwrap();
                let text = loans.text(&ctx.eval("'ab'.repeat(5000)").unwrap()).unwrap().unwrap();
                let latin = loans.text(&ctx.eval("'é'.repeat(5000)").unwrap()).unwrap().unwrap();
                let short = loans.buffer(&ctx.eval("new Uint8Array([1, 2])").unwrap()).unwrap().unwrap();
                assert!(matches!((&segment, &text, &short), (Content::Lent(_), Content::Lent(_), Content::Shared(_))));
                // Written after it was lent: it is no copy.
                ctx.eval::<(), _>("b[4] = 2").unwrap();
                loans.check().unwrap();
                assert_eq!((&all(&segment)[..3], all(&segment).len()), (&[1, 2, 7][..], 9997));
                assert_eq!((all(&text), all(&latin)), ("ab".repeat(5000).into_bytes(), "é".repeat(5000).into_bytes()));
                assert_eq!(all(&short), [1, 2]);
                assert_eq!(loans.values().len(), 3);
                let Content::Lent(lent) = segment else { panic!("it is long") };
                lent
            });
            assert_eq!((kept.show(<[u8]>::len), kept.len()), (0, 9997));
            Loans::with(ctx, |loans| {
                let segment = loans.buffer(&ctx.eval("b").unwrap()).unwrap().unwrap();
                loans.copy();
                ctx.eval::<(), _>("b.fill(9)").unwrap();
                assert_eq!((&all(&segment)[3..6], all(&segment).len()), (&[1, 2, 7][..], 10_000));
            });
        });
    }

    #[test]
    fn what_is_shown_cannot_be_changed_meanwhile() {
        with_user(|ctx| {
            let buffer = ctx.eval("var b = new ArrayBuffer(9000, { maxByteLength: 9000 }); b").unwrap();
            Loans::with(ctx, |loans| {
                let Some(Content::Lent(lent)) = loans.buffer(&buffer).unwrap() else { panic!("it is long") };
                lent.show(|bytes| {
                    for spoil in ["b.transfer()", "b.resize(100)", "new Uint8Array(b).fill(1)"] {
                        let spoilt = format!("try {{ {spoil}; 'done' }} catch (error) {{ error.name }}");
                        assert_eq!(ctx.eval::<String, _>(spoilt).unwrap(), "TypeError", "{spoil}");
                    }
                    assert_eq!((bytes.len(), bytes[0]), (9000, 0));
                    // The same buffer again, within.
                    lent.show(|inner| assert_eq!(inner.len(), 9000));
                    assert!(ctx.eval::<(), _>("b.transfer()").is_err());
                });
                ctx.eval::<(), _>("new Uint8Array(b)[0] = 5; b.transfer(); 0").unwrap();
                assert_eq!(lent.show(<[u8]>::len), 0);
            });
        });
    }

    #[test]
    fn text_with_lone_surrogates_and_what_is_not_to_be_lent_is_copied() {
        with_user(|ctx| {
            Loans::with(ctx, |loans| {
                let broken = ctx.eval("'\\ud800' + 'a'.repeat(9000)").unwrap();
                let text = loans.text(&broken).unwrap().unwrap();
                assert!(all(&text).starts_with("\u{fffd}aaa".as_bytes()) && all(&text).len() == 9003);
                assert!(loans.buffer(&ctx.eval("({})").unwrap()).unwrap().is_none());
            });
            let buffer = ctx.eval("new ArrayBuffer(9000)").unwrap();
            let copy = Loans::none(ctx).buffer(&buffer).unwrap().unwrap();
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
                Loans::with(ctx, |loans| {
                    let content = loans.buffer(&ctx.eval(make).unwrap()).unwrap().unwrap();
                    ctx.eval::<(), _>(format!("{spoil}; 0")).unwrap();
                    assert!(loans.check().is_err(), "{spoil}");
                    assert_eq!(all(&content), b"", "{spoil}");
                    let error = ctx.catch();
                    let message: String = error.as_object().unwrap().get("message").unwrap();
                    assert!(message.contains("detached or resized"), "{message}");
                });
            });
        }
    }
}
