//! The one timer of a connection, for the deadlines of its requests.
//!
//! A deadline mostly lies a minute ahead and the response comes in a millisecond: a timer armed for each request would
//! cost more than the request. It stays armed for an earlier request's deadline and is armed again only when it fires
//! too early. Refuses two waiters: a connection carries one exchange at a time. Invariant: while a deadline is waited
//! for, the timer fires at it or before, and wakes the last that polled.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use tokio::time::Sleep;

use crate::io::stamps::{StampClock, Tick};

/// A timer, or none yet.
#[derive(Default)]
pub(crate) struct DeadlineTimer(Option<Armed>);

struct Armed {
    sleep: Pin<Box<Sleep>>,
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
            && !armed.sleep.is_elapsed()
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
        let instant = tokio::time::Instant::from_std(clock.instant(deadline));
        let armed = self.0.get_or_insert_with(|| Armed {
            // Boxed, because tokio wants it not to move, and this struct does.
            sleep: Box::pin(tokio::time::sleep_until(instant)),
            at: deadline,
            waker: cx.waker().clone(),
        });
        if armed.at > deadline || armed.sleep.is_elapsed() {
            armed.sleep.as_mut().reset(instant);
            armed.at = deadline;
        }
        armed.waker.clone_from(cx.waker());
        while armed.sleep.as_mut().poll(cx).is_ready() {
            if Tick::now() >= deadline {
                self.0 = None;
                return Poll::Ready(());
            }
            armed.sleep.as_mut().reset(instant);
            armed.at = deadline;
        }
        if !tokio::task::coop::has_budget_remaining() {
            // The timer was not even looked at. Whoever polls is woken at once for that, and arms it then.
            self.0 = None;
        }
        Poll::Pending
    }
}
