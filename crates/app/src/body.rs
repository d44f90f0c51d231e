//! Bodies of requests on their way to the script: piece by piece, or all at once as text, JSON or a buffer.

use std::cell::RefCell;
use std::rc::Rc;

use host::bytes;
use host::js::{Ctx, Exception, Function, Object, Result, Value};
use host::plain::Args;
use server::app::{BodyError, Piece};

use crate::door;
use crate::memory;
use crate::ticket::{self, Collected, Ticket};
use crate::values::{argument, string, undefined};

/// What one call may collect; larger bodies are read piece by piece.
const MOST: usize = 1 << 30;
/// What is set aside in advance on the word of the client.
const MOST_IN_ADVANCE: u64 = 16 << 20;

/// `pull(request, callback)`.
pub(super) fn pull<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    begin(ctx, args, 1, None)
}

/// `collect(request, kind, callback)`.
pub(super) fn collect<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    let kind = argument(ctx, args, 1).as_int().unwrap_or_default();
    begin(ctx, args, 2, Some(kind))
}

fn begin<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>, callback: usize, kind: Option<i32>) -> Result<Value<'js>> {
    let ticket = ticket::of(ctx, &argument(ctx, args, 0))?;
    let callback: Function<'js> = argument(ctx, args, callback).get()?;
    if ticket.on_piece.get().is_some() {
        return Err(Exception::throw_type(ctx, "the body is being read already"));
    }
    if let Some(kind) = kind {
        let declared = ticket.body.borrow().length_hint().unwrap_or_default().min(MOST_IN_ADVANCE);
        *ticket.collected.borrow_mut() = Some(Collected { bytes: Vec::with_capacity(declared as usize), kind });
    }
    let door = door::of(ctx);
    ticket.on_piece.set(Some(door.keep(ctx, callback.into_value())));
    if door.allocates.get() {
        ticket.request.set(Some(door.keep(ctx, argument(ctx, args, 0))));
    }
    door.read(&ticket);
    Ok(undefined(ctx))
}

/// Hands over what was read, or reads on when all of it is wanted at once.
pub(crate) fn arrived<'js>(
    ctx: &Ctx<'js>,
    ticket: &Rc<Ticket>,
    piece: Option<std::result::Result<Piece, BodyError>>,
) -> Result<()> {
    let door = door::of(ctx);
    let collects = ticket.collected.borrow().is_some();
    if let (true, Some(Ok(bytes))) = (collects, &piece) {
        if append(&ticket.collected, bytes) {
            drop(piece);
            door.read(ticket);
            return Ok(());
        }
        let error = format!("the body is larger than {MOST} bytes, which is the most at once; read it piece by piece");
        return hand_over(ctx, ticket, Err(Exception::throw_range(ctx, &error)));
    }
    let value = match piece {
        Some(Err(error)) => Err(Exception::throw_type(ctx, &format!("the body broke off: {error}"))),
        Some(Ok(piece)) => memory::show(ctx, piece),
        None => {
            let collected = ticket.collected.take();
            collected.map_or_else(|| Ok(undefined(ctx)), |collected| finish(ctx, collected))
        }
    };
    hand_over(ctx, ticket, value)
}

/// The client has gone: those who wait for a piece get an error.
pub(crate) fn gone<'js>(ctx: &Ctx<'js>, ticket: &Rc<Ticket>) -> Result<()> {
    if ticket.on_piece.get().is_none() {
        return Ok(());
    }
    hand_over(ctx, ticket, Err(Exception::throw_type(ctx, "the body broke off: the client has gone")))
}

fn hand_over<'js>(ctx: &Ctx<'js>, ticket: &Ticket, value: Result<Value<'js>>) -> Result<()> {
    ticket.collected.take();
    let error = match &value {
        Ok(_) => undefined(ctx),
        Err(_) => ctx.catch(),
    };
    let door = door::of(ctx);
    door.forget(&ticket.request);
    let Some(callback) = door.recall(ctx, ticket.on_piece.take()) else { return Ok(()) };
    callback.call((error, value.ok()))
}

fn append(collected: &RefCell<Option<Collected>>, piece: &[u8]) -> bool {
    let mut collected = collected.borrow_mut();
    let Some(collected) = &mut *collected else { return false };
    if collected.bytes.len() + piece.len() > MOST {
        return false;
    }
    collected.bytes.extend_from_slice(piece);
    true
}

fn finish<'js>(ctx: &Ctx<'js>, collected: Collected) -> Result<Value<'js>> {
    let Collected { bytes, kind } = collected;
    match kind {
        1 => string(ctx, &decode(&bytes)),
        2 => ctx.json_parse(decode(&bytes)),
        3 => {
            let buffer = bytes::array_buffer(ctx, bytes)?;
            let class: host::js::function::Constructor<'js> = ctx.globals().get("Uint8Array")?;
            let view: Object<'js> = class.construct((buffer,))?;
            Ok(view.into_value())
        }
        _ => Ok(bytes::array_buffer(ctx, bytes)?.into_value()),
    }
}

/// Text as `TextDecoder` makes it of bytes: a byte order mark is left out, what is no UTF-8 is replaced.
pub(super) fn decode(bytes: &[u8]) -> String {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    String::from_utf8_lossy(bytes).into_owned()
}
