//! The one timer of a connection, for the deadlines of its requests.
//!
//! A deadline mostly lies a minute ahead and the response comes in a millisecond: a timer armed for each request would
//! cost more than the request. It stays armed for an earlier request's deadline and is armed again only when it fires
//! too early. Refuses two waiters: a connection carries one exchange at a time. Invariant: while a deadline is waited
//! for, the timer fires at it or before, and wakes the last that polled.

use std::task::{Context, Poll, Waker};

use crate::io::alarm::Alarm;
use crate::io::stamps::{StampClock, Tick};

/// A timer, or none yet.
#[derive(Default)]
pub(crate) struct DeadlineTimer(Option<Armed>);

struct Armed {
    alarm: Alarm,
    /// When it fires.
    at: Tick,
    /// Whom it wakes.
    waker: Waker,
}

impl DeadlineTimer {
    /// Whether the deadline has passed; if not, the poller is woken when it does.
    #[inline]
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>, clock: &StampClock, deadline: Tick) -> Poll<()> {
        if let Some(armed) = &self.0
            && armed.at <= deadline
            && !armed.alarm.is_elapsed()
            && armed.waker.will_wake(cx.waker())
        {
            return Poll::Pending;
        }
        self.arm(cx, clock, deadline)
    }

    // Not inlined: a timer that is armed for this deadline stays as it is at most polls.
    #[inline(never)]
    fn arm(&mut self, cx: &mut Context<'_>, clock: &StampClock, deadline: Tick) -> Poll<()> {
        // Asked before polling: a response that never pauses uses up tokio's budget, and then a timer never is ready.
        if Tick::now() >= deadline {
            self.0 = None;
            return Poll::Ready(());
        }
        let armed = self.0.get_or_insert_with(|| Armed {
            alarm: Alarm::at(clock, deadline),
            at: deadline,
            waker: cx.waker().clone(),
        });
        if armed.at > deadline || armed.alarm.is_elapsed() {
            armed.alarm.set(clock, deadline);
            armed.at = deadline;
        }
        armed.waker.clone_from(cx.waker());
        while armed.alarm.poll(cx).is_ready() {
            if Tick::now() >= deadline {
                self.0 = None;
                return Poll::Ready(());
            }
            armed.alarm.set(clock, deadline);
            armed.at = deadline;
        }
        if !tokio::task::coop::has_budget_remaining() {
            // The timer was not even looked at. Whoever polls is woken at once for that, and arms it then.
            self.0 = None;
        }
        Poll::Pending
    }
}
