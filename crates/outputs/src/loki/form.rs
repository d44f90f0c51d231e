//! Loki's JSON: streams of lines with equal labels.

use std::collections::BTreeMap;
use std::time::SystemTime;

use super::settings::LokiSettings;
use crate::text::push_json;

/// A line as it is logged.
pub struct LogLine<'a> {
    /// logrus's name of the level.
    pub level: &'a str,
    /// The text.
    pub message: &'a str,
    /// Further fields.
    pub fields: &'a [(&'a str, &'a str)],
    /// A field as it stands behind a message.
    pub shown: fn(&str, &str) -> String,
}

/// A line that waits to be pushed.
pub(super) struct Kept {
    labels: BTreeMap<String, String>,
    at_ns: u128,
    pub(super) text: String,
}

impl Kept {
    pub(super) fn new(line: &LogLine<'_>, settings: &LokiSettings) -> Kept {
        let mut labels: BTreeMap<String, String> = settings.labels.iter().cloned().collect();
        let mut text = line.message.to_owned();
        for (name, value) in [("level", line.level)].iter().chain(line.fields) {
            match settings.allowed.as_ref().is_none_or(|allowed| allowed.iter().any(|label| label == name)) {
                true => {
                    labels.insert((*name).to_owned(), (*value).to_owned());
                }
                false => {
                    text.push(' ');
                    text.push_str(&(line.shown)(name, value));
                }
            }
        }
        let kept = text.floor_char_boundary(settings.most);
        if kept < text.len() {
            let rest = text.split_off(kept).chars().count();
            text.push_str(&format!("… ({rest} characters more)"));
        }
        Kept { labels, at_ns: now_ns(), text }
    }
}

fn now_ns() -> u128 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_nanos())
}

/// The body of a push.
pub(super) fn body(lines: Vec<Kept>, beyond: u64, settings: &LokiSettings) -> Vec<u8> {
    let mut streams: BTreeMap<BTreeMap<String, String>, Vec<(u128, String)>> = BTreeMap::new();
    for line in lines {
        streams.entry(line.labels).or_default().push((line.at_ns, line.text));
    }
    if beyond > 0 {
        let mut labels: BTreeMap<String, String> = settings.labels.iter().cloned().collect();
        labels.insert(String::from("level"), String::from("warning"));
        let limit = settings.limit;
        let text =
            format!("{beyond} log lines were dropped: more than limit={limit} within a period of {:?}", settings.every);
        streams.entry(labels).or_default().push((now_ns(), text));
    }
    let mut out = String::from("{\"streams\":[");
    for (number, (labels, values)) in streams.iter().enumerate() {
        out.push_str(if number > 0 { ",{\"stream\":{" } else { "{\"stream\":{" });
        for (number, (name, value)) in labels.iter().enumerate() {
            out.push_str(if number > 0 { "," } else { "" });
            push_json(&mut out, name);
            out.push(':');
            push_json(&mut out, value);
        }
        out.push_str("},\"values\":[");
        for (number, (at_ns, text)) in values.iter().enumerate() {
            out.push_str(&format!("{}[\"{at_ns}\",", if number > 0 { "," } else { "" }));
            push_json(&mut out, text);
            out.push(']');
        }
        out.push_str("]}");
    }
    out.push_str("]}");
    out.into_bytes()
}
