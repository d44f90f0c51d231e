//! `k6/x/file`: writes, reads and removes files and folders.
//!
//! The system's calls for files can only block: they run on threads of their own while the user waits. An iteration
//! that is interrupted leaves a call that has begun to its end. Relative paths start at the working directory.

mod actions;
mod rows;

use std::fs;
use std::path::PathBuf;

use host::bytes;
use host::js::{Coerced, Ctx, FromJs, Object, Result, Value};
use host::plain::{self, Args, Plain};
use script::Vu;
use script::arguments::present;
use script::builtins::ModuleDef;
use script::go_error;

use actions::Action;

/// The module.
#[rustfmt::skip]
pub const MODULE: ModuleDef = ModuleDef {
    name: "k6/x/file",
    exports: &[
        "writeString", "appendString", "writeBytes", "readFile", "clearFile", "renameFile", "deleteFile",
        "removeRowsBetweenValues", "createDirectory", "deleteDirectory",
    ],
    load,
    types: include_str!("types.d.ts"),
};

/// What a function makes of the arguments behind its path.
type ReadAction = for<'js> fn(&Arguments<'_, 'js>) -> Result<Action>;

/// Each function by its name. One line a function.
#[rustfmt::skip]
const FUNCTIONS: &[(&str, ReadAction)] = &[
    ("writeString", |given| Ok(Action::Write(given.text(1, "text")?.into_bytes()))),
    ("appendString", |given| Ok(Action::Append(given.text(1, "text")?.into_bytes()))),
    ("writeBytes", |given| Ok(Action::Write(given.bytes(1)?))),
    ("readFile", |_| Ok(Action::Read)),
    ("clearFile", |_| Ok(Action::Clear)),
    ("renameFile", |given| Ok(Action::Rename(given.path(1)?))),
    ("deleteFile", |_| Ok(Action::Delete)),
    ("removeRowsBetweenValues", |given| given.rows()),
    ("createDirectory", |_| Ok(Action::MakeFolder)),
    ("deleteDirectory", |_| Ok(Action::DeleteFolder)),
];

fn load<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    for (number, (name, _)) in FUNCTIONS.iter().enumerate() {
        let function = plain::function::<CallFile>(ctx, c"", number as i32)?;
        function.set_name(name)?;
        module.set(*name, function)?;
    }
    Ok(module)
}

/// The function behind each of `FUNCTIONS`.
struct CallFile;

impl Plain for CallFile {
    fn call<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>, number: i32) -> Result<Value<'js>> {
        let (name, read) = FUNCTIONS[number as usize];
        let given = Arguments { ctx, name, args };
        let (path, action) = (given.path(0)?, read(&given)?);
        let vu = Vu::of(ctx);
        let size = match &action {
            Action::Write(bytes) | Action::Append(bytes) => bytes.len(),
            Action::Read | Action::RemoveRows(..) => {
                fs::metadata(&path).map_or(0, |found| usize::try_from(found.len()).unwrap_or(usize::MAX))
            }
            _ => 0,
        };
        let _held = vu.memory().reserve(size).map_err(|over| over.throw(ctx))?;
        let call = tokio::task::spawn_blocking(move || action.run(&path));
        let done = vu.block_on(ctx, call)?.unwrap_or_else(|ended| Err(format!("its thread ended early: {ended}")));
        match done {
            Ok(Some(content)) => host::js::String::from_str(ctx.clone(), &String::from_utf8_lossy(&content))
                .map(|text| text.into_value()),
            Ok(None) => Ok(Value::new_undefined(ctx.clone())),
            Err(why) => Err(given.refuse(&why)),
        }
    }
}

/// The arguments of a function, and who says what is wrong with them.
struct Arguments<'a, 'js> {
    ctx: &'a Ctx<'js>,
    name: &'static str,
    args: Args<'a, 'js>,
}

impl<'js> Arguments<'_, 'js> {
    fn refuse(&self, why: &str) -> host::js::Error {
        go_error::throw(self.ctx, &format!("{}(): {why}", self.name))
    }

    fn text(&self, index: usize, what: &str) -> Result<String> {
        match present(self.args.get(index)) {
            Some(value) => bytes::to_text(self.ctx, &value),
            None => Err(self.refuse(&format!("argument {} is missing, expected the {what}", index + 1))),
        }
    }

    fn path(&self, index: usize) -> Result<PathBuf> {
        let path = self.text(index, "path")?;
        if path.is_empty() { Err(self.refuse("the path is empty")) } else { Ok(path.into()) }
    }

    /// A buffer, a view, or an array of numbers.
    fn bytes(&self, index: usize) -> Result<Vec<u8>> {
        let expected = "expected an ArrayBuffer, a view of one, or an array of numbers from 0 to 255";
        let Some(value) = present(self.args.get(index)) else {
            return Err(self.refuse(&format!("argument {} is missing, {expected}", index + 1)));
        };
        if let Some(list) = value.as_array() {
            let mut content = Vec::with_capacity(list.len());
            for (place, number) in list.iter::<Value<'js>>().enumerate() {
                let number = number?;
                match number.as_number().filter(|number| number.fract() == 0.0 && (0.0..=255.0).contains(number)) {
                    Some(number) => content.push(number as u8),
                    None => {
                        let found = Coerced::<String>::from_js(self.ctx, number)?.0;
                        return Err(self.refuse(&format!("element {place} is {found:?}, {expected}")));
                    }
                }
            }
            return Ok(content);
        }
        let content = if bytes::is_buffer(&value) { bytes::read(self.ctx, &value, <[u8]>::to_vec)? } else { None };
        content.ok_or_else(|| self.refuse(&format!("found {}, {expected}", value.type_name())))
    }

    /// The numbers of the first and the last row.
    fn rows(&self) -> Result<Action> {
        let row = |index: usize, what: &str| -> Result<usize> {
            let found = present(self.args.get(index)).unwrap_or_else(|| Value::new_undefined(self.ctx.clone()));
            match found.as_number().filter(|number| number.fract() == 0.0 && *number >= 1.0) {
                Some(number) => Ok(number as usize),
                None => {
                    let found = Coerced::<String>::from_js(self.ctx, found)?.0;
                    Err(self.refuse(&format!("the {what} row is {found}, expected a whole number from 1")))
                }
            }
        };
        match (row(1, "first")?, row(2, "last")?) {
            (first, last) if first > last => {
                Err(self.refuse(&format!("the first row is {first} and the last one {last}, expected them in order")))
            }
            (first, last) => Ok(Action::RemoveRows(first, last)),
        }
    }
}
