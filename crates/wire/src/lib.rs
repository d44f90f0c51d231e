//! Bytes on the network and how long each step took.
//!
//! Payloads, connections, HTTP/1.1, WebSocket, TLS, unix sockets and links, client side; the WebSocket codec, the text of header
//! fields and the precise timer also for `target`. Knows no metric, no virtual user, no tag and no JavaScript: every exchange
//! returns its timings as a value. Single-threaded: each worker has its own clients and pools; nothing here is `Send` and nothing
//! is locked on the request path.

mod addresses;
mod alarm;
mod auth;
pub mod client;
pub mod codec;
mod connect;
pub mod cookies;
mod dns;
pub mod exchange;
pub mod failure;
mod failure_map;
pub mod field;
mod h1;
pub mod hold;
mod http_date;
mod known_requests;
pub mod link;
pub mod mask;
mod origins;
pub mod payload;
mod pool;
mod private_key;
mod proxy;
mod recent;
mod redirect;
pub mod request;
pub mod response;
mod roots;
pub mod settings;
mod socket;
mod socks;
mod stamps;
pub mod timings;
mod tls;
mod tls_config;
mod transport;
mod upload;
pub mod url;
mod vouching;
mod weak_rsa;
mod worker_io;
pub mod ws;

pub use addresses::{parse_block, parse_local_ips};
pub use client::{Client, Worker};
pub use exchange::{ConnectionInfo, Exchange};
pub use failure::{Failure, FailureKind, Step};
pub use payload::{FileRange, Lender, Payload, PayloadError, PayloadFile, Random, Repeat, Segment};
pub use request::{Method, Request};
pub use response::{Body, Response};
pub use roots::trust_authorities_in;
pub use settings::Settings;
pub use socket::{receive_stamped, stamp_arrivals};
pub use stamps::wall_ns;
pub use timings::Timings;
pub use url::Url;
