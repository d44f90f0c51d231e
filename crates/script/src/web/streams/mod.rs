//! Readable and writable streams of the Streams Standard, without byte streams, tee and pipes.
//!
//! They are written in JavaScript, because all a stream does is call functions of the script and settle its promises.
//! The source is evaluated in a virtual user that needs it, and in no other.

use host::js::{Ctx, Error, Object, Result};

/// The classes.
pub const NAMES: &[&str] = &[
    "ReadableStream",
    "CountQueuingStrategy",
    "ReadableStreamDefaultReader",
    "WritableStream",
    "WritableStreamDefaultWriter",
];

/// An object of the classes.
pub fn classes<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let evaluate = |file: &str, source| super::evaluate(ctx, &format!("k6/experimental/streams/{file}"), source);
    let parts: Object<'js> = evaluate("parts.js", include_str!("parts.js"))?.call(())?;
    let readable: Object<'js> = evaluate("readable.js", include_str!("readable.js"))?.call((parts.clone(),))?;
    let writable: Object<'js> = evaluate("writable.js", include_str!("writable.js"))?.call((parts.clone(),))?;
    let classes = Object::new(ctx.clone())?;
    for name in NAMES {
        let maker = [&readable, &writable, &parts].into_iter().find(|maker| maker.contains_key(*name).unwrap_or(false));
        let class: Object<'js> = maker.ok_or(Error::Unknown)?.get(*name)?;
        classes.set(*name, class)?;
    }
    Ok(classes)
}
