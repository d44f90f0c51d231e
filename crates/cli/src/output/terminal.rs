//! A terminal with something live below everything else: lines go above it, and it is drawn again below them.
//!
//! What was drawn is wiped by the rows it takes now, not by its lines: a window that has become narrower wraps them.
//! Lines that are drawn fit the window, so that one line is one row until then. Pure: bytes out of items and a size.

use std::fs::File;

use unicode_width::UnicodeWidthStr;

use super::picture::Live;
use super::queue::Item;

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
}

impl Terminal {
    /// The bytes that make these items appear.
    pub fn render(&mut self, items: &[Item], size: Size) -> Vec<u8> {
        let mut out = Vec::new();
        let mut is_stale = false;
        for item in items {
            match item {
                Item::Lines { bytes, .. } | Item::Own(bytes) => {
                    self.wipe(&mut out, size);
                    out.extend_from_slice(bytes);
                    is_stale = true;
                }
                Item::Live(live) => {
                    self.live = Some(live.clone());
                    is_stale = true;
                }
                Item::Clear => {
                    self.wipe(&mut out, size);
                    *self = Terminal::default();
                }
                Item::Settle => {
                    if std::mem::take(&mut is_stale) {
                        self.draw(&mut out, size);
                    }
                    *self = Terminal::default();
                }
            }
        }
        if is_stale {
            self.draw(&mut out, size);
        }
        out
    }

    fn wipe(&mut self, out: &mut Vec<u8>, size: Size) {
        let rows: usize = self.drawn.drain(..).map(|width| width.div_ceil(size.columns).max(1)).sum();
        if rows > 0 {
            // The cursor may have left its column: terminals show a typed Ctrl-C as ^C.
            out.extend_from_slice(format!("\r\x1b[{rows}A\x1b[J").as_bytes());
        }
    }

    fn draw(&mut self, out: &mut Vec<u8>, size: Size) {
        self.wipe(out, size);
        let Some(live) = &self.live else { return };
        for line in live.lines(size.columns, size.rows) {
            self.drawn.push(line.plain.width());
            out.extend_from_slice(line.shown().as_bytes());
            out.push(b'\n');
        }
    }
}
