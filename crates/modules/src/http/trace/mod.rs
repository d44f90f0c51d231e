//! Requests in distributed traces: the header that goes along, and the span that is made of a request that is over.

mod ids;
pub mod request_trace;
pub mod tracing;
