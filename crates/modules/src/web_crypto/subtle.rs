//! `crypto.subtle`: functions that return promises.
//!
//! What is short is done at once and its promise is settled when the call returns. What may take longer (keys of RSA,
//! its private operations, PBKDF2, megabytes) runs on a thread of its own, because the other users of the worker would
//! wait for it. What is wrong with a call is the rejection of its promise: an `Error` with the name that the Web gives
//! it.

use std::ffi::CStr;

use host::bytes;
use host::js::{Ctx, IntoJs, Object, Promise, Result, Value};
use host::native::{self, NativeClass};
use host::plain::{self, Args, Plain};

use super::arguments::Outcome;
use super::key::CryptoKey;
use super::{jwk, keys, operations};
use crate::experimental::named_error::NamedError;
use script::Vu;
use script::arguments::ArgumentError;
use script::go_error;

/// What an operation gives.
pub(super) enum Product {
    Bytes(Vec<u8>),
    Truth(bool),
    Key(CryptoKey),
    Pair(Box<(CryptoKey, CryptoKey)>),
    Jwk(CryptoKey),
}

impl Product {
    pub(super) fn pair(keys: (CryptoKey, CryptoKey)) -> Product {
        Product::Pair(Box::new(keys))
    }
}

/// What runs elsewhere.
type Later = Box<dyn FnOnce() -> std::result::Result<Product, NamedError> + Send>;

/// An operation whose arguments are right.
pub(super) enum Work {
    Done(Product),
    Later(Later),
}

impl Work {
    /// One that takes long.
    pub(super) fn later(run: impl FnOnce() -> std::result::Result<Product, NamedError> + Send + 'static) -> Work {
        Work::Later(Box::new(run))
    }
}

type Operation = for<'js> fn(&Ctx<'js>, Args<'_, 'js>) -> Outcome<Work>;

static OPERATIONS: &[(&CStr, Operation)] = &[
    (c"decrypt", operations::decrypt),
    (c"deriveBits", operations::derive_bits),
    (c"deriveKey", keys::derive),
    (c"digest", operations::digest),
    (c"encrypt", operations::encrypt),
    (c"exportKey", keys::export),
    (c"generateKey", keys::generate),
    (c"importKey", keys::import),
    (c"sign", operations::sign),
    (c"verify", operations::verify),
];

/// The object.
pub(super) fn object<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let subtle = Object::new(ctx.clone())?;
    for (number, (name, _)) in OPERATIONS.iter().enumerate() {
        let function = plain::function::<CallOperation>(ctx, name, number as i32)?;
        host::object::define(&subtle, name, function.into_value())?;
    }
    for name in [c"unwrapKey", c"wrapKey"] {
        host::object::define(&subtle, name, plain::function::<Missing>(ctx, name, 0)?.into_value())?;
    }
    Ok(subtle)
}

/// k6 has the names, too, and nothing behind them.
struct Missing;

impl Plain for Missing {
    fn call<'js>(ctx: &Ctx<'js>, _: Args<'_, 'js>, _: i32) -> Result<Value<'js>> {
        Err(go_error::throw(ctx, "not implemented"))
    }
}

struct CallOperation;

impl Plain for CallOperation {
    fn call<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>, number: i32) -> Result<Value<'js>> {
        let promise = match OPERATIONS[number as usize].1(ctx, args) {
            Ok(Work::Done(product)) => settled(ctx, Ok(present(ctx, product)?))?,
            Ok(Work::Later(run)) => elsewhere(ctx, run)?,
            Err(ArgumentError::Refused(error)) => {
                error.throw(ctx);
                settled(ctx, Err(ctx.catch()))?
            }
            Err(ArgumentError::Thrown(error)) if error.is_exception() => settled(ctx, Err(ctx.catch()))?,
            Err(ArgumentError::Thrown(error)) => return Err(error),
        };
        Ok(promise.into_value())
    }
}

fn settled<'js>(ctx: &Ctx<'js>, outcome: std::result::Result<Value<'js>, Value<'js>>) -> Result<Promise<'js>> {
    let (promise, resolve, reject) = ctx.promise()?;
    match outcome {
        Ok(value) => resolve.call::<_, ()>((value,))?,
        Err(error) => reject.call::<_, ()>((error,))?,
    }
    Ok(promise)
}

fn elsewhere<'js>(ctx: &Ctx<'js>, run: Later) -> Result<Promise<'js>> {
    let running = async move {
        match tokio::task::spawn_blocking(run).await {
            Ok(outcome) => outcome,
            Err(stopped) if stopped.is_panic() => std::panic::resume_unwind(stopped.into_panic()),
            Err(stopped) => Err(NamedError::new("OperationError", stopped.to_string())),
        }
    };
    Vu::of(ctx).promise(ctx, running, |ctx, outcome| match outcome {
        Ok(product) => present(ctx, product),
        Err(error) => Err(error.throw(ctx)),
    })
}

fn present<'js>(ctx: &Ctx<'js>, product: Product) -> Result<Value<'js>> {
    match product {
        Product::Bytes(content) => Ok(bytes::array_buffer(ctx, content)?.into_value()),
        Product::Truth(truth) => truth.into_js(ctx),
        Product::Key(key) => key_object(ctx, key),
        Product::Jwk(key) => jwk::write(ctx, &key),
        Product::Pair(keys) => {
            let pair = Object::new(ctx.clone())?;
            pair.set("privateKey", key_object(ctx, keys.0)?)?;
            pair.set("publicKey", key_object(ctx, keys.1)?)?;
            Ok(pair.into_value())
        }
    }
}

impl NativeClass for CryptoKey {
    const NAME: &'static str = "CryptoKey";
}

/// The `CryptoKey` of the script.
fn key_object<'js>(ctx: &Ctx<'js>, key: CryptoKey) -> Result<Value<'js>> {
    let algorithm = Object::new(ctx.clone())?;
    algorithm.set("name", key.algorithm.name())?;
    if let Some(length) = key.length {
        algorithm.set("length", length)?;
    }
    if let Some(bits) = key.material.rsa_bits() {
        algorithm.set("modulusLength", bits)?;
    }
    if let Some(hash) = key.hash {
        let name = Object::new(ctx.clone())?;
        name.set("name", hash.name())?;
        algorithm.set("hash", name)?;
    }
    if let Some(curve) = key.curve() {
        algorithm.set("namedCurve", curve.name())?;
    }
    let usages: Vec<_> = key.usages.iter().map(|usage| usage.name()).collect();
    let (kind, extractable) = (key.kind.name(), key.extractable);
    let object = native::object(ctx, key)?;
    object.set("type", kind)?;
    object.set("extractable", extractable)?;
    object.set("algorithm", algorithm)?;
    object.set("usages", usages)?;
    Ok(object.into_value())
}
