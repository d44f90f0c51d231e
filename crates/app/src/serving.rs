//! What runs on the coroutine of an app: its top-level code, then one event after the other until it must stop.
//!
//! Whatever a handler throws, rejects or loops is the end of that handler alone: it is logged, its request is answered
//! 500, and the app continues serving.

use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use host::js::{Ctx, Error, Object, Value};
use host::received::ReceiveBuffer;
use host::{Jobs, Phase, intrinsics, native, object, received};
use script::error::{ScriptError, exit_code};
use script::linker::{self, Until};
use script::{Vu, exception, globals, user};
use tokio::time::{Instant, Sleep};

use crate::door::{self, Door, Event};
use crate::js::{Bound, Script};
use crate::memory::AppMemory;
use crate::ticket::Ticket;
use crate::{body, failure, response, socket};

/// What an app is asked to do.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Job {
    /// Run the top-level code. The first job, and only the first.
    Init,
    /// Serve requests until told to stop.
    Serve,
}

/// How a job ended.
pub(crate) enum JobEnd {
    /// Top-level code.
    Ready(Result<Exports, ScriptError>),
    /// Serving.
    Served,
}

/// What an app has besides `fetch`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exports {
    /// It gives memory for bodies.
    pub allocates: bool,
    /// It takes WebSockets.
    pub has_sockets: bool,
}

/// Runs jobs: the top-level code, then serving, which ends when the app must stop.
pub(crate) fn run(ctx: &Ctx<'_>, vu: &Rc<Vu>, jobs: &Jobs<Job, JobEnd>) {
    let door = door::of(ctx);
    match init(ctx, vu) {
        Ok(program) => {
            let Bound { allocate, socket, .. } = &program.bound;
            let exports = Exports { allocates: allocate.is_some(), has_sockets: socket.is_some() };
            let mut end = JobEnd::Ready(Ok(exports));
            host::trim_objects(ctx);
            vu.switch().trim_stack();
            vu.set_phase(Phase::Serving);
            while let Some(Job::Serve) = jobs.next(end) {
                program.serve(ctx, vu, &door);
                end = JobEnd::Served;
            }
        }
        Err(error) => {
            jobs.next(JobEnd::Ready(Err(user::failure(ctx, vu, error))));
        }
    }
    door.clear();
}

struct Program<'js> {
    request: Object<'js>,
    socket: Object<'js>,
    bound: Bound<'js>,
}

fn init<'js>(ctx: &Ctx<'js>, vu: &Rc<Vu>) -> host::js::Result<Program<'js>> {
    vu.set_phase(Phase::Init);
    intrinsics::add_all(ctx)?;
    received::install(ctx)?;
    globals::install(ctx, vu)?;
    let script = Script::install(ctx)?;
    let exports = linker::run_entry(ctx, vu, Until::Settled)?;
    let app: Value<'js> = exports.get("default")?;
    if app.is_undefined() {
        let message = "the file has no default export, expected `export default { fetch(request) { … } }`";
        return Err(host::js::Exception::throw_type(ctx, message));
    }
    native::keep_shape::<Ticket>(ctx, &script.request)?;
    let bound = script.bind(app, ctx.globals().get("__ENV")?)?;
    door::of(ctx).allocates.set(bound.allocate.is_some());
    door::of(ctx).max_message.set(bound.max_message);
    Ok(Program { request: script.request, socket: script.socket, bound })
}

impl<'js> Program<'js> {
    fn serve(&self, ctx: &Ctx<'js>, vu: &Rc<Vu>, door: &Rc<Door>) {
        let mut sleep = None;
        loop {
            self.work(ctx, vu, door);
            host::space_collections(ctx);
            door.is_idle.set(true);
            let told = vu.switch().block_on(NextEvent { vu, door, sleep: &mut sleep });
            door.is_idle.set(false);
            if told.is_none() {
                return;
            }
        }
    }

    /// Does what there is to do.
    fn work(&self, ctx: &Ctx<'js>, vu: &Rc<Vu>, door: &Rc<Door>) {
        loop {
            vu.switch().begin_turn();
            let event = door.take();
            let _handling = event.as_ref().map(|event| vu.messages.begin(event.arrived_ns()));
            let done = match event {
                Some(event) => self.handle(ctx, vu, event).map(|()| true),
                None => vu.step(ctx),
            };
            let done = done.unwrap_or_else(|error| {
                log_error(ctx, vu, error);
                true
            });
            if let Err(error) = vu.events.run_jobs(ctx) {
                log_error(ctx, vu, error);
            }
            vu.report_rejections(ctx);
            vu.resume_panic();
            if !done || vu.switch().is_stopped() {
                return;
            }
        }
    }

    fn fetch(&self, ctx: &Ctx<'js>, ticket: &Ticket, request: Value<'js>) -> host::js::Result<()> {
        let Bound { app, fetch, context, dispatch, .. } = &self.bound;
        let returned = object::call_method(ctx, fetch, app, [&request, context])?;
        match response::taken(returned) {
            Ok(answer) => ticket.answer(Ok(answer)),
            Err(returned) => drop(object::call_method(ctx, dispatch, app, [&request, &returned])?),
        }
        Ok(())
    }

    fn handle(&self, ctx: &Ctx<'js>, vu: &Rc<Vu>, event: Event) -> host::js::Result<()> {
        match event {
            Event::Request(ticket) => {
                let request = native::shared(ctx, Some(&self.request), ticket.clone())?;
                if let Err(error) = self.fetch(ctx, &ticket, request) {
                    let error = take(ctx, vu, error);
                    failure::refuse(ctx, &ticket, &error);
                }
                Ok(())
            }
            Event::Piece(ticket, piece) => body::arrived(ctx, &ticket, piece),
            Event::Drained(flow) => match door::of(ctx).recall(ctx, flow.on_drained.take()) {
                Some(callback) => callback.call(()),
                None => Ok(()),
            },
            Event::Gone(ticket) => {
                if let Some(callback) = door::of(ctx).recall(ctx, ticket.on_gone.take()) {
                    callback.call::<_, ()>(())?;
                }
                body::gone(ctx, &ticket)
            }
            Event::Socket(socket, event) => match &self.bound.socket {
                Some(function) => socket::happened(ctx, [&self.request, &self.socket], function, &socket, event),
                None => Ok(()),
            },
            Event::Readable(index) => {
                let door = door::of(ctx);
                if let Some((ticket, waker)) = door.reader(index) {
                    self.allocate(ctx, &door, &ticket, &waker).unwrap_or_else(|error| log_error(ctx, vu, error));
                }
                door.poll_reader(index);
                Ok(())
            }
        }
    }

    /// Asks the app for memory, once the body has something to put into it. Without memory of the app the piece is in
    /// the server's.
    fn allocate(&self, ctx: &Ctx<'js>, door: &Door, ticket: &Ticket, waker: &Waker) -> host::js::Result<()> {
        let Some(allocate) = &self.bound.allocate else { return Ok(()) };
        if ticket.allocated.borrow().is_some() {
            return Ok(());
        }
        let wanted = ticket.body.borrow_mut().poll_wanted(&mut Context::from_waker(waker));
        let Poll::Ready(size @ 1..) = wanted else { return Ok(()) };
        let request = door.kept(ctx, ticket.request.get());
        let buffer: Value<'js> = allocate.call((size as f64, request))?;
        ticket.allocated.replace(Some(AppMemory(ReceiveBuffer::take(ctx, &buffer)?)));
        Ok(())
    }
}

/// The exception, in words. What was broken off for its length says so; it cannot be caught by the script, but told.
fn take(ctx: &Ctx<'_>, vu: &Vu, error: Error) -> ScriptError {
    if !error.is_exception() {
        return ScriptError::new(error.to_string(), exit_code::SCRIPT_EXCEPTION);
    }
    let thrown = ctx.catch();
    let mut error = exception::describe(&thrown, vu.modules());
    if let Some(limit) = vu.switch().overran() {
        error.message = format!(
            "the app computed for {limit:?} without waiting and was interrupted; raise the limit with --busy-limit"
        );
    }
    error
}

fn log_error(ctx: &Ctx<'_>, vu: &Vu, error: Error) {
    let error = take(ctx, vu, error);
    if !vu.switch().is_stopped() {
        failure::log(ctx, &error.with_stack());
    }
}

/// Resolves when there is something to do.
struct NextEvent<'a> {
    vu: &'a Vu,
    door: &'a Door,
    /// Kept between waits: most leave the earliest timer as it was.
    sleep: &'a mut Option<Pin<Box<Sleep>>>,
}

impl Future for NextEvent<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // Both are polled, because each has wakers to leave.
        let (at_door, future) = (self.door.poll(cx), self.vu.events.poll_futures(cx));
        if at_door.is_ready() || future.is_ready() {
            return Poll::Ready(());
        }
        let Some(due) = self.vu.events.next_due().map(Instant::from_std) else { return Poll::Pending };
        match &mut *self.sleep {
            Some(sleep) if sleep.deadline() == due => {}
            Some(sleep) => sleep.as_mut().reset(due),
            empty => *empty = Some(Box::pin(tokio::time::sleep_until(due))),
        }
        self.sleep.as_mut().expect("was put there").as_mut().poll(cx)
    }
}
