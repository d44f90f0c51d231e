//! The one list of built-in metrics: k6's names, kinds and order of definition, and ours: `iteration_lag` and
//! `iteration_duration_from_plan` of arrival rates, and `iterations_threw`.
//!
//! The position in the list is the `MetricId`, so entries are only ever added at the end. The summary's sections go by
//! these names too: a metric that is not here counts as custom.

use crate::metric::{Contains, Kind, MetricId};

/// A line of the list.
#[derive(Debug)]
pub struct Builtin {
    /// k6's name, where k6 has the metric.
    pub name: &'static str,
    /// Counter, Gauge, Rate or Trend.
    pub kind: Kind,
    /// Plain numbers, times or bytes.
    pub contains: Contains,
    /// What a sample is, for the reference.
    pub meaning: &'static str,
}

macro_rules! builtin {
    ($($constant:ident = $id:literal, $name:literal, $kind:ident, $contains:ident, $doc:literal;)*) => {
        $(#[doc = $doc] pub const $constant: MetricId = MetricId($id);)*
        /// Every built-in metric; the position is the `MetricId`.
        pub const ALL: &[Builtin] = &[
            $(Builtin { name: $name, kind: Kind::$kind, contains: Contains::$contains, meaning: $doc }),*
        ];
    };
}

builtin! {
    VUS = 0, "vus", Gauge, Default, "Virtual users running an iteration, once a second.";
    VUS_MAX = 1, "vus_max", Gauge, Default, "Virtual users initialised, once a second.";
    ITERATIONS = 2, "iterations", Counter, Default, "Completed iterations.";
    ITERATION_DURATION = 3, "iteration_duration", Trend, Time, "Time of one completed iteration.";
    DROPPED_ITERATIONS = 4, "dropped_iterations", Counter, Default, "Planned iterations that never started.";
    ITERATION_LAG = 5, "iteration_lag", Trend, Time, "Planned start to real start, arrival-rate scenarios only.";
    CHECKS = 6, "checks", Rate, Default, "Entries of `check` that passed.";
    GROUP_DURATION = 7, "group_duration", Trend, Time, "Time inside a `group`.";
    HTTP_REQS = 8, "http_reqs", Counter, Default, "HTTP requests, each redirect hop counted.";
    HTTP_REQ_FAILED = 9, "http_req_failed", Rate, Default, "Requests whose answer was not the expected one.";
    HTTP_REQ_DURATION = 10, "http_req_duration", Trend, Time, "sending + waiting + receiving.";
    HTTP_REQ_BLOCKED = 11, "http_req_blocked", Trend, Time, "Waiting for a connection.";
    HTTP_REQ_CONNECTING = 12, "http_req_connecting", Trend, Time, "TCP connect; 0 on a reused connection.";
    HTTP_REQ_TLS_HANDSHAKING = 13, "http_req_tls_handshaking", Trend, Time, "TLS handshake; 0 on a reused connection.";
    HTTP_REQ_SENDING = 14, "http_req_sending", Trend, Time, "Writing the request.";
    HTTP_REQ_WAITING = 15, "http_req_waiting", Trend, Time, "Request written to first response byte.";
    HTTP_REQ_RECEIVING = 16, "http_req_receiving", Trend, Time, "First response byte to end of body.";
    DATA_SENT = 17, "data_sent", Counter, Data, "Bytes written to the network, TLS and headers included.";
    DATA_RECEIVED = 18, "data_received", Counter, Data, "Bytes read from the network, TLS and headers included.";
    WS_SESSIONS = 19, "ws_sessions", Counter, Default, "Attempts to open a WebSocket.";
    WS_CONNECTING = 20, "ws_connecting", Trend, Time, "Opening a WebSocket, handshake included.";
    WS_SESSION_DURATION = 21, "ws_session_duration", Trend, Time, "Open to closed.";
    WS_MSGS_SENT = 22, "ws_msgs_sent", Counter, Default, "Messages sent.";
    WS_MSGS_RECEIVED = 23, "ws_msgs_received", Counter, Default, "Messages received.";
    WS_PING = 24, "ws_ping", Trend, Time, "Ping to pong.";
    ITERATION_DURATION_FROM_PLAN = 25, "iteration_duration_from_plan", Trend, Time,
        "Planned start to the end of the iteration, arrival-rate scenarios only: what somebody who came on schedule waited.";
    ITERATIONS_THREW = 26, "iterations_threw", Counter, Default, "Iterations that ended in an exception; they are in `iterations` too.";
}
