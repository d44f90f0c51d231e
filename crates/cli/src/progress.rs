//! The live picture of a running test: what it is about to do, a line per scenario once a second, in place on a terminal.
//!
//! Pure text from plain values; `Screen` is the only thing that writes.

use std::fmt::Write as _;
use std::io::{IsTerminal, Write};
use std::time::Duration;

/// One scenario as the progress shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct ScenarioLine {
    /// Name.
    pub name: String,
    /// 0 to 1.
    pub progress: f64,
    /// What stands right of the bar: `2 VUs  1.0s/2s`.
    pub right: String,
    /// Ended, and whether as planned.
    pub ended: Option<bool>,
}

/// The whole picture at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// `running`, `setup()`, …
    pub what: &'static str,
    /// Since the run began.
    pub elapsed: Duration,
    /// VUs in an iteration.
    pub vus_active: u64,
    /// VUs that exist.
    pub vus_total: u64,
    /// Completed iterations.
    pub complete: u64,
    /// Interrupted iterations.
    pub interrupted: u64,
    /// One line each.
    pub scenarios: Vec<ScenarioLine>,
}

const BAR: usize = 34;

/// The picture as text, one line per item, without the last newline.
pub fn draw(picture: &Picture, color: bool) -> String {
    let mut text = format!(
        "{} ({}), {}/{} VUs, {} complete and {} interrupted iterations",
        picture.what,
        clock(picture.elapsed),
        picture.vus_active,
        picture.vus_total,
        picture.complete,
        picture.interrupted
    );
    let width = picture.scenarios.iter().map(|s| s.name.chars().count()).max().unwrap_or(0);
    for line in &picture.scenarios {
        let mark = match line.ended {
            None => " ",
            Some(true) => "✓",
            Some(false) => "✗",
        };
        let mark = if color && line.ended == Some(true) { format!("\x1b[32m{mark}\x1b[0m") } else { mark.to_owned() };
        let _ = write!(text, "\n{:width$} {mark} {} {}", line.name, bar(line.progress), line.right);
    }
    text
}

/// `[=====>-----]  42% `.
pub fn bar(progress: f64) -> String {
    let share = progress.clamp(0.0, 1.0);
    let label = format!(" {:>3.0}% ", (share * 100.0).floor());
    let full = (share * BAR as f64).round() as usize;
    let cells: String = (0..BAR)
        .map(|i| match i {
            i if i + 1 == full && full < BAR => '>',
            i if i < full => '=',
            _ => '-',
        })
        .collect();
    format!("[{cells}]{label}")
}

/// `12s`, `5m36s`, `1h02m03s`: what is only about right has no tenths.
pub fn about(time: Duration) -> String {
    let seconds = time.as_secs_f64().round() as u64;
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, s) => format!("{s}s"),
        (0, m, s) => format!("{m}m{s:02}s"),
        (h, m, s) => format!("{h}h{m:02}m{s:02}s"),
    }
}

/// `02.5s`, `1m02.5s`, `1h02m03s`: two digits of what moves, as k6 shows it.
pub fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    let tenths = time.subsec_millis() / 100;
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, s) => format!("{s:02}.{tenths}s"),
        (0, m, s) => format!("{m}m{s:02}.{tenths}s"),
        (h, m, s) => format!("{h}h{m:02}m{s:02}s"),
    }
}

/// Where the picture is drawn.
pub struct Screen {
    in_place: bool,
    on_stderr: bool,
    quiet: bool,
    color: bool,
    drawn: usize,
}

impl Screen {
    /// Draws in place on a terminal, below each other elsewhere, not at all when `quiet`.
    pub fn new(quiet: bool, color: bool) -> Self {
        Screen { in_place: std::io::stdout().is_terminal(), on_stderr: false, quiet, color, drawn: 0 }
    }

    /// The same on standard error, for commands whose standard output is for other programs.
    pub fn on_stderr(quiet: bool) -> Self {
        Screen { in_place: std::io::stderr().is_terminal(), on_stderr: true, quiet, color: false, drawn: 0 }
    }

    /// Prints lines that stay.
    pub fn say(&mut self, text: &str) {
        if !self.quiet {
            self.wipe();
            self.emit(&format!("{text}\n"));
        }
    }

    /// Shows a line that the next picture replaces.
    pub fn note(&mut self, text: &str) {
        if !self.quiet {
            self.wipe();
            self.emit(&format!("{text}\n"));
            self.drawn = usize::from(self.in_place);
        }
    }

    /// Shows a line on a terminal, over the last one there; elsewhere nothing.
    pub fn over(&mut self, text: &str) {
        if self.in_place {
            self.note(text);
        }
    }

    /// Draws the picture, over the last one on a terminal.
    pub fn show(&mut self, picture: &Picture) {
        if self.quiet {
            return;
        }
        self.wipe();
        let text = draw(picture, self.color);
        if self.in_place {
            self.drawn = text.lines().count();
            self.emit(&format!("{text}\n"));
        } else {
            self.emit(&format!("\n{text}\n"));
        }
    }

    /// Leaves the last picture where it stands.
    pub fn settle(&mut self) {
        self.drawn = 0;
    }

    /// A closed pipe (`onrush … | head`) is no reason to panic.
    fn emit(&self, text: &str) {
        let _ = match self.on_stderr {
            true => std::io::stderr().lock().write_all(text.as_bytes()),
            false => std::io::stdout().lock().write_all(text.as_bytes()),
        };
    }

    fn wipe(&mut self) {
        if self.drawn > 0 {
            self.emit(&format!("\x1b[{}A\x1b[J", self.drawn));
            self.drawn = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_picture_has_a_line_per_scenario() {
        let line =
            |name: &str, progress, ended| ScenarioLine { name: name.into(), progress, right: "2 VUs".into(), ended };
        let picture = Picture {
            what: "running",
            elapsed: Duration::from_millis(1500),
            vus_active: 2,
            vus_total: 4,
            complete: 9,
            interrupted: 0,
            scenarios: vec![line("a", 0.5, None), line("long", 1.0, Some(true))],
        };
        assert_eq!(
            draw(&picture, false),
            "running (01.5s), 2/4 VUs, 9 complete and 0 interrupted iterations\n\
             a      [================>-----------------]  50%  2 VUs\n\
             long ✓ [==================================] 100%  2 VUs"
        );
    }

    #[test]
    fn clocks_grow_by_unit() {
        assert_eq!(clock(Duration::from_millis(2540)), "02.5s");
        assert_eq!(clock(Duration::from_millis(62_540)), "1m02.5s");
        assert_eq!(clock(Duration::from_secs(3723)), "1h02m03s");
        assert_eq!(about(Duration::from_millis(336_400)), "5m36s");
        assert_eq!(about(Duration::from_millis(59_600)), "1m00s");
    }
}
