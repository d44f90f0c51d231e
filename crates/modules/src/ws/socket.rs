//! The socket object of `k6/ws` and the loop that `ws.connect` runs until the socket is closed.
//!
//! Handlers run on the user's stack, one arrival at a time; they may wait for anything else (`http.get`, `sleep`),
//! during which what they queued is written. As in k6, `close` calls the close handlers at once, promise jobs rest
//! until `connect` returns, and an exception of a handler closes with 1001 and goes to the caller of `connect`.
//! Invariant: when the loop has ended the socket holds no function of the script any more.

use std::cell::Cell;
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use host::bytes;
use host::js::function::Opt;
use host::js::prelude::{Func, This};
use host::js::{Ctx, Exception, Function, Object, Result, Value};
use host::kind::Kind;
use host::native::{self, NativeClass};
use host::plain::{self, Args, Plain};
use host::timers::Timers;
use wire::client::Broken;
use wire::ws::{self, close};

use super::channel::{Arrival, Channel};
use script::Vu;
use script::arguments;
use script::go_error;
use script::handlers::{Handlers, NamedEvent};

/// What handlers can be for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Happening {
    Open,
    Text,
    Binary,
    Ping,
    Pong,
    Close,
    Error,
}

impl NamedEvent for Happening {
    const NAMES: &'static [(&'static str, Happening)] = &[
        ("open", Happening::Open),
        ("message", Happening::Text),
        ("binaryMessage", Happening::Binary),
        ("ping", Happening::Ping),
        ("pong", Happening::Pong),
        ("close", Happening::Close),
        ("error", Happening::Error),
    ];
}

/// A socket while `connect` runs, and after it.
pub struct Socket {
    channel: Rc<Channel>,
    handlers: Handlers<Happening>,
    timers: Timers,
    /// Nothing more is dispatched.
    is_closed: Cell<bool>,
}

/// The object of the script.
pub struct SocketObject(pub Rc<Socket>);

impl NativeClass for SocketObject {
    const NAME: &'static str = "Socket";

    fn methods<'js>(prototype: &Object<'js>) -> Result<()> {
        prototype.set("on", Func::from(on))?;
        prototype.set("send", plain::function::<SendText>(prototype.ctx(), c"send", 0)?)?;
        prototype.set("sendBinary", Func::from(send_binary))?;
        prototype.set("ping", Func::from(ping))?;
        prototype.set("close", Func::from(close_socket))?;
        prototype.set("setTimeout", Func::from(|ctx, this, callback, ms| set_timer(ctx, this, callback, ms, false)))?;
        prototype.set("setInterval", Func::from(|ctx, this, callback, ms| set_timer(ctx, this, callback, ms, true)))
    }
}

fn of<'js>(ctx: &Ctx<'js>, this: &Value<'js>) -> Result<Rc<Socket>> {
    native::with(this, |object: &SocketObject| Rc::clone(&object.0))
        .ok_or_else(|| Exception::throw_type(ctx, "this method belongs to a socket: call it on one"))
}

fn on<'js>(
    ctx: Ctx<'js>,
    This(this): This<Value<'js>>,
    event: Opt<Value<'js>>,
    handler: Opt<Value<'js>>,
) -> Result<()> {
    let socket = of(&ctx, &this)?;
    let name = arguments::text_or(&ctx, event, "")?;
    let handler = arguments::given(handler).and_then(Value::into_function);
    if let (Some(event), Some(handler)) = (Happening::named(&name), handler)
        && !socket.is_closed.get()
    {
        socket.handlers.add(&ctx, event, handler);
    }
    Ok(())
}

/// `socket.send(text)`. What most scripts call most.
struct SendText;

impl Plain for SendText {
    fn call<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>, _: i32) -> Result<Value<'js>> {
        let (socket, vu) = (of(ctx, &args.this())?, Vu::of(ctx));
        let message = args.get(0).unwrap_or_else(|| Value::new_undefined(ctx.clone()));
        let channel = Rc::clone(&socket.channel);
        let sent = match Kind::of(&message) {
            Kind::Text(_) => bytes::read(ctx, &message, move |text| channel.send(&vu, ws::Kind::Text, text))?,
            _ => Some(channel.send(&vu, ws::Kind::Text, bytes::to_text(ctx, &message)?.as_bytes())),
        };
        if sent != Some(true) {
            socket.refused(ctx)?;
        }
        Ok(Value::new_undefined(ctx.clone()))
    }
}

fn send_binary<'js>(ctx: Ctx<'js>, This(this): This<Value<'js>>, message: Opt<Value<'js>>) -> Result<()> {
    let (socket, vu) = (of(&ctx, &this)?, Vu::of(&ctx));
    let Some(message) = message.0.filter(|m| !m.is_undefined()) else {
        return Err(go_error::throw(&ctx, "missing argument, expected ArrayBuffer"));
    };
    let channel = Rc::clone(&socket.channel);
    // Beyond k6, which takes an ArrayBuffer alone: views of one are their bytes.
    let found = match Kind::of(&message) {
        Kind::Buffer(_) => {
            return match bytes::read(&ctx, &message, move |content| channel.send(&vu, ws::Kind::Binary, content))? {
                Some(true) => Ok(()),
                Some(false) => socket.refused(&ctx),
                None => Err(refuse_binary(&ctx, &class_name(&message))),
            };
        }
        Kind::Nothing => String::from("null"),
        Kind::Text(_) => String::from("String"),
        Kind::Number(_) => String::from("Number"),
        Kind::Bool(_) => String::from("Boolean"),
        _ => class_name(&message),
    };
    Err(refuse_binary(&ctx, &found))
}

fn refuse_binary(ctx: &Ctx<'_>, found: &str) -> host::js::Error {
    go_error::throw(ctx, &format!("expected ArrayBuffer as argument, received: {found}"))
}

/// The name of an object's class, or the type of another value.
fn class_name(value: &Value<'_>) -> String {
    let constructor = value.as_object().and_then(|object| object.get::<_, Object<'_>>("constructor").ok());
    let name = constructor.and_then(|constructor| constructor.get("name").ok());
    name.unwrap_or_else(|| value.type_name().to_owned())
}

fn ping<'js>(ctx: Ctx<'js>, This(this): This<Value<'js>>) -> Result<()> {
    let socket = of(&ctx, &this)?;
    if socket.channel.ping(&Vu::of(&ctx)) { Ok(()) } else { socket.refused(&ctx) }
}

fn close_socket<'js>(ctx: Ctx<'js>, This(this): This<Value<'js>>, code: Opt<Value<'js>>) -> Result<()> {
    let socket = of(&ctx, &this)?;
    let code = match arguments::given(code) {
        None => close::GOING_AWAY,
        Some(code) => code.as_number().map_or(0, |code| code as u16),
    };
    socket.close(&ctx, code)
}

fn set_timer<'js>(
    ctx: Ctx<'js>,
    This(this): This<Value<'js>>,
    callback: Opt<Value<'js>>,
    ms: Opt<Value<'js>>,
    repeats: bool,
) -> Result<()> {
    let socket = of(&ctx, &this)?;
    let name = if repeats { "setInterval" } else { "setTimeout" };
    let callback = callback.0.unwrap_or_else(|| Value::new_undefined(ctx.clone()));
    let Some(callback) = callback.as_function() else {
        let shown = bytes::to_text(&ctx, &callback)?;
        let message =
            format!("could not convert function call parameter 0: could not convert {shown} to sobek.Callable");
        return Err(Exception::throw_type(&ctx, &message));
    };
    let host::js::Coerced(ms) =
        host::js::FromJs::from_js(&ctx, ms.0.unwrap_or_else(|| Value::new_undefined(ctx.clone())))?;
    let ms: f64 = ms;
    if ms.is_nan() || ms <= 0.0 {
        let message = format!("{name} requires a >0 timeout parameter, received {ms:.2}");
        return Err(go_error::throw(&ctx, &message));
    }
    if !socket.is_closed.get() {
        socket.timers.add(&ctx, Vu::of(&ctx).memory(), (callback.clone(), Vec::new()), ms, repeats, 0)?;
    }
    Ok(())
}

impl Socket {
    /// A socket over an open connection.
    pub fn new(channel: Rc<Channel>) -> Rc<Socket> {
        Rc::new(Socket {
            channel,
            handlers: Handlers::default(),
            timers: Timers::default(),
            is_closed: Cell::new(false),
        })
    }

    /// Dispatches until the socket is closed. An error is an exception of a handler, or the stop of the user.
    pub fn run<'js>(&self, ctx: &Ctx<'js>, vu: &Vu, begin: &Function<'js>, holder: Object<'js>) -> Result<()> {
        let outcome = begin.call::<_, Value<'js>>((holder,)).and_then(|_| self.dispatch_all(ctx, vu));
        if outcome.is_err() {
            self.close_after_failure(ctx, vu);
        }
        self.is_closed.set(true);
        if vu.is_leaving() {
            self.channel.leave(vu);
        } else {
            self.channel.end(vu);
        }
        self.handlers.clear();
        self.timers.take_all();
        outcome
    }

    /// The close handlers hear of it as they do of any close, unless the user is stopped; what they throw is not shown.
    fn close_after_failure(&self, ctx: &Ctx<'_>, vu: &Vu) {
        if self.is_closed.get() {
            return;
        }
        let thrown = ctx.catch();
        if vu.is_leaving() {
            self.channel.close(vu, close::GOING_AWAY, "");
        } else if self.close(ctx, close::GOING_AWAY).is_err() {
            ctx.catch();
        }
        ctx.throw(thrown);
    }

    fn dispatch_all(&self, ctx: &Ctx<'_>, vu: &Vu) -> Result<()> {
        self.handlers.emit(ctx, Happening::Open, &[])?;
        while !self.is_closed.get() {
            if let Some(arrival) = self.channel.take(vu) {
                let _handling = vu.messages.begin(self.channel.arrived_ns());
                let _logged = self.channel.log(vu, &arrival);
                self.dispatch(ctx, arrival)?;
            } else if let Some(due) = self.timers.take_due(ctx)? {
                due.call.0.call::<_, Value<'_>>(())?;
            } else {
                vu.wait(ctx, self.next(vu))?;
            }
        }
        Ok(())
    }

    async fn next(&self, vu: &Vu) {
        let due = self.timers.next_due();
        let mut sleep: Option<Pin<Box<tokio::time::Sleep>>> = None;
        poll_fn(|cx: &mut Context<'_>| {
            if self.channel.poll(vu, cx).is_ready() {
                return Poll::Ready(());
            }
            match due {
                Some(due) => {
                    let sleep = sleep.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(due.into())));
                    sleep.as_mut().poll(cx)
                }
                None => Poll::Pending,
            }
        })
        .await;
    }

    fn dispatch(&self, ctx: &Ctx<'_>, arrival: Arrival) -> Result<()> {
        match arrival {
            Arrival::Text(range) => {
                // The decoder lets nothing but UTF-8 pass as a text.
                let text = self.channel.bytes(range, |text| bytes::string(ctx, text))?;
                self.handlers.emit_one(ctx, Happening::Text, &text)
            }
            Arrival::Binary(range) => {
                let buffer = bytes::array_buffer(ctx, self.channel.take_bytes(range))?;
                self.handlers.emit_one(ctx, Happening::Binary, buffer.as_value())
            }
            Arrival::Ping => self.handlers.emit(ctx, Happening::Ping, &[]),
            Arrival::Pong => self.handlers.emit(ctx, Happening::Pong, &[]),
            Arrival::Close { code, reason } => {
                if !matches!(code, close::NORMAL | close::GOING_AWAY) {
                    self.error(ctx, &close_text(code, &reason), Some((code, &reason)))?;
                }
                self.close(ctx, code)
            }
            Arrival::Broken(broken @ Broken::Network(None)) => {
                self.error(ctx, &broken.message(), Some((close::ABNORMAL, "unexpected EOF")))?;
                self.close(ctx, close::ABNORMAL)
            }
            Arrival::Broken(broken) => {
                self.error(ctx, &broken.message(), None)?;
                self.close(ctx, close::GOING_AWAY)
            }
        }
    }

    /// Closes: the frame is queued, the handlers hear of it, the loop ends. Again: nothing.
    fn close(&self, ctx: &Ctx<'_>, code: u16) -> Result<()> {
        if self.is_closed.replace(true) {
            return Ok(());
        }
        self.channel.close(&Vu::of(ctx), code, "");
        self.handlers.emit_one(ctx, Happening::Close, &Value::new_number(ctx.clone(), f64::from(code)))
    }

    /// What could not be sent because the socket is closing.
    fn refused(&self, ctx: &Ctx<'_>) -> Result<()> {
        self.error(ctx, "websocket: close sent", None)
    }

    fn error(&self, ctx: &Ctx<'_>, message: &str, of_close: Option<(u16, &str)>) -> Result<()> {
        let error = go_error::told(ctx, message)?;
        if let Some((code, text)) = of_close {
            error.set("code", code)?;
            error.set("text", text)?;
        }
        self.handlers.emit_one(ctx, Happening::Error, error.as_value())
    }
}

/// A close as Go tells it.
pub fn close_text(code: u16, reason: &str) -> String {
    let known = match code {
        1000 => " (normal)",
        1001 => " (going away)",
        1002 => " (protocol error)",
        1003 => " (unsupported data)",
        1005 => " (no status)",
        1006 => " (abnormal closure)",
        1007 => " (invalid payload data)",
        1008 => " (policy violation)",
        1009 => " (message too big)",
        1010 => " (mandatory extension missing)",
        1011 => " (internal server error)",
        1015 => " (TLS handshake error)",
        _ => "",
    };
    let reason = if reason.is_empty() { String::new() } else { format!(": {reason}") };
    format!("websocket: close {code}{known}{reason}")
}
