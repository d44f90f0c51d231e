//! What runs on the coroutine of an app: its top-level code, then one event after the other until it must stop.
//!
//! Whatever a handler throws, rejects or loops is the end of that handler alone: it is logged, its request is answered 500, and
//! the app continues serving.

use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use rquickjs::{Ctx, Error, Object, Value};
use tokio::time::{Instant, Sleep};

use super::user_main::{Exported, Job, JobEnd};
use super::{exception, globals, handle, linker, object, runtime, user_main};
use crate::app::{self, Bound, Door, Event, Script, Ticket};
use crate::error::{ScriptError, exit_code};
use crate::vu::{Phase, Vu};

/// Runs jobs: the init code, then serving, which ends when the app must stop.
pub(crate) fn run(ctx: &Ctx<'_>, vu: &Rc<Vu>) {
    let door = vu.app_door();
    match init(ctx, vu) {
        Ok(program) => {
            let mut exported = Exported::default();
            exported.functions.push(String::from("fetch"));
            let others = [("allocate", &program.bound.allocate), ("websocket", &program.bound.socket)];
            let found = others.iter().filter(|(_, function)| function.is_some());
            exported.functions.extend(found.map(|(name, _)| String::from(*name)));
            let mut end = JobEnd::Ready(Ok(exported));
            vu.switch.trim_stack();
            vu.set_phase(Phase::Serving);
            while let Some(Job::Serve) = vu.switch.next_job(end) {
                program.serve(ctx, vu, &door);
                end = JobEnd::Served;
            }
        }
        Err(error) => {
            let error = user_main::failure(ctx, vu, error);
            vu.switch.next_job(JobEnd::Ready(Err(error)));
        }
    }
    door.clear();
}

struct Program<'js> {
    request: Object<'js>,
    socket: Object<'js>,
    bound: Bound<'js>,
}

fn init<'js>(ctx: &Ctx<'js>, vu: &Rc<Vu>) -> rquickjs::Result<Program<'js>> {
    vu.set_phase(Phase::Init);
    linker::install(ctx);
    globals::install(ctx, vu)?;
    let script = Script::install(ctx)?;
    let exports = linker::run_entry(ctx, vu, &vu.shared.entry)?;
    let app: Value<'js> = exports.get("default")?;
    if app.is_undefined() {
        let message = "the file has no default export, expected `export default { fetch(request) { … } }`";
        return Err(rquickjs::Exception::throw_type(ctx, message));
    }
    handle::keep_shape::<Ticket>(ctx, &script.request)?;
    let bound = script.bind(app, ctx.globals().get("__ENV")?)?;
    vu.app_door().allocates.set(bound.allocate.is_some());
    vu.app_door().max_message.set(bound.max_message);
    Ok(Program { request: script.request, socket: script.socket, bound })
}

impl<'js> Program<'js> {
    fn serve(&self, ctx: &Ctx<'js>, vu: &Rc<Vu>, door: &Rc<Door>) {
        let mut sleep = None;
        loop {
            self.work(ctx, vu, door);
            runtime::space_collections(ctx);
            door.is_idle.set(true);
            let told = vu.switch.block_on(NextEvent { vu, door, sleep: &mut sleep });
            door.is_idle.set(false);
            if told.is_none() {
                return;
            }
        }
    }

    /// Does what there is to do.
    fn work(&self, ctx: &Ctx<'js>, vu: &Rc<Vu>, door: &Rc<Door>) {
        loop {
            vu.switch.begin_turn();
            let event = door.take();
            let _handling = event.as_ref().map(|event| vu.handled.begin(event.arrived_ns()));
            let done = match event {
                Some(event) => self.see_to(ctx, vu, event).map(|()| true),
                None => vu.events.step(ctx),
            };
            let done = done.unwrap_or_else(|error| {
                log_error(ctx, vu, error);
                true
            });
            if let Err(error) = vu.events.run_jobs(ctx) {
                log_error(ctx, vu, error);
            }
            vu.events.log_rejections(ctx, vu);
            vu.runtime.resume_panic();
            if !done || vu.switch.is_stopped() {
                return;
            }
        }
    }

    fn fetch(&self, ctx: &Ctx<'js>, ticket: &Ticket, request: Value<'js>) -> rquickjs::Result<()> {
        let Bound { app, fetch, context, dispatch, .. } = &self.bound;
        let returned = object::call_method(ctx, fetch, app, [&request, context])?;
        match app::taken(returned) {
            Ok(answer) => ticket.answer(Ok(answer)),
            Err(returned) => drop(object::call_method(ctx, dispatch, app, [&request, &returned])?),
        }
        Ok(())
    }

    fn see_to(&self, ctx: &Ctx<'js>, vu: &Rc<Vu>, event: Event) -> rquickjs::Result<()> {
        match event {
            Event::Request(ticket) => {
                let request = handle::create(ctx, Some(&self.request), ticket.clone())?;
                if let Err(error) = self.fetch(ctx, &ticket, request) {
                    let error = take(ctx, vu, error);
                    app::refuse(ctx, &ticket, &error);
                }
                Ok(())
            }
            Event::Piece(ticket, piece) => app::arrived(ctx, &ticket, piece),
            Event::Drained(flow) => match vu.app_door().recall(ctx, flow.on_drained.take()) {
                Some(callback) => callback.call(()),
                None => Ok(()),
            },
            Event::Gone(ticket) => {
                if let Some(callback) = vu.app_door().recall(ctx, ticket.on_gone.take()) {
                    callback.call::<_, ()>(())?;
                }
                app::gone(ctx, &ticket)
            }
            Event::Socket(socket, event) => match &self.bound.socket {
                Some(function) => app::happened(ctx, [&self.request, &self.socket], function, &socket, event),
                None => Ok(()),
            },
            Event::Readable(index) => {
                let door = vu.app_door();
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
    fn allocate(&self, ctx: &Ctx<'js>, door: &Door, ticket: &Ticket, waker: &Waker) -> rquickjs::Result<()> {
        let Some(allocate) = &self.bound.allocate else { return Ok(()) };
        if ticket.allocated.borrow().is_some() {
            return Ok(());
        }
        let Poll::Ready(size @ 1..) = ticket.poll_wanted(&mut Context::from_waker(waker)) else { return Ok(()) };
        let request = door.kept(ctx, ticket.request.get());
        let buffer: Value<'js> = allocate.call((size as f64, request))?;
        ticket.allocated.replace(Some(app::lend_out(ctx, &buffer)?));
        Ok(())
    }
}

/// The exception, in words. What was broken off for its length says so; it cannot be caught by the script, but told.
fn take(ctx: &Ctx<'_>, vu: &Vu, error: Error) -> ScriptError {
    if !error.is_exception() {
        return ScriptError::new(error.to_string(), exit_code::SCRIPT_EXCEPTION);
    }
    let thrown = ctx.catch();
    let mut error = exception::describe(&thrown, &vu.shared.modules);
    if let Some(limit) = vu.switch.overran() {
        error.message = format!(
            "the app computed for {limit:?} without waiting and was interrupted; raise the limit with --busy-limit"
        );
    }
    error
}

fn log_error(ctx: &Ctx<'_>, vu: &Vu, error: Error) {
    let error = take(ctx, vu, error);
    if !vu.switch.is_stopped() {
        app::log(ctx, &error.with_stack());
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
