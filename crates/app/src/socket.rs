//! WebSockets of an app: what happens on them goes to the script as events, what the script does goes to the connection
//! at once.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use host::js::{Ctx, Exception, Object, Persistent, Result, Value};
use host::plain::Args;
use host::{bytes as script_bytes, native};
use server::ws::{Kind, Socket};

use crate::door::{Door, Event};
use crate::ticket::Ticket;
use crate::values::{argument, bool, string, undefined};

/// Wall clock, nanoseconds since 1970; 0 unless the script asks when messages arrived.
pub(crate) type ArrivedNs = u64;

/// Something that happened on a socket. It waits for the script's turn, so it owns what the server only lends, and when
/// that arrived.
#[derive(Debug)]
pub(crate) enum SocketEvent {
    /// The connection is open.
    Open,
    /// A text, and when it reached this machine.
    Text(String, ArrivedNs),
    /// Bytes, and when they did.
    Binary(Vec<u8>, ArrivedNs),
    /// What was queued has left.
    Drain,
    /// It is over: code and reason.
    Close(u16, String),
}

/// A WebSocket of an app.
pub(crate) struct AppSocket {
    peer: Socket,
    request: Rc<Ticket>,
    door: Rc<Door>,
    /// The number of its object among those that the door keeps.
    object: Cell<Option<usize>>,
    is_closed: Cell<bool>,
}

impl AppSocket {
    pub fn new(peer: Socket, request: Rc<Ticket>, door: Rc<Door>) -> Rc<Self> {
        Rc::new(AppSocket { peer, request, door, object: Cell::new(None), is_closed: Cell::new(false) })
    }
}

/// Objects of sockets that are open, kept because the script need not keep them.
#[derive(Default)]
pub(crate) struct Objects(RefCell<Vec<Option<Persistent<Object<'static>>>>>);

impl Objects {
    fn put<'js>(&self, ctx: &Ctx<'js>, object: Object<'js>) -> usize {
        let kept = Some(Persistent::save(ctx, object));
        let mut all = self.0.borrow_mut();
        let number = all.iter().position(Option::is_none).unwrap_or(all.len());
        if number == all.len() {
            all.push(kept)
        } else {
            all[number] = kept
        }
        number
    }

    fn get<'js>(&self, ctx: &Ctx<'js>, number: usize) -> Result<Object<'js>> {
        let kept = self.0.borrow().get(number).cloned().flatten();
        kept.ok_or(host::js::Error::Unknown)?.restore(ctx)
    }

    fn remove(&self, number: usize) {
        let kept = self.0.borrow_mut().get_mut(number).and_then(Option::take);
        drop(kept);
    }

    pub fn clear(&self) {
        drop(std::mem::take(&mut *self.0.borrow_mut()));
    }
}

impl Event {
    /// When the message that this is about reached the machine.
    pub(crate) fn arrived_ns(&self) -> ArrivedNs {
        match self {
            Event::Socket(_, SocketEvent::Text(_, arrived_ns) | SocketEvent::Binary(_, arrived_ns)) => *arrived_ns,
            _ => 0,
        }
    }
}

/// Calls the script's function for what happened: (socket, kind, value, reason).
pub(crate) fn happened<'js>(
    ctx: &Ctx<'js>,
    [request, prototype]: [&Object<'js>; 2],
    function: &host::js::Function<'js>,
    socket: &Rc<AppSocket>,
    event: SocketEvent,
) -> Result<()> {
    let objects = &socket.door.objects;
    let object = match socket.object.get() {
        Some(number) => objects.get(ctx, number)?,
        None => {
            let object = native::shared(ctx, Some(prototype), socket.clone())?;
            let object = object.into_object().ok_or(host::js::Error::Unknown)?;
            object.set("request", native::shared(ctx, Some(request), socket.request.clone())?)?;
            socket.object.set(Some(objects.put(ctx, object.clone())));
            object
        }
    };
    match event {
        SocketEvent::Open => function.call((object, 0)),
        SocketEvent::Text(text, _) => function.call((object, 1, string(ctx, &text)?)),
        SocketEvent::Binary(bytes, _) => {
            let buffer = script_bytes::array_buffer(ctx, bytes)?;
            let class: host::js::function::Constructor<'js> = ctx.globals().get("Uint8Array")?;
            function.call((object, 1, class.construct::<_, Value<'js>>((buffer,))?))
        }
        SocketEvent::Drain => function.call((object, 2)),
        SocketEvent::Close(code, reason) => {
            socket.is_closed.set(true);
            if let Some(number) = socket.object.take() {
                objects.remove(number);
            }
            function.call((object, 3, code, string(ctx, &reason)?))
        }
    }
}

fn this<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Result<Rc<AppSocket>> {
    native::get::<AppSocket>(&args.this()).ok_or_else(|| Exception::throw_type(ctx, "not called on a websocket"))
}

/// The message of an argument, lent to a closure: a text, or the bytes of a buffer or view.
fn message<'js, R: 'static>(
    ctx: &Ctx<'js>,
    value: &Value<'js>,
    f: impl FnOnce(Kind, &[u8]) -> R + 'static,
) -> Result<R> {
    let kind = if value.is_string() { Kind::Text } else { Kind::Binary };
    match script_bytes::read(ctx, value, move |bytes| f(kind, bytes))? {
        Some(result) => Ok(result),
        None => {
            let message =
                format!("a message is {}, expected a string, an ArrayBuffer or a typed array", value.type_name());
            Err(Exception::throw_type(ctx, &message))
        }
    }
}

pub(super) fn send<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    let socket = this(ctx, args)?;
    let sent = message(ctx, &argument(ctx, args, 0), move |kind, bytes| socket.peer.send(kind, bytes))?;
    Ok(bool(ctx, sent))
}

pub(super) fn ping<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    let socket = this(ctx, args)?;
    if args.count() == 0 {
        return Ok(bool(ctx, socket.peer.ping(b"")));
    }
    let sent = message(ctx, &argument(ctx, args, 0), move |_, bytes| socket.peer.ping(bytes))?;
    Ok(bool(ctx, sent))
}

pub(super) fn close<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    let socket = this(ctx, args)?;
    let code = match args.get(0).filter(|code| !code.is_undefined()) {
        None => 1000,
        Some(code) => match code.as_int().and_then(|code| u16::try_from(code).ok()) {
            Some(code @ (1000..=1014 | 3000..=4999)) if ![1004, 1005, 1006].contains(&code) => code,
            _ => {
                let message =
                    "the code of close() is not one that can be sent: 1000 to 1003, 1007 to 1014, or 3000 to 4999";
                return Err(Exception::throw_range(ctx, message));
            }
        },
    };
    let reason = args.get(1).filter(|reason| !reason.is_undefined());
    let reason = reason.map(|reason| script_bytes::to_text(ctx, &reason)).transpose()?.unwrap_or_default();
    Ok(bool(ctx, socket.peer.close(code, &reason)))
}

pub(super) fn terminate<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    this(ctx, args)?.peer.terminate();
    Ok(undefined(ctx))
}

/// 1 open, 2 closing, 3 closed; as the standard's `readyState`.
pub(super) fn ready_state<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    let socket = this(ctx, args)?;
    let state = match (socket.is_closed.get(), socket.peer.is_open()) {
        (true, _) => 3,
        (false, true) => 1,
        (false, false) => 2,
    };
    Ok(Value::new_int(ctx.clone(), state))
}

pub(super) fn buffered<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    Ok(Value::new_number(ctx.clone(), this(ctx, args)?.peer.buffered() as f64))
}

pub(super) fn protocol<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    string(ctx, this(ctx, args)?.peer.protocol().unwrap_or_default())
}

fn room<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Result<String> {
    match script_bytes::text(&argument(ctx, args, 0))? {
        Some(room) if !room.is_empty() => Ok(room),
        _ => Err(Exception::throw_type(ctx, "the name of a room is a string that is not empty")),
    }
}

pub(super) fn subscribe<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    this(ctx, args)?.peer.subscribe(&room(ctx, args)?);
    Ok(undefined(ctx))
}

pub(super) fn unsubscribe<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    this(ctx, args)?.peer.unsubscribe(&room(ctx, args)?);
    Ok(undefined(ctx))
}

pub(super) fn is_subscribed<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    let is_subscribed = this(ctx, args)?.peer.is_subscribed(&room(ctx, args)?);
    Ok(bool(ctx, is_subscribed))
}

pub(super) fn publish<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    let (socket, room) = (this(ctx, args)?, room(ctx, args)?);
    message(ctx, &argument(ctx, args, 1), move |kind, bytes| socket.peer.publish(&room, kind, bytes))?;
    Ok(undefined(ctx))
}
