//! Requests of every shape, once, and how each format writes them down: what is converted must send them again.
//!
//! One table for all formats, because a script is the same whatever it came from. A format leaves out what it cannot
//! say.

use serde_json::{Value, json};

/// A request.
pub struct Shape {
    pub method: &'static str,
    pub target: &'static str,
    pub headers: &'static [(&'static str, &'static str)],
    pub body: Option<&'static str>,
}

const fn shape(
    method: &'static str,
    target: &'static str,
    headers: &'static [(&'static str, &'static str)],
    body: Option<&'static str>,
) -> Shape {
    Shape { method, target, headers, body }
}

const ANY: (&str, &str) = ("Accept", "*/*");
const JSON: (&str, &str) = ("Content-Type", "application/json");
const FORM: (&str, &str) = ("Content-Type", "application/x-www-form-urlencoded");
const TEXT: (&str, &str) = ("Content-Type", "text/plain; charset=utf-8");

pub const SHAPES: &[Shape] = &[
    shape("GET", "/", &[ANY], None),
    shape("GET", "/a/b.c?x=1&y=2&x=3", &[ANY], None),
    shape("GET", "/q?empty=&bare&sp=a%20b+c&u=%C3%A9", &[ANY], None),
    shape("GET", "/dollar/$%7Bx%7D?a=$1&b='c'", &[ANY], None),
    shape("GET", "/a//b/;p=1,2/@me:x", &[ANY], None),
    shape("GET", "/x", &[ANY, ("X-Quote", "it's \"q\" `b` ${x} \\"), ("X-Two", "a, b;c=d")], None),
    shape("GET", "/x", &[("Accept", "text/html, application/xml;q=0.9"), ("Accept-Language", "de-DE,de;q=0.5")], None),
    shape("GET", "/auth", &[ANY, ("Authorization", "Bearer abc.def-123_x=")], None),
    shape("GET", "/cookie", &[ANY, ("Cookie", "a=1; b=two")], None),
    shape("HEAD", "/head", &[ANY], None),
    shape("DELETE", "/items/1", &[ANY], None),
    shape("OPTIONS", "/items", &[ANY, ("Access-Control-Request-Method", "POST")], None),
    shape("POST", "/empty", &[ANY], None),
    shape("POST", "/json", &[ANY, JSON], Some(r#"{"a":1,"b":[true,null,"é"],"c":{"d":-1.5}}"#)),
    shape("POST", "/json", &[ANY, JSON], Some("{\n  \"a\": 1,\n  \"b\": \"x\"\n}")),
    shape("POST", "/json", &[ANY, JSON], Some(r#"{"a": 1, "b": 2}"#)),
    shape("POST", "/json", &[ANY, JSON], Some(r#"{"n":1.0,"big":12345678901234567890,"2":1,"1":2}"#)),
    shape("POST", "/json", &[ANY, JSON], Some(r#"{"a":1,"a":2,"__proto__":{"x":1}}"#)),
    shape("POST", "/json", &[ANY, JSON], Some(r#"["\n\t\"\\", "\u00e9"]"#)),
    shape("POST", "/json", &[ANY, JSON], Some(r#"{"text":"line\nline","tick":"`${x}`"}"#)),
    shape("POST", "/json", &[ANY, JSON], Some("[]")),
    shape("POST", "/form", &[ANY, FORM], Some("b=2&a=1&a=x+y%26&u=%C3%A9")),
    shape("POST", "/text", &[ANY, TEXT], Some("line one\nline `two` ${three} \\n\n\n  four")),
    shape("POST", "/text", &[ANY, TEXT], Some("it's \"quoted\" and \\ back")),
    shape("POST", "/text", &[ANY, TEXT], Some("tab\there")),
    shape("PUT", "/items/1", &[ANY, TEXT], Some("x")),
    shape("PATCH", "/items/1", &[ANY, JSON], Some("{\"a\":null}")),
    shape("DELETE", "/items/1", &[ANY, JSON], Some("{\"why\":\"old\"}")),
    shape("POST", "/xml", &[ANY, ("Content-Type", "text/xml")], Some("<?xml version=\"1.0\"?>\n<a b=\"c\">&lt;</a>\n")),
    shape("GET", "/last?token=abcdef1234567890", &[ANY, ("X-Request-Id", "r-1")], None),
];

impl Shape {
    /// As the capturing server shows it.
    pub fn shown(&self) -> String {
        let mut headers: Vec<(String, String)> =
            self.headers.iter().map(|(name, value)| (name.to_ascii_lowercase(), (*value).to_owned())).collect();
        headers.push(("host".into(), "HOST".into()));
        if let Some(body) = self.body {
            headers.push(("content-length".into(), body.len().to_string()));
        }
        headers.sort();
        let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
        let lines = self.body.unwrap_or_default().split_inclusive('\n');
        let body: String = lines.map(|line| format!("| {}\n", line.as_bytes().escape_ascii())).collect();
        format!("{} {}\n{headers}{body}", self.method, self.target)
    }

    fn quoted(text: &str) -> String {
        format!("'{}'", text.replace('\'', "'\\''"))
    }

    /// As a command of curl.
    pub fn curl(&self, address: &str) -> String {
        let url = Self::quoted(&format!("http://{address}{}", self.target));
        let mut line = format!("curl --path-as-is -g {url} -X {}", self.method);
        for (name, value) in self.headers {
            line.push_str(&format!(" \\\n  -H {}", Self::quoted(&format!("{name}: {value}"))));
        }
        if let Some(body) = self.body {
            line.push_str(&format!(" \\\n  --data-raw {}", Self::quoted(body)));
        }
        line.push('\n');
        line
    }

    /// As an entry of a HAR file.
    pub fn har(&self, address: &str) -> Value {
        let headers: Vec<Value> =
            self.headers.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect();
        let data = self.body.map(|body| json!({ "mimeType": "", "text": body }));
        json!({
            "startedDateTime": "2026-01-01T00:00:00.000Z",
            "time": 5,
            "request": {
                "method": self.method,
                "url": format!("http://{address}{}", self.target),
                "headers": headers,
                "postData": data,
            },
            "response": { "status": 200, "headers": [], "content": { "mimeType": "text/plain" } },
        })
    }

    /// As a target of vegeta, in JSON.
    pub fn vegeta(&self, address: &str) -> Value {
        let mut headers = serde_json::Map::new();
        self.headers.iter().for_each(|(name, value)| drop(headers.insert((*name).to_owned(), json!([value]))));
        let body = self.body.map(base64);
        json!({
            "method": self.method,
            "url": format!("http://{address}{}", self.target),
            "header": headers,
            "body": body,
        })
    }

    /// As a target of vegeta, in lines of text.
    pub fn vegeta_lines(&self, address: &str) -> String {
        let headers: String = self.headers.iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
        format!("{} http://{address}{}\n{headers}\n", self.method, self.target)
    }

    /// As an item of a collection of Postman.
    pub fn postman(&self, address: &str) -> Value {
        let header = |(name, value): &(&str, &str)| json!({ "key": name, "value": value });
        json!({
            "name": format!("{} {}", self.method, self.target),
            "request": {
                "method": self.method,
                "url": { "raw": format!("http://{address}{}", self.target) },
                "header": self.headers.iter().map(header).collect::<Vec<_>>(),
                "body": self.body.map(|body| json!({ "mode": "raw", "raw": body })),
            },
        })
    }

    /// As a sampler of JMeter, with its tree.
    pub fn jmeter(&self, address: &str) -> String {
        let text = |name: &str, value: &str| format!("<stringProp name=\"{name}\">{}</stringProp>", escaped(value));
        let (host, port) = address.split_once(':').expect("an address");
        let headers: String = self
            .headers
            .iter()
            .map(|(name, value)| {
                let fields = text("Header.name", name) + &text("Header.value", value);
                format!("<elementProp name=\"\" elementType=\"Header\">{fields}</elementProp>")
            })
            .collect();
        let body = self.body.map(|body| {
            format!(
                "<boolProp name=\"HTTPSampler.postBodyRaw\">true</boolProp><elementProp name=\"HTTPsampler.Arguments\">\
                 <collectionProp name=\"Arguments.arguments\"><elementProp name=\"\">{}</elementProp></collectionProp>\
                 </elementProp>",
                text("Argument.value", body)
            )
        });
        let fields = [
            text("HTTPSampler.domain", host),
            text("HTTPSampler.port", port),
            text("HTTPSampler.path", self.target),
            text("HTTPSampler.method", self.method),
            body.unwrap_or_default(),
        ];
        format!(
            "<HTTPSamplerProxy testname=\"a shape\" enabled=\"true\">{}</HTTPSamplerProxy><hashTree><HeaderManager \
             enabled=\"true\"><collectionProp name=\"HeaderManager.headers\">{headers}</collectionProp></HeaderManager>\
             <hashTree/></hashTree>\n",
            fields.concat()
        )
    }
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('\n', "&#10;").replace('\t', "&#9;")
}

fn base64(text: &str) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in text.as_bytes().chunks(3) {
        let bits = chunk.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        let letters = (0..4).map(|at| LETTERS[(bits >> (18 - 6 * at) & 63) as usize] as char);
        out.extend(letters.take(chunk.len() + 1));
        out.extend(std::iter::repeat_n('=', 3 - chunk.len()));
    }
    out
}
