//! `k6/encoding`: base64 to and from text.
//!
//! Binding only: argument conversion and errors; `base64.rs` does the work. Input may be a string, an ArrayBuffer or
//! any view of one; everything else throws.

pub mod base64;

use rquickjs::function::{Func, Opt};
use rquickjs::{ArrayBuffer, Ctx, IntoJs, Object, Result, Value};

use crate::host::bytes;
use crate::host::go_error;
use crate::modules::ModuleDef;
use crate::modules::argument::{given, require_bytes, text_or};
use base64::{Corrupt, Variant};

/// The module.
pub const MODULE: ModuleDef =
    ModuleDef { name: "k6/encoding", exports: &["b64encode", "b64decode"], load, types: include_str!("types.d.ts") };

fn load<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    module.set("b64encode", Func::from(b64encode))?;
    module.set("b64decode", Func::from(b64decode))?;
    Ok(module)
}

fn b64encode<'js>(ctx: Ctx<'js>, input: Opt<Value<'js>>, variant: Opt<Value<'js>>) -> Result<String> {
    let variant = variant_of(&ctx, variant)?;
    require_bytes(&ctx, input.0, move |bytes| variant.encode(bytes))
}

fn b64decode<'js>(
    ctx: Ctx<'js>,
    input: Opt<Value<'js>>,
    variant: Opt<Value<'js>>,
    format: Opt<Value<'js>>,
) -> Result<Value<'js>> {
    let variant = variant_of(&ctx, variant)?;
    let as_text = text_or(&ctx, format, "b")? == "s";
    let decoded = match given(input) {
        None => Ok(Vec::new()),
        // The text is lent, not copied: uploads hold images as base64 strings of megabytes.
        Some(input) if input.is_string() => {
            bytes::read(&ctx, &input, move |text| variant.decode(text))?.unwrap_or(Ok(Vec::new()))
        }
        Some(input) => variant.decode(bytes::to_text(&ctx, &input)?.as_bytes()),
    };
    let decoded =
        decoded.map_err(|Corrupt(at)| go_error::throw(&ctx, &format!("illegal base64 data at input byte {at}")))?;
    match as_text {
        true => String::from_utf8_lossy(&decoded).into_js(&ctx),
        false => Ok(ArrayBuffer::new(ctx, decoded)?.into_value()),
    }
}

fn variant_of<'js>(ctx: &Ctx<'js>, name: Opt<Value<'js>>) -> Result<Variant> {
    Ok(Variant::named(&text_or(ctx, name, "std")?))
}
