//! Messages from JSON to wire bytes and back: what k6 takes and shows, what it refuses, and bytes of a hostile peer.
//!
//! The forms were found by running k6 against a server of grpc-go. The bytes are checked by prost-reflect.

#![allow(clippy::unwrap_used)]

use onrush_grpc as grpc;
use onrush_grpc::{Builder, Kind, Schema, Undecodable, Unfit, Value};
use prost::Message as _;
use prost_reflect::{DescriptorPool, DynamicMessage};
use serde_json::{Map, Value as Json, json};

struct Given<'a>(&'a Json);

impl Value for Given<'_> {
    type Error = std::convert::Infallible;

    fn kind(&self) -> Result<Kind, Self::Error> {
        Ok(match self.0 {
            Json::Null => Kind::Null,
            Json::Bool(flag) => Kind::Bool(*flag),
            Json::Number(number) => Kind::Number(number.as_f64().unwrap()),
            Json::String(_) => Kind::Text,
            Json::Array(_) => Kind::List,
            Json::Object(_) => Kind::Object,
        })
    }

    fn with_text<R>(&self, read: impl FnOnce(&str) -> R) -> Result<R, Self::Error> {
        Ok(read(self.0.as_str().unwrap()))
    }

    fn add_bytes(&self, _: &mut Vec<u8>) -> Result<(), Self::Error> {
        unreachable!("JSON has no bytes")
    }

    fn each_item(
        &self,
        mut each: impl FnMut(usize, &Self) -> Result<(), Unfit<Self::Error>>,
    ) -> Result<(), Unfit<Self::Error>> {
        self.0.as_array().unwrap().iter().enumerate().try_for_each(|(index, item)| each(index, &Given(item)))
    }

    fn each_entry(
        &self,
        mut each: impl FnMut(&str, &Self) -> Result<(), Unfit<Self::Error>>,
    ) -> Result<(), Unfit<Self::Error>> {
        self.0.as_object().unwrap().iter().try_for_each(|(name, value)| each(name, &Given(value)))
    }
}

struct Made;

impl Builder for Made {
    type Value = Json;
    type Object = Map<String, Json>;
    type List = Vec<Json>;
    type Error = std::convert::Infallible;

    fn null(&mut self) -> Json {
        Json::Null
    }
    fn bool(&mut self, flag: bool) -> Json {
        flag.into()
    }
    fn number(&mut self, number: f64) -> Json {
        if number.fract() == 0.0 && number.abs() < 1e15 { (number as i64).into() } else { number.into() }
    }
    fn int64(&mut self, number: i128) -> Result<Json, Self::Error> {
        Ok(number.to_string().into())
    }
    fn text(&mut self, text: &str) -> Result<Json, Self::Error> {
        Ok(text.into())
    }
    fn bytes(&mut self, bytes: &[u8]) -> Result<Json, Self::Error> {
        Ok(base64_simd::STANDARD.encode_to_string(bytes).into())
    }
    fn object(&mut self) -> Result<Map<String, Json>, Self::Error> {
        Ok(Map::new())
    }
    fn field(
        &mut self,
        object: &mut Self::Object,
        plan: &grpc::MessagePlan,
        index: usize,
        value: Json,
    ) -> Result<(), Self::Error> {
        object.insert(plan.json_names().nth(index).unwrap().to_owned(), value);
        Ok(())
    }
    fn entry(&mut self, object: &mut Self::Object, name: &str, value: Json) -> Result<(), Self::Error> {
        object.insert(name.to_owned(), value);
        Ok(())
    }
    fn end_object(&mut self, object: Self::Object) -> Json {
        object.into()
    }
    fn list(&mut self) -> Result<Vec<Json>, Self::Error> {
        Ok(Vec::new())
    }
    fn item(&mut self, list: &mut Vec<Json>, value: Json) -> Result<(), Self::Error> {
        list.push(value);
        Ok(())
    }
    fn end_list(&mut self, list: Vec<Json>) -> Json {
        list.into()
    }
}

const PROTO: &str = include_str!("every_type.proto");

fn schema() -> Schema {
    Schema::compile(&["every_type.proto".into()], |name| (name == "every_type.proto").then(|| Ok(PROTO.into())))
        .unwrap()
}

fn encode(schema: &Schema, type_name: &str, value: &Json) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    let plan = schema.plan(schema.message(type_name).unwrap());
    grpc::encode::encode(schema, plan, &Given(value), &mut out).map_err(|unfit| match unfit {
        Unfit::Misfit(misfit) => misfit.to_string(),
        Unfit::Thrown(never) => match never {},
    })?;
    Ok(out)
}

fn decode(schema: &Schema, type_name: &str, bytes: &[u8]) -> Result<Json, String> {
    let plan = schema.plan(schema.message(type_name).unwrap());
    let checked = grpc::decode::check(schema, plan, bytes);
    let decoded = grpc::decode::decode(schema, plan, bytes, &mut Made).map_err(|error| match error {
        Undecodable::Malformed(malformed) => malformed.to_string(),
        Undecodable::Thrown(never) => match never {},
    });
    assert_eq!(checked.is_ok(), decoded.is_ok());
    decoded
}

const ALL: &str = "onrush.all.All";

/// The fields that differ from those of an empty message.
fn echoed(schema: &Schema, sent: &Json) -> Result<Json, String> {
    let defaults = decode(schema, ALL, b"").unwrap();
    let shown = decode(schema, ALL, &encode(schema, ALL, sent)?)?;
    let Json::Object(fields) = shown else { panic!("a message is an object") };
    Ok(fields.into_iter().filter(|(name, value)| defaults.get(name) != Some(value)).collect::<Map<_, _>>().into())
}

#[test]
fn an_empty_message_has_its_defaults() {
    let shown = decode(&schema(), ALL, b"").unwrap();
    assert_eq!(shown.as_object().unwrap().len(), 42);
    for (name, value) in [
        ("aDouble", json!(0)),
        ("anInt64", json!("0")),
        ("aBool", json!(false)),
        ("aString", json!("")),
        ("someBytes", json!("")),
        ("color", json!("COLOR_UNSPECIFIED")),
        ("inner", json!(null)),
        ("value", json!(null)),
        ("manyInts", json!([])),
        ("byName", json!({})),
        ("otherName", json!("")),
    ] {
        assert_eq!(shown[name], value, "{name}");
    }
    for absent in ["choiceText", "choiceNull", "maybeInt", "maybeString"] {
        assert_eq!(shown.get(absent), None, "{absent}");
    }
}

fn inner(name: &str, n: i32) -> Json {
    json!({"name": name, "n": n, "child": null, "many": []})
}

fn all_come_back<const N: usize>(pairs: [(Json, Json); N]) {
    let schema = schema();
    for (sent, shown) in pairs {
        assert_eq!(echoed(&schema, &sent), Ok(shown), "{sent}");
    }
}

#[test]
fn values_come_back_as_k6_shows_them() {
    all_come_back([
        (json!({"a_double": 1.5}), json!({"aDouble": 1.5})),
        (json!({"aDouble": "-Infinity"}), json!({"aDouble": "-Infinity"})),
        (json!({"aDouble": "1e5"}), json!({"aDouble": 100_000})),
        (json!({"aFloat": 1.1}), json!({"aFloat": 1.1})),
        (json!({"aFloat": 16_777_217}), json!({"aFloat": 16_777_216})),
        (json!({"anInt32": "1e3"}), json!({"anInt32": 1000})),
        (json!({"anInt32": -2_147_483_648}), json!({"anInt32": -2_147_483_648})),
        (json!({"anInt32": null}), json!({})),
        (json!({"anInt64": "9223372036854775807"}), json!({"anInt64": "9223372036854775807"})),
        (json!({"anInt64": 5}), json!({"anInt64": "5"})),
        (json!({"aUint32": 4_294_967_295_u32}), json!({"aUint32": 4_294_967_295_u32})),
        (json!({"aUint64": "18446744073709551615"}), json!({"aUint64": "18446744073709551615"})),
        (json!({"aSint32": -5, "aSint64": "-5"}), json!({"aSint32": -5, "aSint64": "-5"})),
        (json!({"aSint32": -2_147_483_648}), json!({"aSint32": -2_147_483_648})),
        (json!({"aFixed32": 7, "aFixed64": 7}), json!({"aFixed32": 7, "aFixed64": "7"})),
        (json!({"aSfixed32": -7, "aSfixed64": -7}), json!({"aSfixed32": -7, "aSfixed64": "-7"})),
        (json!({"someBytes": "aGk"}), json!({"someBytes": "aGk="})),
        (json!({"someBytes": "-_8="}), json!({"someBytes": "+/8="})),
        (json!({"color": 1}), json!({"color": "RED"})),
        (json!({"color": 77}), json!({"color": 77})),
        (json!({"color": "BLUE"}), json!({"color": "BLUE"})),
        (json!({"inner": {}}), json!({"inner": inner("", 0)})),
        (json!({"manyInts": [1, "7"]}), json!({"manyInts": [1, 7]})),
        (json!({"manyInners": [{}, {"name": "x"}]}), json!({"manyInners": [inner("", 0), inner("x", 0)]})),
        (json!({"manyColors": ["RED", 2, 99]}), json!({"manyColors": ["RED", "GREEN", 99]})),
    ]);
}

#[test]
fn special_values_come_back_as_k6_shows_them() {
    all_come_back([
        (json!({"byName": {"a": 1, "b": "2"}}), json!({"byName": {"a": 1, "b": 2}})),
        (json!({"byNumber": {"-6": {"n": 1}}}), json!({"byNumber": {"-6": inner("", 1)}})),
        (json!({"byFlag": {"true": "y"}}), json!({"byFlag": {"true": "y"}})),
        (json!({"choiceNumber": 0}), json!({"choiceNumber": 0})),
        (json!({"choiceText": null, "choiceNumber": 1}), json!({"choiceNumber": 1})),
        (json!({"choiceNull": null}), json!({"choiceNull": null})),
        (json!({"maybeInt": 0, "maybeString": ""}), json!({"maybeInt": 0, "maybeString": ""})),
        (json!({"when": "2020-01-02T03:04:05.1+01:00"}), json!({"when": "2020-01-02T02:04:05.100Z"})),
        (json!({"howLong": "-0.5s"}), json!({"howLong": "-0.500s"})),
        (
            json!({"structure": {"a": 1, "b": "x", "c": null, "d": [1, {"e": true}], "f": {}}}),
            json!({"structure": {"a": 1, "b": "x", "c": null, "d": [1, {"e": true}], "f": {}}}),
        ),
        (json!({"structure": {}}), json!({"structure": {}})),
        (json!({"value": [1, null]}), json!({"value": [1, null]})),
        (json!({"list": []}), json!({"list": []})),
        (
            json!({"any": {"name": "z", "@type": "foo.bar/onrush.all.Inner"}}),
            json!({"any": {"@type": "foo.bar/onrush.all.Inner", "name": "z", "n": 0, "child": null, "many": []}}),
        ),
        (
            json!({"any": {"@type": "x/google.protobuf.Duration", "value": "5s"}}),
            json!({"any": {"@type": "x/google.protobuf.Duration", "value": "5s"}}),
        ),
        (json!({"any": {}}), json!({"any": {}})),
        (json!({"wDouble": 0, "wInt64": "5"}), json!({"wDouble": 0, "wInt64": "5"})),
        (
            json!({"wString": "", "wBool": false, "wBytes": "aGk="}),
            json!({"wString": "", "wBool": false, "wBytes": "aGk="}),
        ),
        (json!({"mask": "aB,c.dE"}), json!({"mask": "aB,c.dE"})),
        (json!({"empty": {}}), json!({"empty": {}})),
        (json!({"custom": "y"}), json!({"otherName": "y"})),
        (json!({"manyWhens": ["1970-01-01T00:00:00Z"]}), json!({"manyWhens": ["1970-01-01T00:00:00Z"]})),
    ]);
}

#[test]
fn what_does_not_fit_is_told_with_its_path() {
    let schema = schema();
    let deep = (0..150).fold(json!({}), |value, _| json!({"child": value}));
    for (sent, message) in [
        (json!({"aDouble": true}), "aDouble: expected double, found true"),
        (json!({"aFloat": 1e300}), "aFloat: expected float, found 1e300"),
        (json!({"anInt32": 1.5}), "anInt32: expected int32, found 1.5"),
        (json!({"anInt32": 2_147_483_648_u32}), "anInt32: expected int32, found 2147483648"),
        (json!({"anInt32": " 5"}), "anInt32: expected int32, found \" 5\""),
        (json!({"aUint64": -1}), "aUint64: expected uint64, found -1"),
        (json!({"aBool": "true"}), "aBool: expected bool, found \"true\""),
        (json!({"aString": 5}), "aString: expected string, found 5"),
        (json!({"someBytes": "!"}), "someBytes: expected bytes (base64, an ArrayBuffer or a view of one), found \"!\""),
        (json!({"color": "GREN"}), "color: the enum has no value \"GREN\"; did you mean 'GREEN'?"),
        (json!({"inner": []}), "inner: expected object, found a list"),
        (json!({"inner": {"many": [{}, {"n": "x"}]}}), "inner.many[1].n: expected int32, found \"x\""),
        (json!({"inner": {"nam": "x"}}), "inner: unknown field \"nam\" of onrush.all.Inner; did you mean 'name'?"),
        (json!({"texts": "a"}), "unknown field \"texts\" of onrush.all.All"),
        (json!({"manyInts": 5}), "manyInts: expected list, found 5"),
        (json!({"manyInts": [null]}), "manyInts[0]: expected int32, found null"),
        (json!({"manyInners": [null]}), "manyInners[0]: expected object, found null"),
        (json!({"byName": {"a b": null}}), "byName[\"a b\"]: expected int32, found null"),
        (json!({"byNumber": {"x": {}}}), "byNumber[\"x\"]: expected an int64 as key, found \"x\""),
        (json!({"byFlag": {"maybe": ""}}), "byFlag[\"maybe\"]: expected a bool as key, found \"maybe\""),
        (json!({"choiceText": "x", "choiceNumber": 1}), "choiceNumber: another field of the oneof \"choice\" is set"),
        (json!({"otherName": "x", "custom": "y"}), "otherName: given twice, by its JSON name and by its own"),
        (json!({"when": 5}), "when: expected a timestamp (RFC 3339), found 5"),
        (json!({"howLong": "1m"}), "howLong: expected a duration (\"1.5s\"), found \"1m\""),
        (json!({"mask": "a_b"}), "mask: expected a field mask (\"aField,another.field\"), found \"a_b\""),
        (json!({"any": {"name": "x"}}), "any: an Any needs \"@type\", the URL of its type"),
        (json!({"any": {"@type": "x/no.Such"}}), "any: \"@type\": no message \"x/no.Such\" in the file descriptors"),
        (json!({"empty": {"a": 1}}), "empty: unknown field \"a\" of google.protobuf.Empty"),
        (json!([]), "expected object, found a list"),
    ] {
        assert_eq!(encode(&schema, ALL, &sent).unwrap_err(), message, "{sent}");
    }
    assert!(encode(&schema, "onrush.all.Inner", &deep).unwrap_err().ends_with("messages nest deeper than 100"));
}

fn descriptors() -> DescriptorPool {
    let mut compiler = protox::Compiler::new([concat!(env!("CARGO_MANIFEST_DIR"), "/tests")]).unwrap();
    compiler.open_file("every_type.proto").unwrap();
    compiler.descriptor_pool()
}

/// A value for every field of the message, chosen by chance.
fn random(random: &mut fastrand::Rng, depth: usize) -> Json {
    let mut inner = json!({"name": "n".repeat(random.usize(..300)), "n": random.i32(..)});
    if depth > 0 {
        inner["many"] = (0..random.usize(..3)).map(|_| self::random(random, 0)["inner"].clone()).collect();
    }
    json!({
        "aDouble": random.f64(), "aFloat": 0.5, "anInt32": random.i32(..), "anInt64": random.i64(..).to_string(),
        "aUint32": random.u32(..), "aUint64": random.u64(..).to_string(), "aSint32": random.i32(..),
        "aSint64": random.i64(..).to_string(), "aFixed32": random.u32(..), "aFixed64": random.u64(..).to_string(),
        "aSfixed32": random.i32(..), "aSfixed64": random.i64(..).to_string(), "aBool": random.bool(),
        "aString": "é".repeat(random.usize(..200)), "someBytes": "aGk=", "color": "RED", "inner": inner,
        "manyInts": (0..random.usize(..200)).map(|_| random.i32(..)).collect::<Vec<_>>(),
        "byName": {"a": random.i32(..), "": 0}, "maybeInt": 0, "structure": {"x": [1, "y", null]},
    })
}

fn schema_of(text: &'static str) -> Result<Schema, String> {
    let read = move |name: &str| (name == "f.proto").then(|| Ok(text.to_owned()));
    Schema::compile(&["f.proto".to_owned()], read).map_err(|error| error.0)
}

#[test]
fn a_group_has_the_name_of_its_field_and_of_its_message() {
    let text = r#"syntax = "proto2"; package t;
        message M { optional group MyGroup = 1 { repeated group Deep_Er = 2 { optional string s = 1; } } }
        service S { rpc Echo(M) returns (M); }"#;
    let schema = schema_of(text).unwrap();
    let expected = json!({ "mygroup": { "deepEr": [{ "s": "a" }] } });
    for sent in [
        json!({ "mygroup": { "deepEr": [{ "s": "a" }] } }),
        json!({ "mygroup": { "deep_er": [{ "s": "a" }] } }),
        json!({ "MyGroup": { "Deep_Er": [{ "s": "a" }] } }),
    ] {
        let bytes = encode(&schema, "t.M", &sent).unwrap();
        assert_eq!(decode(&schema, "t.M", &bytes).unwrap(), expected, "{sent}");
    }
    let refused = encode(&schema, "t.M", &json!({ "myGroup": {} })).unwrap_err();
    assert!(refused.contains("unknown field \"myGroup\""), "{refused}");
}

/// Values that k6 reads, and that the compiler refuses.
#[test]
fn odd_values_of_custom_options_are_read() {
    let text = r#"syntax = "proto2"; package t; import "google/protobuf/descriptor.proto";
        message Opt { optional Opt sub = 1; repeated Opt subs = 2; optional group Grp = 3 {} extensions 100 to 200; }
        extend Opt { optional int32 ext = 100; }
        extend google.protobuf.MessageOptions { optional double d = 50001; optional string s = 50002; }
        extend google.protobuf.MessageOptions { repeated Opt o = 50003; }
        message Inf { option (d) = inf; }
        message MinusInf { option (d) = -inf; }
        message Nan { option (d) = nan; }
        message Large { option (d) = 18446744073709551616; }
        message Bytes { option (s) = "\xff"; }
        message Lists { option (o) = { subs [{}, { sub {} }] }; option (o) = { grp {} }; option (o) = { [ext]: 1 }; }
        message M { optional int32 a = 1 [default = 3, deprecated = true]; }"#;
    let schema = schema_of(text).unwrap();
    assert_eq!(decode(&schema, "t.M", &[]).unwrap(), json!({ "a": null }));
    // What is wrong elsewhere is said, in its place.
    let refused = schema_of("syntax = \"proto2\";\nmessage M { optional Absent a = 1; }").err().unwrap();
    assert!(refused.starts_with("f.proto:2:22: "), "{refused}");
}

#[test]
fn another_implementation_reads_the_same() {
    let (schema, pool) = (schema(), descriptors());
    let descriptor = pool.get_message_by_name(ALL).unwrap();
    let mut rng = fastrand::Rng::with_seed(7);
    for _ in 0..300 {
        let sent = random(&mut rng, 2);
        let bytes = encode(&schema, ALL, &sent).unwrap();
        let theirs = DynamicMessage::decode(descriptor.clone(), &*bytes).unwrap();
        let ours = decode(&schema, ALL, &bytes).unwrap();
        assert_eq!(decode(&schema, ALL, &theirs.encode_to_vec()).unwrap(), ours);
        for (name, value) in sent.as_object().unwrap().iter().filter(|(name, _)| *name != "inner") {
            assert_eq!(&ours[name], value, "{name}");
        }
    }
}

#[test]
fn hostile_bytes_end_with_a_value_or_an_error() {
    let (schema, pool) = (schema(), descriptors());
    let descriptor = pool.get_message_by_name(ALL).unwrap();
    let mut rng = fastrand::Rng::with_seed(11);
    let (mut taken, mut refused) = (0, 0);
    for round in 0..20_000 {
        let mut bytes = encode(&schema, ALL, &random(&mut rng, 1)).unwrap();
        for _ in 0..rng.usize(..3) {
            let at = rng.usize(..bytes.len());
            bytes[at] = rng.u8(..);
        }
        if round % 3 == 0 {
            bytes.truncate(rng.usize(..bytes.len()));
        }
        let ours = decode(&schema, ALL, &bytes);
        // What we take, others take, but for a string that a later value replaces: it is not looked at.
        let theirs = DynamicMessage::decode(descriptor.clone(), &*bytes).map_err(|error| error.to_string());
        let is_text = |error: &String| error.contains("invalid string value");
        assert!(ours.is_err() || theirs.as_ref().err().is_none_or(is_text), "{theirs:?}");
        if ours.is_ok() { taken += 1 } else { refused += 1 }
    }
    assert!(taken > 1000 && refused > 1000, "{taken} taken, {refused} refused");
}

#[test]
fn nesting_is_bounded() {
    let schema = schema();
    let mut bytes = Vec::new();
    for _ in 0..5000 {
        let mut outer = vec![0x1a];
        let mut length = bytes.len();
        while length >= 0x80 {
            outer.push(length as u8 | 0x80);
            length >>= 7;
        }
        outer.push(length as u8);
        outer.extend_from_slice(&bytes);
        bytes = outer;
    }
    let refused = decode(&schema, "onrush.all.Inner", &bytes);
    assert_eq!(refused, Err("onrush.all.Inner: messages nest deeper than 100".into()));
    // Groups that nobody closes, in a field that nobody knows.
    assert!(decode(&schema, "onrush.all.Inner", &[0x7b; 100_000]).is_err());
}

#[test]
fn methods_are_listed_and_missing_ones_told() {
    let schema = schema();
    let methods: Vec<_> = schema.methods().iter().map(|m| (&*m.path, m.client_streams, m.server_streams)).collect();
    assert_eq!(methods, [("/onrush.all.Everything/Echo", false, false), ("/onrush.all.Everything/Both", true, true)]);
    assert_eq!(
        grpc::schema::no_method("/onrush.all.Everything/Ecko", schema.methods().iter()),
        "method \"/onrush.all.Everything/Ecko\" not found in file descriptors; did you mean \
         '/onrush.all.Everything/Echo'?"
    );
}

#[test]
fn files_that_do_not_compile_are_told_with_their_place() {
    for (text, message) in [
        ("syntax = \"proto3\";\nmessage A {\n  strin x = 1;\n}\n", "bad.proto:3:3: name 'strin' is not defined"),
        (
            "syntax = \"proto3\";\nmessage A {\n  string x = ;\n}\n",
            "bad.proto:3:14: expected an integer, but found ';'",
        ),
        ("import \"other.proto\";", "bad.proto:1:1: import 'other.proto' not found"),
    ] {
        let found = Schema::compile(&["bad.proto".into()], move |name| (name == "bad.proto").then(|| Ok(text.into())));
        assert_eq!(found.unwrap_err().0, message);
    }
}

#[test]
fn a_protoset_is_read() {
    let mut compiler = protox::Compiler::new([concat!(env!("CARGO_MANIFEST_DIR"), "/tests")]).unwrap();
    compiler.include_imports(true).open_file("every_type.proto").unwrap();
    let schema = Schema::from_protoset(&compiler.encode_file_descriptor_set()).unwrap();
    assert_eq!(echoed(&schema, &json!({"howLong": "1s", "inner": {"n": 3}})).unwrap()["inner"]["n"], 3);
    assert!(Schema::from_protoset(b"nonsense").unwrap_err().0.starts_with("the file is no FileDescriptorSet: "));
}

#[test]
fn a_protoset_of_no_known_syntax_is_refused() {
    // FileDescriptorSet { file: [{ name: "a", syntax: "own" }] }
    let set = [0x0a, 8, 0x0a, 1, b'a', 0x62, 3, b'o', b'w', b'n'];
    let error = Schema::from_protoset(&set).map(drop).unwrap_err();
    assert_eq!(error.0, "a: its syntax is \"own\", expected \"proto2\", \"proto3\" or an edition");
}
