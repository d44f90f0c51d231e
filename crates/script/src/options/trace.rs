//! The options `traceContext` and `traceSampling`: which header puts requests into traces, and which share of them is
//! sampled.

use serde::Serialize;
use serde_json::Value;

use super::read;

/// How a trace context is written into the head of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TraceContext {
    /// Not at all, also where spans are sent.
    None,
    /// `traceparent`, of the W3C's Trace Context.
    W3c,
    /// One header `b3`.
    B3,
    /// `X-B3-TraceId`, `X-B3-SpanId`, `X-B3-Sampled`.
    B3Multi,
    /// `uber-trace-id`, of Jaeger's clients.
    Jaeger,
}

/// The option `traceContext`.
pub(super) fn context(value: &Value) -> Result<TraceContext, String> {
    match value.as_str() {
        Some("none") => Ok(TraceContext::None),
        Some("w3c") => Ok(TraceContext::W3c),
        Some("b3") => Ok(TraceContext::B3),
        Some("b3multi") => Ok(TraceContext::B3Multi),
        Some("jaeger") => Ok(TraceContext::Jaeger),
        _ => read::expected(value, "w3c, b3, b3multi, jaeger or none"),
    }
}

/// The option `traceSampling`: a share from 0 to 1, also as text.
pub(super) fn sampling(value: &Value) -> Result<f64, String> {
    let share = match value {
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_f64(),
    };
    share.filter(|share| (0.0..=1.0).contains(share)).map_or_else(|| read::expected(value, "a share from 0 to 1"), Ok)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_context_shows_as_it_is_written() {
        for text in ["none", "w3c", "b3", "b3multi", "jaeger"] {
            assert_eq!(serde_json::to_value(context(&json!(text)).unwrap()).unwrap(), json!(text));
        }
        let wrong = "found \"zipkin\", expected w3c, b3, b3multi, jaeger or none";
        assert_eq!(context(&json!("zipkin")), Err(String::from(wrong)));
    }

    #[test]
    fn a_share_is_a_number_or_its_text() {
        assert_eq!((sampling(&json!(0.01)), sampling(&json!("1"))), (Ok(0.01), Ok(1.0)));
        for wrong in [json!(1.5), json!(-1), json!("x"), json!("NaN"), json!(true)] {
            assert_eq!(sampling(&wrong), Err(format!("found {wrong}, expected a share from 0 to 1")));
        }
    }
}
