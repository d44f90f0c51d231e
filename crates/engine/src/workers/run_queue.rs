//! The users of a lane as a table: who can go on, in the order in which they asked, and what resumes them.
//!
//! A user is resumed three times an iteration, so that has to be cheap: as a task of tokio each paid some two hundred
//! instructions a time for the task's state, its budget and its scheduler. Here a user is a number in a queue,
//! and all users of a lane are one task of tokio. What wakes a user on its own thread pushes the number; only other
//! threads take a lock.
//!
//! A turn does one kind of work: a user runs its script until it asks for something, what it asked for is begun (a
//! request is sent), or what came of it is taken in (an answer is received). Each kind is done for a group of those who
//! are ready before the next begins: code that is in the processor's cache runs faster, the kernel's and the server's
//! too. The next group comes when this one has done all three, because what a user touches does not stay in the cache
//! while hundreds of others run: with groups of 64, 250 users cost 10 % less of their own time than in one group, 1,000
//! users 13 %. Groups of 16, 32 and 128 cost more than those of 64.
//!
//! The task gives way after as many turns as tokio allows its own tasks before it looks at sockets and timers, and when
//! the users have used up the budget that tokio gives a task. A user that panics takes the task down with it.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use tokio::task::coop::has_budget_remaining;

use crate::vu::Progress;

mod remote_wakes;

use remote_wakes::{RemoteMark, RemoteWakes};

/// Turns before sockets and timers have theirs: tokio's own number.
const TURNS: usize = 61;

/// So many users wait for each other to do one kind of work.
const GROUP: usize = 64;

/// Someone in the table.
pub(crate) trait Resumable {
    /// Goes on until it asks for something or waits for its waker.
    fn resume(&mut self, context: &mut Context<'_>) -> Progress<()>;

    /// Gets it what it asked for; ready when it can be resumed.
    fn attend(&mut self, context: &mut Context<'_>) -> Poll<()>;
}

/// The users of one lane.
pub(crate) struct RunQueue {
    /// Among those of its thread.
    number: usize,
    /// With whoever resumes them, while that is under way.
    rows: RefCell<Rows>,
    /// Those that were added meanwhile.
    added: RefCell<Rows>,
    /// All that were ever added.
    count: Cell<usize>,
    /// Users that have not ended.
    left: Cell<usize>,
    is_closed: Cell<bool>,
    /// Whose turn has come, the first one last; with whoever resumes them, while that is under way.
    turn: RefCell<Vec<usize>>,
    local: Rc<LocalWakes>,
    remote: Arc<RemoteWakes>,
    /// Wakes users for whom something has arrived.
    wake_ready: Box<dyn Fn()>,
}

/// By their numbers; nothing where a user has ended.
type Rows = Vec<Option<Box<Row<dyn Resumable>>>>;

struct Row<U: ?Sized> {
    next: NextTurn,
    waker: Waker,
    woken: Arc<Woken>,
    user: U,
}

/// What a user's next turn does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NextTurn {
    /// The user goes on.
    Resume,
    /// What it has just asked for begins.
    Begin,
    /// What it asked for is looked after.
    Attend,
}

/// How a turn left its user.
#[derive(PartialEq, Eq)]
enum TurnEnd {
    /// With another turn to come, or at its end.
    Goes,
    /// Waiting for its waker.
    Waits,
}

/// Who was woken on the queue's own thread.
#[derive(Default)]
struct LocalWakes {
    queue: RefCell<Queue>,
    /// Whether the task that resumes the users waits for one to be woken.
    is_idle: Cell<bool>,
    driver: RefCell<Option<Waker>>,
}

/// Who is to have a turn, in this order. The marks of all users lie side by side, so that a turn touches one line for
/// many users.
#[derive(Default)]
struct Queue {
    /// Those of the present group that have done one kind of work and come to the next.
    again: Vec<usize>,
    woken: VecDeque<usize>,
    /// By the number of a user: whether it waits in one of the two.
    is_woken: Vec<bool>,
}

impl Queue {
    fn is_empty(&self) -> bool {
        self.again.is_empty() && self.woken.is_empty()
    }

    #[inline]
    fn add(&mut self, user: usize) {
        if !std::mem::replace(&mut self.is_woken[user], true) {
            self.woken.push_back(user);
        }
    }

    /// Adds a user of the present group.
    #[inline]
    fn add_again(&mut self, user: usize) {
        if !std::mem::replace(&mut self.is_woken[user], true) {
            self.again.push(user);
        }
    }

    /// Takes those whose turn is next, the first one last.
    #[inline]
    fn take_turn(&mut self, turn: &mut Vec<usize>) {
        debug_assert!(turn.is_empty(), "a turn is over before the next one begins");
        std::mem::swap(turn, &mut self.again);
        if turn.is_empty() {
            let group = self.woken.len().min(GROUP);
            turn.extend(self.woken.drain(..group));
        }
        debug_assert!(turn.len() <= GROUP, "{} users in a turn", turn.len());
        turn.reverse();
    }
}

thread_local! {
    /// A number that no other thread ever has.
    static THREAD: u64 = {
        static THREADS: AtomicU64 = AtomicU64::new(0);
        THREADS.fetch_add(1, Ordering::Relaxed)
    };
    /// The queues of this thread, by number.
    static QUEUES: RefCell<Vec<Option<Rc<LocalWakes>>>> = const { RefCell::new(Vec::new()) };
}

impl LocalWakes {
    #[inline]
    fn add(&self, user: usize) {
        self.queue.borrow_mut().add(user);
        if self.is_idle.take()
            && let Some(driver) = &*self.driver.borrow()
        {
            driver.wake_by_ref();
        }
    }
}

/// The waker of one user.
struct Woken {
    user: usize,
    by_others: RemoteMark,
    /// Thread and number of the queue.
    thread: u64,
    queue: usize,
    remote: Arc<RemoteWakes>,
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // A thread that is ending has no locals any more: then the queue is gone, or it is another thread's.
        if THREAD.try_with(|thread| *thread == self.thread).unwrap_or(false) {
            let add = |queues: &RefCell<Vec<Option<Rc<LocalWakes>>>>| {
                queues.borrow()[self.queue].iter().for_each(|local| local.add(self.user));
            };
            _ = QUEUES.try_with(add);
        } else {
            // Woken on both ways, a user has a turn too many, and finds nothing to do.
            self.remote.wake(self.user, &self.by_others);
        }
    }
}

impl RunQueue {
    /// A table without users. `wake_ready` is called when no user can go on; it wakes those for whom something has
    /// arrived.
    pub(crate) fn new(wake_ready: impl Fn() + 'static) -> RunQueue {
        let local = Rc::<LocalWakes>::default();
        let number = QUEUES.with_borrow_mut(|queues| {
            queues.push(Some(Rc::clone(&local)));
            queues.len() - 1
        });
        RunQueue {
            number,
            rows: RefCell::default(),
            added: RefCell::default(),
            count: Cell::default(),
            left: Cell::default(),
            is_closed: Cell::default(),
            turn: RefCell::default(),
            local,
            remote: Arc::default(),
            wake_ready: Box::new(wake_ready),
        }
    }

    /// Adds a user, to be resumed behind those who are ready.
    pub(crate) fn add(&self, user: impl Resumable + 'static) {
        debug_assert!(!self.is_closed.get() || self.left.get() > 0, "no user comes after the last one has left");
        let at = self.count.replace(self.count.get() + 1);
        let woken = Arc::new(Woken {
            user: at,
            by_others: RemoteMark::default(),
            thread: THREAD.with(|thread| *thread),
            queue: self.number,
            remote: Arc::clone(&self.remote),
        });
        let waker = Waker::from(Arc::clone(&woken));
        self.added.borrow_mut().push(Some(Box::new(Row { next: NextTurn::Resume, waker, woken, user })));
        self.local.queue.borrow_mut().is_woken.push(false);
        debug_assert_eq!(self.local.queue.borrow().is_woken.len(), self.count.get(), "each user has a mark");
        self.left.set(self.left.get() + 1);
        self.local.add(at);
    }

    /// Resumes users until all have ended.
    pub(crate) async fn join(&self) {
        self.close();
        self.run().await;
    }

    /// No user will be added: `run` may return.
    pub(crate) fn close(&self) {
        self.is_closed.set(true);
        self.local.driver.borrow().iter().for_each(Waker::wake_by_ref);
    }

    /// Resumes users until the queue is closed and all have ended.
    pub(crate) async fn run(&self) {
        self.resume_until(|queue| queue.is_closed.get() && queue.left.get() == 0).await;
    }

    /// Resumes users until none can go on.
    pub(crate) async fn settle(&self) {
        self.resume_until(RunQueue::is_empty).await;
    }

    /// The first turns, at once: users come by their VUs in the order of their scenarios. Another
    /// task runs the queue from here on.
    pub(crate) async fn begin(&self) {
        poll_fn(|context| {
            let _what_is_left = self.resume_some(context, RunQueue::is_empty);
            Poll::Ready(())
        })
        .await;
    }

    async fn resume_until(&self, is_over: impl Fn(&RunQueue) -> bool) {
        poll_fn(|context| self.resume_some(context, &is_over)).await;
    }

    fn resume_some(&self, context: &mut Context<'_>, is_over: impl Fn(&RunQueue) -> bool) -> Poll<()> {
        // Taken for all of these turns: a user may add another one meanwhile.
        let (mut rows, mut turn) = (self.rows.take(), self.turn.take());
        let done = self.do_turns(&mut rows, &mut turn, context, is_over);
        self.rows.replace(rows);
        self.turn.replace(turn);
        done
    }

    fn do_turns(
        &self,
        rows: &mut Rows,
        turn: &mut Vec<usize>,
        context: &mut Context<'_>,
        is_over: impl Fn(&RunQueue) -> bool,
    ) -> Poll<()> {
        for _ in 0..TURNS {
            let Some(user) = turn.pop().or_else(|| self.next_turn(rows, turn)) else {
                if is_over(self) {
                    return Poll::Ready(());
                }
                (self.wake_ready)();
                if self.is_idle(context) {
                    return Poll::Pending;
                }
                continue;
            };
            // Only who is left waiting may have used up the budget.
            if self.resume(&mut rows[user], user) == TurnEnd::Waits && !has_budget_remaining() {
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

    /// Whether nobody can go on; then the task is woken with the first who can.
    fn is_idle(&self, context: &Context<'_>) -> bool {
        if !self.local.queue.borrow().is_empty() || !self.remote.wait(context.waker()) {
            return false;
        }
        *self.local.driver.borrow_mut() = Some(context.waker().clone());
        self.local.is_idle.set(true);
        true
    }

    fn is_empty(&self) -> bool {
        self.turn.borrow().is_empty() && self.local.queue.borrow().is_empty() && !self.remote.has_woken()
    }

    /// Fills the turn again; the first of it.
    // Not inlined: it is called once a turn, from a loop that runs once a user.
    #[inline(never)]
    fn next_turn(&self, rows: &mut Rows, turn: &mut Vec<usize>) -> Option<usize> {
        if self.remote.has_woken() {
            self.take_remote(rows);
        }
        self.local.queue.borrow_mut().take_turn(turn);
        rows.append(&mut self.added.borrow_mut());
        debug_assert_eq!(rows.len(), self.count.get(), "each user that was added has a row");
        turn.pop()
    }

    /// Takes over whom other threads have woken.
    // Cold: what a user waits for is on its own worker as a rule.
    #[cold]
    fn take_remote(&self, rows: &mut Rows) {
        rows.append(&mut self.added.borrow_mut());
        self.remote.take(|user| {
            if let Some(row) = &rows[user] {
                row.woken.by_others.take_off();
                self.local.queue.borrow_mut().add(user);
            }
        });
    }

    /// A turn of the user of this row, whose number is `at`.
    #[inline(always)]
    fn resume(&self, place: &mut Option<Box<Row<dyn Resumable>>>, at: usize) -> TurnEnd {
        let Some(row) = place else { return TurnEnd::Goes };
        let was_woken = std::mem::replace(&mut self.local.queue.borrow_mut().is_woken[at], false);
        debug_assert!(was_woken, "user {at} has a turn and was not in the queue");
        loop {
            let context = &mut Context::from_waker(&row.waker);
            match row.next {
                NextTurn::Resume => match row.user.resume(context) {
                    Progress::Asks => row.next = NextTurn::Begin,
                    Progress::Waits => return TurnEnd::Waits,
                    Progress::Over(()) => {
                        debug_assert!(self.left.get() > 0, "each user ends once");
                        self.left.set(self.left.get() - 1);
                        *place = None;
                        return TurnEnd::Goes;
                    }
                },
                work => match row.user.attend(context) {
                    Poll::Pending => {
                        row.next = NextTurn::Attend;
                        return TurnEnd::Waits;
                    }
                    Poll::Ready(()) => {
                        row.next = NextTurn::Resume;
                        // What is there at once is no work of another kind.
                        if work == NextTurn::Begin {
                            continue;
                        }
                    }
                },
            }
            self.local.queue.borrow_mut().add_again(at);
            return TurnEnd::Goes;
        }
    }
}

impl Drop for RunQueue {
    fn drop(&mut self) {
        // Its number is given to no other, whoever may still hold a waker.
        QUEUES.with_borrow_mut(|queues| queues[self.number] = None);
    }
}

#[cfg(all(test, not(onrush_interleavings)))]
mod tests;
