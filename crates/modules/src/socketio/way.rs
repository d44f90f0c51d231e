//! The short way of one namespace: who listens, and who waits for an acknowledgement.
//!
//! Numbers of acknowledgements that are awaited here are even, those of the script's half odd, so that neither has to
//! ask the other. Invariant: a way that has ended holds nothing of the script and sends nothing.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::{Rc, Weak};

use host::bytes;
use host::js::function::Args as Call;
use host::js::prelude::{Func, This};
use host::js::{Array, Ctx, Function, Object, Persistent, Result, Value};
use host::json;
use host::native::{self, NativeClass};
use host::plain::{Args, Plain};
use wire::ws;

use super::attachments;
use super::line::{Counters, EventLine};
use script::Vu;

/// Names of events that a script cannot send.
pub const RESERVED: [&str; 6] =
    ["connect", "connect_error", "disconnect", "disconnecting", "newListener", "removeListener"];

/// Packets as `packets.js` numbers them.
const EVENT: u32 = 2;
const ACK: u32 = 3;

/// What may go this way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Opening {
    Closed,
    /// Events, but none that somebody acknowledges.
    Events,
    All,
}

/// The short way of one namespace.
pub struct ShortWay {
    line: Weak<EventLine>,
    /// As in packets.
    namespace: Box<[u8]>,
    opening: Cell<Opening>,
    script: RefCell<Option<ScriptHalf>>,
    next: Cell<u32>,
    awaited: RefCell<VecDeque<Awaited>>,
}

/// The script's socket, and its listeners by event.
#[derive(Clone)]
struct ScriptHalf {
    socket: Persistent<Object<'static>>,
    handlers: Persistent<Object<'static>>,
}

/// A callback that waits for its acknowledgement.
struct Awaited {
    id: u32,
    callback: Persistent<Function<'static>>,
    begun_ns: u64,
}

impl NativeClass for ShortWay {
    const NAME: &'static str = "SocketIoWay";

    fn methods<'js>(prototype: &Object<'js>) -> Result<()> {
        prototype.set("open", Func::from(open))?;
        prototype.set("close", Func::from(close))?;
        prototype.set("end", Func::from(end))?;
        prototype.set("answer", Func::from(answer))
    }
}

/// `way.open(withCallbacks)`
fn open<'js>(This(this): This<Value<'js>>, with_callbacks: bool) {
    let opening = if with_callbacks { Opening::All } else { Opening::Events };
    native::with(&this, |way: &ShortWay| way.opening.set(opening));
}

fn close<'js>(This(this): This<Value<'js>>) {
    native::with(&this, |way: &ShortWay| way.opening.set(Opening::Closed));
}

/// `way.end()`: what is awaited will not come any more.
fn end<'js>(This(this): This<Value<'js>>) {
    let Some(way) = native::get::<ShortWay>(&this) else { return };
    way.end();
    if let Some(line) = way.line.upgrade() {
        line.remove(&way);
    }
}

/// `way.answer(id, list)`: an acknowledgement that came the long way.
fn answer<'js>(ctx: Ctx<'js>, This(this): This<Value<'js>>, id: u32, list: Array<'js>) -> Result<()> {
    let Some(way) = native::get::<ShortWay>(&this) else { return Ok(()) };
    let Some(line) = way.line.upgrade() else { return Ok(()) };
    way.answer(&ctx, &Vu::of(&ctx), &line.counters, id, &list).map(drop)
}

impl ShortWay {
    /// A closed one.
    pub fn new<'js>(
        ctx: &Ctx<'js>,
        line: &Rc<EventLine>,
        namespace: &str,
        socket: Object<'js>,
        handlers: Object<'js>,
    ) -> ShortWay {
        let namespace = if namespace == "/" { String::new() } else { format!("{namespace},") };
        ShortWay {
            line: Rc::downgrade(line),
            namespace: namespace.into_bytes().into(),
            opening: Cell::new(Opening::Closed),
            script: RefCell::new(Some(ScriptHalf {
                socket: Persistent::save(ctx, socket),
                handlers: Persistent::save(ctx, handlers),
            })),
            next: Cell::new(0),
            awaited: RefCell::default(),
        }
    }

    /// Whether packets of this namespace may come in here.
    pub fn is_of(&self, namespace: &[u8]) -> bool {
        self.opening.get() != Opening::Closed && *self.namespace == *namespace
    }

    /// Lets go of what belongs to the script.
    pub fn end(&self) {
        self.opening.set(Opening::Closed);
        drop(self.script.take());
        drop(self.awaited.take());
    }

    fn script_half<'js>(&self, ctx: &Ctx<'js>) -> Result<Option<(Object<'js>, Object<'js>)>> {
        let half = self.script.borrow().clone();
        half.map(|half| Ok((half.socket.restore(ctx)?, half.handlers.restore(ctx)?))).transpose()
    }

    /// The other side has sent no packet: closes the connection.
    pub fn broken<'js>(&self, ctx: &Ctx<'js>, why: &str) -> Result<()> {
        let Some((socket, _)) = self.script_half(ctx)? else { return Ok(()) };
        socket.get::<_, Function<'js>>("_broken")?.call((This(socket), why))
    }

    /// Calls the listener of an event.
    pub fn event<'js>(
        &self,
        ctx: &Ctx<'js>,
        vu: &Vu,
        counters: &Counters,
        id: Option<u32>,
        list: Array<'js>,
    ) -> Result<()> {
        let Some((socket, handlers)) = self.script_half(ctx)? else { return Ok(()) };
        if id.is_some() || self.opening.get() == Opening::Closed {
            return self.take_long(socket, EVENT, id, list);
        }
        let listeners: Value<'js> = handlers.get(list.get::<Value<'js>>(0)?)?;
        if listeners.is_undefined() {
            return counters.received.put(ctx, vu, 1.0);
        }
        let Some(listeners) = listeners.as_array().filter(|listeners| listeners.len() == 1) else {
            return self.take_long(socket, EVENT, id, list);
        };
        counters.received.put(ctx, vu, 1.0)?;
        call(ctx, &listeners.get(0)?, socket, &list, 1)
    }

    /// Calls who waits for an acknowledgement.
    pub fn answered<'js>(&self, ctx: &Ctx<'js>, vu: &Vu, counters: &Counters, id: u32, list: Array<'js>) -> Result<()> {
        if self.answer(ctx, vu, counters, id, &list)? {
            return Ok(());
        }
        let Some((socket, _)) = self.script_half(ctx)? else { return Ok(()) };
        self.take_long(socket, ACK, Some(id), list)
    }

    /// The same; false when nobody does here.
    fn answer<'js>(&self, ctx: &Ctx<'js>, vu: &Vu, counters: &Counters, id: u32, list: &Array<'js>) -> Result<bool> {
        let mut all = self.awaited.borrow_mut();
        let found = all.iter().position(|awaited| awaited.id == id).and_then(|index| all.remove(index));
        drop(all);
        let (Some(awaited), Some((socket, _))) = (found, self.script_half(ctx)?) else { return Ok(false) };
        let took_ns = vu.now_ns().saturating_sub(awaited.begun_ns);
        counters.acknowledged.put(ctx, vu, took_ns as f64 / 1e6)?;
        call(ctx, &awaited.callback.restore(ctx)?, socket, list, 0)?;
        Ok(true)
    }

    /// Hands a packet to the script's half.
    fn take_long<'js>(&self, socket: Object<'js>, kind: u32, id: Option<u32>, list: Array<'js>) -> Result<()> {
        socket.get::<_, Function<'js>>("_take")?.call((This(socket), kind, id, list))
    }

    /// Sends an event; false when it has to go the long way.
    fn emit<'js>(&self, ctx: &Ctx<'js>, args: &Args<'_, 'js>) -> Result<bool> {
        let (Some(name), Some(last)) = (args.get(0), args.count().checked_sub(1)) else { return Ok(false) };
        let callback = args.get(last).filter(|_| last > 0).and_then(Value::into_function);
        let wanted = if callback.is_some() { [Opening::All; 2] } else { [Opening::All, Opening::Events] };
        let Some(name) = name.as_string().filter(|_| wanted.contains(&self.opening.get())) else { return Ok(false) };
        if bytes::borrow(name, |name| RESERVED.iter().any(|reserved| reserved.as_bytes() == name))? {
            return Ok(false);
        }
        let id = callback.is_some().then(|| self.next.get());
        let count = args.count() - usize::from(callback.is_some());
        let Some((text, attachments)) = self.packet(ctx, (args, count), id)? else { return Ok(false) };
        let Some(line) = self.line.upgrade() else { return Ok(false) };
        let Some(socket) = line.socket.upgrade() else { return Ok(false) };
        let vu = Vu::of(ctx);
        // A getter of the values may have closed it.
        if !wanted.contains(&self.opening.get()) || !socket.send(&vu, ws::Kind::Text, &text) {
            return Ok(false);
        }
        for attachment in attachments {
            let (socket, vu) = (Rc::clone(&socket), Rc::clone(&vu));
            bytes::read(ctx, &attachment, move |content| socket.send(&vu, ws::Kind::Binary, content))?;
        }
        line.counters.sent.put(ctx, &vu, 1.0)?;
        if let (Some(id), Some(callback)) = (id, callback) {
            self.next.set(id.wrapping_add(2));
            let callback = Persistent::save(ctx, callback);
            self.awaited.borrow_mut().push_back(Awaited { id, callback, begun_ns: vu.now_ns() });
        }
        Ok(true)
    }

    /// The text of an event, and what follows it; nothing when that is not ours to write.
    fn packet<'js>(
        &self,
        ctx: &Ctx<'js>,
        values: (&Args<'_, 'js>, usize),
        id: Option<u32>,
    ) -> Result<Option<(Vec<u8>, Vec<Value<'js>>)>> {
        let id = id.map(|id| id.to_string()).unwrap_or_default();
        let head = [b"42", &*self.namespace, id.as_bytes()].concat();
        let Some((text, attachments)) = json::plain_list(ctx, &head, values, attachments::write_placeholder)? else {
            return Ok(None);
        };
        if attachments.is_empty() {
            return Ok(Some((text, attachments)));
        }
        for attachment in &attachments {
            // One that was detached is an error, which the long way throws.
            if bytes::read(ctx, attachment, |_| ())?.is_none() {
                return Ok(None);
            }
        }
        let mark = format!("45{}-", attachments.len());
        Ok(Some(([mark.as_bytes(), &text[2..]].concat(), attachments)))
    }
}

/// Calls a function with the elements of a list from `first` on.
fn call<'js>(
    ctx: &Ctx<'js>,
    function: &Function<'js>,
    this: Object<'js>,
    list: &Array<'js>,
    first: usize,
) -> Result<()> {
    let mut call = Call::new(ctx.clone(), list.len().saturating_sub(first));
    call.this(this)?;
    for index in first..list.len() {
        call.push_arg(list.get::<Value<'js>>(index)?)?;
    }
    function.call_arg::<()>(call)
}

/// `socket.emit(name, ...values)`: the short way, or the socket's `_emit`.
pub struct Emit;

impl Plain for Emit {
    fn call<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>, _: i32) -> Result<Value<'js>> {
        let this = args.this();
        let Some(socket) = this.as_object() else {
            return Err(host::js::Exception::throw_type(ctx, "emit belongs to a socket: call it on one"));
        };
        if let Some(way) = native::get::<ShortWay>(&socket.get("_way")?)
            && way.emit(ctx, &args)?
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
