//! What is around running code, kept over its waits: a number of the embedder's, which promises, timers and handlers
//! of events remember for the code that they run later.
//!
//! The embedder says what a number stands for, and hears when code runs on with another one, and how many places have
//! a number. 0 is none: nothing is kept for a user whose embedder asks for nothing.

use rquickjs::Ctx;

use crate::runtime;

/// The number of the code that runs.
pub fn current(ctx: &Ctx<'_>) -> i64 {
    runtime::peek_user(ctx).async_context.get()
}

/// Goes on with another number; that of before is kept for `leave`.
pub fn enter(ctx: &Ctx<'_>, number: i64) -> i64 {
    let outer = keep(ctx);
    switch(ctx, number);
    outer
}

/// Goes on as before `enter`, which returned this number.
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

/// Runs with a number that was kept, and goes on with that of now.
pub fn run_in<T>(ctx: &Ctx<'_>, number: i64, run: impl FnOnce() -> T) -> T {
    if number == 0 {
        return run();
    }
    let outer = enter(ctx, number);
    let returned = run();
    leave(ctx, outer);
    returned
}

/// Keeps the number of the code that runs, for what it registers.
pub fn keep(ctx: &Ctx<'_>) -> i64 {
    let number = current(ctx);
    if number != 0 {
        runtime::embedder(ctx).async_context_counted(number, 1);
    }
    number
}

/// Gives back what `keep` returned.
pub fn drop_kept(ctx: &Ctx<'_>, number: i64) {
    if number != 0 {
        runtime::embedder(ctx).async_context_counted(number, -1);
    }
}
