//! The users of a lane who can go on, in the order in which they were woken, and what polls them.
//!
//! A user is polled three or four times an iteration, so a poll has to be cheap: as a task of tokio each user paid some
//! two hundred instructions a poll for the task's state, its budget and its scheduler. Here a wake is a push, and all
//! users of a lane are one task of tokio. That task gives way after as many polls as tokio allows its own tasks before
//! it looks at sockets and timers, and when the users have used up the budget that tokio gives a task.
//!
//! Wakers may be called on any thread. A user that panics takes the task down with it.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use tokio::task::coop::has_budget_remaining;

/// Polls before sockets and timers have their turn: tokio's own number.
const POLLS: usize = 61;

/// The users of one lane.
#[derive(Default)]
pub(crate) struct RunQueue {
    tasks: RefCell<Vec<Option<Box<Task>>>>,
    /// Tasks that have not ended.
    left: Cell<usize>,
    is_closed: Cell<bool>,
    /// Those of `Ready::woken` whose turn has come, the first one last.
    turn: RefCell<Vec<usize>>,
    ready: Arc<Ready>,
}

/// One user.
struct Task {
    work: Pin<Box<dyn Future<Output = ()>>>,
    waker: Waker,
    woken: Arc<Woken>,
}

/// Who was woken.
#[derive(Default)]
struct Ready(Mutex<ReadyState>);

#[derive(Default)]
struct ReadyState {
    woken: Vec<usize>,
    /// Of the task that polls the users, while it waits for one to be woken.
    driver: Option<Waker>,
}

impl Ready {
    fn lock(&self) -> MutexGuard<'_, ReadyState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, task: usize) {
        let mut state = self.lock();
        state.woken.push(task);
        let driver = state.driver.take();
        drop(state);
        if let Some(driver) = driver {
            driver.wake();
        }
    }
}

/// The waker of one user.
struct Woken {
    task: usize,
    is_queued: AtomicBool,
    ready: Arc<Ready>,
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.is_queued.swap(true, Ordering::AcqRel) {
            self.ready.add(self.task);
        }
    }
}

impl RunQueue {
    /// Adds a user, to be polled behind those who are ready.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + 'static) {
        let mut tasks = self.tasks.borrow_mut();
        let task = tasks.len();
        let woken = Arc::new(Woken { task, is_queued: AtomicBool::new(true), ready: Arc::clone(&self.ready) });
        tasks.push(Some(Box::new(Task { work: Box::pin(work), waker: Waker::from(Arc::clone(&woken)), woken })));
        drop(tasks);
        self.left.set(self.left.get() + 1);
        self.ready.add(task);
    }

    /// Polls users until all have ended.
    pub(crate) async fn join(&self) {
        self.close();
        self.run().await;
    }

    /// No user will be added: `run` may return.
    pub(crate) fn close(&self) {
        self.is_closed.set(true);
        let driver = self.ready.lock().driver.take();
        driver.into_iter().for_each(Waker::wake);
    }

    /// Polls users until the queue is closed and all have ended.
    pub(crate) async fn run(&self) {
        self.poll_until(|queue| queue.is_closed.get() && queue.left.get() == 0).await;
    }

    /// Polls users until none can go on.
    pub(crate) async fn settle(&self) {
        self.poll_until(|queue| queue.turn.borrow().is_empty() && queue.ready.lock().woken.is_empty()).await;
    }

    async fn poll_until(&self, is_over: impl Fn(&RunQueue) -> bool) {
        poll_fn(|context| self.poll_some(context, &is_over)).await;
    }

    fn poll_some(&self, context: &mut Context<'_>, is_over: impl Fn(&RunQueue) -> bool) -> Poll<()> {
        for _ in 0..POLLS {
            let Some(task) = self.next() else {
                if is_over(self) {
                    return Poll::Ready(());
                }
                let mut ready = self.ready.lock();
                if ready.woken.is_empty() {
                    ready.driver = Some(context.waker().clone());
                    return Poll::Pending;
                }
                continue;
            };
            self.poll_task(task);
            if !has_budget_remaining() {
                break;
            }
        }
        if self.left.get() == 0 && is_over(self) {
            return Poll::Ready(());
        }
        let given = pin!(tokio::task::yield_now()).poll(context);
        debug_assert!(given.is_pending(), "the first poll of yield_now is pending");
        Poll::Pending
    }

    /// The user whose turn it is.
    fn next(&self) -> Option<usize> {
        let mut turn = self.turn.borrow_mut();
        if turn.is_empty() {
            std::mem::swap(&mut *turn, &mut self.ready.lock().woken);
            turn.reverse();
        }
        turn.pop()
    }

    fn poll_task(&self, at: usize) {
        // Taken out, because a task may add another one.
        let Some(mut task) = self.tasks.borrow_mut()[at].take() else { return };
        task.woken.is_queued.store(false, Ordering::Release);
        match task.work.as_mut().poll(&mut Context::from_waker(&task.waker)) {
            Poll::Pending => self.tasks.borrow_mut()[at] = Some(task),
            Poll::Ready(()) => self.left.set(self.left.get() - 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::FakeClock;
    use std::rc::Rc;
    use tokio::task::yield_now;

    type Diary = Rc<RefCell<Vec<&'static str>>>;

    /// Pending once, and woken at once.
    async fn hop() {
        let mut is_first = true;
        poll_fn(|context| {
            context.waker().wake_by_ref();
            if std::mem::take(&mut is_first) { Poll::Pending } else { Poll::Ready(()) }
        })
        .await;
    }

    #[test]
    fn users_have_their_turn_in_the_order_in_which_they_were_woken() {
        let (queue, diary) = (RunQueue::default(), Diary::default());
        for names in [["a1", "a2"], ["b1", "b2"], ["c1", "c2"]] {
            let diary = Rc::clone(&diary);
            queue.spawn(async move {
                diary.borrow_mut().push(names[0]);
                hop().await;
                diary.borrow_mut().push(names[1]);
            });
        }
        FakeClock::new().run(queue.join());
        assert_eq!(*diary.borrow(), ["a1", "b1", "c1", "a2", "b2", "c2"]);
    }

    #[test]
    fn a_user_may_add_another_and_the_queue_waits_for_both() {
        let (queue, diary) = (Rc::new(RunQueue::default()), Diary::default());
        let (inner, log) = (Rc::clone(&queue), Rc::clone(&diary));
        queue.spawn(async move {
            let second = Rc::clone(&log);
            inner.spawn(async move {
                hop().await;
                second.borrow_mut().push("second");
            });
            log.borrow_mut().push("first");
        });
        FakeClock::new().run(queue.join());
        assert_eq!(*diary.borrow(), ["first", "second"]);
    }

    #[test]
    fn settling_ends_when_everybody_waits_and_running_when_the_queue_is_closed_too() {
        let (queue, clock) = (Rc::new(RunQueue::default()), FakeClock::new());
        let (gate, diary) = (Rc::new(tokio::sync::Notify::new()), Diary::default());
        for _ in 0..3 * POLLS {
            let (gate, diary) = (Rc::clone(&gate), Rc::clone(&diary));
            queue.spawn(async move {
                diary.borrow_mut().push("waits");
                gate.notified().await;
                diary.borrow_mut().push("ends");
            });
        }
        clock.run(async {
            queue.settle().await;
            assert_eq!(diary.borrow().len(), 3 * POLLS, "all have begun to wait");
            let running = Rc::clone(&queue);
            let running = tokio::task::spawn_local(async move { running.run().await });
            gate.notify_waiters();
            while diary.borrow().len() < 6 * POLLS {
                yield_now().await;
            }
            yield_now().await;
            assert!(!running.is_finished(), "another one may come");
            queue.close();
            running.await.unwrap();
        });
    }

    #[test]
    fn a_user_who_is_always_ready_leaves_time_for_other_tasks() {
        let (queue, polls) = (RunQueue::default(), Rc::new(Cell::new(0)));
        let (is_over, seen) = (Rc::new(Cell::new(false)), Rc::clone(&polls));
        let ends = Rc::clone(&is_over);
        queue.spawn(async move {
            while !ends.get() {
                seen.set(seen.get() + 1);
                hop().await;
            }
        });
        FakeClock::new().run(async {
            tokio::task::spawn_local(async move {
                yield_now().await;
                is_over.set(true);
            });
            queue.join().await;
        });
        assert!((1..=3 * POLLS).contains(&polls.get()), "{} polls", polls.get());
    }

    #[test]
    fn users_are_woken_from_other_threads() {
        let queue = RunQueue::default();
        for _ in 0..100 {
            queue.spawn(async {
                let (told, heard) = tokio::sync::oneshot::channel();
                std::thread::spawn(move || told.send(7));
                assert_eq!(heard.await, Ok(7));
            });
        }
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(queue.join());
        assert_eq!(queue.left.get(), 0);
    }
}
