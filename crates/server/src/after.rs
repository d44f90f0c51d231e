//! How a connection continues after an exchange, whatever its protocol.

/// How a connection continues.
#[derive(PartialEq, Eq)]
pub(crate) enum After {
    Continue,
    Close,
    /// The client may still be sending: closing at once would reset the connection and destroy the answer.
    CloseUnread,
    /// Without another byte.
    Abandon,
}
