//! The real stack of a user, as QuickJS tells it, in places of the source as written.

use host::js::{Ctx, Object};

use crate::error::ScriptError;
use crate::exception::{self, Frame};
use crate::loader::site::Position;
use crate::vu::Vu;

/// The name of our own code, which stacks leave out.
pub(super) const OWN: &str = "onrush/debug";

/// A call of a script's function.
pub(super) struct RealFrame {
    pub function: String,
    pub module: String,
    pub position: Position,
}

/// An error whose stack is not cut short.
const MAKE: &str = "(() => {
  const before = Error.stackTraceLimit;
  Error.stackTraceLimit = 200;
  try { return new Error() } finally { Error.stackTraceLimit = before }
})";

/// The stack of what runs, from the innermost.
pub(super) fn current(ctx: &Ctx<'_>) -> host::js::Result<Vec<RealFrame>> {
    let make = host::module::evaluate_own(ctx, OWN, MAKE)?;
    let error = make.into_function().ok_or(host::js::Error::Unknown)?.call::<_, Object<'_>>(())?;
    Ok(real(exception::frames(&error, &Vu::of(ctx).shared.modules)))
}

/// The stack of an exception.
pub(super) fn of_error(error: &ScriptError) -> Vec<RealFrame> {
    real(error.stack.lines().filter_map(Frame::parse).collect())
}

fn real(frames: Vec<Frame>) -> Vec<RealFrame> {
    let written = frames.into_iter().filter_map(|frame| {
        let (function, at) = frame.into_parts();
        let (module, line, column) = at?;
        let function = if function == "<anonymous>" { String::new() } else { function };
        Some(RealFrame { function, module, position: Position { line, column } })
    });
    written.collect()
}
