//! `k6/experimental/csv`: rows of a file of `k6/experimental/fs`, all at once for the process or one by one for a user.
//!
//! `parse` reads a file once for each set of options, off the worker's thread, and every virtual user gets a read-only
//! array over the one copy. It begins where its file stands and leaves it there. `Parser` reads from its file as it
//! goes, 64 KiB at a time: moving the file moves the parser, which is how a script begins again.

pub mod options;
pub mod reader;
pub mod table;

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use host::Phase;
use host::js::function::Opt;
use host::js::object::Property;
use host::js::{Array, Ctx, Exception, Function, IntoJs, Object, Promise, Result, Value};
use host::native;

use super::fs;
use super::fs::file::{DataFile, Handle, Reading};
use crate::data;
use crate::data::elements::Elements;
use script::Vu;
use script::builtins::ModuleDef;
use table::{Table, TableOptions};

/// The module.
pub const MODULE: ModuleDef =
    ModuleDef { name: "k6/experimental/csv", exports: &["parse", "Parser"], load, types: include_str!("types.d.ts") };

fn load<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    module.set("parse", Function::new(ctx.clone(), parse)?.with_name("parse")?)?;
    let constructor = Function::new(ctx.clone(), make_parser)?.with_name("Parser")?.with_constructor(true);
    constructor.set("prototype", native::prototype::<Parser>(ctx)?)?;
    module.set("Parser", constructor)?;
    Ok(module)
}

/// The parsed files of the process, by path and options; locked while one is found, not while it is read.
#[derive(Default)]
struct Tables {
    slots: Mutex<HashMap<(PathBuf, TableOptions), ParsedOnce>>,
}

type ParsedOnce = Arc<tokio::sync::OnceCell<Arc<Elements>>>;

impl Tables {
    fn slot(&self, file: &DataFile, options: &TableOptions) -> ParsedOnce {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        slots.entry((file.path().to_path_buf(), options.clone())).or_default().clone()
    }
}

fn parse<'js>(ctx: Ctx<'js>, file: Opt<Value<'js>>, options: Opt<Value<'js>>) -> Result<Promise<'js>> {
    let handle = file_argument(&ctx, "csv.parse()", file)?;
    let options = options::read(&ctx, options.0)?;
    let vu = Vu::of(&ctx);
    let slot = vu.process::<Tables>().slot(handle.file(), &options);
    let (file, position) = (handle.file().clone(), handle.position());
    let parsed = async move {
        let elements = slot.get_or_try_init(|| read_whole(file, position, options)).await;
        elements.cloned()
    };
    vu.promise(&ctx, parsed, |ctx, parsed: std::result::Result<_, String>| match parsed {
        Ok(elements) => data::view(ctx, elements),
        Err(message) => Err(Exception::throw_message(ctx, &message)),
    })
}

/// Reads the rows on a thread of their own: a large file would hold up the other users of the worker.
async fn read_whole(
    file: Arc<DataFile>,
    position: u64,
    options: TableOptions,
) -> std::result::Result<Arc<Elements>, String> {
    let path = file.path().to_path_buf();
    let reading = tokio::task::spawn_blocking(move || {
        let source = Reading(Box::new(Handle::at(file, position)));
        Table::new(source, &options)?.into_elements()
    });
    let elements = match reading.await {
        Ok(elements) => elements,
        Err(stopped) if stopped.is_panic() => std::panic::resume_unwind(stopped.into_panic()),
        Err(stopped) => Err(stopped.to_string()),
    };
    elements.map(Arc::new).map_err(|problem| describe(&path, &problem))
}

fn describe(path: &std::path::Path, problem: &str) -> String {
    format!("csv {}: {problem}", path.display())
}

fn file_argument<'js>(ctx: &Ctx<'js>, function: &str, file: Opt<Value<'js>>) -> Result<Rc<Handle>> {
    let found = file.0.as_ref().map_or("nothing", Value::type_name);
    file.0.as_ref().and_then(fs::handle_of).ok_or_else(|| {
        let message =
            format!("{function} got {found}, expected a File that open() of k6/experimental/fs resolved with");
        Exception::throw_type(ctx, &message)
    })
}

/// The class of parsers; what one reads, its `next` holds.
struct Parser;

/// The rows of a file from where that stands.
type Rows = Rc<RefCell<Table<Reading<Rc<Handle>>>>>;

impl native::NativeClass for Parser {
    const NAME: &'static str = "Parser";
}

fn make_parser<'js>(ctx: Ctx<'js>, file: Opt<Value<'js>>, options: Opt<Value<'js>>) -> Result<Object<'js>> {
    if Vu::of(&ctx).phase() != Phase::Init {
        return Err(Exception::throw_message(&ctx, "new Parser must be called in the init context"));
    }
    let handle = file_argument(&ctx, "new Parser", file)?;
    let options = options::read(&ctx, options.0)?;
    let table = Table::new(Reading(handle.clone()), &options)
        .map_err(|problem| Exception::throw_message(&ctx, &describe(handle.file().path(), &problem)))?;
    let rows: Rows = Rc::new(RefCell::new(table));
    let parser = native::object(&ctx, Parser)?;
    // It knows its parser, so that it may be called without it, as in k6.
    let next = move |ctx: Ctx<'js>| next(&ctx, rows.clone(), handle.clone());
    parser.set("next", Function::new(ctx.clone(), next)?.with_name("next")?)?;
    Ok(parser)
}

fn next<'js>(ctx: &Ctx<'js>, rows: Rows, handle: Rc<Handle>) -> Result<Promise<'js>> {
    Vu::of(ctx).promise(ctx, std::future::ready(()), move |ctx, ()| {
        let mut rows = rows.borrow_mut();
        let found = rows.advance();
        let found =
            found.map_err(|problem| Exception::throw_message(ctx, &describe(handle.file().path(), &problem)))?;
        let result = Object::new(ctx.clone())?;
        result.set("done", !found)?;
        result.set("value", if found { row_value(ctx, &rows)? } else { Array::new(ctx.clone())?.into_value() })?;
        Ok(result.into_value())
    })
}

/// The current row as an array of strings, or as an object.
fn row_value<'js, R: std::io::Read>(ctx: &Ctx<'js>, rows: &Table<R>) -> Result<Value<'js>> {
    let text = |field: &[u8]| String::from_utf8_lossy(field).into_js(ctx);
    let Some(names) = rows.names() else {
        let array = Array::new(ctx.clone())?;
        for (index, field) in rows.row().fields().enumerate() {
            array.set(index, text(field)?)?;
        }
        return Ok(array.into_value());
    };
    let object = Object::new(ctx.clone())?;
    for (name, field) in names.iter().zip(rows.row().fields()) {
        // Defined, not assigned: a column may be called `__proto__`.
        object.prop(name.as_str(), Property::from(text(field)?).writable().enumerable().configurable())?;
    }
    Ok(object.into_value())
}
