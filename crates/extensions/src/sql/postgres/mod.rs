//! PostgreSQL: statements in the simple protocol, those with parameters in the extended one, all values as text.
//!
//! The codec is that of the crate postgres-protocol; the client above it is ours, because those that exist take binary
//! values, of which nobody could show columns of any type as text, and hand each call to another task.

mod connection;
pub(crate) mod login;
pub(crate) mod messages;
mod source;
pub(crate) mod values;

pub use connection::PostgresConnection;
pub use source::PostgresSource;
