//! MySQL and MariaDB: statements as text, those with parameters prepared, executed and closed.
//!
//! The codec is that of the crate mysql_common; the client above it is ours, because mysql_async opens sockets of its
//! own, which a user's link does not carry.

mod connection;
mod login;
mod packets;
mod source;
pub(crate) mod values;

pub use connection::MysqlConnection;
pub use source::MysqlSource;
