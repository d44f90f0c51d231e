//! `k6/encoding`: base64 to and from text.
//!
//! Binding only: argument conversion and errors; `base64.rs` does the work. Input may be a string, an ArrayBuffer or
//! any view of one; everything else throws.

use host::bytes;
use host::js::{Ctx, IntoJs, Object, Result, Value};
use host::plain::{self, Args, Plain};

use script::arguments::{present, require_bytes};
use script::base64::{Corrupt, Variant};
use script::builtins::ModuleDef;
use script::go_error;

/// The module.
pub const MODULE: ModuleDef =
    ModuleDef { name: "k6/encoding", exports: &["b64encode", "b64decode"], load, types: include_str!("types.d.ts") };

fn load<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    module.set("b64encode", plain::function::<Encode>(ctx, c"b64encode", 0)?)?;
    module.set("b64decode", plain::function::<Decode>(ctx, c"b64decode", 0)?)?;
    Ok(module)
}

struct Encode;

impl Plain for Encode {
    fn call<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>, _: i32) -> Result<Value<'js>> {
        let variant = variant_of(ctx, args.get(1))?;
        require_bytes(ctx, args.get(0), move |bytes| variant.encode(bytes))?.into_js(ctx)
    }
}

struct Decode;

impl Plain for Decode {
    fn call<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>, _: i32) -> Result<Value<'js>> {
        let variant = variant_of(ctx, args.get(1))?;
        let as_text = match present(args.get(2)) {
            Some(format) => bytes::to_text(ctx, &format)? == "s",
            None => false,
        };
        let decoded = decode(ctx, variant, present(args.get(0)))?;
        match as_text {
            true => String::from_utf8_lossy(&decoded).into_js(ctx),
            false => Ok(bytes::array_buffer(ctx, decoded)?.into_value()),
        }
    }
}

fn decode<'js>(ctx: &Ctx<'js>, variant: Variant, input: Option<Value<'js>>) -> Result<Vec<u8>> {
    let decoded = match input {
        None => Ok(Vec::new()),
        Some(input) => match input.as_string() {
            // The text is lent, not copied or looked through: uploads hold images as base64 strings of megabytes.
            Some(text) => bytes::borrow(text, |text| variant.decode(text))?,
            None => variant.decode(bytes::to_text(ctx, &input)?.as_bytes()),
        },
    };
    decoded.map_err(|Corrupt(at)| go_error::throw(ctx, &format!("illegal base64 data at input byte {at}")))
}

fn variant_of<'js>(ctx: &Ctx<'js>, name: Option<Value<'js>>) -> Result<Variant> {
    match present(name) {
        Some(name) => Ok(Variant::named(&bytes::to_text(ctx, &name)?)),
        None => Ok(Variant::Std),
    }
}
