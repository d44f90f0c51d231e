//! `console`: log, debug, info, warn and error, each one line for the log sink.

use host::js::function::Rest;
use host::js::{Ctx, Function, Object, Value};
use host::log::{Level, Record};

use super::inspect;
use crate::vu::Vu;

/// The `console` object. Its methods are the only ones k6 has.
pub(crate) fn object<'js>(ctx: &Ctx<'js>) -> host::js::Result<Object<'js>> {
    let console = Object::new(ctx.clone())?;
    for (name, level) in [
        ("log", Level::Info),
        ("debug", Level::Debug),
        ("info", Level::Info),
        ("warn", Level::Warning),
        ("error", Level::Error),
    ] {
        let print = move |ctx: Ctx<'js>, args: Rest<Value<'js>>| print(&ctx, level, &args.0);
        console.set(name, Function::new(ctx.clone(), print)?.with_name(name)?)?;
    }
    Ok(console)
}

fn print(ctx: &Ctx<'_>, level: Level, args: &[Value<'_>]) -> host::js::Result<()> {
    let words = args.iter().map(|arg| inspect::top_level(ctx, arg)).collect::<host::js::Result<Vec<_>>>()?;
    Vu::of(ctx).log().log(&Record { level, message: &words.join(" "), fields: &[("source", "console")] });
    Ok(())
}
