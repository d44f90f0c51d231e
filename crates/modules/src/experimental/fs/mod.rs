//! `k6/experimental/fs`: files opened in init code, read piece by piece at any time.
//!
//! All functions return promises that settle in the order of the calls, after the code that made them has given way: a
//! read fills the script's array only then. What is wrong with a call is the rejection of its promise, never an
//! exception. `open` is for init code alone; relative paths start where the entry script lies, as in k6, in whichever
//! module the call stands. Unlike in k6 a read fills what the `Uint8Array` shows and no more of its buffer.

pub mod file;

use std::path::{Path, PathBuf};
use std::rc::Rc;

use host::Phase;
use host::js::function::Opt;
use host::js::object::Property;
use host::js::{Ctx, Function, IntoJs, Object, Persistent, Promise, Result, Value};
use host::{bytes, native};

use crate::experimental::named_error::NamedError;
use file::{DataFiles, Handle, SeekMode};
use script::Vu;
use script::arguments::{ArgumentError, given};
use script::builtins::ModuleDef;
use script::loader::resolve;

/// The module.
pub const MODULE: ModuleDef =
    ModuleDef { name: "k6/experimental/fs", exports: &["open", "SeekMode"], load, types: include_str!("types.d.ts") };

fn load<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    module.set("open", Function::new(ctx.clone(), open)?.with_name("open")?)?;
    let modes = Object::new(ctx.clone())?;
    for mode in SeekMode::ALL {
        modes.set(mode.name(), mode as i32)?;
    }
    module.set("SeekMode", modes)?;
    Ok(module)
}

/// What a `File` of the script holds.
pub struct OpenFile {
    /// The file and the position in it.
    pub handle: Rc<Handle>,
}

impl native::NativeClass for OpenFile {
    const NAME: &'static str = "File";
}

/// The handle behind a `File` of the script; nothing for other values.
pub fn handle_of(value: &Value<'_>) -> Option<Rc<Handle>> {
    native::with(value, |file: &OpenFile| file.handle.clone())
}

/// A promise that settles with `outcome` when the script has given way.
fn later<'js, T: 'static>(
    ctx: &Ctx<'js>,
    outcome: impl FnOnce() -> std::result::Result<T, NamedError> + 'static,
    convert: impl for<'a> FnOnce(&Ctx<'a>, T) -> Result<Value<'a>> + 'static,
) -> Result<Promise<'js>> {
    Vu::of(ctx).promise(ctx, std::future::ready(()), move |ctx, ()| match outcome() {
        Ok(value) => convert(ctx, value),
        Err(error) => Err(error.throw(ctx)),
    })
}

fn open<'js>(ctx: Ctx<'js>, path: Opt<Value<'js>>) -> Result<Promise<'js>> {
    let vu = Vu::of(&ctx);
    let opened = match path_of(&ctx, &vu, path) {
        Ok(path) => {
            let path = absolute(vu.shared().entry(), &path);
            vu.process::<DataFiles>().open(vu.shared().disk(), &path, vu.shared().is_sealed())
        }
        Err(ArgumentError::Refused(error)) => Err(error),
        Err(ArgumentError::Thrown(error)) => return Err(error),
    };
    later(&ctx, move || opened, |ctx, file| file_object(ctx, Rc::new(Handle::new(file))))
}

fn path_of<'js>(
    ctx: &Ctx<'js>,
    vu: &Vu,
    path: Opt<Value<'js>>,
) -> std::result::Result<String, ArgumentError<NamedError>> {
    if vu.phase() != Phase::Init {
        let message = "open() failed: files are opened in the init code, outside of functions";
        return Err(NamedError::new("ForbiddenError", message).into());
    }
    let Some(path) = given(path) else {
        return Err(NamedError::wrong("open() failed: the path is null or undefined, expected a string").into());
    };
    match bytes::to_text(ctx, &path)? {
        path if path.is_empty() => Err(NamedError::wrong("open() failed: the path is empty").into()),
        path => Ok(path),
    }
}

/// Relative paths start at the folder of the entry script.
fn absolute(entry: &str, path: &str) -> PathBuf {
    let path = Path::new(path.strip_prefix("file://").unwrap_or(path));
    let folder = entry.strip_prefix("file://").and_then(|entry| Path::new(entry).parent());
    resolve::normalize(&folder.unwrap_or(Path::new("/")).join(path))
}

/// The `File` of the script. Its functions know their file, so that they may be called without it, as in k6.
fn file_object<'js>(ctx: &Ctx<'js>, handle: Rc<Handle>) -> Result<Value<'js>> {
    let file = native::object(ctx, OpenFile { handle: handle.clone() })?;
    let path = handle.file().path().to_string_lossy().into_owned();
    file.prop("path", Property::from(path).writable().enumerable())?;
    let own = handle.clone();
    let read = move |ctx: Ctx<'js>, into: Opt<Value<'js>>| read(&ctx, own.clone(), into);
    file.set("read", Function::new(ctx.clone(), read)?.with_name("read")?)?;
    let own = handle.clone();
    let seek =
        move |ctx: Ctx<'js>, offset: Opt<Value<'js>>, mode: Opt<Value<'js>>| seek(&ctx, own.clone(), offset, mode);
    file.set("seek", Function::new(ctx.clone(), seek)?.with_name("seek")?)?;
    let stat = move |ctx: Ctx<'js>| stat(&ctx, handle.clone());
    file.set("stat", Function::new(ctx.clone(), stat)?.with_name("stat")?)?;
    Ok(file.into_value())
}

fn read<'js>(ctx: &Ctx<'js>, handle: Rc<Handle>, into: Opt<Value<'js>>) -> Result<Promise<'js>> {
    let Some(into) = given(into) else {
        let message = "read() failed: the array to fill is null or undefined, expected a Uint8Array";
        return later(ctx, move || Err(NamedError::wrong(message)), |ctx, ()| ().into_js(ctx));
    };
    let into = Persistent::save(ctx, into);
    Vu::of(ctx).promise(ctx, std::future::ready(()), move |ctx, ()| {
        let into = into.restore(ctx)?;
        let found = into.type_name();
        match bytes::fill(&into, move |bytes| handle.read(bytes)) {
            Some(Ok(Some(read))) => read.into_js(ctx),
            Some(Ok(None)) => Ok(Value::new_null(ctx.clone())),
            Some(Err(error)) => Err(NamedError::new("Error", format!("read() failed: {error}")).throw(ctx)),
            None => {
                let message = format!("read() failed: cannot fill this {found}, expected a Uint8Array");
                Err(NamedError::wrong(message).throw(ctx))
            }
        }
    })
}

fn seek<'js>(
    ctx: &Ctx<'js>,
    handle: Rc<Handle>,
    offset: Opt<Value<'js>>,
    mode: Opt<Value<'js>>,
) -> Result<Promise<'js>> {
    let arguments = whole_number("offset", offset).and_then(|offset| {
        let mode = whole_number("mode", mode)?;
        match SeekMode::of(mode) {
            Some(mode) => Ok((offset, mode)),
            None => Err(NamedError::wrong(format!("seek() failed: {mode} is not a SeekMode, expected 0, 1 or 2"))),
        }
    });
    let outcome = move || arguments.and_then(|(offset, mode)| handle.seek(offset, mode));
    later(ctx, outcome, |ctx, position| position.into_js(ctx))
}

/// A number without a fraction, within what a number holds exactly.
fn whole_number(name: &str, argument: Opt<Value<'_>>) -> std::result::Result<i64, NamedError> {
    const LARGEST: f64 = 9_007_199_254_740_991.0;
    let Some(value) = given(argument) else {
        return Err(NamedError::wrong(format!("seek() failed: the {name} is null or undefined, expected a number")));
    };
    match value.as_number() {
        Some(number) if number.fract() == 0.0 && number.abs() <= LARGEST => Ok(number as i64),
        Some(number) => {
            Err(NamedError::wrong(format!("seek() failed: the {name} is {number}, expected a whole number")))
        }
        None => {
            let found = value.type_name();
            Err(NamedError::wrong(format!("seek() failed: the {name} is of type {found}, expected a number")))
        }
    }
}

fn stat<'js>(ctx: &Ctx<'js>, handle: Rc<Handle>) -> Result<Promise<'js>> {
    let stat = move || Ok((handle.file().name(), handle.file().size()));
    later(ctx, stat, |ctx, (name, size)| {
        let stat = Object::new(ctx.clone())?;
        stat.set("name", name)?;
        stat.set("size", size)?;
        Ok(stat.into_value())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_start_at_the_entry_script() {
        for (entry, path, expected) in [
            ("file:///a/b/script.js", "data.csv", "/a/b/data.csv"),
            ("file:///a/b/script.js", "./x/../../data.csv", "/a/data.csv"),
            ("file:///a/b/script.js", "/etc/hosts", "/etc/hosts"),
            ("file:///a/b/script.js", "file:///etc/hosts", "/etc/hosts"),
            ("https://host/script.js", "data.csv", "/data.csv"),
        ] {
            assert_eq!(absolute(entry, path), Path::new(expected), "{entry} {path}");
        }
    }
}
