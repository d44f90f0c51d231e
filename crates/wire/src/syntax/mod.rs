//! What is written in heads and bodies, without sockets: URLs, fields, cookies, credentials, codings, events.

pub(crate) mod auth;
pub mod codec;
pub mod cookies;
pub mod event_stream;
pub mod field;
pub(crate) mod http_date;
pub mod mask;
pub(crate) mod percent;
pub mod url;
