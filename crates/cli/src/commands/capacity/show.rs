//! What is seen of a search while it goes on: a line that stays for each probe, and one below with what runs now.

use std::time::Duration;

use report::capacity::{Bracket, LoadUnit, ProbeFigures, Standing};
use units::show::{about, percent, time};

use super::asked::CapacityFlags;
use crate::terminal::progress::Screen;

/// The progress of a search.
pub struct SearchShow {
    screen: Screen,
    begins: String,
    probes: usize,
}

impl SearchShow {
    /// Standard output is for the answer.
    pub fn new(asked: &CapacityFlags) -> SearchShow {
        let is_quiet = asked.words.iter().any(|word| word == "-q" || word == "--quiet");
        let objectives: Vec<String> = asked.objectives.iter().map(report::capacity::Objective::text).collect();
        let what = match (objectives.is_empty(), asked.are_usual) {
            (true, _) => String::from("the script's thresholds"),
            (false, true) => format!("{} (the usual ones: --objective says others)", objectives.join(" · ")),
            (false, false) => objectives.join(" · "),
        };
        let begins = format!(
            "capacity of {}, within {}, ± {}: {what}",
            wire::mask::Mask::standard().text(&asked.target),
            about(asked.budget),
            percent(asked.precision, 0)
        );
        SearchShow { screen: Screen::on_stderr(is_quiet), begins, probes: 0 }
    }

    /// Says what is searched for.
    pub fn begin(&self) {
        self.screen.say(&self.begins);
    }

    /// What the running probe says so far.
    pub fn tick(&self, load: f64, unit: LoadUnit, seconds: usize, standing: Standing, known: Bracket, left: Duration) {
        let standing = match standing {
            Standing::Held => "held",
            Standing::Broken(_) => "broken",
            Standing::LeansHeld if seconds == 0 => "starting",
            Standing::LeansHeld => "leans held",
            Standing::LeansBroken(_) => "leans broken",
        };
        let known = match (known.low, known.high) {
            (Some(low), Some(high)) => format!(", between {} and {}", unit.shown(low), unit.shown(high)),
            (Some(low), None) => format!(", above {}", unit.shown(low)),
            (None, Some(high)) => format!(", below {}", unit.shown(high)),
            (None, None) => String::new(),
        };
        let load = unit.shown(load);
        let number = self.probes + 1;
        self.screen.over(&format!("probe {number}: {load}, {seconds} s, {standing}{known}; {} left", about(left)));
    }

    /// A light load waits for the target.
    pub fn recovering(&self) {
        self.screen.over("a light load sees whether the target has recovered");
    }

    /// A probe has ended.
    pub fn done(&mut self, figures: &ProbeFigures, unit: LoadUnit) {
        self.probes += 1;
        let latency = |value: Option<f64>| value.map_or_else(|| String::from("-"), time);
        let why = figures.why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
        self.screen.say(&format!(
            "probe {:>2}  {:>10}  {} s  p50 {}  p95 {}  {}{why}",
            self.probes,
            unit.shown(figures.load),
            figures.seconds.round(),
            latency(figures.p50),
            latency(figures.p95),
            figures.said.name()
        ));
    }

    /// Nothing more comes.
    pub fn end(&self) {
        self.screen.settle();
    }
}
