//! `--save-messages`: received messages, a gzip file of JSON lines for each worker, written behind the load's back.
//!
//! A worker puts lines into a chunk and hands chunks to a thread of its own, which compresses and writes them. Nothing
//! waits for that thread: what it cannot take is lost and counted. It opens the file too, because even that may hang.
//! Invariants: at most `MOST_QUEUED` bytes and a chunk lie in memory for a worker; each line is written or counted as
//! dropped.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use report::document::MessageLogs;
use script::log::Level;
use script::message_sink::{MessageLines, MessageSink};

use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::log::Logger;

/// The folder of the files, in the result's directory.
pub const FOLDER: &str = "messages";
/// The messages of all agents of a fleet.
pub const OF_AGENTS: &str = "agents.jsonl.gz";
/// How the name of a file begins that an agent has sent, and how it ends.
pub const OF_AGENT: &str = "agent-";
/// See above.
pub const PART: &str = ".part";
/// Lines are handed over in chunks of about this size.
const CHUNK: usize = 64 << 10;
/// A chunk is handed over with the first line that comes so long after its first.
const CHUNK_AGE: Duration = Duration::from_millis(500);
/// Bytes that wait for a writer at most.
const MOST_QUEUED: usize = 16 << 20;
/// How long the end of the test waits for a writer that makes no progress.
const PATIENCE: Duration = Duration::from_secs(2);

/// The logs of all workers.
pub struct Messages {
    dir: PathBuf,
    log: Arc<Logger>,
    writers: Mutex<Vec<Writer>>,
    /// Something could not be written; said already.
    failed: Arc<AtomicBool>,
    /// The agent of a fleet whose messages these are.
    agent: Option<u32>,
}

/// A worker's file, as the end of the test sees it.
struct Writer {
    name: String,
    tray: Arc<Tray>,
    ended: Receiver<()>,
}

/// The figures of one file.
#[derive(Default)]
struct Tally {
    /// Lines that came.
    taken: AtomicU64,
    /// Lines in a file that is whole.
    written: AtomicU64,
    /// Bytes that wait for the writer.
    queued: AtomicUsize,
}

enum Chunk {
    Lines { bytes: Vec<u8>, count: u64 },
    End,
}

impl Messages {
    /// Makes the folder, without the files of an earlier run. Called before the test.
    pub fn prepare(result: &Path, log: Arc<Logger>) -> Result<Arc<Messages>, Failure> {
        Self::prepare_of(None, result, log)
    }

    /// The same for an agent of a fleet, in its own folder: each line has its number.
    pub fn prepare_of(agent: Option<u32>, result: &Path, log: Arc<Logger>) -> Result<Arc<Messages>, Failure> {
        let dir = prepare(result)?;
        Ok(Arc::new(Messages { dir, log, writers: Mutex::default(), failed: Arc::default(), agent }))
    }

    /// Ends all files, when no worker runs any more. A writer that hangs is left behind after a while, and what it has
    /// counts as dropped. The second value: whether everything was written that could be kept up with.
    pub fn finish(&self) -> (MessageLogs, bool) {
        let writers = std::mem::take(&mut *self.writers.lock().unwrap_or_else(PoisonError::into_inner));
        writers.iter().for_each(|writer| writer.tray.end());
        for writer in writers.iter().filter(|writer| !writer.ends()) {
            self.complaint(&writer.name).say(&format!("the file took nothing for {PATIENCE:?}"));
        }
        let sum =
            |of: fn(&Tally) -> &AtomicU64| writers.iter().map(|w| of(&w.tray.tally).load(Ordering::Relaxed)).sum();
        let (taken, written): (u64, u64) = (sum(|tally| &tally.taken), sum(|tally| &tally.written));
        let files = writers.into_iter().map(|writer| format!("{FOLDER}/{}", writer.name)).collect();
        let logs = MessageLogs { files, written, dropped: taken.saturating_sub(written) };
        (logs, !self.failed.load(Ordering::Relaxed))
    }

    fn complaint(&self, name: &str) -> Complaint {
        Complaint { path: self.dir.join(name), failed: Arc::clone(&self.failed), log: Arc::clone(&self.log) }
    }
}

impl Writer {
    /// Waits for its end as long as it gets on.
    fn ends(&self) -> bool {
        let (mut queued, mut since) = (usize::MAX, Instant::now());
        while self.ended.recv_timeout(PATIENCE / 20).is_err() {
            let now = self.tray.tally.queued.load(Ordering::Relaxed);
            if now != queued {
                (queued, since) = (now, Instant::now());
            } else if since.elapsed() >= PATIENCE {
                return false;
            }
        }
        true
    }
}

/// How a file's failure is reported: once for all of them.
struct Complaint {
    path: PathBuf,
    failed: Arc<AtomicBool>,
    log: Arc<Logger>,
}

impl Complaint {
    fn say(&self, why: &str) {
        if !self.failed.swap(true, Ordering::Relaxed) {
            let text =
                format!("cannot write messages to {}: {why}; messages are missing in the result", self.path.display());
            self.log.write(Level::Error, &text, &[]);
        }
    }
}

/// Makes the folder in the directory of a result, without the files of an earlier run.
pub fn prepare(result: &Path) -> Result<PathBuf, Failure> {
    let dir = result.join(FOLDER);
    let made = prepare_folder(&dir).map_err(|error| {
        let text = format!(
            "--save-messages: cannot prepare {}: {error}; give --save a directory that can be written",
            dir.display()
        );
        Failure::new(ExitCode::ResultNotWritten, text)
    });
    made.map(|()| dir)
}

fn prepare_folder(dir: &Path) -> io::Result<()> {
    std::fs::create_dir_all(dir)?;
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        let is_ours = name.to_str().is_some_and(is_log);
        // What is no plain file was put there on purpose, as a pipe to somebody who reads along.
        if is_ours && entry.file_type()?.is_file() {
            std::fs::remove_file(entry.path())?;
        }
    }
    let probe = dir.join(format!(".onrush-{}", std::process::id()));
    std::fs::write(&probe, b"")?;
    std::fs::remove_file(&probe)
}

/// Whether a file of this name is a log of an earlier run, or a part of one on its way from an agent.
fn is_log(name: &str) -> bool {
    let of_worker = name.starts_with("worker-") && name.ends_with(".jsonl.gz");
    of_worker || name == OF_AGENTS || name.starts_with(OF_AGENT) && name.ends_with(PART)
}

impl MessageSink for Messages {
    fn open(&self) -> Box<dyn MessageLines> {
        let mut writers = self.writers.lock().unwrap_or_else(PoisonError::into_inner);
        let name = format!("worker-{}.jsonl.gz", writers.len() + 1);
        let (chunks, queue) = channel();
        let (ending, ended) = channel();
        let tally = Arc::<Tally>::default();
        let work = Work { queue, tally: Arc::clone(&tally), complaint: self.complaint(&name) };
        let thread = std::thread::Builder::new().name(String::from("messages")).spawn(move || {
            work.run();
            let _nobody_waits = ending.send(());
        });
        if let Err(error) = thread {
            self.complaint(&name).say(&format!("no thread to write with: {error}"));
        }
        let tray = Arc::new(Tray { pending: Mutex::default(), chunks, tally });
        writers.push(Writer { name, tray: Arc::clone(&tray), ended });
        Box::new(Lines { tray, agent: self.agent })
    }
}

/// What a worker puts its lines into.
struct Lines {
    tray: Arc<Tray>,
    agent: Option<u32>,
}

/// The lines of a worker that its writer does not have yet. The end of the test takes them too, when users may still be
/// there.
struct Tray {
    pending: Mutex<Pending>,
    chunks: Sender<Chunk>,
    tally: Arc<Tally>,
}

#[derive(Default)]
struct Pending {
    bytes: Vec<u8>,
    count: u64,
    /// When the first of them came.
    began: Option<Instant>,
}

impl Tray {
    fn pending(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands the lines over, or loses them.
    fn pass_on(&self, pending: &mut Pending) {
        let Pending { bytes, count, .. } = std::mem::take(pending);
        if count == 0 || self.tally.queued.load(Ordering::Relaxed) + bytes.len() > MOST_QUEUED {
            return;
        }
        self.tally.queued.fetch_add(bytes.len(), Ordering::Relaxed);
        let _writer_has_ended = self.chunks.send(Chunk::Lines { bytes, count });
    }

    /// Nothing more is written.
    fn end(&self) {
        self.pass_on(&mut self.pending());
        let _writer_has_ended = self.chunks.send(Chunk::End);
    }
}

impl MessageLines for Lines {
    fn put(&self, line: &[u8]) {
        let Lines { tray, agent } = self;
        tray.tally.taken.fetch_add(1, Ordering::Relaxed);
        // Nobody else is there before the end of the test: it costs what an atomic does.
        let mut pending = tray.pending();
        let now = Instant::now();
        let began = *pending.began.get_or_insert(now);
        // Behind the time, which comes first.
        let (time, rest) = line.split_at(line.iter().position(|byte| *byte == b',').unwrap_or_default());
        pending.bytes.extend_from_slice(time);
        if let Some(agent) = agent {
            pending.bytes.extend_from_slice(format!(",\"agent\":{agent}").as_bytes());
        }
        pending.bytes.extend_from_slice(rest);
        pending.count += 1;
        if pending.bytes.len() >= CHUNK || now.duration_since(began) >= CHUNK_AGE {
            tray.pass_on(&mut pending);
        }
    }
}

/// What a writer's thread does.
struct Work {
    queue: Receiver<Chunk>,
    tally: Arc<Tally>,
    complaint: Complaint,
}

impl Work {
    /// Writes until the end of the test. After a failure it only makes room.
    fn run(&self) {
        let mut file = File::create(&self.complaint.path)
            .map(|file| GzEncoder::new(BufWriter::with_capacity(CHUNK, file), Compression::fast()))
            .map_err(|error| self.failed(&error))
            .ok();
        let mut written = 0;
        while let Ok(Chunk::Lines { bytes, count }) = self.queue.recv() {
            if let Some(open) = &mut file {
                match open.write_all(&bytes) {
                    Ok(()) => written += count,
                    Err(error) => {
                        self.failed(&error);
                        file = None;
                    }
                }
            }
            self.tally.queued.fetch_sub(bytes.len(), Ordering::Relaxed);
        }
        let Some(file) = file else { return };
        // Only now is it known that the compressor's last bytes are in the file.
        match file.finish().and_then(|mut buffer| buffer.flush()) {
            Ok(()) => drop(self.tally.written.fetch_add(written, Ordering::Relaxed)),
            Err(error) => self.failed(&error),
        }
    }

    fn failed(&self, error: &io::Error) {
        self.complaint.say(&error.to_string());
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};

    use flate2::read::GzDecoder;

    use super::*;
    use crate::log::LogFlags;

    /// While nobody reads the pipe, a bounded part of what comes is kept; when somebody does, that part is whole.
    #[test]
    fn what_the_file_does_not_take_is_bounded_and_counted() {
        let result = std::env::temp_dir().join(format!("onrush-messages-{}", std::process::id()));
        let log = Arc::new(Logger::new(&LogFlags::default()).unwrap());
        let messages = Messages::prepare(&result, log).unwrap();
        let pipe = result.join("messages/worker-1.jsonl.gz");
        let fifo = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, fifo, rustix::fs::Mode::RWXU, 0).unwrap();
        let lines = messages.open();
        let line = [&[b'x'; 99_999][..], b"\n"].concat();
        (0..400).for_each(|_| lines.put(&line));
        let queued = messages.writers.lock().unwrap()[0].tray.tally.queued.load(Ordering::Relaxed);
        assert!(queued > MOST_QUEUED - line.len() && queued <= MOST_QUEUED, "{queued}");
        let reader = std::thread::spawn(move || {
            BufReader::new(GzDecoder::new(File::open(pipe).unwrap())).lines().map(Result::unwrap).count()
        });
        let (logs, is_whole) = messages.finish();
        assert_eq!(reader.join().unwrap() as u64, logs.written);
        assert_eq!((logs.written + logs.dropped, is_whole), (400, true));
        assert_eq!(logs.files, ["messages/worker-1.jsonl.gz"]);
        assert!(logs.written >= (MOST_QUEUED / line.len()) as u64 && logs.dropped > 0, "{logs:?}");
        std::fs::remove_dir_all(result).unwrap();
    }
}
