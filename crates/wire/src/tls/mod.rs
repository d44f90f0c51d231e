//! TLS: sessions over a socket, what they offer and whom they trust.

pub(crate) mod choice;
pub(crate) mod config;
mod issuers;
pub(crate) mod private_key;
mod roots;
pub(crate) mod session;
mod weak_rsa;

pub use roots::trust_authorities_in;
