//! The global function `open`.

use host::Phase;
use host::bytes;
use host::js::function::Opt;
use host::js::{Ctx, String as JsString, Value};

use crate::go_error;
use crate::paths::absolute;
use crate::vu::Vu;

/// `open(path, mode)`.
pub(crate) fn open<'js>(ctx: Ctx<'js>, path: Opt<Value<'js>>, mode: Opt<Value<'js>>) -> host::js::Result<Value<'js>> {
    let vu = Vu::of(&ctx);
    if vu.phase() != Phase::Init {
        let message = "the \"open\" function can only be used in the init code, outside of functions";
        return Err(go_error::throw(&ctx, message));
    }
    let path = path.0.map(|value| bytes::to_text(&ctx, &value)).transpose()?.unwrap_or_default();
    if path.is_empty() {
        return Err(go_error::throw(&ctx, "open() can't be used with an empty filename"));
    }
    let mode = mode.0.map(|value| bytes::text(&value)).transpose()?.flatten().unwrap_or_default();
    let path = absolute(&ctx, &vu, &path);
    let throw = |message: String| go_error::throw(&ctx, &message);
    let opened = vu.shared.open(&path).map_err(throw)?;
    if mode == "b" {
        return opened.map(&path).map_err(throw)?.into_buffer(&ctx);
    }
    let text = opened.text(&path).map_err(throw)?;
    Ok(JsString::from_str(ctx.clone(), &text)?.into_value())
}
