//! `k6/crypto`: digests, message authentication codes, random bytes.
//!
//! Binding only: names, argument conversion and errors; `digest.rs` does the work. Input may be a string, an
//! ArrayBuffer or any view of one. Random bytes come from the operating system.

pub mod digest;

use data_encoding::HEXLOWER;
use std::cell::RefCell;
use std::rc::Rc;

use host::bytes::array_buffer;
use host::js::function::{Func, Opt};
use host::js::{ArrayBuffer, Ctx, Function, IntoJs, Object, Result, Value};

use digest::{Algorithm, Hasher, OutputEncoding};
use script::arguments::{require_bytes, text_or};
use script::builtins::ModuleDef;
use script::go_error;

/// Larger requests are a mistake of the script, not a wish (the Web's `getRandomValues` stops at 64 KiB).
const MOST_RANDOM_BYTES: f64 = 1024.0 * 1024.0 * 1024.0;

/// The module.
pub const MODULE: ModuleDef = ModuleDef {
    name: "k6/crypto",
    exports: &[
        "createHash",
        "createHMAC",
        "hexEncode",
        "hmac",
        "md4",
        "md5",
        "randomBytes",
        "ripemd160",
        "sha1",
        "sha256",
        "sha384",
        "sha512",
        "sha512_224",
        "sha512_256",
    ],
    load,
    types: include_str!("types.d.ts"),
};

fn load<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    for (name, algorithm) in Algorithm::ALL {
        let hash = move |ctx: Ctx<'js>, input: Opt<Value<'js>>, output: Opt<Value<'js>>| {
            let mut hasher = algorithm.hasher();
            let digest = require_bytes(&ctx, input.0, move |bytes| {
                hasher.update(bytes);
                hasher.digest()
            })?;
            present(ctx, digest, output)
        };
        module.set(*name, Function::new(ctx.clone(), hash)?.with_name(name)?)?;
    }
    module.set("hmac", Func::from(hmac))?;
    module.set("createHash", Func::from(create_hash))?;
    module.set("createHMAC", Func::from(create_hmac))?;
    module.set("hexEncode", Func::from(hex_encode))?;
    module.set("randomBytes", Func::from(random_bytes))?;
    Ok(module)
}

fn hmac<'js>(
    ctx: Ctx<'js>,
    algorithm: Opt<Value<'js>>,
    key: Opt<Value<'js>>,
    input: Opt<Value<'js>>,
    output: Opt<Value<'js>>,
) -> Result<Value<'js>> {
    let mut hasher = keyed(&ctx, algorithm, key)?;
    let digest = require_bytes(&ctx, input.0, move |bytes| {
        hasher.update(bytes);
        hasher.digest()
    })?;
    present(ctx, digest, output)
}

fn create_hash<'js>(ctx: Ctx<'js>, algorithm: Opt<Value<'js>>) -> Result<Object<'js>> {
    let hasher = algorithm_of(&ctx, algorithm)?.hasher();
    hasher_object(ctx, hasher)
}

fn create_hmac<'js>(ctx: Ctx<'js>, algorithm: Opt<Value<'js>>, key: Opt<Value<'js>>) -> Result<Object<'js>> {
    let hasher = keyed(&ctx, algorithm, key)?;
    hasher_object(ctx, hasher)
}

fn hex_encode<'js>(ctx: Ctx<'js>, input: Opt<Value<'js>>) -> Result<String> {
    require_bytes(&ctx, input.0, |bytes| HEXLOWER.encode(bytes))
}

fn random_bytes<'js>(ctx: Ctx<'js>, size: Opt<host::js::Coerced<f64>>) -> Result<ArrayBuffer<'js>> {
    let size = size.0.map_or(0.0, |size| size.0);
    if !(1.0..=MOST_RANDOM_BYTES).contains(&size) {
        let message = format!("invalid size {size}, expected a number from 1 to {MOST_RANDOM_BYTES}");
        return Err(go_error::throw(&ctx, &message));
    }
    let mut bytes = vec![0u8; size as usize];
    getrandom::getrandom(&mut bytes)
        .map_err(|error| go_error::throw(&ctx, &format!("the operating system gave no random bytes: {error}")))?;
    array_buffer(&ctx, bytes)
}

fn algorithm_of<'js>(ctx: &Ctx<'js>, name: Opt<Value<'js>>) -> Result<Algorithm> {
    let name = text_or(ctx, name, "")?;
    Algorithm::named(&name).ok_or_else(|| {
        let known: Vec<_> = Algorithm::ALL.iter().map(|(name, _)| *name).collect();
        let message = format!("invalid algorithm: {name}, expected one of {}", known.join(", "));
        go_error::throw(ctx, &message)
    })
}

fn keyed<'js>(ctx: &Ctx<'js>, algorithm: Opt<Value<'js>>, key: Opt<Value<'js>>) -> Result<Box<dyn Hasher>> {
    let algorithm = algorithm_of(ctx, algorithm)?;
    require_bytes(ctx, key.0, move |key| algorithm.keyed(key))
}

/// What `createHash` and `createHMAC` return: `update(data)` as often as needed, `digest(encoding)` at any time.
fn hasher_object<'js>(ctx: Ctx<'js>, hasher: Box<dyn Hasher>) -> Result<Object<'js>> {
    let object = Object::new(ctx)?;
    let hasher = Rc::new(RefCell::new(hasher));
    let target = hasher.clone();
    let update = move |ctx: Ctx<'js>, input: Opt<Value<'js>>| {
        let target = target.clone();
        require_bytes(&ctx, input.0, move |bytes| target.borrow_mut().update(bytes))
    };
    object.set("update", Func::from(update))?;
    let digest = move |ctx: Ctx<'js>, output: Opt<Value<'js>>| {
        let digest = hasher.borrow().digest();
        present(ctx, digest, output)
    };
    object.set("digest", Func::from(digest))?;
    Ok(object)
}

fn present<'js>(ctx: Ctx<'js>, digest: Vec<u8>, output: Opt<Value<'js>>) -> Result<Value<'js>> {
    let name = text_or(&ctx, output, "")?;
    match OutputEncoding::named(&name) {
        Some(OutputEncoding::Hex) => HEXLOWER.encode(&digest).into_js(&ctx),
        Some(OutputEncoding::Base64(variant)) => variant.encode(&digest).into_js(&ctx),
        Some(OutputEncoding::Binary) => Ok(array_buffer(&ctx, digest)?.into_value()),
        None => {
            let message = format!(
                "invalid output encoding: {name}, expected one of hex, base64, base64url, base64rawurl, binary"
            );
            Err(go_error::throw(&ctx, &message))
        }
    }
}
