//! What a script gets for a point in time: an object with Go's text, Go's JSON and the commonest of Go's methods.

use host::js::atom::PredefinedAtom;
use host::js::function::{Opt, This};
use host::js::prelude::Func;
use host::js::{Ctx, Exception, IntoJs, Object, Result, Value};
use host::native::{self, NativeClass};

use super::time::SqlTime;

/// Methods by the number's place in `SqlTime::parts`.
const PARTS: [&str; 7] = ["year", "month", "day", "hour", "minute", "second", "nanosecond"];

impl NativeClass for SqlTime {
    const NAME: &'static str = "Time";

    fn methods<'js>(prototype: &Object<'js>) -> Result<()> {
        let text = |ctx: Ctx<'js>, This(this): This<Value<'js>>| with(&ctx, &this, SqlTime::text);
        prototype.set("toString", Func::from(text))?;
        prototype.set("string", Func::from(text))?;
        prototype.set(
            "toJSON",
            Func::from(|ctx: Ctx<'js>, This(this): This<Value<'js>>| with(&ctx, &this, SqlTime::json)),
        )?;
        for (name, nanos) in [("unix", 1e9), ("unixMilli", 1e6), ("unixMicro", 1e3), ("unixNano", 1.0)] {
            let since = move |ctx: Ctx<'js>, This(this): This<Value<'js>>| {
                with(&ctx, &this, |time| if nanos > 1.0 { (time.nanos() / nanos).floor() } else { time.nanos() })
            };
            prototype.set(name, Func::from(since))?;
        }
        for (place, name) in PARTS.into_iter().enumerate() {
            let part =
                move |ctx: Ctx<'js>, This(this): This<Value<'js>>| with(&ctx, &this, |time| time.parts()[place] as f64);
            prototype.set(name, Func::from(part))?;
        }
        prototype.set(PredefinedAtom::SymbolToPrimitive, Func::from(to_primitive))
    }
}

fn with<T>(ctx: &Ctx<'_>, this: &Value<'_>, look: impl FnOnce(&SqlTime) -> T) -> Result<T> {
    let found = native::with(this, look);
    found.ok_or_else(|| Exception::throw_type(ctx, "this method belongs to a Time: call it on one"))
}

/// Milliseconds of Unix time where a number is wanted, so that times can be compared and subtracted; else the text.
fn to_primitive<'js>(ctx: Ctx<'js>, This(this): This<Value<'js>>, hint: Opt<String>) -> Result<Value<'js>> {
    if hint.0.as_deref() == Some("number") {
        with(&ctx, &this, SqlTime::millis)?.into_js(&ctx)
    } else {
        with(&ctx, &this, SqlTime::text)?.into_js(&ctx)
    }
}
