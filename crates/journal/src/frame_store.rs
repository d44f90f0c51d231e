//! Seconds that an agent has closed: in its journal, and where that cannot be written in memory, until the coordinator
//! has them. Files of messages come behind the last second, piece by piece.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::frames;
use crate::part::PartCounts;
use crate::part_journal::ClosedSecond;
use crate::second::{AgentFrame, AgentSecond, MessagePiece};

/// Where a frame is.
enum FramePlace {
    /// In the journal, from this byte on; users and iterations are not in it.
    Journal(u64, PartCounts),
    /// Here and nowhere else.
    Memory(Vec<u8>),
    /// In a file of messages: which, from this byte on.
    Messages(u32, u64),
}

#[derive(Default)]
struct Inner {
    journal: PathBuf,
    /// Of each frame, from the first one on.
    places: Vec<FramePlace>,
    /// Files of messages, by number.
    messages: Vec<PathBuf>,
}

/// Bytes of such a file in a frame.
const PIECE: u64 = 64 << 10;

/// Written by the part, read by the agent's connection.
#[derive(Clone, Default)]
pub struct FrameStore(Arc<Mutex<Inner>>);

impl FrameStore {
    /// From now on seconds are those of this journal.
    pub fn in_journal(&self, path: &Path) {
        self.lock().journal = path.to_owned();
    }

    /// A second that was closed, behind those in which the part stood still; in how many frames.
    pub fn add(&self, live: &PartCounts, second: ClosedSecond) -> u64 {
        let ClosedSecond { skipped, interval, at, .. } = second;
        let in_memory = |interval: Vec<u8>| {
            let second = AgentSecond { live: live.clone(), interval };
            FramePlace::Memory(AgentFrame::Second(second).to_bytes())
        };
        let mut inner = self.lock();
        assert!(inner.messages.is_empty(), "seconds come before files of messages");
        let last = inner.places.iter().rev().find_map(|place| match place {
            FramePlace::Journal(at, _) => Some(*at),
            FramePlace::Memory(_) | FramePlace::Messages(..) => None,
        });
        assert!(last.zip(at).is_none_or(|(last, at)| last < at), "a journal grows: {last:?}, then {at:?}");
        (0..skipped).for_each(|_| inner.places.push(in_memory(Vec::new())));
        inner.places.push(match at {
            Some(at) => FramePlace::Journal(at, live.clone()),
            None => in_memory(interval),
        });
        skipped + 1
    }

    /// A file of messages that is whole, behind all seconds; in how many frames.
    pub fn add_messages(&self, path: PathBuf) -> u64 {
        let size = std::fs::metadata(&path).map_or(0, |found| found.len());
        let mut inner = self.lock();
        let file = inner.messages.len() as u32;
        inner.messages.push(path);
        let pieces = size.div_ceil(PIECE);
        debug_assert!(pieces.saturating_mul(PIECE) >= size, "{pieces} pieces hold {size} bytes");
        (0..pieces).for_each(|at| inner.places.push(FramePlace::Messages(file, at * PIECE)));
        pieces
    }

    /// The content of a frame, numbered from 1 on; none when it cannot be read any more.
    pub fn frame(&self, number: u64) -> Option<Vec<u8>> {
        let inner = self.lock();
        match inner.places.get(usize::try_from(number).ok()?.checked_sub(1)?)? {
            FramePlace::Memory(content) => Some(content.clone()),
            FramePlace::Journal(at, live) => {
                let mut file = File::open(&inner.journal).ok()?;
                file.seek(SeekFrom::Start(*at)).ok()?;
                let interval = frames::read(&mut BufReader::new(file)).ok().flatten()?;
                Some(AgentFrame::Second(AgentSecond { live: live.clone(), interval }).to_bytes())
            }
            FramePlace::Messages(file, at) => {
                let mut bytes = Vec::new();
                let mut open = File::open(inner.messages.get(*file as usize)?).ok()?;
                open.seek(SeekFrom::Start(*at)).ok()?;
                open.take(PIECE).read_to_end(&mut bytes).ok()?;
                Some(AgentFrame::Messages(MessagePiece { file: *file, bytes }).to_bytes())
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
