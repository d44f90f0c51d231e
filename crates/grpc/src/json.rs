//! Messages as JSON text, for a protocol that sends them so: to wire bytes and back, by the same plans as a script's
//! values.

use std::convert::Infallible;

use serde_json::{Map, Value as Json};

use crate::builder::Builder;
use crate::decode::{self, Malformed, Undecodable};
use crate::encode;
use crate::misfit::Unfit;
use crate::plan::MessagePlan;
use crate::schema::Schema;
use crate::value::{Done, Kind, Value};

/// The wire bytes of a message in JSON; why there are none, in words. Fields that the plan does not know are passed
/// over: the other side may know a newer one.
pub fn from_json(schema: &Schema, plan: u32, text: &[u8]) -> Result<Vec<u8>, String> {
    let json: Json = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    let mut out = Vec::new();
    encode::encode(schema, schema.plan(plan), &Given(&json), &mut out).map_err(|unfit| match unfit {
        Unfit::Misfit(misfit) => misfit.to_string(),
        Unfit::Thrown(never) => match never {},
    })?;
    Ok(out)
}

/// JSON of a message's wire bytes. Fields that are not set are left out or have their default.
pub fn to_json(schema: &Schema, plan: u32, bytes: &[u8]) -> Result<Vec<u8>, Malformed> {
    let json = decode::decode(schema, schema.plan(plan), bytes, &mut Making).map_err(|error| match error {
        Undecodable::Malformed(malformed) => malformed,
        Undecodable::Thrown(never) => match never {},
    })?;
    Ok(json.to_string().into_bytes())
}

/// Above this a number of 64 bits is not exact as a double.
const EXACT: u64 = 1 << 53;

struct Given<'a>(&'a Json);

impl Value for Given<'_> {
    type Error = Infallible;

    fn kind(&self) -> Result<Kind, Infallible> {
        Ok(match self.0 {
            Json::Null => Kind::Null,
            Json::Bool(flag) => Kind::Bool(*flag),
            Json::Number(number) => match number.as_i64().map(i64::unsigned_abs).or(number.as_u64()) {
                Some(whole) if whole > EXACT => Kind::BigInt,
                _ => Kind::Number(number.as_f64().unwrap_or(f64::NAN)),
            },
            Json::String(_) => Kind::Text,
            Json::Array(_) => Kind::List,
            Json::Object(_) => Kind::Object,
        })
    }

    fn with_text<R>(&self, read: impl FnOnce(&str) -> R) -> Result<R, Infallible> {
        Ok(match self.0 {
            Json::String(text) => read(text),
            other => read(&other.to_string()),
        })
    }

    fn add_bytes(&self, _: &mut Vec<u8>) -> Result<(), Infallible> {
        unreachable!("JSON has no bytes")
    }

    fn each_item(&self, mut each: impl FnMut(usize, &Self) -> Done<Infallible>) -> Done<Infallible> {
        let items = self.0.as_array().into_iter().flatten();
        items.enumerate().try_for_each(|(index, item)| each(index, &Given(item)))
    }

    fn each_entry(&self, mut each: impl FnMut(&str, &Self) -> Done<Infallible>) -> Done<Infallible> {
        let entries = self.0.as_object().into_iter().flatten();
        entries.into_iter().try_for_each(|(name, value)| each(name, &Given(value)))
    }

    fn each_field(
        &self,
        plan: &MessagePlan,
        mut each: impl FnMut(Result<u32, &str>, &Self) -> Done<Infallible>,
    ) -> Done<Infallible> {
        self.each_entry(|name, value| match plan.field(name) {
            Some(index) => each(Ok(index), value),
            None if name == "@type" => each(Err(name), value),
            None => Ok(()),
        })
    }
}

struct Making;

impl Builder for Making {
    type Value = Json;
    type Object = Map<String, Json>;
    type List = Vec<Json>;
    type Error = Infallible;

    fn null(&mut self) -> Json {
        Json::Null
    }

    fn bool(&mut self, flag: bool) -> Json {
        flag.into()
    }

    fn number(&mut self, number: f64) -> Json {
        if number.fract() == 0.0 && number.abs() < EXACT as f64 { (number as i64).into() } else { number.into() }
    }

    fn int64(&mut self, number: i128) -> Result<Json, Infallible> {
        self.text(&number.to_string())
    }

    fn text(&mut self, text: &str) -> Result<Json, Infallible> {
        Ok(text.into())
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<Json, Infallible> {
        Ok(base64_simd::STANDARD.encode_to_string(bytes).into())
    }

    fn object(&mut self) -> Result<Self::Object, Infallible> {
        Ok(Map::new())
    }

    fn field(
        &mut self,
        object: &mut Self::Object,
        plan: &MessagePlan,
        index: usize,
        value: Json,
    ) -> Result<(), Infallible> {
        // A message that is not set. `null` would set a `google.protobuf.Value`.
        if value.is_null() {
            return Ok(());
        }
        self.entry(object, plan.json_name(index), value)
    }

    fn entry(&mut self, object: &mut Self::Object, name: &str, value: Json) -> Result<(), Infallible> {
        object.insert(name.to_owned(), value);
        Ok(())
    }

    fn end_object(&mut self, object: Self::Object) -> Json {
        object.into()
    }

    fn list(&mut self) -> Result<Self::List, Infallible> {
        Ok(Vec::new())
    }

    fn item(&mut self, list: &mut Self::List, value: Json) -> Result<(), Infallible> {
        list.push(value);
        Ok(())
    }

    fn end_list(&mut self, list: Self::List) -> Json {
        list.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROTO: &str = "syntax = \"proto3\"; package p; message M { int64 big = 1; string text_of = 2; bytes raw = 3; \
                         M inner = 4; repeated double list = 5; map<string, int32> by = 6; }";

    #[test]
    fn messages_go_both_ways() {
        let schema = Schema::compile(&["p.proto".into()], |_| Some(Ok(PROTO.into()))).unwrap();
        let plan = schema.message("p.M").unwrap();
        let bytes = |text: &str| from_json(&schema, plan, text.as_bytes());
        let sent =
            r#"{"big":9007199254740995,"textOf":"ü","raw":"AQI=","inner":{"big":"-1"},"list":[1,0.5],"by":{"a":7}}"#;
        let shown = to_json(&schema, plan, &bytes(sent).unwrap()).unwrap();
        let shown: Json = serde_json::from_slice(&shown).unwrap();
        assert_eq!(shown["big"], "9007199254740995");
        assert_eq!(
            (&shown["textOf"], &shown["raw"], &shown["inner"]["big"]),
            (&"ü".into(), &"AQI=".into(), &"-1".into())
        );
        assert_eq!((&shown["list"], &shown["by"]), (&serde_json::json!([1, 0.5]), &serde_json::json!({"a": 7})));
        assert_eq!(shown["inner"].get("inner"), None);
        assert_eq!(bytes(r#"{"unknown":{"x":1},"text_of":"t"}"#), bytes(r#"{"textOf":"t"}"#));
        assert_eq!(bytes(r#"{"list":["x"]}"#), Err(String::from("list[0]: expected double, found \"x\"")));
        assert!(bytes("{").unwrap_err().contains("EOF"), "{:?}", bytes("{"));
    }
}
