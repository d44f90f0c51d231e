//! The global `crypto`: random values, identifiers, and `crypto.subtle`, the Web's cryptography.
//!
//! `subtle.rs` binds to JavaScript, `arguments.rs` reads what a script gave, `keys.rs` and `operations.rs` are the
//! functions; `aes.rs`, `ec.rs` and `rsa_keys.rs` do the work and know no JavaScript.

mod aes;
mod algorithm;
mod arguments;
mod ec;
mod jwk;
mod key;
mod keys;
mod operations;
mod rsa_keys;
mod subtle;

use data_encoding::HEXLOWER;
use host::js::function::Constructor;
use host::js::object::{Accessor, Property};
use host::js::prelude::This;
use host::js::{Ctx, Exception, Function, Object, Value};
use host::kind::{BufferKind, Kind};
use host::{bytes, native};

/// Reads keys in DER for `cargo xtask fuzz`; what is read is written as it was, or an equal key.
#[cfg(feature = "fuzzing")]
pub(crate) fn check_keys(der: &[u8]) -> Result<(), String> {
    let _ = rsa_keys::from_spki(der);
    let _ = rsa_keys::from_pkcs8(der);
    for curve in [ec::Curve::P256, ec::Curve::P384, ec::Curve::P521] {
        let _ = ec::EcKey::from_scalar(curve, der);
        let keys = [ec::EcKey::from_point(curve, der), ec::EcKey::from_spki(curve, der)];
        for key in keys.into_iter().flatten() {
            let again = key.to_spki().and_then(|der| ec::EcKey::from_spki(curve, &der));
            if again.map_err(|why| why.message)?.point != key.point {
                return Err(String::from("a public key is written as another one"));
            }
        }
        if let Ok(key) = ec::EcKey::from_pkcs8(curve, der) {
            let again = key.to_pkcs8().and_then(|der| ec::EcKey::from_pkcs8(curve, &der));
            if again.map_err(|why| why.message)?.scalar != key.scalar {
                return Err(String::from("a private key is written as another one"));
            }
        }
    }
    Ok(())
}

/// Most bytes that one call gives, as in browsers.
const MOST_BYTES: usize = 65_536;

/// The `crypto` object.
pub(crate) fn object<'js>(ctx: &Ctx<'js>) -> host::js::Result<Object<'js>> {
    let crypto = Object::new(ctx.clone())?;
    crypto.set("getRandomValues", Function::new(ctx.clone(), random_values)?.with_name("getRandomValues")?)?;
    crypto.set("randomUUID", Function::new(ctx.clone(), random_uuid)?.with_name("randomUUID")?)?;
    // The functions and the keys' class are made when a script asks for them: most ask for random values alone.
    let subtle = |ctx: Ctx<'js>, this: This<Object<'js>>| {
        let subtle = subtle::object(&ctx)?;
        this.0.prop("subtle", Property::from(subtle.clone()).enumerable().configurable().writable())?;
        Ok::<_, host::js::Error>(subtle)
    };
    crypto.prop("subtle", Accessor::new_get(subtle).enumerable().configurable())?;
    let class = |ctx: Ctx<'js>, this: This<Object<'js>>| {
        let refuse = |ctx: Ctx<'js>| -> host::js::Result<Object<'js>> {
            Err(Exception::throw_type(&ctx, "CryptoKey has no constructor: crypto.subtle.generateKey() makes keys"))
        };
        let prototype = native::prototype::<key::CryptoKey>(&ctx)?;
        let class = Constructor::new_prototype(&ctx, prototype, refuse)?;
        class.set_name("CryptoKey")?;
        this.0.prop("CryptoKey", Property::from(class.clone()).enumerable().configurable().writable())?;
        Ok::<_, host::js::Error>(class)
    };
    crypto.prop("CryptoKey", Accessor::new_get(class).enumerable().configurable())?;
    Ok(crypto)
}

fn random_values<'js>(ctx: Ctx<'js>, target: Value<'js>) -> host::js::Result<Value<'js>> {
    if !matches!(Kind::of(&target), Kind::Buffer(BufferKind::Typed(elements)) if elements.is_integer()) {
        return Err(Exception::throw_type(&ctx, "getRandomValues() expects a typed array of integers"));
    }
    let length = bytes::read(&ctx, &target, <[u8]>::len)?.unwrap_or_default();
    if length > MOST_BYTES {
        return Err(Exception::throw_range(
            &ctx,
            &format!("getRandomValues() gives at most {MOST_BYTES} bytes, not {length}"),
        ));
    }
    let object = target.as_object().ok_or(host::js::Error::Unknown)?;
    let view: Object<'js> = {
        let constructor: host::js::function::Constructor<'js> = ctx.globals().get("Uint8Array")?;
        let (buffer, offset): (Value<'js>, usize) = (object.get("buffer")?, object.get("byteOffset")?);
        constructor.construct((buffer, offset, length))?
    };
    // A view of that buffer cannot have been made without the class.
    let source: Object<'js> = {
        let constructor: host::js::function::Constructor<'js> = ctx.globals().get("Uint8Array")?;
        constructor.construct((bytes::array_buffer(&ctx, random(&ctx, length)?)?,))?
    };
    view.get::<_, Function<'js>>("set")?.call::<_, ()>((host::js::function::This(view), source))?;
    Ok(target)
}

fn random_uuid(ctx: Ctx<'_>) -> host::js::Result<String> {
    let mut bytes = random(&ctx, 16)?;
    // RFC 9562 section 5.4: version 4, variant 10.
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex = HEXLOWER.encode(&bytes);
    Ok(format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]))
}

fn random(ctx: &Ctx<'_>, length: usize) -> host::js::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    getrandom::getrandom(&mut bytes)
        .map_err(|error| Exception::throw_message(ctx, &format!("the system gives no random bytes: {error}")))?;
    Ok(bytes)
}
