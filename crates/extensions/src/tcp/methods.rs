//! The class `Socket`: its methods and properties, and the handlers that a script sets.

use std::rc::Rc;
use std::time::Duration;

use host::Phase;
use host::js::function::{Constructor, Opt, Rest, This};
use host::js::object::Accessor;
use host::js::prelude::Func;
use host::js::{Coerced, Ctx, Exception, FromJs, Function, Object, Promise, Result, Value};
use host::keeper;
use host::native::NativeClass;
use script::arguments::{member, present};
use script::{Vu, go_error, series};

use super::arguments;
use super::settle::Settle;
use super::socket::TcpSocket;

/// What handlers can be for, in the order of `EVENTS`.
#[derive(Clone, Copy)]
pub enum SocketEvent {
    Connect,
    Data,
    Close,
    Error,
    Timeout,
}

const EVENTS: [&str; 5] = ["connect", "data", "close", "error", "timeout"];

/// What the script holds; its handlers are kept in the order of the events.
struct SocketObject(Rc<TcpSocket>);

impl NativeClass for SocketObject {
    const NAME: &'static str = "Socket";

    fn methods<'js>(prototype: &Object<'js>) -> Result<()> {
        prototype.set("connect", Func::from(connect))?;
        prototype.set("write", Func::from(write))?;
        // As they were called before version 0.2 of the extension.
        prototype.set("connectAsync", Func::from(connect))?;
        prototype.set("writeAsync", Func::from(write))?;
        prototype.set("destroy", Func::from(destroy))?;
        prototype.set("setTimeout", Func::from(set_timeout))?;
        prototype.set("on", Func::from(on))?;
        fact(prototype, "ready_state", |socket| Some(socket.state()))?;
        fact(prototype, "connected", |socket| Some(socket.state() == "open"))?;
        fact(prototype, "local_ip", |socket| socket.facts().local.map(|at| at.ip().to_string()))?;
        fact(prototype, "local_port", |socket| socket.facts().local.map(|at| at.port()))?;
        fact(prototype, "remote_ip", |socket| socket.facts().remote.map(|at| at.ip().to_string()))?;
        fact(prototype, "remote_port", |socket| socket.facts().remote.map(|at| at.port()))?;
        fact(prototype, "bytes_written", |socket| Some(socket.facts().written as f64))?;
        fact(prototype, "bytes_read", |socket| Some(socket.facts().read as f64))
    }
}

/// A property that can only be read.
fn fact<'js, T>(prototype: &Object<'js>, name: &'static str, read: fn(&TcpSocket) -> Option<T>) -> Result<()>
where
    T: for<'a> host::js::IntoJs<'a> + 'static,
{
    let get =
        move |ctx: Ctx<'js>, This(this): This<Value<'js>>| -> Result<Option<T>> { Ok(read(&required(&ctx, &this)?.1)) };
    prototype.prop(name, Accessor::new_get(get).enumerable().configurable())
}

/// The class.
pub fn constructor<'js>(ctx: &Ctx<'js>) -> Result<Constructor<'js>> {
    let make = |ctx: Ctx<'js>, options: Opt<Value<'js>>| {
        let options = present(options.0);
        let options = options.as_ref().and_then(Value::as_object);
        let tags = options.map(|options| member(options, "tags")).transpose()?.flatten();
        let socket = TcpSocket::new(&Vu::of(&ctx), series::own_tags(&ctx, tags)?);
        let object = keeper::object(&ctx, SocketObject(socket))?;
        let none = Value::new_undefined(ctx.clone());
        keeper::with(object.as_value(), |_: &mut SocketObject, kept| kept.resize(EVENTS.len(), none));
        Ok::<_, host::js::Error>(object)
    };
    let constructor = Constructor::new_prototype(ctx, keeper::prototype::<SocketObject>(ctx)?, make)?;
    constructor.set_name("Socket")?;
    Ok(constructor)
}

/// The socket that an object of the script stands for.
pub fn socket_of(this: &Object<'_>) -> Option<Rc<TcpSocket>> {
    keeper::with(this.as_value(), |object: &mut SocketObject, _| Rc::clone(&object.0))
}

/// The handler that the script has set for an event.
pub fn handler<'js>(this: &Object<'js>, event: SocketEvent) -> Option<Function<'js>> {
    let kept = keeper::with(this.as_value(), |_: &mut SocketObject, kept| kept.get(event as usize).cloned());
    kept.flatten()?.into_function()
}

fn required<'js>(ctx: &Ctx<'js>, this: &Value<'js>) -> Result<(Object<'js>, Rc<TcpSocket>)> {
    let found = this.as_object().and_then(|object| Some((object.clone(), socket_of(object)?)));
    found.ok_or_else(|| Exception::throw_type(ctx, "this belongs to a Socket: use it on one"))
}

/// Why a socket cannot be used now.
fn check_phase(ctx: &Ctx<'_>, method: &str) -> Result<()> {
    match Vu::of(ctx).phase() {
        Phase::Init => Err(go_error::throw(ctx, &format!("{method} in the init context is not supported"))),
        Phase::Serving => Err(go_error::throw(ctx, "apps have no sockets: their event loop serves requests alone")),
        _ => Ok(()),
    }
}

fn connect<'js>(ctx: Ctx<'js>, This(this): This<Value<'js>>, args: Rest<Value<'js>>) -> Result<Promise<'js>> {
    let (object, socket) = required(&ctx, &this)?;
    check_phase(&ctx, "connect()")?;
    match arguments::connect(&ctx, &args.0)? {
        Ok(arguments) => socket.connect(&ctx, &object, arguments),
        Err(why) => rejected(&ctx, &format!("connect(): {why}")),
    }
}

fn write<'js>(ctx: Ctx<'js>, This(this): This<Value<'js>>, args: Rest<Value<'js>>) -> Result<Promise<'js>> {
    let (object, socket) = required(&ctx, &this)?;
    check_phase(&ctx, "write()")?;
    match arguments::write(&ctx, &args.0)? {
        Ok((bytes, tags)) => socket.write(&ctx, &object, bytes, &tags),
        Err(why) => rejected(&ctx, &format!("write(): {why}")),
    }
}

/// A mistake of the script: no failure of the connection.
fn rejected<'js>(ctx: &Ctx<'js>, why: &str) -> Result<Promise<'js>> {
    let (promise, settle) = Settle::new(ctx)?;
    let _thrown = go_error::throw(ctx, why);
    settle.reject(ctx, ctx.catch(), false)?;
    Ok(promise)
}

fn destroy<'js>(ctx: Ctx<'js>, This(this): This<Value<'js>>, error: Opt<Value<'js>>) -> Result<Object<'js>> {
    let (object, socket) = required(&ctx, &this)?;
    check_phase(&ctx, "destroy()")?;
    socket.destroy(&ctx, &object, present(error.0))?;
    Ok(object)
}

fn set_timeout<'js>(ctx: Ctx<'js>, This(this): This<Value<'js>>, timeout: Opt<Value<'js>>) -> Result<Object<'js>> {
    let (object, socket) = required(&ctx, &this)?;
    let ms = present(timeout.0).map(|ms| Coerced::<f64>::from_js(&ctx, ms)).transpose()?.map_or(0.0, |ms| ms.0);
    if ms.is_nan() || ms < 0.0 {
        let why = format!("setTimeout(): found {ms}, expected milliseconds, 0 for no timeout");
        return Err(go_error::throw(&ctx, &why));
    }
    socket.set_timeout(Duration::try_from_secs_f64(ms / 1000.0).ok().filter(|timeout| !timeout.is_zero()));
    Ok(object)
}

fn on<'js>(
    ctx: Ctx<'js>,
    This(this): This<Value<'js>>,
    event: Opt<Value<'js>>,
    handler: Opt<Value<'js>>,
) -> Result<Object<'js>> {
    let (object, _) = required(&ctx, &this)?;
    let name = script::arguments::text_or(&ctx, event, "")?;
    let Some(event) = EVENTS.iter().position(|known| *known == name) else {
        let why = format!("on(): found the event {name:?}, expected one of {}", EVENTS.join(", "));
        return Err(go_error::throw(&ctx, &why));
    };
    let Some(handler) = handler.0.filter(Value::is_function) else {
        return Err(Exception::throw_type(&ctx, &format!("on({name:?}): the second argument must be a function")));
    };
    keeper::with(object.as_value(), |_: &mut SocketObject, kept| kept[event] = handler);
    Ok(object)
}
