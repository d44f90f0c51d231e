//! The one list of built-in metrics: k6's names, kinds and order of definition, and ours: `iteration_lag` and
//! `iteration_duration_from_plan` of arrival rates, `iterations_threw`, and those of server-sent events.
//!
//! The position in the list is the `MetricId`, so entries are only ever added at the end. The summary's sections go by
//! these names too: a metric that is not here counts as custom.

use crate::naming::metric::{Contains, Kind, MetricId};

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
    ($($constant:ident = $name:literal, $kind:ident, $contains:ident, $doc:literal;)*) => {
        /// Counts the entries: the number of each is its position.
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        enum Position { $($constant),* }
        $(#[doc = $doc] pub const $constant: MetricId = MetricId(Position::$constant as u32);)*
        /// Every built-in metric; the position is the `MetricId`.
        pub const ALL: &[Builtin] = &[
            $(Builtin { name: $name, kind: Kind::$kind, contains: Contains::$contains, meaning: $doc }),*
        ];
    };
}

builtin! {
    VUS = "vus", Gauge, Default, "Virtual users running an iteration, once a second.";
    VUS_MAX = "vus_max", Gauge, Default, "Virtual users initialised, once a second.";
    ITERATIONS = "iterations", Counter, Default, "Completed iterations.";
    ITERATION_DURATION = "iteration_duration", Trend, Time, "Time of one completed iteration.";
    DROPPED_ITERATIONS = "dropped_iterations", Counter, Default, "Planned iterations that never started.";
    ITERATION_LAG = "iteration_lag", Trend, Time, "Planned start to real start, arrival-rate scenarios only.";
    CHECKS = "checks", Rate, Default, "Entries of `check` that passed.";
    GROUP_DURATION = "group_duration", Trend, Time, "Time inside a `group`.";
    HTTP_REQS = "http_reqs", Counter, Default, "HTTP requests, each redirect hop counted.";
    HTTP_REQ_FAILED = "http_req_failed", Rate, Default, "Requests whose answer was not the expected one.";
    HTTP_REQ_DURATION = "http_req_duration", Trend, Time, "sending + waiting + receiving.";
    HTTP_REQ_BLOCKED = "http_req_blocked", Trend, Time, "Waiting for a connection.";
    HTTP_REQ_CONNECTING = "http_req_connecting", Trend, Time, "TCP connect; 0 on a reused connection.";
    HTTP_REQ_TLS_HANDSHAKING = "http_req_tls_handshaking", Trend, Time, "TLS handshake; 0 on a reused connection.";
    HTTP_REQ_SENDING = "http_req_sending", Trend, Time, "Writing the request.";
    HTTP_REQ_WAITING = "http_req_waiting", Trend, Time, "Request written to first response byte.";
    HTTP_REQ_RECEIVING = "http_req_receiving", Trend, Time, "First response byte to end of body.";
    DATA_SENT = "data_sent", Counter, Data, "Bytes written to the network, TLS and headers included.";
    DATA_RECEIVED = "data_received", Counter, Data, "Bytes read from the network, TLS and headers included.";
    WS_SESSIONS = "ws_sessions", Counter, Default, "Attempts to open a WebSocket.";
    WS_CONNECTING = "ws_connecting", Trend, Time, "Opening a WebSocket, handshake included.";
    WS_SESSION_DURATION = "ws_session_duration", Trend, Time, "Open to closed.";
    WS_MSGS_SENT = "ws_msgs_sent", Counter, Default, "Messages sent.";
    WS_MSGS_RECEIVED = "ws_msgs_received", Counter, Default, "Messages received.";
    WS_PING = "ws_ping", Trend, Time, "Ping to pong.";
    ITERATION_DURATION_FROM_PLAN = "iteration_duration_from_plan", Trend, Time,
        "Planned start to the end of the iteration, arrival-rate scenarios only: what a user who came on schedule \
         waited.";
    ITERATIONS_THREW = "iterations_threw", Counter, Default, "Iterations that ended in an exception; they are in \
        `iterations` too.";
    SSE_EVENT = "sse_event", Counter, Default, "Server-sent events received.";
    SSE_FIRST_EVENT = "sse_first_event", Trend, Time,
        "From asking for a stream of events, connection included, to the arrival of its first event.";
    SSE_EVENT_GAP = "sse_event_gap", Trend, Time, "From the arrival of an event to that of the next one of its stream.";
    SSE_EVENT_RATE = "sse_event_rate", Trend, Default,
        "Events a second of one stream, from its first event to its last.";
    GRPC_REQ_DURATION = "grpc_req_duration", Trend, Time, "From a call's beginning to its status.";
    GRPC_STREAMS = "grpc_streams", Counter, Default, "Streams of gRPC that were begun.";
    GRPC_STREAMS_MSGS_SENT = "grpc_streams_msgs_sent", Counter, Default, "Messages sent on streams of gRPC.";
    GRPC_STREAMS_MSGS_RECEIVED = "grpc_streams_msgs_received", Counter, Default,
        "Messages received on streams of gRPC.";
    GRPC_STREAMS_MSG_DELAY = "grpc_streams_msg_delay", Trend, Time,
        "From the last message of a stream of gRPC, sent or received, to the arrival of the next one.";
    HTTP_REQS_INTERRUPTED = "http_reqs_interrupted", Counter, Default,
        "Requests that the end of an iteration cut short after something of them was sent; they are in no other metric \
         but the bytes.";
    INTERRUPTED_ITERATIONS = "interrupted_iterations", Counter, Default,
        "Iterations that began and were cut short, by the end of their scenario or of the test.";
    HTTP_REQ_DURATION_FROM_PLAN = "http_req_duration_from_plan", Trend, Time,
        "Planned start of the iteration to the arrival of its first request's answer, by the kernel's stamp; \
         arrival-rate scenarios only. Dropped iterations count as longer than all others.";
}
