//! `FormData`: multipart forms for uploads, put together without touching the bytes of their files.
//!
//! One class with two constructors: that of `onrush/http` and that of k6's FormData library, which scripts import from
//! jslib.k6.io or carry with them: imports from there are answered by this module and nothing is fetched, copies of
//! known texts are replaced by it (`loader/library/`). Binding only: arguments, errors, and what a value becomes;
//! `form.rs` has the fields, `multipart.rs` the bytes. Refuses values that have no bytes, when they are added rather
//! than when they are sent.

pub mod form;
pub mod multipart;
pub mod texts;

use std::ffi::CStr;

use host::borrow::Borrows;
use host::js::atom::PredefinedAtom;
use host::js::function::This;
use host::js::object::Accessor;
use host::js::{Ctx, Exception, Function, IntoJs, Object, Result, Value};
use host::kind::Kind;
use host::plain::{self, Plain};
use host::record::RecordShape;
use host::{bytes, keeper, native::NativeClass, object};
use wire::Payload;

use self::form::{Dialect, Edition, Field, FormData};
use crate::payload::streamed;
use script::arguments::present;
use script::builtins::ModuleDef;
use script::vu::Vu;

/// What `http.file` returns: data, filename and content type.
pub type FilePart = RecordShape<3>;

/// The module that answers imports of k6's FormData library, version 0.0.2.
pub const MODULE: ModuleDef = ModuleDef {
    name: "https://jslib.k6.io/formdata/0.0.2/index.js",
    exports: &["FormData"],
    load,
    types: include_str!("types.d.ts"),
};

fn load<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    load_edition(ctx, Edition::Current)
}

fn load_edition<'js>(ctx: &Ctx<'js>, edition: Edition) -> Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    module.set("FormData", constructor(ctx, Dialect::Jslib(edition))?)?;
    Ok(module)
}

/// The constructors by their number.
const DIALECTS: [Dialect; 5] = [
    Dialect::Browser,
    Dialect::Jslib(Edition::Current),
    Dialect::Jslib(Edition::SetsFirst),
    Dialect::Jslib(Edition::Untyped),
    Dialect::Jslib(Edition::FilesAlone),
];

/// `FormData`; works with and without `new`, as the library's does.
pub fn constructor<'js>(ctx: &Ctx<'js>, dialect: Dialect) -> Result<Function<'js>> {
    let number = DIALECTS.iter().position(|known| *known == dialect).expect("the list has all");
    plain::constructor::<Make>(ctx, c"FormData", number as i32, &keeper::prototype::<FormData>(ctx)?)
}

/// The constructors: that of browsers, those of the library.
struct Make;

impl Plain for Make {
    fn call<'js>(ctx: &Ctx<'js>, args: plain::Args<'_, 'js>, number: i32) -> Result<Value<'js>> {
        let form = keeper::object(ctx, FormData::new(DIALECTS[number as usize]))?;
        // Called with `new`, it is called on the class: this one, or one of the script that extends it.
        if let Some(class) = object::of(&args.this()) {
            let prototype: Option<Object<'js>> = class.get(PredefinedAtom::Prototype)?;
            if prototype.is_some() && prototype != form.get_prototype() {
                form.set_prototype(prototype.as_ref())?;
            }
        }
        Ok(form.into_value())
    }
}

/// The form in a value as a body, and its Content-Type; `None` when it is no form.
pub fn as_body<'js>(ctx: &Ctx<'js>, value: &Value<'js>, borrows: &Borrows<'js>) -> Result<Option<(Payload, String)>> {
    let found = keeper::with(value, |form: &mut FormData, values| {
        let boundary = form.boundary.as_ref().map_err(|found| {
            let expected = "expected 1 to 70 letters, digits or any of ' + _ - .";
            Exception::throw_type(ctx, &format!("FormData: boundary is {found}, {expected}"))
        })?;
        let mut contents = Vec::with_capacity(form.fields.len());
        for (field, value) in form.fields.iter().zip(values) {
            contents.push(match field.text {
                Some(_) => None,
                None => Some(content(ctx, field, value, borrows)?),
            });
        }
        let payload = form::write(&form.fields, &contents, boundary);
        Ok((payload, ["multipart/form-data; boundary=", boundary].concat()))
    });
    found.transpose()
}

fn content<'js>(ctx: &Ctx<'js>, field: &Field, value: &Value<'js>, borrows: &Borrows<'js>) -> Result<Payload> {
    streamed::content(value, Kind::of(value), borrows)?.ok_or_else(|| {
        let name = String::from_utf8_lossy(&field.name);
        Exception::throw_type(ctx, &format!("FormData: the buffer of field \"{name}\" was detached before it was sent"))
    })
}

impl NativeClass for FormData {
    const NAME: &'static str = "FormData";

    fn methods<'js>(prototype: &Object<'js>) -> Result<()> {
        for (number, method) in METHODS.iter().enumerate() {
            let function = plain::function::<CallMethod>(prototype.ctx(), method.name, number as i32)?;
            prototype.set(method.name(), function)?;
        }
        prototype.prop("boundary", Accessor::new(boundary, set_boundary).configurable().enumerable())
    }
}

fn boundary<'js>(ctx: Ctx<'js>, this: This<Value<'js>>) -> Result<Value<'js>> {
    let boundary = keeper::with(&this, |form: &mut FormData, _| form.boundary.clone().unwrap_or_else(|found| found));
    boundary.into_js(&ctx)
}

fn set_boundary<'js>(this: This<Value<'js>>, given: Value<'js>) -> Result<()> {
    let boundary = match bytes::text(&given)? {
        Some(text) if multipart::is_boundary(&text) => Ok(text),
        found => Err(found.map_or_else(|| given.type_name().to_owned(), |text| format!("{text:?}"))),
    };
    keeper::with(&this, |form: &mut FormData, _| form.boundary = boundary);
    Ok(())
}

/// A method of forms.
struct FormMethod {
    name: &'static CStr,
    does: Does,
    /// Arguments that it cannot do without.
    least: usize,
}

/// What a method does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Does {
    Append,
    Set,
    Has,
    Delete,
    Assemble,
}

static METHODS: [FormMethod; 5] = [
    FormMethod { name: c"append", does: Does::Append, least: 2 },
    FormMethod { name: c"set", does: Does::Set, least: 2 },
    FormMethod { name: c"has", does: Does::Has, least: 1 },
    FormMethod { name: c"delete", does: Does::Delete, least: 1 },
    FormMethod { name: c"body", does: Does::Assemble, least: 0 },
];

impl FormMethod {
    fn name(&self) -> &'static str {
        self.name.to_str().expect("ASCII")
    }

    /// Refuses a call with fewer arguments than it takes to make sense.
    fn check_count(&self, ctx: &Ctx<'_>, count: usize) -> Result<()> {
        if count >= self.least {
            return Ok(());
        }
        let expected = if self.least == 2 { "a name and a value" } else { "a name" };
        let message = format!("FormData.{} needs {expected}, found {count} arguments", self.name());
        Err(Exception::throw_type(ctx, &message))
    }
}

/// The function behind each of `METHODS`.
struct CallMethod;

impl Plain for CallMethod {
    fn call<'js>(ctx: &Ctx<'js>, args: plain::Args<'_, 'js>, number: i32) -> Result<Value<'js>> {
        let (this, method) = (args.this(), &METHODS[number as usize]);
        let Some(dialect) = keeper::with(&this, |form: &mut FormData, _| form.dialect) else {
            let message = format!("FormData.{} belongs to a FormData: call it on one", method.name());
            return Err(Exception::throw_type(ctx, &message));
        };
        method.check_count(ctx, args.count())?;
        let name =
            || Ok::<_, host::js::Error>(dialect.encode(bytes::to_text(ctx, &args.get(0).expect("it was counted"))?));
        let nothing = Value::new_undefined(ctx.clone());
        match method.does {
            Does::Assemble => assembled(ctx, &this),
            Does::Has => {
                let name = name()?;
                let known = keeper::with(&this, |form: &mut FormData, _| form.has(&name));
                Ok(Value::new_bool(ctx.clone(), known.unwrap_or(false)))
            }
            Does::Delete => {
                let name = name()?;
                keeper::with(&this, |form: &mut FormData, values| form.delete(values, &name));
                Ok(nothing)
            }
            Does::Append | Does::Set => {
                let given = NewField { ctx, method: method.name(), dialect, name: name()? };
                let (field, value) = given.read(&args.get(1).expect("it was counted"), args.get(2))?;
                keeper::with(&this, |form: &mut FormData, values| match method.does {
                    Does::Set => form.set(values, field, value),
                    _ => form.append(values, field, value),
                });
                Ok(nothing)
            }
        }
    }
}

/// The whole body in one buffer.
fn assembled<'js>(ctx: &Ctx<'js>, form: &Value<'js>) -> Result<Value<'js>> {
    let (payload, _) = as_body(ctx, form, &Borrows::none(ctx))?.expect("the caller looked");
    let mut whole = Vec::with_capacity(payload.len() as usize);
    let read = payload.read(|piece| whole.extend_from_slice(piece));
    read.map_err(|error| Exception::throw_message(ctx, &format!("FormData.body: {error}")))?;
    Ok(bytes::array_buffer(ctx, whole)?.into_value())
}

/// The arguments of `append` and `set` on their way to a field.
struct NewField<'a, 'js> {
    ctx: &'a Ctx<'js>,
    method: &'a str,
    dialect: Dialect,
    name: Vec<u8>,
}

impl<'js> NewField<'_, 'js> {
    /// The field, and the script value to keep for it.
    fn read(self, value: &Value<'js>, filename: Option<Value<'js>>) -> Result<(Field, Value<'js>)> {
        let kind = Kind::of(value);
        // The library passes over it; bytes alone, which it passes over too, may have one.
        let is_ignored = self.dialect != Dialect::Browser && !streamed::is_content(value, kind);
        let filename = if is_ignored { None } else { self.text_unless_absent(filename)? };
        match kind {
            Kind::Text(_) | Kind::Number(_) | Kind::Bool(_) | Kind::BigInt => {
                let text = self.dialect.encode(bytes::to_text(self.ctx, value)?);
                let content_type = self.dialect.type_of_text(filename.is_some()).map(|kind| kind.as_bytes().to_vec());
                let text = if self.dialect.takes_text() { text } else { Vec::new() };
                Ok(self.of_text(text, filename, content_type))
            }
            _ if streamed::is_content(value, kind) => {
                // Without a name, receivers would take the bytes for text. `blob` is what browsers call it.
                let own_name = match kind {
                    Kind::Other(_) => streamed::file_name(value).map(|name| self.dialect.encode(name)),
                    _ => None,
                };
                let filename = filename.or(own_name).unwrap_or_else(|| b"blob".to_vec());
                Ok(self.of_content(value.clone(), Some(filename), octets()))
            }
            Kind::Nothing | Kind::Symbol | Kind::Function(_) => Err(self.refuse(value)),
            _ => self.of_part(value, filename),
        }
    }

    /// A field of what `http.file` makes, or of an object like it.
    fn of_part(self, value: &Value<'js>, filename: Option<Vec<u8>>) -> Result<(Field, Value<'js>)> {
        let [data, own_name, content_type] = match Vu::of(self.ctx).local::<FilePart>().fields(value)? {
            Some(fields) => fields,
            None => {
                let part = object::of(value).expect("its kind says so");
                [part.get("data")?, part.get("filename")?, part.get("content_type")?]
            }
        };
        let filename = match filename {
            Some(name) => Some(name),
            None => self.text_unless_absent(Some(own_name))?.filter(|name| !name.is_empty()),
        };
        let content_type = self.text_unless_absent(Some(content_type))?.filter(|kind| !kind.is_empty());
        let content_type = content_type.unwrap_or_else(octets);
        if let Some(problem) = multipart::type_problem(&content_type) {
            let name = String::from_utf8_lossy(&self.name);
            let message = format!("FormData.{}: field {name:?}: {problem}", self.method);
            return Err(Exception::throw_type(self.ctx, &message));
        }
        match Kind::of(&data) {
            Kind::Text(_) => {
                let text = self.dialect.encode(bytes::to_text(self.ctx, &data)?);
                Ok(self.of_text(text, filename, Some(content_type)))
            }
            // What the library takes too: a list of bytes.
            Kind::Array(list) => {
                let list: Result<Vec<u8>> = list.iter::<i32>().map(|byte| byte.map(|byte| byte as u8)).collect();
                Ok(self.of_text(list?, filename, Some(content_type)))
            }
            kind if streamed::is_content(&data, kind) => Ok(self.of_content(data, filename, content_type)),
            _ => Err(self.refuse(if data.is_undefined() { value } else { &data })),
        }
    }

    fn of_text(self, text: Vec<u8>, filename: Option<Vec<u8>>, content_type: Option<Vec<u8>>) -> (Field, Value<'js>) {
        let nothing = Value::new_undefined(self.ctx.clone());
        (Field { name: self.name, filename, content_type, text: Some(text) }, nothing)
    }

    fn of_content(self, value: Value<'js>, filename: Option<Vec<u8>>, kind: Vec<u8>) -> (Field, Value<'js>) {
        (Field { name: self.name, filename, content_type: Some(kind), text: None }, value)
    }

    fn text_unless_absent(&self, value: Option<Value<'js>>) -> Result<Option<Vec<u8>>> {
        present(value).map(|value| Ok(self.dialect.encode(bytes::to_text(self.ctx, &value)?))).transpose()
    }

    fn refuse(&self, found: &Value<'js>) -> host::js::Error {
        let name = String::from_utf8_lossy(&self.name);
        let found = described(found);
        let message = format!(
            "FormData.{}: the value of field \"{name}\" is {found}, expected a string, a number, a boolean, an \
             ArrayBuffer, a view of one, a FileStream, a payload, or what http.file makes",
            self.method
        );
        Exception::throw_type(self.ctx, &message)
    }
}

fn octets() -> Vec<u8> {
    b"application/octet-stream".to_vec()
}

/// What a value is, for people.
fn described(value: &Value<'_>) -> String {
    let Some(object) = value.as_object() else { return value.type_name().to_owned() };
    if object.is_function() {
        return String::from("a function");
    }
    let class = object.get::<_, Object<'_>>("constructor").and_then(|class| class.get::<_, String>("name"));
    match class.as_deref() {
        Ok("Object") | Err(_) => String::from("an object without bytes in its data property"),
        Ok(class) => format!("an object of the class {class}"),
    }
}
