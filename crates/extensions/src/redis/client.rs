//! `Client`: methods that send commands and give promises.

use std::cell::Cell;
use std::rc::Rc;

use host::Phase;
use host::bytes;
use host::js::function::{Constructor, Rest, This};
use host::js::prelude::Func;
use host::js::{Ctx, Exception, Object, Promise, Result, Value};
use host::native::{self, NativeClass};
use host::plain::{self, Args, Plain};
use script::Vu;
use script::go_error;

use super::arguments::{Words, stored, whole};
use super::cluster::Servers;
use super::commands::{Arg, COMMANDS, Command};
use super::options;
use super::reply::{self, Shape};

/// What the script holds.
struct RedisClient {
    servers: Rc<Servers>,
    /// It was asked for something.
    is_connected: Cell<bool>,
}

impl NativeClass for RedisClient {
    const NAME: &'static str = "Client";

    fn methods<'js>(prototype: &Object<'js>) -> Result<()> {
        for (number, command) in COMMANDS.iter().enumerate() {
            let function = plain::function::<CallCommand>(prototype.ctx(), c"", number as i32)?;
            function.set_name(command.method)?;
            prototype.set(command.method, function)?;
        }
        prototype.set("sendCommand", Func::from(send_command))?;
        prototype.set("isConnected", Func::from(is_connected))
    }
}

/// The class.
pub fn constructor<'js>(ctx: &Ctx<'js>) -> Result<Constructor<'js>> {
    let make = |ctx: Ctx<'js>, args: Rest<Value<'js>>| {
        let options = options::read(&ctx, args.0.first())?;
        let client = RedisClient { servers: Rc::new(Servers::new(options)), is_connected: Cell::default() };
        native::object(&ctx, client)
    };
    let constructor = Constructor::new_prototype(ctx, native::prototype::<RedisClient>(ctx)?, make)?;
    constructor.set_name("Client")?;
    Ok(constructor)
}

/// The method behind each of `COMMANDS`.
struct CallCommand;

impl Plain for CallCommand {
    fn call<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>, number: i32) -> Result<Value<'js>> {
        let command = &COMMANDS[number as usize];
        let given: Vec<Value<'js>> = (0..).map_while(|index| args.get(index)).collect();
        let words = words_of(ctx, command, &given)?;
        Ok(send(ctx, &args.this(), words, command.shape)?.into_value())
    }
}

/// The request, or what is wrong with an argument.
type Prepared = std::result::Result<Words, String>;

fn words_of<'js>(ctx: &Ctx<'js>, command: &Command, given: &[Value<'js>]) -> Result<Prepared> {
    let mut words = Words::new(command.name);
    for (index, arg) in command.args.iter().enumerate() {
        let value = given.get(index);
        match arg {
            Arg::Text => words.push(text(ctx, value)?.as_bytes()),
            Arg::Whole => words.push(whole(ctx, value)?.to_string().as_bytes()),
            Arg::Texts => {
                for value in given.iter().skip(index) {
                    words.push(text(ctx, Some(value))?.as_bytes());
                }
            }
            Arg::Stored => match value.map(|value| stored(ctx, value)).transpose()?.flatten() {
                Some(bytes) => words.push(&bytes),
                None => return Ok(Err(unsupported(index))),
            },
            Arg::AllStored => {
                if let Err(index) = push_all(ctx, &mut words, given, index)? {
                    return Ok(Err(unsupported(index)));
                }
            }
            Arg::Expiry => match whole(ctx, value)? {
                seconds @ 1.. => ["EX", &seconds.to_string()].iter().for_each(|word| words.push(word.as_bytes())),
                // Go's client means by -1 that the key keeps the time it has.
                -1 => words.push(b"KEEPTTL"),
                _ => {}
            },
        }
    }
    Ok(Ok(words))
}

/// Adds the values from this one on; fails with the number of the first that cannot be stored.
fn push_all<'js>(
    ctx: &Ctx<'js>,
    words: &mut Words,
    given: &[Value<'js>],
    from: usize,
) -> Result<std::result::Result<(), usize>> {
    for (index, value) in given.iter().enumerate().skip(from) {
        match stored(ctx, value)? {
            Some(bytes) => words.push(&bytes),
            None => return Ok(Err(index)),
        }
    }
    Ok(Ok(()))
}

fn unsupported(index: usize) -> String {
    format!("unsupported type provided for argument at index {index}, supported types are string, number, and boolean")
}

fn text<'js>(ctx: &Ctx<'js>, value: Option<&Value<'js>>) -> Result<String> {
    match value.filter(|value| !value.is_undefined()) {
        Some(value) => bytes::to_text(ctx, value),
        None => Ok(String::new()),
    }
}

fn send_command<'js>(ctx: Ctx<'js>, This(this): This<Value<'js>>, args: Rest<Value<'js>>) -> Result<Promise<'js>> {
    let mut words = Words::new(&text(&ctx, args.0.first())?);
    let words = match push_all(&ctx, &mut words, &args.0, 1)? {
        Ok(()) => Ok(words),
        Err(index) => Err(unsupported(index)),
    };
    send(&ctx, &this, words, Shape::Plain)
}

/// The promise of a command's reply. It is rejected with an object whose text says why, as in k6.
fn send<'js>(ctx: &Ctx<'js>, this: &Value<'js>, words: Prepared, shape: Shape) -> Result<Promise<'js>> {
    let Some(servers) = native::with(this, |client: &RedisClient| {
        client.is_connected.set(true);
        Rc::clone(&client.servers)
    }) else {
        return Err(Exception::throw_type(ctx, "this method belongs to a Client: call it on one"));
    };
    let vu = Vu::of(ctx);
    let is_init = vu.phase() == Phase::Init;
    let caller = Rc::clone(&vu);
    let work = async move {
        if is_init {
            return Err(String::from("connecting to a redis server in the init context is not supported"));
        }
        let reply = servers.call(&caller, &words?.request()).await?;
        match reply::refusal(&reply) {
            Some(why) => Err(why),
            None => Ok(reply),
        }
    };
    vu.promise(ctx, work, move |ctx, outcome| match outcome {
        Ok(reply) => reply::to_js(ctx, shape, reply),
        Err(why) => Err(ctx.throw(go_error::told(ctx, &why)?.into_value())),
    })
}

fn is_connected<'js>(ctx: Ctx<'js>, This(this): This<Value<'js>>) -> Result<bool> {
    let asked = native::with(&this, |client: &RedisClient| client.is_connected.get());
    asked.ok_or_else(|| Exception::throw_type(&ctx, "isConnected() must be called on a Client"))
}
