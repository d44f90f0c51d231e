//! One worker's app: a coroutine with a QuickJS runtime, resumed by the code that has something for it.
//!
//! A connection that brings a request resumes the coroutine itself when that has nothing to do, so an answer that needs
//! no waiting costs no task switch. Timers, pieces of bodies and whatever else wakes the app is handled by a task of
//! its own. Invariant: the coroutine is polled with the waker of that task alone, no matter which code polls it.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use host::{Fiber, StopFlag, User};
use metrics::Recorder;
use script::error::ScriptError;
use script::{Role, Shared, Vu, WorkerState, user};
use server::app::AppRequest;
use server::respond::Response;

use crate::door::{Door, Event};
use crate::serving::{self, Exports, Job, JobEnd};
use crate::socket::{AppSocket, SocketEvent};
use crate::ticket::Ticket;

/// Polls of a coroutine that must stop before it is given up; each is a slice of time or the end.
const STOP_POLLS: usize = 1000;

/// The coroutine of an app, not begun.
pub(crate) fn make(
    shared: &Arc<Shared>,
    recorder: &Rc<Recorder>,
) -> Result<(AppFiber, Rc<Vu>, Rc<StopFlag>), ScriptError> {
    let stop = Rc::new(StopFlag::default());
    let vu = Vu::new(shared.clone(), WorkerState::of(shared, recorder), Role::Guest(stop.clone()), &[]);
    let fiber = user::coroutine(&vu, serving::run, |error| JobEnd::Ready(Err(error)))?;
    Ok((fiber, vu, stop))
}

type AppFiber = Fiber<Job, JobEnd>;

/// A running app. When it is dropped, its JavaScript ends.
pub(crate) struct App {
    fiber: RefCell<AppFiber>,
    pub user: Rc<User>,
    pub door: Rc<Door>,
    stop: Rc<StopFlag>,
    /// Of the app's own task; nothing before its first poll.
    waker: RefCell<Option<Waker>>,
    pub exports: Exports,
}

impl App {
    pub fn start(shared: &Arc<Shared>, recorder: &Rc<Recorder>, busy_limit: Duration) -> Result<Rc<App>, ScriptError> {
        let (mut fiber, vu, stop) = make(shared, recorder)?;
        vu.switch().limit_turns(busy_limit);
        vu.switch().forbid_preemption();
        let user = vu.user().clone();
        let door = user.local::<Door>();
        drop(vu);
        let ready = pin!(fiber.run(Job::Init)).poll(&mut Context::from_waker(Waker::noop()));
        let exports = match ready {
            Poll::Ready(Some(JobEnd::Ready(exports))) => exports?,
            Poll::Ready(_) => unreachable!("a coroutine answers its first job"),
            // Top-level code that waits: the first polls of the task do the rest.
            Poll::Pending => Exports { allocates: false, has_sockets: false },
        };
        let (fiber, waker) = (RefCell::new(fiber), RefCell::default());
        let app = Rc::new(App { fiber, user, door, stop, waker, exports });
        tokio::task::spawn_local(drive(Rc::downgrade(&app)));
        Ok(app)
    }

    /// Tells the app what happened.
    pub fn socket_event(&self, socket: &Rc<AppSocket>, event: SocketEvent) {
        self.door.put_quietly(Event::Socket(socket.clone(), event));
        self.resume();
    }

    /// Lets the coroutine handle its inbox now if it waits for that, otherwise in its turn.
    fn resume(&self) {
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
        self.stop.set();
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

/// A request that is being answered. The future learns of the answer wherever it is polled; dropping it tells the app
/// that the client has gone. An error is the text of a 500, and has been logged.
pub(crate) struct Handling {
    app: Rc<App>,
    ticket: Rc<Ticket>,
    state: State,
}

impl Handling {
    pub fn new(app: Rc<App>, request: AppRequest) -> Self {
        Handling { app, ticket: Ticket::new(request), state: State::New }
    }
}

impl Future for Handling {
    type Output = Result<Response, String>;

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
