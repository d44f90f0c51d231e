//! How far a request has been written: head first, then the segments of its body, none of them copied together.
//!
//! What lies in memory is given as slices, borrowed bytes for the time of a call (`Upload::show`). A streamed segment
//! (file, random bytes) is given as itself with a position: the code that writes decides how it reads the segment.
//! Invariant: `advance` alone moves the cursor, by what the kernel took.

use std::io::IoSlice;

use crate::payload::{PayloadError, Segment};

/// Slices of one vectored write.
pub(crate) const MAX_PARTS: usize = 16;

/// Bytes of one write at most. The kernel continues copying within one call for as long as the peer makes room: 400 MB
/// went in one, and an answer that had long arrived was seen after it.
pub(crate) const MAX_WRITE: usize = 1 << 20;

/// How far a request has been written, for who keeps its bytes elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cursor {
    /// 0 is the head, `n` the segment `n - 1`.
    part: usize,
    offset: u64,
}

impl Cursor {
    /// Whether nothing was taken yet.
    pub(crate) fn is_at_start(self) -> bool {
        self == Cursor::default()
    }
}

/// A cursor over a request's bytes.
pub(crate) struct Upload<'a> {
    head: &'a [u8],
    segments: &'a [Segment],
    /// 0 is the head, `n` the segment `n - 1`.
    part: usize,
    offset: u64,
}

/// The borrowed bytes of a request, by the numbers of their segments, as long as they are shown.
#[derive(Clone, Copy)]
pub(crate) struct Shown<'s>(&'s [&'s [u8]]);

/// Has the bytes of borrowed segments shown, one within the other, those before them already being so.
fn show_from(segments: &[Segment], mut shown: Vec<&[u8]>, look: &mut dyn FnMut(Shown<'_>)) {
    for (index, segment) in segments.iter().enumerate() {
        if let Segment::Borrowed(bytes) = segment {
            bytes.show(&mut |bytes| {
                let mut shown = shown.clone();
                shown.push(bytes);
                show_from(&segments[index + 1..], shown, look);
            });
            return;
        }
        shown.push(&[]);
    }
    look(Shown(&shown));
}

impl<'a> Upload<'a> {
    pub(crate) fn new(head: &'a [u8], segments: &'a [Segment]) -> Upload<'a> {
        let mut upload = Upload::at(head, segments, Cursor::default());
        upload.advance(0);
        upload
    }

    /// One that was written up to the cursor.
    #[inline]
    pub(crate) fn at(head: &'a [u8], segments: &'a [Segment], Cursor { part, offset }: Cursor) -> Upload<'a> {
        debug_assert!(part <= segments.len() + 1, "part {part} of a request of {}", segments.len() + 1);
        Upload { head, segments, part, offset }
    }

    #[inline]
    pub(crate) fn cursor(&self) -> Cursor {
        Cursor { part: self.part, offset: self.offset }
    }

    /// Whether everything was taken.
    pub(crate) fn is_done(&self) -> bool {
        self.part > self.segments.len()
    }

    /// Calls `send` while all borrowed bytes are shown.
    #[inline]
    pub(crate) fn show<R>(&mut self, send: impl FnOnce(&mut Self, Shown<'_>) -> R) -> R {
        if !self.segments.iter().any(|segment| matches!(segment, Segment::Borrowed(_))) {
            return send(self, Shown(&[]));
        }
        let (segments, mut send, mut sent) = (self.segments, Some(send), None);
        show_from(segments, Vec::with_capacity(segments.len()), &mut |shown| {
            sent = send.take().map(|send| send(self, shown));
        });
        sent.expect("whoever has borrowed bytes shows them once")
    }

    /// How much of the head was taken.
    pub(crate) fn head_taken(&self) -> usize {
        if self.part == 0 { self.offset as usize } else { self.head.len() }
    }

    fn len_of(&self, part: usize) -> Option<u64> {
        match part.checked_sub(1) {
            None => Some(self.head.len() as u64),
            Some(segment) => self.segments.get(segment).map(Segment::len),
        }
    }

    /// The bytes in memory from `offset` of a part on, as far as they lie in one run; `None` when they are streamed or
    /// there is no such part.
    fn run<'s>(&self, shown: Shown<'s>, part: usize, offset: u64) -> Option<&'s [u8]>
    where
        'a: 's,
    {
        let Some(index) = part.checked_sub(1) else { return Some(&self.head[offset as usize..]) };
        match self.segments.get(index)? {
            Segment::Borrowed(_) => Some(shown.0.get(index)?.get(offset as usize..).unwrap_or_default()),
            segment => segment.run_at(offset),
        }
    }

    /// Fills in the next slices, up to the next streamed segment, and says how many.
    pub(crate) fn parts<'s>(&self, shown: Shown<'s>, out: &mut [IoSlice<'s>; MAX_PARTS]) -> usize
    where
        'a: 's,
    {
        let (mut filled, mut part, mut offset, mut room) = (0, self.part, self.offset, MAX_WRITE);
        while let (true, Some(run)) = (filled < MAX_PARTS && room > 0, self.run(shown, part, offset)) {
            let run = &run[..run.len().min(room)];
            if run.is_empty() {
                (part, offset) = (part + 1, 0);
                continue;
            }
            out[filled] = IoSlice::new(run);
            filled += 1;
            room -= run.len();
            offset += run.len() as u64;
        }
        debug_assert!(part <= self.segments.len() + 1, "part {part} of {}", self.segments.len() + 1);
        filled
    }

    /// The next bytes to write, when all that is left lies in one slice.
    pub(crate) fn only_part<'s>(&self, shown: Shown<'s>) -> Option<&'s [u8]>
    where
        'a: 's,
    {
        if self.part != self.segments.len() {
            return None;
        }
        let run = self.run(shown, self.part, self.offset)?;
        let is_all = self.len_of(self.part) == Some(self.offset + run.len() as u64);
        is_all.then(|| &run[..run.len().min(MAX_WRITE)])
    }

    /// The segment to read from and where in it, when the next bytes are streamed.
    pub(crate) fn stream(&self) -> Option<(&'a Segment, u64)> {
        let segment = self.segments.get(self.part.checked_sub(1)?)?;
        let is_streamed = !matches!(segment, Segment::Borrowed(_)) && segment.run_at(self.offset).is_none();
        is_streamed.then_some((segment, self.offset))
    }

    /// Whether streamed bytes follow right after `taken` bytes from here, all of them in memory.
    pub(crate) fn is_stream_after(&self, shown: Shown<'_>, mut taken: usize) -> bool {
        let (mut part, mut offset) = (self.part, self.offset);
        while let Some(run) = self.run(shown, part, offset) {
            if run.is_empty() {
                (part, offset) = (part + 1, 0);
            } else if taken == 0 {
                return false;
            } else {
                let n = run.len().min(taken);
                taken -= n;
                offset += n as u64;
            }
        }
        taken == 0 && part <= self.segments.len()
    }

    /// Takes `n` bytes off the front.
    #[inline]
    pub(crate) fn advance(&mut self, n: usize) {
        // All of a request without a body, which is most of them.
        if self.part == 0 && self.offset == 0 && n == self.head.len() && self.segments.is_empty() {
            self.part = 1;
        } else {
            self.advance_over(n);
        }
    }

    fn advance_over(&mut self, n: usize) {
        let mut n = n as u64;
        while let Some(len) = self.len_of(self.part) {
            debug_assert!(self.offset <= len, "{} of {len} bytes of part {}", self.offset, self.part);
            let left = len - self.offset;
            if n < left {
                self.offset += n;
                return;
            }
            n -= left;
            (self.part, self.offset) = (self.part + 1, 0);
        }
        debug_assert_eq!(n, 0, "the kernel takes no more than there is");
    }

    /// The next run of bytes for one record: borrowed when one slice suffices, else gathered or read into `buffer`.
    pub(crate) fn next_run<'s>(&self, shown: Shown<'s>, buffer: &'s mut [u8]) -> Result<&'s [u8], PayloadError>
    where
        'a: 's,
    {
        let most = buffer.len();
        let first = self.run(shown, self.part, self.offset).unwrap_or_default();
        if first.len() >= most || (!first.is_empty() && self.only_part(shown).is_some()) {
            return Ok(&first[..first.len().min(most)]);
        }
        let (mut len, mut part, mut offset) = (0, self.part, self.offset);
        while len < most
            && let Some(whole) = self.len_of(part)
        {
            let room = &mut buffer[len..];
            let n = match part.checked_sub(1) {
                None => copy(&self.head[offset as usize..], room),
                Some(segment) => self.segments[segment].read_at(offset, room)?,
            };
            len += n;
            offset += n as u64;
            debug_assert!(offset <= whole, "{offset} of {whole} bytes of part {part}");
            if offset == whole || n == 0 {
                (part, offset) = (part + 1, 0);
            }
        }
        Ok(&buffer[..len])
    }
}

fn copy(from: &[u8], to: &mut [u8]) -> usize {
    let n = from.len().min(to.len());
    to[..n].copy_from_slice(&from[..n]);
    n
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payload::{Random, Repeat};
    use bytes::Bytes;
    use std::rc::Rc;

    const NONE: Shown<'static> = Shown(&[]);

    fn segments() -> Vec<Segment> {
        let shared = |text: &'static [u8]| Segment::Shared(Bytes::from_static(text));
        vec![Segment::Static(b""), shared(b"cde"), Segment::Static(b""), shared(b"fg")]
    }

    fn rest(upload: &Upload<'_>) -> Vec<u8> {
        let mut parts = [IoSlice::new(&[]); MAX_PARTS];
        let filled = upload.parts(NONE, &mut parts);
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
        assert_eq!(upload.only_part(NONE), None);
        upload.advance(6);
        assert_eq!(upload.only_part(NONE), Some(&b"g"[..]));
        upload.advance(1);
        assert_eq!(upload.only_part(NONE), None);
        assert_eq!(Upload::new(b"ab", &[]).only_part(NONE), Some(&b"ab"[..]));
    }

    #[test]
    fn runs_are_gathered_only_across_slices() {
        let segments = segments();
        let upload = Upload::new(b"ab", &segments);
        assert_eq!(upload.next_run(NONE, &mut [0; 4]), Ok(&b"abcd"[..]));
        assert_eq!(upload.next_run(NONE, &mut [0; 2]), Ok(&b"ab"[..]));
        assert_eq!(upload.next_run(NONE, &mut [0; 99]), Ok(&b"abcdefg"[..]));
        assert_eq!(Upload::new(b"", &[]).next_run(NONE, &mut [0; 9]), Ok(&b""[..]));
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
    fn mixed() -> (Vec<Segment>, Vec<u8>) {
        let random = Random::new(100, 5);
        let repeat = Repeat::new(Bytes::from_static(b"xyz"), 10);
        let mut expected = b"ab".to_vec();
        expected.extend_from_slice(b"xyzxyzxyzx");
        expected.resize(112, 0);
        random.read_at(0, &mut expected[12..]);
        expected.extend_from_slice(b"end");
        let streamed = Segment::Random(random);
        (vec![Segment::Repeat(repeat), Segment::Static(b""), streamed, Segment::Static(b"end")], expected)
    }

    #[test]
    fn slices_end_where_a_stream_begins_and_it_is_announced() {
        let (segments, _) = mixed();
        let mut upload = Upload::new(b"ab", &segments);
        assert!(upload.stream().is_none());
        assert_eq!(rest(&upload), b"abxyzxyzxyzx");
        assert!(
            upload.is_stream_after(NONE, 12) && !upload.is_stream_after(NONE, 11) && !upload.is_stream_after(NONE, 13)
        );
        upload.advance(12);
        assert_eq!(rest(&upload), b"");
        assert_eq!(upload.stream().map(|(segment, at)| (segment.len(), at)), Some((100, 0)));
        upload.advance(99);
        assert_eq!(upload.stream().map(|(_, at)| at), Some(99));
        upload.advance(1);
        assert!(upload.stream().is_none() && !upload.is_stream_after(NONE, 3));
        assert_eq!(upload.only_part(NONE), Some(&b"end"[..]));
    }

    #[test]
    fn runs_of_any_size_go_through_every_kind_of_segment() {
        let (segments, expected) = mixed();
        for size in 1..=expected.len() + 1 {
            let (mut upload, mut seen) = (Upload::new(b"ab", &segments), Vec::new());
            while !upload.is_done() {
                let mut buffer = vec![0; size];
                let run = upload.next_run(NONE, &mut buffer).unwrap();
                assert!(!run.is_empty(), "nothing at {} in runs of {size}", seen.len());
                seen.extend_from_slice(run);
                let n = run.len();
                upload.advance(n);
            }
            assert!(seen == expected, "runs of {size}");
        }
    }

    #[test]
    fn borrowed_bytes_go_out_with_the_others_while_they_are_shown() {
        let borrowed = |text: &str| Segment::Borrowed(Rc::new(text.as_bytes().to_vec()));
        let segments = [borrowed("cde"), Segment::Static(b"f"), borrowed("gh")];
        for first in 0..=8 {
            let mut upload = Upload::new(b"ab", &segments);
            upload.advance(first);
            let rest = upload.show(|upload, shown| {
                let mut parts = [IoSlice::new(&[]); MAX_PARTS];
                let filled = upload.parts(shown, &mut parts);
                assert!(upload.stream().is_none());
                parts[..filled].iter().flat_map(|part| part.to_vec()).collect::<Vec<u8>>()
            });
            assert_eq!(rest, b"abcdefgh"[first..], "{first}");
            let run = upload.show(|upload, shown| upload.next_run(shown, &mut [0; 9]).map(<[u8]>::to_vec));
            assert_eq!(run.as_deref(), Ok(&b"abcdefgh"[first..]), "{first}");
        }
    }
}
