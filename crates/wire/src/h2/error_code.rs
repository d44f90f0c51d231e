//! Error codes (RFC 9113 7).

/// Nothing is wrong.
pub(crate) const NO_ERROR: u32 = 0;
/// A rule was broken that has no code of its own.
pub(crate) const PROTOCOL_ERROR: u32 = 1;
/// More was sent than the window allows.
pub(crate) const FLOW_CONTROL_ERROR: u32 = 3;
/// A frame is too large, or not as large as its kind has to be.
pub(crate) const FRAME_SIZE_ERROR: u32 = 6;
/// The stream was not processed.
pub(crate) const REFUSED_STREAM: u32 = 7;
/// The stream is not wanted any more.
pub(crate) const CANCEL: u32 = 8;
/// A block of fields could not be decoded.
pub(crate) const COMPRESSION_ERROR: u32 = 9;
/// The peer makes work without use.
pub(crate) const ENHANCE_YOUR_CALM: u32 = 11;

/// What the peer did that ends the connection: an error code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConnectionFault(pub(crate) u32);

pub(super) const PROTOCOL: ConnectionFault = ConnectionFault(PROTOCOL_ERROR);
pub(super) const FRAME_SIZE: ConnectionFault = ConnectionFault(FRAME_SIZE_ERROR);
pub(super) const FLOW_CONTROL: ConnectionFault = ConnectionFault(FLOW_CONTROL_ERROR);
pub(super) const COMPRESSION: ConnectionFault = ConnectionFault(COMPRESSION_ERROR);
pub(super) const CALM: ConnectionFault = ConnectionFault(ENHANCE_YOUR_CALM);
