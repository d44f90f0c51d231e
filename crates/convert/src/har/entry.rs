//! One entry of a HAR file: the fields that a script is made of.
//!
//! Every field may be missing or null, because exporters differ. Content of requests that is said to be base64 is
//! decoded; what does not decode is sent as the text it is, with a note.

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde::{Deserialize, Deserializer};
use units::date;

use crate::model::{Content, Part};
use crate::recording::{Exchange, Payload, Recording};
use crate::template::Template;

/// One entry.
#[derive(Deserialize)]
pub struct Entry {
    #[serde(default, deserialize_with = "or_default")]
    pageref: Option<String>,
    #[serde(default, rename = "startedDateTime", deserialize_with = "or_default")]
    started: String,
    #[serde(default, deserialize_with = "or_default")]
    time: f64,
    request: Asked,
    #[serde(default, deserialize_with = "or_default")]
    response: Answered,
    #[serde(default, rename = "_resourceType", deserialize_with = "or_default")]
    resource: Option<String>,
    #[serde(default, rename = "_fromCache", deserialize_with = "or_default")]
    from_cache: Option<String>,
}

#[derive(Deserialize)]
struct Asked {
    method: String,
    url: String,
    #[serde(default, deserialize_with = "or_default")]
    headers: Vec<Pair>,
    #[serde(default, rename = "queryString", deserialize_with = "or_default")]
    query: Vec<Pair>,
    #[serde(default, rename = "postData", deserialize_with = "or_default")]
    data: Option<Data>,
}

#[derive(Default, Deserialize)]
struct Answered {
    #[serde(default, deserialize_with = "or_default")]
    status: f64,
    #[serde(default, deserialize_with = "or_default")]
    headers: Vec<Pair>,
    #[serde(default, deserialize_with = "or_default")]
    content: Held,
}

#[derive(Default, Deserialize)]
struct Held {
    #[serde(default, rename = "mimeType", deserialize_with = "or_default")]
    kind: String,
    #[serde(default, deserialize_with = "or_default")]
    text: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    encoding: Option<String>,
}

#[derive(Deserialize)]
struct Pair {
    #[serde(default, deserialize_with = "or_default")]
    name: String,
    #[serde(default, deserialize_with = "or_default")]
    value: String,
}

#[derive(Default, Deserialize)]
struct Data {
    #[serde(default, rename = "mimeType", deserialize_with = "or_default")]
    kind: String,
    #[serde(default, deserialize_with = "or_default")]
    text: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    encoding: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    params: Vec<Param>,
}

#[derive(Deserialize)]
struct Param {
    #[serde(default, deserialize_with = "or_default")]
    name: String,
    #[serde(default, deserialize_with = "or_default")]
    value: Option<String>,
    #[serde(default, rename = "fileName", deserialize_with = "or_default")]
    filename: Option<String>,
    #[serde(default, rename = "contentType", deserialize_with = "or_default")]
    kind: Option<String>,
}

/// `null` is what is not there.
fn or_default<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(reader: D) -> Result<T, D::Error> {
    Option::<T>::deserialize(reader).map(Option::unwrap_or_default)
}

impl Entry {
    /// Adds it to a recording; `number` counts entries from 1.
    pub fn add_to(self, recording: &mut Recording, number: usize) {
        let place = format!("entry {number}");
        let pairs = |pairs: Vec<Pair>| pairs.into_iter().map(|pair| (pair.name, pair.value)).collect::<Vec<_>>();
        let url = with_query(self.request.url, &self.request.query);
        let mut headers = pairs(self.request.headers);
        let data = self.request.data.unwrap_or_default();
        let is_given = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        if !is_given && !data.kind.is_empty() && (data.text.is_some() || !data.params.is_empty()) {
            headers.push((String::from("Content-Type"), data.kind.clone()));
        }
        let is_text = self.response.content.encoding.as_deref() != Some("base64");
        let exchange = Exchange {
            page: self.pageref.filter(|page| !page.is_empty()),
            started_ns: date::rfc3339_ns(&self.started),
            took_ms: self.time,
            method: self.request.method,
            url,
            headers,
            body: data.payload(recording, &place),
            status: self.response.status.clamp(0.0, 999.0) as u64,
            answer_headers: pairs(self.response.headers),
            answer_kind: self.response.content.kind,
            answer: self.response.content.text.filter(|_| is_text),
            resource: self.resource,
            is_from_cache: self.from_cache.is_some(),
        };
        recording.add(exchange, &place);
    }
}

/// What no URL can hold. Everything else stays as it is: such values are written as a URL has them.
const NO_QUERY: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'<').add(b'>');

/// A recording has the query in the URL, and its parts beside it. Files that people wrote have the parts alone.
fn with_query(url: String, query: &[Pair]) -> String {
    if query.is_empty() || url.contains('?') {
        return url;
    }
    let encoded = |text| utf8_percent_encode(text, NO_QUERY);
    let pairs = query.iter().map(|pair| format!("{}={}", encoded(&pair.name), encoded(&pair.value)));
    format!("{url}?{}", pairs.collect::<Vec<_>>().join("&"))
}

impl Data {
    fn payload(self, recording: &mut Recording, place: &str) -> Payload {
        match self.text.filter(|text| !text.is_empty()) {
            Some(text) if self.encoding.as_deref() == Some("base64") => {
                match base64_simd::forgiving_decode_to_vec(text.as_bytes()) {
                    Ok(bytes) => Payload::Bytes(bytes),
                    Err(_) => {
                        recording.note(place, "a body that is said to be base64 is not; it is sent as it is");
                        Payload::Text(text)
                    }
                }
            }
            Some(text) => {
                if text.contains('\u{fffd}') {
                    recording.note(place, "a body has bytes that the recording has lost (shown as U+FFFD)");
                }
                Payload::Text(text)
            }
            None if self.params.is_empty() => Payload::None,
            None if self.kind.starts_with("multipart/") => {
                Payload::Parts(self.params.into_iter().map(|param| param.part(recording, place)).collect())
            }
            None => {
                let mut form = form_urlencoded::Serializer::new(String::new());
                for param in &self.params {
                    form.append_pair(&param.name, param.value.as_deref().unwrap_or_default());
                }
                Payload::Text(form.finish())
            }
        }
    }
}

impl Param {
    fn part(self, recording: &mut Recording, place: &str) -> Part {
        let content = match (self.value.filter(|value| !value.is_empty()), &self.filename) {
            (None, Some(filename)) if !filename.is_empty() => {
                let name = filename.rsplit(['/', '\\']).next().unwrap_or(filename);
                recording.note(place, format!("the file {name} is not in the recording: put it beside the script"));
                Content::File(format!("./{name}"))
            }
            (value, _) => Content::Text(Template::text(value.unwrap_or_default())),
        };
        Part { name: self.name, content, filename: self.filename, kind: self.kind.filter(|kind| !kind.is_empty()) }
    }
}
