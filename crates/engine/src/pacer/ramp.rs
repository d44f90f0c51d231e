//! When each virtual user of a ramp comes and goes.
//!
//! A stage from a to b over d makes its i-th change at i·d/|b−a|, so the last one at its end; a stage of no length
//! jumps. The virtual user at position p is wanted while the number is above p. One that is no longer wanted may finish
//! its iteration until the grace is over, and goes straight on when it is wanted again before that. Positions are those
//! of the whole test.
//!
//! A ramp that is changed while it runs has another number from then on, to its end.

use std::time::Duration;

use crate::scenario::Stage;

/// A number of virtual users over time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ramp {
    start: u64,
    stages: Vec<Stage>,
    ramp_down: Duration,
    end: Duration,
    hard_end: Duration,
    /// From when on another number is wanted, in order.
    changes: Vec<(Duration, u64)>,
}

/// A time in which one virtual user is wanted, after the start of the scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActiveSpan {
    /// From here on it starts iterations.
    pub from: Duration,
    /// From here on it starts none.
    pub to: Duration,
    /// An iteration still running is interrupted here.
    pub hard: Duration,
}

impl Ramp {
    /// A ramp from `start` along `stages`; the graces are those of single users and of the scenario's end.
    pub fn new(start: u64, stages: &[Stage], ramp_down: Duration, graceful_stop: Duration) -> Self {
        let end: Duration = stages.iter().map(|stage| stage.duration).sum();
        let (stages, hard_end) = (stages.to_vec(), end + graceful_stop);
        Ramp { start, stages, ramp_down, end, hard_end, changes: Vec::new() }
    }

    /// The same up to `at`, and from there to the end this number. Changes come in order.
    pub fn with_number_from(&self, at: Duration, number: u64) -> Ramp {
        debug_assert!(self.changes.last().is_none_or(|(last, _)| *last <= at), "{:?}, then {at:?}", self.changes);
        let mut changed = self.clone();
        changed.changes.push((at.min(self.end), number));
        changed
    }

    /// From when on no user is wanted any more, where this position is the first that has one. A ramp that was changed
    /// may change again, to its end.
    pub fn last_wanted(&self, position: u64) -> Duration {
        let last = || self.spans(position).last().map_or(Duration::ZERO, |span| span.to);
        if self.changes.is_empty() { last() } else { self.end }
    }

    /// The last moment at which an iteration may run.
    pub fn hard_end(&self) -> Duration {
        self.hard_end
    }

    /// The most users at any time.
    pub fn peak(&self) -> u64 {
        self.stages.iter().map(|stage| stage.target).fold(self.start, u64::max)
    }

    /// The regular end.
    pub fn end(&self) -> Duration {
        self.end
    }

    /// The spans of the user at a position, in order; none touches the next. A user that comes in the moment of a jump
    /// down, or at the very end, has an empty span: it runs nothing, but k6 makes it too.
    pub fn spans(&self, position: u64) -> Vec<ActiveSpan> {
        let mut spans = self.planned_spans(position);
        self.changes.iter().for_each(|(at, number)| self.change(&mut spans, *at, *number > position));
        bridge(&mut spans);
        debug_assert!(spans.iter().all(|span| span.from <= span.to && span.to <= span.hard), "{spans:?}");
        spans
    }

    /// From `at` on the user is wanted to the end, or never.
    fn change(&self, spans: &mut Vec<ActiveSpan>, at: Duration, is_wanted: bool) {
        spans.retain(|span| span.from < at);
        let cut = spans.last_mut().filter(|last| last.to > at);
        cut.into_iter().for_each(|last| (last.to, last.hard) = (at, (at + self.ramp_down).min(self.hard_end)));
        if is_wanted {
            join(spans, ActiveSpan { from: at, to: self.end, hard: self.hard_end });
        }
    }

    fn planned_spans(&self, position: u64) -> Vec<ActiveSpan> {
        let mut spans = Vec::new();
        let mut since = (self.start > position).then_some(Duration::ZERO);
        let (mut number, mut begins) = (self.start, Duration::ZERO);
        for stage in &self.stages {
            if stage.target > position && since.is_none() {
                // Wanted from the (position + 1 − number)-th change upwards.
                since = Some(begins + part(stage.duration, position + 1 - number, stage.target - number));
            } else if stage.target <= position
                && let Some(from) = since.take()
            {
                let to = begins + part(stage.duration, number - position, number - stage.target);
                join(&mut spans, ActiveSpan { from, to, hard: (to + self.ramp_down).min(self.hard_end) });
            }
            (number, begins) = (stage.target, begins + stage.duration);
        }
        if let Some(from) = since {
            join(&mut spans, ActiveSpan { from, to: self.end, hard: self.hard_end });
        }
        spans
    }

    /// The number of users wanted at a time, over the whole test (for the progress line).
    pub fn number(&self, at: Duration) -> u64 {
        if let Some((_, number)) = self.changes.iter().rev().find(|(from, _)| *from <= at) {
            return *number;
        }
        let (mut number, mut begins) = (self.start, Duration::ZERO);
        for stage in &self.stages {
            let ends = begins + stage.duration;
            if at < ends {
                let changes = number.abs_diff(stage.target);
                let done = u128::from(changes) * (at - begins).as_nanos() / stage.duration.as_nanos();
                let done = u64::try_from(done).expect("a part of the changes");
                return if stage.target > number { number + done } else { number - done };
            }
            (number, begins) = (stage.target, ends);
        }
        number
    }
}

/// Adds a span, to the last one where they touch.
fn join(spans: &mut Vec<ActiveSpan>, span: ActiveSpan) {
    match spans.last_mut() {
        Some(last) if last.to == span.from => *last = ActiveSpan { from: last.from, ..span },
        _ => spans.push(span),
    }
}

/// Lets an iteration that is still running when its user is wanted again go on.
fn bridge(spans: &mut [ActiveSpan]) {
    for earlier in (1..spans.len()).rev() {
        let next = spans[earlier];
        let span = &mut spans[earlier - 1];
        if next.from <= span.hard {
            span.hard = next.hard;
        }
    }
}

/// `whole × i / n` in whole nanoseconds.
fn part(whole: Duration, i: u64, n: u64) -> Duration {
    debug_assert!(i <= n, "{i} of {n} changes");
    let ns = whole.as_nanos() * u128::from(i) / u128::from(n.max(1));
    Duration::from_nanos(u64::try_from(ns).expect("a part of a duration that was given in nanoseconds"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    fn spans(ramp: &Ramp, position: u64) -> Vec<(u128, u128, u128)> {
        let all = ramp.spans(position);
        all.iter().map(|span| (span.from.as_millis(), span.to.as_millis(), span.hard.as_millis())).collect()
    }

    #[test]
    fn users_come_and_go_at_the_times_of_k6() {
        // As measured with k6: 0 → 4 in 2 s, a jump to 2, → 0 in 1 s.
        let stages = [
            Stage { duration: ms(2000), target: 4 },
            Stage { duration: ms(0), target: 2 },
            Stage { duration: ms(1000), target: 0 },
        ];
        let ramp = Ramp::new(0, &stages, ms(200), ms(30_000));
        assert_eq!(spans(&ramp, 0), [(500, 3000, 3200)]);
        assert_eq!(spans(&ramp, 1), [(1000, 2500, 2700)]);
        assert_eq!(spans(&ramp, 2), [(1500, 2000, 2200)]);
        assert_eq!(spans(&ramp, 3), [(2000, 2000, 2200)], "the fourth user comes at the very moment of the jump");
        assert_eq!((ramp.peak(), ramp.end()), (4, ms(3000)));
    }

    #[test]
    fn grace_ends_with_the_scenario_and_bridges_short_gaps() {
        let stages = [Stage { duration: ms(4000), target: 0 }, Stage { duration: ms(4000), target: 4 }];
        let long = Ramp::new(4, &stages, ms(90_000), ms(1000));
        assert_eq!(spans(&long, 3), [(0, 1000, 9000), (8000, 8000, 9000)], "the fourth comes back at the end only");
        assert_eq!(spans(&long, 2), [(0, 2000, 9000), (7000, 8000, 9000)]);
        let short = Ramp::new(4, &stages, ms(500), ms(1000));
        assert_eq!(spans(&short, 2), [(0, 2000, 2500), (7000, 8000, 9000)]);
        assert_eq!(spans(&short, 0), [(0, 4000, 4500), (5000, 8000, 9000)]);
        let bridging = Ramp::new(4, &stages, ms(1000), ms(1000));
        assert_eq!(spans(&bridging, 0), [(0, 4000, 9000), (5000, 8000, 9000)]);
    }

    #[test]
    fn a_changed_ramp_keeps_what_was_before() {
        let stages = [Stage { duration: ms(4000), target: 8 }, Stage { duration: ms(4000), target: 0 }];
        let ramp = Ramp::new(0, &stages, ms(200), ms(1000));
        // Five at the second second, then two, then eleven.
        let changed = ramp.with_number_from(ms(2500), 2).with_number_from(ms(6000), 11);
        assert_eq!([ms(2499), ms(2500), ms(5999), ms(6000), ms(7999)].map(|at| changed.number(at)), [4, 2, 2, 11, 11]);
        assert_eq!(spans(&changed, 0), [(500, 8000, 9000)]);
        assert_eq!(spans(&changed, 3), [(2000, 2500, 2700), (6000, 8000, 9000)]);
        assert_eq!(spans(&changed, 10), [(6000, 8000, 9000)], "more than were planned");
        assert_eq!(spans(&changed, 11), []);
        let quick = ramp.with_number_from(ms(3000), 1).with_number_from(ms(3100), 6);
        assert_eq!(spans(&quick, 2), [(1500, 3000, 9000), (3100, 8000, 9000)], "its iteration may go on");
        let none = ramp.with_number_from(ms(3000), 0);
        assert_eq!((spans(&none, 0), none.number(ms(5000))), (vec![(500, 3000, 3200)], 0));
    }

    #[test]
    fn spans_and_number_agree_at_every_moment() {
        let stages = [(700, 9), (0, 2), (300, 2), (500, 13), (900, 0), (100, 5), (0, 0), (0, 3), (200, 3)];
        let stages = stages.map(|(duration, target)| Stage { duration: ms(duration), target });
        let ramp = Ramp::new(3, &stages, ms(0), ms(0));
        let all: Vec<Vec<ActiveSpan>> = (0..ramp.peak()).map(|position| ramp.spans(position)).collect();
        for at in (0..ramp.end().as_micros() as u64).step_by(137).map(Duration::from_micros) {
            let wanted = all.iter().flatten().filter(|span| span.from <= at && at < span.to).count() as u64;
            assert_eq!(wanted, ramp.number(at), "{at:?}");
        }
    }
}
