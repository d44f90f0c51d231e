//! What a script gave for what happens to a client, and calling it.
//!
//! The functions are kept with the client's object, where the garbage collector sees them.

use host::js::function::Args;
use host::js::{Ctx, Exception, Object, Result, Value};
use host::keeper;
use script::Vu;

use super::client::MqttClient;

/// What listeners can be for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientEvent {
    /// There is a connection.
    Connect,
    /// A message has come.
    Message,
    /// The client has ended.
    End,
    /// The client tries to connect again.
    Reconnect,
    /// Something failed.
    Error,
}

/// The events by their names.
pub const EVENTS: [(&str, ClientEvent); 5] = [
    ("connect", ClientEvent::Connect),
    ("message", ClientEvent::Message),
    ("end", ClientEvent::End),
    ("reconnect", ClientEvent::Reconnect),
    ("error", ClientEvent::Error),
];

/// Calls the listeners of an event in their order; whether there was one.
pub fn emit<'js>(ctx: &Ctx<'js>, client: &Value<'js>, event: ClientEvent, arguments: &[Value<'js>]) -> Result<bool> {
    let mut has_any = false;
    // By number: a listener may add another, which is called too.
    for index in 0.. {
        let found = keeper::with(client, |own: &mut MqttClient, kept| {
            Some((*own.listeners.get(index)?, kept[index + 1].clone()))
        });
        let Some((of, listener)) = found.flatten() else { break };
        let Some(listener) = listener.as_function().filter(|_| of == event) else { continue };
        has_any = true;
        let mut args = Args::new(ctx.clone(), arguments.len());
        args.push_args(arguments.iter().cloned())?;
        listener.call_arg::<Value<'js>>(args)?;
        // As after any call of the script from outside.
        Vu::of(ctx).events.run_jobs(ctx)?;
    }
    Ok(has_any)
}

/// The error that listeners get, and that promises are rejected with.
pub fn error<'js>(ctx: &Ctx<'js>, method: &str, message: &str) -> Result<Object<'js>> {
    let error = Exception::from_message(ctx.clone(), message)?.into_object();
    error.set("name", "MQTTError")?;
    error.set("method", method)?;
    Ok(error)
}
