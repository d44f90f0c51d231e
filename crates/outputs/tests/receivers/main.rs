//! Outputs against receivers on real sockets, which decode what they get by the definitions of the protocols: the
//! messages here are prost's, those of the product are written by hand.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod dashboards;
mod grpc;
mod hostile;
mod http;
mod influxdb;
mod loki;
mod opentelemetry;
mod prometheus;
mod run;
mod statsd;
mod traces;
