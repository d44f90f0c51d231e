//! Messages that go past the script's half of a socket: the script has a single handler for them, so the event is made
//! here and the handler called.

use std::cell::OnceCell;

use host::js::{Ctx, Error, Object, Persistent, Result, Value};
use host::record::Template;
use host::{User, bytes, exception, object};

type Kept = Persistent<Value<'static>>;

/// The only handler of messages.
pub struct Route {
    handler: Kept,
    /// The `WebSocket` of the script.
    target: Kept,
    origin: Kept,
    takes_buffers: bool,
}

impl Route {
    /// To a handler, with what its events have for `target` and `origin`.
    pub fn new<'js>(ctx: &Ctx<'js>, values: [Value<'js>; 3], takes_buffers: bool) -> Route {
        let [handler, target, origin] = values.map(|value| Persistent::save(ctx, value));
        Route { handler, target, origin, takes_buffers }
    }

    /// Whether a binary message is an ArrayBuffer, which native code makes.
    pub fn takes_buffers(&self) -> bool {
        self.takes_buffers
    }

    /// Calls the handler; what it has thrown, if the script may know of it.
    pub fn hand_over<'js>(
        &self,
        ctx: &Ctx<'js>,
        timestamp: &Value<'js>,
        data: &Value<'js>,
    ) -> Result<Option<Value<'js>>> {
        let [handler, target, origin] =
            [&self.handler, &self.target, &self.origin].map(|kept| kept.clone().restore(ctx));
        let events = User::of(ctx).local::<MessageEvents>();
        let event = events.event(ctx, (&target?, &origin?), (timestamp, data))?;
        match object::call(ctx, &handler?, event.as_value()) {
            Ok(_) => Ok(None),
            Err(Error::Exception) => {
                let thrown = ctx.catch();
                if exception::is_uncatchable(&thrown) { Err(ctx.throw(thrown)) } else { Ok(Some(thrown)) }
            }
            Err(error) => Err(error),
        }
    }
}

/// What the events of messages have in common, per user.
#[derive(Default)]
struct MessageEvents(OnceCell<(Template<5>, Kept)>);

impl MessageEvents {
    /// As the script's half makes them: an object as a literal makes it, with all that k6 shows.
    fn event<'js>(
        &self,
        ctx: &Ctx<'js>,
        (target, origin): (&Value<'js>, &Value<'js>),
        (timestamp, data): (&Value<'js>, &Value<'js>),
    ) -> Result<Object<'js>> {
        let (template, kind) = match self.0.get() {
            Some(made) => made,
            None => {
                let template = Template::literal(ctx, [c"type", c"target", c"timestamp", c"data", c"origin"])?;
                let kind = Persistent::save(ctx, bytes::string(ctx, b"message")?);
                self.0.get_or_init(|| (template, kind))
            }
        };
        template.object(ctx, [&kind.clone().restore(ctx)?, target, timestamp, data, origin])
    }
}
