//! `SchemaRegistry`: from values to bytes and back. Strings, bytes and JSON need no registry; what needs one is refused
//! by name.

use host::bytes;
use host::js::function::{Constructor, Func, Opt, This};
use host::js::{Array, Coerced, Ctx, Exception, FromJs, Object, Result, TypedArray, Value};
use host::native::{self, NativeClass};
use script::arguments::{member, present};
use script::go_error;

struct KafkaRegistry;

impl NativeClass for KafkaRegistry {
    const NAME: &'static str = "SchemaRegistry";

    fn methods<'js>(prototype: &Object<'js>) -> Result<()> {
        prototype.set("serialize", Func::from(serialize))?;
        prototype.set("deserialize", Func::from(deserialize))?;
        prototype.set("getSubjectName", Func::from(subject_name))?;
        for name in ["getSchema", "createSchema"] {
            let refuse = move |ctx: Ctx<'js>| {
                let why = "schemas of a registry are not supported yet: serialize strings, bytes or JSON without one";
                Err::<Value<'js>, _>(go_error::throw(&ctx, &format!("{name}: {why}")))
            };
            prototype.set(name, Func::from(refuse))?;
        }
        Ok(())
    }
}

/// The class.
pub fn constructor<'js>(ctx: &Ctx<'js>) -> Result<Constructor<'js>> {
    let make = |ctx: Ctx<'js>, _config: Opt<Value<'js>>| native::object(&ctx, KafkaRegistry);
    let constructor = Constructor::new_prototype(ctx, native::prototype::<KafkaRegistry>(ctx)?, make)?;
    constructor.set_name("SchemaRegistry")?;
    Ok(constructor)
}

/// What bytes stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SchemaType {
    Text,
    Bytes,
    Json,
}

/// The data of a container and what it is.
fn container<'js>(
    ctx: &Ctx<'js>,
    this: &Value<'js>,
    method: &str,
    given: Option<Value<'js>>,
) -> Result<(Value<'js>, SchemaType)> {
    if native::with(this, |_: &KafkaRegistry| ()).is_none() {
        return Err(Exception::throw_type(ctx, &format!("{method}() must be called on a SchemaRegistry")));
    }
    let refuse = |why: &str| go_error::throw(ctx, &format!("{method}: {why}"));
    let Some(object) = given.and_then(Value::into_object) else {
        return Err(refuse("expected an object with data and schemaType"));
    };
    if member(&object, "schema")?.is_some() {
        return Err(refuse("schemas are not supported yet: leave schema out for strings, bytes and JSON"));
    }
    let Some(data) = present(Some(object.get("data")?)) else { return Err(refuse("data: expected a value")) };
    let name = member(&object, "schemaType")?.map(|name| bytes::to_text(ctx, &name)).transpose()?;
    let kind = match name.as_deref() {
        Some("STRING") => SchemaType::Text,
        Some("BYTES") => SchemaType::Bytes,
        Some("JSON") => SchemaType::Json,
        Some(other @ ("AVRO" | "PROTOBUF")) => {
            return Err(refuse(&format!("schemaType: {other} is not supported yet, expected STRING, BYTES or JSON")));
        }
        other => {
            let found = other.unwrap_or("nothing");
            return Err(refuse(&format!("schemaType: found {found}, expected STRING, BYTES or JSON")));
        }
    };
    Ok((data, kind))
}

fn serialize<'js>(ctx: Ctx<'js>, This(this): This<Value<'js>>, given: Opt<Value<'js>>) -> Result<TypedArray<'js, u8>> {
    let (data, kind) = container(&ctx, &this, "serialize", given.0)?;
    let wrong = |expected: &str| {
        let found = data.type_name();
        go_error::throw(&ctx, &format!("serialize: data: found {found}, expected {expected}"))
    };
    let content = match kind {
        SchemaType::Text => match data.as_string() {
            Some(_) => bytes::to_text(&ctx, &data)?.into_bytes(),
            None => return Err(wrong("a string")),
        },
        SchemaType::Bytes => match read_bytes(&ctx, &data)? {
            Some(bytes) => bytes,
            None => return Err(wrong("bytes, a string or an array of numbers")),
        },
        SchemaType::Json => match ctx.json_stringify(data.clone())? {
            Some(json) => json.to_string()?.into_bytes(),
            None => return Err(wrong("a value that JSON can hold")),
        },
    };
    TypedArray::from_arraybuffer(bytes::array_buffer(&ctx, content)?)
}

/// The bytes of a string, a buffer or an array of numbers.
fn read_bytes<'js>(ctx: &Ctx<'js>, data: &Value<'js>) -> Result<Option<Vec<u8>>> {
    let Some(list) = data.as_array() else { return bytes::read(ctx, data, <[u8]>::to_vec) };
    let byte = |item: Result<Value<'js>>| {
        let number = Coerced::<f64>::from_js(ctx, item?)?.0;
        match (0.0..=255.0).contains(&number) {
            true => Ok(number as u8),
            false => Err(go_error::throw(ctx, &format!("data: found {number}, expected numbers from 0 to 255"))),
        }
    };
    let list: &Array<'js> = list;
    list.iter::<Value<'js>>().map(byte).collect::<Result<Vec<u8>>>().map(Some)
}

fn deserialize<'js>(ctx: Ctx<'js>, This(this): This<Value<'js>>, given: Opt<Value<'js>>) -> Result<Value<'js>> {
    let (data, kind) = container(&ctx, &this, "deserialize", given.0)?;
    let Some(content) = read_bytes(&ctx, &data)? else {
        let found = data.type_name();
        return Err(go_error::throw(&ctx, &format!("deserialize: data: found {found}, expected bytes")));
    };
    match kind {
        SchemaType::Bytes => Ok(TypedArray::<u8>::from_arraybuffer(bytes::array_buffer(&ctx, content)?)?.into_value()),
        SchemaType::Text => {
            Ok(host::js::String::from_str(ctx.clone(), &String::from_utf8_lossy(&content))?.into_value())
        }
        SchemaType::Json => ctx.json_parse(content),
    }
}

/// The name that a registry has a schema under, by the topic; names by the record need the schema.
fn subject_name<'js>(ctx: Ctx<'js>, given: Opt<Value<'js>>) -> Result<String> {
    let refuse = |why: &str| go_error::throw(&ctx, &format!("getSubjectName: {why}"));
    let Some(object) = given.0.and_then(Value::into_object) else {
        return Err(refuse("expected an object with topic, element and subjectNameStrategy"));
    };
    let text = |name: &str| match member(&object, name)? {
        Some(value) => bytes::to_text(&ctx, &value),
        None => Ok(String::new()),
    };
    let (topic, element, strategy) = (text("topic")?, text("element")?.to_lowercase(), text("subjectNameStrategy")?);
    if !matches!(element.as_str(), "key" | "value") {
        return Err(refuse(&format!("element: found {element:?}, expected KEY or VALUE")));
    }
    let record = || match serde_json::from_str::<serde_json::Value>(&text("schema")?) {
        Ok(schema) => {
            let field =
                |name: &str| schema.get(name).and_then(serde_json::Value::as_str).unwrap_or_default().to_owned();
            let (space, name) = (field("namespace"), field("name"));
            Ok(if space.is_empty() { name } else { format!("{space}.{name}") })
        }
        Err(error) => Err(refuse(&format!("schema: {error}"))),
    };
    match strategy.as_str() {
        "" | "TopicNameStrategy" => Ok(format!("{topic}-{element}")),
        "RecordNameStrategy" => record(),
        "TopicRecordNameStrategy" => Ok(format!("{topic}-{}", record()?)),
        other => Err(refuse(&format!("subjectNameStrategy: {other} is unknown, expected one of the constants"))),
    }
}
