//! `--out influxdb` and `--out xk6-influxdb`: every sample as a point of InfluxDB's line protocol, as k6 and its
//! extension for InfluxDB 2 write them.
//!
//! A line is the metric, its tags and fields, the value and the moment; all but the last two are made once for each
//! series. Lines are sent every second, and earlier when there are many.

pub(crate) mod settings;

use std::sync::Arc;

use metrics::Registry;
use metrics::batches::SeriesTags;
use wire::Url;

use crate::catalog::Take;
use crate::feed::Running;
use crate::post::Poster;
use crate::push::{self, Courier, Form, Parcel, Schedule};
use crate::setup::Setup;
use crate::text::{Moment, push_plain};

use settings::{FieldKind, InfluxSettings, Version};

/// Bytes that are sent at once.
const PIECE: usize = 2 << 20;
/// Bytes that wait for a request to end at most; what comes then waits in the queue.
const ROOM: usize = 8 << 20;

/// Starts it. `argument`: the URL with the database, or the bucket, as its path.
pub(crate) fn open(version: Version, argument: &str, setup: &Setup<'_>) -> Result<Running, String> {
    let (settings, name) = (InfluxSettings::read(version, argument, setup.env)?, version.output());
    settings.unused.iter().for_each(|(unused, value, why)| setup.note_unused(name, unused, value, why));
    let schedule = Schedule { name, unit: "samples", every: settings.every };
    let (address, create) = (settings.address.clone(), settings.create.clone());
    let form = Points {
        registry: setup.registry.clone(),
        moment: Moment::new(settings.moment),
        settings,
        series: Vec::new(),
        lines: Vec::new(),
        count: 0,
    };
    push::start(schedule, setup.tell.clone(), form, move || {
        let create = create.map(|url| Url::parse(&url)).transpose().map_err(|error| error.message)?;
        Ok(Writer { poster: Poster::new(address)?, create, is_created: false.into() })
    })
}

struct Points {
    registry: Arc<Registry>,
    settings: InfluxSettings,
    moment: Moment,
    series: Vec<LineEnds>,
    lines: Vec<u8>,
    count: u64,
}

/// A line up to its value, and what is between the value and the moment.
struct LineEnds {
    head: Box<[u8]>,
    tail: Box<[u8]>,
}

impl Take for Points {
    fn meet(&mut self, series: &SeriesTags) {
        let mut head = self.registry.definition(series.metric).name.to_string();
        let (mut before, mut behind) = (String::new(), String::new());
        for (key, value) in series.tags.iter().filter(|(_, value)| !value.is_empty()) {
            match self.settings.fields.iter().find(|(name, _)| **name == **key) {
                None => {
                    head.push(',');
                    push_tag(&mut head, key);
                    head.push('=');
                    push_tag(&mut head, value);
                }
                Some((_, kind)) => {
                    let Some(text) = field(*kind, value) else { continue };
                    // Fields go by name, as k6 has them.
                    let side = if **key < *"value" { &mut before } else { &mut behind };
                    let (front, end) = if **key < *"value" { ("", ",") } else { (",", "") };
                    side.push_str(front);
                    push_tag(side, key);
                    side.push('=');
                    side.push_str(&text);
                    side.push_str(end);
                }
            }
        }
        head.push(' ');
        head.push_str(&before);
        head.push_str("value=");
        behind.push(' ');
        self.series.push(LineEnds { head: head.into_bytes().into(), tail: behind.into_bytes().into() });
    }

    fn sample(&mut self, series: u32, at_ns: u64, value: f64) {
        let LineEnds { head, tail } = &self.series[series as usize];
        self.lines.extend_from_slice(head);
        push_plain(&mut self.lines, value);
        self.lines.extend_from_slice(tail);
        self.lines.extend_from_slice(self.moment.text(at_ns));
        self.lines.push(b'\n');
        self.count += 1;
    }
}

impl Form for Points {
    fn parcel(&mut self, _is_last: bool) -> Option<Parcel> {
        let (body, count) = (std::mem::take(&mut self.lines), std::mem::take(&mut self.count));
        (count > 0).then_some(Parcel { body, count })
    }

    fn is_ripe(&self) -> bool {
        self.lines.len() >= PIECE
    }

    fn is_full(&self) -> bool {
        self.lines.len() >= ROOM
    }
}

/// A key or value of a tag. A line break would end the line, whatever is before it.
fn push_tag(out: &mut String, text: &str) {
    for char in text.trim_end_matches('\\').chars() {
        match char {
            ',' | '=' | ' ' => out.extend(['\\', char]),
            '\n' => out.push_str("\\n"),
            _ => out.push(char),
        }
    }
}

/// A value as this kind of field; none where it is not one.
fn field(kind: FieldKind, value: &str) -> Option<String> {
    match kind {
        FieldKind::Text => Some(format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))),
        FieldKind::Int => value.parse::<i64>().ok().map(|number| format!("{number}i")),
        FieldKind::Float => value.parse::<f64>().ok().filter(|number| number.is_finite()).map(|n| n.to_string()),
        FieldKind::Bool => value.parse::<bool>().ok().map(|is_true| is_true.to_string()),
    }
}

/// Makes the database before it writes to it for the first time.
struct Writer {
    poster: Poster,
    /// Where a database is made; buckets are made by hand.
    create: Option<Url>,
    is_created: std::cell::Cell<bool>,
}

impl Courier for Writer {
    async fn send(&self, body: Vec<u8>) -> Result<(), String> {
        if !self.is_created.replace(true)
            && let Some(create) = &self.create
        {
            // Who may write need not be allowed to make databases: whether it is there shows when it is written to.
            let _told_when_written = self.poster.post_to(create.clone(), Vec::new()).await;
        }
        self.poster.post(body).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_and_fields_are_escaped() {
        let mut out = String::new();
        push_tag(&mut out, "a b,c=d\"e\nf\\");
        assert_eq!(out, "a\\ b\\,c\\=d\"e\\nf");
        assert_eq!(field(FieldKind::Text, "n,a\"m\\e").as_deref(), Some("\"n,a\\\"m\\\\e\""));
        assert_eq!(field(FieldKind::Int, "12").as_deref(), Some("12i"));
        assert_eq!(
            [field(FieldKind::Int, "x"), field(FieldKind::Float, "NaN"), field(FieldKind::Bool, "1")],
            [None, None, None]
        );
    }
}
