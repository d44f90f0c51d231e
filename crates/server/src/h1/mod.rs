//! A connection of HTTP/1.x. What its bytes mean is `wire::h1`'s; here a connection reads, runs what answers, and
//! sends.

pub(crate) mod connection;
mod fetch;
mod incoming;
mod receive;
mod send;
mod serve;
mod upgrade;
mod upload;
