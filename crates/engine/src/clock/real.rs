//! CLOCK_MONOTONIC, and one absolute timerfd a worker for everybody who sleeps there.
//!
//! tokio's timers are rounded to milliseconds: too coarse for arrival rates, and `sleep(0.001)` would take two
//! milliseconds. All sleepers of a worker share one heap; the kernel hears only of changes of the earliest deadline.
//! The timerfd is never read: readiness is edge-triggered, and setting it again clears it. In a virtual machine setting
//! it takes 7 µs, so that happens once an event-loop turn, behind what a timer started: `HOPS`. Measured at 10,000
//! starts a second on two workers: 20-30 µs late in the median, 50-90 µs in 99 of 100 cases, so nothing is gained by
//! waking early and spinning. Outside a worker (`drive` was not called) sleeping falls back to tokio's timer.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime, timerfd_create,
    timerfd_settime,
};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::Clock;
use super::timers::{Ticket, Timers};

/// Where a run's time starts: the same for all its workers.
#[derive(Clone, Copy, Debug)]
pub struct Origin {
    instant: Instant,
    /// The monotonic clock of the kernel at `instant`; a timerfd wants absolute times on it.
    kernel: Duration,
    epoch_ns: u64,
}

impl Origin {
    /// Time starts now.
    #[expect(clippy::disallowed_methods, reason = "this is the clock")]
    pub fn now() -> Self {
        let (instant, kernel) = same_moment();
        let epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Origin {
            instant,
            kernel: Duration::new(kernel.tv_sec.unsigned_abs(), u32::try_from(kernel.tv_nsec).unwrap_or_default()),
            epoch_ns: u64::try_from(epoch.as_nanos()).unwrap_or(u64::MAX),
        }
    }

    /// What the kernel's monotonic clock showed when time started.
    pub fn kernel(&self) -> Duration {
        self.kernel
    }

    /// The instant at which time starts.
    pub fn instant(&self) -> Instant {
        self.instant
    }
}

/// The present by std and by the kernel. The instant is the earlier one, so that no timer goes off before its time; how
/// much earlier is how late all timers will be, so an attempt that the machine interrupted is repeated.
#[expect(clippy::disallowed_methods, reason = "this is the clock")]
fn same_moment() -> (Instant, Timespec) {
    let attempt = || {
        let instant = Instant::now();
        let kernel = clock_gettime(ClockId::Monotonic);
        (instant.elapsed(), instant, kernel)
    };
    let (_, instant, kernel) = closest(attempt);
    (instant, kernel)
}

/// The first attempt that took less than a microsecond; if none of a hundred and one did, the shortest.
fn closest<A, B>(mut attempt: impl FnMut() -> (Duration, A, B)) -> (Duration, A, B) {
    let mut best = attempt();
    for _ in 0..100 {
        if best.0 < Duration::from_micros(1) {
            break;
        }
        let next = attempt();
        if next.0 < best.0 {
            best = next;
        }
    }
    best
}

/// The real clock of one worker. Clones share the sleepers.
#[derive(Clone, Debug)]
pub struct RealClock {
    origin: Origin,
    shared: Rc<RealState>,
}

#[derive(Debug, Default)]
struct RealState {
    timers: RefCell<Timers>,
    fd: RefCell<Option<Rc<AsyncFd<OwnedFd>>>>,
    /// The earliest deadline that somebody waits for.
    due: Cell<Option<Duration>>,
    /// What the kernel knows.
    armed: Cell<Option<Duration>>,
    /// The task that tells the kernel, and how many turns it waits before it does; 0: nothing is to be told.
    driver: RefCell<Option<Waker>>,
    /// Goes off in place of the kernel's timer, which refused a time.
    stand_in: RefCell<Option<Pin<Box<tokio::time::Sleep>>>>,
    hops: Cell<u32>,
    #[cfg(test)]
    settings: Cell<u32>,
}

/// Turns of the event loop between a deadline and telling the kernel of the next one: in the first the pacing starts a
/// user and asks for its next start, in the second the user sends its request.
const HOPS: u32 = 2;

impl RealClock {
    /// A clock without a timerfd yet: it sleeps by tokio's timer until `drive` runs.
    pub fn new(origin: Origin) -> Self {
        RealClock { origin, shared: Rc::new(RealState::default()) }
    }

    /// Wakes the sleepers of this worker; runs as a task of the worker for as long as it lives.
    pub(crate) fn drive(&self) -> io::Result<impl Future<Output = ()> + use<>> {
        let fd = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
        #[expect(deprecated, reason = "its successor is unsafe; an OwnedFd keeps the descriptor open and unchanged")]
        let fd = Rc::new(AsyncFd::with_interest(fd, Interest::READABLE)?);
        *self.shared.fd.borrow_mut() = Some(Rc::clone(&fd));
        let clock = self.clone();
        Ok(poll_fn(move |context| clock.poll_drive(&fd, context)))
    }

    /// Looks whether the kernel's timer went off, and sets it anew when that was asked for. Never ends, unless the
    /// timerfd breaks.
    fn poll_drive(&self, fd: &AsyncFd<OwnedFd>, context: &mut Context<'_>) -> Poll<()> {
        let state = &self.shared;
        if !state.driver.borrow().as_ref().is_some_and(|waker| waker.will_wake(context.waker())) {
            *state.driver.borrow_mut() = Some(context.waker().clone());
        }
        loop {
            match fd.poll_read_ready(context) {
                Poll::Ready(Ok(mut ready)) => ready.clear_ready(),
                Poll::Ready(Err(_)) => return Poll::Ready(()),
                Poll::Pending => break,
            }
            // Nothing when `nudge` was earlier: the event told of the time before.
            self.nudge(self.now());
        }
        if self.poll_stand_in(context) {
            self.nudge(self.now());
        }
        debug_assert!(state.hops.get() <= HOPS, "{} turns", state.hops.get());
        match state.hops.get() {
            0 => {}
            1 => {
                state.hops.set(0);
                self.nudge(self.now());
                // Whoever was woken asks for the next deadline first.
                if state.hops.get() == 0 {
                    self.arm();
                }
            }
            hops => {
                state.hops.set(hops - 1);
                context.waker().wake_by_ref();
            }
        }
        Poll::Pending
    }

    /// Whether the stand-in for the kernel's timer went off.
    fn poll_stand_in(&self, context: &mut Context<'_>) -> bool {
        let mut stand_in = self.shared.stand_in.borrow_mut();
        let went_off = stand_in.as_mut().is_some_and(|sleep| sleep.as_mut().poll(context).is_ready());
        if went_off {
            *stand_in = None;
            self.shared.armed.set(None);
        }
        went_off
    }

    /// Wakes who is due already. A busy event loop looks at its timerfd only after dozens of tasks; between iterations
    /// the time is known anyway.
    pub(crate) fn nudge(&self, now: Duration) {
        if self.shared.due.get().is_none_or(|due| due > now) {
            return;
        }
        loop {
            let due = self.shared.timers.borrow_mut().pop_due(now);
            let Some(waker) = due else { break };
            waker.wake();
        }
        self.shared.due.set(self.shared.timers.borrow_mut().next());
        debug_assert!(self.shared.due.get().is_none_or(|due| due > now), "each sleeper that was due is woken");
        self.arm_soon();
    }

    /// Has the kernel told the earliest deadline, behind the tasks that can go on now.
    fn arm_soon(&self) {
        let driver = self.shared.driver.borrow();
        let Some(driver) = &*driver else { return self.arm() };
        if self.shared.hops.replace(HOPS) == 0 {
            driver.wake_by_ref();
        }
    }

    /// Tells the kernel the earliest deadline, unless it knows one at least as early that is still to come.
    fn arm(&self) {
        let Some(next) = self.shared.due.get() else { return };
        let now = self.now();
        if self.shared.armed.get().is_some_and(|armed| armed <= next && armed > now) {
            return;
        }
        let Some(fd) = self.shared.fd.borrow().clone() else { return };
        let at = self.origin.kernel + next;
        let spec = Itimerspec {
            it_interval: Timespec { tv_sec: 0, tv_nsec: 0 },
            it_value: Timespec {
                tv_sec: i64::try_from(at.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: at.subsec_nanos().into(),
            },
        };
        if timerfd_settime(&*fd, TimerfdTimerFlags::ABSTIME, &spec).is_err() {
            // Later by up to a millisecond, but the test goes on and ends.
            let sleep = tokio::time::sleep_until((self.origin.instant + next).into());
            *self.shared.stand_in.borrow_mut() = Some(Box::pin(sleep));
            self.shared.driver.borrow().iter().for_each(Waker::wake_by_ref);
        }
        self.shared.armed.set(Some(next));
        #[cfg(test)]
        self.shared.settings.set(self.shared.settings.get() + 1);
    }
}

impl Clock for RealClock {
    /// By the kernel's clock, as timers are, and without the checks of `Instant`'s arithmetic.
    #[inline]
    #[expect(clippy::disallowed_methods, reason = "this is the clock")]
    fn now(&self) -> Duration {
        let (now, origin) = (clock_gettime(ClockId::Monotonic), self.origin.kernel);
        let (mut seconds, mut nanos) =
            (now.tv_sec - origin.as_secs() as i64, now.tv_nsec - i64::from(origin.subsec_nanos()));
        if nanos < 0 {
            (seconds, nanos) = (seconds - 1, nanos + 1_000_000_000);
        }
        if seconds < 0 { Duration::ZERO } else { Duration::new(seconds as u64, nanos as u32) }
    }

    async fn sleep_until(&self, deadline: Duration) {
        if deadline <= self.now() {
            return;
        }
        if self.shared.fd.borrow().is_some() {
            RealSleep { clock: self, deadline, ticket: None }.await;
        } else {
            tokio::time::sleep_until((self.origin.instant + deadline).into()).await;
        }
    }

    fn epoch_ns(&self, at: Duration) -> u64 {
        let since = at.as_secs().saturating_mul(1_000_000_000).saturating_add(at.subsec_nanos().into());
        self.origin.epoch_ns.saturating_add(since)
    }
}

/// One sleeper among those of the worker.
struct RealSleep<'a> {
    clock: &'a RealClock,
    deadline: Duration,
    ticket: Option<Ticket>,
}

impl Future for RealSleep<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut timers = self.clock.shared.timers.borrow_mut();
        if let Some(ticket) = self.ticket {
            return if timers.renew(ticket, context.waker()) { Poll::Pending } else { Poll::Ready(()) };
        }
        let (ticket, earliest) = timers.add(self.deadline, context.waker().clone());
        drop(timers);
        self.ticket = Some(ticket);
        if earliest {
            self.clock.shared.due.set(Some(self.deadline));
            self.clock.arm_soon();
        }
        Poll::Pending
    }
}

impl Drop for RealSleep<'_> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            self.clock.shared.timers.borrow_mut().remove(ticket);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs `work` on a worker's kind of event loop; fails when it takes longer than any machine needs.
    fn driven<F: Future<Output = ()> + 'static>(work: impl FnOnce(RealClock) -> F) {
        let options = tokio::runtime::LocalOptions::default();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build_local(options).unwrap();
        runtime.block_on(async {
            let clock = RealClock::new(Origin::now());
            tokio::task::spawn_local(clock.drive().unwrap());
            let patience = Duration::from_secs(60);
            assert!(tokio::time::timeout(patience, work(clock)).await.is_ok(), "a sleeper was lost");
        });
    }

    #[test]
    fn nobody_is_lost_or_woken_early_however_busy_the_loop_is() {
        driven(|clock| async move {
            let sleepers: Vec<_> = (0..300)
                .map(|number| {
                    let (clock, deadline) = (clock.clone(), Duration::from_micros(50 * number));
                    tokio::task::spawn_local(async move {
                        clock.sleep_until(deadline).await;
                        assert!(clock.now() >= deadline);
                    })
                })
                .collect();
            // In turns long enough that deadlines pass unnoticed by the event loop, and gaps long enough that it
            // notices.
            for turn in 0..30 {
                let until = clock.now() + Duration::from_micros(300);
                while clock.now() < until {
                    std::hint::spin_loop();
                }
                if turn % 2 == 0 {
                    clock.nudge(clock.now());
                }
                clock.sleep_until(clock.now() + Duration::from_micros(200)).await;
            }
            for sleeper in sleepers {
                sleeper.await.unwrap();
            }
        });
    }

    #[test]
    fn an_earlier_deadline_is_not_kept_waiting_by_a_later_one() {
        driven(|clock| async move {
            let (hour, soon) = (Duration::from_secs(3600), clock.now() + Duration::from_millis(5));
            tokio::select! {
                () = clock.sleep_until(hour) => panic!("an hour passed"),
                () = clock.sleep_until(soon) => assert!(clock.now() >= soon),
            }
            // The given up sleeper leaves nothing behind that would keep the next one waiting.
            let next = clock.now() + Duration::from_millis(1);
            clock.sleep_until(next).await;
            assert!(clock.now() >= next);
        });
    }

    #[test]
    fn the_timer_is_set_once_for_each_of_many_starts_beside_a_later_deadline() {
        driven(|clock| async move {
            let beat = clock.clone();
            tokio::task::spawn_local(async move { beat.sleep_until(Duration::from_secs(3600)).await });
            let pacing = clock.clone();
            let starts = tokio::task::spawn_local(async move {
                for _ in 0..50 {
                    pacing.sleep_until(pacing.now() + Duration::from_micros(300)).await;
                }
            });
            starts.await.unwrap();
            let settings = clock.shared.settings.get();
            assert!((10..75).contains(&settings), "set {settings} times for 50 starts");
        });
    }

    #[test]
    fn an_interrupted_reading_of_the_clocks_is_repeated() {
        let read = |took_ns: &[u64]| {
            let mut attempts = took_ns.iter().copied().enumerate();
            let (_, chosen, ()) = closest(|| {
                let (number, ns) = attempts.next().expect("no more attempts than these");
                (Duration::from_nanos(ns), number, ())
            });
            (chosen, attempts.len())
        };
        assert_eq!(read(&[999, 1]), (0, 1), "near enough at once");
        assert_eq!(read(&[5000, 1000, 999, 1]), (2, 1), "until one took less than a microsecond");
        let mut all = [9000; 101];
        (all[40], all[41]) = (3000, 3000);
        assert_eq!(read(&all), (40, 0), "the shortest of all");
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "compared with the clock")]
    fn real_moments_have_the_date_of_the_machine() {
        let machine = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64;
        let before = machine();
        let clock = RealClock::new(Origin::now());
        let start = clock.epoch_ns(Duration::ZERO);
        // An hour, because somebody may set the clock of the machine meanwhile.
        assert!(start.abs_diff(before) < 3_600_000_000_000, "{start} and {before}");
        assert_eq!(clock.epoch_ns(Duration::from_millis(1500)) - start, 1_500_000_000);
        assert!(clock.now() <= clock.origin.instant().elapsed());
    }
}
