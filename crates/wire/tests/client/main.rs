//! The client around single exchanges, against real listeners: redirects, cookies, credentials, codings, names,
//! proxies, limits.

#![allow(clippy::unwrap_used)]

mod codings;
mod cookies;
mod credentials;
mod cut_short;
mod limits;
mod names;
mod proxies;
mod redirects;
mod repeated;
mod server;
mod unasked;
mod websockets;
