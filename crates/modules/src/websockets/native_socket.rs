//! The native half of a `WebSocket`: opens the connection on the event loop and tells the JavaScript half what happens.
//!
//! The script's half gives a function for messages, and one that is called with the name and the facts of any other
//! event. An exception in them ends the iteration, as in k6. Messages go past the script's half where the script has a
//! single handler for them. Invariant: once the socket is over it holds no function of the script.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll};
use std::time::Instant;

use host::Phase;
use host::event_loop::Source;
use host::js::function::Opt;
use host::js::prelude::{Func, This};
use host::js::{Array, Ctx, Exception, Function, Object, Persistent, Result, Value};
use host::kind::Kind;
use host::native::{self, NativeClass};
use host::plain::{self, Args, Plain};
use host::{bytes, object};
use wire::client::Broken;
use wire::client::Opening;
use wire::ws::{self, DeflateOffer, close};

use super::route::Route;
use crate::http::common::k6_error::k6_error;
use crate::http::common::url::UrlCache;
use crate::http::response::failure_text::described;
use crate::http::samples::sampler::ms;
use crate::ws::channel::{self, Arrival, Channel};
use crate::ws::frame_log;
use crate::ws::params::{self, BadAddress, ConnectParams, Plan};
use crate::ws::samples::{Answered, Naming, Samples};
use crate::ws::socket::close_text;
use script::Vu;
use script::go_error;
use script::message_log::MessageLog;

type Told = Persistent<Function<'static>>;
type Connecting = Pin<Box<dyn Future<Output = Opening>>>;

/// A socket of the event loop.
pub struct NativeSocket {
    vu: Weak<Vu>,
    plan: Rc<Plan>,
    began: Instant,
    stage: RefCell<Stage>,
    channel: RefCell<Option<Rc<Channel>>>,
    /// What the script's half does with a message, and with anything else.
    tell: RefCell<Option<(Told, Told)>>,
    /// Where messages go instead.
    route: RefCell<Option<Rc<Route>>>,
    /// Closed while it was connecting, with this code and reason.
    early_close: RefCell<Option<(u16, String)>>,
    shortcut: RefCell<Option<Rc<dyn Shortcut>>>,
    is_over: Cell<bool>,
}

/// A protocol's own way for some of its messages, past the script's half.
pub trait Shortcut {
    /// Takes a text, if it goes this way. Runs no JavaScript.
    fn read<'js>(&self, ctx: &Ctx<'js>, text: &[u8]) -> bool;

    /// Whether the next binary message goes this way.
    fn wants_binary(&self) -> bool;

    /// Takes a binary message.
    fn attach<'js>(&self, ctx: &Ctx<'js>, buffer: Value<'js>);

    /// Hands to the script what has been taken, when that is all of it.
    fn deliver<'js>(&self, ctx: &Ctx<'js>, vu: &Vu) -> Result<()>;

    /// The socket is over: lets go of what belongs to the script.
    fn close(&self);
}

enum Stage {
    /// Fails without a connection.
    Refused(String),
    Connecting(Connecting),
    Opened(Box<Opening>),
    Open,
}

/// What the script's half holds.
struct SocketHandle(Rc<NativeSocket>);

impl NativeClass for SocketHandle {
    const NAME: &'static str = "WebSocketHandle";

    fn methods<'js>(prototype: &Object<'js>) -> Result<()> {
        prototype.set("sender", Func::from(sender))?;
        prototype.set("send", plain::function::<SendOrDrop>(prototype.ctx(), c"send", 0)?)?;
        prototype.set("route", Func::from(route))?;
        prototype.set("ping", Func::from(ping))?;
        prototype.set("close", Func::from(close_socket))?;
        prototype.set("buffered", Func::from(buffered))
    }
}

/// The socket that a handle of `open` stands for.
pub fn socket_of<'js>(ctx: &Ctx<'js>, this: &Value<'js>) -> Result<Rc<NativeSocket>> {
    native::with(this, |handle: &SocketHandle| Rc::clone(&handle.0))
        .ok_or_else(|| Exception::throw_type(ctx, "this method belongs to a WebSocket: call it on one"))
}

/// `open(url, protocols, params, message, other)`: the handle of a socket that begins to connect.
pub fn open<'js>(
    ctx: Ctx<'js>,
    url: Opt<Value<'js>>,
    protocols: Value<'js>,
    params: Value<'js>,
    message: Function<'js>,
    other: Function<'js>,
) -> Result<Object<'js>> {
    let vu = Vu::of(&ctx);
    if vu.phase() == Phase::Init {
        return Err(go_error::throw(&ctx, "using websockets in the init context is not supported"));
    }
    if vu.phase() == Phase::Serving {
        return Err(go_error::throw(&ctx, "apps have no WebSocket clients: their event loop serves requests alone"));
    }
    let Some(url) = url.0.filter(|url| !url.is_undefined()) else {
        return Err(go_error::throw(&ctx, "WebSocket requires a url"));
    };
    let plan = Rc::new(plan(&ctx, &vu, &url, &protocols, &params)?);
    let stage = match (plan.conflict(), &plan.url) {
        (Some(why), _) => Stage::Refused(why),
        (None, Err(why)) => Stage::Refused(why.clone()),
        (None, Ok(_)) => Stage::Connecting(connecting(Rc::clone(vu.client()), Rc::clone(&plan))),
    };
    let socket = Rc::new(NativeSocket {
        vu: vu.weak(),
        plan,
        began: Instant::now(),
        stage: RefCell::new(stage),
        channel: RefCell::default(),
        tell: RefCell::new(Some((Persistent::save(&ctx, message), Persistent::save(&ctx, other)))),
        route: RefCell::default(),
        early_close: RefCell::default(),
        shortcut: RefCell::default(),
        is_over: Cell::new(false),
    });
    vu.events.add_source(socket.clone());
    native::object(&ctx, SocketHandle(socket))
}

fn connecting(client: Rc<wire::Client>, plan: Rc<Plan>) -> Connecting {
    Box::pin(async move {
        let url = plan.url.as_ref().expect("a plan without an address is refused before");
        channel::open(&client, &plan, url).await
    })
}

fn plan<'js>(ctx: &Ctx<'js>, vu: &Vu, url: &Value<'js>, protocols: &Value<'js>, params: &Value<'js>) -> Result<Plan> {
    let text = bytes::to_text(ctx, url)?;
    let url = match params::address(&text) {
        Ok(url) => Ok(url),
        Err(BadAddress::Unreachable(why)) => Err(why),
        Err(BadAddress::Scheme(scheme)) => {
            let why = format!("WebSocket requires url with scheme ws or wss, but got {scheme:?}");
            return Err(go_error::throw(ctx, &why));
        }
        Err(BadAddress::Malformed(why)) => {
            let urls = UrlCache::of(vu);
            let (text, why) = (urls.mask().url(&text), urls.mask().text(&why));
            let why = format!("WebSocket requires valid url, but got {text:?} which resulted in {why}");
            return Err(go_error::throw(ctx, &why));
        }
    };
    if let Some((_, fragment)) = text.split_once('#').filter(|(_, fragment)| !fragment.is_empty()) {
        return Err(go_error::throw(ctx, &format!("WebSocket requires no url fragment, but got {fragment:?}")));
    }
    let params = ConnectParams::from_js(ctx, vu, Some(params), true)?;
    let mut offered = Vec::new();
    if let Some(list) = protocols.as_array() {
        for protocol in list.iter::<Value<'js>>() {
            offered.push(bytes::to_text(ctx, &protocol?)?);
        }
    } else if !protocols.is_undefined() && !protocols.is_null() {
        offered.push(bytes::to_text(ctx, protocols)?);
    }
    for protocol in &offered {
        if let Some(problem) = wire::field::problem_in(protocol) {
            return Err(go_error::throw(ctx, &format!("WebSocket subprotocol {protocol:?}: {problem}")));
        }
    }
    Ok(Plan { text, url, params, protocols: offered })
}

/// `handle.sender(other)`: the `send` of the socket. What it does not take goes to `other`, with whether it is a text
/// or a buffer, which come too early or too late.
fn sender<'js>(ctx: Ctx<'js>, This(this): This<Value<'js>>, other: Value<'js>) -> Result<Function<'js>> {
    plain::bound::<SendMessage, 2>(&ctx, 0, [&this, &other])
}

/// See `sender`.
struct SendMessage;

impl Plain for SendMessage {
    fn call<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>, _: i32) -> Result<Value<'js>> {
        let message = args.peek_or_undefined(0);
        let sent = send_message(ctx, &args.bound(0), &message)?;
        let undefined = Value::new_undefined(ctx.clone());
        if sent == Some(true) {
            return Ok(undefined);
        }
        let is_message = Value::new_bool(ctx.clone(), sent.is_some());
        object::call_method(ctx, &args.bound(1), &undefined, [&message, &is_message])
    }
}

/// `handle.send(message)`: what is neither a text nor a buffer, and what comes too early or too late, is dropped.
struct SendOrDrop;

impl Plain for SendOrDrop {
    fn call<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>, _: i32) -> Result<Value<'js>> {
        send_message(ctx, &args.this(), &args.peek_or_undefined(0))?;
        Ok(Value::new_undefined(ctx.clone()))
    }
}

/// Whether the connection took it; `None` where it is neither a text nor a buffer.
fn send_message<'js>(ctx: &Ctx<'js>, handle: &Value<'js>, message: &Value<'js>) -> Result<Option<bool>> {
    let kind = match Kind::of(message) {
        Kind::Text(_) => ws::Kind::Text,
        Kind::Buffer(_) => ws::Kind::Binary,
        _ => return Ok(None),
    };
    let (socket, vu) = (socket_of(ctx, handle)?, Vu::of(ctx));
    bytes::read(ctx, message, move |content| socket.send(&vu, kind, content))
}

/// `handle.route(handler, target, origin, takesBuffers)`: messages go to this handler from now on; to the script's half
/// when it is undefined.
fn route<'js>(
    ctx: Ctx<'js>,
    This(this): This<Value<'js>>,
    handler: Value<'js>,
    target: Value<'js>,
    origin: Value<'js>,
    takes_buffers: bool,
) -> Result<()> {
    let socket = socket_of(&ctx, &this)?;
    let is_routed = !handler.is_undefined() && socket.tell.borrow().is_some();
    let route = is_routed.then(|| Rc::new(Route::new(&ctx, [handler, target, origin], takes_buffers)));
    socket.route.replace(route);
    Ok(())
}

fn ping<'js>(ctx: Ctx<'js>, This(this): This<Value<'js>>) -> Result<()> {
    let (socket, vu) = (socket_of(&ctx, &this)?, Vu::of(&ctx));
    if let Some(channel) = &*socket.channel.borrow()
        && channel.ping(&vu)
    {
        // k6 counts whatever this module writes.
        channel.count_sent(&vu);
    }
    Ok(())
}

fn close_socket<'js>(ctx: Ctx<'js>, This(this): This<Value<'js>>, code: u16, reason: String) -> Result<()> {
    let (socket, vu) = (socket_of(&ctx, &this)?, Vu::of(&ctx));
    match &*socket.channel.borrow() {
        Some(channel) => {
            if channel.close(&vu, code, &reason) {
                channel.count_sent(&vu);
            }
        }
        None => *socket.early_close.borrow_mut() = Some((code, reason)),
    }
    Ok(())
}

fn buffered<'js>(ctx: Ctx<'js>, This(this): This<Value<'js>>) -> Result<usize> {
    let socket = socket_of(&ctx, &this)?;
    let channel = socket.channel.borrow();
    Ok(channel.as_ref().map_or(0, |channel| channel.buffered()))
}

impl NativeSocket {
    /// Queues a message; false when the connection is not open, or closing.
    pub fn send(&self, vu: &Vu, kind: ws::Kind, content: &[u8]) -> bool {
        self.channel.borrow().as_ref().is_some_and(|channel| channel.send(vu, kind, content))
    }

    /// Texts are shown to `shortcut` before the script's half hears of them.
    pub fn set_shortcut(&self, shortcut: Rc<dyn Shortcut>) {
        *self.shortcut.borrow_mut() = Some(shortcut);
    }

    fn tell<'js>(&self, ctx: &Ctx<'js>, facts: impl FnOnce(&Function<'js>) -> Result<()>) -> Result<()> {
        let other = self.tell.borrow().as_ref().map(|(_, other)| other.clone());
        other.map_or(Ok(()), |other| facts(&other.restore(ctx)?))
    }

    fn tell_message<'js>(&self, ctx: &Ctx<'js>, data: Value<'js>, is_text: bool, arrived_ns: u64) -> Result<()> {
        let timestamp = Value::new_number(ctx.clone(), (arrived_ns / 1_000_000) as f64);
        let route = self.route.borrow().clone();
        if let Some(route) = route.filter(|route| is_text || route.takes_buffers()) {
            return match route.hand_over(ctx, &timestamp, &data)? {
                None => Ok(()),
                Some(thrown) => self.tell(ctx, |tell| tell.call(("threw", thrown))),
            };
        }
        let message = self.tell.borrow().as_ref().map(|(message, _)| message.clone());
        let Some(message) = message else { return Ok(()) };
        let is_text = Value::new_bool(ctx.clone(), is_text);
        object::call_three(ctx, message.restore(ctx)?.as_value(), [&data, &is_text, &timestamp]).map(drop)
    }

    /// Lets go of the script's functions.
    fn forget(&self) {
        self.tell.take();
        self.route.take();
    }

    fn finish(&self) {
        self.is_over.set(true);
        if let Some(shortcut) = self.shortcut.take() {
            shortcut.close();
        }
    }

    /// The last words: an error, if there was one, and the close event.
    fn over<'js>(&self, ctx: &Ctx<'js>, vu: &Vu, error: Option<String>, close: Option<(u16, &str)>) -> Result<()> {
        self.finish();
        if let Some(channel) = &*self.channel.borrow() {
            channel.end(vu);
        }
        let told = self.tell(ctx, |tell| {
            if let Some(error) = error {
                tell.call::<_, ()>(("error", error))?;
            }
            match close {
                Some((code, reason)) => tell.call(("close", code, reason)),
                None => tell.call(("close",)),
            }
        });
        self.forget();
        told
    }

    /// Connecting has ended.
    fn opened(&self, ctx: &Ctx<'_>, vu: &Vu, opening: Opening) -> Result<()> {
        vu.count_data(opening.bytes_sent, opening.bytes_received);
        let Opening { outcome, answer, agreed, .. } = opening;
        let status = answer.as_ref().map_or(0, |answer| answer.status);
        let subprotocol = agreed.protocol.unwrap_or_default();
        let error = match &outcome {
            Err(failure) if matches!(status, 0 | 101) => k6_error(failure),
            _ => "",
        };
        let samples = Samples::of(vu, &self.plan, Naming::Both, &Answered { status, subprotocol: &subprotocol, error });
        samples.connected(vu, ms(self.began.elapsed()));
        let mut link = match outcome {
            Ok(link) => link,
            Err(failure) => {
                let url = self.plan.url.as_ref().expect("a plan without an address is refused before");
                let message = match status {
                    0 | 101 => described(&failure, url).into_owned(),
                    _ => "websocket: bad handshake".into(),
                };
                return self.over(ctx, vu, Some(message), None);
            }
        };
        frame_log::watch(vu, &mut link, &self.plan.text);
        let channel = Channel::new(link, samples, self.began, MessageLog::of(vu, &self.plan.text));
        *self.channel.borrow_mut() = Some(Rc::clone(&channel));
        if let Some((code, reason)) = self.early_close.take() {
            if channel.close(vu, code, &reason) {
                channel.count_sent(vu);
            }
            return Ok(());
        }
        let extensions = Array::new(ctx.clone())?;
        if agreed.deflate.is_some() {
            extensions.set(0, DeflateOffer::WithoutContext.header())?;
        }
        self.tell(ctx, |tell| tell.call(("open", subprotocol, extensions)))
    }

    fn arrived<'js>(&self, ctx: &Ctx<'js>, vu: &Vu, channel: &Channel, arrival: Arrival) -> Result<()> {
        match arrival {
            Arrival::Text(range) => {
                let shortcut = self.shortcut.borrow().clone();
                if let Some(shortcut) = shortcut
                    && channel.bytes(range.clone(), |text| shortcut.read(ctx, text))
                {
                    return shortcut.deliver(ctx, vu);
                }
                // The decoder lets nothing but UTF-8 pass as a text.
                let text = channel.bytes(range, |text| bytes::string(ctx, text))?;
                self.tell_message(ctx, text, true, channel.arrived_ns())
            }
            Arrival::Binary(range) => {
                let buffer = bytes::array_buffer(ctx, channel.take_bytes(range))?;
                let shortcut = self.shortcut.borrow().clone();
                if let Some(shortcut) = shortcut.filter(|shortcut| shortcut.wants_binary()) {
                    shortcut.attach(ctx, buffer.into_value());
                    return shortcut.deliver(ctx, vu);
                }
                self.tell_message(ctx, buffer.into_value(), false, channel.arrived_ns())
            }
            Arrival::Ping => self.tell(ctx, |tell| tell.call(("ping",))),
            Arrival::Pong => self.tell(ctx, |tell| tell.call(("pong",))),
            Arrival::Close { code, reason } => {
                self.answer_close(vu, code);
                let error = (!matches!(code, close::NORMAL | close::GOING_AWAY)).then(|| close_text(code, &reason));
                self.over(ctx, vu, error, Some((code, &reason)))
            }
            Arrival::Broken(broken @ Broken::Network(None)) => {
                self.over(ctx, vu, Some(broken.message()), Some((close::ABNORMAL, "unexpected EOF")))
            }
            Arrival::Broken(broken) => self.over(ctx, vu, Some(broken.message()), None),
        }
    }

    /// The peer's close is answered unless it is the answer.
    fn answer_close(&self, vu: &Vu, code: u16) {
        if let Some(channel) = &*self.channel.borrow() {
            channel.close(vu, code, "");
        }
    }
}

impl Source for NativeSocket {
    fn poll(&self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(vu) = self.vu.upgrade() else { return Poll::Pending };
        let mut stage = self.stage.borrow_mut();
        match &mut *stage {
            Stage::Refused(_) | Stage::Opened(_) => Poll::Ready(()),
            Stage::Connecting(connecting) => match connecting.as_mut().poll(cx) {
                Poll::Ready(opening) => {
                    *stage = Stage::Opened(Box::new(opening));
                    Poll::Ready(())
                }
                Poll::Pending => Poll::Pending,
            },
            Stage::Open => match &*self.channel.borrow() {
                Some(channel) => channel.poll(&vu, cx),
                None => Poll::Pending,
            },
        }
    }

    fn dispatch(&self, ctx: &Ctx<'_>) -> Result<()> {
        let vu = &Vu::of(ctx);
        match std::mem::replace(&mut *self.stage.borrow_mut(), Stage::Open) {
            Stage::Refused(why) => {
                let answered = Answered { error: &why, ..Answered::default() };
                Samples::of(vu, &self.plan, Naming::Both, &answered).connected(vu, ms(self.began.elapsed()));
                return self.over(ctx, vu, Some(why), None);
            }
            Stage::Opened(opening) => return self.opened(ctx, vu, *opening),
            stage @ Stage::Connecting(_) => {
                *self.stage.borrow_mut() = stage;
                return Ok(());
            }
            Stage::Open => {}
        }
        let Some(channel) = self.channel.borrow().clone() else { return Ok(()) };
        while let Some(arrival) = channel.take(vu) {
            let _handling = vu.messages.begin(channel.arrived_ns());
            let _logged = channel.log(vu, &arrival);
            self.arrived(ctx, vu, &channel, arrival)?;
            if self.is_over.get() {
                break;
            }
            // As after any call of the script from outside.
            vu.events.run_jobs(ctx)?;
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.is_over.get()
    }

    fn abandon(&self) {
        let Some(vu) = &self.vu.upgrade() else { return };
        if let Some(channel) = &*self.channel.borrow() {
            channel.close(vu, close::GOING_AWAY, "");
            channel.leave(vu);
        }
        self.finish();
        self.forget();
    }
}
