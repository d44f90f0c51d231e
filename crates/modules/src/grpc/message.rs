//! Values of the script as messages are made of them, and messages as values of the script.
//!
//! What `JSON.stringify` would do with a value is done here too, because k6 hands messages over as JSON: `toJSON` is
//! called, `undefined` and functions are left out.

use std::cell::RefCell;
use std::rc::Rc;

use grpc::{Builder, Kind as Wanted, MessagePlan, Schema, Undecodable, Unfit, Value as Source};
use host::bytes;
use host::js::atom::PredefinedAtom;
use host::js::function::This;
use host::js::object::Property;
use host::js::{Array, Ctx, Error, Object, Result, String as JsString, Value};
use host::kind::Kind;
use host::object::{self, KnownNames};
use rustc_hash::FxHashMap;

use script::Vu;
use script::go_error;

/// Fields of messages by the names that the script's objects have for them.
#[derive(Default)]
struct Names {
    of_plans: RefCell<FxHashMap<usize, Rc<KnownNames>>>,
}

impl Names {
    /// Plans live as long as the process, so their addresses tell them apart.
    fn of(&self, plan: &MessagePlan) -> Rc<KnownNames> {
        let mut plans = self.of_plans.borrow_mut();
        Rc::clone(plans.entry(std::ptr::from_ref(plan) as usize).or_default())
    }
}

/// A value of the script.
struct Given<'a, 'js> {
    ctx: &'a Ctx<'js>,
    value: Value<'js>,
}

impl<'a, 'js> Given<'a, 'js> {
    /// What JSON would be made of; nothing for what it leaves out.
    fn of(ctx: &'a Ctx<'js>, value: Value<'js>) -> Result<Option<Given<'a, 'js>>> {
        let value = match Kind::of(&value) {
            Kind::Plain(object) | Kind::Date(object) | Kind::Other(object) => {
                let own: Value<'js> = object.get(PredefinedAtom::ToJSON)?;
                match own.as_function() {
                    Some(function) => function.call((This(value.clone()),))?,
                    None => value,
                }
            }
            _ => value,
        };
        let is_left_out = value.is_undefined() || matches!(Kind::of(&value), Kind::Function(_) | Kind::Symbol);
        Ok((!is_left_out).then_some(Given { ctx, value }))
    }

    fn object(&self) -> &Object<'js> {
        object::of(&self.value).expect("it was told to be an object")
    }
}

impl Source for Given<'_, '_> {
    type Error = Error;

    fn kind(&self) -> Result<Wanted> {
        Ok(match Kind::of(&self.value) {
            Kind::Nothing => Wanted::Null,
            Kind::Bool(flag) => Wanted::Bool(flag),
            Kind::Number(number) => Wanted::Number(number),
            Kind::BigInt => Wanted::BigInt,
            Kind::Text(_) => Wanted::Text,
            Kind::Buffer(_) => Wanted::Bytes,
            Kind::Array(_) => Wanted::List,
            Kind::Plain(_) | Kind::Other(_) => Wanted::Object,
            Kind::Symbol => Wanted::Other("a symbol"),
            Kind::Function(_) => Wanted::Other("a function"),
            Kind::Date(_) => Wanted::Other("a Date"),
            Kind::Map(_) => Wanted::Other("a Map"),
            Kind::Promise(_) => Wanted::Other("a promise"),
        })
    }

    fn with_text<R>(&self, read: impl FnOnce(&str) -> R) -> Result<R> {
        match self.value.as_string() {
            Some(text) => bytes::borrow(text, |raw| match std::str::from_utf8(raw) {
                Ok(text) => read(text),
                Err(_) => read(&String::from_utf8_lossy(raw)),
            }),
            None => Ok(read(&bytes::to_text(self.ctx, &self.value)?)),
        }
    }

    fn add_bytes(&self, out: &mut Vec<u8>) -> Result<()> {
        out.extend(bytes::read(self.ctx, &self.value, <[u8]>::to_vec)?.unwrap_or_default());
        Ok(())
    }

    fn each_item(
        &self,
        mut each: impl FnMut(usize, &Self) -> std::result::Result<(), Unfit<Error>>,
    ) -> std::result::Result<(), Unfit<Error>> {
        let array = self.value.as_array().expect("it was told to be an array");
        for index in 0..array.len() {
            let null = || Given { ctx: self.ctx, value: Value::new_null(self.ctx.clone()) };
            let item = Given::of(self.ctx, array.get(index)?)?.unwrap_or_else(null);
            each(index, &item)?;
        }
        Ok(())
    }

    fn each_entry(
        &self,
        mut each: impl FnMut(&str, &Self) -> std::result::Result<(), Unfit<Error>>,
    ) -> std::result::Result<(), Unfit<Error>> {
        let mut unfit = Ok(());
        object::each_entry(self.ctx, self.object(), |name, value| {
            if let (Ok(()), Some(value)) = (&unfit, Given::of(self.ctx, value)?) {
                unfit = each(&name.text()?, &value);
            }
            Ok(())
        })?;
        unfit
    }

    fn each_field(
        &self,
        plan: &MessagePlan,
        mut each: impl FnMut(std::result::Result<u32, &str>, &Self) -> std::result::Result<(), Unfit<Error>>,
    ) -> std::result::Result<(), Unfit<Error>> {
        let names = Vu::of(self.ctx).local::<Names>().of(plan);
        let mut unfit = Ok(());
        object::each_entry(self.ctx, self.object(), |name, value| {
            if let (Ok(()), Some(value)) = (&unfit, Given::of(self.ctx, value)?) {
                unfit = match names.find(&name, |name| plan.field(name))? {
                    Some(index) => each(Ok(index), &value),
                    None => each(Err(&name.text()?), &value),
                };
            }
            Ok(())
        })?;
        unfit
    }
}

/// Appends the bytes of a message; why not, when it does not fit. A buffer is one that is encoded already, and goes out
/// as it is.
pub fn encode<'js>(
    ctx: &Ctx<'js>,
    schema: &Schema,
    plan: u32,
    value: &Value<'js>,
    out: &mut Vec<u8>,
) -> Result<std::result::Result<(), String>> {
    let Some(given) = Given::of(ctx, value.clone())? else { return Ok(Err(String::from("found nothing to send"))) };
    if matches!(Kind::of(&given.value), Kind::Buffer(_)) {
        return given.add_bytes(out).map(Ok);
    }
    match grpc::encode::encode(schema, schema.plan(plan), &given, out) {
        Ok(()) => Ok(Ok(())),
        Err(Unfit::Misfit(misfit)) => Ok(Err(misfit.to_string())),
        Err(Unfit::Thrown(error)) => Err(error),
    }
}

/// Makes values of the script.
struct Making<'a, 'js> {
    ctx: &'a Ctx<'js>,
}

impl<'js> Builder for Making<'_, 'js> {
    type Value = Value<'js>;
    type Object = Object<'js>;
    type List = (Array<'js>, usize);
    type Error = Error;

    fn null(&mut self) -> Value<'js> {
        Value::new_null(self.ctx.clone())
    }

    fn bool(&mut self, flag: bool) -> Value<'js> {
        Value::new_bool(self.ctx.clone(), flag)
    }

    fn number(&mut self, number: f64) -> Value<'js> {
        Value::new_number(self.ctx.clone(), number)
    }

    fn int64(&mut self, number: i128) -> Result<Value<'js>> {
        self.text(&number.to_string())
    }

    fn text(&mut self, text: &str) -> Result<Value<'js>> {
        Ok(JsString::from_str(self.ctx.clone(), text)?.into_value())
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<Value<'js>> {
        self.text(&base64_simd::STANDARD.encode_to_string(bytes))
    }

    fn object(&mut self) -> Result<Object<'js>> {
        Object::new(self.ctx.clone())
    }

    fn field(&mut self, object: &mut Object<'js>, plan: &MessagePlan, index: usize, value: Value<'js>) -> Result<()> {
        self.entry(object, plan.json_name(index), value)
    }

    fn entry(&mut self, object: &mut Object<'js>, name: &str, value: Value<'js>) -> Result<()> {
        // Defined, not set: a peer's name may be `__proto__`.
        object.prop(name, Property::from(value).writable().configurable().enumerable())
    }

    fn end_object(&mut self, object: Object<'js>) -> Value<'js> {
        object.into_value()
    }

    fn list(&mut self) -> Result<Self::List> {
        Ok((Array::new(self.ctx.clone())?, 0))
    }

    fn item(&mut self, list: &mut Self::List, value: Value<'js>) -> Result<()> {
        list.0.set(list.1, value)?;
        list.1 += 1;
        Ok(())
    }

    fn end_list(&mut self, list: Self::List) -> Value<'js> {
        list.0.into_value()
    }
}

/// The value of a message whose bytes were checked when they came.
pub fn decode<'js>(ctx: &Ctx<'js>, schema: &Schema, plan: u32, bytes: &[u8]) -> Result<Value<'js>> {
    grpc::decode::decode(schema, schema.plan(plan), bytes, &mut Making { ctx }).map_err(|error| match error {
        Undecodable::Thrown(error) => error,
        Undecodable::Malformed(malformed) => go_error::throw(ctx, &malformed.to_string()),
    })
}

/// What `details` of an error holds: each is a `google.protobuf.Any`.
pub fn details<'js>(ctx: &Ctx<'js>, schema: &Schema, status: &[u8]) -> Result<Array<'js>> {
    let list = Array::new(ctx.clone())?;
    let Some(any) = schema.message("google.protobuf.Any") else { return Ok(list) };
    for detail in grpc::reflection::status_details(status) {
        if grpc::decode::check(schema, schema.plan(any), &detail).is_ok() {
            list.set(list.len(), decode(ctx, schema, any, &detail)?)?;
        }
    }
    Ok(list)
}
