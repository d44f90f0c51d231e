//! Multipart forms of a quick run: `-F` and `--form-string` as a FormData of the script.
//!
//! Names, types and file names as curl reads and guesses them. Files are opened by the script, and their bytes stay
//! where they are. Refuses nested forms, parts of several files, headers of parts.

use std::path::Path;

use convert::model::{Content, Part};
use convert::source;
use convert::template::Template;
use report::visible;

use super::body::{Body, from_standard_input, opened_text, read_text, size_of};
use super::flag::Act;
use super::line::Given;

/// A multipart form: `-F` and `--form-string`.
pub fn body(fields: &[&Given]) -> Result<Body, String> {
    let mut parts = Vec::new();
    for given in fields {
        let (name, content) = given.value.split_once('=').ok_or_else(|| {
            format!("{} {}: expected NAME=TEXT, NAME=@FILE or NAME=<FILE", given.spelled, given.value)
        })?;
        parts.push(match given.act {
            Act::FormString => text_part(name, Content::Text(Template::text(content))),
            _ => part(given, name, content)?,
        });
    }
    let append = |part: &Part| format!("form.append({}, {});", source::text(&part.name), argument(part));
    let statements = std::iter::once(String::from("const form = new FormData();")).chain(parts.iter().map(append));
    Ok(Body {
        expression: Some(String::from("form")),
        statements: statements.collect(),
        import: Some("import { FormData } from 'onrush/http';"),
        parts,
        ..Body::default()
    })
}

fn text_part(name: &str, content: Content) -> Part {
    Part { name: name.to_owned(), content, filename: None, kind: None }
}

/// What is appended behind the name.
fn argument(part: &Part) -> String {
    match &part.content {
        Content::File(path) => {
            let own = |text: &Option<String>| source::text(text.as_deref().unwrap_or_default());
            format!("http.file(open({}, 'b'), {}, {})", source::text(path), own(&part.filename), own(&part.kind))
        }
        Content::Text(text) => text_argument(part, text.expression()),
        Content::TextOf(path) => text_argument(part, opened_text(path, false)),
    }
}

fn text_argument(part: &Part, text: String) -> String {
    match part.filename.is_none() && part.kind.is_none() {
        true => text,
        false => {
            let fields = [("filename", &part.filename), ("content_type", &part.kind)];
            let fields = fields
                .iter()
                .filter_map(|(name, value)| value.as_ref().map(|value| ((*name).to_owned(), source::text(value))));
            let data = std::iter::once(("data".to_owned(), text));
            source::object(&data.chain(fields).collect::<Vec<_>>(), 0)
        }
    }
}

/// One `-F`.
fn part(given: &Given, name: &str, content: &str) -> Result<Part, String> {
    let refuse = |why: &str| format!("{} {}: {why}", given.spelled, visible(&given.value));
    if name.is_empty() || content.starts_with('(') {
        return Err(refuse("nested forms are not supported; expected NAME=TEXT, NAME=@FILE or NAME=<FILE"));
    }
    let (mark, rest) = match content.as_bytes().first() {
        Some(mark @ (b'@' | b'<')) => (Some(*mark), &content[1..]),
        _ => (None, content),
    };
    let (value, fields) = parameters(rest).map_err(|why| refuse(&why))?;
    let field = |key: &str| fields.iter().find(|(name, _)| *name == key).map(|(_, value)| value.as_str());
    if let Some(problem) = field("type").and_then(wire::field::problem_in) {
        return Err(refuse(&format!("type: {problem}")));
    }
    if mark.is_some() && value == "-" {
        return Err(from_standard_input(given));
    }
    if mark == Some(b'@') {
        return file_part(name, &value, field("filename"), field("type")).map_err(|why| match why {
            Unusable::Several => refuse("several files in one part are not supported; give each its own -F"),
            Unusable::Unreadable(why) => why,
        });
    }
    let text = if mark.is_none() { Content::Text(Template::text(value)) } else { text_of_file(value)? };
    let own = |key: &str| field(key).map(str::to_owned);
    Ok(Part { filename: own("filename"), kind: own("type"), ..text_part(name, text) })
}

fn text_of_file(path: String) -> Result<Content, String> {
    read_text(&path, false).map(|_| Content::TextOf(path))
}

/// Why a file cannot be a part.
enum Unusable {
    Several,
    Unreadable(String),
}

/// A file with its name and type: what curl would guess unless they are given.
fn file_part(name: &str, path: &str, filename: Option<&str>, kind: Option<&str>) -> Result<Part, Unusable> {
    if path.contains(',') && !Path::new(path).exists() {
        return Err(Unusable::Several);
    }
    size_of(path).map_err(Unusable::Unreadable)?;
    let own_name = Path::new(path).file_name().map(|name| name.to_string_lossy().into_owned());
    let filename = filename.map(str::to_owned).or(own_name).unwrap_or_default();
    let kind = Some(kind.unwrap_or_else(|| kind_of(&filename)).to_owned());
    Ok(Part { name: name.to_owned(), content: Content::File(path.to_owned()), filename: Some(filename), kind })
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
            return Err(format!("';{key}=' is not supported, only ;type= and ;filename= are"));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_types_and_names() {
        let part = |value: &str| {
            let given = Given { act: Act::Form, spelled: String::from("-F"), value: value.to_owned() };
            let (name, content) = value.split_once('=').expect("a field");
            super::part(&given, name, content).map(|part| argument(&part))
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
            ("a=x;headers=y", "';headers=' is not supported"),
            ("a=(;type=multipart/mixed", "nested forms"),
            ("a=\"x", "is not closed"),
            ("a=@/x,/y", "several files"),
        ] {
            assert!(part(value).expect_err(value).contains(found), "{value}: {:?}", part(value));
        }
    }
}
