//! What a request gathers for its span from hop to hop.
//!
//! One span a request, because the header is the same at each hop: the server's spans of all hops belong below it. The
//! phases are events at their beginning, with how long they took; another hop is an event with its URL.

use std::cell::{Cell, RefCell};

use metrics::span::{SpanAttribute, SpanEvent, SpanValue};
use wire::Timings;

use super::ids::TraceIds;

/// The trace of one request.
#[derive(Debug)]
pub struct RequestTrace {
    /// As the header has them.
    pub ids: TraceIds,
    /// When its first hop began, in nanoseconds since 1970; 0 before its end.
    pub begun_ns: Cell<u64>,
    /// Hops but the first.
    pub further_hops: Cell<u32>,
    /// What has happened so far.
    pub events: RefCell<Vec<SpanEvent>>,
}

impl RequestTrace {
    /// Of a request that is still to come.
    pub fn new(ids: TraceIds) -> Box<RequestTrace> {
        Box::new(RequestTrace { ids, begun_ns: Cell::new(0), further_hops: Cell::new(0), events: RefCell::default() })
    }
}

/// The phases of a hop that began then, in order, without those that took no time.
pub fn phases(timings: &Timings, begun_ns: u64) -> Vec<SpanEvent> {
    let ns = |duration: std::time::Duration| u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    let Timings { blocked, looking_up, connecting, tls_handshaking, sending, waiting, receiving } = *timings;
    let connected = begun_ns + ns(blocked);
    // `blocked` has all of these in it, and ends with the last of them.
    let handshake = connected - ns(tls_handshaking).min(ns(blocked));
    let connect = handshake.saturating_sub(ns(connecting)).max(begun_ns);
    let look_up = connect.saturating_sub(ns(looking_up)).max(begun_ns);
    let all = [
        ("blocked", begun_ns, blocked),
        ("looking_up", look_up, looking_up),
        ("connecting", connect, connecting),
        ("tls_handshaking", handshake, tls_handshaking),
        ("sending", connected, sending),
        ("waiting", connected + ns(sending), waiting),
        ("receiving", connected + ns(sending) + ns(waiting), receiving),
    ];
    let took = all.into_iter().filter(|(.., took)| !took.is_zero());
    took.map(|(name, at_ns, took)| {
        let value = SpanValue::Number(took.as_secs_f64() * 1e3);
        SpanEvent { name, at_ns, attributes: vec![SpanAttribute { key: "duration_ms", value }] }
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn phases_follow_each_other() {
        let ms = Duration::from_millis;
        let timings = Timings {
            blocked: ms(10),
            looking_up: ms(1),
            connecting: ms(2),
            tls_handshaking: ms(3),
            sending: ms(4),
            waiting: ms(50),
            receiving: ms(0),
        };
        let begun = 1_000_000_000;
        let found: Vec<_> =
            phases(&timings, begun).iter().map(|event| (event.name, (event.at_ns - begun) / 1_000_000)).collect();
        let expected = [
            ("blocked", 0),
            ("looking_up", 4),
            ("connecting", 5),
            ("tls_handshaking", 7),
            ("sending", 10),
            ("waiting", 14),
        ];
        assert_eq!(found, expected);
    }
}
