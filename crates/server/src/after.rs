//! How a connection goes on after an exchange, whatever its protocol.

/// How a connection goes on.
#[derive(PartialEq, Eq)]
pub(crate) enum After {
    Continue,
    Close,
    /// The client may still be sending: closing at once would reset the connection and destroy the answer.
    CloseUnread,
    /// Without another byte.
    Abandon,
}
