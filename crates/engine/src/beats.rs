//! The heartbeat of a worker's event loop: how late it was, how long it stood still, and what it did meanwhile.
//!
//! Beats are due on a fixed schedule. A loop that stands still for 1.4 s misses 140 of them, and each is counted as
//! late as a task would have been that was due then: one late beat among hundreds would hide the stop (coordinated
//! omission). A gap's cause comes from the thread's own times: it computed, it waited for a core, or neither, as when
//! somebody stops the process. Time is an argument; nothing here reads a clock.

use std::time::Duration;

use metrics::Trend;
use serde::{Deserialize, Serialize};

use crate::clock::ThreadTimes;

/// From beat to beat.
pub(crate) const BEAT: Duration = Duration::from_millis(10);
/// A beat that is later than this shows that the loop stood still.
pub(crate) const STALL: Duration = BEAT;

/// What a worker's thread did while its event loop stood still.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Occupation {
    /// It computed: a long call of the script, or work of Onrush itself.
    Computed,
    /// It was ready to run and had no core.
    WaitedForCore,
    /// Neither: the process or the machine was stopped, or a system call blocked.
    #[default]
    StoodStill,
}

/// The longest time for which an event loop did nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Gap {
    /// For how long.
    pub length: Duration,
    /// When it began, from the start of the scenarios.
    pub began: Duration,
    /// What the thread did.
    pub occupation: Occupation,
}

/// What the beats of some time tell, beside how late each was.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Stops {
    /// Beats that could not take place, because the loop stood still when they were due.
    pub(crate) missed: u64,
    /// Time in which the loop stood still for longer than a beat.
    pub(crate) stalled: Duration,
    /// Half the squares of these times, in ms²: by the time of the run, what a random moment had to wait.
    pub(crate) stalled_squares: f64,
    pub(crate) longest: Gap,
}

/// A second of beats: how late each was, in ms. Few enough to be kept one by one.
#[derive(Clone, Debug, Default)]
pub(crate) struct SecondOfBeats {
    pub(crate) lags: Vec<f64>,
    pub(crate) stops: Stops,
}

impl Stops {
    /// The loop came back `late`, at a beat that was due at `began`.
    fn note(&mut self, late: Duration, missed: u64, gap: impl FnOnce() -> Gap) {
        self.missed += missed;
        if late >= STALL {
            self.stalled += late;
            self.stalled_squares += (late.as_secs_f64() * 1e3).powi(2) / 2.0;
        }
        if late > self.longest.length {
            self.longest = gap();
        }
    }

    /// Adds what another time tells.
    pub(crate) fn merge(&mut self, later: &Stops) {
        self.missed += later.missed;
        self.stalled += later.stalled;
        self.stalled_squares += later.stalled_squares;
        if later.longest.length > self.longest.length {
            self.longest = later.longest;
        }
    }
}

/// What the beats of one worker tell.
#[derive(Clone, Debug, Default)]
pub(crate) struct Beats {
    start: Duration,
    /// When the next beat is due.
    due: Duration,
    /// The thread's times at the last beat.
    times: Option<ThreadTimes>,
    pub(crate) lag: Trend,
    pub(crate) stops: Stops,
    /// Since the last report.
    fresh: SecondOfBeats,
}

impl Beats {
    /// Beats from `now` on.
    pub(crate) fn starting(now: Duration, times: Option<ThreadTimes>) -> Beats {
        Beats { start: now, due: now + BEAT, times, ..Beats::default() }
    }

    /// When the next beat is due.
    pub(crate) fn due(&self) -> Duration {
        self.due
    }

    /// A beat takes place `now`; `times` are the thread's by now.
    pub(crate) fn beat(&mut self, now: Duration, times: Option<ThreadTimes>) {
        let late = now.saturating_sub(self.due);
        let (began, mut missed) = (self.due, 0);
        while self.due <= now {
            let ms = now.saturating_sub(self.due).as_secs_f64() * 1e3;
            self.lag.add(ms);
            self.fresh.lags.push(ms);
            missed += u64::from(self.due > began);
            self.due += BEAT;
        }
        let gap = || {
            let occupation = occupation(late, self.times.as_ref(), times.as_ref());
            Gap { length: late, began: began.saturating_sub(self.start), occupation }
        };
        self.stops.note(late, missed, gap);
        self.fresh.stops.note(late, missed, gap);
        debug_assert!(self.due > now && self.due - now <= BEAT, "the next beat is the first one after now");
        debug_assert!(self.fresh.stops.longest.length <= self.stops.longest.length, "a part is no longer than all");
        debug_assert!(self.fresh.stops.missed <= self.stops.missed, "a part is no more than all");
        self.times = times;
    }

    /// Makes up for a beat that is due: a loop that is late at this moment has been so up to now.
    pub(crate) fn catch_up(&mut self, now: Duration, times: Option<ThreadTimes>) {
        if now >= self.due {
            self.beat(now, times);
        }
    }

    /// What the beats since the last report tell.
    pub(crate) fn report(&mut self) -> SecondOfBeats {
        std::mem::take(&mut self.fresh)
    }
}

/// What took most of a gap. A thread whose times nobody knows has stood still.
pub(crate) fn occupation(gap: Duration, before: Option<&ThreadTimes>, after: Option<&ThreadTimes>) -> Occupation {
    let Some((before, after)) = before.zip(after) else { return Occupation::StoodStill };
    let computed = after.ran.saturating_sub(before.ran);
    let waited = after.waited.saturating_sub(before.waited);
    match computed.max(waited) {
        most if most * 2 < gap => Occupation::StoodStill,
        most if most == waited => Occupation::WaitedForCore,
        _ => Occupation::Computed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn times(ran: u64, waited: u64) -> Option<ThreadTimes> {
        Some(ThreadTimes { ran: ms(ran), waited: ms(waited) })
    }

    #[test]
    fn beats_on_time_are_late_by_nothing() {
        let mut beats = Beats::starting(ms(1000), times(0, 0));
        for at in (1010..=2000).step_by(10) {
            assert_eq!(beats.due(), ms(at));
            beats.beat(ms(at), times(0, 0));
        }
        let Stops { missed, stalled, .. } = beats.stops;
        assert_eq!((beats.lag.count(), beats.lag.max(), missed, stalled), (100, 0.0, 0, Duration::ZERO));
    }

    #[test]
    fn a_stop_counts_for_every_beat_that_it_swallowed() {
        let mut beats = Beats::starting(ms(0), times(0, 0));
        (1..=500).for_each(|n| beats.beat(ms(10 * n), times(0, 0)));
        // Due at 5010, comes at 6410: 140 more were due meanwhile.
        beats.beat(ms(6410), times(0, 0));
        assert_eq!(beats.due(), ms(6420));
        assert_eq!((beats.lag.count(), beats.stops.missed), (641, 140));
        assert_eq!(beats.stops.longest, Gap { length: ms(1400), began: ms(5010), occupation: Occupation::StoodStill });
        assert_eq!((beats.stops.stalled, beats.stops.stalled_squares), (ms(1400), 980_000.0));
        assert!((beats.lag.percentile(99.0) - 1340.0).abs() < 5.0, "{}", beats.lag.percentile(99.0));
    }

    #[test]
    fn what_filled_a_gap_is_told_by_the_threads_times() {
        let longest = |ran: u64, waited: u64| {
            let mut beats = Beats::starting(ms(0), times(5, 5));
            beats.beat(ms(110), times(5 + ran, 5 + waited));
            beats.stops.longest.occupation
        };
        assert_eq!(longest(90, 5), Occupation::Computed);
        assert_eq!(longest(5, 90), Occupation::WaitedForCore);
        assert_eq!(longest(20, 20), Occupation::StoodStill);
        let mut unknown = Beats::starting(ms(0), None);
        unknown.beat(ms(110), None);
        assert_eq!(unknown.stops.longest.occupation, Occupation::StoodStill);
    }

    #[test]
    fn gaps_are_told_by_the_time_since_the_first_beat() {
        let mut beats = Beats::starting(ms(5000), None);
        beats.beat(ms(5010), None);
        beats.beat(ms(5220), None);
        assert_eq!((beats.stops.longest.began, beats.stops.longest.length), (ms(20), ms(200)));
    }

    #[test]
    fn a_loop_that_stands_still_at_the_end_was_late() {
        let mut beats = Beats::starting(ms(0), None);
        beats.catch_up(ms(9), None);
        assert_eq!(beats.lag.count(), 0);
        beats.catch_up(ms(45), None);
        assert_eq!((beats.lag.count(), beats.lag.max(), beats.stops.missed), (4, 35.0, 3));
    }

    #[test]
    fn a_report_is_of_the_beats_since_the_last_one() {
        let mut beats = Beats::starting(ms(0), None);
        beats.beat(ms(60), None);
        let first = beats.report();
        assert_eq!((first.lags.len(), first.stops.longest.length), (6, ms(50)));
        beats.beat(ms(75), None);
        let second = beats.report();
        assert_eq!((second.lags.len(), second.stops.longest.length, second.stops.stalled), (1, ms(5), ms(0)));
        assert_eq!((beats.lag.count(), beats.stops.longest.length, beats.stops.missed), (7, ms(50), 5));
    }
}
