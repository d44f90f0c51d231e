//! JavaScript exceptions as `ScriptError`s with places in the source as written.

use std::cell::RefCell;

use host::User;
use host::exception::{is_uncatchable, take_trace, throw_uncatchable};
use host::js::function::This;
use host::js::{Coerced, Ctx, Error, Function, IntoJs, Object, Persistent, Value};

use crate::error::{Place, ScriptError, exit_code};
use crate::loader::ModuleStore;
use crate::vu::Vu;

/// QuickJS's own getter of `Error.prototype.stack`.
#[derive(Default)]
struct StackGetter(RefCell<Option<Persistent<Function<'static>>>>);

/// What the current exception means for the code that runs the script.
pub enum Caught {
    /// The script threw.
    Thrown(ScriptError),
    /// The user must stop.
    Stopped,
}

/// Takes the current exception, for an `Err` that a call into JavaScript returned.
pub fn take(ctx: &Ctx<'_>, error: Error, modules: &ModuleStore) -> Caught {
    if !error.is_exception() {
        return Caught::Thrown(ScriptError::new(error.to_string(), exit_code::SCRIPT_EXCEPTION));
    }
    let value = ctx.catch();
    let trace = take_trace(ctx);
    if is_uncatchable(&value) {
        return Caught::Stopped;
    }
    let error = describe(&value, modules);
    Caught::Thrown(if error.stack.is_empty() { error.with_frames(&parse(&trace, modules), modules) } else { error })
}

/// An exception value as an error with message, place and stack.
pub fn describe(value: &Value<'_>, modules: &ModuleStore) -> ScriptError {
    if value.is_null() {
        // QuickJS throws null where there is no memory left for an error.
        let message = "null, which stands for out of memory unless the script threw it itself";
        return ScriptError::new(message, exit_code::SCRIPT_EXCEPTION);
    }
    let Some(object) = value.as_object().filter(|object| object.is_error()) else {
        return ScriptError::new(text_of(value), exit_code::SCRIPT_EXCEPTION);
    };
    let error = ScriptError::new(text_of(value), exit_code::SCRIPT_EXCEPTION);
    error.with_frames(&frames(object, modules), modules)
}

impl ScriptError {
    fn with_frames(mut self, frames: &[Frame], modules: &ModuleStore) -> Self {
        self.place = frames.iter().find_map(|frame| frame.place(modules));
        self.stack = lines(frames);
        self
    }
}

/// Who called the native function that runs: `name (file:line:col)`. For messages, and init code: it costs an Error
/// object.
fn caller(ctx: &Ctx<'_>, modules: &ModuleStore) -> Option<String> {
    let constructor: host::js::function::Constructor<'_> = ctx.globals().get("Error").ok()?;
    let error: Object<'_> = constructor.construct(()).ok()?;
    frames(&error, modules).iter().find(|frame| frame.at.is_some()).map(Frame::to_string)
}

/// Ends the whole test (`exec.test.abort`): return the error that this gives; the script cannot catch it.
pub fn abort_test(ctx: &Ctx<'_>, vu: &Vu, message: &str) -> Error {
    let caller = caller(ctx, &vu.shared.modules);
    vu.note_abort(caller.map_or_else(|| message.to_string(), |caller| format!("{message} at {caller}")));
    throw_uncatchable(ctx, message)
}

/// Makes `e.stack` what scripts expect of it: the error's text, then the frames, with places in the source as written.
/// QuickJS has the frames alone, in what it compiled. Costs nothing until it is read.
pub(crate) fn install_stack(ctx: &Ctx<'_>) -> host::js::Result<()> {
    let object: Object<'_> = ctx.globals().get("Object")?;
    let prototype: Object<'_> = ctx.globals().get::<_, Object<'_>>("Error")?.get("prototype")?;
    let describe: Function<'_> = object.get("getOwnPropertyDescriptor")?;
    let descriptor: Object<'_> = describe.call((prototype.clone(), "stack"))?;
    let getter: Function<'_> = descriptor.get("get")?;
    User::of(ctx).local::<StackGetter>().0.replace(Some(Persistent::save(ctx, getter)));
    descriptor.set("get", Function::new(ctx.clone(), read_stack)?.with_name("get stack")?)?;
    object.get::<_, Function<'_>>("defineProperty")?.call((prototype, "stack", descriptor))
}

fn read_stack<'js>(ctx: Ctx<'js>, this: This<Value<'js>>) -> host::js::Result<Value<'js>> {
    let Some(object) = this.0.as_object().filter(|object| object.is_error()) else {
        return Ok(Value::new_undefined(ctx));
    };
    let name = object.get::<_, Coerced<String>>("name")?.0;
    let message = object.get::<_, Coerced<String>>("message")?.0;
    let title = if message.is_empty() { name } else { format!("{name}: {message}") };
    let frames = lines(&frames(object, &Vu::of(&ctx).shared.modules));
    format!("{title}\n{frames}").into_js(&ctx)
}

/// The frames of an error's stack, innermost first.
pub(crate) fn frames(error: &Object<'_>, modules: &ModuleStore) -> Vec<Frame> {
    let getter = User::of(error.ctx()).local::<StackGetter>().0.borrow().clone();
    let raw =
        getter.and_then(|getter| getter.restore(error.ctx()).ok()?.call::<_, String>((This(error.clone()),)).ok());
    parse(&raw.unwrap_or_default(), modules)
}

/// Without those of the modules that are written in JavaScript: the script called them as it calls native ones.
fn parse(trace: &str, modules: &ModuleStore) -> Vec<Frame> {
    let frames = trace.lines().filter_map(Frame::parse).filter(|frame| !frame.is_own());
    frames.map(|frame| frame.mapped(modules)).collect()
}

fn lines(frames: &[Frame]) -> String {
    frames.iter().map(|frame| format!("\tat {frame}\n")).collect()
}

/// What `String(value)` gives, without running more of the script than needed.
fn text_of(value: &Value<'_>) -> String {
    let ctx = value.ctx();
    match value.get::<host::js::Coerced<String>>() {
        Ok(text) => text.0,
        Err(_) => {
            ctx.catch();
            String::from("an exception that cannot be turned into a string")
        }
    }
}

/// One line of a call stack.
#[derive(Debug, PartialEq, Eq)]
pub struct Frame {
    function: String,
    /// File, line and column; `None` for native functions.
    at: Option<(String, u32, u32)>,
}

impl Frame {
    /// Reads `    at name (file:line:col)`, `    at file:line:col`, `    at name (native)`.
    pub fn parse(line: &str) -> Option<Frame> {
        let rest = line.trim_start().strip_prefix("at ")?;
        let (function, position) = match rest.rsplit_once(" (") {
            Some((function, position)) => (function, position.strip_suffix(')')?),
            None => ("", rest),
        };
        Some(Frame { function: function.to_string(), at: Frame::position(position) })
    }

    /// Its function, and where it is.
    pub(crate) fn into_parts(self) -> (String, Option<(String, u32, u32)>) {
        (self.function, self.at)
    }

    /// Whether it is in a module that is built in, which is called by its name.
    fn is_own(&self) -> bool {
        self.at.as_ref().is_some_and(|(file, ..)| file.starts_with("k6/") || file.starts_with("onrush/"))
    }

    fn position(text: &str) -> Option<(String, u32, u32)> {
        let (rest, column) = text.rsplit_once(':')?;
        let (file, line) = rest.rsplit_once(':')?;
        Some((file.to_string(), line.parse().ok()?, column.parse().ok()?))
    }

    fn mapped(mut self, modules: &ModuleStore) -> Frame {
        if let Some((file, line, column)) = &mut self.at {
            (*line, *column) = modules.original_position(file, *line, *column);
        }
        self
    }

    fn place(&self, modules: &ModuleStore) -> Option<Place> {
        let (file, line, column) = self.at.clone()?;
        let source_line = modules.source_line(&file, line).unwrap_or_default();
        Some(Place { file, line, column, source_line })
    }
}

impl std::fmt::Display for Frame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = if self.function.is_empty() { "<anonymous>" } else { &self.function };
        match &self.at {
            Some((file, line, column)) => write!(f, "{name} ({file}:{line}:{column})"),
            None => write!(f, "{name} (native)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_lines_of_a_stack() {
        let frame = |function: &str, at: Option<(&str, u32, u32)>| Frame {
            function: function.into(),
            at: at.map(|(file, line, column)| (file.to_string(), line, column)),
        };
        assert_eq!(
            Frame::parse("    at foo (file:///a b.js:3:14)"),
            Some(frame("foo", Some(("file:///a b.js", 3, 14))))
        );
        assert_eq!(Frame::parse("    at file:///a.js:1:2"), Some(frame("", Some(("file:///a.js", 1, 2)))));
        assert_eq!(Frame::parse("    at parse (native)"), Some(frame("parse", None)));
        assert_eq!(Frame::parse("Error: at home"), None);
    }
}
