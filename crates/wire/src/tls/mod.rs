//! TLS: sessions over a socket, what they offer and whom they trust.

pub(crate) mod choice;
pub(crate) mod client;
pub(crate) mod config;
pub(crate) mod end;
mod issuers;
pub(crate) mod missing_issuers;
mod outbox;
mod parts;
pub(crate) mod private_key;
mod roots;
mod server;
mod session;
mod weak_rsa;

pub use roots::trust_authorities_in;
pub use server::{TlsAcceptor, TlsStream};
