//! A terminal with something live below everything else: lines go above it, and it is drawn again below them.
//!
//! What was drawn is wiped by the rows it takes now, not by its lines: a window that has become narrower wraps them.
//! Lines that are drawn fit the window, so that one line is one row until then. Pure: bytes out of items and a size.

use std::fs::File;

use unicode_width::UnicodeWidthStr;

use super::full_screen::FullScreen;
use super::picture::Live;
use super::queue::Item;
use crate::live::Scene;

/// Of a terminal, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Width.
    pub columns: usize,
    /// Height.
    pub rows: usize,
}

impl Size {
    /// What the terminal says of itself; the usual size when it says nothing.
    pub fn of(file: &File) -> Size {
        let or = |given: u16, usual: usize| if given == 0 { usual } else { usize::from(given) };
        match rustix::termios::tcgetwinsize(file) {
            Ok(size) => Size { columns: or(size.ws_col, 80), rows: or(size.ws_row, 24) },
            Err(_) => Size { columns: 80, rows: 24 },
        }
    }
}

/// What stands on it, as far as it may have to be wiped.
#[derive(Default)]
pub struct Terminal {
    live: Option<Live>,
    /// The width of each line drawn of it.
    drawn: Vec<usize>,
    /// What fills the window, over all of this.
    full: Option<FullScreen>,
    /// Whether it was closed because too much was written.
    has_overflown: bool,
}

/// Said where the screen had to close.
const OVERFLOWN: &[u8] =
    b"the screen has closed, because the script logs megabytes; --log-output file=PATH keeps them \
    elsewhere\n";

impl Terminal {
    /// The bytes that make these items appear.
    pub fn render(&mut self, items: &[Item], size: Size) -> Vec<u8> {
        let mut out = Vec::new();
        let mut is_stale = false;
        for item in items {
            match item {
                Item::Lines { bytes, .. } | Item::Own(bytes) => {
                    self.write(bytes, &mut out, size);
                    is_stale = true;
                }
                Item::Scene(scene) => {
                    self.show(scene, &mut out, size);
                    is_stale = true;
                }
                Item::CloseScene => {
                    self.full.take().into_iter().for_each(|full| full.close(&mut out));
                    is_stale = true;
                }
                Item::Live(live) => {
                    self.live = Some(live.clone());
                    is_stale = true;
                }
                Item::Clear => {
                    self.wipe(&mut out, size);
                    (self.live, self.drawn) = (None, Vec::new());
                }
                Item::Settle => {
                    if std::mem::take(&mut is_stale) {
                        self.draw(&mut out, size);
                    }
                    (self.live, self.drawn) = (None, Vec::new());
                }
            }
        }
        if is_stale {
            self.draw(&mut out, size);
        }
        out
    }

    /// Whether a scene fills the window.
    pub fn is_full(&self) -> bool {
        self.full.is_some()
    }

    /// Whether these items have opened a scene, or closed it.
    pub fn decides_of_scene(&self, items: &[Item]) -> bool {
        self.has_overflown || items.iter().any(|item| matches!(item, Item::Scene(_) | Item::CloseScene))
    }

    /// Writes above what is live; below a scene it waits.
    fn write(&mut self, bytes: &[u8], out: &mut Vec<u8>, size: Size) {
        match &mut self.full {
            Some(full) => {
                if !full.hold(bytes) {
                    self.has_overflown = true;
                    self.full.take().into_iter().for_each(|full| full.close(out));
                    out.extend_from_slice(OVERFLOWN);
                }
            }
            None => {
                self.wipe(out, size);
                out.extend_from_slice(bytes);
            }
        }
    }

    fn show(&mut self, scene: &Scene, out: &mut Vec<u8>, size: Size) {
        if self.has_overflown {
            return;
        }
        match &mut self.full {
            Some(full) => full.set(scene),
            None => {
                self.wipe(out, size);
                self.full = Some(FullScreen::open(scene, out));
            }
        }
    }

    fn wipe(&mut self, out: &mut Vec<u8>, size: Size) {
        let rows: usize = self.drawn.drain(..).map(|width| width.div_ceil(size.columns).max(1)).sum();
        if rows > 0 {
            // The cursor may have left its column: terminals show a typed Ctrl-C as ^C.
            out.extend_from_slice(format!("\r\x1b[{rows}A\x1b[J").as_bytes());
        }
    }

    fn draw(&mut self, out: &mut Vec<u8>, size: Size) {
        if let Some(full) = &mut self.full {
            return full.draw(size, out);
        }
        self.wipe(out, size);
        let Some(live) = &self.live else { return };
        for line in live.lines(size.columns, size.rows) {
            self.drawn.push(line.plain.width());
            out.extend_from_slice(line.shown().as_bytes());
            out.push(b'\n');
        }
    }
}
