//! `request.formData()`: bodies of the types multipart/form-data (RFC 7578) and application/x-www-form-urlencoded.
//!
//! Refuses what has no boundary, no name, or breaks off; the message says which. Contents of files are copied out of
//! the body.

use host::bytes as script_bytes;
use host::js::{Array, Ctx, Exception, Result, Value};
use host::plain::Args;

use crate::body;
use crate::values::argument;

/// One field.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) name: String,
    pub(super) file: Option<String>,
    content_type: String,
    pub(super) content: Vec<u8>,
}

/// `parseForm(bytes, content type)`.
pub(super) fn parse_native<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    let content_type = script_bytes::to_text(ctx, &argument(ctx, args, 1))?;
    let parsed = script_bytes::read(ctx, &argument(ctx, args, 0), move |bytes| parse(bytes, &content_type))?;
    let parts = parsed.unwrap_or_else(|| Ok(Vec::new()));
    let parts = parts.map_err(|what| Exception::throw_type(ctx, &format!("the body is not a form: {what}")))?;
    let flat = Array::new(ctx.clone())?;
    for (index, part) in parts.into_iter().enumerate() {
        let at = index * 4;
        flat.set(at, part.name)?;
        flat.set(at + 2, part.content_type)?;
        match part.file {
            Some(file) => {
                flat.set(at + 1, file)?;
                flat.set(at + 3, script_bytes::array_buffer(ctx, part.content)?)?;
            }
            None => {
                flat.set(at + 1, Value::new_undefined(ctx.clone()))?;
                flat.set(at + 3, body::decode(&part.content))?;
            }
        }
    }
    Ok(flat.into_value())
}

pub(super) fn parse(body: &[u8], content_type: &str) -> std::result::Result<Vec<Part>, String> {
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match essence.as_str() {
        "application/x-www-form-urlencoded" => Ok(form_urlencoded::parse(body)
            .map(|(name, value)| Part {
                name: name.into_owned(),
                file: None,
                content_type: String::new(),
                content: value.into_owned().into_bytes(),
            })
            .collect()),
        "multipart/form-data" => {
            let boundary = parameter(content_type, "boundary").ok_or("its content-type names no boundary")?;
            multipart(body, boundary.as_bytes())
        }
        "" => Err(String::from("it has no content-type")),
        other => Err(format!(
            "its content-type is {other}, expected multipart/form-data or application/x-www-form-urlencoded"
        )),
    }
}

fn multipart(body: &[u8], boundary: &[u8]) -> std::result::Result<Vec<Part>, String> {
    let first = [b"--", boundary].concat();
    let next = [b"\r\n--", boundary].concat();
    // A line end in front lets the first delimiter, too, be found behind one (or behind a preamble).
    let at = if body.starts_with(&first) { Some(first.len()) } else { find(body, &next).map(|at| at + next.len()) };
    let mut rest = &body[at.ok_or("the boundary does not occur in it")?..];
    let mut parts = Vec::new();
    loop {
        if rest.starts_with(b"--") {
            return Ok(parts);
        }
        let line_end = find(rest, b"\r\n").ok_or("it ends before its last boundary")?;
        rest = &rest[line_end + 2..];
        let (head, content) = match rest.strip_prefix(b"\r\n") {
            Some(content) => (&rest[..0], content),
            None => {
                let end = find(rest, b"\r\n\r\n").ok_or("the head of a part does not end")?;
                (&rest[..end], &rest[end + 4..])
            }
        };
        let end = find(content, &next).ok_or("it ends before its last boundary")?;
        parts.push(part(&String::from_utf8_lossy(head), content[..end].to_vec())?);
        rest = &content[end + next.len()..];
    }
}

fn part(head: &str, content: Vec<u8>) -> std::result::Result<Part, String> {
    let line = |name: &str| {
        head.split("\r\n").find_map(|line| {
            let (known, value) = line.split_once(':')?;
            known.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    };
    let disposition = line("content-disposition").ok_or("a part has no content-disposition")?;
    let name = parameter(disposition, "name").ok_or("a part has no name")?;
    let file = parameter(disposition, "filename");
    let standard = if file.is_some() { "application/octet-stream" } else { "" };
    let content_type = line("content-type").unwrap_or(standard).to_string();
    Ok(Part { name, file, content_type, content })
}

/// The value of `; name=value` or `; name="value"`, where browsers write `%22`, `%0D` and `%0A` for what would end it.
fn parameter(text: &str, name: &str) -> Option<String> {
    let mut rest = text.split_once(';')?.1;
    loop {
        let (key, after) = rest.split_once('=')?;
        let after = after.trim_start();
        let (value, tail) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => (after.split(';').next().unwrap_or_default().trim_end(), after.split_once(';').map_or("", |t| t.1)),
        };
        if key.trim_matches([' ', ';', '\t']).eq_ignore_ascii_case(name) {
            return Some(value.replace("%22", "\"").replace("%0D", "\r").replace("%0A", "\n"));
        }
        rest = tail;
    }
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    let first = *wanted.first()?;
    let mut from = 0;
    while let Some(at) = text[from..].iter().position(|byte| *byte == first) {
        if text[from + at..].starts_with(wanted) {
            return Some(from + at);
        }
        from += at + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(name: &str, value: &str) -> Part {
        Part { name: name.into(), file: None, content_type: String::new(), content: value.into() }
    }

    #[test]
    fn reads_fields_and_files() {
        let body = b"--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\none\r\n--b\r\n\
            content-disposition: form-data; name=\"f\"; filename=\"x %22y.bin\"\r\nContent-Type: image/png\r\n\r\n\
            \x00\r\n--bogus\r\n\r\n--b\r\nContent-Disposition: form-data; name=e\r\n\r\n\r\n--b--\r\n";
        let file = Part {
            name: "f".into(),
            file: Some("x \"y.bin".into()),
            content_type: "image/png".into(),
            content: b"\x00\r\n--bogus\r\n".to_vec(),
        };
        // A delimiter is a delimiter wherever it stands: `--bogus` begins with it, as RFC 2046 warns.
        let parsed = parse(body, "multipart/form-data; boundary=b");
        assert!(parsed.is_err() || parsed.is_ok_and(|parts| parts.len() != 3));
        let body = String::from_utf8_lossy(body).replace("--b", "--x7").replace("--x7ogus", "--bogus").into_bytes();
        let parsed = parse(&body, "multipart/form-data; charset=utf-8; boundary=\"x7\"").unwrap();
        assert_eq!(parsed, [field("a", "one"), file, field("e", "")]);
    }

    #[test]
    fn reads_urlencoded_forms() {
        let parsed = parse(b"a=1+2&b=%C3%A9&a=", "application/x-www-form-urlencoded;charset=UTF-8").unwrap();
        assert_eq!(parsed, [field("a", "1 2"), field("b", "\u{e9}"), field("a", "")]);
    }

    #[test]
    fn says_what_is_wrong() {
        for (body, content_type, expected) in [
            ("", "", "it has no content-type"),
            ("{}", "application/json", "its content-type is application/json"),
            ("", "multipart/form-data", "names no boundary"),
            ("x", "multipart/form-data; boundary=b", "does not occur"),
            (
                "--b\r\nContent-Disposition: form-data; name=a\r\n\r\nx",
                "multipart/form-data; boundary=b",
                "it ends before",
            ),
            ("--b\r\nContent-Type: a/b\r\n\r\nx\r\n--b--", "multipart/form-data; boundary=b", "no content-disposition"),
            ("--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--", "multipart/form-data; boundary=b", "no name"),
        ] {
            let error = parse(body.as_bytes(), content_type).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
