//! `--out csv`: a line for each sample, a column for each system tag, as k6 writes them.
//!
//! A line is the metric's name, the moment, the value, the tags and the metadata; name and tags are made once for each
//! series.

use std::sync::Arc;

use metrics::batches::{Note, SeriesTags};
use metrics::{Registry, SystemTags};
use units::{Span, suggest};

use crate::catalog::Take;
use crate::feed::Running;
use crate::file::{self, Lines, Sheet};
use crate::setup::Setup;
use crate::text::{Moment, MomentForm, push_six_decimals};

/// How moments can be written.
const FORMS: [(&str, MomentForm); 6] = [
    ("unix", MomentForm::Unix(1_000_000_000)),
    ("unix_milli", MomentForm::Unix(1_000_000)),
    ("unix_micro", MomentForm::Unix(1_000)),
    ("unix_nano", MomentForm::Unix(1)),
    ("rfc3339", MomentForm::Rfc3339),
    ("rfc3339_nano", MomentForm::Rfc3339Nano),
];

/// The keys of the argument, and the variables that say the same.
const KEYS: [(&str, &str); 3] =
    [("fileName", "K6_CSV_FILENAME"), ("saveInterval", "K6_CSV_SAVE_INTERVAL"), ("timeFormat", "K6_CSV_TIME_FORMAT")];

/// Starts it. `argument`: the file, or `fileName=…,timeFormat=…`.
pub(crate) fn open(argument: &str, setup: &Setup<'_>) -> Result<Running, String> {
    let [file, interval, format] = settings(argument, setup)?;
    if let Some(text) = interval {
        Span::parse(&text).map_err(|error| format!("saveInterval: {error}"))?;
        let why = "lines are written when a worker hands them over, at least once a second";
        setup.note_unused("csv", "saveInterval", &text, why);
    }
    let format = format.unwrap_or_else(|| String::from("unix"));
    let form = FORMS.iter().find(|(name, _)| *name == format).map(|(_, form)| *form).ok_or_else(|| {
        let names = FORMS.map(|(name, _)| name);
        let hint = suggest::hint(&format, names);
        format!("timeFormat: found '{format}'{hint}, expected one of {}", names.join(", "))
    })?;
    let sheet = Sheet::open(file.as_deref().unwrap_or("file.csv"), setup)?;
    file::start("csv", sheet, CsvLines::new(setup.registry.clone(), setup.system_tags, form))
}

/// The value of each of `KEYS`: from the argument, else from the environment.
fn settings(argument: &str, setup: &Setup<'_>) -> Result<[Option<String>; 3], String> {
    let mut given = KEYS.map(|(_, variable)| setup.env.get(variable).filter(|text| !text.is_empty()).cloned());
    if !argument.contains('=') {
        if !argument.is_empty() {
            given[0] = Some(argument.to_owned());
        }
        return Ok(given);
    }
    for part in argument.split(',') {
        let (key, value) = part.split_once('=').ok_or_else(|| format!("found '{part}', expected key=value"))?;
        let names = KEYS.map(|(name, _)| name);
        let at = names.iter().position(|name| *name == key).ok_or_else(|| {
            format!("unknown key '{key}'{}, expected one of {}", suggest::hint(key, names), names.join(", "))
        })?;
        given[at] = Some(value.to_owned());
    }
    Ok(given)
}

/// What is before the moment of a line, and what is behind its value up to the metadata.
type Ends = (Box<[u8]>, Box<[u8]>);

struct CsvLines {
    registry: Arc<Registry>,
    /// Tags with a column of their own, sorted.
    columns: Vec<&'static str>,
    lines: Vec<u8>,
    moment: Moment,
    series: Vec<Ends>,
    /// The present metadata as a field.
    note: String,
}

impl CsvLines {
    fn new(registry: Arc<Registry>, tags: SystemTags, form: MomentForm) -> Self {
        // These two are no tags but metadata.
        let mut columns: Vec<&str> =
            tags.iter().map(|tag| tag.name()).filter(|name| !["vu", "iter"].contains(name)).collect();
        columns.sort_unstable();
        let mut header = vec!["metric_name", "timestamp", "metric_value"];
        header.extend(&columns);
        header.extend(["extra_tags", "metadata\n"]);
        let lines = header.join(",").into_bytes();
        CsvLines { registry, columns, lines, moment: Moment::new(form), series: Vec::new(), note: String::new() }
    }
}

impl Take for CsvLines {
    fn meet(&mut self, series: &SeriesTags) {
        let head = format!("{},", self.registry.definition(series.metric).name);
        let mut tail = String::new();
        for column in &self.columns {
            let value = series.tags.iter().find(|(key, _)| **key == **column).map_or("", |(_, value)| &**value);
            tail.push(',');
            push_field(&mut tail, value);
        }
        let extra: Vec<String> = series
            .tags
            .iter()
            .filter(|(key, _)| !self.columns.contains(&&**key))
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        tail.push(',');
        push_field(&mut tail, &extra.join("&"));
        tail.push(',');
        self.series.push((head.into_bytes().into(), tail.into_bytes().into()));
    }

    fn sample(&mut self, series: u32, at_ns: u64, value: f64) {
        let (head, tail) = &self.series[series as usize];
        self.lines.extend_from_slice(head);
        self.lines.extend_from_slice(self.moment.text(at_ns));
        self.lines.push(b',');
        push_six_decimals(&mut self.lines, value);
        self.lines.extend_from_slice(tail);
        self.lines.extend_from_slice(self.note.as_bytes());
        self.lines.push(b'\n');
    }

    fn note(&mut self, note: Option<&Note>) {
        self.note.clear();
        if let Some(note) = note {
            let pairs: Vec<String> = note.iter().map(|(key, value)| format!("{key}={value}")).collect();
            push_field(&mut self.note, &pairs.join("&"));
        }
    }
}

impl Lines for CsvLines {
    fn lines(&mut self) -> &mut Vec<u8> {
        &mut self.lines
    }
}

/// A field, in quotes where Go's CSV writer sets them.
fn push_field(line: &mut String, text: &str) {
    let is_plain = text.is_empty()
        || (text != "\\." && !text.contains([',', '"', '\r', '\n']) && !text.starts_with(char::is_whitespace));
    if is_plain {
        line.push_str(text);
    } else {
        line.push('"');
        line.push_str(&text.replace('"', "\"\""));
        line.push('"');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_k6_quotes_them() {
        let cases = [
            ("", ""),
            ("a b", "a b"),
            (" lead", "\" lead\""),
            ("x,y", "\"x,y\""),
            ("is \"200\"", "\"is \"\"200\"\"\""),
            ("line\nbreak", "\"line\nbreak\""),
            ("\\.", "\"\\.\""),
        ];
        for (text, expected) in cases {
            let mut line = String::new();
            push_field(&mut line, text);
            assert_eq!(line, expected);
        }
    }
}
