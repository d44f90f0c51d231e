//! SQLite: a file, or memory. Each call runs on a thread of its own, because it waits for the disk and for other users'
//! locks.

mod connection;
mod source;

pub use connection::SqliteConnection;
pub use source::SqliteSource;
