//! `--traces-output otel`: the spans of requests by OTLP, over gRPC or HTTP.
//!
//! Spans are written down as they come and leave in batches: each second, or earlier when there are many. What waits is
//! bounded: a receiver that is slower than the test costs spans, which are counted, and nothing else.

use std::time::Duration;

use metrics::batches::SeriesTags;
use metrics::span::{SpanAttribute, SpanEvent, SpanValue, TraceSpan};

use super::trace_settings::{EXPORT, TraceSettings};
use super::{Way, write_attribute};
use crate::catalog::Take;
use crate::feed::Running;
use crate::proto::Message;
use crate::push::{self, Form, Parcel, Schedule};
use crate::setup::Setup;
use crate::variables::Variables;

/// As it is called in messages.
pub(crate) const NAME: &str = "traces-output";
/// Between two batches.
const EVERY: Duration = Duration::from_secs(1);
/// A batch of so many spans leaves before its time.
const RIPE: u64 = 512;
/// Bytes that are written down at most while a batch is under way; a collector takes 4 MiB by gRPC.
const MOST: usize = 2 << 20;

/// The kind of a span that asks a server.
const CLIENT: u64 = 3;
/// The status of a span that failed.
const ERROR: u64 = 2;

/// Starts the thread that sends.
pub(crate) fn open(settings: TraceSettings, setup: &Setup<'_>) -> Result<Running, String> {
    let schedule = Schedule { name: NAME, unit: "spans", every: EVERY };
    let TraceSettings { mut address, protocol } = settings;
    let given = Variables::new("K6_OTEL_", setup.env);
    address.proxies = given.proxies();
    let form = Spans {
        service: given.text("SERVICE_NAME").unwrap_or("k6").to_owned(),
        version: given.text("SERVICE_VERSION").unwrap_or(env!("CARGO_PKG_VERSION")).to_owned(),
        written: Message::default(),
        count: 0,
    };
    push::start(schedule, setup.tell.clone(), form, move || Way::new(protocol, address, EXPORT))
}

/// The spans that wait for the next batch.
struct Spans {
    service: String,
    version: String,
    /// As fields of the message around them.
    written: Message,
    count: u64,
}

impl Take for Spans {
    fn meet(&mut self, _series: &SeriesTags) {}

    fn sample(&mut self, _series: u32, _at_ns: u64, _value: f64) {}

    fn span(&mut self, span: TraceSpan) {
        self.written.message(2, |message| write_span(message, &span));
        self.count += 1;
    }
}

impl Form for Spans {
    fn parcel(&mut self, _is_last: bool) -> Option<Parcel> {
        if self.count == 0 {
            return None;
        }
        let (written, count) = (std::mem::take(&mut self.written), std::mem::take(&mut self.count));
        let mut request = Message::default();
        request.message(1, |of_resource| {
            of_resource.message(1, |resource| {
                let ours = [("telemetry.sdk.language", "rust"), ("telemetry.sdk.name", "onrush")];
                let own = [("service.name", self.service.as_str()), ("service.version", self.version.as_str())];
                for (key, value) in own.iter().chain(&ours) {
                    resource.message(1, |attribute| write_attribute(attribute, key, value));
                }
            });
            of_resource.message(2, |of_scope| {
                of_scope.message(1, |scope| scope.bytes(1, b"onrush"));
                of_scope.0.extend_from_slice(&written.0);
            });
        });
        Some(Parcel { body: request.0, count })
    }

    fn is_ripe(&self) -> bool {
        self.count >= RIPE || self.written.0.len() >= MOST / 2
    }

    fn is_full(&self) -> bool {
        self.written.0.len() >= MOST
    }
}

fn write_span(message: &mut Message, span: &TraceSpan) {
    message.bytes(1, &span.trace_id.to_be_bytes());
    message.bytes(2, &span.span_id.to_be_bytes());
    message.bytes(5, span.name.as_bytes());
    message.uint(6, CLIENT);
    message.fixed(7, span.start_ns);
    message.fixed(8, span.end_ns);
    span.attributes.iter().for_each(|attribute| message.message(9, |field| write(field, attribute)));
    span.events.iter().for_each(|event| message.message(11, |field| write_event(field, event)));
    if let Some(text) = &span.error {
        message.message(15, |status| {
            if !text.is_empty() {
                status.bytes(2, text.as_bytes());
            }
            status.uint(3, ERROR);
        });
    }
}

fn write_event(message: &mut Message, event: &SpanEvent) {
    message.fixed(1, event.at_ns);
    message.bytes(2, event.name.as_bytes());
    event.attributes.iter().for_each(|attribute| message.message(3, |field| write(field, attribute)));
}

fn write(message: &mut Message, attribute: &SpanAttribute) {
    match &attribute.value {
        SpanValue::Text(text) => write_attribute(message, attribute.key, text),
        SpanValue::Whole(number) => {
            message.bytes(1, attribute.key.as_bytes());
            message.message(2, |any| any.uint(3, *number as u64));
        }
        SpanValue::Number(number) => {
            message.bytes(1, attribute.key.as_bytes());
            message.message(2, |any| any.double(4, *number));
        }
    }
}
