//! When a task that never waits lets the others of its thread have their turn: a user that iterates without a pause,
//! and an arrival rate whose starts are late.

use std::time::Duration;

/// Starts made in a row, when they are late, before other tasks get their turn.
const BURST: u32 = 64;
/// How long, and how often, a user may iterate without ever waiting before other tasks get their turn.
const BUSY_LIMIT: (Duration, u32) = (Duration::from_micros(200), 64);

/// Iterations in a row in which one user did not wait for anything.
#[derive(Default)]
pub(crate) struct BusyIterations {
    since: Option<Duration>,
    length: u32,
}

impl BusyIterations {
    /// Whether other tasks should have their turn now.
    pub(crate) fn is_over(&mut self, has_waited: bool, now: Duration) -> bool {
        if has_waited {
            *self = BusyIterations::default();
            return false;
        }
        let since = *self.since.get_or_insert(now);
        self.length += 1;
        let is_over = now - since >= BUSY_LIMIT.0 || self.length >= BUSY_LIMIT.1;
        if is_over {
            *self = BusyIterations::default();
        }
        is_over
    }
}

/// Starts in a row that are late.
#[derive(Default)]
pub(crate) struct LateStarts(u32);

impl LateStarts {
    /// Whether other tasks should have their turn before the next start.
    pub(crate) fn is_over(&mut self, is_late: bool) -> bool {
        self.0 = if is_late { self.0 + 1 } else { 0 };
        let is_over = self.0 >= BURST;
        if is_over {
            self.0 = 0;
        }
        is_over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which of these iterations, given as (whether it waited, its end in µs), are followed by other tasks' turn.
    fn turns(iterations: impl IntoIterator<Item = (bool, u64)>) -> Vec<bool> {
        let mut busy = BusyIterations::default();
        let turn = |(has_waited, ended)| busy.is_over(has_waited, Duration::from_micros(ended));
        iterations.into_iter().map(turn).collect()
    }

    #[test]
    fn a_user_that_never_waits_gives_way_after_a_time_or_a_number_of_iterations() {
        let (o, x) = (false, true);
        assert_eq!(turns([(o, 5), (o, 204), (o, 205), (o, 206)]), [o, o, x, o], "200 µs after the first end");
        assert_eq!(turns([(o, 5), (x, 105), (o, 206), (o, 305), (o, 406)]), [o, o, o, o, x], "waiting begins anew");
        let many = turns((0..129).map(|_| (o, 5)));
        let given: Vec<usize> = (0..129).filter(|at| many[*at]).collect();
        assert_eq!(given, [63, 127], "every 64th");
    }

    #[test]
    fn late_starts_give_way_in_bursts() {
        let mut late = LateStarts::default();
        let given: Vec<u32> = (1..=200).filter(|_| late.is_over(true)).collect();
        assert_eq!(given, [64, 128, 192]);
        assert!(!late.is_over(false), "a start on time waits anyway");
        assert_eq!((1..=64).find(|_| late.is_over(true)), Some(64));
    }
}
