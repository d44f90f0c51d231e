//! The async context of a user: a number that stays with code over `await`, timers and listeners.
//!
//! The embedder decides what a number stands for (tags of samples, say). It is called when code with another number
//! runs, and when a promise, a timer or a listener keeps a number or drops it, so it knows when a number is out of use.
//! Without an embedder that asks for contexts every number is 0, and nothing is kept.

use rquickjs::Ctx;

use crate::runtime;

/// The context of the code that runs.
fn current(ctx: &Ctx<'_>) -> i64 {
    runtime::peek_user(ctx).async_context.get()
}

/// Switches to another context. Returns the one of before, which stays kept until `leave`.
pub fn enter(ctx: &Ctx<'_>, number: i64) -> i64 {
    let outer = keep(ctx);
    switch(ctx, number);
    outer
}

/// Switches back to what `enter` returned.
pub fn leave(ctx: &Ctx<'_>, outer: i64) {
    switch(ctx, outer);
    drop_kept(ctx, outer);
}

fn switch(ctx: &Ctx<'_>, number: i64) {
    let user = runtime::peek_user(ctx);
    if user.async_context.replace(number) != number {
        runtime::embedder(ctx).async_context_changed(number);
    }
}

/// Runs a function in a context that was kept, then switches back.
pub fn run_in<T>(ctx: &Ctx<'_>, number: i64, run: impl FnOnce() -> T) -> T {
    if number == 0 {
        return run();
    }
    let outer = enter(ctx, number);
    let returned = run();
    leave(ctx, outer);
    returned
}

/// Keeps the context of the code that runs, for a callback that it registers.
pub fn keep(ctx: &Ctx<'_>) -> i64 {
    let number = current(ctx);
    if number != 0 {
        runtime::embedder(ctx).async_context_counted(number, 1);
    }
    number
}

/// Drops a context that `keep` returned.
pub fn drop_kept(ctx: &Ctx<'_>, number: i64) {
    if number != 0 {
        runtime::embedder(ctx).async_context_counted(number, -1);
    }
}
