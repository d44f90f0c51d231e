//! How much of its worker a virtual user gets who computes without waiting.
//!
//! It continues in small slices between which others have their turn. After a second it is taken for stuck: while
//! others are at work it gets one slice in a hundred of its length, so that they keep their pace, and all of the worker
//! while they are not. All who compute long share that hundredth. Waiting for anything begins again.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use tokio::time::Sleep;

use crate::coroutine::carrier::Carrier;

/// A user that has computed this long without waiting computes long.
const LONG: Duration = Duration::from_secs(1);

/// A slice after the first.
const SLICE: Duration = Duration::from_millis(1);

/// A slice of somebody who computes long.
const LONG_SLICE: Duration = Duration::from_micros(500);

/// From one of those slices to the next while others are at work. A user that has not run for this long is not at work.
const APART: Duration = Duration::from_millis(50);

/// One user's computing since it last waited.
#[derive(Default)]
pub(crate) struct Computation {
    used: Duration,
    turn: Option<Instant>,
    sleep: Option<Pin<Box<Sleep>>>,
}

impl Computation {
    /// What it has had of the worker.
    pub fn used(&self) -> Duration {
        self.used
    }

    /// Whether others come first.
    pub fn is_long(&self) -> bool {
        self.used >= LONG
    }

    /// How long the next slice is.
    pub fn slice(&self) -> Duration {
        if self.is_long() { LONG_SLICE } else { SLICE }
    }

    /// A slice is over.
    pub fn add(&mut self, took: Duration) {
        self.used += took;
    }

    /// Ready when the next slice may begin.
    pub fn poll_turn(&mut self, carrier: &Carrier, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            let now = Instant::now();
            let others_ran = if self.is_long() { carrier.others_ran(now) } else { return Poll::Ready(()) };
            let turn = *self.turn.get_or_insert_with(|| carrier.take_turn(now, APART));
            if turn <= now || now - others_ran >= APART {
                self.turn = None;
                self.sleep = None;
                return Poll::Ready(());
            }
            let until = turn.min(now + APART).into();
            let sleep = self.sleep.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(until)));
            ready!(sleep.as_mut().poll(cx));
            self.sleep = None;
        }
    }
}
