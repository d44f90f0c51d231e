//! A scene in the whole window: the terminal's other screen, so that what stood there before comes back.
//!
//! What is written meanwhile waits and goes out when the screen closes, every byte of it; its last lines are a part of
//! the picture. More than some megabytes close the screen, because they would have to be held or dropped. Pure: bytes
//! out of scenes and a size.

use std::collections::VecDeque;

use ratatui::backend::{Backend, CrosstermBackend};
use ratatui::buffer::Buffer;

use super::terminal::Size;
use crate::live::{Scene, draw};

/// To the other screen, emptied, without a cursor.
const OPEN: &[u8] = b"\x1b[?1049h\x1b[?25l\x1b[2J";
/// Back, as it was.
pub const CLOSE: &[u8] = b"\x1b[0m\x1b[?25h\x1b[?1049l";
/// Bytes that wait at most.
const MOST: usize = 8 << 20;
/// Lines of the log that a scene may show.
const LOG: usize = 40;
/// No window is larger; a size that a terminal makes up must not cost memory.
const LARGEST: usize = 500;

/// The screen while it is there.
pub struct FullScreen {
    /// What stands on it.
    shown: Buffer,
    /// What was written meanwhile.
    held: Vec<u8>,
    log: VecDeque<String>,
    scene: Scene,
}

impl FullScreen {
    /// Takes the window.
    pub fn open(scene: &Scene, out: &mut Vec<u8>) -> FullScreen {
        out.extend_from_slice(OPEN);
        FullScreen { shown: Buffer::default(), held: Vec::new(), log: VecDeque::new(), scene: scene.clone() }
    }

    /// What is drawn next.
    pub fn set(&mut self, scene: &Scene) {
        self.scene = scene.clone();
    }

    /// Keeps bytes for later; false when it is too much.
    pub fn hold(&mut self, bytes: &[u8]) -> bool {
        self.held.extend_from_slice(bytes);
        let lines: Vec<&[u8]> = bytes.rsplit(|byte| *byte == b'\n').filter(|line| !line.is_empty()).take(LOG).collect();
        self.log.extend(lines.into_iter().rev().map(plain));
        let surplus = self.log.len().saturating_sub(LOG);
        self.log.drain(..surplus);
        self.held.len() <= MOST
    }

    /// Draws what has changed.
    pub fn draw(&mut self, size: Size, out: &mut Vec<u8>) {
        let [columns, rows] = [size.columns, size.rows].map(|length| length.clamp(1, LARGEST) as u16);
        let next = draw(&self.scene, self.log.make_contiguous(), columns, rows);
        if self.shown.area != next.area {
            out.extend_from_slice(b"\x1b[0m\x1b[2J");
            self.shown = Buffer::empty(next.area);
        }
        // A vector takes every byte.
        let _written = CrosstermBackend::new(&mut *out).draw(self.shown.diff(&next).into_iter());
        self.shown = next;
    }

    /// Gives the window back, with what was written meanwhile.
    pub fn close(self, out: &mut Vec<u8>) {
        out.extend_from_slice(CLOSE);
        out.extend_from_slice(&self.held);
    }
}

/// Without escape codes, which would steer the terminal.
fn plain(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let mut pieces = text.split('\x1b');
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let rest = piece.strip_prefix('[').map(|code| code.trim_start_matches(|c: char| !c.is_ascii_alphabetic()));
        plain.push_str(rest.map_or(piece, |rest| rest.get(1..).unwrap_or_default()));
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_of_log_lines_are_left_out() {
        let line = plain(b"\x1b[36mINFO\x1b[0m[0003] hello \x1b[36msource\x1b[0m=console\x1b[");
        assert_eq!(line, "INFO[0003] hello source=console");
    }

    #[test]
    fn what_is_written_meanwhile_comes_out_at_the_end() {
        let mut out = Vec::new();
        let mut screen = FullScreen::open(&Scene::default(), &mut out);
        assert!(screen.hold(b"one\ntwo\n") && screen.hold(b"three\n"));
        screen.draw(Size { columns: 80, rows: 24 }, &mut out);
        let drawn = String::from_utf8(std::mem::take(&mut out)).unwrap();
        assert!(drawn.contains("three") && drawn.find("one") < drawn.find("three"), "{drawn:?}");
        screen.draw(Size { columns: 80, rows: 24 }, &mut out);
        assert!(out.len() < 40, "nothing has changed: {:?}", String::from_utf8_lossy(&out));
        out.clear();
        screen.close(&mut out);
        assert_eq!(out, [CLOSE, b"one\ntwo\nthree\n"].concat());
    }

    #[test]
    fn too_much_is_said() {
        let mut screen = FullScreen::open(&Scene::default(), &mut Vec::new());
        assert!(screen.hold(&vec![b'x'; MOST]));
        assert!(!screen.hold(b"x"));
        assert!(screen.log.len() <= LOG);
    }
}
