//! Classes of the Web that more than one part of the program has, written in JavaScript and evaluated where a script
//! needs them. What they differ in is an argument.

pub mod streams;
pub mod url;

use host::js::{Ctx, Error, Function, Result};
use host::{intrinsics, module};

/// The function that a source is: one expression. Its name is in call stacks.
pub fn evaluate<'js>(ctx: &Ctx<'js>, name: &str, source: &'static str) -> Result<Function<'js>> {
    intrinsics::for_source(ctx, source)?;
    evaluate_bare(ctx, name, source)
}

/// The same for a source that asks for parts of the language when it comes to need them.
pub fn evaluate_bare<'js>(ctx: &Ctx<'js>, name: &str, source: &'static str) -> Result<Function<'js>> {
    module::evaluate_own(ctx, name, source)?.into_function().ok_or(Error::Unknown)
}

/// The function that makes the class `Blob`; `blob.js` says of what. Typed arrays have to be there when it has read the
/// parts of a blob.
pub fn blob_maker<'js>(ctx: &Ctx<'js>) -> Result<Function<'js>> {
    evaluate_bare(ctx, "onrush/web/blob.js", include_str!("blob.js"))
}
