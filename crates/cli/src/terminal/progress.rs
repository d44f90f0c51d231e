//! Where the progress of a command goes: a picture in place on a terminal, a line every ten seconds elsewhere.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use report::visible_lines;

use crate::live::Glance;
use crate::output::{self, Live, Stream, draw};
use crate::viewers::Viewers;

/// Where the picture is drawn.
pub struct Screen {
    stream: Stream,
    quiet: bool,
    color: bool,
    /// The time of the picture that was printed last, where they stand below each other.
    printed: Cell<Duration>,
    viewers: RefCell<Viewers>,
}

/// From picture to picture in a log.
const LOG_EVERY: Duration = Duration::from_secs(10);
/// Ticks come a little early or late.
const NEARLY: Duration = Duration::from_millis(500);

impl Screen {
    /// Draws in place on a terminal, lines below each other elsewhere, not at all when `quiet`.
    pub fn new(quiet: bool, color: bool) -> Self {
        Screen::of(output::stdout().clone(), quiet, color)
    }

    /// The same on standard error, for commands whose standard output is for other programs.
    pub fn on_stderr(quiet: bool) -> Self {
        Screen::of(output::stderr().clone(), quiet, false)
    }

    fn of(stream: Stream, quiet: bool, color: bool) -> Self {
        Screen { stream, quiet, color, printed: Cell::default(), viewers: RefCell::default() }
    }

    /// The same, with a screen or a page that shows more.
    #[must_use]
    pub fn watched_by(self, viewers: Viewers) -> Self {
        Screen { viewers: RefCell::new(viewers), ..self }
    }

    /// Whether anything shows more than lines.
    pub fn is_watched(&self) -> bool {
        !self.viewers.borrow().is_empty()
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
    pub fn show(&self, picture: &Glance) {
        self.viewers.borrow_mut().show(picture);
        match self.stream.is_terminal() {
            _ if self.quiet => {}
            true => self.stream.show(Live::Picture(Box::new(picture.clone()), self.color)),
            false => self.print(picture),
        }
    }

    /// In a log a line every ten seconds tells enough; the end is always told.
    fn print(&self, picture: &Glance) {
        let is_due = picture.elapsed + NEARLY >= self.printed.get() + LOG_EVERY;
        if is_due || picture.is_last() {
            self.printed.set(picture.elapsed);
            self.stream.pass(format!("{}\n", draw(picture)).as_bytes());
        }
    }

    /// Leaves the last picture where it stands.
    pub fn settle(&self) {
        self.viewers.borrow_mut().close();
        self.stream.settle();
    }
}
