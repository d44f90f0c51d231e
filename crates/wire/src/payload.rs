//! What is sent as a body: a list of segments, whose length is known without touching the bytes and which goes to the
//! socket by vectored writes. Nothing is concatenated.

use bytes::Bytes;

/// A body, or a part of one. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Payload {
    segments: Vec<Segment>,
}

/// One run of bytes of a payload.
#[derive(Clone, Debug)]
pub enum Segment {
    /// Compiled-in bytes.
    Static(&'static [u8]),
    /// Shared bytes: heap, or a mapped file behind `Bytes::from_owner`.
    Shared(Bytes),
}

impl Payload {
    /// No bytes.
    pub fn empty() -> Self {
        Payload::default()
    }

    /// One run of shared bytes.
    pub fn from_bytes(bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        let segments = if bytes.is_empty() { Vec::new() } else { vec![Segment::Shared(bytes)] };
        Payload { segments }
    }

    /// Adds a segment at the end.
    pub fn push(&mut self, segment: Segment) {
        self.segments.push(segment);
    }

    /// Length in bytes.
    pub fn len(&self) -> u64 {
        self.segments.iter().map(|s| s.as_slice().len() as u64).sum()
    }

    /// Whether there is nothing to send.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The segments in order.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }
}

impl Segment {
    /// The bytes.
    pub fn as_slice(&self) -> &[u8] {
        match self {
            Segment::Static(bytes) => bytes,
            Segment::Shared(bytes) => bytes,
        }
    }
}
