//! `onrush/fs`: files as bodies and as parts of forms, of any size and in ranges, read while they are sent.
//!
//! A file opened in init code is opened once for the process: users share the descriptor, since reading is by position.
//! One opened later is the file that is there at that moment, and is closed when the script lets go of it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use host::Phase;
use host::js::function::{Constructor, Opt};
use host::js::prelude::Func;
use host::js::{Ctx, Exception, Object, Result, Value};
use host::{bytes, native};
use wire::{FileRange, PayloadError, PayloadFile};

use crate::payload::streamed::{self, FileStream};
use script::Vu;
use script::builtins::ModuleDef;
use script::paths;

/// The module.
pub const MODULE: ModuleDef =
    ModuleDef { name: "onrush/fs", exports: &["open", "FileStream"], load, types: include_str!("types.d.ts") };

fn load<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    module.set("open", Func::from(open))?;
    module.set("FileStream", constructor(ctx)?)?;
    Ok(module)
}

/// The class `FileStream`, whose constructor is `open`.
pub fn constructor<'js>(ctx: &Ctx<'js>) -> Result<Constructor<'js>> {
    let prototype = native::prototype::<FileStream>(ctx)?;
    let constructor = Constructor::new_prototype(ctx, prototype, open)?;
    constructor.set_name("FileStream")?;
    Ok(constructor)
}

/// The files of the init code, by absolute path.
#[derive(Default)]
struct InitFiles {
    open: Mutex<HashMap<PathBuf, Arc<PayloadFile>>>,
}

impl InitFiles {
    fn open(&self, path: &Path) -> std::result::Result<Arc<PayloadFile>, PayloadError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = open.get(path) {
            return Ok(Arc::clone(file));
        }
        let file = PayloadFile::open(path)?;
        open.insert(path.to_path_buf(), Arc::clone(&file));
        Ok(file)
    }
}

/// `open(path)` and `new FileStream(path)`.
fn open<'js>(ctx: Ctx<'js>, path: Opt<Value<'js>>) -> Result<Object<'js>> {
    let path = path.0.unwrap_or_else(|| Value::new_undefined(ctx.clone()));
    let Some(text) = bytes::text(&path)?.filter(|text| !text.is_empty()) else {
        let found = if path.is_string() { "empty" } else { path.type_name() };
        return Err(Exception::throw_type(&ctx, &format!("the path of the file is {found}, expected a string")));
    };
    let vu = Vu::of(&ctx);
    let path = paths::absolute(&ctx, &vu, &text);
    let place = vu.shared().disk().place(&path);
    let file = match vu.phase() {
        Phase::Init => vu.process::<InitFiles>().open(&place),
        _ => PayloadFile::open(&place),
    };
    let file = file.map_err(|error| Exception::throw_message(&ctx, &error.0))?;
    streamed::file(&ctx, FileRange::whole(file))
}
