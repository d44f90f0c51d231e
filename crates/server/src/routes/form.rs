//! Bodies of forms: urlencoded, multipart (RFC 7578), JSON, and anything else as data.
//!
//! Refuses a multipart body that does not keep to its boundary, so a client that writes one wrongly learns it here.

use crate::request::{Values, collect};
use crate::routes::echo::text_or_data_url;

/// A body by its content type.
#[derive(Debug, Default)]
pub(crate) struct BodyContents {
    pub(crate) data: String,
    pub(crate) form: Values,
    pub(crate) files: Values,
    pub(crate) json: Option<serde_json::Value>,
}

/// Reads a body; the error says what is wrong with it.
pub(crate) fn read(content_type: &str, body: &[u8]) -> Result<BodyContents, String> {
    let kind = content_type.split(';').next().unwrap_or("").trim().to_ascii_lowercase();
    let mut contents = BodyContents::default();
    match kind.as_str() {
        _ if body.is_empty() => {}
        "application/x-www-form-urlencoded" => contents.form = collect(form_urlencoded::parse(body)),
        "multipart/form-data" => {
            let boundary = parameter(content_type, "boundary").ok_or("the multipart body has no boundary")?;
            multipart(body, &boundary, &mut contents)?;
        }
        "application/json" => {
            contents.data = String::from_utf8_lossy(body).into_owned();
            contents.json = Some(serde_json::from_slice(body).map_err(|e| format!("the body is not JSON: {e}"))?);
        }
        _ => contents.data = text_or_data_url(body, &kind).into_owned(),
    }
    Ok(contents)
}

/// One parameter of a header such as `form-data; name="a"`.
fn parameter(header: &str, name: &str) -> Option<String> {
    let mut rest = header;
    while let Some(at) = rest.find(';') {
        rest = rest[at + 1..].trim_start();
        let (found, value) = rest.split_once('=')?;
        let (value, after) = if let Some(quoted) = value.strip_prefix('"') {
            let end = closing_quote(quoted)?;
            (quoted[..end].replace("\\\"", "\"").replace("%22", "\""), &quoted[end + 1..])
        } else {
            let end = value.find(';').unwrap_or(value.len());
            (value[..end].trim().to_owned(), &value[end..])
        };
        if found.trim().eq_ignore_ascii_case(name) {
            return Some(value);
        }
        rest = after;
    }
    None
}

fn closing_quote(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    (0..bytes.len()).find(|&i| bytes[i] == b'"' && (i == 0 || bytes[i - 1] != b'\\'))
}

fn multipart(body: &[u8], boundary: &str, contents: &mut BodyContents) -> Result<(), String> {
    let delimiter = format!("\r\n--{boundary}");
    let opening = delimiter.as_bytes();
    // The first delimiter may stand at the very start, without a line end before it.
    let mut rest = match body.strip_prefix(&opening[2..]) {
        Some(rest) => rest,
        None => &body[find(body, opening).ok_or("the multipart body does not contain its boundary")? + opening.len()..],
    };
    while !rest.starts_with(b"--") {
        rest = rest.strip_prefix(b"\r\n").ok_or("a multipart boundary is not followed by a line end")?;
        let end = find(rest, opening).ok_or("the multipart body ends without its closing boundary")?;
        part(&rest[..end], contents)?;
        rest = &rest[end + opening.len()..];
    }
    Ok(())
}

fn part(part: &[u8], contents: &mut BodyContents) -> Result<(), String> {
    let end = find(part, b"\r\n\r\n").ok_or("a multipart part has no empty line behind its headers")?;
    let (head, body) = (String::from_utf8_lossy(&part[..end]), &part[end + 4..]);
    let header = |name: &str| {
        let lines = head.lines().filter_map(|line| line.split_once(':'));
        lines.into_iter().find(|(n, _)| n.trim().eq_ignore_ascii_case(name)).map(|(_, v)| v.trim().to_owned())
    };
    let disposition = header("content-disposition").ok_or("a multipart part has no content-disposition")?;
    let name = parameter(&disposition, "name").ok_or("a multipart part has no name")?;
    let text = text_or_data_url(body, &header("content-type").unwrap_or_default()).into_owned();
    let filed = parameter(&disposition, "filename").is_some();
    let values = if filed { &mut contents.files } else { &mut contents.form };
    values.entry(name).or_default().push(text);
    Ok(())
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|w| w == needle)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &str = "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n2\r\n--B\r\n\
        content-disposition: form-data; name=f; filename=\"x;\\\"y.txt\"\r\nContent-Type: \
        text/plain\r\n\r\nx--Bad\r\n--B--\r\n";

    #[test]
    fn reads_multipart() {
        let read = read("multipart/form-data; charset=utf-8; boundary=\"B\"", BODY.as_bytes()).unwrap();
        assert_eq!(read.form, Values::from([("a".to_owned(), vec!["1\r\n2".to_owned()])]));
        assert_eq!(read.files, Values::from([("f".to_owned(), vec!["x--Bad".to_owned()])]));
    }

    #[test]
    fn refuses_broken_multipart() {
        let kind = "multipart/form-data; boundary=B";
        for (body, want) in [
            (&BODY[..BODY.len() - 6], "the multipart body ends without its closing boundary"),
            ("nothing", "the multipart body does not contain its boundary"),
            ("--B\r\nA: b\r\n--B--", "a multipart part has no empty line behind its headers"),
            ("--B\r\nA: b\r\n\r\n\r\n--B--", "a multipart part has no content-disposition"),
        ] {
            assert_eq!(read(kind, body.as_bytes()).unwrap_err(), want);
        }
    }

    #[test]
    fn reads_other_types() {
        assert_eq!(read("application/json", b"{\"a\":1}").unwrap().json, Some(serde_json::json!({"a": 1})));
        assert!(read("application/json; charset=utf-8", b"{").unwrap_err().starts_with("the body is not JSON: "));
        assert_eq!(read("", b"plain").unwrap().data, "plain");
        assert_eq!(read("image/png", b"\xff\x00").unwrap().data, "data:image/png;base64,/wA=");
        assert_eq!(read("application/x-www-form-urlencoded", b"a=1&a=2").unwrap().form["a"], ["1", "2"]);
    }
}
