//! Slices on their way into records: borrowed where one suffices for a record, gathered where not.

use std::io::IoSlice;

/// Slices to be sent, record by record.
pub(super) struct Parts<'a> {
    parts: &'a [IoSlice<'a>],
    offset: usize,
}

impl<'a> Parts<'a> {
    pub(super) fn new(parts: &'a [IoSlice<'a>]) -> Parts<'a> {
        Parts { parts, offset: 0 }
    }

    /// The next bytes for one record, none at the end: borrowed when one slice suffices, else gathered in `buffer`.
    pub(super) fn next_run<'s>(&mut self, buffer: &'s mut [u8]) -> &'s [u8]
    where
        'a: 's,
    {
        let mut len = 0;
        while let Some((first, others)) = self.parts.split_first() {
            let left = &first[self.offset..];
            let is_whole = len == 0 && (left.len() >= buffer.len() || others.iter().all(|part| part.is_empty()));
            let n = left.len().min(buffer.len() - len);
            if n == left.len() {
                (self.parts, self.offset) = (others, 0);
            } else {
                self.offset += n;
            }
            if is_whole && n > 0 {
                return &left[..n];
            }
            buffer[len..len + n].copy_from_slice(&left[..n]);
            len += n;
            if len == buffer.len() {
                break;
            }
        }
        &buffer[..len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_hold_all_slices_in_order_and_copy_only_across_them() {
        let texts: [&[u8]; 6] = [b"", b"ab", b"", b"cdefghij", b"k", b""];
        let parts = texts.map(IoSlice::new);
        for size in 1..=12 {
            let (mut runs, mut seen) = (Parts { parts: &parts, offset: 0 }, Vec::new());
            loop {
                let mut buffer = vec![0; size];
                let run = runs.next_run(&mut buffer);
                if run.is_empty() {
                    break;
                }
                assert!(run.len() == size || seen.len() + run.len() == 11, "{size}: a run of {}", run.len());
                seen.extend_from_slice(run);
            }
            assert_eq!(seen, b"abcdefghijk", "runs of {size}");
        }
        let mut buffer = [0; 4];
        let (from, alone) = (texts[3].as_ptr_range(), [IoSlice::new(texts[3]), IoSlice::new(b"")]);
        let run = Parts { parts: &alone, offset: 0 }.next_run(&mut buffer);
        assert!(run == b"cdef" && from.contains(&run.as_ptr()));
    }
}
