//! How far a request has been written: head first, then the segments of its body, none of them copied together.

use std::io::IoSlice;

use crate::payload::Segment;

/// Slices of one vectored write.
pub(crate) const MAX_PARTS: usize = 16;

/// Bytes of one write at most. The kernel goes on copying within one call for as long as the peer makes room: 400 MB went
/// in one, and an answer that had long arrived was seen after it.
pub(crate) const MAX_WRITE: usize = 1 << 20;

/// A cursor over a request's bytes.
pub(crate) struct Upload<'a> {
    head: &'a [u8],
    segments: &'a [Segment],
    /// 0 is the head, `n` the segment `n - 1`.
    part: usize,
    offset: usize,
}

impl<'a> Upload<'a> {
    pub(crate) fn new(head: &'a [u8], segments: &'a [Segment]) -> Upload<'a> {
        let mut upload = Upload { head, segments, part: 0, offset: 0 };
        upload.advance(0);
        upload
    }

    /// Whether everything was taken.
    pub(crate) fn is_done(&self) -> bool {
        self.part > self.segments.len()
    }

    /// Whether nothing was taken yet.
    pub(crate) fn is_untouched(&self) -> bool {
        self.part == 0 && self.offset == 0
    }

    fn slice(&self, part: usize) -> Option<&'a [u8]> {
        match part.checked_sub(1) {
            None => Some(self.head),
            Some(segment) => self.segments.get(segment).map(Segment::as_slice),
        }
    }

    /// Fills in the next slices and says how many.
    pub(crate) fn parts<'s>(&'s self, out: &mut [IoSlice<'s>; MAX_PARTS]) -> usize {
        let (mut filled, mut part, mut offset, mut room) = (0, self.part, self.offset, MAX_WRITE);
        while let (true, Some(slice)) = (filled < MAX_PARTS && room > 0, self.slice(part)) {
            if slice.len() > offset {
                let end = slice.len().min(offset + room);
                out[filled] = IoSlice::new(&slice[offset..end]);
                room -= end - offset;
                filled += 1;
            }
            (part, offset) = (part + 1, 0);
        }
        filled
    }

    /// The next bytes to write, when all that is left lies in one slice.
    pub(crate) fn only_part(&self) -> Option<&'a [u8]> {
        if self.part != self.segments.len() {
            return None;
        }
        self.slice(self.part).map(|slice| &slice[self.offset..slice.len().min(self.offset + MAX_WRITE)])
    }

    /// Takes `n` bytes off the front.
    pub(crate) fn advance(&mut self, mut n: usize) {
        while let Some(slice) = self.slice(self.part) {
            let left = slice.len() - self.offset;
            if n < left {
                self.offset += n;
                return;
            }
            n -= left;
            (self.part, self.offset) = (self.part + 1, 0);
        }
    }

    /// The next run of bytes for one record: borrowed when one slice suffices, else gathered into `buffer`.
    pub(crate) fn next_run<'s>(&'s self, buffer: &'s mut [u8]) -> &'s [u8] {
        let most = buffer.len();
        let mut parts = [IoSlice::new(&[]); MAX_PARTS];
        let filled = self.parts(&mut parts);
        if filled == 0 {
            return &[];
        }
        let first_part = self.slice(self.part).unwrap_or_default();
        let first = &first_part[self.offset..];
        if filled == 1 || first.len() >= most {
            return &first[..first.len().min(most)];
        }
        let mut len = 0;
        for part in &parts[..filled] {
            let take = part.len().min(most - len);
            buffer[len..len + take].copy_from_slice(&part[..take]);
            len += take;
        }
        &buffer[..len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    fn segments() -> Vec<Segment> {
        let shared = |text: &'static [u8]| Segment::Shared(Bytes::from_static(text));
        vec![Segment::Static(b""), shared(b"cde"), Segment::Static(b""), shared(b"fg")]
    }

    fn rest(upload: &Upload<'_>) -> Vec<u8> {
        let mut parts = [IoSlice::new(&[]); MAX_PARTS];
        let filled = upload.parts(&mut parts);
        parts[..filled].iter().flat_map(|p| p.to_vec()).collect()
    }

    #[test]
    fn any_two_partial_writes_leave_the_right_rest() {
        let segments = segments();
        for first in 0..=7 {
            for second in 0..=7 - first {
                let mut upload = Upload::new(b"ab", &segments);
                upload.advance(first);
                upload.advance(second);
                assert_eq!(rest(&upload), b"abcdefg"[first + second..], "{first} then {second}");
                assert_eq!(upload.is_done(), first + second == 7);
            }
        }
    }

    #[test]
    fn one_slice_is_known_as_such() {
        let segments = segments();
        let mut upload = Upload::new(b"ab", &segments);
        assert_eq!(upload.only_part(), None);
        upload.advance(6);
        assert_eq!(upload.only_part(), Some(&b"g"[..]));
        upload.advance(1);
        assert_eq!(upload.only_part(), None);
        assert_eq!(Upload::new(b"ab", &[]).only_part(), Some(&b"ab"[..]));
    }

    #[test]
    fn runs_are_gathered_only_across_slices() {
        let segments = segments();
        let upload = Upload::new(b"ab", &segments);
        assert_eq!(upload.next_run(&mut [0; 4]), b"abcd");
        assert_eq!(upload.next_run(&mut [0; 2]), b"ab");
        assert_eq!(upload.next_run(&mut [0; 99]), b"abcdefg");
        assert_eq!(Upload::new(b"", &[]).next_run(&mut [0; 9]), b"");
        assert!(Upload::new(b"", &[]).is_done());
    }

    #[test]
    fn more_slices_than_one_write_takes_are_not_lost() {
        let segments = vec![Segment::Static(b"x"); MAX_PARTS * 3];
        let mut upload = Upload::new(b"h", &segments);
        let mut written = 0;
        while !upload.is_done() {
            let n = rest(&upload).len();
            upload.advance(n);
            written += n;
        }
        assert_eq!(written, MAX_PARTS * 3 + 1);
    }
}
