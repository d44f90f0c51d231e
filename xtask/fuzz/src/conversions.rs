//! Readers of other tools' files, `onrush convert`: whatever they read becomes a script that compiles, or an error with
//! a text.
//!
//! The scripts are compiled by the real loader and not run: they begin with a `throw`.

use std::rc::Rc;

use convert::{Format, Settings, Style};

use super::scripts::Compiler;
use super::subjects::{Check, Subject};

const JSON: &[&str] =
    &["{", "}", "[", "]", ",", ":", "\"", "null", "true", "-1", "1e99", "\"\"", "\\u0000", "{{", "}}", "${"];

pub const HAR: Subject = Subject {
    name: "har",
    examples: &[
        r#"{"log":{"pages":[{"id":"p","title":"a::b"}],"entries":[{"pageref":"p",
        "startedDateTime":"2026-01-01T00:00:00Z",
        "time":5,"request":{"method":"POST","url":"http://h/a?b=c","headers":[{"name":"Cookie","value":"a=b"}],
        "postData":
        {"mimeType":"application/json","text":"{\"a\":1}"}},"response":{"status":200,"headers":[{"name":"X",
        "value":"abcdef123"}],
        "content":{"text":"{\"token\":\"abcdefgh12345\"}"}}},{"request":{"method":"GET",
        "url":"http://h/abcdefgh12345"},
        "response":{"status":302}}]}}"#,
        r#"{"log":{"entries":[{"request":{"method":"PUT","url":"https://u:p@[::1]:9/`${x}`","postData":{"mimeType":
        "multipart/form-data","params":[{"name":"a\"","value":"b"},{"name":"f","fileName":"x"}]}},
        "response":{"status":1}}]}}"#,
    ],
    words: JSON,
    start: || start(Format::Har),
};

pub const OPENAPI: Subject = Subject {
    name: "openapi",
    examples: &[
        "openapi: 3.0.0\nservers: [{url: 'http://h/{v}', variables: {v: {default: x}}}]\npaths:\n  /a/{id}:\n    \
         get:\n      \
         parameters: [{name: id, in: path, required: true, schema: {$ref: '#/components/schemas/N'}}]\n      \
         responses: {200: \
         {description: x}}\ncomponents:\n  schemas:\n    N: {type: object, required: [n], properties: {n: {$ref: \
         '#/components/schemas/N'}, m: &a {type: integer}, o: *a}}\n",
        r##"{"openapi":"3.1.0","paths":{"/x":{"post":{"tags":["t"],"security":[{"k":[]}],"requestBody":{"content":
        {"multipart/form-data":{"schema":{"properties":{"f":{"format":"binary"}}}}}}}}},
        "components":{"securitySchemes":
        {"k":{"type":"apiKey","in":"query","name":"k"}}}}"##,
    ],
    words: &[
        "$ref",
        "allOf",
        "#/",
        "*a",
        "&a",
        "<<: ",
        "- ",
        ": ",
        "\n  ",
        "oneOf",
        "minLength",
        "type",
        "{",
        "}",
        "'",
        "\"",
    ],
    start: || start(Format::OpenApi),
};

pub const POSTMAN: Subject = Subject {
    name: "postman",
    examples: &[
        r#"{"info":{"name":"n"},"variable":[{"key":"u","value":"http://h{{p}}"}],"item":[{"name":"f",
        "item":[{"name":"a",
        "event":[{"listen":"test","script":{"exec":["pm.test('x', () => {","pm.response.to.have.status(200);","});",
        "pm.environment.set('t', pm.response.json().a[0].b);","x`${y}`"]}}],"request":{"method":"POST",
        "auth":{"type":"basic",
        "basic":[{"key":"username","value":"{{me}}"}]},"url":{"raw":"{{u}}/:id","variable":[{"key":"id",
        "value":"1"}]},"body":
        {"mode":"raw","raw":"{\"a\":{{b}}}"}}}]}]}"#,
        r#"{"item":[{"request":{"url":{"host":["h"],"path":["a"],"query":[{"key":"q","value":"1"}]},
        "body":{"mode":"graphql",
        "graphql":{"query":"{a}","variables":"{}"}}}},{"request":"http://h/"},{"request":{"url":"h",
        "body":{"mode":"formdata",
        "formdata":[{"key":"k","type":"file","src":"f"}]}}}]}"#,
    ],
    words: JSON,
    start: || start(Format::Postman),
};

pub const JMETER: Subject = Subject {
    name: "jmeter",
    examples: &[include_str!("../../../crates/cli/tests/convert/plan.jmx")],
    words: &[
        "<",
        ">",
        "</hashTree>",
        "<hashTree>",
        "${",
        "}",
        "&#10;",
        "]]>",
        "<![CDATA[",
        "testname=\"",
        "__Random(1,",
        "\"",
    ],
    start: || start(Format::Jmeter),
};

pub const LINES: Subject = Subject {
    name: "targets",
    examples: &[
        "GET http://h/a\nX: y\n@f\n\nPOST https://h/`${b}`\n",
        "{\"method\":\"PUT\",\"url\":\"http://h/\",\"body\":\"AP8=\",\"header\":{\"a\":[\"b\",\"c\"]}}\n\
         {\"url\":\"http://h/\"}\n",
    ],
    words: JSON,
    start: || start(Format::Vegeta),
};

pub const LOG: Subject = Subject {
    name: "access-log",
    examples: &[
        "1.2.3.4 - me [10/Oct/2000:13:55:36 -0700] \"GET /a?b=c HTTP/1.0\" 200 2326 \
         \"http://r/\" \"Agent \\x22 \\\"\"\n",
        "::1 - - [31/Dec/9999:23:59:60 +9999] \"POST http://h/x HTTP/1.1\" 499 0\n- - - [] \"\" -\n",
    ],
    words: &["[", "]", "\"", "\\x", "GET ", " HTTP/1.1", "10/Oct/2000:13:55:36 +0000", "-", "\n", "\t"],
    start: || start(Format::AccessLog),
};

pub const WRK: Subject = Subject {
    name: "wrk",
    examples: &[
        "B=http://h\nwrk -t2 -c 10k -d 30s -s post.lua -H \"A: $B\" --timeout=2 \"$B/x?y=${z}\" > f 2>&1\n",
        "wrk2 -R 2k $'http://h/\\x41' | tee x; (wrk 'http://h/' \\\n  -c 5) & # end",
        "cat <<-'E' <<F | wrk \"$(cat <<G\nhttp://h/$x\nG\n)\" <<< $'a' < f\n\tE\nF\n",
    ],
    words: &["'", "\"", "$'", "\\", "\n", "$(", "`", "${", "<<", ">", "&&", ";", "#", "wrk ", "-c ", "=", "|"],
    start: || start(Format::Wrk),
};

fn start(format: Format) -> Result<Check, String> {
    let compiler = Rc::new(Compiler::new()?);
    Ok(Box::new(move |input| {
        let _ = convert::detect(input);
        let text = String::from_utf8_lossy(input);
        let style = Style { base_url: None, files: Some(String::from("script")) };
        let settings =
            Settings { style: style.clone(), read: |_| Some(String::from("wrk.body = 'x'\n`")), ..Settings::plain() };
        let converted = match convert::from_text(format, &text, &settings) {
            Ok(converted) => converted,
            Err(problem) if problem.message.is_empty() => return Err(String::from("an error without a text")),
            Err(_) => return Ok(()),
        };
        let (script, _) = convert::write_script(converted.test, &style);
        compiler.compile(&script).map_err(|why| format!("{why} in {script}"))
    }))
}
