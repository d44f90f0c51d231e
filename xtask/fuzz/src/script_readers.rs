//! Readers that scripts call, or that read what the engine tells of scripts.
//!
//! What must hold of a reader that is private stands in `fuzzing.rs` of its crate; of the others, here.

use std::collections::BTreeMap;

use modules::fuzzing as of_modules;
use script::base64::Variant;
use script::exception::Frame;
use script::options::{OPTIONS, Options};
use script::secrets::Secrets;

use super::subjects::Subject;

/// All of them.
pub const ALL: &[Subject] = &[
    Subject {
        name: "selector",
        examples: &[
            "div > p.a#b ~ [href^='x' i]:nth-child(2n+1), a:not(.c):has(> b)\n\
             <div><p class=a id=b>x<a href=xy><b>z</b>",
            "ul li:last-of-type + li:contains('x'), :first-child\n<ul><li>x<li>y<li lang=en>z</ul>",
            "input:checked:enabled, [a|=b], *:matches(^a.*$), :lang(en)\n<input checked><option selected>",
        ],
        words: &[
            ":not(",
            ":has(",
            ")",
            "[",
            "]",
            ">",
            "+",
            "~",
            "*",
            ",",
            ":nth-child(",
            "2n+1",
            "\\",
            "\"",
            "'",
            "#",
            ".",
            "\n",
            "<div>",
            "</div>",
            "<template>",
            "<table>",
        ],
        start: || Ok(Box::new(of_modules::selector)),
    },
    Subject {
        name: "html",
        examples: &[
            "<!doctype html><html><body><table><tr><td>a<p>b</table><template><i>x</i></template>\
             <noscript><b></noscript>",
            "<form><input name=a><select><option value=1 selected>x</select><textarea>y</textarea></form><!-- c -->",
            "<svg><foreignObject><p></svg><math><mi>&amp;&notin;&#x0;</math><plaintext>",
        ],
        words: &["<", ">", "</", "<table>", "<template>", "<b>", "<p>", "</p>", "&", "<!--", "-->", "<svg>", "=", "\""],
        start: || Ok(Box::new(of_modules::document)),
    },
    Subject {
        name: "csv",
        examples: &[",a,b\r\n\"c,\"\"d\",\"e\nf\"\n\n1,2\r\n", ";a;b\n\"x\"y;z", "\ta\tb\n\"\"\t\"\n\"", ",a,\"b\"\r"],
        words: &["\"", "\"\"", ",", ";", "\n", "\r\n", "\r", "\t", "a"],
        start: || Ok(Box::new(of_modules::csv)),
    },
    Subject {
        name: "socketio",
        examples: &["42[\"a\",1]", "452-/admin,12[\"b\",{\"_placeholder\":true,\"num\":0}]", "430[1]", "461-7[]"],
        words: &["4", "2", "3", "5", "6", "-", "/", ",", "[", "]", "999999999", "1000"],
        start: || Ok(Box::new(of_modules::packet)),
    },
    Subject {
        name: "certificate",
        examples: &[],
        words: &["-----BEGIN CERTIFICATE-----\n", "-----END CERTIFICATE-----\n", "MII", "=", "AgEC", "MAA"],
        start: || Ok(Box::new(of_modules::certificate)),
    },
    Subject {
        name: "crypto-key",
        examples: &[],
        words: &["MII", "MFkw", "=", "AgEA", "BgUrgQQAIg", "A0IABA"],
        start: || Ok(Box::new(of_modules::keys)),
    },
    Subject {
        name: "stack-frame",
        examples: &[
            "    at a.b (file:///x/y.js:7:28)",
            "at <anonymous> (native)",
            "  at file:///a b (c).js:1:2",
            "at new X (k6/http:1:1)",
        ],
        words: &["at ", " (", ")", ":", "file://", "native", "4294967296"],
        start: || Ok(Box::new(frame)),
    },
    Subject {
        name: "secrets",
        examples: &[
            "mock=default,a=b,name=n\nenv=prefix=X_",
            "url=urlTemplate=http://h/{key},method=POST,headers.a=b,responsePath=a.b,timeout=5s,\
             requestsPerMinuteLimit=9",
        ],
        words: &[",", "=", "name=", "default", "url=", "env=", "mock=", "{key}", "headers.", "\n", "5s"],
        start: || Ok(Box::new(secrets)),
    },
    Subject {
        name: "option-text",
        examples: &[
            "10s:5,1m:0",
            "1h2m",
            "5",
            "true",
            "a=b",
            "http_req_duration{a:b}=p(95)<5",
            "10.0.0.1-10.0.0.9",
            "avg,p(9)",
        ],
        words: &[":", ",", "=", "s", "m", "-", "/", "*", "p(", "true", "1e9", "{", "}", "[", "]", "\"", "\n"],
        start: || Ok(Box::new(option_text)),
    },
    Subject {
        name: "base64",
        examples: &["aGVsbG8=", "aGVs\r\nbG8", "_-_-", "YQ==YmM=", "+/+/"],
        words: &["=", "==", "\r\n", "-", "_", "+", "/", "A", "AAAA"],
        start: || Ok(Box::new(base64)),
    },
];

/// A line of a stack of QuickJS, whose names a script chooses: what is shown reads as the same frame.
fn frame(input: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(input);
    let Some(frame) = Frame::parse(&text) else { return Ok(()) };
    let shown = format!("    at {frame}");
    match Frame::parse(&shown) {
        Some(again) if again.to_string() == frame.to_string() => Ok(()),
        other => Err(format!("{text:?} is shown as {shown:?}, which reads as {other:?}")),
    }
}

/// Flags of secret sources, a line each; those that would open a file are left out.
fn secrets(input: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(input);
    let flags: Vec<String> = text.lines().filter(|line| !line.contains("file")).map(str::to_owned).collect();
    if flags.iter().any(|flag| flag.contains("config")) {
        return Ok(());
    }
    let environment = BTreeMap::from([(String::from("K6_SECRET_SOURCE_URL_URL_TEMPLATE"), text.into_owned())]);
    match Secrets::read(&flags, environment) {
        Err(why) if why.is_empty() => Err(String::from("an error without a text")),
        _ => Ok(()),
    }
}

/// The input as the value of every flag and variable, a line each time that it was given.
fn option_text(input: &[u8]) -> Result<(), String> {
    let texts: Vec<String> = String::from_utf8_lossy(input).lines().map(str::to_owned).collect();
    for option in OPTIONS {
        let mut options = Options::default();
        match options.set(option, &texts, "the flag") {
            Err(error) if error.message.is_empty() => return Err(String::from("an error without a text")),
            Err(_) => {}
            Ok(()) => drop((options.to_json(), options.execution.clone().derive())),
        }
    }
    Ok(())
}

/// What is encoded comes back; what the strict decoder reads, this one reads as the same bytes.
fn base64(input: &[u8]) -> Result<(), String> {
    for variant in [Variant::Std, Variant::RawStd, Variant::Url, Variant::RawUrl] {
        let text = variant.encode(input);
        if variant.decode(text.as_bytes()).as_deref() != Ok(input) {
            return Err(format!("{variant:?} gives something else back"));
        }
        let strict = match variant {
            Variant::Std => base64_simd::STANDARD,
            Variant::RawStd => base64_simd::STANDARD_NO_PAD,
            Variant::Url => base64_simd::URL_SAFE,
            Variant::RawUrl => base64_simd::URL_SAFE_NO_PAD,
        };
        let ours = variant.decode(input);
        if let Err(corrupt) = &ours
            && corrupt.0 > input.len()
        {
            return Err(format!("{variant:?} points at byte {} of {}", corrupt.0, input.len()));
        }
        if let Ok(theirs) = strict.decode_to_vec(input)
            && ours.as_ref() != Ok(&theirs)
        {
            return Err(format!("{variant:?} reads {ours:?}, the strict decoder {theirs:?}"));
        }
    }
    Ok(())
}
