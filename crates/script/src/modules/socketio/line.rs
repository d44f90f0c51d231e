//! The short way of plain events: of the namespace `/`, over an open WebSocket, with nobody who acknowledges, without
//! attachments, and with one listener.
//!
//! An event goes from the socket to its listener and from `emit` to the socket without any JavaScript between them.
//! With many users that is what counts: each has code and shapes of its own, which the processor's cache does not hold.
//! `client.js` says when the way is open. Whatever does not fit it takes the long way, in JavaScript, and comes to the
//! same. Invariant: a socket that is over holds nothing of the script.

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use host::js::function::Args as Call;
use host::js::prelude::{Func, This};
use host::js::{Ctx, Function, Object, Persistent, Result, Value};
use host::json;
use host::native::{self, NativeClass};
use host::plain::{Args, Plain};
use metrics::{Contains, Kind};
use wire::ws;

use crate::Vu;
use crate::modules::metrics::Metric;
use crate::modules::websockets::native_socket::{NativeSocket, Shortcut, socket_of};

/// Names of events that a script cannot send.
pub const RESERVED: [&str; 6] =
    ["connect", "connect_error", "disconnect", "disconnecting", "newListener", "removeListener"];

/// Engine.IO's mark of a message, and Socket.IO's of an event.
const EVENT: &str = "42";

/// What is counted.
pub struct Counters {
    sent: Metric,
    received: Metric,
}

impl Counters {
    /// Defines them; in init code.
    pub fn define(ctx: &Ctx<'_>, vu: &Vu) -> Result<Counters> {
        let counter = |name| Metric::define(ctx, vu, name, Kind::Counter, Contains::Default);
        Ok(Counters { sent: counter("socketio_events_sent")?, received: counter("socketio_events_received")? })
    }

    /// The functions that count one event, for the long way: sent, and received.
    pub fn functions<'js>(self: &Rc<Self>, ctx: &Ctx<'js>) -> Result<[Function<'js>; 2]> {
        let (sent, received) = (Rc::clone(self), Rc::clone(self));
        Ok([
            Function::new(ctx.clone(), move |ctx: Ctx<'js>| sent.sent.count(&ctx, &Vu::of(&ctx)))?,
            Function::new(ctx.clone(), move |ctx: Ctx<'js>| received.received.count(&ctx, &Vu::of(&ctx)))?,
        ])
    }
}

/// The short way over one WebSocket.
pub struct EventLine {
    socket: Weak<NativeSocket>,
    counters: Rc<Counters>,
    /// The script's socket, while the way is open.
    target: RefCell<Option<Persistent<Object<'static>>>>,
}

/// What the script's half holds.
struct LineHandle(Rc<EventLine>);

impl NativeClass for LineHandle {
    const NAME: &'static str = "SocketIoLine";

    fn methods<'js>(prototype: &Object<'js>) -> Result<()> {
        prototype.set("open", Func::from(open))?;
        prototype.set("close", Func::from(close))
    }
}

fn open<'js>(ctx: Ctx<'js>, This(this): This<Value<'js>>, target: Object<'js>) {
    let target = Persistent::save(&ctx, target);
    native::with(&this, |line: &LineHandle| *line.0.target.borrow_mut() = Some(target));
}

fn close<'js>(This(this): This<Value<'js>>) {
    native::with(&this, |line: &LineHandle| line.0.close());
}

/// The line over the socket that `websockets` opened.
pub fn over<'js>(ctx: &Ctx<'js>, handle: &Value<'js>, counters: &Rc<Counters>) -> Result<Object<'js>> {
    let socket = socket_of(ctx, handle)?;
    let line = Rc::new(EventLine {
        socket: Rc::downgrade(&socket),
        counters: Rc::clone(counters),
        target: RefCell::default(),
    });
    socket.set_shortcut(Rc::clone(&line) as Rc<dyn Shortcut>);
    native::object(ctx, LineHandle(line))
}

impl Shortcut for EventLine {
    /// The arguments of an event.
    fn read<'js>(&self, ctx: &Ctx<'js>, text: &[u8]) -> Option<Value<'js>> {
        let list = text.strip_prefix(EVENT.as_bytes()).filter(|list| list.starts_with(b"["))?;
        self.target.borrow().as_ref()?;
        let event = ctx.json_parse(list);
        // What is wrong with it is told on the long way.
        event.inspect_err(|_| drop(ctx.catch())).ok()
    }

    /// Calls the listener of an event.
    fn deliver<'js>(&self, ctx: &Ctx<'js>, vu: &Vu, event: &Value<'js>) -> Result<bool> {
        let target = self.target.borrow().clone();
        let (Some(target), Some(event)) = (target, event.as_array()) else { return Ok(false) };
        let (target, name) = (target.restore(ctx)?, event.get::<Value<'js>>(0)?);
        if !name.is_string() {
            return Ok(false);
        }
        let listeners: Value<'js> = target.get::<_, Object<'js>>("handlers")?.get(name)?;
        if listeners.is_undefined() {
            self.counters.received.count(ctx, vu)?;
            return Ok(true);
        }
        let Some(listeners) = listeners.as_array().filter(|listeners| listeners.len() == 1) else { return Ok(false) };
        let listener: Function<'js> = listeners.get(0)?;
        self.counters.received.count(ctx, vu)?;
        let mut call = Call::new(ctx.clone(), event.len() - 1);
        call.this(target)?;
        for index in 1..event.len() {
            call.push_arg(event.get::<Value<'js>>(index)?)?;
        }
        listener.call_arg::<()>(call)?;
        Ok(true)
    }

    fn close(&self) {
        self.target.take();
    }
}

impl EventLine {
    /// Sends an event; false when it has to go the long way.
    fn emit<'js>(&self, ctx: &Ctx<'js>, args: &Args<'_, 'js>) -> Result<bool> {
        let (Some(name), Some(last)) = (args.get(0), args.count().checked_sub(1)) else { return Ok(false) };
        if self.target.borrow().is_none() || args.peek(last).is_some_and(|last| last.is_function()) {
            return Ok(false);
        }
        let Some(name) = name.as_string() else { return Ok(false) };
        if host::bytes::borrow(name, |name| RESERVED.iter().any(|reserved| reserved.as_bytes() == name))? {
            return Ok(false);
        }
        let Some(text) = json::plain_list(ctx, EVENT.as_bytes(), args)? else { return Ok(false) };
        let Some(socket) = self.socket.upgrade() else { return Ok(false) };
        let vu = Vu::of(ctx);
        // A getter of the values may have closed it.
        if self.target.borrow().is_none() || !socket.send(&vu, ws::Kind::Text, &text) {
            return Ok(false);
        }
        self.counters.sent.count(ctx, &vu)?;
        Ok(true)
    }
}

/// `socket.emit(name, ...values)`: the short way, or the socket's `_emit`.
pub struct Emit;

impl Plain for Emit {
    fn call<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>, _: i32) -> Result<Value<'js>> {
        let this = args.this();
        let Some(socket) = this.as_object() else {
            return Err(host::js::Exception::throw_type(ctx, "emit belongs to a socket: call it on one"));
        };
        let line = native::with(&socket.get("_line")?, |line: &LineHandle| Rc::clone(&line.0));
        if let Some(line) = line
            && line.emit(ctx, &args)?
        {
            return Ok(this);
        }
        let mut call = Call::new(ctx.clone(), args.count());
        call.this(this.clone())?;
        for index in 0..args.count() {
            call.push_arg(args.get(index))?;
        }
        socket.get::<_, Function<'js>>("_emit")?.call_arg(call)
    }
}
