//! A request's body on a stream: as much as the peer's windows allow, from where it lies.
//!
//! Shared bytes are sent as they are. Files, generated and borrowed bytes are copied piece by piece, so that the size
//! of a body costs no memory. Invariant: what is handed over was allowed by the windows of stream and connection.

use bytes::Bytes;

use crate::h2::Http2Session;
use crate::payload::{PIECE, PayloadError, Segment};

/// A shorter run is gathered with those behind it.
const SHORT: usize = 4 << 10;

/// What is left to send.
pub(crate) struct StreamUpload<'a> {
    segments: &'a [Segment],
    offset: u64,
    left: u64,
    is_refused: bool,
}

impl<'a> StreamUpload<'a> {
    pub(crate) fn new(segments: &'a [Segment]) -> StreamUpload<'a> {
        StreamUpload { segments, offset: 0, left: segments.iter().map(Segment::len).sum(), is_refused: false }
    }

    /// All of it is with the connection.
    pub(crate) fn is_done(&self) -> bool {
        self.left == 0
    }

    /// All of it is with the connection, or no more is wanted.
    pub(crate) fn has_ended(&self) -> bool {
        self.is_done() || self.is_refused
    }

    /// Hands over what the windows allow now. Where they do not allow all, whoever waits for the stream is woken when
    /// they do.
    pub(crate) fn send(&mut self, session: &mut Http2Session, id: u32) -> Result<(), PayloadError> {
        if session.stream(id).end.is_some() {
            self.is_refused = true;
        }
        while !self.has_ended() {
            let wanted = usize::try_from(self.left).map_or(PIECE, |left| left.min(PIECE));
            let allowed = session.allowed(id, wanted);
            if allowed == 0 {
                break;
            }
            let piece = self.next(allowed)?;
            debug_assert!(!piece.is_empty() && piece.len() <= allowed, "{} bytes of {allowed}", piece.len());
            self.left -= piece.len() as u64;
            session.send(id, piece, self.left == 0);
        }
        Ok(())
    }

    /// The next bytes, at most this many.
    fn next(&mut self, most: usize) -> Result<Bytes, PayloadError> {
        while let Some((first, others)) = self.segments.split_first().filter(|(first, _)| first.len() == self.offset) {
            debug_assert!(first.len() == self.offset);
            (self.segments, self.offset) = (others, 0);
        }
        if let Some(run) = self.run(most) {
            self.offset += run.len() as u64;
            return Ok(run);
        }
        let (mut piece, mut filled) = (vec![0; most], 0);
        while filled < most {
            let Some((first, others)) = self.segments.split_first() else { break };
            let n = first.read_at(self.offset, &mut piece[filled..])?;
            debug_assert!(n > 0 || first.is_empty(), "a segment gives the bytes that it says it has");
            filled += n;
            self.offset += n as u64;
            if self.offset == first.len() {
                (self.segments, self.offset) = (others, 0);
            }
        }
        piece.truncate(filled);
        Ok(Bytes::from(piece))
    }

    /// Bytes in memory that need no copy, where they are many or the last.
    fn run(&self, most: usize) -> Option<Bytes> {
        let (first, others) = self.segments.split_first()?;
        let offset = usize::try_from(self.offset).ok()?;
        let whole = match first {
            Segment::Static(bytes) => Bytes::from_static(bytes),
            Segment::Shared(bytes) => bytes.clone(),
            _ => return None,
        };
        let run = whole.slice(offset..whole.len().min(offset.saturating_add(most)));
        (run.len() >= SHORT.min(most) || others.is_empty()).then_some(run)
    }
}
