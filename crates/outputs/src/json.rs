//! `--out json`: a line for each sample, and one for each metric before its first sample, as k6 writes them.
//!
//! A line is the metric's head, the moment, the value, the tags and the metadata; head and tags are made once for each
//! series.

use std::collections::HashMap;
use std::sync::Arc;

use metrics::batches::{Note, SeriesTags};
use metrics::registry::{Definition, SubMetric};
use metrics::threshold::ThresholdSpec;
use metrics::{MetricId, Registry, SystemTag, SystemTags, ThresholdSpecs};
use units::Span;

use crate::catalog::Take;
use crate::feed::Running;
use crate::file::{self, Lines, Sheet};
use crate::setup::Setup;
use crate::text::{Moment, MomentForm, push_json, push_number};

/// Starts it. `argument`: the file; standard output when it is empty or `-`.
pub(crate) fn open(argument: &str, setup: &Setup<'_>) -> Result<Running, String> {
    let sheet = Sheet::open(if argument.is_empty() { "-" } else { argument }, setup)?;
    file::start("json", sheet, JsonLines::new(setup.registry.clone(), setup.thresholds.clone(), setup.system_tags))
}

struct JsonLines {
    registry: Arc<Registry>,
    thresholds: ThresholdSpecs,
    system_tags: SystemTags,
    lines: Vec<u8>,
    moment: Moment,
    series: Vec<JsonSeries>,
    /// The present metadata, up to the end of the line; empty without any.
    note: String,
    metrics: HashMap<MetricId, Arc<Metric>>,
}

struct JsonSeries {
    metric: Arc<Metric>,
    /// Everything behind the value, up to the metadata.
    tail: Box<[u8]>,
}

struct Metric {
    /// Everything before the moment.
    head: Box<[u8]>,
    /// The line that announces it.
    announcement: Box<[u8]>,
    is_announced: std::sync::atomic::AtomicBool,
}

impl JsonLines {
    fn new(registry: Arc<Registry>, thresholds: ThresholdSpecs, system_tags: SystemTags) -> Self {
        JsonLines {
            registry,
            thresholds,
            system_tags,
            lines: Vec::new(),
            moment: Moment::new(MomentForm::Rfc3339Nano),
            series: Vec::new(),
            note: String::new(),
            metrics: HashMap::new(),
        }
    }

    fn metric(&mut self, id: MetricId) -> Arc<Metric> {
        if let Some(metric) = self.metrics.get(&id) {
            return metric.clone();
        }
        let definition = self.registry.definition(id);
        // The one that is always kept can have no samples when the tag is off.
        let has_expected = self.system_tags.has(SystemTag::ExpectedResponse);
        let is_shown = |sub: &SubMetric| has_expected || sub.filter.source() != "expected_response:true";
        let subs = self.registry.sub_metrics().into_iter().filter(|sub| sub.parent == id && !sub.is_detail);
        let subs: Vec<SubMetric> = subs.filter(is_shown).collect();
        let thresholds = self.thresholds.get(&*definition.name).map_or(&[][..], Vec::as_slice);
        let metric = Arc::new(Metric {
            head: format!("{{\"metric\":\"{}\",\"type\":\"Point\",\"data\":{{\"time\":\"", definition.name)
                .into_bytes()
                .into(),
            announcement: announcement(&definition, thresholds, &subs).into_bytes().into(),
            is_announced: false.into(),
        });
        self.metrics.insert(id, metric.clone());
        metric
    }
}

impl Take for JsonLines {
    fn meet(&mut self, series: &SeriesTags) {
        let mut tail = String::from(",\"tags\":");
        push_object(&mut tail, series.tags.iter().map(|(key, value)| (&**key, &**value)));
        let metric = self.metric(series.metric);
        self.series.push(JsonSeries { metric, tail: tail.into_bytes().into() });
    }

    fn sample(&mut self, series: u32, at_ns: u64, value: f64) {
        let JsonSeries { metric, tail } = &self.series[series as usize];
        if !metric.is_announced.swap(true, std::sync::atomic::Ordering::Relaxed) {
            self.lines.extend_from_slice(&metric.announcement);
        }
        self.lines.extend_from_slice(&metric.head);
        self.lines.extend_from_slice(self.moment.text(at_ns));
        self.lines.extend_from_slice(b"\",\"value\":");
        push_number(&mut self.lines, value);
        self.lines.extend_from_slice(tail);
        self.lines.extend_from_slice(self.note.as_bytes());
        self.lines.extend_from_slice(b"}}\n");
    }

    fn note(&mut self, note: Option<&Note>) {
        self.note.clear();
        if let Some(note) = note {
            self.note.push_str(",\"metadata\":");
            push_object(&mut self.note, note.iter().map(|(key, value)| (&**key, &**value)));
        }
    }
}

impl Lines for JsonLines {
    fn lines(&mut self) -> &mut Vec<u8> {
        &mut self.lines
    }
}

/// The line before a metric's first sample.
fn announcement(metric: &Definition, thresholds: &[ThresholdSpec], subs: &[SubMetric]) -> String {
    let Definition { name, kind, contains, .. } = metric;
    let (kind, contains) = (kind.name(), contains.name());
    let thresholds: Vec<String> = thresholds.iter().map(threshold).collect();
    let subs: Vec<String> = subs.iter().map(|sub| sub_metric(name, sub)).collect();
    let subs = if subs.is_empty() { String::from("null") } else { format!("[{}]", subs.join(",")) };
    format!(
        "{{\"type\":\"Metric\",\"data\":{{\"name\":\"{name}\",\"type\":\"{kind}\",\"contains\":\"{contains}\",\
         \"thresholds\":[{}],\"submetrics\":{subs}}},\"metric\":\"{name}\"}}\n",
        thresholds.join(",")
    )
}

/// A text alone where nothing else is said.
fn threshold(spec: &ThresholdSpec) -> String {
    let mut text = String::new();
    if !spec.abort_on_fail {
        push_json(&mut text, &spec.threshold);
        return text;
    }
    text.push_str("{\"threshold\":");
    push_json(&mut text, &spec.threshold);
    text.push_str(",\"abortOnFail\":true,\"delayAbortEval\":");
    match &spec.delay_abort_eval {
        Some(delay) => {
            push_json(&mut text, &Span::parse(delay).map_or_else(|_| delay.clone(), |span| span.to_string()))
        }
        None => text.push_str("null"),
    }
    text.push('}');
    text
}

fn sub_metric(parent: &str, sub: &SubMetric) -> String {
    let source = sub.filter.source();
    let mut text = String::from("{\"name\":");
    push_json(&mut text, &format!("{parent}{{{source}}}"));
    text.push_str(",\"suffix\":");
    push_json(&mut text, source);
    text.push_str(",\"tags\":");
    let mut pairs: Vec<(&str, &str)> = sub.filter.pairs().iter().map(|(key, value)| (&**key, &**value)).collect();
    pairs.sort_unstable();
    push_object(&mut text, pairs);
    text.push('}');
    text
}

fn push_object<'a>(text: &mut String, pairs: impl IntoIterator<Item = (&'a str, &'a str)>) {
    text.push('{');
    for (index, (key, value)) in pairs.into_iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        push_json(text, key);
        text.push(':');
        push_json(text, value);
    }
    text.push('}');
}
