//! What a process watches of itself while it generates load: its last seconds, its wall clock, its machine.
//!
//! A run and an agent of a fleet watch themselves alike. A coordinator generates no load: it looks at the pace alone.

use std::time::Duration;

use engine::judgement::SaidMeanwhile;
use engine::{Health, Tick};
use report::document;
use script::Program;

use crate::commands::run::drive::wall_clock::WallClock;
use crate::commands::run::drive::watch::Watch;
use crate::process::machine;

/// Watches the generator from the start of the scenarios on.
pub struct GeneratorWatch {
    /// The last seconds; none before the scenarios start.
    pub watch: Option<Watch>,
    /// The machine when the scenarios started; none when they never did.
    pub machine: Option<machine::Moment>,
    wall: WallClock,
}

/// How the generator fared in the whole run.
pub struct GeneratorAccount {
    /// By the engine.
    pub health: Health,
    /// The largest step of the wall clock while it ran, in ms.
    pub clock_step_ms: f64,
    /// What `--referee` found.
    pub referee: Option<document::Referee>,
    /// The machine when the scenarios started; none when they never did.
    pub machine: Option<machine::Moment>,
    /// What was found of single seconds.
    pub meanwhile: Vec<SaidMeanwhile>,
}

impl GeneratorWatch {
    /// Before the scenarios start.
    pub fn new() -> GeneratorWatch {
        GeneratorWatch { watch: None, machine: None, wall: WallClock::now() }
    }

    /// The scenarios start, by the run's clock. `is_smoke`: the whole test is one iteration of one user.
    pub fn start(&mut self, start: Duration, is_smoke: bool) {
        self.machine = Some(machine::Moment::now());
        self.wall.look_anew();
        self.watch = Some(Watch::starting(start, is_smoke));
    }

    /// What there is to say at this tick of the users of `program`.
    pub fn look(&mut self, tick: &Tick, program: &Program) -> Option<String> {
        let step_ms = self.wall.look();
        let watch = self.watch.as_mut().filter(|_| !tick.is_last)?;
        watch.look(tick, program.unstamped(), program.is_target_here(), step_ms)
    }

    /// Of agents that watch themselves: how fast they go all together.
    pub fn look_at_pace(&mut self, tick: &Tick) {
        self.wall.look();
        self.watch.iter_mut().for_each(|watch| watch.look_at_pace(tick));
    }

    /// The largest step of the wall clock so far, in ms.
    pub fn clock_step_ms(&self) -> f64 {
        self.wall.largest_step_ms()
    }
}
