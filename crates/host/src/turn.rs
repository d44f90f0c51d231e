//! How a user's event loop turns inside of its coroutine.

use rquickjs::function::Args;
use rquickjs::promise::PromiseState;
use rquickjs::{Ctx, Function, Promise, Result, Value};

use crate::async_context;
use crate::log::{Level, Record};
use crate::runtime;
use crate::timers::Due;
use crate::user::User;

impl User {
    /// Adds a timer and returns its number. `delay_ms` below 0 or not a number counts as 0. Throws when it does not fit
    /// into the user's memory.
    pub fn add_timer<'js>(
        &self,
        ctx: &Ctx<'js>,
        call: (Function<'js>, Vec<Value<'js>>),
        delay_ms: f64,
        repeat: bool,
    ) -> Result<u32> {
        self.events.add_timer(ctx, self.memory(), call, delay_ms, repeat, async_context::keep(ctx))
    }

    /// Turns until nothing is pending. An error is an exception from a timer's callback, or the stop of the user.
    #[inline]
    pub fn run_events(&self, ctx: &Ctx<'_>) -> Result<()> {
        if self.events.is_quiet(ctx) { Ok(()) } else { self.run_pending(ctx) }
    }

    #[inline(never)]
    fn run_pending(&self, ctx: &Ctx<'_>) -> Result<()> {
        loop {
            self.events.run_jobs(ctx)?;
            if self.report_rejections(ctx) {
                // As in k6, an unhandled rejection ends the iteration.
                self.stop_timers();
                self.events.abandon_sources();
                self.events.clear(ctx);
                return Ok(());
            }
            if self.events.is_idle() {
                return Ok(());
            }
            self.turn(ctx)?;
        }
    }

    /// Does one thing that is ready, or waits until there is one.
    fn turn(&self, ctx: &Ctx<'_>) -> Result<()> {
        if let Some(dispatched) = self.events.dispatch(ctx) {
            return dispatched;
        }
        if self.step(ctx)? { Ok(()) } else { self.wait(ctx, self.events.next_event()) }
    }

    /// Settles one promise or calls one timer's function; whether there was one.
    pub fn step(&self, ctx: &Ctx<'_>) -> Result<bool> {
        if self.events.settle_one(ctx)? {
            return Ok(true);
        }
        let Some(Due { call: (callback, args), async_context, repeats }) = self.events.take_due(ctx)? else {
            return Ok(false);
        };
        let mut call_args = Args::new(ctx.clone(), args.len());
        call_args.push_args(args)?;
        let called = async_context::run_in(ctx, async_context, || callback.call_arg::<()>(call_args));
        if !repeats {
            async_context::drop_kept(ctx, async_context);
        }
        called.map(|()| true)
    }

    /// The same, until a promise has settled: what is pending then goes on later.
    pub fn run_until_settled(&self, ctx: &Ctx<'_>, promise: &Promise<'_>) -> Result<()> {
        loop {
            self.events.run_jobs(ctx)?;
            if promise.state() != PromiseState::Pending || self.events.is_idle() {
                return Ok(());
            }
            self.turn(ctx)?;
        }
    }

    /// Tells the embedder of rejections that nobody handled; whether there were any.
    pub fn report_rejections(&self, ctx: &Ctx<'_>) -> bool {
        let reasons = self.events.take_rejections();
        let any = !reasons.is_empty();
        for reason in reasons {
            if let Ok(reason) = reason.restore(ctx) {
                runtime::embedder(ctx).unhandled(ctx, &reason);
            }
        }
        any
    }

    /// Says which timers will not fire.
    pub fn stop_timers(&self) {
        /// Nobody reads more lines of it.
        const MOST_LINES: usize = 100;
        let timers = self.events.take_timers();
        for (id, repeats) in timers.iter().take(MOST_LINES) {
            let function = if *repeats { "setInterval" } else { "setTimeout" };
            let message = format!("{function} {id} was stopped because the VU iteration was interrupted");
            self.log().log(&Record { level: Level::Warning, message: &message, fields: &[] });
        }
        if let Some(more) = timers.len().checked_sub(MOST_LINES).filter(|more| *more > 0) {
            let message = format!("{more} more timers were stopped because the VU iteration was interrupted");
            self.log().log(&Record { level: Level::Warning, message: &message, fields: &[] });
        }
    }
}
