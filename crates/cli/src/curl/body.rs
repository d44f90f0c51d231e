//! What a quick run sends: data and files of the command line as expressions of a script; forms are in `form.rs`.
//!
//! Text is in the script. Files are named there and opened by it, so that their bytes go to the socket from where
//! they lie. Everything that cannot work is refused before the run: a file that cannot be read, text mixed with bytes.

use super::flag::Act;
use super::line::Given;
use convert::model::Part;
use convert::source;

/// Files beyond this are read while they are sent instead of being mapped into the script's memory.
const MAPPED: u64 = 64 << 20;
/// Files of text up to this become strings, which a request is prepared from once.
const TEXT: u64 = 64 << 10;

/// A body as a script has it.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// The expression; none without a body.
    pub expression: Option<String>,
    /// What the expression says, when it is text alone.
    pub text: Option<String>,
    /// The parts, when it is a form.
    pub parts: Vec<Part>,
    /// Lines that come before it.
    pub statements: Vec<String>,
    /// The module the script needs beside `k6/http`.
    pub import: Option<&'static str>,
    /// Content-Type that goes with it.
    pub content_type: Option<&'static str>,
}

/// A piece of data.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    File { path: String, strips: bool },
}

/// What `-d` and its relatives gave, in order.
#[derive(Clone, Debug, Default)]
pub struct Data {
    pieces: Vec<Piece>,
    is_json: bool,
}

impl Data {
    /// Adds what a flag of data gives.
    pub fn add(&mut self, given: &Given) -> Result<(), String> {
        let value = given.value.as_str();
        let file = value.strip_prefix('@');
        let piece = match (given.act, file) {
            (Act::DataUrlencode, _) => Piece::Text(urlencoded(given)?),
            (Act::DataRaw, _) | (_, None) => Piece::Text(value.to_owned()),
            (_, Some("-")) => return Err(from_standard_input(given)),
            (act, Some(path)) => Piece::File { path: path.to_owned(), strips: act == Act::Data },
        };
        // Only --json puts its pieces together without a separator.
        let joins = given.act != Act::Json && !self.pieces.is_empty();
        if joins {
            self.text("&");
        }
        self.is_json |= given.act == Act::Json;
        match piece {
            Piece::Text(text) => self.text(&text),
            file => self.pieces.push(file),
        }
        Ok(())
    }

    fn text(&mut self, more: &str) {
        match self.pieces.last_mut() {
            Some(Piece::Text(text)) => text.push_str(more),
            _ => self.pieces.push(Piece::Text(more.to_owned())),
        }
    }

    /// Whether nothing was given.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Whether `--json` gave some of it.
    pub fn is_json(&self) -> bool {
        self.is_json
    }

    /// As a query: `-G`.
    pub fn query(&self) -> Result<String, String> {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => Ok(text.clone()),
            Piece::File { path, strips } => read_text(path, *strips),
        };
        self.pieces.iter().map(piece).collect()
    }

    /// As a body.
    pub fn body(&self) -> Result<Body, String> {
        let content_type = Some(if self.is_json { "application/json" } else { "application/x-www-form-urlencoded" });
        let (expression, import) = match &self.pieces[..] {
            [Piece::File { path, strips }] => whole_file(path, *strips)?,
            pieces => {
                let terms: Result<Vec<String>, String> = pieces.iter().map(term).collect();
                (terms?.join(" + "), None)
            }
        };
        let text = match &self.pieces[..] {
            [Piece::Text(text)] => Some(text.clone()),
            _ => None,
        };
        Ok(Body { expression: Some(expression), text, import, content_type, ..Body::default() })
    }
}

fn term(piece: &Piece) -> Result<String, String> {
    match piece {
        Piece::Text(text) => Ok(source::text(text)),
        Piece::File { path, strips } => {
            read_text(path, *strips)?;
            Ok(opened_text(path, *strips))
        }
    }
}

/// The expression that opens it.
pub fn opened_text(path: &str, strips: bool) -> String {
    let stripped = if strips { ".replace(/[\\r\\n]/g, '')" } else { "" };
    format!("open({}){stripped}", source::text(path))
}

/// A file that is the whole body: as a string, as mapped bytes, or read while it is sent.
fn whole_file(path: &str, strips: bool) -> Result<(String, Option<&'static str>), String> {
    let size = size_of(path)?;
    let is_text = || std::fs::read(path).is_ok_and(|bytes| std::str::from_utf8(&bytes).is_ok_and(has_no_mark));
    if strips {
        let bytes = std::fs::read(path).map_err(|error| unreadable(path, &error))?;
        refuse_zeros(path, &bytes)?;
    }
    let shown = source::text(path);
    Ok(match (strips, size) {
        (_, ..=TEXT) if is_text() => (opened_text(path, strips), None),
        (true, _) => (format!("new Uint8Array(open({shown}, 'b')).filter((byte) => byte !== 13 && byte !== 10)"), None),
        (false, ..=MAPPED) => (format!("open({shown}, 'b')"), None),
        (false, _) => (format!("new FileStream({shown})"), Some("import { FileStream } from 'onrush/fs';")),
    })
}

/// Reading a file as text takes a byte order mark off.
fn has_no_mark(text: &str) -> bool {
    !text.starts_with('\u{feff}')
}

/// A body that is one file: `-T`.
pub fn upload(path: &str) -> Result<Body, String> {
    if path == "-" || path == "." {
        return Err("-T -: standard input can be read once only: put it into a file".into());
    }
    let (expression, import) = whole_file(path, false)?;
    Ok(Body { expression: Some(expression), import, ..Body::default() })
}

/// Why `@-` cannot be.
pub fn from_standard_input(given: &Given) -> String {
    format!("{} {}: standard input can be read once only: put it into a file", given.spelled, given.value)
}

/// `--data-urlencode`: `content`, `=content`, `name=content`, `@file`, `name@file`.
pub fn urlencoded(given: &Given) -> Result<String, String> {
    let value = &given.value;
    let (name, content) = match value.find(['=', '@']) {
        None => ("", value.clone()),
        Some(at) if value[at..].starts_with('=') => (&value[..at], value[at + 1..].to_owned()),
        Some(at) if &value[at + 1..] == "-" => return Err(from_standard_input(given)),
        Some(at) => {
            let path = &value[at + 1..];
            let bytes = std::fs::read(path).map_err(|error| unreadable(path, &error))?;
            return Ok(named(&value[..at], &escape(&bytes)));
        }
    };
    Ok(named(name, &escape(content.as_bytes())))
}

fn named(name: &str, content: &str) -> String {
    if name.is_empty() { content.to_owned() } else { format!("{name}={content}") }
}

fn escape(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for byte in bytes {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => text.push(char::from(*byte)),
            b' ' => text.push('+'),
            byte => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

/// A file's text, which the script will open again.
pub fn read_text(path: &str, strips: bool) -> Result<String, String> {
    let bytes = std::fs::read(path).map_err(|error| unreadable(path, &error))?;
    if strips {
        refuse_zeros(path, &bytes)?;
    }
    let text = String::from_utf8(bytes).ok().filter(|text| has_no_mark(text));
    let text =
        text.ok_or_else(|| format!("the file {path} is not plain UTF-8 text, which is necessary beside other data"))?;
    Ok(if strips { text.replace(['\r', '\n'], "") } else { text })
}

/// Versions of curl differ in what they make of them.
fn refuse_zeros(path: &str, bytes: &[u8]) -> Result<(), String> {
    match bytes.contains(&0) {
        true => Err(format!("the file {path} has zero bytes, which -d does not send: use --data-binary @{path}")),
        false => Ok(()),
    }
}

/// Length of a file that can be read.
pub fn size_of(path: &str) -> Result<u64, String> {
    let file = std::fs::File::open(path).map_err(|error| unreadable(path, &error))?;
    let about = file.metadata().map_err(|error| unreadable(path, &error))?;
    if !about.is_file() {
        return Err(format!("cannot read the file {path}: it is not a regular file"));
    }
    Ok(about.len())
}

fn unreadable(path: &str, error: &std::io::Error) -> String {
    format!("cannot read the file {path}: {error}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(act: Act, value: &str) -> Given {
        Given { act, spelled: String::from("-d"), value: value.to_owned() }
    }

    #[test]
    fn data_is_joined_as_curl_joins_it() {
        let mut data = Data::default();
        for (act, value) in
            [(Act::Data, "a=1"), (Act::DataRaw, "@b"), (Act::DataUrlencode, "c=x y+é"), (Act::Json, "{}")]
        {
            data.add(&given(act, value)).expect("good");
        }
        assert_eq!(data.query().as_deref(), Ok("a=1&@b&c=x+y%2B%C3%A9{}"));
        assert!(data.is_json());
        assert_eq!(data.body().expect("text").content_type, Some("application/json"));
    }

    #[test]
    fn urlencode_has_five_forms() {
        for (value, expected) in [("a b", "a+b"), ("=a=b", "a%3Db"), ("n=a=b", "n=a%3Db"), ("~-._", "~-._")] {
            assert_eq!(urlencoded(&given(Act::DataUrlencode, value)).as_deref(), Ok(expected));
        }
        assert!(urlencoded(&given(Act::DataUrlencode, "n@/no/such")).expect_err("refused").contains("/no/such"));
    }
}
