//! SQLite: a file, or memory. Calls run on threads, because they wait for the disk and for other users' locks; only
//! short reads run on the worker.

mod connection;
mod execute;
mod short;
mod source;

pub use connection::SqliteConnection;
pub use source::SqliteSource;
