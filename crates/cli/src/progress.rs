//! Where the progress of a command goes: a picture in place on a terminal, once a second below each other elsewhere.

use report::visible_lines;

use crate::output::{self, Live, Picture, Stream, draw};

/// Where the picture is drawn.
pub struct Screen {
    stream: Stream,
    quiet: bool,
    color: bool,
}

impl Screen {
    /// Draws in place on a terminal, below each other elsewhere, not at all when `quiet`.
    pub fn new(quiet: bool, color: bool) -> Self {
        Screen { stream: output::stdout().clone(), quiet, color }
    }

    /// The same on standard error, for commands whose standard output is for other programs.
    pub fn on_stderr(quiet: bool) -> Self {
        Screen { stream: output::stderr().clone(), quiet, color: false }
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
            false => self.stream.pass(format!("\n{}\n", draw(&picture)).as_bytes()),
        }
    }

    /// Leaves the last picture where it stands.
    pub fn settle(&self) {
        self.stream.settle();
    }
}
