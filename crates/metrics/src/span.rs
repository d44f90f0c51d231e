//! A request as a distributed trace shows it: a span with its attributes and the events within. It is a value alone:
//! requests make spans, an output sends them.

use std::sync::Arc;

/// A request as its client sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceSpan {
    /// The trace it belongs to; not 0.
    pub trace_id: u128,
    /// Its own number; not 0.
    pub span_id: u64,
    /// What it is called, such as `HTTP GET`.
    pub name: Arc<str>,
    /// Its beginning, in nanoseconds since 1970.
    pub start_ns: u64,
    /// Its end, in the same way.
    pub end_ns: u64,
    /// What is known of it.
    pub attributes: Vec<SpanAttribute>,
    /// What happened within, in order.
    pub events: Vec<SpanEvent>,
    /// Whether it failed, with what is said of it.
    pub error: Option<Arc<str>>,
}

/// Something that happened within a span.
#[derive(Clone, Debug, PartialEq)]
pub struct SpanEvent {
    /// What it was.
    pub name: &'static str,
    /// When, in nanoseconds since 1970.
    pub at_ns: u64,
    /// What is known of it.
    pub attributes: Vec<SpanAttribute>,
}

/// A fact about a span or an event.
#[derive(Clone, Debug, PartialEq)]
pub struct SpanAttribute {
    /// Its name, as OpenTelemetry's conventions have it.
    pub key: &'static str,
    /// What it is.
    pub value: SpanValue,
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum SpanValue {
    /// A text in UTF-8.
    Text(Arc<str>),
    /// A number without a fraction.
    Whole(i64),
    /// A number with a fraction.
    Number(f64),
}

/// Where spans go. Belongs to all workers.
pub trait SpanSink: Send + Sync {
    /// Takes a span, or loses it and counts that; never waits.
    fn put(&self, span: TraceSpan);
}

impl SpanAttribute {
    /// A fact that is a text.
    pub fn text(key: &'static str, value: impl Into<Arc<str>>) -> SpanAttribute {
        SpanAttribute { key, value: SpanValue::Text(value.into()) }
    }

    /// A fact that is a whole number.
    pub fn whole(key: &'static str, value: impl TryInto<i64>) -> SpanAttribute {
        SpanAttribute { key, value: SpanValue::Whole(value.try_into().unwrap_or(i64::MAX)) }
    }
}

impl TraceSpan {
    /// About how many bytes of memory it takes.
    pub fn size(&self) -> usize {
        let of = |attributes: &[SpanAttribute]| -> usize {
            let texts = attributes.iter().map(|attribute| match &attribute.value {
                SpanValue::Text(text) => text.len(),
                SpanValue::Whole(_) | SpanValue::Number(_) => 0,
            });
            texts.sum::<usize>() + size_of_val(attributes)
        };
        let events = self.events.iter().map(|event| size_of_val(event) + of(&event.attributes));
        let error = self.error.as_ref().map_or(0, |text| text.len());
        size_of_val(self) + self.name.len() + error + of(&self.attributes) + events.sum::<usize>()
    }
}
