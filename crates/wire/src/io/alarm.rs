//! Waiting for a point of the worker's clock: tokio's timers, or those of a simulation where one is installed.
//!
//! The one place which knows that there are two kinds. Refuses to be more exact than tokio, whose timers are rounded up
//! to milliseconds; a simulation's are exact.

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use tokio::time::Sleep;

#[cfg(feature = "simulated")]
use crate::io::simulated::SimulatedAlarm;

use crate::io::stamps::{StampClock, Tick};

/// A timer that can be set again.
pub(crate) enum Alarm {
    /// Tokio's; boxed, because tokio wants it not to move.
    Tokio(Pin<Box<Sleep>>),
    /// Of the installed simulation.
    #[cfg(feature = "simulated")]
    Simulated(SimulatedAlarm),
}

impl Alarm {
    /// One that goes off then.
    pub(crate) fn at(clock: &StampClock, tick: Tick) -> Alarm {
        #[cfg(feature = "simulated")]
        if let Some(alarm) = SimulatedAlarm::at(tick) {
            return Alarm::Simulated(alarm);
        }
        Alarm::Tokio(Box::pin(tokio::time::sleep_until(clock.instant(tick).into())))
    }

    /// It goes off then instead.
    pub(crate) fn set(&mut self, clock: &StampClock, tick: Tick) {
        match self {
            Alarm::Tokio(sleep) => sleep.as_mut().reset(clock.instant(tick).into()),
            #[cfg(feature = "simulated")]
            Alarm::Simulated(alarm) => alarm.set(tick),
        }
    }

    /// Whether it has gone off.
    #[inline]
    pub(crate) fn is_elapsed(&self) -> bool {
        match self {
            Alarm::Tokio(sleep) => sleep.is_elapsed(),
            #[cfg(feature = "simulated")]
            Alarm::Simulated(alarm) => alarm.is_elapsed(),
        }
    }

    /// Ready when it has gone off.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match self {
            Alarm::Tokio(sleep) => sleep.as_mut().poll(cx),
            #[cfg(feature = "simulated")]
            Alarm::Simulated(alarm) => alarm.poll(cx),
        }
    }
}

/// Awaits until the deadline; `None` when it passed.
pub(crate) async fn within<T>(
    clock: &StampClock,
    deadline: Option<Tick>,
    future: impl Future<Output = T>,
) -> Option<T> {
    let Some(deadline) = deadline else { return Some(future.await) };
    let mut alarm = Alarm::at(clock, deadline);
    let mut future = pin!(future);
    std::future::poll_fn(|cx| match future.as_mut().poll(cx) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending => alarm.poll(cx).map(|()| None),
    })
    .await
}
