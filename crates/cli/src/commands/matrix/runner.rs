//! Carrying out a plan: turn by turn, run by run. A run that fails is recorded and the rest continues; a signal ends
//! the matrix after the runs that are done.
//!
//! Time is kept in six accounts, so that what the matrix itself costs can be told: measured, warming up, the plan's
//! commands, servers, what loads took besides, and the rest.

use std::time::{Duration, Instant};

use report::matrix::Matrix;
use report::matrix::document::{Outcome, RunRecord, Timing};
use report::matrix::order::Turn;
use report::matrix::server_stats::ServerStats;

use super::load::{Failed, Invalid, Load, Measured};
use super::server::{self, Places, Running};
use super::show::Show;
use super::stats;
use super::store::Store;
use crate::commands::groups::guard::Guard;
use crate::commands::groups::interruption;
use crate::commands::groups::process::{shell, wait_for};
use crate::failure::Failure;
use crate::log::rfc3339_ms_now;

/// Everything that carries out a plan.
pub struct Runner<'a> {
    /// What to do.
    pub matrix: &'a Matrix,
    /// Where things lie.
    pub places: &'a Places,
    /// Ends what is left.
    pub guard: &'a Guard,
    /// What was done.
    pub store: &'a mut Store,
    /// What it looks like.
    pub show: &'a mut Show,
    /// Whether runs count although their generator was late or the limit.
    pub accept_late: bool,
}

/// A run, or the wish to end.
enum Step {
    Done(Box<RunRecord>),
    Interrupted,
}

impl Runner<'_> {
    /// Makes every missing run. The first number of a turn's runs is its place in the whole order.
    pub fn run(&mut self, turns: &[Turn]) -> Result<(), Failure> {
        let began = Instant::now();
        let before = self.store.document.timing.clone();
        let mut position = 0;
        for turn in turns {
            let first = position + 1;
            position += turn.variants.len();
            if self.store.has(self.matrix, turn) {
                continue;
            }
            let count = self.store.len();
            if !self.turn(turn, first)? {
                self.store.keep(count);
                break;
            }
            self.settle(&before, began.elapsed());
            self.store.write()?;
        }
        self.settle(&before, began.elapsed());
        self.store.write()
    }

    /// What is in no other account is the matrix's own.
    fn settle(&mut self, before: &Timing, elapsed: Duration) {
        let timing = &mut self.store.document.timing;
        let accounted = |timing: &Timing| timing.total_s() - timing.own_s;
        let since = accounted(timing) - accounted(before);
        timing.own_s = before.own_s + (elapsed.as_secs_f64() - since).max(0.0);
    }

    /// All runs of a turn; false when the matrix is to end.
    fn turn(&mut self, turn: &Turn, first: usize) -> Result<bool, Failure> {
        let problem = self.commands(turn, &self.matrix.plan.before_cell).err();
        for (at, &variant) in turn.variants.iter().enumerate() {
            let step = match &problem {
                Some(problem) => {
                    Step::Done(Box::new(self.record(turn, variant, first + at, Outcome::Failed, Some(problem))))
                }
                None => self.one(turn, variant, first + at),
            };
            if interruption::is_asked() {
                let _ = self.commands(turn, &self.matrix.plan.after_cell);
                return Ok(false);
            }
            match step {
                Step::Interrupted => return Ok(false),
                Step::Done(record) => {
                    self.show.done(&record, &self.matrix.plan);
                    self.store.add(*record);
                    self.store.write()?;
                }
            }
        }
        if let Err(problem) = self.commands(turn, &self.matrix.plan.after_cell) {
            self.show.warn(&problem);
        }
        Ok(true)
    }

    /// One run: server, warm-up, load.
    fn one(&mut self, turn: &Turn, variant: usize, position: usize) -> Step {
        let (matrix, cell, part) = (self.matrix, &self.matrix.cells[turn.cell], &self.matrix.parts[variant]);
        self.show.begin(position, turn.round + 1, &cell.label(), &part.name);
        let at = rfc3339_ms_now();
        let server_since = Instant::now();
        let round = turn.round + 1;
        let started = server::start(part, cell, position, round, &matrix.plan.pin.server, self.places, self.guard);
        self.store.document.timing.servers_s += server_since.elapsed().as_secs_f64();
        let mut record = self.record(turn, variant, position, Outcome::Ok, None);
        record.at = at;
        let mut running = match started {
            Ok(running) => running,
            Err(_) if interruption::is_asked() => return Step::Interrupted,
            Err(dead) => {
                (record.outcome, record.reason, record.output) = (Outcome::Dead, Some(dead.reason), dead.output);
                return Step::Done(Box::new(record));
            }
        };
        let load = Load {
            plan: &matrix.plan,
            part,
            cell,
            run: position,
            round,
            places: self.places,
            guard: self.guard,
            accept_late: self.accept_late,
        };
        let measured = self.under_load(&load, &mut running, &mut record);
        let server_since = Instant::now();
        if let Some(group) = &mut running.group {
            group.stop();
        }
        self.store.document.timing.servers_s += server_since.elapsed().as_secs_f64();
        match measured {
            Ok(measured) => fill(&mut record, measured),
            Err(Failed::Interrupted) => return Step::Interrupted,
            Err(Failed::Load(invalid)) => fill_invalid(&mut record, Outcome::Failed, *invalid),
            Err(Failed::Server(invalid)) => fill_invalid(&mut record, Outcome::Dead, *invalid),
        }
        Step::Done(Box::new(record))
    }

    fn under_load(
        &mut self,
        load: &Load<'_>,
        running: &mut Running,
        record: &mut RunRecord,
    ) -> Result<Measured, Failed> {
        let (show, timing) = (&mut *self.show, &mut self.store.document.timing);
        let since = Instant::now();
        let pause = self.matrix.plan.pause.0;
        if !pause.is_zero() {
            wait_for(&running.group.iter().collect::<Vec<_>>(), pause);
        }
        timing.warm_up_s += since.elapsed().as_secs_f64();
        if let Some(warmed) = load.warm_up(running, &mut || show.tick())? {
            let planned = self.matrix.plan.warm_up.seconds().min(warmed.wall_s);
            timing.warm_up_s += planned;
            timing.loads_s += warmed.wall_s - planned;
        }
        let stats = running.stats.clone();
        let before = stats.as_ref().map(|stats| stats::read(stats, load, running));
        let since = Instant::now();
        let measured = load.measure(running, &mut || show.tick());
        match &measured {
            Ok(measured) => {
                timing.measured_s += measured.measured_s;
                timing.loads_s += (measured.wall_s - measured.measured_s).max(0.0);
            }
            // A load that failed was measured too, in vain.
            Err(_) => timing.measured_s += since.elapsed().as_secs_f64(),
        }
        record.server_stats = stats.zip(before).map(|(stats, before)| {
            let after = stats::read(&stats, load, running);
            ServerStats::of(before, after, &stats.names)
        });
        measured
    }

    /// The plan's commands around a cell.
    fn commands(&mut self, turn: &Turn, lines: &[String]) -> Result<(), String> {
        let since = Instant::now();
        let cell = &self.matrix.cells[turn.cell];
        let env = server::axes(cell);
        let mut names = self.places.names();
        names.insert("round", (turn.round + 1).to_string());
        let done = lines.iter().try_for_each(|line| {
            let line = self.matrix.command_line(line, Some(cell), &names).map_err(|error| error.message)?;
            shell(&line, &self.places.folder, &env, self.places.scratch.join("command.log"), self.guard)
        });
        self.store.document.timing.commands_s += since.elapsed().as_secs_f64();
        done
    }

    fn record(
        &self,
        turn: &Turn,
        variant: usize,
        position: usize,
        outcome: Outcome,
        reason: Option<&String>,
    ) -> RunRecord {
        RunRecord {
            axes: self.matrix.cells[turn.cell].names(),
            variant: self.matrix.parts[variant].name.clone(),
            round: turn.round + 1,
            position,
            at: rfc3339_ms_now(),
            outcome,
            measured_s: 0.0,
            reason: reason.cloned(),
            output: Vec::new(),
            result: None,
            figures: None,
            server_stats: None,
            server: None,
            load: None,
            machine: None,
        }
    }
}

/// A run that is not valid keeps what was measured: it tells what went wrong.
fn fill_invalid(record: &mut RunRecord, outcome: Outcome, invalid: Invalid) {
    if let Some(measured) = invalid.measured {
        fill(record, measured);
    }
    (record.outcome, record.reason, record.output) = (outcome, Some(invalid.reason), invalid.output);
}

fn fill(record: &mut RunRecord, measured: Measured) {
    record.result = measured.result;
    record.figures = measured.figures;
    record.measured_s = measured.measured_s;
    record.server = measured.server;
    record.load = Some(measured.load);
    record.machine = measured.machine;
}
