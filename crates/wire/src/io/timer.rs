//! Waiting to the microsecond: one timerfd a thread for everything that is held there.
//!
//! tokio's timers are rounded up to milliseconds, so a delay of 1 ms would be one of 2, and a client checked against it
//! would look wrong by as much. Never early: a hold ends at its deadline or after it, by what the kernel takes to wake
//! the thread. Works in any task of the thread's runtime; the first hold starts what wakes the others.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

thread_local!(static SLEEPERS: RefCell<Sleepers> = RefCell::default());

/// Everything that is held on this thread.
#[derive(Default)]
struct Sleepers {
    /// By deadline; the number tells those of one moment apart.
    wakers: BTreeMap<(Instant, u64), Waker>,
    issued: u64,
    /// `None` until the first hold, and where the kernel gives no timerfd.
    timer: Option<Rc<AsyncFd<OwnedFd>>>,
    armed: Option<Instant>,
}

/// Holds until then; at once when that is past.
pub async fn sleep_until(deadline: Instant) {
    if Instant::now() >= deadline {
        return;
    }
    if SLEEPERS.with_borrow_mut(Sleepers::start).is_err() {
        return tokio::time::sleep_until(deadline.into()).await;
    }
    Sleep { deadline, key: None }.await;
}

/// Holds for so long and says how long it really was.
pub async fn sleep(wait: Duration) -> Duration {
    let start = Instant::now();
    sleep_until(start + wait).await;
    start.elapsed()
}

/// One that waits; dropping it forgets it.
struct Sleep {
    deadline: Instant,
    key: Option<(Instant, u64)>,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if Instant::now() >= self.deadline {
            return Poll::Ready(());
        }
        SLEEPERS.with_borrow_mut(|sleepers| {
            let deadline = self.deadline;
            let key = *self.key.get_or_insert_with(|| {
                sleepers.issued += 1;
                (deadline, sleepers.issued)
            });
            sleepers.wakers.insert(key, cx.waker().clone());
            sleepers.arm();
        });
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            // The thread ends with connections open: its sleepers may be gone before them.
            let _gone = SLEEPERS.try_with(|sleepers| sleepers.borrow_mut().wakers.remove(&key));
        }
    }
}

impl Sleepers {
    /// Makes the timer and the task that wakes, once a thread.
    fn start(&mut self) -> io::Result<()> {
        if self.timer.is_some() {
            return Ok(());
        }
        let fd = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
        #[expect(deprecated, reason = "its successor is unsafe; an OwnedFd keeps the descriptor open and unchanged")]
        let timer = Rc::new(AsyncFd::with_interest(fd, Interest::READABLE)?);
        self.timer = Some(timer);
        tokio::spawn(wake());
        Ok(())
    }

    /// Tells the kernel the earliest deadline, unless it knows one at least as early.
    fn arm(&mut self) {
        let (Some((next, _)), Some(timer)) = (self.wakers.keys().next().copied(), &self.timer) else { return };
        if self.armed.is_some_and(|armed| armed <= next) {
            return;
        }
        // Relative, because an Instant does not say what the kernel calls it; nothing would disarm the timer.
        let left = next.saturating_duration_since(Instant::now()).max(Duration::from_nanos(1));
        let spec = Itimerspec {
            it_interval: Timespec { tv_sec: 0, tv_nsec: 0 },
            it_value: Timespec {
                tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: left.subsec_nanos().into(),
            },
        };
        if timerfd_settime(&**timer, TimerfdTimerFlags::empty(), &spec).is_err() {
            // Later by up to a millisecond, but whoever waits is woken.
            tokio::spawn(async move {
                tokio::time::sleep(left).await;
                wake_due();
            });
        }
        self.armed = Some(next);
    }

    fn take_due(&mut self) -> Vec<Waker> {
        let later = self.wakers.split_off(&(Instant::now(), u64::MAX));
        std::mem::replace(&mut self.wakers, later).into_values().collect()
    }
}

/// Where the runtime ends before its thread, the next one on this thread makes a timer of its own.
struct Timer;

impl Drop for Timer {
    fn drop(&mut self) {
        let _gone = SLEEPERS.try_with(|sleepers| {
            let mut sleepers = sleepers.borrow_mut();
            (sleepers.timer, sleepers.armed) = (None, None);
        });
    }
}

/// Wakes the sleepers that are due when the timer fires. The timer is never read: setting it again clears its
/// readiness.
async fn wake() {
    let _until_the_runtime_ends = Timer;
    let poll = |cx: &mut Context<'_>| {
        let timer = SLEEPERS.with_borrow(|sleepers| sleepers.timer.clone());
        let Some(timer) = timer else { return Poll::Ready(Err(io::ErrorKind::NotFound.into())) };
        timer.poll_read_ready(cx).map_ok(|mut ready| ready.clear_ready())
    };
    while std::future::poll_fn(poll).await.is_ok() {
        wake_due();
    }
}

/// Wakes who is due and has the kernel told of the next.
fn wake_due() {
    let due = SLEEPERS.with_borrow_mut(|sleepers| {
        sleepers.armed = None;
        sleepers.take_due()
    });
    due.into_iter().for_each(Waker::wake);
    SLEEPERS.with_borrow_mut(Sleepers::arm);
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    fn run<T>(future: impl Future<Output = T>) -> T {
        crate::event_loop().unwrap().block_on(future)
    }

    #[test]
    fn never_early_and_in_order() {
        let order = Arc::new(Mutex::new(Vec::new()));
        run(async {
            let tasks: Vec<_> = [3, 1, 2, 0, 1]
                .into_iter()
                .map(|ms| {
                    let order = order.clone();
                    tokio::spawn(async move {
                        let wait = Duration::from_millis(10 * ms);
                        assert!(sleep(wait).await >= wait);
                        order.lock().unwrap().push(ms);
                    })
                })
                .collect();
            for task in tasks {
                task.await.unwrap();
            }
            assert!(SLEEPERS.with_borrow(|s| s.wakers.is_empty()));
        });
        assert_eq!(*order.lock().unwrap(), [0, 1, 1, 2, 3]);
    }

    #[test]
    fn a_second_runtime_of_the_same_thread_is_woken_too() {
        for _ in 0..3 {
            let wait = Duration::from_millis(3);
            assert!(run(async { tokio::time::timeout(Duration::from_secs(10), sleep(wait)).await }).unwrap() >= wait);
        }
    }

    #[test]
    fn what_is_given_up_is_forgotten_and_hinders_nobody() {
        run(async {
            let given_up = tokio::spawn(sleep(Duration::from_secs(60)));
            let early = tokio::spawn(sleep(Duration::from_millis(5)));
            assert!(sleep(Duration::from_millis(10)).await >= Duration::from_millis(10));
            assert!(early.await.unwrap() >= Duration::from_millis(5));
            given_up.abort();
            assert!(given_up.await.unwrap_err().is_cancelled());
            assert!(SLEEPERS.with_borrow(|s| s.wakers.is_empty()));
            assert!(sleep(Duration::from_millis(5)).await >= Duration::from_millis(5));
        });
    }
}
