//! Which end of a connection one is: the one thing in which the two users of a codec differ.

/// One end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Opened the connection: writes requests, reads responses.
    Client,
    /// Accepted it: reads requests, writes responses.
    Server,
}
