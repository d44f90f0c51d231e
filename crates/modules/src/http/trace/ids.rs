//! The ids of a request in its trace, and how they are written into heads: W3C Trace Context, B3 as one header and as
//! several, and Jaeger's header.
//!
//! The script's own headers are read by the same rules, so that a span has the ids which the server sees. Refuses ids
//! of zeros, which all of these formats call invalid.

use script::options::TraceContext;

/// The headers by which a script puts a request into a trace itself.
const PROPAGATING: [&str; 4] = ["traceparent", "b3", "x-b3-traceid", "uber-trace-id"];

type Header = (String, String);

/// Where a request belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceIds {
    /// The trace it belongs to.
    pub trace: u128,
    /// The request in it.
    pub span: u64,
    /// Whether the collector is to keep it.
    pub is_sampled: bool,
}

impl TraceIds {
    /// A trace of its own; this share of all is sampled.
    pub fn random(share: f64) -> TraceIds {
        let is_sampled = share >= 1.0 || fastrand::f64() < share;
        TraceIds { trace: fastrand::u128(1..), span: fastrand::u64(1..), is_sampled }
    }

    /// The headers that say so.
    pub fn headers(self, context: TraceContext) -> Vec<Header> {
        let TraceIds { trace, span, is_sampled } = self;
        let flag = u8::from(is_sampled);
        let header = |name: &str, value: String| (name.to_owned(), value);
        match context {
            TraceContext::None => Vec::new(),
            TraceContext::W3c => vec![header("traceparent", format!("00-{trace:032x}-{span:016x}-{flag:02x}"))],
            TraceContext::B3 => vec![header("b3", format!("{trace:032x}-{span:016x}-{flag}"))],
            TraceContext::B3Multi => vec![
                header("X-B3-TraceId", format!("{trace:032x}")),
                header("X-B3-SpanId", format!("{span:016x}")),
                header("X-B3-Sampled", flag.to_string()),
            ],
            // The span has no parent.
            TraceContext::Jaeger => vec![header("uber-trace-id", format!("{trace:032x}:{span:016x}:0:{flag}"))],
        }
    }

    /// Where the script's own headers put a request: nothing where they are none, or are no ids.
    pub fn of(headers: &[Header]) -> Option<TraceIds> {
        let find = |name: &str| find(headers, name);
        if let Some(text) = find("traceparent") {
            return of_w3c(text);
        }
        if let Some(text) = find("b3") {
            return of_b3(text);
        }
        if let Some(trace) = find("x-b3-traceid") {
            let is_sampled = find("x-b3-sampled").is_none_or(|flag| flag != "0");
            return ids(trace, find("x-b3-spanid")?, is_sampled);
        }
        of_jaeger(find("uber-trace-id")?)
    }
}

/// Whether the script puts the request into a trace itself.
pub fn has_own(headers: &[Header]) -> bool {
    PROPAGATING.iter().any(|name| find(headers, name).is_some())
}

fn find<'a>(headers: &'a [Header], name: &str) -> Option<&'a str> {
    headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}

fn ids(trace: &str, span: &str, is_sampled: bool) -> Option<TraceIds> {
    let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_hex(trace) || !is_hex(span) {
        return None;
    }
    let trace = u128::from_str_radix(trace, 16).ok().filter(|id| *id != 0)?;
    let span = u64::from_str_radix(span, 16).ok().filter(|id| *id != 0)?;
    Some(TraceIds { trace, span, is_sampled })
}

/// `00-TRACE-SPAN-FLAGS`; later versions may have more behind it.
fn of_w3c(text: &str) -> Option<TraceIds> {
    let mut parts = text.split('-');
    let (version, trace, span, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let lengths = [version, trace, span, flags].map(str::len);
    if lengths != [2, 32, 16, 2] || version == "ff" {
        return None;
    }
    ids(trace, span, u8::from_str_radix(flags, 16).ok()? & 1 == 1)
}

/// `TRACE-SPAN[-SAMPLED[-PARENT]]`; without a decision the server decides, so it may keep it.
fn of_b3(text: &str) -> Option<TraceIds> {
    let mut parts = text.split('-');
    let (trace, span) = (parts.next()?, parts.next()?);
    ids(trace, span, parts.next().is_none_or(|flag| flag != "0"))
}

/// `TRACE:SPAN:PARENT:FLAGS`; colons may be percent-encoded.
fn of_jaeger(text: &str) -> Option<TraceIds> {
    let text = text.replace("%3A", ":").replace("%3a", ":");
    let mut parts = text.split(':');
    let (trace, span, _parent, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    ids(trace, span, u8::from_str_radix(flags, 16).ok()? & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDS: TraceIds =
        TraceIds { trace: 0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736, span: 0x00f0_67aa_0ba9_02b7, is_sampled: true };

    fn shown(headers: &[Header]) -> String {
        headers.iter().map(|(name, value)| format!("{name}: {value}")).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn each_format_is_written_and_read_back() {
        for (context, text) in [
            (TraceContext::W3c, "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
            (TraceContext::B3, "b3: 4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1"),
            (
                TraceContext::B3Multi,
                "X-B3-TraceId: 4bf92f3577b34da6a3ce929d0e0e4736\nX-B3-SpanId: 00f067aa0ba902b7\nX-B3-Sampled: 1",
            ),
            (TraceContext::Jaeger, "uber-trace-id: 4bf92f3577b34da6a3ce929d0e0e4736:00f067aa0ba902b7:0:1"),
        ] {
            let headers = IDS.headers(context);
            assert_eq!(shown(&headers), text);
            assert_eq!(TraceIds::of(&headers), Some(IDS), "{text}");
            let not_sampled = TraceIds { is_sampled: false, ..IDS };
            assert_eq!(TraceIds::of(&not_sampled.headers(context)), Some(not_sampled), "{text}");
        }
        assert_eq!(IDS.headers(TraceContext::None), []);
    }

    #[test]
    fn what_is_no_id_is_nothing() {
        for (name, value) in [
            ("traceparent", "00-00000000000000000000000000000000-00f067aa0ba902b7-01"),
            ("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01"),
            ("traceparent", "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
            ("traceparent", "00-+bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
            ("traceparent", "x"),
            ("b3", "0"),
            ("uber-trace-id", "1:2"),
            ("X-Other", "1"),
        ] {
            assert_eq!(TraceIds::of(&[(name.to_owned(), value.to_owned())]), None, "{name}: {value}");
        }
        assert!(has_own(&[(String::from("Traceparent"), String::from("x"))]));
        assert!(!has_own(&[(String::from("X-Other"), String::from("1"))]));
    }

    #[test]
    fn a_share_of_all_is_sampled() {
        let sampled = |share: f64| (0..4000).filter(|_| TraceIds::random(share).is_sampled).count();
        assert_eq!((sampled(0.0), sampled(1.0)), (0, 4000));
        // Ten standard deviations around a quarter.
        assert!((726..1274).contains(&sampled(0.25)));
    }
}
