//! Bytes on the network and how long each step took.
//!
//! Payloads, connections, HTTP/1.1, HTTP/2, WebSocket, TLS, unix sockets and links, client side; HTTP/1.1, WebSocket,
//! TLS, sockets, the text of header fields and the precise timer also for `server`. Knows no metric, no virtual user,
//! no tag and no JavaScript: every exchange returns its timings as a value. Single-threaded: each worker has its own
//! clients and pools; nothing here is `Send` and nothing is locked on the request path.

#[cfg(not(target_os = "linux"))]
compile_error!("Linux is required: epoll, timerfd, receive stamps of the kernel, sendfile, abstract unix sockets");

mod addresses;
pub mod client;
mod departures;
pub mod failure;
mod failure_map;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
pub mod h1;
mod h2;
pub mod hosts;
mod io;
pub mod link;
mod own_tls;
pub mod payload;
mod recent;
pub mod request;
pub mod response;
mod role;
pub mod room;
pub mod settings;
mod syntax;
pub mod timings;
mod tls;
mod transport;
pub mod ws;

pub use syntax::{codec, cookies, event_stream, field, mask, url};

pub use addresses::{parse_block, parse_local_ips};
pub use client::{Cancelled, Client, ClientContext, ConnectionFacts, ConnectionInfo, Exchange};
pub use departures::{Departure, Departures};
pub use failure::{Failure, FailureKind, Step};
pub use failure_map::http2_error_name;
pub use io::event_loop::event_loop;
pub use io::listener::Listener;
pub use io::reactor::{Installed, Reactor};
pub use io::receive::StampKeeper;
#[cfg(feature = "simulated")]
pub use io::simulated;
pub use io::socket::Socket;
pub use io::stamps::wall_ns;
pub use io::timer;
pub use ipnet::IpNet;
pub use payload::{BorrowedBytes, FileRange, Payload, PayloadError, PayloadFile, Random, Repeat, Segment};
pub use request::{Method, Request};
pub use response::{Body, Content, Response};
pub use role::Role;
pub use settings::Settings;
pub use syntax::url::Url;
pub use timings::Timings;
pub use tls::{TlsAcceptor, TlsStream, trust_authorities_in};
