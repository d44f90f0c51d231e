//! `Client`: its methods, as k6's extension has them.
//!
//! A call without `Async` waits on its user's coroutine; its error goes to the listeners of `error`, and is thrown
//! where there is none. A call with `Async` gives a promise, whose rejection says the same.

use std::cell::RefCell;
use std::rc::Rc;

use host::Phase;
use host::js::function::{Constructor, Func, Opt, This};
use host::js::object::Accessor;
use host::js::{Ctx, Exception, Function, Object, Persistent, Promise, Result, Value};
use host::keeper;
use host::native::NativeClass;
use script::Vu;
use script::arguments::{given, text_or};
use script::go_error;
use script::series::SampleTags;
use tokio::sync::oneshot;

use super::carrier;
use super::connection::{BrokerConnection, NOT_CONNECTED};
use super::event_queue::Happened;
use super::listeners::{self, ClientEvent, EVENTS};
use super::options::{self, CallOptions, ClientOptions};
use super::plan::Plan;
use super::samples::{self, Count};
use super::session::Done;
use crate::client::metric_table::MetricTable;

/// Bytes on their way before a call that sends without acknowledgement waits.
const MOST_QUEUED: usize = 1 << 20;

/// What the script holds. The script's values that are kept with it: the provider of credentials or `undefined`, then a
/// function for each of `listeners`.
pub struct MqttClient {
    options: ClientOptions,
    /// What each listener is for.
    pub listeners: Vec<ClientEvent>,
    shared: Rc<Shared>,
}

/// What calls need of it.
#[derive(Default)]
struct Shared {
    connection: RefCell<Option<Rc<BrokerConnection>>>,
    /// Of the last connection.
    plan: RefCell<Option<Plan>>,
    tags: SampleTags,
}

impl NativeClass for MqttClient {
    const NAME: &'static str = "Client";

    fn methods<'js>(prototype: &Object<'js>) -> Result<()> {
        prototype.set("on", Func::from(on))?;
        prototype.set("connect", Func::from(connect))?;
        prototype.set("connectAsync", Func::from(connect_async))?;
        prototype.set("reconnect", Func::from(reconnect))?;
        prototype.set("end", Func::from(end))?;
        prototype.set("endAsync", Func::from(end_async))?;
        for (name, request, is_async) in REQUESTS {
            let call = move |ctx: Ctx<'js>,
                             this: This<Value<'js>>,
                             first: Opt<Value<'js>>,
                             second: Opt<Value<'js>>,
                             third: Opt<Value<'js>>| {
                let call = Call::of(&ctx, this.0, name)?;
                call.request(&ctx, request, is_async, [first.0, second.0, third.0])
            };
            prototype.set(name, Function::new(prototype.ctx().clone(), call)?.with_name(name)?)?;
        }
        prototype.prop("connected", Accessor::from(is_connected).enumerable())
    }
}

/// What goes to the broker and is answered.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RequestKind {
    Publish,
    Subscribe,
    Unsubscribe,
}

const REQUESTS: [(&str, RequestKind, bool); 6] = [
    ("publish", RequestKind::Publish, false),
    ("publishAsync", RequestKind::Publish, true),
    ("subscribe", RequestKind::Subscribe, false),
    ("subscribeAsync", RequestKind::Subscribe, true),
    ("unsubscribe", RequestKind::Unsubscribe, false),
    ("unsubscribeAsync", RequestKind::Unsubscribe, true),
];

/// The class.
pub fn constructor<'js>(ctx: &Ctx<'js>) -> Result<Constructor<'js>> {
    let make = |ctx: Ctx<'js>, given: Opt<Value<'js>>| {
        let (options, provider) = options::of_client(&ctx, given.0)?;
        let shared = Rc::new(Shared { tags: options.tags.clone(), ..Shared::default() });
        let client = keeper::object(&ctx, MqttClient { options, listeners: Vec::new(), shared })?;
        let provider = provider.unwrap_or_else(|| Value::new_undefined(ctx.clone()));
        keeper::with(client.as_value(), |_: &mut MqttClient, kept| kept.push(provider));
        Ok::<_, host::js::Error>(client)
    };
    let constructor = Constructor::new_prototype(ctx, keeper::prototype::<MqttClient>(ctx)?, make)?;
    constructor.set_name("Client")?;
    Ok(constructor)
}

/// A call of a method.
struct Call<'js> {
    method: &'static str,
    client: Value<'js>,
    vu: Rc<Vu>,
    shared: Rc<Shared>,
}

impl<'js> Call<'js> {
    fn of(ctx: &Ctx<'js>, this: Value<'js>, method: &'static str) -> Result<Call<'js>> {
        let Some(shared) = keeper::with(&this, |own: &mut MqttClient, _| Rc::clone(&own.shared)) else {
            return Err(Exception::throw_type(ctx, &format!("{method}() must be called on a Client")));
        };
        let vu = Vu::of(ctx);
        if vu.phase() == Phase::Init && method != "on" {
            return Err(go_error::throw(ctx, &format!("{method}(): MQTT in the init context is not supported")));
        }
        Ok(Call { method, client: this, vu, shared })
    }

    fn count(&self, count: Count, own: &SampleTags) {
        count.add(&self.vu, 1.0, &samples::of_call(self.method, &self.shared.tags, own));
    }

    /// An error of a call without a promise.
    fn fail(&self, ctx: &Ctx<'js>, own: &SampleTags, why: &str) -> Result<()> {
        self.count(Count::Errors, own);
        let error = listeners::error(ctx, self.method, why)?.into_value();
        match listeners::emit(ctx, &self.client, ClientEvent::Error, std::slice::from_ref(&error))? {
            true => Ok(()),
            false => Err(ctx.throw(error)),
        }
    }

    /// A promise that is settled with nothing.
    fn promise<T: 'static>(
        &self,
        ctx: &Ctx<'js>,
        own: SampleTags,
        work: impl Future<Output = std::result::Result<T, String>> + 'static,
        keep: impl for<'a> FnOnce(&Ctx<'a>, &Vu, T) -> Result<()> + 'static,
    ) -> Result<Promise<'js>> {
        let (method, tags) = (self.method, samples::of_call(self.method, &self.shared.tags, &own));
        self.vu.promise(ctx, work, move |ctx, outcome| {
            let vu = Vu::of(ctx);
            match outcome {
                Ok(found) => keep(ctx, &vu, found).map(|()| Value::new_undefined(ctx.clone())),
                Err(why) => {
                    Count::Errors.add(&vu, 1.0, &tags);
                    Err(ctx.throw(listeners::error(ctx, method, &why)?.into_value()))
                }
            }
        })
    }

    fn connection(&self) -> std::result::Result<Rc<BrokerConnection>, String> {
        let connection = self.shared.connection.borrow();
        let open = connection.as_ref().filter(|connection| !connection.has_ended());
        open.cloned().ok_or_else(|| String::from(NOT_CONNECTED))
    }

    /// Where to connect, and what to say.
    fn plan(&self, ctx: &Ctx<'js>, first: Opt<Value<'js>>, second: Opt<Value<'js>>) -> Result<(Plan, SampleTags)> {
        let connect = options::of_connect(ctx, first.0, second.0)?;
        let tags = connect.tags.clone();
        let found = keeper::with(&self.client, |own: &mut MqttClient, kept| (own.options.clone(), kept[0].clone()));
        let (mut client, provider) = found.expect("a call belongs to a Client");
        if let Some(provider) = provider.as_function() {
            client.login = options::of_credentials(ctx, provider.call(())?)?;
        }
        let plan =
            Plan::new(client, connect).map_err(|why| go_error::throw(ctx, &format!("{}: {why}", self.method)))?;
        if self.connection().is_ok() {
            return Err(go_error::throw(ctx, &format!("{}: the client is connected: call end() first", self.method)));
        }
        Ok((plan, tags))
    }

    fn connect(&self, ctx: &Ctx<'js>, plan: Plan, own: &SampleTags) -> Result<()> {
        match self.vu.block_on(ctx, carrier::open(&self.vu, &plan))? {
            Ok((carrier, _)) => {
                self.shared.keep(&self.vu, plan, carrier, Persistent::save(ctx, self.object()));
                Ok(())
            }
            Err(why) => self.fail(ctx, own, &why),
        }
    }

    fn object(&self) -> Object<'js> {
        self.client.clone().into_object().expect("a Client is an object")
    }

    fn request(
        &self,
        ctx: &Ctx<'js>,
        kind: RequestKind,
        is_async: bool,
        [first, second, third]: [Option<Value<'js>>; 3],
    ) -> Result<Value<'js>> {
        let (payload, options) = if kind == RequestKind::Publish { (second, third) } else { (None, second) };
        let options = options::of_call(ctx, self.method, options)?;
        self.count(Count::Calls, &options.tags);
        let first = first.unwrap_or_else(|| Value::new_undefined(ctx.clone()));
        let what = match kind {
            RequestKind::Publish => format!("{}: topic", self.method),
            _ => format!("{}: topics", self.method),
        };
        let topics = options::texts(ctx, &what, first)?;
        let payload = payload.map(|payload| options::payload_of(ctx, self.method, &payload)).transpose()?;
        let (done, heard) = oneshot::channel();
        let taken = self.connection().and_then(|connection| {
            self.send(&connection, (kind, topics), payload.unwrap_or_default(), &options, done)?;
            Ok(connection)
        });
        let waits = options.qos as u8 > 0 || kind != RequestKind::Publish;
        let outcome = async move { heard.await.unwrap_or_else(|_| Err(String::from("the connection was closed"))) };
        if is_async {
            let work = async move {
                match taken {
                    Ok(_) => outcome.await,
                    Err(why) => Err(why),
                }
            };
            return Ok(self.promise(ctx, options.tags, work, |_, _, ()| Ok(()))?.into_value());
        }
        let outcome = match taken {
            Ok(connection) if waits || connection.queued() > MOST_QUEUED => self.vu.block_on(ctx, outcome)?,
            Ok(_) => Ok(()),
            Err(why) => Err(why),
        };
        outcome.or_else(|why| self.fail(ctx, &options.tags, &why))?;
        Ok(Value::new_undefined(ctx.clone()))
    }

    fn send(
        &self,
        connection: &BrokerConnection,
        (kind, mut topics): (RequestKind, Vec<String>),
        payload: Vec<u8>,
        options: &CallOptions,
        done: Done,
    ) -> std::result::Result<(), String> {
        match kind {
            RequestKind::Publish => {
                let topic = topics.swap_remove(0);
                if !options::is_topic(&topic) {
                    return Err(format!("the topic is {topic:?}, expected 1 to 65535 bytes without + and #"));
                }
                let (tags, length) = (samples::of_call(self.method, &self.shared.tags, &options.tags), payload.len());
                connection.publish(topic, payload, (options.qos, options.retain), done)?;
                Count::MessagesSent.add(&self.vu, 1.0, &tags);
                Count::DataSent.add(&self.vu, length as f64, &tags);
                Ok(())
            }
            RequestKind::Subscribe => {
                if let Some(wrong) = topics.iter().find(|filter| !options::is_filter(filter)) {
                    let shown: String = wrong.chars().take(100).collect();
                    return Err(format!("{shown:?} is no topic filter: + stands for a level, # for all that follow"));
                }
                connection.subscribe(topics, options.qos, done)
            }
            RequestKind::Unsubscribe => connection.unsubscribe(topics, done),
        }
    }
}

impl Shared {
    fn keep(&self, vu: &Vu, plan: Plan, carrier: carrier::Carrier, client: Persistent<Object<'static>>) {
        *self.plan.borrow_mut() = Some(plan.clone());
        *self.connection.borrow_mut() = Some(BrokerConnection::start(vu, plan, carrier, client));
    }
}

fn on<'js>(
    ctx: Ctx<'js>,
    This(this): This<Value<'js>>,
    event: Opt<Value<'js>>,
    listener: Opt<Value<'js>>,
) -> Result<()> {
    let call = Call::of(&ctx, this, "on")?;
    let name = text_or(&ctx, event, "")?;
    let Some((_, event)) = EVENTS.iter().find(|(known, _)| *known == name) else {
        let known: Vec<&str> = EVENTS.iter().map(|(known, _)| *known).collect();
        return Err(go_error::throw(
            &ctx,
            &format!("on: unknown event {name:?}, expected one of {}", known.join(", ")),
        ));
    };
    let Some(listener) = given(listener).filter(Value::is_function) else {
        return Err(Exception::throw_type(&ctx, &format!("on: the listener of {name:?} is no function")));
    };
    keeper::with(&call.client, |own: &mut MqttClient, kept| {
        own.listeners.push(*event);
        kept.push(listener);
    });
    Ok(())
}

fn connect<'js>(
    ctx: Ctx<'js>,
    This(this): This<Value<'js>>,
    address: Opt<Value<'js>>,
    options: Opt<Value<'js>>,
) -> Result<()> {
    let call = Call::of(&ctx, this, "connect")?;
    let (plan, tags) = call.plan(&ctx, address, options)?;
    call.count(Count::Calls, &tags);
    call.connect(&ctx, plan, &tags)
}

fn connect_async<'js>(
    ctx: Ctx<'js>,
    This(this): This<Value<'js>>,
    address: Opt<Value<'js>>,
    options: Opt<Value<'js>>,
) -> Result<Promise<'js>> {
    let call = Call::of(&ctx, this, "connectAsync")?;
    let (plan, tags) = call.plan(&ctx, address, options)?;
    call.count(Count::Calls, &tags);
    let (vu, of, shared) = (Rc::clone(&call.vu), plan.clone(), Rc::clone(&call.shared));
    let client = Persistent::save(&ctx, call.object());
    let work = async move { carrier::open(&vu, &of).await };
    call.promise(&ctx, tags, work, move |_, vu, (carrier, _)| {
        shared.keep(vu, plan, carrier, client);
        Ok(())
    })
}

/// Connects as the last time, and ends the connection that there may be.
fn reconnect<'js>(ctx: Ctx<'js>, This(this): This<Value<'js>>) -> Result<()> {
    let call = Call::of(&ctx, this, "reconnect")?;
    call.count(Count::Calls, &SampleTags::new());
    let Some(plan) = call.shared.plan.borrow().clone() else {
        return call.fail(&ctx, &SampleTags::new(), "nothing to connect to again: call connect() first");
    };
    let before = call.shared.connection.take().filter(|connection| !connection.has_ended());
    if let Some(connection) = before {
        call.vu.block_on(&ctx, connection.end(false))?;
    }
    listeners::emit(&ctx, &call.client, ClientEvent::Reconnect, &[])?;
    call.connect(&ctx, plan, &SampleTags::new())
}

fn end<'js>(ctx: Ctx<'js>, This(this): This<Value<'js>>, options: Opt<Value<'js>>) -> Result<()> {
    let call = Call::of(&ctx, this, "end")?;
    let options = options::of_call(&ctx, "end", options.0)?;
    call.count(Count::Calls, &options.tags);
    match call.connection() {
        Ok(connection) => call.vu.block_on(&ctx, connection.end(true)),
        Err(_) => Ok(()),
    }
}

fn end_async<'js>(ctx: Ctx<'js>, This(this): This<Value<'js>>, options: Opt<Value<'js>>) -> Result<Promise<'js>> {
    let call = Call::of(&ctx, this, "endAsync")?;
    let options = options::of_call(&ctx, "endAsync", options.0)?;
    call.count(Count::Calls, &options.tags);
    let connection = call.connection();
    let work = async move {
        if let Ok(connection) = connection {
            connection.end(true).await;
        }
        Ok(())
    };
    call.promise(&ctx, options.tags, work, |_, _, ()| Ok(()))
}

fn is_connected(This(this): This<Value<'_>>) -> bool {
    let shared = keeper::with(&this, |own: &mut MqttClient, _| Rc::clone(&own.shared));
    shared.is_some_and(|shared| shared.connection.borrow().as_ref().is_some_and(|open| open.is_connected()))
}

/// Tells the listeners what happened beside the script.
pub fn tell<'js>(ctx: &Ctx<'js>, vu: &Vu, client: &Value<'js>, what: Happened) -> Result<()> {
    let emit = |event, arguments: &[Value<'js>]| listeners::emit(ctx, client, event, arguments);
    match what {
        Happened::Connect => emit(ClientEvent::Connect, &[])?,
        Happened::Reconnect => emit(ClientEvent::Reconnect, &[])?,
        Happened::End(false) => false,
        Happened::End(true) => emit(ClientEvent::End, &[])?,
        Happened::Message(publish, arrived_ns) => {
            let _handling = vu.messages.begin(arrived_ns);
            let topic = host::js::String::from_str(ctx.clone(), &publish.topic)?.into_value();
            let payload = host::bytes::array_buffer(ctx, publish.payload.to_vec())?.into_value();
            emit(ClientEvent::Message, &[topic, payload])?
        }
        Happened::Error(why) => {
            let shared = keeper::with(client, |own: &mut MqttClient, _| Rc::clone(&own.shared));
            let tags = shared.map(|shared| samples::of_call("connect", &shared.tags, &[])).unwrap_or_default();
            Count::Errors.add(vu, 1.0, &tags);
            let error = listeners::error(ctx, "connect", &why)?.into_value();
            // Not thrown: the client goes on by itself.
            let is_heard = emit(ClientEvent::Error, &[error])?;
            if !is_heard {
                vu.log().warn(&format!("MQTT: {why}: connecting again; listen for the event error"), &[]);
            }
            is_heard
        }
    };
    Ok(())
}
