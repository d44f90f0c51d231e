//! Seconds that an agent has closed: in its journal, and where that cannot be written in memory, until the coordinator
//! has them. Files of messages come behind the last second, piece by piece.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use fleet::{Frames, message};

use crate::commands::fleet::content::{Brought, MessagePiece, Second};
use crate::commands::run::saved::frames;
use crate::commands::run::saved::part::PartCounts;

/// Where one is.
enum FramePlace {
    /// In the journal, from this byte on; users and iterations are not in it.
    Journal(u64, PartCounts),
    /// Nowhere else.
    Memory(Vec<u8>),
    /// In a file of messages: which, from this byte on.
    Messages(u32, u64),
}

#[derive(Default)]
struct Inner {
    journal: PathBuf,
    places: BTreeMap<u64, FramePlace>,
    /// Files of messages.
    messages: Vec<PathBuf>,
}

/// Bytes of such a file in a frame.
const PIECE: u64 = 64 << 10;

/// Written by the part, read by the agent's connection.
#[derive(Clone, Default)]
pub struct KeptFrames(Arc<Mutex<Inner>>);

impl KeptFrames {
    /// Those of a journal that has begun.
    pub fn in_journal(&self, path: &Path) {
        self.lock().journal = path.to_owned();
    }

    /// The next one, which the journal has from this byte on; none: it does not have it.
    pub fn add(&self, second: Second, at: Option<u64>) {
        let mut inner = self.lock();
        let number = inner.places.keys().next_back().map_or(1, |last| last + 1);
        let place = match at {
            Some(at) if !second.interval.is_empty() => FramePlace::Journal(at, second.live),
            _ => FramePlace::Memory(message::encode(&Brought::Second(second))),
        };
        inner.places.insert(number, place);
    }

    /// A file of messages that is whole, behind all seconds; in how many frames.
    pub fn add_messages(&self, path: PathBuf) -> u64 {
        let size = std::fs::metadata(&path).map_or(0, |found| found.len());
        let mut inner = self.lock();
        let file = inner.messages.len() as u32;
        inner.messages.push(path);
        let last = inner.places.keys().next_back().copied().unwrap_or(0);
        let pieces = size.div_ceil(PIECE);
        inner.places.extend((0..pieces).map(|at| (last + 1 + at, FramePlace::Messages(file, at * PIECE))));
        pieces
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Frames for KeptFrames {
    fn frame(&mut self, number: u64) -> Option<Vec<u8>> {
        let inner = self.lock();
        match inner.places.get(&number)? {
            FramePlace::Memory(content) => Some(content.clone()),
            FramePlace::Journal(at, live) => {
                let mut file = File::open(&inner.journal).ok()?;
                file.seek(SeekFrom::Start(*at)).ok()?;
                let interval = frames::read(&mut BufReader::new(file)).ok().flatten()?;
                Some(message::encode(&Brought::Second(Second { live: live.clone(), interval })))
            }
            FramePlace::Messages(file, at) => {
                let mut bytes = Vec::new();
                let mut open = File::open(inner.messages.get(*file as usize)?).ok()?;
                open.seek(SeekFrom::Start(*at)).ok()?;
                open.take(PIECE).read_to_end(&mut bytes).ok()?;
                Some(message::encode(&Brought::Messages(MessagePiece { file: *file, bytes })))
            }
        }
    }
}
