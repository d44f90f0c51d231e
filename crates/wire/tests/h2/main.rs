//! HTTP/2 over real sockets and TLS: exchanges as they should be, and what hostile servers get.

#![allow(clippy::unwrap_used)]

mod calls;
mod cleartext;
mod exchanges;
mod floods;
mod hostile;
mod peer;
mod sharing;
#[path = "../support/mod.rs"]
mod support;
mod ways;
