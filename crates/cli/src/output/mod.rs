//! Standard output and standard error of this process. A thread of its own writes to each, so that a reader who is slow
//! or gone never holds up the load, nor keeps a signal from ending the run.
//!
//! The two are one stream when they lead to one file, as on a terminal or after `2>&1`: order is kept there, and the
//! progress is drawn again below each line. What a command was asked for goes out by `print`, once nothing else is left
//! to do.

mod full_screen;
mod picture;
mod queue;
pub mod raw;
mod stream;
mod terminal;

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::process;

pub use picture::{Live, draw, full_bar};
pub use stream::Stream;
pub use terminal::Size;

struct Standard {
    output: Stream,
    error: Stream,
}

/// Standard output.
pub fn stdout() -> &'static Stream {
    &standard().output
}

/// Standard error.
pub fn stderr() -> &'static Stream {
    &standard().error
}

/// Prints what a command was asked for, behind all that waits in the streams, and waits for its reader as long as it
/// takes. A reader that has gone, as `head` does, has had enough.
pub fn print(text: &str) -> io::Result<()> {
    finish();
    if WERE_CLOSED[0].load(Ordering::Relaxed) {
        return Err(rustix::io::Errno::BADF.into());
    }
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// Prints what a command was asked for, which is all that it does.
pub fn answer(text: &str) -> Result<ExitCode, Failure> {
    let failed = |error| Failure::new(ExitCode::ResultNotWritten, format!("cannot write to standard output: {error}"));
    print(text).map_err(failed).map(|()| ExitCode::Ok)
}

/// Waits for slow readers, before the process ends.
pub fn finish() {
    leave_screen();
    if let Some(Standard { output, error }) = STANDARD.get() {
        let _whoever_needs_it_has_asked = output.drain();
        let _nowhere_left_to_say_so = error.drain();
    }
}

/// The same when the process has to end now.
pub fn finish_at_once() {
    leave_screen();
    if let Some(Standard { output, error }) = STANDARD.get() {
        let _is_written = [output, error].map(|stream| stream.drain_within(MOMENT, MOMENT));
    }
}

/// Gives the terminal back as it was, where a screen has it.
pub fn leave_screen() {
    if let Some(Standard { output, error }) = STANDARD.get() {
        [output, error].iter().for_each(|stream| stream.close_scene_at_once(MOMENT));
    }
    raw::end();
}

/// What a reader that keeps up needs at most.
const MOMENT: Duration = Duration::from_millis(30);

static STANDARD: OnceLock<Standard> = OnceLock::new();

fn standard() -> &'static Standard {
    STANDARD.get_or_init(|| {
        let (output, error) = (io::stdout(), io::stderr());
        let [is_open, is_error_open] = WERE_CLOSED.each_ref().map(|closed| !closed.load(Ordering::Relaxed));
        let first = open("standard output", &output, is_open);
        let second = match is_open && is_error_open && is_one_file(&output, &error) {
            true => first.clone(),
            false => open("standard error", &error, is_error_open),
        };
        Standard { output: first, error: second }
    })
}

/// Whether standard output and standard error were closed when the process began.
static WERE_CLOSED: [AtomicBool; 2] = [const { AtomicBool::new(false) }; 2];

ctor::declarative::ctor! {
    /// Before `main` begins, and with it Rust's library, nothing has been opened in place of a closed stream, and no
    /// block has been refused.
    #[ctor(unsafe)]
    fn before_main() {
        process::resources::end_in_words();
        let folder = Path::new("/proc/self/fd");
        for (closed, name) in WERE_CLOSED.iter().zip(["1", "2"]) {
            closed.store(folder.exists() && folder.join(name).symlink_metadata().is_err(), Ordering::Relaxed);
        }
    }
}

fn open(name: &'static str, stream: &(impl AsFd + IsTerminal), was_open: bool) -> Stream {
    let descriptor = match was_open {
        true => stream.as_fd().try_clone_to_owned(),
        false => Err(rustix::io::Errno::BADF.into()),
    };
    match descriptor {
        Ok(descriptor) => Stream::new(name, File::from(descriptor), stream.is_terminal() && understands_escapes()),
        Err(error) => Stream::closed(name, &error),
    }
}

fn is_one_file(one: &impl AsFd, other: &impl AsFd) -> bool {
    let id = |file: &dyn AsFd| rustix::fs::fstat(file.as_fd()).map(|stat| (stat.st_dev, stat.st_ino)).ok();
    id(one).is_some_and(|found| id(other) == Some(found))
}

/// Terminals that understand no escape codes say so by their name.
fn understands_escapes() -> bool {
    std::env::var("TERM").is_ok_and(|name| !name.is_empty() && name != "dumb")
}
