//! A file descriptor with a thread that writes to it. Whoever has something to write leaves it in a queue and
//! continues.
//!
//! Nothing waits for the thread but `drain`, and that only for so long as something moves. When a write fails, what
//! comes later is lost, lines are counted, and the first error is kept to be told.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};

use super::full_screen;
use super::picture::Live;
use super::queue::{Item, Notice, Queue};
use super::terminal::{Size, Terminal};
use crate::live::Scene;

/// How long a reader may take nothing before it counts as gone.
const PATIENCE: Duration = Duration::from_secs(2);
/// The same on a terminal, where somebody may have stopped the output to read it.
const PATIENCE_OF_TERMINAL: Duration = Duration::from_secs(60);
/// How long the end of the process waits for a reader that is slow, but not gone.
const LONGEST: Duration = Duration::from_secs(5);
/// Bytes of one write: small enough that a slow reader is seen to move.
const PIECE: usize = 8 << 10;

/// Where text goes. Clones lead to the same place.
#[derive(Clone)]
pub struct Stream(Arc<Shared>);

struct Shared {
    name: String,
    /// Escape codes are understood there.
    is_terminal: bool,
    file: Option<File>,
    /// A scene fills the window, or is about to.
    has_scene: AtomicBool,
    state: Mutex<State>,
    work: Condvar,
    moved: Condvar,
}

struct State {
    queue: Queue,
    /// The thread waits for work.
    is_idle: bool,
    /// The thread is writing.
    is_busy: bool,
    /// When something moved last, or began to wait.
    since: Instant,
    failure: Option<String>,
}

impl Stream {
    /// Starts the thread. `is_terminal`: a picture may be drawn there in place.
    pub fn new(name: impl Into<String>, file: File, is_terminal: bool) -> Stream {
        let stream = Stream::made(name.into(), Some(file), is_terminal);
        let writer = stream.clone();
        if let Err(error) = std::thread::Builder::new().name(String::from("output")).spawn(move || writer.write_on()) {
            stream.state().failure = Some(format!("no thread to write with: {error}"));
        }
        stream
    }

    /// What is written there is lost.
    pub fn closed(name: impl Into<String>, error: &io::Error) -> Stream {
        let stream = Stream::made(name.into(), None, false);
        stream.state().failure = Some(error.to_string());
        stream
    }

    fn made(name: String, file: Option<File>, is_terminal: bool) -> Stream {
        let state =
            State { queue: Queue::default(), is_idle: false, is_busy: false, since: Instant::now(), failure: None };
        let (state, work, moved) = (Mutex::new(state), Condvar::new(), Condvar::new());
        Stream(Arc::new(Shared { name, is_terminal, file, has_scene: AtomicBool::new(false), state, work, moved }))
    }

    /// What people call it.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Whether escape codes are understood there: colours, and a picture in place.
    pub fn is_terminal(&self) -> bool {
        self.0.is_terminal
    }

    /// Columns and rows, where it is a terminal.
    pub fn size(&self) -> Option<Size> {
        self.0.file.as_ref().filter(|_| self.0.is_terminal).map(Size::of)
    }

    /// Sets how dropped lines are reported there.
    pub fn set_notice(&self, notice: Notice) {
        self.state().queue.set_notice(notice);
    }

    /// Writes a line of the log, its line end included; drops and counts it when too many wait.
    pub fn line(&self, line: &[u8]) {
        self.put(|queue| queue.line(line));
    }

    /// Writes what must not be lost.
    pub fn print(&self, bytes: &[u8]) {
        self.put(|queue| queue.own(bytes));
    }

    /// Writes what is useless when others wait already.
    pub fn pass(&self, bytes: &[u8]) {
        self.put(|queue| queue.passing(bytes));
    }

    /// Shows this below everything else, on a terminal.
    pub fn show(&self, live: Live) {
        self.put(|queue| queue.live(live));
    }

    /// Fills the window with a scene, until it is closed; what is written meanwhile goes out then. Once closed, it
    /// stays closed: what draws scenes may be at it while the process ends.
    pub fn show_scene(&self, scene: Scene) {
        self.put(|queue| {
            if queue.scene(scene) {
                self.0.has_scene.store(true, Ordering::SeqCst);
            }
        });
    }

    /// Gives the window back.
    pub fn close_scene(&self) {
        self.put(Queue::close_scene);
    }

    /// Whether a scene fills the window, or will in a moment.
    pub fn has_scene(&self) -> bool {
        self.0.has_scene.load(Ordering::SeqCst)
    }

    /// Gives the window back before the process ends, also when the thread that writes no longer can.
    pub fn close_scene_at_once(&self, patience: Duration) {
        self.close_scene();
        if self.has_scene() {
            let _written = self.drain_within(patience, patience);
        }
        if self.0.has_scene.swap(false, Ordering::SeqCst) {
            let _gone = self.0.file.as_ref().map(|file| write(file, full_screen::CLOSE));
        }
    }

    /// Wipes what is shown.
    pub fn clear(&self) {
        self.put(Queue::clear);
    }

    /// Leaves what is shown where it stands.
    pub fn settle(&self) {
        self.put(Queue::settle);
    }

    /// Lines that were dropped or could not be written.
    pub fn dropped(&self) -> u64 {
        self.state().queue.dropped()
    }

    /// Why nothing can be written any more.
    pub fn failure(&self) -> Option<String> {
        self.state().failure.clone()
    }

    /// Drops the lines that wait.
    pub fn discard(&self) {
        self.state().queue.discard();
    }

    /// Waits until everything is written, as long as something moves. Otherwise why it is not.
    pub fn drain(&self) -> Result<(), String> {
        match self.0.is_terminal {
            true => self.drain_within(PATIENCE_OF_TERMINAL, PATIENCE_OF_TERMINAL),
            false => self.drain_within(PATIENCE, LONGEST),
        }
    }

    /// The same, with limits: on a time in which nothing moves, and on all of it.
    pub fn drain_within(&self, patience: Duration, longest: Duration) -> Result<(), String> {
        let end = Instant::now() + longest;
        let mut state = self.state();
        loop {
            if let Some(failure) = &state.failure {
                return Err(failure.clone());
            }
            if !state.is_busy && state.queue.is_empty() {
                return Ok(());
            }
            let (now, last) = (Instant::now(), end.min(state.since + patience));
            if now >= last {
                return Err(String::from("nobody reads it, or too slowly"));
            }
            state = self.0.moved.wait_timeout(state, last - now).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, add: impl FnOnce(&mut Queue)) {
        let mut state = self.state();
        if state.queue.is_empty() && !state.is_busy {
            state.since = Instant::now();
        }
        add(&mut state.queue);
        if state.failure.is_some() {
            let items = state.queue.take();
            state.queue.lost(&items);
        }
        // Waking costs a system call, also when nobody sleeps.
        if std::mem::take(&mut state.is_idle) {
            self.0.work.notify_one();
        }
    }

    /// What the thread does.
    fn write_on(&self) {
        let Some(file) = &self.0.file else { return };
        let mut terminal = self.0.is_terminal.then(Terminal::default);
        loop {
            let items = self.next();
            let bytes = match &mut terminal {
                Some(terminal) => terminal.render(&items, Size::of(file)),
                None => plain(&items),
            };
            let written = bytes.chunks(PIECE).try_for_each(|piece| {
                write(file, piece)?;
                self.state().since = Instant::now();
                self.0.moved.notify_all();
                Ok(())
            });
            if let Some(terminal) = terminal.as_ref().filter(|terminal| terminal.decides_of_scene(&items)) {
                self.0.has_scene.store(terminal.is_full(), Ordering::SeqCst);
            }
            if let Err(error) = written {
                self.fail(&error, &items);
            }
        }
    }

    fn next(&self) -> Vec<Item> {
        let mut state = self.state();
        state.is_busy = false;
        loop {
            let items = state.queue.take();
            if !items.is_empty() {
                state.is_busy = true;
                return items;
            }
            self.0.moved.notify_all();
            state.is_idle = true;
            state = self.0.work.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn fail(&self, error: &io::Error, items: &[Item]) {
        let mut state = self.state();
        state.queue.lost(items);
        state.queue.discard();
        state.failure.get_or_insert_with(|| error.to_string());
        self.0.moved.notify_all();
    }
}

/// The bytes where nothing is drawn in place.
fn plain(items: &[Item]) -> Vec<u8> {
    let texts = items.iter().filter_map(|item| match item {
        Item::Lines { bytes, .. } | Item::Own(bytes) => Some(bytes.as_slice()),
        _ => None,
    });
    texts.collect::<Vec<_>>().concat()
}

/// Writes all of it, also where somebody else has made the descriptor non-blocking.
fn write(mut file: &File, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => bytes = &bytes[count..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                poll(&mut [PollFd::new(&file.as_fd(), PollFlags::OUT)], None)?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn pair() -> (Stream, File) {
        let (reader, writer) = io::pipe().unwrap();
        let into = |descriptor: std::os::fd::OwnedFd| File::from(descriptor);
        (Stream::new("the test", into(writer.into()), false), into(reader.into()))
    }

    #[test]
    fn order_is_kept_and_the_end_is_waited_for() {
        let (stream, mut reader) = pair();
        (0..5000).for_each(|number| stream.line(format!("line {number}\n").as_bytes()));
        stream.print(b"summary\n");
        let reading = std::thread::spawn(move || {
            let mut text = vec![0; 5000 * 10 - 1110 + 8];
            reader.read_exact(&mut text).unwrap();
            String::from_utf8(text).unwrap()
        });
        stream.drain().unwrap();
        let text = reading.join().unwrap();
        let expected: String =
            (0..5000).map(|number| format!("line {number}\n")).chain([String::from("summary\n")]).collect();
        assert_eq!(text, expected);
    }

    #[test]
    fn a_reader_that_reads_nothing_holds_nobody_up() {
        let (stream, reader) = pair();
        let line = [&[b'x'; 99_999][..], b"\n"].concat();
        (0..1000).for_each(|_| stream.line(&line));
        assert!(stream.dropped() > 500, "{}", stream.dropped());
        assert_eq!(stream.drain(), Err(String::from("nobody reads it, or too slowly")));
        drop(reader);
    }

    #[test]
    fn a_reader_that_has_gone_is_an_error() {
        let (stream, reader) = pair();
        drop(reader);
        stream.print(b"summary\n");
        let why = stream.drain().unwrap_err();
        assert!(why.starts_with("Broken pipe"), "{why}");
        stream.line(b"lost\n");
        assert_eq!(stream.dropped(), 1);
    }
}
