//! What the process needs of the machine before anything else: free descriptors.
//!
//! Some libraries panic where the system refuses them something: tokio for its signal pipe, the standard library for
//! the stack on which a thread hears that its own is full. Onrush asks beforehand, so that a limit is named as one, and
//! knows the words of such panics, so that they are not called bugs.

use std::fs::File;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::io::Errno;

use crate::exit_code::ExitCode;
use crate::failure::Failure;

/// Descriptors that every command may need at once: event loops, signals, standard streams, files it reads.
const DESCRIPTORS: usize = 32;

/// Whether there are enough free descriptors to begin.
pub fn check() -> Result<(), Failure> {
    let mut held = Vec::with_capacity(DESCRIPTORS);
    for _ in 0..DESCRIPTORS {
        match File::open("/dev/null") {
            Ok(file) => held.push(file),
            // Containers may lack the file; they do not lack descriptors then.
            Err(error) if !is_shortage(&error) => return Ok(()),
            Err(error) => {
                let found = held.len();
                let text = format!(
                    "too few file descriptors: found {found} free, expected at least {DESCRIPTORS} ({error}); raise \
                     the limit with 'ulimit -n'"
                );
                return Err(Failure::new(ExitCode::Generic, text));
            }
        }
    }
    Ok(())
}

fn is_shortage(error: &std::io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE))
}

/// Has the process end in words and with an exit code when it is refused a block of memory which it cannot do without.
/// Allocates nothing.
pub fn end_in_words() {
    const NO_MEMORY: &str = "onrush stops, because the machine refuses it memory: raise the limit with 'ulimit -v', or \
                             free some; what --save has written can be read\n";
    host::shortage::end_with(NO_MEMORY, ExitCode::Generic as u8);
}

/// Whether a panic was the machine's doing.
static IS_SHORT: AtomicBool = AtomicBool::new(false);

/// How a process ends that has panicked.
pub fn code_of_panic() -> ExitCode {
    if IS_SHORT.load(Ordering::Relaxed) { ExitCode::Generic } else { ExitCode::Panic }
}

/// What to say of a panic that the machine caused, which then ends the process with another code; none of any other.
pub fn shortage(panic: &str) -> Option<String> {
    const CAUSES: [(&str, &str); 7] = [
        ("Too many open files", "file descriptors: raise the limit with 'ulimit -n'"),
        ("failed to create UnixStream", "file descriptors: raise the limit with 'ulimit -n'"),
        ("alternative stack", "memory: raise the limit with 'ulimit -v', or free some"),
        ("out of memory", "memory: raise the limit with 'ulimit -v', or free some"),
        // zlib-rs.
        ("MemError", "memory: raise the limit with 'ulimit -v', or free some"),
        ("Cannot allocate memory", "memory: raise the limit with 'ulimit -v', or free some"),
        ("Resource temporarily unavailable", "threads: raise the limit with 'ulimit -u'"),
    ];
    let (_, what) = CAUSES.iter().find(|(words, _)| panic.contains(words))?;
    IS_SHORT.store(true, Ordering::Relaxed);
    Some(format!("onrush stops, because the machine refuses it {what}\n{panic}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortages_are_told_from_bugs() {
        let of_tokio = "panicked at signal/unix.rs:31:1:\nfailed to create UnixStream: Os { code: 24, kind: Other, \
                        message: \"Too many open files\" }";
        assert!(shortage(of_tokio).is_some_and(|text| text.contains("ulimit -n")));
        let of_std = "failed to set up alternative stack guard page: Cannot allocate memory (os error 12)";
        assert!(shortage(of_std).is_some_and(|text| text.contains("ulimit -v")));
        assert_eq!(shortage("index out of bounds: the len is 3 but the index is 4"), None);
    }

    #[test]
    fn there_are_enough_descriptors_here() {
        assert_eq!(check(), Ok(()));
    }
}
