//! The client object of `open`: handlers by event, and `close`.
//!
//! Handlers run on the user's stack, one event at a time; they may wait for anything else (`http.get`, `sleep`), during
//! which nothing is read. Invariant: when `open` has returned no function of the script is held any more.

use std::cell::Cell;
use std::rc::Rc;

use host::js::function::Opt;
use host::js::prelude::{Func, This};
use host::js::{Ctx, Exception, Function, Object, Result, Value};
use host::native::{self, NativeClass};

use crate::http::request::events::EventStream;
use script::arguments;
use script::go_error;
use script::handlers::{Handlers, NamedEvent};

/// What handlers can be for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SseHappening {
    /// The answer is a stream of events.
    Open,
    /// An event came.
    Event,
    /// The stream broke, or there was none.
    Error,
}

impl NamedEvent for SseHappening {
    const NAMES: &'static [(&'static str, SseHappening)] =
        &[("open", SseHappening::Open), ("event", SseHappening::Event), ("error", SseHappening::Error)];
}

/// A stream and who hears of it.
pub struct SseClient {
    /// The stream.
    pub stream: Rc<EventStream>,
    /// Who hears of it.
    pub handlers: Handlers<SseHappening>,
    is_set_up: Cell<bool>,
}

impl SseClient {
    /// A client that nobody listens to yet.
    pub fn new() -> Rc<SseClient> {
        Rc::new(SseClient { stream: Rc::default(), handlers: Handlers::default(), is_set_up: Cell::new(false) })
    }

    /// Has the script add its handlers; once.
    pub fn set_up<'js>(self: &Rc<Self>, ctx: &Ctx<'js>, function: &Function<'js>) -> Result<()> {
        if self.is_set_up.replace(true) {
            return Ok(());
        }
        function.call((native::object(ctx, ClientObject(Rc::clone(self)))?,))
    }

    /// Whether the script has had its chance to add handlers.
    pub fn is_set_up(&self) -> bool {
        self.is_set_up.get()
    }

    /// Tells of an error.
    pub fn fail(&self, ctx: &Ctx<'_>, message: &str) -> Result<()> {
        self.handlers.emit_one(ctx, SseHappening::Error, go_error::told(ctx, message)?.as_value())
    }

    /// Lets go of the handlers.
    pub fn end(&self) {
        self.stream.close();
        self.handlers.clear();
    }
}

/// The object of the script.
struct ClientObject(Rc<SseClient>);

impl NativeClass for ClientObject {
    const NAME: &'static str = "Client";

    fn methods<'js>(prototype: &Object<'js>) -> Result<()> {
        prototype.set("on", Func::from(on))?;
        prototype.set("close", Func::from(close))
    }
}

fn of<'js>(ctx: &Ctx<'js>, this: &Value<'js>) -> Result<Rc<SseClient>> {
    native::with(this, |object: &ClientObject| Rc::clone(&object.0))
        .ok_or_else(|| Exception::throw_type(ctx, "this method belongs to the client of sse.open: call it on one"))
}

fn on<'js>(
    ctx: Ctx<'js>,
    This(this): This<Value<'js>>,
    event: Opt<Value<'js>>,
    handler: Opt<Value<'js>>,
) -> Result<()> {
    let client = of(&ctx, &this)?;
    let name = arguments::text_or(&ctx, event, "")?;
    let handler = arguments::given(handler).and_then(Value::into_function);
    if let (Some(happening), Some(handler)) = (SseHappening::named(&name), handler)
        && !client.stream.is_closed()
    {
        client.handlers.add(&ctx, happening, handler);
    }
    Ok(())
}

fn close<'js>(ctx: Ctx<'js>, This(this): This<Value<'js>>) -> Result<()> {
    of(&ctx, &this)?.stream.close();
    Ok(())
}
