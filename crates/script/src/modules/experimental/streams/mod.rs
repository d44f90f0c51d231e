//! `k6/experimental/streams`: readable and writable streams of the Streams Standard, without byte streams, tee and pipes.
//!
//! Written in JavaScript, because a stream only calls functions of the script and settles its promises. The source is
//! evaluated in a virtual user that imports the module, and in no other.

use host::intrinsics;
use host::js::context::EvalOptions;
use host::js::{Ctx, Function, Object, Result};

use crate::builtins::ModuleDef;

/// The module.
pub const MODULE: ModuleDef = ModuleDef {
    name: "k6/experimental/streams",
    exports: &[
        "ReadableStream",
        "CountQueuingStrategy",
        "ReadableStreamDefaultReader",
        "WritableStream",
        "WritableStreamDefaultWriter",
    ],
    load,
    types: include_str!("types.d.ts"),
};

fn load<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let parts: Function<'js> = evaluate(ctx, "parts.js", include_str!("parts.js"))?;
    let parts: Object<'js> = parts.call(())?;
    let readable: Function<'js> = evaluate(ctx, "readable.js", include_str!("readable.js"))?;
    let readable: Object<'js> = readable.call((parts.clone(),))?;
    let writable: Function<'js> = evaluate(ctx, "writable.js", include_str!("writable.js"))?;
    let writable: Object<'js> = writable.call((parts.clone(),))?;
    let module = Object::new(ctx.clone())?;
    for name in MODULE.exports {
        let maker = [&readable, &writable, &parts].into_iter().find(|maker| maker.contains_key(*name).unwrap_or(false));
        let class: Object<'js> = maker.ok_or(host::js::Error::Unknown)?.get(*name)?;
        module.set(*name, class)?;
    }
    Ok(module)
}

/// The value of a source that is one expression. Its name is in call stacks.
fn evaluate<'js>(ctx: &Ctx<'js>, file: &str, source: &str) -> Result<Function<'js>> {
    intrinsics::for_source(ctx, source)?;
    let mut options = EvalOptions::default();
    options.filename = Some(format!("{}/{file}", MODULE.name));
    ctx.eval_with_options(source, options)
}
