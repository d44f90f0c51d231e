//! One entry of a HAR file: the fields that a script is made of.
//!
//! Every field may be missing, null or of another type, because exporters differ; what nothing reads is named. Content
//! of requests that is said to be base64 is decoded; what does not decode is sent as the text it is, with a note.

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use units::date;

use crate::Format;
use crate::model::{Content, Part};
use crate::node::Node;
use crate::recording::{Exchange, Payload, Recording};
use crate::template::Template;

/// Names with values.
type Pairs = Vec<(String, String)>;

/// Adds an entry to a recording; `number` counts entries from 1.
pub fn add(entry: &Node, recording: &mut Recording, number: usize) {
    let place = format!("entry {number}");
    let Some(request) = entry.get("request").filter(|request| request.is_object()) else {
        return recording.note(place, "an entry without a request is left out");
    };
    let pushed = entry.get("_was_pushed").and_then(Node::shown).is_some_and(|was| was != "0" && was != "false");
    let cached = entry.get("_fromCache").and_then(Node::shown).filter(|from| !from.is_empty() && from != "false");
    if pushed || cached.as_deref() == Some("push") {
        recording.note(place.as_str(), "the server pushed this answer; the script asks for it");
    }
    let answer = entry.get("response").map_or_else(Answer::default, Answer::of);
    if let Some(error) = &answer.error {
        recording.note(place.as_str(), format!("the recording has an error: {}", error.escape_debug()));
    }
    let mut headers = pairs(request.get("headers"));
    let cookies: Vec<String> =
        pairs(request.get("cookies")).iter().map(|(name, value)| format!("{name}={value}")).collect();
    if !cookies.is_empty() && !has(&headers, "cookie") {
        headers.push((String::from("Cookie"), cookies.join("; ")));
    }
    let data = request.get("postData").filter(|data| data.is_object());
    let kind = data.map_or("", |data| data.text_of("mimeType"));
    let body = data.map_or(Payload::None, |data| payload(data, kind, recording, &place));
    if !has(&headers, "content-type") && !kind.is_empty() && !matches!(body, Payload::None) {
        headers.push((String::from("Content-Type"), kind.to_owned()));
    }
    let exchange = Exchange {
        page: entry.get("pageref").and_then(Node::text).filter(|page| !page.is_empty()).map(str::to_owned),
        started_ns: date::rfc3339_ns(entry.text_of("startedDateTime")),
        took_ms: entry.get("time").and_then(Node::number).unwrap_or_default(),
        method: request.text_of("method").to_owned(),
        url: with_query(request.text_of("url").to_owned(), &pairs(request.get("queryString"))),
        headers,
        body,
        status: answer.status,
        answer_headers: answer.headers,
        answer_kind: answer.kind,
        answer: answer.text,
        resource: entry.get("_resourceType").and_then(Node::text).map(str::to_owned),
        is_from_cache: !pushed && cached.is_some_and(|from| from != "push"),
    };
    recording.add(exchange, &place);
    entry.unread(Format::Har, &mut |unread| {
        recording.note(place.as_str(), format!("{} is left out", unread.path.join(".").escape_debug()));
    });
}

fn has(headers: &[(String, String)], name: &str) -> bool {
    headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name))
}

fn pairs(list: Option<&Node>) -> Pairs {
    let shown = |pair: &Node, name: &str| pair.get(name).and_then(Node::shown).unwrap_or_default();
    let pair = |pair: &Node| (shown(pair, "name"), shown(pair, "value"));
    list.map_or(&[][..], Node::items).iter().map(pair).collect()
}

/// What the script needs of an answer.
#[derive(Default)]
struct Answer {
    status: u64,
    headers: Pairs,
    kind: String,
    text: Option<String>,
    error: Option<String>,
}

impl Answer {
    fn of(json: &Node) -> Answer {
        let headers = pairs(json.get("headers"));
        let stated =
            json.get("status").and_then(|status| status.number().or_else(|| status.text()?.trim().parse().ok()));
        // A request that was broken off has status 0 and yet the head of its answer.
        let in_head = headers.iter().find(|(name, _)| name == ":status").and_then(|(_, value)| value.parse().ok());
        let status = stated.filter(|status| *status > 0.0).or(in_head).unwrap_or_default();
        let content = json.get("content");
        let text = content.and_then(|content| content.get("text")).and_then(Node::text);
        let is_base64 = content.and_then(|content| content.get("encoding")).and_then(Node::text) == Some("base64");
        let text = match is_base64 {
            true => text.and_then(|text| base64_simd::forgiving_decode_to_vec(text.as_bytes()).ok()),
            false => text.map(|text| text.as_bytes().to_vec()),
        };
        let error = json.get("_error").and_then(Node::text).filter(|error| !error.is_empty());
        Answer {
            status: status.clamp(0.0, 999.0) as u64,
            headers,
            kind: content.map_or("", |content| content.text_of("mimeType")).to_owned(),
            text: text.and_then(|bytes| String::from_utf8(bytes).ok()),
            error: error.map(str::to_owned),
        }
    }
}

/// What no URL can hold. Everything else stays as it is: such values are written as a URL has them.
const NO_QUERY: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'<').add(b'>');

/// A recording has the query in the URL, and its parts beside it. Files that people wrote have the parts alone.
fn with_query(url: String, query: &[(String, String)]) -> String {
    if query.is_empty() || url.contains('?') {
        return url;
    }
    let encoded = |text| utf8_percent_encode(text, NO_QUERY);
    let pairs = query.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value)));
    format!("{url}?{}", pairs.collect::<Vec<_>>().join("&"))
}

fn payload(data: &Node, kind: &str, recording: &mut Recording, place: &str) -> Payload {
    let (text, params) = (data.get("text").and_then(Node::text), data.items_of("params"));
    match text.filter(|text| !text.is_empty()) {
        Some(text) if data.get("encoding").and_then(Node::text) == Some("base64") => {
            match base64_simd::forgiving_decode_to_vec(text.as_bytes()) {
                Ok(bytes) => Payload::Bytes(bytes),
                Err(_) => {
                    recording.note(place, "a body that is said to be base64 is not; it is sent as it is");
                    Payload::Text(text.to_owned())
                }
            }
        }
        Some(text) => {
            if text.contains('\u{fffd}') {
                recording.note(place, "a body has bytes that the recording has lost (shown as U+FFFD)");
            }
            // They say the same again.
            params.iter().for_each(Node::settle);
            Payload::Text(text.to_owned())
        }
        None if params.is_empty() => Payload::None,
        None if kind.starts_with("multipart/") => {
            Payload::Parts(params.iter().map(|param| part(param, recording, place)).collect())
        }
        None => {
            let mut form = form_urlencoded::Serializer::new(String::new());
            for (name, value) in pairs(data.get("params")) {
                form.append_pair(&name, &value);
            }
            Payload::Text(form.finish())
        }
    }
}

fn part(param: &Node, recording: &mut Recording, place: &str) -> Part {
    let given = |name: &str| Some(param.text_of(name).to_owned()).filter(|text| !text.is_empty());
    let filename = param.get("fileName").and_then(Node::text).map(str::to_owned);
    let value = param.get("value").and_then(Node::shown).filter(|value| !value.is_empty());
    let content = match (value, &filename) {
        (None, Some(filename)) if !filename.is_empty() => {
            let name = filename.rsplit(['/', '\\']).next().unwrap_or(filename);
            recording.note(place, format!("the file {name} is not in the recording: put it beside the script"));
            Content::File(format!("./{name}"))
        }
        (value, _) => Content::Text(Template::text(value.unwrap_or_default())),
    };
    Part {
        name: param.get("name").and_then(Node::shown).unwrap_or_default(),
        content,
        filename,
        kind: given("contentType"),
    }
}
