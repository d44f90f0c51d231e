//! The short way of packets: events and acknowledgements over an open WebSocket, with binary values or without.
//!
//! An event goes from the socket to its listener, an acknowledgement to its callback, and `emit` to the socket, without
//! any JavaScript between them. With many users that is what counts: each has code and shapes of its own, which the
//! processor's cache does not hold. `client.js` says for which namespaces the way is open. What is more than a call of
//! one listener is handed to the script's half as it was read; what is wrong with a text is told there as well.
//! Invariant: a socket that is over holds nothing of the script.

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use host::js::prelude::{Func, This};
use host::js::{Array, Ctx, Function, Object, Persistent, Result, Value};
use host::native::{self, NativeClass};
use metrics::{Contains, Kind};

use super::attachments;
use super::head::PacketHead;
use super::way::ShortWay;
use crate::metrics::Metric;
use crate::websockets::native_socket::{NativeSocket, Shortcut, socket_of};
use script::Vu;

/// What is counted.
pub struct Counters {
    pub(super) sent: Metric,
    pub(super) received: Metric,
    pub(super) acknowledged: Metric,
}

impl Counters {
    /// Defines them; in init code.
    pub fn define(ctx: &Ctx<'_>, vu: &Vu) -> Result<Counters> {
        let counter = |name| Metric::define(ctx, vu, name, Kind::Counter, Contains::Default);
        Ok(Counters {
            sent: counter("socketio_events_sent")?,
            received: counter("socketio_events_received")?,
            acknowledged: Metric::define(ctx, vu, "socketio_ack", Kind::Trend, Contains::Time)?,
        })
    }

    /// What the long way calls for one event: sent, received, and acknowledged after so many milliseconds.
    pub fn functions<'js>(self: &Rc<Self>, ctx: &Ctx<'js>) -> Result<[Function<'js>; 3]> {
        let [sent, received, acknowledged] = [Rc::clone(self), Rc::clone(self), Rc::clone(self)];
        Ok([
            Function::new(ctx.clone(), move |ctx: Ctx<'js>| sent.sent.put(&ctx, &Vu::of(&ctx), 1.0))?,
            Function::new(ctx.clone(), move |ctx: Ctx<'js>| received.received.put(&ctx, &Vu::of(&ctx), 1.0))?,
            Function::new(ctx.clone(), move |ctx: Ctx<'js>, ms: f64| {
                acknowledged.acknowledged.put(&ctx, &Vu::of(&ctx), ms)
            })?,
        ])
    }
}

/// The short way over one WebSocket.
pub struct EventLine {
    pub(super) socket: Weak<NativeSocket>,
    pub(super) counters: Rc<Counters>,
    ways: RefCell<Vec<Rc<ShortWay>>>,
    /// Read, and not given to the script yet: attachments are missing.
    incoming: RefCell<Option<Incoming>>,
}

/// A packet.
struct Incoming {
    way: Rc<ShortWay>,
    is_answer: bool,
    id: Option<u32>,
    list: Persistent<Array<'static>>,
    missing: usize,
    attachments: Vec<Persistent<Value<'static>>>,
    /// A text came where an attachment was due.
    is_broken: bool,
}

/// What the script's half holds.
struct LineHandle(Rc<EventLine>);

impl NativeClass for LineHandle {
    const NAME: &'static str = "SocketIoLine";

    fn methods<'js>(prototype: &Object<'js>) -> Result<()> {
        prototype.set("way", Func::from(way))?;
        prototype.set("close", Func::from(close))
    }
}

/// `line.way(namespace, socket, handlers)`: the way of a namespace, closed at first.
fn way<'js>(
    ctx: Ctx<'js>,
    This(this): This<Value<'js>>,
    namespace: String,
    socket: Object<'js>,
    handlers: Object<'js>,
) -> Result<Option<Value<'js>>> {
    let Some(line) = native::with(&this, |line: &LineHandle| Rc::clone(&line.0)) else { return Ok(None) };
    let way = Rc::new(ShortWay::new(&ctx, &line, &namespace, socket, handlers));
    line.ways.borrow_mut().push(Rc::clone(&way));
    native::shared(&ctx, Some(&native::prototype::<ShortWay>(&ctx)?), way).map(Some)
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
        ways: RefCell::default(),
        incoming: RefCell::default(),
    });
    socket.set_shortcut(Rc::clone(&line) as Rc<dyn Shortcut>);
    native::object(ctx, LineHandle(line))
}

impl EventLine {
    /// Nobody needs this way any more.
    pub(super) fn remove(&self, way: &ShortWay) {
        self.ways.borrow_mut().retain(|other| !std::ptr::eq(&**other, way));
    }

    fn packet<'js>(&self, ctx: &Ctx<'js>, head: &PacketHead<'_>) -> Option<Incoming> {
        let way = self.ways.borrow().iter().find(|way| way.is_of(head.namespace)).cloned()?;
        // What is wrong with it is told on the long way.
        let parsed = ctx.json_parse(head.list).inspect_err(|_| drop(ctx.catch())).ok()?;
        let list = parsed.into_array()?;
        let has_name = || !list.is_empty() && list.get::<Value<'js>>(0).is_ok_and(|name| name.is_string());
        if !head.is_answer && !has_name() {
            return None;
        }
        Some(Incoming {
            way,
            is_answer: head.is_answer,
            id: head.id,
            list: Persistent::save(ctx, list),
            missing: head.attachments,
            attachments: Vec::new(),
            is_broken: false,
        })
    }
}

impl Shortcut for EventLine {
    fn read<'js>(&self, ctx: &Ctx<'js>, text: &[u8]) -> bool {
        let mut incoming = self.incoming.borrow_mut();
        if let Some(begun) = incoming.as_mut().filter(|_| text.starts_with(b"4")) {
            (begun.is_broken, begun.missing) = (true, 0);
            return true;
        }
        let packet = PacketHead::read(text).and_then(|head| self.packet(ctx, &head));
        let is_ours = packet.is_some();
        if is_ours {
            *incoming = packet;
        }
        is_ours
    }

    fn wants_binary(&self) -> bool {
        self.incoming.borrow().is_some()
    }

    fn attach<'js>(&self, ctx: &Ctx<'js>, buffer: Value<'js>) {
        if let Some(begun) = self.incoming.borrow_mut().as_mut() {
            begun.missing = begun.missing.saturating_sub(1);
            begun.attachments.push(Persistent::save(ctx, buffer));
        }
    }

    fn deliver<'js>(&self, ctx: &Ctx<'js>, vu: &Vu) -> Result<()> {
        let Some(packet) = self.incoming.borrow_mut().take_if(|packet| packet.missing == 0) else { return Ok(()) };
        let way = packet.way;
        if packet.is_broken {
            return way.broken(ctx, "got plaintext data when reconstructing a packet");
        }
        let list = packet.list.restore(ctx)?;
        if !packet.attachments.is_empty() {
            let all: Result<Vec<_>> = packet.attachments.into_iter().map(|one| one.restore(ctx)).collect();
            if !attachments::fill(ctx, &list, &all?)? {
                return way.broken(ctx, "illegal attachments");
            }
        }
        match (packet.is_answer, packet.id) {
            (true, Some(id)) => way.answered(ctx, vu, &self.counters, id, list),
            (_, id) => way.event(ctx, vu, &self.counters, id, list),
        }
    }

    fn close(&self) {
        drop(self.incoming.take());
        self.ways.take().iter().for_each(|way| way.end());
    }
}
