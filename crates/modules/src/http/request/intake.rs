//! Response bodies that are taken in while they arrive and kept nowhere: `params.hash`, `params.onBody` and
//! `params.onEvent`.
//!
//! Bytes reach a sink while the user is suspended, where no JavaScript can run. A digest takes them at once. For a
//! callback one read's worth is set aside, and reading continues when the callback has had it: memory stays bounded and
//! the sender slows down to the pace of the script. Only the body of a 2xx answer comes here; others are in `body` as
//! usual.

use data_encoding::HEXLOWER;
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use host::bytes::array_buffer;
use host::js::{Ctx, Error, Function, Persistent, Result, Value};
use wire::request::{BodySink, BodyUse};
use wire::{Body, Exchange};

use super::events::EventStream;
use crate::crypto::digest::{Algorithm, Hasher};
use crate::http::common::refusal::Refusal;
use script::Vu;

/// What takes the body in.
#[derive(Clone, Default)]
pub enum Intake {
    /// Nothing special: `response.body`.
    #[default]
    Body,
    /// A digest of it: `response.hash`.
    Hash(Rc<Digest>),
    /// A function of the script.
    Callback(Rc<Chunks>),
    /// Someone who wants its events.
    Events(Rc<EventStream>),
}

impl Intake {
    /// What `params.hash` asks for.
    pub fn hash(name: &str) -> std::result::Result<Intake, Refusal> {
        let Some(algorithm) = Algorithm::named(name) else {
            let known: Vec<&str> = Algorithm::ALL.iter().map(|(name, _)| *name).collect();
            return Err(Refusal::new(format!("hash is \"{name}\", expected one of {}", known.join(", "))));
        };
        Ok(Intake::Hash(Rc::new(Digest { hasher: RefCell::new(algorithm.hasher()) })))
    }

    /// What `params.onBody` asks for.
    pub fn callback<'js>(ctx: &Ctx<'js>, function: Function<'js>) -> Intake {
        let callback = RefCell::new(Some(Persistent::save(ctx, function)));
        Intake::Callback(Rc::new(Chunks { callback, ..Chunks::default() }))
    }

    /// How the network side takes the body, unless it is used as usual.
    pub fn body_use(&self) -> Option<BodyUse> {
        match self {
            Intake::Body => None,
            Intake::Hash(digest) => Some(BodyUse::Stream(Rc::<Digest>::clone(digest))),
            Intake::Callback(chunks) => Some(BodyUse::Stream(Rc::<Chunks>::clone(chunks))),
            Intake::Events(events) => Some(BodyUse::Stream(Rc::<EventStream>::clone(events))),
        }
    }

    /// The name of the param, when it calls functions of the script while the request is under way.
    pub fn calling(&self) -> Option<&'static str> {
        match self {
            Intake::Body | Intake::Hash(_) => None,
            Intake::Callback(_) => Some("onBody"),
            Intake::Events(_) => Some("onEvent"),
        }
    }

    /// The digest in hexadecimal digits; `None` when there was no body.
    pub fn digest_of(&self, exchange: Option<&Exchange>) -> Option<String> {
        let Intake::Hash(digest) = self else { return None };
        let is_streamed = matches!(exchange?.outcome.as_ref().ok()?.body, Body::Discarded(_));
        is_streamed.then(|| HEXLOWER.encode(&digest.hasher.borrow().digest()))
    }
}

/// A digest over what arrives.
pub struct Digest {
    hasher: RefCell<Box<dyn Hasher>>,
}

impl BodySink for Digest {
    fn take(&self, bytes: &[u8]) {
        self.hasher.borrow_mut().update(bytes);
    }

    fn poll_ready(&self, _cx: &mut Context<'_>) -> Poll<std::result::Result<(), String>> {
        Poll::Ready(Ok(()))
    }
}

/// Bytes on their way to a callback.
#[derive(Default)]
pub struct Chunks {
    /// Gone once the request is being waited for.
    callback: RefCell<Option<Persistent<Function<'static>>>>,
    waiting: RefCell<Vec<u8>>,
    waker: Cell<Option<Waker>>,
    /// Why the callback takes no more.
    refused: RefCell<Option<String>>,
}

impl BodySink for Chunks {
    fn take(&self, bytes: &[u8]) {
        self.waiting.borrow_mut().extend_from_slice(bytes);
    }

    fn poll_ready(&self, cx: &mut Context<'_>) -> Poll<std::result::Result<(), String>> {
        if let Some(why) = self.refused.borrow().as_ref() {
            return Poll::Ready(Err(why.clone()));
        }
        if self.waiting.borrow().is_empty() {
            return Poll::Ready(Ok(()));
        }
        self.waker.set(Some(cx.waker().clone()));
        Poll::Pending
    }
}

impl Chunks {
    /// Ends the request at its next read.
    fn refuse(&self, why: &str) {
        *self.refused.borrow_mut() = Some(String::from(why));
    }

    fn take_waiting(&self) -> Option<Vec<u8>> {
        let bytes = std::mem::take(&mut *self.waiting.borrow_mut());
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
        (!bytes.is_empty()).then_some(bytes)
    }
}

/// Waits for a request whose body goes to a callback of the script. What the callback throws ends the request, which
/// then counts as failed, and is thrown again.
pub fn drive<'js>(
    ctx: &Ctx<'js>,
    vu: &Vu,
    chunks: &Chunks,
    mut request: Pin<&mut impl Future<Output = ()>>,
) -> Result<()> {
    let callback = chunks.callback.take().expect("a request is waited for once").restore(ctx)?;
    let mut thrown: Option<Value<'js>> = None;
    loop {
        let done = vu.block_on(
            ctx,
            std::future::poll_fn(|cx| match request.as_mut().poll(cx) {
                Poll::Ready(()) => Poll::Ready(true),
                Poll::Pending if !chunks.waiting.borrow().is_empty() => Poll::Ready(false),
                Poll::Pending => Poll::Pending,
            }),
        )?;
        if let Some(bytes) = chunks.take_waiting().filter(|_| thrown.is_none()) {
            let given = array_buffer(ctx, bytes).and_then(|chunk| callback.call::<_, ()>((chunk,)));
            match given {
                Ok(()) => {}
                Err(Error::Exception) if !vu.is_leaving() => {
                    chunks.refuse("onBody threw an error");
                    thrown = Some(ctx.catch());
                }
                Err(error) => return Err(error),
            }
        }
        if done {
            return thrown.map_or(Ok(()), |error| Err(ctx.throw(error)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_go_by_the_names_of_k6_crypto() {
        let Ok(Intake::Hash(digest)) = Intake::hash("sha256") else { panic!("sha256 is known") };
        digest.take(b"ab");
        digest.take(b"c");
        assert!(HEXLOWER.encode(&digest.hasher.borrow().digest()).starts_with("ba7816bf8f01cfea"));
        let refusal = Intake::hash("crc").err().expect("crc is no digest");
        assert!(refusal.message.starts_with("hash is \"crc\", expected one of md4, md5, sha1, sha256"));
    }

    #[test]
    fn a_callback_that_has_bytes_to_take_stops_the_reading() {
        let chunks = Chunks::default();
        let mut cx = Context::from_waker(Waker::noop());
        assert_eq!(chunks.poll_ready(&mut cx), Poll::Ready(Ok(())));
        chunks.take(b"abc");
        chunks.take(b"d");
        assert_eq!(chunks.poll_ready(&mut cx), Poll::Pending);
        assert_eq!(chunks.take_waiting().as_deref(), Some(&b"abcd"[..]));
        assert_eq!(chunks.poll_ready(&mut cx), Poll::Ready(Ok(())));
        chunks.refuse("no more");
        assert_eq!(chunks.poll_ready(&mut cx), Poll::Ready(Err(String::from("no more"))));
    }
}
