//! One worker's app: a coroutine with a QuickJS runtime, resumed by the code that has something for it.
//!
//! A connection that brings a request resumes the coroutine itself when that has nothing to do, so an answer that needs no
//! waiting costs no task switch. Timers, pieces of bodies and whatever else wakes the app are seen to by a task of its own.
//! Invariant: the coroutine is polled with the waker of that task alone, no matter which code polls it.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use engine::{Interrupt, StopReason};
use metrics::Recorder;

use super::{Answer, Door, Event, Incoming, LentBuffer, Ticket};
use crate::error::ScriptError;
use crate::host::coroutine::Fiber;
use crate::host::user_main::{Job, JobEnd};
use crate::program::{Shared, new_fiber};
use crate::worker::WorkerState;

/// Polls of a coroutine that must stop before it is given up; each is a slice of time or the end.
const STOP_POLLS: usize = 1000;

/// A running app. When it is dropped, its JavaScript ends.
pub struct App {
    fiber: RefCell<Fiber<Job, JobEnd>>,
    door: Rc<Door>,
    interrupt: Rc<Interrupt>,
    /// Of the app's own task; nothing before its first poll.
    waker: RefCell<Option<Waker>>,
    allocates: bool,
    has_sockets: bool,
}

impl App {
    pub(super) fn start(
        shared: &Arc<Shared>,
        recorder: &Rc<Recorder>,
        busy_limit: Duration,
    ) -> Result<Rc<App>, ScriptError> {
        let interrupt = Rc::new(Interrupt::default());
        let worker = WorkerState::of(shared, recorder);
        let (mut fiber, vu) = new_fiber(shared, worker, None, interrupt.clone())?;
        fiber.stays_alone();
        vu.switch.limit_turns(busy_limit);
        vu.switch.forbid_preemption();
        let door = vu.app_door();
        drop(vu);
        let ready = pin!(fiber.run(Job::Init)).poll(&mut Context::from_waker(Waker::noop()));
        let functions = match ready {
            Poll::Ready(Some(JobEnd::Ready(exported))) => exported?.functions,
            Poll::Ready(_) => unreachable!("a coroutine answers its first job"),
            // Top-level code that waits: the first polls of the task see to the rest.
            Poll::Pending => Vec::new(),
        };
        let has = |wanted: &str| functions.iter().any(|name| name == wanted);
        let (allocates, has_sockets) = (has("allocate"), has("websocket"));
        let waker = RefCell::default();
        let app = Rc::new(App { fiber: RefCell::new(fiber), door, interrupt, waker, allocates, has_sockets });
        tokio::task::spawn_local(drive(Rc::downgrade(&app)));
        Ok(app)
    }

    /// Answers a request. The future learns of the answer wherever it is polled; dropping it tells the app that the client has
    /// gone. An error is the text of a 500, and has been logged.
    pub fn handle(self: &Rc<Self>, incoming: Box<dyn Incoming>) -> Handling {
        Handling { app: self.clone(), ticket: Ticket::new(incoming), state: State::New }
    }

    /// Whether the app has an `allocate` function.
    pub fn allocates(&self) -> bool {
        self.allocates
    }

    /// Whether the app takes WebSockets.
    pub fn has_sockets(&self) -> bool {
        self.has_sockets
    }

    pub(super) fn door(&self) -> &Rc<Door> {
        &self.door
    }

    /// Memory that the app gave for the body whose `Incoming::poll_piece` is running; `None` when it gave none.
    pub fn take_allocated(&self) -> Option<LentBuffer> {
        self.door.allocated.take()
    }

    /// Lets the coroutine see to its inbox now if it waits for that, otherwise in its turn.
    pub(super) fn resume(&self) {
        let waker = self.waker.borrow().clone();
        let Some(waker) = waker else { return };
        if !self.door.is_idle.get() {
            return waker.wake();
        }
        self.poll(&mut Context::from_waker(&waker));
    }

    fn poll(&self, cx: &mut Context<'_>) {
        let Ok(mut fiber) = self.fiber.try_borrow_mut() else { return };
        // Begins to serve when the init code is done; continues with what it does otherwise.
        while pin!(fiber.run(Job::Serve)).poll(cx).is_ready() {
            if fiber.is_over() {
                return;
            }
        }
    }
}

/// The app's own task.
async fn drive(app: Weak<App>) {
    poll_fn(|cx| {
        let Some(app) = app.upgrade() else { return Poll::Ready(()) };
        *app.waker.borrow_mut() = Some(cx.waker().clone());
        app.poll(cx);
        Poll::Pending
    })
    .await;
}

impl Drop for App {
    fn drop(&mut self) {
        self.interrupt.set(StopReason::Aborted);
        let mut fiber = self.fiber.borrow_mut();
        for _ in 0..STOP_POLLS {
            if pin!(fiber.run(Job::Serve)).poll(&mut Context::from_waker(Waker::noop())).is_ready() {
                return;
            }
        }
    }
}

enum State {
    New,
    Asked,
    Done,
}

/// A request that is being answered.
pub struct Handling {
    app: Rc<App>,
    ticket: Rc<Ticket>,
    state: State,
}

impl Future for Handling {
    type Output = Result<Answer, String>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if matches!(self.state, State::New) {
            self.state = State::Asked;
            self.app.door.put_quietly(Event::Request(self.ticket.clone()));
            self.app.resume();
        }
        let answer = self.ticket.poll_answer(cx);
        if answer.is_ready() {
            self.state = State::Done;
            self.app.door.forget(&self.ticket.on_gone);
        }
        answer
    }
}

impl Drop for Handling {
    fn drop(&mut self) {
        if matches!(self.state, State::Asked) {
            self.app.door.leave(&self.ticket);
        }
    }
}
