//! The JavaScript that apps find without importing it, and the two functions through which requests come in.
//!
//! It is evaluated before the app's own modules, so that what it takes from the language is the language's own.

use host::js::{Ctx, Function, Object, Result, Value};
use script::web;

use crate::natives;

/// Our sources: each is one function from what came before to what it adds.
const SOURCES: &[(&str, &str)] = &[
    ("headers.js", include_str!("js/headers.js")),
    ("events.js", include_str!("js/events.js")),
    ("streams.js", include_str!("js/streams.js")),
    ("blob.js", include_str!("js/blob.js")),
    ("body.js", include_str!("js/body.js")),
    ("messages.js", include_str!("js/messages.js")),
    ("socket.js", include_str!("js/socket.js")),
    ("serve.js", include_str!("js/serve.js")),
];

/// What an app's runtime has beside the globals.
pub(crate) struct Script<'js> {
    /// The prototype of `Request`, of which incoming requests are made.
    pub request: Object<'js>,
    /// The prototype of WebSockets.
    pub socket: Object<'js>,
    /// Makes of the app's default export the functions below.
    bind: Function<'js>,
}

/// The functions of one app.
pub(crate) struct Bound<'js> {
    /// The default export.
    pub app: Value<'js>,
    /// Its handler: (request, context).
    pub fetch: Value<'js>,
    /// The handler's second argument.
    pub context: Value<'js>,
    /// Takes a request and what the handler returned, when that is not an answer yet.
    pub dispatch: Value<'js>,
    /// Takes a size and the request; the app's memory, detached from the script.
    pub allocate: Option<Function<'js>>,
    /// Takes what happened on a WebSocket; nothing when the app has none.
    pub socket: Option<Function<'js>>,
    /// Bytes of a message on a WebSocket at most; nothing when the app does not say.
    pub max_message: Option<u32>,
}

impl<'js> Script<'js> {
    /// Evaluates the sources and puts the globals into the context.
    pub fn install(ctx: &Ctx<'js>) -> Result<Self> {
        let parts = natives::object(ctx)?;
        let streams = web::streams::classes(ctx)?;
        for name in web::streams::NAMES {
            parts.set(*name, streams.get::<_, Value<'js>>(*name)?)?;
        }
        let urls = web::url::classes(ctx)?;
        for name in ["URL", "URLSearchParams"] {
            parts.set(name, urls.get::<_, Value<'js>>(name)?)?;
        }
        parts.set("makeBlob", web::blob_maker(ctx)?)?;
        for (file, source) in SOURCES {
            let make = web::evaluate(ctx, &format!("onrush/app/{file}"), source)?;
            let added: Object<'js> = make.call((parts.clone(),))?;
            for entry in added.props::<String, Value<'js>>() {
                let (name, value) = entry?;
                parts.set(name, value)?;
            }
        }
        let globals = ctx.globals();
        for entry in parts.get::<_, Object<'js>>("globals")?.props::<String, Value<'js>>() {
            let (name, value) = entry?;
            globals.prop(name, host::js::object::Property::from(value).writable().configurable())?;
        }
        let request: Object<'js> = parts.get::<_, Object<'js>>("Request")?.get("prototype")?;
        let socket: Object<'js> = parts.get::<_, Object<'js>>("ServerWebSocket")?.get("prototype")?;
        Ok(Script { request, socket, bind: parts.get("bind")? })
    }

    /// The functions of the app with this default export; throws when it is no app.
    pub fn bind(&self, app: Value<'js>, env: Value<'js>) -> Result<Bound<'js>> {
        let bound: Object<'js> = self.bind.call((app, env))?;
        let get = |name: &str| bound.get::<_, Value<'js>>(name);
        let (app, fetch, context, dispatch) = (get("app")?, get("fetch")?, get("context")?, get("dispatch")?);
        let (allocate, socket) = (bound.get("allocate")?, bound.get("socket")?);
        Ok(Bound { app, fetch, context, dispatch, allocate, socket, max_message: bound.get("maxMessage")? })
    }
}
