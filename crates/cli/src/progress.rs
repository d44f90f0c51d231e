//! Where the progress of a command goes: a picture in place on a terminal, a line every ten seconds elsewhere.

use std::cell::Cell;
use std::time::Duration;

use report::visible_lines;

use crate::output::{self, Live, Picture, Stream, draw};

/// Where the picture is drawn.
pub struct Screen {
    stream: Stream,
    quiet: bool,
    color: bool,
    /// The time of the picture that was printed last, where they stand below each other.
    printed: Cell<Duration>,
}

/// From picture to picture in a log.
const LOG_EVERY: Duration = Duration::from_secs(10);
/// Ticks come a little early or late.
const NEARLY: Duration = Duration::from_millis(500);

impl Screen {
    /// Draws in place on a terminal, lines below each other elsewhere, not at all when `quiet`.
    pub fn new(quiet: bool, color: bool) -> Self {
        Screen { stream: output::stdout().clone(), quiet, color, printed: Cell::default() }
    }

    /// The same on standard error, for commands whose standard output is for other programs.
    pub fn on_stderr(quiet: bool) -> Self {
        Screen { stream: output::stderr().clone(), quiet, color: false, printed: Cell::default() }
    }

    /// The width of the window; none where lines may have any length.
    pub fn columns(&self) -> Option<usize> {
        self.stream.size().map(|size| size.columns)
    }

    /// Prints lines that stay, in place of what was shown below.
    pub fn say(&self, text: &str) {
        if !self.quiet {
            self.stream.clear();
            // Errors of a matrix quote what its programs printed.
            self.stream.print(format!("{}\n", visible_lines(text)).as_bytes());
        }
    }

    /// Shows a line that the next picture replaces.
    pub fn note(&self, text: &str) {
        match self.stream.is_terminal() {
            _ if self.quiet => {}
            true => self.stream.show(Live::Line(text.to_owned())),
            false => self.stream.pass(format!("{text}\n").as_bytes()),
        }
    }

    /// Shows a line on a terminal, over the last one there; elsewhere nothing.
    pub fn over(&self, text: &str) {
        if self.stream.is_terminal() {
            self.note(text);
        }
    }

    /// Draws the picture, over the last one on a terminal.
    pub fn show(&self, picture: Picture) {
        match self.stream.is_terminal() {
            _ if self.quiet => {}
            true => self.stream.show(Live::Picture(picture, self.color)),
            false => self.print(&picture),
        }
    }

    /// In a log a line every ten seconds tells enough; the end is always told.
    fn print(&self, picture: &Picture) {
        let is_due = picture.elapsed + NEARLY >= self.printed.get() + LOG_EVERY;
        if is_due || picture.is_last() {
            self.printed.set(picture.elapsed);
            self.stream.pass(format!("{}\n", draw(picture)).as_bytes());
        }
    }

    /// Leaves the last picture where it stands.
    pub fn settle(&self) {
        self.stream.settle();
    }
}
