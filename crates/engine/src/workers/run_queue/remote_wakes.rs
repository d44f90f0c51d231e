//! Wakes of users by threads that are not their own: the only thing that threads share while a test runs.
//!
//! A user is in the list once, however often it is woken: its mark says so. The task that runs the users takes the list
//! when `has_woken` says that there is one, and registers its waker before it sleeps. Invariant: a wake that begins
//! before the waker is registered keeps the task from sleeping, and one that begins later wakes it. `cargo xtask
//! sanitize interleavings` tries every order of their steps (loom).

#[cfg(onrush_interleavings)]
use loom::sync::atomic::{AtomicBool, Ordering};
#[cfg(onrush_interleavings)]
use loom::sync::{Mutex, MutexGuard};
use std::sync::PoisonError;
#[cfg(not(onrush_interleavings))]
use std::sync::atomic::{AtomicBool, Ordering};
#[cfg(not(onrush_interleavings))]
use std::sync::{Mutex, MutexGuard};
use std::task::Waker;

/// Who was woken by other threads.
#[derive(Default)]
pub(super) struct RemoteWakes {
    has_woken: AtomicBool,
    state: Mutex<RemoteState>,
}

#[derive(Default)]
struct RemoteState {
    woken: Vec<usize>,
    driver: Option<Waker>,
}

/// Whether a user is in the list.
#[derive(Default)]
pub(super) struct RemoteMark(AtomicBool);

impl RemoteMark {
    /// The user is taken out of the list, and may be woken again. What made a wake find the mark here is seen by what
    /// the user does next: a plain store could come after that, and the wake would be lost (loom found it; not on
    /// x86-64).
    pub(super) fn take_off(&self) {
        self.0.swap(false, Ordering::AcqRel);
    }
}

impl RemoteWakes {
    fn lock(&self) -> MutexGuard<'_, RemoteState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a user that is not in the list, and wakes the task that sleeps.
    pub(super) fn wake(&self, user: usize, mark: &RemoteMark) {
        if mark.0.swap(true, Ordering::AcqRel) {
            return;
        }
        let mut state = self.lock();
        state.woken.push(user);
        self.has_woken.store(true, Ordering::Release);
        let driver = state.driver.take();
        drop(state);
        driver.into_iter().for_each(Waker::wake);
    }

    /// Whether there is a user to take.
    pub(super) fn has_woken(&self) -> bool {
        self.has_woken.load(Ordering::Acquire)
    }

    /// Takes the list. Each user's mark has to be taken off.
    pub(super) fn take(&self, mut each: impl FnMut(usize)) {
        let mut state = self.lock();
        self.has_woken.store(false, Ordering::Relaxed);
        state.woken.drain(..).for_each(&mut each);
    }

    /// Registers the waker of the task, which the first user wakes; false where a user is there already.
    pub(super) fn wait(&self, driver: &Waker) -> bool {
        let mut state = self.lock();
        if state.woken.is_empty() {
            state.driver = Some(driver.clone());
            return true;
        }
        false
    }
}

#[cfg(all(test, onrush_interleavings))]
mod tests {
    use std::sync::Arc as StdArc;
    use std::task::Wake;

    use loom::sync::Arc;
    use loom::sync::atomic::AtomicUsize;
    use loom::thread;

    use super::*;

    /// Wakes a thread of the model.
    struct Sleeper(thread::Thread);

    impl Wake for Sleeper {
        fn wake(self: StdArc<Self>) {
            self.0.unpark();
        }
    }

    /// What the two sides share, and how often each user was found in the list.
    #[derive(Default)]
    struct Shared {
        wakes: RemoteWakes,
        marks: [RemoteMark; 2],
        asked: [AtomicUsize; 2],
    }

    /// Takes users until it has seen each of them after its last wake.
    fn run_users(shared: &Shared, wanted: [usize; 2]) {
        let driver = Waker::from(StdArc::new(Sleeper(thread::current())));
        let mut seen = [0, 0];
        while seen != wanted {
            if shared.wakes.has_woken() {
                shared.wakes.take(|user| {
                    shared.marks[user].take_off();
                    seen[user] = shared.asked[user].load(Ordering::Acquire);
                });
            } else if shared.wakes.wait(&driver) {
                thread::park();
            }
        }
    }

    fn wake(shared: &Shared, user: usize) {
        shared.asked[user].fetch_add(1, Ordering::AcqRel);
        shared.wakes.wake(user, &shared.marks[user]);
    }

    #[test]
    fn no_wake_of_two_threads_is_lost() {
        loom::model(|| {
            let shared = Arc::new(Shared::default());
            let wakers = [0, 1].map(|user| {
                let shared = Arc::clone(&shared);
                thread::spawn(move || wake(&shared, user))
            });
            run_users(&shared, [1, 1]);
            wakers.into_iter().for_each(|waker| waker.join().unwrap());
        });
    }

    #[test]
    fn a_user_that_is_woken_again_while_it_is_taken_has_another_turn() {
        loom::model(|| {
            let shared = Arc::new(Shared::default());
            let other = Arc::clone(&shared);
            let waker = thread::spawn(move || {
                wake(&other, 0);
                wake(&other, 0);
            });
            run_users(&shared, [2, 0]);
            waker.join().unwrap();
        });
    }
}
