//! Outputs that write lines to a file, packed by gzip where its name ends in `.gz`, or to standard output.
//!
//! What cannot be written is lost, and counted as that with all that waits behind it: nothing is written twice.

use std::fs::File;
use std::io::{self, Write};

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::catalog::{Catalog, Take};
use crate::feed::{Delivery, Inbox, PATIENCE, Running};
use crate::setup::Setup;

/// Bytes that are put into one write.
const PIECE: usize = 256 << 10;

/// Makes lines of samples.
pub(crate) trait Lines: Take + Send + 'static {
    /// The lines so far, to be emptied.
    fn lines(&mut self) -> &mut Vec<u8>;
}

/// Where lines go.
pub(crate) enum Sheet {
    Plain(File),
    Packed(Box<GzEncoder<File>>),
}

impl Sheet {
    /// Opens a file, made anew; `-` is standard output.
    pub(crate) fn open(path: &str, setup: &Setup<'_>) -> Result<Sheet, String> {
        if path == "-" {
            return (setup.stdout)().map(Sheet::Plain).map_err(|error| format!("standard output: {error}"));
        }
        let file = File::create(path).map_err(|error| format!("cannot write '{path}': {error}"))?;
        Ok(match path.ends_with(".gz") {
            true => Sheet::Packed(Box::new(GzEncoder::new(file, Compression::fast()))),
            false => Sheet::Plain(file),
        })
    }

    fn write(&mut self, lines: &mut Vec<u8>) -> io::Result<()> {
        let written = match self {
            Sheet::Plain(file) => file.write_all(lines),
            Sheet::Packed(packer) => packer.write_all(lines),
        };
        lines.clear();
        written
    }

    fn close(self) -> io::Result<()> {
        match self {
            Sheet::Plain(_) => Ok(()),
            Sheet::Packed(packer) => packer.finish().map(drop),
        }
    }
}

/// Starts the thread that writes the lines of `form` to `sheet`.
pub(crate) fn start(name: &'static str, sheet: Sheet, form: impl Lines) -> Result<Running, String> {
    Running::start(name, "samples", PATIENCE, move |inbox| write_on(inbox, sheet, form))
}

/// Writes until the end, or until a write fails: then why. What comes later is lost.
fn write_on(mut inbox: Inbox, mut sheet: Sheet, mut form: impl Lines) -> Option<String> {
    let (mut catalog, mut unwritten) = (Catalog::default(), 0);
    loop {
        let is_over = match inbox.queue.blocking_recv() {
            Some(Delivery::Batch(source, batch)) => {
                catalog.read(source, &batch, &mut form);
                unwritten += batch.samples();
                // Small batches, as each user's first second makes them, share a write.
                let is_piece = form.lines().len() >= PIECE || inbox.queue.is_empty();
                if is_piece {
                    if let Err(error) = sheet.write(form.lines()) {
                        lose_rest(&mut inbox, unwritten);
                        return Some(error.to_string());
                    }
                    unwritten = 0;
                }
                inbox.feed.done(&batch);
                false
            }
            Some(Delivery::Span(_)) => false,
            Some(Delivery::End) | None => true,
        };
        if is_over {
            let written = sheet.write(form.lines()).and_then(|()| sheet.close());
            return written.err().map(|error| {
                inbox.feed.lose(unwritten);
                error.to_string()
            });
        }
    }
}

/// Counts what was not written and what still waits to be: nobody else will.
fn lose_rest(inbox: &mut Inbox, unwritten: u64) {
    inbox.feed.lose(unwritten);
    inbox.queue.close();
    while let Ok(message) = inbox.queue.try_recv() {
        if let Delivery::Batch(_, batch) = message {
            inbox.feed.lose(batch.samples());
        }
    }
}
