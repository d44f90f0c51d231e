//! What a matrix looks like while it runs: a line that stays for each run, and one below with how far it is and the
//! time left.

use std::time::{Duration, Instant};

use report::matrix::document::RunRecord;
use report::matrix::plan::Plan;
use units::show::about;

use crate::output::full_bar;
use crate::terminal::progress::Screen;

/// Statistics of a server that are shown with a run; the others are in the result.
const MOST_STATS: usize = 6;
/// When a run takes several times as long as planned, and the rest as much longer, the output says so.
const MUCH_SLOWER: f64 = 1.5;
const MUCH_LONGER: Duration = Duration::from_secs(60);

/// The progress of a matrix.
pub struct Show {
    screen: Screen,
    /// When the first run here did.
    began: Option<Instant>,
    /// Runs planned, and runs that were there before.
    planned: usize,
    before: usize,
    done: usize,
    /// What a run is expected to take before any has.
    guess: Duration,
    now: String,
    drawn: Option<Instant>,
    corrected: bool,
}

impl Show {
    /// Nothing is done yet of `planned` runs but `before`; each takes about `guess`.
    pub fn new(screen: Screen, planned: usize, before: usize, guess: Duration) -> Self {
        let (began, drawn, now) = (None, None, String::new());
        Show { screen, began, planned, before, done: before, guess, now, drawn, corrected: false }
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
        self.began.get_or_insert_with(Instant::now);
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

    /// What the rest will take, if it continues like this.
    pub fn left(&self) -> Duration {
        self.rest(self.each())
    }

    /// What a run took until now; before the first, what it is expected to take.
    fn each(&self) -> Duration {
        let here = u32::try_from(self.done - self.before).unwrap_or(u32::MAX);
        self.began.filter(|_| here > 0).map_or(self.guess, |began| began.elapsed() / here)
    }

    fn rest(&self, each: Duration) -> Duration {
        each * u32::try_from(self.planned.saturating_sub(self.done)).unwrap_or(u32::MAX)
    }

    /// Says once that the matrix takes much longer than the plan let expect: who starts it may not watch it.
    fn correct(&mut self) {
        let each = self.each();
        let is_slower = each > self.guess.mul_f64(MUCH_SLOWER);
        if self.corrected || !is_slower || self.left() < self.rest(self.guess) + MUCH_LONGER {
            return;
        }
        self.corrected = true;
        let text = format!(
            "a run takes about {} s and not the {} s of the plan: {} left",
            number(each),
            number(self.guess),
            about(self.left())
        );
        self.warn(&text);
    }

    /// A run has ended.
    pub fn done(&mut self, record: &RunRecord, plan: &Plan) {
        self.done += 1;
        debug_assert!(self.before < self.done, "a run that was done before is not done again");
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
        if let Some(stats) = &record.server_stats {
            text.push_str(&format!("\n    {}", stats.text(MOST_STATS)));
        }
        self.screen.say(&text);
        self.drawn = None;
        self.correct();
    }
}

/// Seconds with a digit behind the point.
fn number(time: Duration) -> String {
    format!("{:.1}", time.as_secs_f64())
}
