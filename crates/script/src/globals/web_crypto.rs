//! The global `crypto`: random values and identifiers. `crypto.subtle` says that it is not supported yet.

use host::bytes;
use host::js::object::Accessor;
use host::js::{Ctx, Exception, Function, Object, Value};
use host::kind::{BufferKind, Kind};

/// Most bytes that one call gives, as in browsers.
const MOST_BYTES: usize = 65_536;

/// The `crypto` object.
pub(crate) fn object<'js>(ctx: &Ctx<'js>) -> host::js::Result<Object<'js>> {
    let crypto = Object::new(ctx.clone())?;
    crypto.set("getRandomValues", Function::new(ctx.clone(), random_values)?.with_name("getRandomValues")?)?;
    crypto.set("randomUUID", Function::new(ctx.clone(), random_uuid)?.with_name("randomUUID")?)?;
    let subtle = |ctx: Ctx<'js>| -> host::js::Result<Value<'js>> {
        let message = "crypto.subtle is not supported yet; k6/crypto has hashes and HMAC";
        Err(Exception::throw_message(&ctx, message))
    };
    crypto.prop("subtle", Accessor::new_get(subtle))?;
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
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]))
}

fn random(ctx: &Ctx<'_>, length: usize) -> host::js::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    getrandom::getrandom(&mut bytes)
        .map_err(|error| Exception::throw_message(ctx, &format!("the system gives no random bytes: {error}")))?;
    Ok(bytes)
}
