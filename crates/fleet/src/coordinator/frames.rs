//! The frames of one agent, put in their order.

use std::collections::BTreeMap;

/// Frames as they come: each is passed on once, after those before it.
pub struct FrameQueue {
    /// The number of the next frame to be passed on.
    pub next: u64,
    /// Frames that came before their turn.
    early: BTreeMap<u64, Vec<u8>>,
    /// How many there are in all and the agent's last words, until all are here.
    end: Option<(u64, Vec<u8>)>,
}

impl FrameQueue {
    /// None has come; the first one is 1.
    pub fn new() -> FrameQueue {
        FrameQueue { next: 1, early: BTreeMap::new(), end: None }
    }

    /// One has come, perhaps again.
    pub fn add(&mut self, number: u64, content: Vec<u8>) {
        if number >= self.next {
            self.early.insert(number, content);
        }
    }

    /// The next one, if it is here, and its number.
    pub fn pop(&mut self) -> Option<(u64, Vec<u8>)> {
        let content = self.early.remove(&self.next)?;
        self.next += 1;
        let early = self.early.keys().next();
        debug_assert!(early.is_none_or(|early| *early >= self.next), "frame {early:?} was passed on: {}", self.next);
        Some((self.next - 1, content))
    }

    /// The last number that was passed on.
    pub fn through(&self) -> u64 {
        self.next - 1
    }

    /// The highest number that has come.
    pub fn latest(&self) -> u64 {
        self.early.keys().next_back().copied().unwrap_or(0).max(self.through())
    }

    /// There are so many, and these are the agent's last words.
    pub fn finish(&mut self, frames: u64, words: Vec<u8>) {
        self.end = Some((frames, words));
    }

    /// Whether the last words are here and some frame is not.
    pub fn is_finishing(&self) -> bool {
        self.end.is_some()
    }

    /// The last words, once, when all frames were passed on.
    pub fn take_end(&mut self) -> Option<Vec<u8>> {
        let next = self.next;
        self.end.take_if(|(frames, _)| next > *frames).map(|(_, words)| words)
    }
}
