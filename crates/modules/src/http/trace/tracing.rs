//! Puts the requests of a user into traces, and makes spans of them. While no option asks for it there is none of this.
//!
//! A request that has a trace is prepared each time, because its header is another one each time; that is where the
//! cost of tracing is.

use std::rc::Rc;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use metrics::span::{SpanAttribute, SpanEvent, SpanSink, TraceSpan};
use script::Vu;
use script::options::TraceContext;
use script::traces::{SampledRequest, Traces};
use wire::mask::Mask;
use wire::{Exchange, Request};

use super::ids::{TraceIds, has_own};
use super::request_trace::{RequestTrace, phases};
use crate::http::common::error_code;
use crate::http::samples::sampler::{HopFacts, Labels};

/// What the options and the run say of traces.
pub struct Tracing {
    context: TraceContext,
    share: f64,
    sink: Option<Arc<dyn SpanSink>>,
    all: Arc<Traces>,
}

/// A hop that is over, of a request with a trace.
pub struct TracedHop<'a> {
    /// What the samples say of the request.
    pub labels: &'a Labels,
    /// The request as it was asked for.
    pub request: &'a Request,
    /// What became of it.
    pub exchange: &'a Exchange,
    /// No other hop follows.
    pub last: bool,
    /// What is hidden of URLs.
    pub mask: &'a Mask,
}

impl Tracing {
    /// Of this user's requests; nothing where neither an option nor a receiver of spans asks for it.
    pub fn of(vu: &Vu) -> Option<Tracing> {
        let (options, all) = (vu.options(), vu.process::<Traces>());
        let sink = all.sink();
        let context = match (options.trace_context, &sink) {
            (None | Some(TraceContext::None), None) => return None,
            (None, Some(_)) => TraceContext::W3c,
            (Some(context), _) => context,
        };
        Some(Tracing { context, share: options.trace_sampling.unwrap_or(1.0), sink, all })
    }

    /// Puts a request into a trace, unless the script has done so itself.
    pub fn begin(&self, headers: &mut Rc<[(String, String)]>) -> Option<Box<RequestTrace>> {
        let ids = if has_own(headers) {
            TraceIds::of(headers)?
        } else if self.context == TraceContext::None {
            return None;
        } else {
            let ids = TraceIds::random(self.share);
            *headers = headers.iter().cloned().chain(ids.headers(self.context)).collect();
            ids
        };
        Some(RequestTrace::new(ids))
    }

    /// A hop of the request is over.
    pub fn note(&self, vu: &Vu, trace: &RequestTrace, hop: &TracedHop<'_>) {
        if !trace.ids.is_sampled {
            return;
        }
        let timings = &hop.exchange.timings;
        let ended = hop.exchange.ended_at.duration_since(UNIX_EPOCH).unwrap_or_default();
        let begun = ended.saturating_sub(timings.blocked + timings.duration());
        let [begun_ns, ended_ns] = [begun, ended].map(|time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
        if trace.begun_ns.get() == 0 {
            trace.begun_ns.set(begun_ns);
        } else {
            trace.further_hops.set(trace.further_hops.get() + 1);
        }
        if self.sink.is_some() {
            let mut events = trace.events.borrow_mut();
            if trace.further_hops.get() > 0 {
                let url = SpanAttribute::text("url.full", shown(&hop.exchange.url, hop.mask));
                events.push(SpanEvent { name: "further_request", at_ns: begun_ns, attributes: vec![url] });
            }
            events.extend(phases(timings, begun_ns));
        }
        if hop.last {
            self.end(vu, trace, hop, ended_ns);
        }
    }

    fn end(&self, vu: &Vu, trace: &RequestTrace, hop: &TracedHop<'_>, end_ns: u64) {
        let (method, url) = (hop.request.method.as_str(), shown(&hop.request.url, hop.mask));
        let facts = HopFacts::of(hop.exchange);
        let (status, said) = match &facts.outcome {
            Ok(answer) => (answer.status, String::new()),
            Err((_, message)) => (0, hop.mask.text(message).into_owned()),
        };
        let error = match &facts.outcome {
            Ok(_) => hop.labels.expectation.judge(status).map_or(status >= 400, |is_expected| !is_expected),
            Err(_) => true,
        };
        let start_ns = trace.begun_ns.get();
        let trace_id = trace.ids.trace;
        let took_ns = end_ns.saturating_sub(start_ns);
        self.all.note(took_ns, error, || SampledRequest { trace_id, took_ns, line: format!("{method} {url}") });
        let Some(sink) = &self.sink else { return };
        let mut attributes = vec![
            SpanAttribute::text("http.request.method", method),
            SpanAttribute::text("url.full", url),
            SpanAttribute::text("server.address", hop.request.url.host.as_str()),
            SpanAttribute::whole("server.port", hop.request.url.port),
        ];
        match &facts.outcome {
            Ok(answer) => {
                attributes.push(SpanAttribute::whole("http.response.status_code", answer.status));
                let version = answer.proto.strip_prefix("HTTP/").unwrap_or(answer.proto);
                attributes.push(SpanAttribute::text("network.protocol.version", version.trim_end_matches(".0")));
                if error {
                    attributes.push(SpanAttribute::text("error.type", status.to_string()));
                }
            }
            Err((kind, message)) => {
                attributes.push(SpanAttribute::text("error.type", error_code::of_failure(*kind).to_string()));
                attributes.push(SpanAttribute::text("error.message", hop.mask.text(message)));
            }
        }
        if let Some(remote) = hop.exchange.connection.as_ref().and_then(|connection| connection.remote) {
            attributes.push(SpanAttribute::text("network.peer.address", remote.ip().to_string()));
        }
        if trace.further_hops.get() > 0 {
            attributes.push(SpanAttribute::whole("http.request.resend_count", trace.further_hops.get()));
        }
        attributes.push(SpanAttribute::whole("test.vu", vu.id()));
        if let Some(iteration) = vu.iteration() {
            attributes.push(SpanAttribute::text("test.scenario", iteration.scenario.name.as_str()));
            attributes.push(SpanAttribute::whole("test.iteration.number", vu.iterations_before()));
        }
        let name = hop.labels.name.clone().unwrap_or_else(|| format!("HTTP {method}").into());
        sink.put(TraceSpan {
            trace_id,
            span_id: trace.ids.span,
            name,
            start_ns,
            end_ns,
            attributes,
            events: trace.events.take(),
            error: error.then(|| said.into()),
        });
    }
}

fn shown(url: &wire::Url, mask: &Mask) -> String {
    mask.url(&wire::Url::written(&url.text)).into_owned()
}
