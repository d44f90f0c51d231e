//! The last response of a debugged user: the functions of `k6/http` tell it to the inspector.

use host::js::{Ctx, Function, Object};

use super::Debugged;
use crate::vu::Vu;

/// The module whose functions give responses.
const MODULE: &str = "k6/http";

/// Wraps the functions of a module that has just been made, when it is the one.
pub(crate) fn watch<'js>(ctx: &Ctx<'js>, vu: &Vu, module: &str, object: &Object<'js>) -> host::js::Result<()> {
    if vu.debugger().is_none() || module != MODULE {
        return Ok(());
    }
    let inspector: Function<'js> = vu.local::<Debugged>().inspector(ctx)?;
    inspector.call::<_, ()>(("watch", object.clone()))
}
