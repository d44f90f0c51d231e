//! Classes of the Web that more than one part of the program has, written in JavaScript and evaluated where a script
//! needs them. What they differ in is an argument.

pub mod streams;

use host::intrinsics;
use host::js::EvalOptions;
use host::js::{Ctx, Function, Result};

/// The function that a source is: one expression. Its name is in call stacks.
pub fn evaluate<'js>(ctx: &Ctx<'js>, name: String, source: &str) -> Result<Function<'js>> {
    intrinsics::for_source(ctx, source)?;
    let mut options = EvalOptions::default();
    options.filename = Some(name);
    ctx.eval_with_options(source, options)
}

/// The function that makes the class `Blob`; `blob.js` says of what.
pub fn blob_maker<'js>(ctx: &Ctx<'js>) -> Result<Function<'js>> {
    evaluate(ctx, String::from("onrush/web/blob.js"), include_str!("blob.js"))
}
