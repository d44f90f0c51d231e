//! The thread that sends a journal as it grows.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use fleet::objects::{ShardPart, ShardStore};
use tokio::runtime::LocalRuntime;

/// Sends pieces of a file.
pub struct Uploader {
    look: Sender<()>,
    thread: std::io::Result<JoinHandle<Result<(), String>>>,
}

impl Uploader {
    /// Starts it.
    pub fn start(store: ShardStore, part: ShardPart, path: PathBuf) -> Uploader {
        let (look, looks) = channel();
        let thread = std::thread::Builder::new().name(String::from("shards"));
        let thread = thread.spawn(move || runtime()?.block_on(send(&store, &part, path, &looks)));
        Uploader { look, thread }
    }

    /// Something may have come.
    pub fn look(&self) {
        // A thread that has given up says so at the end.
        let _ = self.look.send(());
    }

    /// Waits until everything is there; why it is not.
    pub fn finish(self) -> Result<(), String> {
        drop(self.look);
        let thread = self.thread.map_err(|error| format!("cannot start a thread: {error}"))?;
        thread.join().unwrap_or_else(|_| Err(String::from("its thread has ended early")))
    }
}

/// For a thread of its own.
pub fn runtime() -> Result<LocalRuntime, String> {
    let runtime = wire::event_loop();
    runtime.map_err(|error| format!("cannot make an event loop: {error}"))
}

/// Until the run is over and all is sent.
async fn send(store: &ShardStore, part: &ShardPart, path: PathBuf, looks: &Receiver<()>) -> Result<(), String> {
    let (mut sent, mut number) = (0, 0);
    loop {
        let is_over = looks.recv().is_err();
        while looks.try_recv().is_ok() {}
        let piece = since(&path, sent).map_err(|error| format!("{}: {error}", path.display()))?;
        if !piece.is_empty() {
            (sent, number) = (sent + piece.len() as u64, number + 1);
            store.add(part, number, piece).await?;
        }
        if is_over {
            return Ok(());
        }
    }
}

fn since(path: &PathBuf, offset: u64) -> std::io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(offset))?;
    let mut piece = Vec::new();
    file.read_to_end(&mut piece)?;
    Ok(piece)
}
