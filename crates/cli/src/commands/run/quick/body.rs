//! What a quick run sends: data, forms and files of the command line as expressions of a script.
//!
//! Text stands in the script. Files are named there and opened by it, so that their bytes go to the socket from where they
//! lie. Everything that cannot work is refused before the run: a file that cannot be read, text mixed with bytes.

use super::flag::Act;
use super::line::Given;
use super::source;

/// Files beyond this are read while they are sent instead of being mapped into the script's memory.
const MAPPED: u64 = 64 << 20;
/// Files of text up to this become strings, which a request is prepared from once.
const TEXT: u64 = 64 << 10;

/// A body as a script has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Body {
    /// The expression; none without a body.
    pub expression: Option<String>,
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
        Ok(Body { expression: Some(expression), statements: Vec::new(), import, content_type })
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

fn opened_text(path: &str, strips: bool) -> String {
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

fn from_standard_input(given: &Given) -> String {
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

/// A multipart form: `-F` and `--form-string`.
pub fn form(fields: &[&Given]) -> Result<Body, String> {
    let mut statements = vec![String::from("const form = new FormData();")];
    for given in fields {
        let (name, content) = given.value.split_once('=').ok_or_else(|| {
            format!("{} {}: expected NAME=TEXT, NAME=@FILE or NAME=<FILE", given.spelled, given.value)
        })?;
        let arguments = match given.act {
            Act::FormString => source::text(content),
            _ => part(given, name, content)?,
        };
        statements.push(format!("form.append({}, {arguments});", source::text(name)));
    }
    let import = Some("import { FormData } from 'onrush/http';");
    Ok(Body { expression: Some(String::from("form")), statements, import, content_type: None })
}

/// The arguments behind the name.
fn part(given: &Given, name: &str, content: &str) -> Result<String, String> {
    let refuse = |why: &str| format!("{} {}: {why}", given.spelled, given.value);
    if name.is_empty() || content.starts_with('(') {
        return Err(refuse("nested forms are not there; expected NAME=TEXT, NAME=@FILE or NAME=<FILE"));
    }
    let (mark, rest) = match content.as_bytes().first() {
        Some(mark @ (b'@' | b'<')) => (Some(*mark), &content[1..]),
        _ => (None, content),
    };
    let (value, fields) = parameters(rest).map_err(|why| refuse(&why))?;
    let field = |key: &str| fields.iter().find(|(name, _)| *name == key).map(|(_, value)| value.as_str());
    if mark.is_some() && value == "-" {
        return Err(from_standard_input(given));
    }
    match mark {
        None | Some(b'<') => {
            let text = match mark {
                None => source::text(&value),
                _ => {
                    read_text(&value, false)?;
                    opened_text(&value, false)
                }
            };
            Ok(match (field("type"), field("filename")) {
                (None, None) => text,
                (kind, filename) => record(&text, filename, kind),
            })
        }
        _ if value.contains(',') && !std::path::Path::new(&value).exists() => {
            Err(refuse("several files in one part are not there; give each a -F of its own"))
        }
        _ => {
            size_of(&value)?;
            let bytes = format!("open({}, 'b')", source::text(&value));
            let own_name = std::path::Path::new(&value).file_name().map(|name| name.to_string_lossy().into_owned());
            let filename = field("filename").map(str::to_owned).or(own_name).unwrap_or_default();
            let kind = field("type").unwrap_or_else(|| kind_of(&filename));
            let (filename, kind) = (source::text(&filename), source::text(kind));
            Ok(format!("http.file({bytes}, {filename}, {kind})"))
        }
    }
}

fn record(text: &str, filename: Option<&str>, kind: Option<&str>) -> String {
    let fields = [("filename", filename), ("content_type", kind)];
    let fields = fields.iter().filter_map(|(name, value)| value.map(|v| ((*name).to_owned(), source::text(v))));
    source::object(&std::iter::once(("data".to_owned(), text.to_owned())).chain(fields).collect::<Vec<_>>(), 0)
}

/// Names and values.
type Parameters<'a> = Vec<(&'a str, String)>;

/// The value of a part and its `;type=` and `;filename=`. Values may be in double quotes.
fn parameters(text: &str) -> Result<(String, Parameters<'_>), String> {
    let (value, mut rest) = value(text, true)?;
    let mut fields = Vec::new();
    while let Some(field) = rest.strip_prefix(';') {
        let field = field.trim_start();
        let (key, after) =
            field.split_once('=').ok_or_else(|| format!("found ';{field}', expected ;type= or ;filename="))?;
        if !matches!(key, "type" | "filename") {
            return Err(format!("';{key}=' is not there; only ;type= and ;filename= are"));
        }
        // A type may have parameters of its own.
        let (value, after) = self::value(after, key == "type")?;
        fields.push((key, value));
        rest = after;
    }
    Ok((value, fields))
}

/// A word in quotes, or up to a semicolon; `keeps`: one that begins no field of a part belongs to the word.
fn value(text: &str, keeps: bool) -> Result<(String, &str), String> {
    if let Some(quoted) = text.strip_prefix('"') {
        let mut value = String::new();
        let mut chars = quoted.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => return Ok((value, quoted[at + 1..].trim_start())),
                '\\' => match chars.next() {
                    Some((_, c @ ('"' | '\\'))) => value.push(c),
                    Some((_, c)) => value.extend(['\\', c]),
                    None => {}
                },
                c => value.push(c),
            }
        }
        return Err(format!("the quote in '{text}' is not closed"));
    }
    let begins_field = |rest: &str| {
        let name = rest[1..].trim_start();
        ["type=", "filename=", "headers=", "encoder="].iter().any(|field| name.starts_with(field))
    };
    let ends = text.match_indices(';').map(|(at, _)| at).find(|at| !keeps || begins_field(&text[*at..]));
    let end = ends.unwrap_or(text.len());
    Ok((text[..end].to_owned(), &text[end..]))
}

/// Content-Type by the end of a file's name, as curl guesses it.
fn kind_of(filename: &str) -> &'static str {
    let end = filename.rsplit_once('.').map_or(String::new(), |(_, end)| end.to_ascii_lowercase());
    match end.as_str() {
        "gif" => "image/gif",
        "jpg" | "jpeg" => "image/jpeg",
        "png" => "image/png",
        "svg" => "image/svg+xml",
        "txt" => "text/plain",
        "htm" | "html" => "text/html",
        "pdf" => "application/pdf",
        "xml" => "application/xml",
        _ => "application/octet-stream",
    }
}

/// A file's text, which the script will open again.
fn read_text(path: &str, strips: bool) -> Result<String, String> {
    let bytes = std::fs::read(path).map_err(|error| unreadable(path, &error))?;
    if strips {
        refuse_zeros(path, &bytes)?;
    }
    let text = String::from_utf8(bytes).ok().filter(|text| has_no_mark(text));
    let text =
        text.ok_or_else(|| format!("the file {path} is not plain UTF-8 text, which it must be beside other data"))?;
    Ok(if strips { text.replace(['\r', '\n'], "") } else { text })
}

/// Versions of curl differ in what they make of them.
fn refuse_zeros(path: &str, bytes: &[u8]) -> Result<(), String> {
    match bytes.contains(&0) {
        true => Err(format!("the file {path} has zero bytes, which -d does not send: use --data-binary @{path}")),
        false => Ok(()),
    }
}

fn size_of(path: &str) -> Result<u64, String> {
    let file = std::fs::File::open(path).map_err(|error| unreadable(path, &error))?;
    let about = file.metadata().map_err(|error| unreadable(path, &error))?;
    if !about.is_file() {
        return Err(format!("cannot read the file {path}: it is no regular file"));
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

    #[test]
    fn parts_have_types_and_names() {
        let part = |value: &str| {
            let given = given(Act::Form, value);
            let (name, content) = value.split_once('=').expect("a field");
            super::part(&given, name, content)
        };
        for (value, expected) in [
            ("a=text", "'text'"),
            ("a=x;y", "'x;y'"),
            ("a=x;type=text/plain; charset=utf-8", "{ data: 'x', content_type: 'text/plain; charset=utf-8' }"),
            ("a=\"x;type=\\\"y\";filename=n", "{ data: 'x;type=\"y', filename: 'n' }"),
        ] {
            assert_eq!(part(value).as_deref(), Ok(expected), "{value}");
        }
        for (value, found) in [
            ("a=@/no/such", "cannot read the file /no/such"),
            ("a=@-", "standard input"),
            ("a=x;headers=y", "';headers=' is not there"),
            ("a=(;type=multipart/mixed", "nested forms"),
            ("a=\"x", "is not closed"),
            ("a=@/x,/y", "several files"),
        ] {
            assert!(part(value).expect_err(value).contains(found), "{value}: {:?}", part(value));
        }
    }
}
