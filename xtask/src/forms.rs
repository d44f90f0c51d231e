//! `cargo xtask forms`: generated forms, sent in every way a script can, read by parsers that are not ours.
//!
//! Not part of `cargo test`, because it needs other languages: Python (email), Node (fetch) and Go (mime/multipart).
//! What is missing is skipped with a line; fewer than two are an error. Parsers differ in how they take names apart
//! (browsers' percent-encoding, Go's backslashes): what each cannot be asked is in `PARSERS` with its reason. The same
//! seed makes the same forms.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::parity::build_onrush;

/// Name, command, file, its text, and the ways it cannot read with the reason.
struct Parser {
    name: &'static str,
    command: &'static [&'static str],
    file: &'static str,
    text: &'static str,
    /// Ways it does not read when a name has quotes or backslashes in it.
    not_quoted: &'static [&'static str],
}

const PARSERS: &[Parser] = &[
    Parser {
        name: "python",
        command: &["python3"],
        file: "parse.py",
        text: include_str!("../forms/parse.py"),
        not_quoted: &[],
    },
    Parser {
        name: "node",
        command: &["node"],
        file: "parse.mjs",
        text: include_str!("../forms/parse.mjs"),
        // It follows the browsers, which know no backslash as escape; forms of objects are written as k6 writes them.
        not_quoted: &["object"],
    },
    Parser {
        name: "go",
        command: &["go", "run"],
        file: "parse.go",
        text: include_str!("../forms/parse.go"),
        not_quoted: &[],
    },
];

const WAYS: [&str; 4] = ["form", "body", "library", "object"];
const FORMS_A_WAY: usize = 60;

/// Runs with the seed given, or 1.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let seed = match arguments {
        [] => 1,
        [seed] => seed.parse().map_err(|_| format!("the seed is {seed:?}, expected a whole number"))?,
        _ => return Err("expected at most one argument, the seed".into()),
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("xtask has no parent folder")?;
    let onrush = build_onrush(root)?;
    let folder = std::env::temp_dir().join(format!("onrush-forms-{}", std::process::id()));
    let outcome = fs::create_dir_all(folder.join("bodies"))
        .map_err(|error| format!("cannot make {}: {error}", folder.display()))
        .and_then(|()| check(&onrush, &folder, seed));
    fs::remove_dir_all(&folder).map_err(|error| format!("cannot remove {}: {error}", folder.display()))?;
    outcome
}

fn check(onrush: &Path, folder: &Path, seed: u64) -> Result<(), String> {
    let mut random = Random(seed.wrapping_mul(2).wrapping_add(1));
    let forms: Vec<Value> =
        WAYS.iter().flat_map(|way| vec![*way; FORMS_A_WAY]).map(|way| form(&mut random, way)).collect();
    let sent = send(onrush, folder, &forms)?;
    if sent.len() != forms.len() {
        return Err(format!("{} requests arrived, expected {}", sent.len(), forms.len()));
    }
    for (number, (kind, body)) in sent.iter().enumerate() {
        write(&folder.join(format!("bodies/{number}.type")), kind)?;
        write(&folder.join(format!("bodies/{number}.body")), body)?;
    }
    let mut parsers = 0;
    let mut wrong = Vec::new();
    for parser in PARSERS {
        match parser.read(folder)? {
            None => println!("{} is not installed: skipped", parser.name),
            Some(read) => {
                parsers += 1;
                wrong.extend(parser.compare(&forms, &read)?);
            }
        }
    }
    wrong.iter().for_each(|line| println!("{line}"));
    match (parsers, wrong.len()) {
        (0 | 1, _) => Err("fewer than two parsers are installed: expected two of python3, node and go".into()),
        (_, 0) => {
            println!("{} forms of seed {seed} are read alike by {parsers} parsers", forms.len());
            Ok(())
        }
        (_, wrong) => Err(format!("{wrong} forms are read differently")),
    }
}

impl Parser {
    /// What it says of each body, or nothing when it is not installed.
    fn read(&self, folder: &Path) -> Result<Option<Vec<Value>>, String> {
        let file = folder.join(self.file);
        write(&file, self.text.as_bytes())?;
        let mut command = Command::new(self.command[0]);
        let output = command.args(&self.command[1..]).arg(&file).arg(folder.join("bodies")).output();
        let output = match output {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(format!("cannot run {}: {error}", self.name)),
            Ok(output) if !output.status.success() => {
                return Err(format!("{} failed: {}", self.name, String::from_utf8_lossy(&output.stderr)));
            }
            Ok(output) => String::from_utf8_lossy(&output.stdout).into_owned(),
        };
        let lines: Result<Vec<Value>, _> = output.lines().map(serde_json::from_str).collect();
        lines.map(Some).map_err(|error| format!("the output of {} is not JSON: {error}", self.name))
    }

    fn compare(&self, forms: &[Value], read: &[Value]) -> Result<Vec<String>, String> {
        if read.len() != forms.len() {
            return Err(format!("{} read {} bodies, expected {}", self.name, read.len(), forms.len()));
        }
        let mut wrong = Vec::new();
        for (form, read) in forms.iter().zip(read) {
            let way = form["way"].as_str().unwrap_or_default();
            if self.not_quoted.contains(&way) && names(form).any(|name| name.contains(['"', '\\'])) {
                continue;
            }
            let (expected, found) = (self.shown(form["fields"].as_array(), way), self.shown(read.as_array(), way));
            if expected != found {
                wrong.push(format!(
                    "{} reads a form sent as {way} differently: {}",
                    self.name,
                    parting(&expected, &found)
                ));
            }
        }
        Ok(wrong)
    }

    /// Fields as text to compare: of the form that was sent, and of what a parser read.
    fn shown(&self, fields: Option<&Vec<Value>>, way: &str) -> String {
        let Some(fields) = fields else { return String::from("no parts") };
        let bytes = |value: &Value| match value {
            // Text of the library is one byte a character where it can be.
            Value::String(text) if way == "library" && text.chars().all(|c| u32::from(c) < 256) => {
                text.chars().map(|c| c as u8).collect()
            }
            Value::String(text) => text.clone().into_bytes(),
            Value::Array(list) => list.iter().filter_map(Value::as_u64).map(|byte| byte as u8).collect(),
            _ => Vec::<u8>::new(),
        };
        let name = |value: &Value| {
            let text = String::from_utf8_lossy(&bytes(value)).into_owned();
            text.replace("%22", "\"").replace("%0D", "\r").replace("%0A", "\n")
        };
        let one = |field: &Value| {
            let is_file = !field["filename"].is_null();
            let content = if field["text"].is_string() { bytes(&field["text"]) } else { bytes(&field["content"]) };
            // Text is decoded by some parsers; of files every byte counts.
            let content = if is_file { format!("{content:?}") } else { String::from_utf8_lossy(&content).into_owned() };
            let kind =
                if is_file { String::from_utf8_lossy(&bytes(&field["type"])).into_owned() } else { String::new() };
            format!("{:?} {:?} {kind} {content}", name(&field["name"]), name(&field["filename"]))
        };
        fields.iter().map(one).collect::<Vec<_>>().join(" | ")
    }
}

/// Where two texts part, with what is around.
fn parting(expected: &str, found: &str) -> String {
    let same = expected.chars().zip(found.chars()).take_while(|(a, b)| a == b).count();
    let around = |text: &str| text.chars().skip(same.saturating_sub(20)).take(60).collect::<String>();
    format!("expected …{:?}…, found …{:?}…", around(expected), around(found))
}

fn names(form: &Value) -> impl Iterator<Item = &str> {
    let fields = form["fields"].as_array().into_iter().flatten();
    fields.flat_map(|field| [field["name"].as_str(), field["filename"].as_str()]).flatten()
}

/// A form of one to five fields: without any it is no multipart body by RFC 2046, and parsers part ways. Names never
/// hold `%` (they could not be told from escapes) or `/` (a path).
fn form(random: &mut Random, way: &str) -> Value {
    let quoted = if way == "object" { "\"\\\r\n" } else { "\"\r\n" };
    // Names of an object cannot repeat, and are ordered when they look like numbers.
    let name = |random: &mut Random, number: u64| match way {
        "object" => format!("{}-{number}", random.text(&format!("abé€ ;={quoted}"), 6)),
        _ => random.text(&format!("abé€ ;=\\'{quoted}").replace('\\', ""), 6),
    };
    let fields: Vec<Value> = (0..1 + random.below(5))
        .map(|number| {
            let name = name(random, number);
            if random.below(2) == 0 {
                return json!({ "name": name, "text": random.text("a\u{e9}€😀\r\n-\"\\ =&", 40) });
            }
            let longest = *random.pick(&[0, 1, 30, 5000]);
            let content: Vec<u8> = (0..longest).map(|_| *random.pick(b"\0\r\n--ab\xff\x80")).collect();
            let kind =
                *random.pick(&["text/plain", "image/png", "application/octet-stream", "text/plain; charset=utf-8"]);
            json!({ "name": name, "filename": format!("f{}", random.text(&format!("é. ;'{quoted}"), 6)),
                "type": kind, "content": content })
        })
        .collect();
    json!({ "way": way, "fields": with_a_file(fields, way) })
}

/// An object without a file in it would be sent url-encoded.
fn with_a_file(mut fields: Vec<Value>, way: &str) -> Vec<Value> {
    if way == "object" && fields.iter().all(|field| field["filename"].is_null()) {
        fields.push(json!({ "name": "last", "filename": "f", "type": "a/b", "content": [1, 2, 3] }));
    }
    fields
}

/// xorshift: the same on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len() as u64) as usize]
    }

    fn text(&mut self, from: &str, longest: u64) -> String {
        let from: Vec<char> = from.chars().collect();
        (0..self.below(longest + 1)).map(|_| *self.pick(&from)).collect()
    }
}

/// Content-Type and body of each request, in order.
type Arrived = Vec<(Vec<u8>, Vec<u8>)>;

fn send(onrush: &Path, folder: &Path, forms: &[Value]) -> Result<Arrived, String> {
    let list = folder.join("forms.json");
    let script = folder.join("send.js");
    write(&list, Value::from(forms).to_string().as_bytes())?;
    write(&script, include_bytes!("../forms/send.js"))?;
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| format!("cannot listen: {error}"))?;
    let address = listener.local_addr().map_err(|error| format!("cannot listen: {error}"))?;
    let arrived = Arc::new(Mutex::new(Arrived::new()));
    let kept = Arc::clone(&arrived);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            if let Err(error) = receive(stream, &kept) {
                eprintln!("a connection failed: {error}");
            }
        }
    });
    let mut command = Command::new(onrush);
    command
        .args(["run", "-q", "-e", &format!("TARGET=http://{address}"), "-e", &format!("FORMS={}", list.display())])
        .arg(&script);
    let output = command.output().map_err(|error| format!("cannot start onrush: {error}"))?;
    if !output.status.success() || output.stderr.windows(5).any(|word| word == b"error") {
        return Err(format!("onrush failed: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let mut arrived = arrived.lock().map_err(|_| "the receiver failed")?;
    Ok(std::mem::take(&mut *arrived))
}

fn receive(stream: TcpStream, arrived: &Mutex<Arrived>) -> std::io::Result<()> {
    let mut writer = stream.try_clone()?;
    let mut reader = BufReader::new(stream);
    loop {
        let (mut kind, mut length, mut line) = (Vec::new(), 0, Vec::new());
        loop {
            line.clear();
            if reader.read_until(b'\n', &mut line)? == 0 {
                return Ok(());
            }
            let text = String::from_utf8_lossy(&line).trim_end().to_owned();
            match text.split_once(": ") {
                Some((name, value)) if name.eq_ignore_ascii_case("content-type") => kind = value.as_bytes().to_vec(),
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.parse().unwrap_or(0)
                }
                _ if text.is_empty() => break,
                _ => {}
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        if let Ok(mut arrived) = arrived.lock() {
            arrived.push((kind, body));
        }
        writer.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")?;
    }
}

fn write(path: &PathBuf, text: &[u8]) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
}
