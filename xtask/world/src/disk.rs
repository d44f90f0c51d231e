//! The disk of a world: a folder in memory where there is one, and a limit of the kernel on the size of files.
//!
//! A limit holds for the whole process, so one world has the disk at a time, and nothing else is to be written
//! meanwhile. Where a limit is set the signal that comes with it is caught, because it would end the process.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use rustix::process::{Resource, Rlimit, getpid, getrlimit, setrlimit};
use tokio::signal::unix::{SignalKind, signal};

static TURN: Mutex<()> = Mutex::new(());

/// The disk, for as long as this is held.
pub(crate) struct Disk {
    folder: PathBuf,
    _turn: MutexGuard<'static, ()>,
}

impl Disk {
    /// Waits for its turn; the folder is empty.
    pub(crate) fn take() -> Disk {
        // A world that failed left the disk as good as another.
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let memory = Path::new("/dev/shm");
        let root = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        let folder = root.join(format!("onrush-world-{}", getpid().as_raw_nonzero()));
        let _none_yet = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder of its own can be made");
        Disk { folder, _turn: turn }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _gone_already = std::fs::remove_dir_all(&self.folder);
    }
}

/// No file may grow past a size, until this is dropped.
pub(crate) struct Limit(Rlimit);

impl Limit {
    pub(crate) fn set(bytes: u64) -> Result<Limit, String> {
        catch_signal()?;
        let before = getrlimit(Resource::Fsize);
        setrlimit(Resource::Fsize, Rlimit { current: Some(bytes), maximum: before.maximum })
            .map_err(|error| format!("the size of files cannot be limited: {error}"))?;
        Ok(Limit(before))
    }
}

impl Drop for Limit {
    fn drop(&mut self) {
        let set = setrlimit(Resource::Fsize, Rlimit { ..self.0 });
        debug_assert!(set.is_ok(), "the limit that was there is allowed");
    }
}

/// Tokio's handler stays once it is there.
fn catch_signal() -> Result<(), String> {
    static CAUGHT: OnceLock<Result<(), String>> = OnceLock::new();
    let catch = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        runtime.block_on(async { signal(SignalKind::from_raw(libc::SIGXFSZ)).map(drop) }).map_err(|e| e.to_string())
    };
    CAUGHT.get_or_init(catch).clone()
}
