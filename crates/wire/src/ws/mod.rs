//! WebSocket (RFC 6455) with permessage-deflate (RFC 7692), for both ends: frames, messages, handshakes as pure
//! functions over bytes.
//!
//! `Decoder` takes bytes as they arrive and gives whole messages and control frames; `Encoder` appends frames to a
//! buffer; `handshake` reads and writes the heads of the upgrade. Refuses anything the RFCs call a reason to fail the
//! connection; such a `Violation` carries the close code to fail it with. Invariant: what a peer sends makes no more
//! memory than the message limit, compressed or not.
//!
//! Our own, because tungstenite has no permessage-deflate and copies what it sends; Autobahn holds this one to account.

pub mod close;
mod decode;
mod deflate;
mod encode;
mod extension;
mod frame;
pub mod handshake;
mod mask;
mod passing;

pub use close::CloseReason;
pub(crate) use decode::MessageLimits;
pub use decode::{Decoder, Event};
pub use encode::{Encoder, Shared};
pub use extension::{DeflateOffer, DeflateParams};
pub(crate) use passing::PassingFrames;
pub use passing::{FrameDirection, FrameWatch, PassingFrame};

pub use crate::Role;

/// What a message is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// UTF-8.
    Text,
    /// Any bytes.
    Binary,
}

/// The peer broke the protocol: the connection must fail with this code (RFC 6455 7.1.7).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// What the close frame says: 1002, 1007 or 1009.
    pub code: u16,
    /// For a person: what was found.
    pub message: &'static str,
}

impl Violation {
    pub(crate) const fn protocol(message: &'static str) -> Violation {
        Violation { code: close::PROTOCOL_ERROR, message }
    }

    pub(crate) const fn not_utf8() -> Violation {
        Violation { code: close::INVALID_PAYLOAD, message: "the text is not UTF-8" }
    }

    pub(crate) const fn too_big() -> Violation {
        Violation { code: close::TOO_BIG, message: "the message is larger than the limit" }
    }

    pub(crate) const fn no_room() -> Violation {
        let message = "the message does not fit in the memory that is left; see --vu-memory-limit";
        Violation { code: close::TOO_BIG, message }
    }
}
