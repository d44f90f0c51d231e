//! Bytes of script values lent to a request while the user is blocked in it: bodies go to the socket without a copy.
//!
//! A loan is noted when the argument is converted, which keeps the value alive but looks at no bytes yet: converting the
//! arguments behind it may still run code of the script that detaches or resizes a buffer. `open` looks them all up, when
//! the script does not run; `close` ends that, before the script runs again. Outside of that time a loan has
//! its length and no bytes. What is sent while the script continues (`asyncRequest`) or prepared beside others
//! (`batch`) is copied instead, and so is what is short. Bytes of a `SharedArray` never change and need neither.
#![allow(unsafe_code)]

use std::cell::{Cell, OnceCell, RefCell};
use std::ptr;
use std::rc::Rc;

use ::bytes::Bytes;
use rquickjs::{CString, Ctx, Exception, Object, Result, Value, qjs};
use wire::{Lender, Segment};

use super::{bytes, shared_buffer};

/// Up to this length a copy costs less than a loan.
const SHORT: usize = 4 << 10;

/// The loans of one request.
pub struct Loans<'js> {
    ctx: Ctx<'js>,
    lends: bool,
    loans: RefCell<Vec<Loan<'js>>>,
}

struct Loan<'js> {
    /// What the script gave.
    value: Value<'js>,
    source: Source<'js>,
    lent: Rc<Lent>,
}

enum Source<'js> {
    /// A part of an ArrayBuffer.
    Buffer { buffer: Object<'js>, offset: usize },
    /// The text in UTF-8, which for ASCII is the string itself.
    Text(CString<'js>),
}

/// The side of a loan that the payload holds.
struct Lent {
    /// Null while the loan is not open.
    start: Cell<*const u8>,
    len: usize,
    /// A copy, when the script continues while the request is under way.
    copy: OnceCell<Box<[u8]>>,
}

impl Lender for Lent {
    fn len(&self) -> usize {
        self.len
    }

    fn bytes(&self) -> &[u8] {
        if let Some(copy) = self.copy.get() {
            return copy;
        }
        if self.start.get().is_null() {
            return &[];
        }
        // SAFETY: between `open` and `close` the pointer has `len` bytes behind it: `open` has checked that, the loan keeps
        // their owner alive, and no JavaScript of its runtime's user runs that could move them. What is returned is used by
        // the exchange alone, which has ended before `close`.
        unsafe { std::slice::from_raw_parts(self.start.get(), self.len) }
    }
}

impl<'js> Loans<'js> {
    /// Lends: for a request in which the user is blocked.
    pub fn new(ctx: &Ctx<'js>) -> Loans<'js> {
        Loans { ctx: ctx.clone(), lends: true, loans: RefCell::default() }
    }

    /// Copies everything.
    pub fn none(ctx: &Ctx<'js>) -> Loans<'js> {
        Loans { ctx: ctx.clone(), lends: false, loans: RefCell::default() }
    }

    /// The bytes of an ArrayBuffer or of a view of one; nothing for other values and detached buffers.
    pub fn buffer(&self, value: &Value<'js>) -> Result<Option<Segment>> {
        if let Some(shared) = shared_buffer::bytes_of(&self.ctx, value)? {
            return Ok(Some(Segment::Shared(shared)));
        }
        let Some((buffer, offset, len)) = bytes::window(value)? else { return Ok(None) };
        if !self.lends || len <= SHORT {
            return Ok(bytes::read(&self.ctx, value, Bytes::copy_from_slice)?.map(Segment::Shared));
        }
        let source = Source::Buffer { buffer, offset };
        Ok(Some(self.lend(value, source, len)))
    }

    /// The text of a string in UTF-8; nothing for other values.
    pub fn text(&self, value: &Value<'js>) -> Result<Option<Segment>> {
        let Some(string) = value.as_string() else { return Ok(None) };
        let text = string.clone().to_cstring()?;
        let len = text.len();
        if self.lends && len > SHORT && bytes::is_well_formed(&text) {
            return Ok(Some(self.lend(value, Source::Text(text), len)));
        }
        Ok(Some(Segment::Shared(Bytes::from(bytes::owned(&text)))))
    }

    fn lend(&self, value: &Value<'js>, source: Source<'js>, len: usize) -> Segment {
        let lent = Rc::new(Lent { start: Cell::new(ptr::null()), len, copy: OnceCell::new() });
        self.loans.borrow_mut().push(Loan { value: value.clone(), source, lent: Rc::clone(&lent) });
        Segment::Lent(lent)
    }

    /// Looks the bytes up. From here to `close` the script must not run. Throws when a buffer no longer has the part
    /// that was to be lent.
    pub fn open(&self) -> Result<()> {
        for loan in &*self.loans.borrow() {
            let start = loan.source.start(&self.ctx, loan.lent.len).ok_or_else(|| {
                let message = "the buffer of the request's body was detached or resized while the arguments were read";
                Exception::throw_type(&self.ctx, message)
            })?;
            loan.lent.start.set(start);
        }
        Ok(())
    }

    /// Makes copies of what is open: from here on the script may run.
    pub fn copy(&self) {
        for loan in &*self.loans.borrow() {
            let copy: Box<[u8]> = loan.lent.bytes().into();
            let _ = loan.lent.copy.set(copy);
        }
        self.close();
    }

    /// Ends all loans.
    pub fn close(&self) {
        self.loans.borrow().iter().for_each(|loan| loan.lent.start.set(ptr::null()));
    }

    /// The values that were lent, in the order of their segments.
    pub fn values(&self) -> Vec<Value<'js>> {
        self.loans.borrow().iter().map(|loan| loan.value.clone()).collect()
    }
}

impl Drop for Loans<'_> {
    fn drop(&mut self) {
        self.close();
    }
}

impl Source<'_> {
    /// Where `len` bytes begin.
    fn start(&self, ctx: &Ctx<'_>, len: usize) -> Option<*const u8> {
        let (buffer, offset) = match self {
            Source::Text(text) => return Some(text.as_ptr().cast()),
            Source::Buffer { buffer, offset } => (buffer, *offset),
        };
        let mut size = 0;
        // SAFETY: anything but a buffer with memory gives null and a pending exception. Runs no JavaScript.
        let start = unsafe { qjs::JS_GetArrayBuffer(ctx.as_raw().as_ptr(), &mut size, buffer.as_raw()) };
        if start.is_null() {
            ctx.catch();
            return None;
        }
        let fits = offset.checked_add(len).is_some_and(|end| end <= size as usize);
        fits.then(|| start.wrapping_add(offset).cast_const())
    }
}

#[cfg(test)]
mod tests {
    use rquickjs::{Context, Runtime};
    use wire::Payload;

    use super::*;

    fn in_context(f: impl for<'js> FnOnce(&Ctx<'js>)) {
        let runtime = Runtime::new().unwrap();
        Context::full(&runtime).unwrap().with(|ctx| f(&ctx));
    }

    fn all(segment: &Segment) -> Vec<u8> {
        let mut bytes = Vec::new();
        Payload::from(segment.clone()).read(|piece| bytes.extend_from_slice(piece)).unwrap();
        bytes
    }

    #[test]
    fn long_values_are_lent_while_open_and_short_ones_are_copied() {
        in_context(|ctx| {
            let loans = Loans::new(ctx);
            let view = ctx.eval("const b = new Uint8Array(10000).fill(7); b[3] = 1; b.subarray(3)").unwrap();
            let segment = loans.buffer(&view).unwrap().unwrap();
            let text = loans.text(&ctx.eval("'ab'.repeat(5000)").unwrap()).unwrap().unwrap();
            let latin = loans.text(&ctx.eval("'é'.repeat(5000)").unwrap()).unwrap().unwrap();
            let short = loans.buffer(&ctx.eval("new Uint8Array([1, 2])").unwrap()).unwrap().unwrap();
            assert!(matches!((&segment, &text, &short), (Segment::Lent(_), Segment::Lent(_), Segment::Shared(_))));
            assert_eq!((segment.len(), text.len(), latin.len()), (9997, 10_000, 10_000));
            assert_eq!(all(&segment), b"");
            // Written after it was lent: it is no copy.
            ctx.eval::<(), _>("b[4] = 2").unwrap();
            loans.open().unwrap();
            assert_eq!((&all(&segment)[..3], all(&segment).len()), (&[1, 2, 7][..], 9997));
            assert_eq!((all(&text), all(&latin)), ("ab".repeat(5000).into_bytes(), "é".repeat(5000).into_bytes()));
            assert_eq!(all(&short), [1, 2]);
            assert_eq!(loans.values().len(), 3);
            loans.close();
            assert_eq!((all(&segment).len(), segment.len()), (0, 9997));
            loans.open().unwrap();
            loans.copy();
            ctx.eval::<(), _>("b.fill(9)").unwrap();
            assert_eq!((&all(&segment)[..3], all(&segment).len()), (&[1, 2, 7][..], 9997));
        });
    }

    #[test]
    fn text_with_lone_surrogates_and_what_is_not_to_be_lent_is_copied() {
        in_context(|ctx| {
            let broken = ctx.eval("'\\ud800' + 'a'.repeat(9000)").unwrap();
            let text = Loans::new(ctx).text(&broken).unwrap().unwrap();
            assert!(all(&text).starts_with("\u{fffd}aaa".as_bytes()) && text.len() == 9003);
            let buffer = ctx.eval("new ArrayBuffer(9000)").unwrap();
            let copy = Loans::none(ctx).buffer(&buffer).unwrap().unwrap();
            assert!(matches!(copy, Segment::Shared(bytes) if bytes.len() == 9000));
            assert!(Loans::new(ctx).buffer(&ctx.eval("({})").unwrap()).unwrap().is_none());
        });
    }

    #[test]
    fn a_buffer_that_went_away_is_noticed_before_it_is_sent() {
        for (make, spoil) in [
            ("var b = new ArrayBuffer(9000); b", "b.transfer()"),
            ("var b = new ArrayBuffer(9000, { maxByteLength: 9000 }); new Uint8Array(b)", "b.resize(100)"),
        ] {
            in_context(|ctx| {
                let loans = Loans::new(ctx);
                let segment = loans.buffer(&ctx.eval(make).unwrap()).unwrap().unwrap();
                ctx.eval::<(), _>(format!("{spoil}; 0")).unwrap();
                assert!(loans.open().is_err(), "{spoil}");
                drop(loans);
                assert_eq!(all(&segment), b"", "{spoil}");
                let error = ctx.catch();
                let message: String = error.as_object().unwrap().get("message").unwrap();
                assert!(message.contains("detached or resized"), "{message}");
            });
        }
    }
}
