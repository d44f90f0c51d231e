//! What becomes of errors in handlers: a line in the log, and an answer that says so.

use host::js::Ctx;
use host::log::{Level, Record};
use script::{ScriptError, Vu};

use crate::ticket::Ticket;

/// Answers 500 and logs why, with the request and the place; a client that has gone is no reason to log anything.
pub(crate) fn refuse(ctx: &Ctx<'_>, ticket: &Ticket, error: &ScriptError) {
    if ticket.is_gone() {
        return;
    }
    log(ctx, &format!("{}: {}", ticket.title(), error.with_stack()));
    ticket.answer(Err(format!("the app failed: {}", error.message)));
}

/// An error line of the app.
pub(crate) fn log(ctx: &Ctx<'_>, message: &str) {
    let record = Record { level: Level::Error, message: message.trim_end(), fields: &[("source", "app")] };
    Vu::of(ctx).log().log(&record);
}
