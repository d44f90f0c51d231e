//! What a matrix looks like while it runs: a line that stays for each run, and one below with how far it is and the time left.

use std::time::{Duration, Instant};

use report::matrix::document::RunRecord;
use report::matrix::plan::Plan;

use crate::progress::{Screen, about, full_bar};

/// The progress of a matrix.
pub struct Show {
    screen: Screen,
    began: Instant,
    /// Runs planned, and runs that were there before.
    planned: usize,
    before: usize,
    done: usize,
    /// What a run is expected to take before any has.
    guess: Duration,
    now: String,
    drawn: Option<Instant>,
}

impl Show {
    /// Nothing is done yet of `planned` runs but `before`; each takes about `guess`.
    pub fn new(screen: Screen, planned: usize, before: usize, guess: Duration) -> Self {
        Show { screen, began: Instant::now(), planned, before, done: before, guess, now: String::new(), drawn: None }
    }

    /// A line that stays.
    pub fn say(&mut self, text: &str) {
        self.screen.say(text);
    }

    /// Something that the user should know.
    pub fn warn(&mut self, text: &str) {
        self.screen.say(&format!("warning: {text}"));
    }

    /// A run begins.
    pub fn begin(&mut self, position: usize, round: u32, cell: &str, variant: &str) {
        let cell = if cell.is_empty() { String::new() } else { format!("{cell} ") };
        self.now = format!("run {position}/{}, round {round}: {cell}variant={variant}", self.planned);
        self.drawn = None;
        self.tick();
    }

    /// Draws the line below, at most once a second and only where it can be drawn over.
    pub fn tick(&mut self) {
        if self.drawn.is_some_and(|drawn| drawn.elapsed() < Duration::from_secs(1)) {
            return;
        }
        self.drawn = Some(Instant::now());
        let share = self.done as f64 / self.planned.max(1) as f64;
        let text = format!("{}{}, {} left", full_bar(share), self.now, about(self.left()));
        self.screen.over(&text);
    }

    /// What the rest will take, if it goes on like this.
    pub fn left(&self) -> Duration {
        let here = self.done - self.before;
        let each = match here {
            0 => self.guess,
            _ => self.began.elapsed() / u32::try_from(here).unwrap_or(u32::MAX),
        };
        each * u32::try_from(self.planned.saturating_sub(self.done)).unwrap_or(u32::MAX)
    }

    /// A run has ended.
    pub fn done(&mut self, record: &RunRecord, plan: &Plan) {
        self.done += 1;
        let metric = &plan.measure.rate;
        let limited = match (record.limit(&plan.pin), record.accepted()) {
            (Some(cause), _) => format!(" ! {}", cause.text()),
            (None, Some(_)) => String::from(" ~ late accepted"),
            (None, None) => String::new(),
        };
        let figure = match (record.is_ok(), record.rate(metric)) {
            (true, Some(rate)) => format!("{rate:.1} {metric}/s{limited}"),
            (true, None) => String::from("no rate"),
            (false, _) => format!("✗ {}", record.reason.as_deref().unwrap_or("failed")),
        };
        let mut text = format!("{}: {figure}", self.now);
        for line in &record.output {
            text.push_str(&format!("\n    {line}"));
        }
        self.screen.say(&text);
        self.drawn = None;
    }
}
