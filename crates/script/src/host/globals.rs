//! The names a script finds without importing anything.

use std::rc::Rc;

use rquickjs::{Ctx, Value};

use crate::vu::Vu;

/// Puts the globals of k6 into a fresh context.
pub(crate) fn install(_ctx: &Ctx<'_>, _vu: &Rc<Vu>) -> rquickjs::Result<()> {
    Ok(())
}

/// Sets what changes with each iteration.
pub(crate) fn begin_iteration(ctx: &Ctx<'_>, vu: &Vu) {
    let _ = ctx.globals().set("__ITER", vu.iterations_before());
}

/// The properties of an object as named byte strings.
pub(crate) fn files_of<'js>(_ctx: &Ctx<'js>, value: &Value<'js>) -> rquickjs::Result<Vec<(String, Vec<u8>)>> {
    let Some(object) = value.as_object() else { return Ok(Vec::new()) };
    let mut files = Vec::new();
    for key in object.keys::<String>() {
        let key = key?;
        let content: Value<'js> = object.get(key.as_str())?;
        if let Some(text) = content.as_string() {
            files.push((key, text.to_string()?.into_bytes()));
        } else if let Some(bytes) = bytes_of(&content) {
            files.push((key, bytes));
        }
    }
    Ok(files)
}

/// A copy of the bytes of an ArrayBuffer.
fn bytes_of(value: &Value<'_>) -> Option<Vec<u8>> {
    let buffer = value.as_object()?.as_array_buffer()?;
    // SAFETY: copied at once, before any script can run and detach or resize the buffer.
    unsafe { buffer.as_bytes().map(<[u8]>::to_vec) }
}
