//! `--save-messages` of a fleet: each agent logs what its users receive, and sends its files when its part is over.
//! Here they become one, in the order in which messages arrived by the coordinator's clock; each line names its agent.
//!
//! Pieces are written as they come, before the agent hears that they are safe: what is on its way is bounded by the
//! agent's window, and what has come is on the disk. Merging reads a line of each file at a time. A part of a file
//! (of an agent that was lost) counts as far as it can be read.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use journal::{Members, MessagePiece};
use report::document::MessageLogs;
use script::log::Level;

use crate::failure::Failure;
use crate::log::Logger;
use crate::messages::{FOLDER, OF_AGENT, OF_AGENTS, PART, prepare};

/// Files that are read at a time: processes have few descriptors.
const AT_A_TIME: usize = 128;
/// Bytes of lines that are put in order at a time.
const WAITING: usize = 8 << 20;

/// Files of agents as they come.
#[derive(Clone)]
pub struct MessageFiles {
    dir: PathBuf,
    /// The first problem.
    problem: Arc<Mutex<Option<String>>>,
}

impl MessageFiles {
    /// In the directory of the result, in which there are none yet.
    pub fn prepare(result: &Path) -> Result<MessageFiles, Failure> {
        Ok(MessageFiles { dir: prepare(result)?, problem: Arc::default() })
    }

    /// A frame has come; where it is a piece of a file, that goes to the disk.
    pub fn take(&self, agent: u32, content: &[u8]) {
        let Some(MessagePiece { file, bytes }) = MessagePiece::of(content) else { return };
        let path = self.dir.join(format!("{OF_AGENT}{agent}-{file}{PART}"));
        let open = OpenOptions::new().create(true).append(true).open(&path);
        if let Err(error) = open.and_then(|mut open| open.write_all(&bytes)) {
            self.fail(&path, &error);
        }
    }

    fn fail(&self, path: &Path, error: &io::Error) {
        let mut problem = self.problem.lock().unwrap_or_else(PoisonError::into_inner);
        let text =
            || format!("cannot write messages to {}: {error}; messages are missing in the result", path.display());
        problem.get_or_insert_with(text);
    }

    /// One file of all; how many messages it has, and whether all are there that could be.
    pub fn merge(&self, members: &Members, log: &Logger) -> (MessageLogs, bool) {
        let path = self.dir.join(OF_AGENTS);
        let parts = self.parts();
        let written = merge_all(parts.clone(), &path).unwrap_or_else(|error| {
            self.fail(&path, &error);
            0
        });
        parts.iter().for_each(|part| drop(std::fs::remove_file(part)));
        let problem = self.problem.lock().unwrap_or_else(PoisonError::into_inner).clone();
        problem.iter().for_each(|problem| log.write(Level::Error, problem, &[]));
        let told = || members.ends().filter_map(|end| end.messages);
        let received: u64 = told().map(|told| told.written + told.dropped).sum();
        let dropped = received.saturating_sub(written);
        let logs = MessageLogs { files: vec![format!("{FOLDER}/{OF_AGENTS}")], written, dropped };
        (logs, problem.is_none() && told().all(|told| told.is_whole))
    }

    fn parts(&self) -> Vec<PathBuf> {
        let found = std::fs::read_dir(&self.dir).into_iter().flatten().flatten().map(|entry| entry.path());
        let is_part = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| name.starts_with(OF_AGENT) && name.ends_with(PART))
        };
        let mut parts: Vec<PathBuf> = found.filter(is_part).collect();
        parts.sort();
        parts
    }
}

/// Merges files into one, some at a time where they are many; how many lines it has.
fn merge_all(mut parts: Vec<PathBuf>, into: &Path) -> io::Result<u64> {
    let mut made = Vec::new();
    while parts.len() > AT_A_TIME {
        let some: Vec<PathBuf> = parts.drain(..AT_A_TIME).collect();
        let between = into.with_file_name(format!("{OF_AGENT}merged-{}{PART}", made.len()));
        merge(&some, &between)?;
        made.push(between.clone());
        parts.push(between);
    }
    let merged = merge(&parts, into);
    made.iter().for_each(|between| drop(std::fs::remove_file(between)));
    merged
}

fn merge(parts: &[PathBuf], into: &Path) -> io::Result<u64> {
    let mut readers = Vec::new();
    for part in parts {
        readers.push(BufReader::new(GzDecoder::new(BufReader::new(File::open(part)?))));
    }
    let mut heads = BinaryHeap::new();
    for (at, reader) in readers.iter_mut().enumerate() {
        heads.extend(line(reader).map(|line| Reverse((time(&line), at, line))));
    }
    let file = GzEncoder::new(BufWriter::new(File::create(into)?), Compression::fast());
    let mut sorted = Sorted { file, waiting: BinaryHeap::new(), bytes: 0, written: 0 };
    while let Some(Reverse((time_us, at, next))) = heads.pop() {
        sorted.add(time_us, next)?;
        heads.extend(line(&mut readers[at]).map(|line| Reverse((time(&line), at, line))));
    }
    sorted.write_down_to(0)?;
    sorted.file.finish()?.flush()?;
    Ok(sorted.written)
}

/// Puts lines in order that are nearly so: a worker logs a message when its handler has returned, and may have received
/// another one before.
struct Sorted<W: Write> {
    file: W,
    waiting: BinaryHeap<Reverse<(u64, u64, Vec<u8>)>>,
    /// Of the lines that wait.
    bytes: usize,
    written: u64,
}

impl<W: Write> Sorted<W> {
    fn add(&mut self, time_us: u64, line: Vec<u8>) -> io::Result<()> {
        self.bytes += line.len();
        // Of one time the first stays the first.
        let number = self.written + self.waiting.len() as u64;
        self.waiting.push(Reverse((time_us, number, line)));
        self.write_down_to(WAITING)
    }

    fn write_down_to(&mut self, bytes: usize) -> io::Result<()> {
        while self.bytes > bytes
            && let Some(Reverse((.., line))) = self.waiting.pop()
        {
            self.file.write_all(&line)?;
            self.bytes -= line.len();
            self.written += 1;
        }
        Ok(())
    }
}

/// The next whole line; none at the end, which may be early.
fn line(reader: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut line = Vec::new();
    reader.read_until(b'\n', &mut line).ok().filter(|_| line.ends_with(b"\n"))?;
    Some(line)
}

/// When a message arrived: the line begins with it.
fn time(line: &[u8]) -> u64 {
    let digits = line.iter().skip_while(|byte| !byte.is_ascii_digit()).take_while(|byte| byte.is_ascii_digit());
    digits.fold(0, |time, digit| time.saturating_mul(10).saturating_add(u64::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;
    use crate::process::private_folder::PrivateFolder;

    fn packed(lines: &str) -> Vec<u8> {
        let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
        packer.write_all(lines.as_bytes()).unwrap();
        packer.finish().unwrap()
    }

    fn unpacked(path: &Path) -> String {
        let mut text = String::new();
        GzDecoder::new(File::open(path).unwrap()).read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn many_files_become_one_by_the_time_of_arrival() {
        let folder = PrivateFolder::make().unwrap();
        let files = 2 * AT_A_TIME as u64 + 5;
        let parts: Vec<PathBuf> = (0..files)
            .map(|at| {
                let path = folder.path().join(format!("agent-{at}-0.part"));
                std::fs::write(&path, packed(&format!("{{\"t\":{at}}}\n{{\"t\":{}}}\n", 1_000 + at))).unwrap();
                path
            })
            .collect();
        let into = folder.path().join(OF_AGENTS);
        assert_eq!(merge_all(parts, &into).unwrap(), 2 * files);
        let expected = (0..files).chain(1_000..1_000 + files).map(|time| format!("{{\"t\":{time}}}\n"));
        assert_eq!(unpacked(&into), expected.collect::<String>());
    }

    #[test]
    fn lines_that_were_logged_late_are_put_in_order() {
        let folder = PrivateFolder::make().unwrap();
        let [part, into] = ["a", "b"].map(|name| folder.path().join(name));
        std::fs::write(&part, packed("{\"t\":3}\n{\"t\":1}\n{\"t\":2,\"a\":1}\n{\"t\":2,\"a\":0}\n")).unwrap();
        assert_eq!(merge(&[part], &into).unwrap(), 4);
        assert_eq!(unpacked(&into), "{\"t\":1}\n{\"t\":2,\"a\":1}\n{\"t\":2,\"a\":0}\n{\"t\":3}\n");
    }

    #[test]
    fn a_file_that_is_cut_counts_as_far_as_it_goes() {
        let folder = PrivateFolder::make().unwrap();
        let [whole, cut, into] = ["a", "b", "c"].map(|name| folder.path().join(name));
        std::fs::write(&whole, packed("{\"t\":5}\n")).unwrap();
        let long: String = (0..20_000).map(|time| format!("{{\"t\":{}}}\n", time * 7_919 % 100_003)).collect();
        let all = packed(&long);
        std::fs::write(&cut, &all[..all.len() / 2]).unwrap();
        let written = merge(&[whole, cut], &into).unwrap();
        assert!((1_000..20_000).contains(&written), "{written}");
        assert_eq!(unpacked(&into).lines().count() as u64, written);
        assert!(unpacked(&into).contains("{\"t\":5}\n"));
    }
}
