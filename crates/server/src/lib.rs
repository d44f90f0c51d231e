//! The server Onrush tests against: httpbin-like routes, an upload sink, delays and faults, over tcp, TLS and unix
//! sockets.
//!
//! HTTP/1.1 with keep-alive, pipelining, chunked bodies both ways and `100-continue`, HTTP/2 beside it, websockets; one
//! thread a worker, nothing shared between them but counters. It counts exactly, so a client's own figures can be
//! checked against it. [`route::ROUTES`] lists what it answers; shapes are those of go-httpbin, where arguments,
//! headers and form values are arrays. [`App`] answers in their place, [`Limits`] says what is accepted.
//!
//! ```
//! use std::io::{Read, Write};
//!
//! let any = "127.0.0.1:0".parse()?;
//! let server = onrush_server::Server::start(onrush_server::ServerConfig { tcp: vec![any], ..Default::default() })?;
//! let mut client = std::net::TcpStream::connect(server.addresses().tcp[0])?;
//! client.write_all(b"GET / HTTP/1.0\r\n\r\n")?;
//! let mut answer = String::new();
//! client.read_to_string(&mut answer)?;
//! assert!(answer.ends_with("\r\n\r\nhello from onrush\n"));
//! assert_eq!(server.requests(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
#![doc = include_str!("../../../docs/reference/routes.md")]

mod accept;
mod after;
pub mod app;
mod connection;
mod distribution;
mod fault;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod grpc;
mod h1;
mod h2;
mod incoming;
mod kept;
mod outgoing;
mod range;
mod refusal;
mod request;
pub mod route;
mod routes;
pub mod server;
mod stats;
pub mod witness;
mod worker;
pub mod ws;

pub use outgoing::respond;

pub use app::{App, AppFactory, AppRequest};
pub use connection::certificate::CertificateFiles;
pub use connection::limits::Limits;
pub use incoming::pool::Buffers;
pub use outgoing::respond::{Body, PieceStream, Response};
pub use server::{Addresses, Server, ServerConfig};
