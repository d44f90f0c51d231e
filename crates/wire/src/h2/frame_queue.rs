//! Frames that wait for the socket.
//!
//! Short ones are copied together; content that is worth it stays where it is and is shown to the socket in its place.

use std::collections::VecDeque;
use std::io::IoSlice;

use bytes::Bytes;

/// Shorter content is copied.
const SHORT: usize = 4 << 10;
/// A buffer that grew beyond this is not kept.
const KEPT: usize = 16 << 10;

/// What is to be written, in order.
#[derive(Default)]
pub(crate) struct FrameQueue {
    bytes: Vec<u8>,
    /// Of those, written.
    start: usize,
    /// Content, each with its place in `bytes`.
    content: VecDeque<(usize, Bytes)>,
    len: usize,
    /// Bytes that the socket took since the connection began.
    taken: u64,
}

impl FrameQueue {
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Bytes that were put here since the connection began.
    pub(super) fn put_total(&self) -> u64 {
        self.taken + self.len as u64
    }

    /// Of those, bytes that the socket took.
    pub(crate) fn taken_total(&self) -> u64 {
        self.taken
    }

    /// Appends what `write` puts behind what is there.
    pub(super) fn put(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let before = self.bytes.len();
        write(&mut self.bytes);
        self.len += self.bytes.len() - before;
    }

    pub(super) fn put_content(&mut self, content: Bytes) {
        if content.len() < SHORT {
            return self.put(|out| out.extend_from_slice(&content));
        }
        self.len += content.len();
        self.content.push_back((self.bytes.len(), content));
    }

    /// Fills in what comes next; how many parts.
    pub(crate) fn parts<'s>(&'s self, out: &mut [IoSlice<'s>]) -> usize {
        debug_assert_eq!(
            self.len,
            self.bytes.len() - self.start + self.content.iter().map(|(_, content)| content.len()).sum::<usize>(),
            "the queue knows how long it is"
        );
        let (mut at, mut filled) = (self.start, 0);
        let mut push = |part: &'s [u8]| {
            if !part.is_empty() && filled < out.len() {
                out[filled] = IoSlice::new(part);
                filled += 1;
            }
        };
        for (place, content) in &self.content {
            push(&self.bytes[at..*place]);
            push(content);
            at = *place;
        }
        push(&self.bytes[at..]);
        filled
    }

    /// So many bytes were written.
    pub(crate) fn advance(&mut self, mut n: usize) {
        debug_assert!(n <= self.len, "the socket took {n} bytes of {}", self.len);
        self.len -= n;
        self.taken += n as u64;
        while let Some((place, content)) = self.content.front_mut() {
            let in_front = n.min(*place - self.start);
            self.start += in_front;
            n -= in_front;
            if self.start < *place || n < content.len() {
                let _written = content.split_to(n);
                return;
            }
            n -= content.len();
            self.content.pop_front();
        }
        self.start += n;
        if self.is_empty() {
            debug_assert!(self.content.is_empty() && self.start == self.bytes.len(), "all was written");
            self.start = 0;
            self.bytes.clear();
            if self.bytes.capacity() > KEPT {
                self.bytes = Vec::new();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_content_leave_in_order_however_little_is_taken() {
        let mut expected = Vec::new();
        for step in [1, 7, 4096, 5000, 100_000] {
            let mut queue = FrameQueue::default();
            expected.clear();
            for (at, len) in [3, 5000, 0, 4096, 100, 9000, 9000, 1].into_iter().enumerate() {
                let content = vec![at as u8; len];
                expected.extend_from_slice(&content);
                if at % 2 == 0 {
                    queue.put(|out| out.extend_from_slice(&content));
                } else {
                    queue.put_content(content.into());
                }
            }
            let mut written = Vec::new();
            while !queue.is_empty() {
                let mut parts = [IoSlice::new(&[]); 2];
                let filled = queue.parts(&mut parts);
                let bytes: Vec<u8> = parts[..filled].iter().flat_map(|part| part.to_vec()).collect();
                let n = bytes.len().min(step);
                written.extend_from_slice(&bytes[..n]);
                queue.advance(n);
            }
            assert!(written == expected, "steps of {step}");
        }
    }
}
