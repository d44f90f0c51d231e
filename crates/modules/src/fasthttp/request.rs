//! A `Request` of the script: read once, sent often.
//!
//! The object keeps what the script gave. Assigning to a property puts the new value there and has the whole
//! read again at the next use, by the code that the constructor uses. Headers are frozen: changing one in place would
//! not be seen, so it throws. Bytes of a body stay the script's own and are looked at whenever they are sent.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use host::borrow::Borrows;
use host::js::function::{Constructor, Opt, This};
use host::js::object::{Accessor, Filter};
use host::js::{Ctx, Exception, Object, Result, Value};
use host::keeper;
use host::native::NativeClass;
use host::{bytes, object};
use wire::{Method, Payload};

use crate::http::common::refusal::{Checked, Refusal};
use crate::http::common::url::{self, UrlArg};
use crate::http::request::body::{self, BodyArg};
use crate::http::request::call::PreparedRequest;
use crate::http::request::intake::Intake;
use crate::http::request::params::{Empty, Params, ResponseType};
use crate::http::request::prepare::Outline;
use crate::http::request::state::HttpState;
use script::Vu;
use script::arguments::{ArgumentError, member};

/// The extension's own properties; those of `k6/http` params can be given, too.
const FIELDS: [&str; 7] = ["url", "throw", "disable_keep_alive", "host", "headers", "body", "response_type"];

/// A longer text is not kept a second time.
const SHORT_TEXT: usize = 4 << 10;

/// What a request object of the script says, read; nothing when it has to be read again. The one value that it keeps is
/// an object of what the script gave.
struct Request(Option<Rc<ParsedRequest>>);

impl NativeClass for Request {
    const NAME: &'static str = "Request";

    fn methods<'js>(prototype: &Object<'js>) -> Result<()> {
        for name in FIELDS {
            let get = move |this: This<Value<'js>>| -> Result<Value<'js>> {
                match given_of(&this.0, |_| {}) {
                    Some(given) => given.get(name),
                    None => Ok(Value::new_undefined(this.0.ctx().clone())),
                }
            };
            let set = move |ctx: Ctx<'js>, this: This<Value<'js>>, value: Value<'js>| -> Result<()> {
                let Some(given) = given_of(&this.0, |request| request.0 = None) else {
                    return Err(Exception::throw_type(&ctx, &format!("{name} must be set on a Request")));
                };
                given.set(name, if name == "headers" { frozen(&ctx, &value)? } else { value })
            };
            prototype.prop(name, Accessor::new(get, set).configurable().enumerable())?;
        }
        Ok(())
    }
}

/// What the script gave for a request object, after a change to what was read of it; `None` for other values.
fn given_of<'js>(value: &Value<'js>, change: impl FnOnce(&mut Request)) -> Option<Object<'js>> {
    let given = keeper::with(value, |request: &mut Request, kept| {
        change(request);
        kept.first().and_then(Value::as_object).cloned()
    });
    given.flatten()
}

/// The class.
pub fn constructor<'js>(ctx: &Ctx<'js>) -> Result<Constructor<'js>> {
    let prototype = keeper::prototype::<Request>(ctx)?;
    let constructor = Constructor::new_prototype(ctx, prototype, construct)?;
    constructor.set_name("Request")?;
    Ok(constructor)
}

fn construct<'js>(ctx: Ctx<'js>, url: Opt<Value<'js>>, options: Opt<Value<'js>>) -> Result<Object<'js>> {
    let given = Object::new(ctx.clone())?;
    if let Some(options) = script::arguments::given(options) {
        let Some(options) = options.as_object() else {
            return Err(wrong(&ctx, &format!("the options are of type {}, expected an object", options.type_name())));
        };
        for entry in options.own_props::<Value<'js>, Value<'js>>(Filter::default()) {
            let (name, value) = entry?;
            given.set(name, value)?;
        }
    }
    given.set("url", url.0.unwrap_or_else(|| Value::new_undefined(ctx.clone())))?;
    given.set("headers", frozen(&ctx, &given.get("headers")?)?)?;
    let parsed = ParsedRequest::read(&ctx, &given)?;
    let request = keeper::object(&ctx, Request(Some(Rc::new(parsed))))?;
    keeper::with(request.as_value(), |_: &mut Request, kept| kept.push(given.into_value()));
    Ok(request)
}

/// A copy that cannot be changed, of an object; other values as they are.
fn frozen<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<Value<'js>> {
    let Some(headers) = value.as_object() else { return Ok(value.clone()) };
    let copy = Object::new(ctx.clone())?;
    for entry in headers.own_props::<Value<'js>, Value<'js>>(Filter::default()) {
        let (name, value) = entry?;
        copy.set(name, value)?;
    }
    object::freeze(ctx, &copy)?;
    Ok(copy.into_value())
}

fn wrong(ctx: &Ctx<'_>, message: &str) -> host::js::Error {
    Exception::throw_type(ctx, &format!("fasthttp Request: {message}"))
}

/// What a request object says, read again if it was changed; `None` for other values.
pub fn ready<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<Option<Rc<ParsedRequest>>> {
    let Some(known) = keeper::with(value, |request: &mut Request, _| request.0.clone()) else { return Ok(None) };
    if known.is_some() {
        return Ok(known);
    }
    let given = given_of(value, |_| {}).ok_or(host::js::Error::Unknown)?;
    let parsed = Rc::new(ParsedRequest::read(ctx, &given)?);
    given_of(value, |request| request.0 = Some(Rc::clone(&parsed)));
    Ok(Some(parsed))
}

/// A body, as far as it is known before it is sent.
enum Body {
    /// The same each time: none, or a short text.
    Same(BodyArg),
    /// Read when it is sent.
    Live,
}

/// A request, read.
pub struct ParsedRequest {
    url: UrlArg,
    params: Params,
    body: Body,
    /// The connection is closed after it.
    pub closes: bool,
    outline: OnceCell<std::result::Result<Outline, Refusal>>,
    last: RefCell<Option<LastSent>>,
}

/// A request as it was sent last.
struct LastSent {
    method: Method,
    edition: u32,
    client: Rc<wire::Client>,
    prepared: Rc<PreparedRequest>,
}

impl ParsedRequest {
    fn read<'js>(ctx: &Ctx<'js>, given: &Object<'js>) -> Result<ParsedRequest> {
        let throw = |error: ArgumentError<Refusal>| error.or_throw(|refusal| wrong(ctx, &refusal.message));
        let url = url::from_js(ctx, &given.get("url")?).map_err(throw)?;
        let mut params = Params::from_js(ctx, Some(given.as_value()), &Empty::default()).map_err(throw)?;
        if !matches!(params.intake, Intake::Body) {
            return Err(wrong(ctx, "hash and onBody are not possible here, use onrush/http"));
        }
        if member(given, "timeout")?.is_none() {
            params.timeout = Duration::MAX;
        }
        // As in the extension: a redirection is the response, unless the script asks for more.
        params.redirects = params.redirects.or(Some(0));
        if let Some(kind) = member(given, "response_type")? {
            params.response_type = Some(response_type(ctx, &kind)?);
        }
        let closes = match member(given, "disable_keep_alive")? {
            Some(flag) => object::is_true(&flag),
            None => false,
        };
        let host = member(given, "host")?.map(|host| bytes::to_text(ctx, &host)).transpose()?;
        let host = host.filter(|host| !host.is_empty()).map(|host| (String::from("Host"), host));
        let close = closes.then(|| (String::from("Connection"), String::from("close")));
        let added: Vec<_> = host.into_iter().chain(close).collect();
        if !added.is_empty() {
            let kept = params.headers.iter().filter(|(name, _)| added.iter().all(|(new, _)| new != name)).cloned();
            params.headers = kept.chain(added.iter().cloned()).collect();
        }
        let body = Body::read(ctx, given)?;
        Ok(ParsedRequest { url, params, body, closes, outline: OnceCell::new(), last: RefCell::default() })
    }

    /// The request to send. Bytes of a live body may be lent; see `http::request::prepare`.
    #[allow(clippy::too_many_arguments)]
    pub fn prepare<'js>(
        &self,
        ctx: &Ctx<'js>,
        vu: &Vu,
        state: &HttpState,
        request: &Value<'js>,
        method: &Method,
        (client, user_agent): (&Rc<wire::Client>, &Rc<str>),
        borrows: &Borrows<'js>,
    ) -> Checked<Rc<PreparedRequest>> {
        let edition = state.edition().filter(|_| self.params.jar.is_none());
        if let Some(last) = &*self.last.borrow()
            && Some(last.edition) == edition
            && last.method == *method
            && Rc::ptr_eq(&last.client, client)
        {
            return Ok(Rc::clone(&last.prepared));
        }
        let outline = self.outline.get_or_init(|| self.outline(vu, state)).as_ref().map_err(Refusal::clone)?;
        let (body, is_same) = match &self.body {
            // The extension sends neither a body nor its type along with these.
            _ if matches!(method, Method::Get | Method::Head) => (BodyArg::default(), true),
            Body::Same(body) => (body.clone(), true),
            Body::Live => {
                let given = given_of(request, |_| {}).ok_or(host::js::Error::Unknown)?;
                (body::from_js(ctx, &given.get("body")?, borrows)?, false)
            }
        };
        let body = if matches!(method, Method::Get | Method::Head) { body } else { completed(body, method) };
        borrows.check()?;
        let sender = (Rc::clone(client), Rc::clone(user_agent));
        let prepared = outline.prepare((vu, state), (method.clone(), body), sender);
        if let (Some(edition), true) = (edition, is_same) {
            let (client, prepared) = (Rc::clone(client), Rc::clone(&prepared));
            *self.last.borrow_mut() = Some(LastSent { method: method.clone(), edition, client, prepared });
        }
        Ok(prepared)
    }

    fn outline(&self, vu: &Vu, state: &HttpState) -> std::result::Result<Outline, Refusal> {
        let (target, template_name) = state.run(vu).urls.address(&self.url)?;
        Ok(Outline { target, template_name, params: self.params.clone() })
    }
}

/// As the extension sends it: methods other than GET and HEAD have a length, even 0, and a type.
fn completed(body: BodyArg, method: &Method) -> BodyArg {
    let BodyArg { payload, content_type } = body;
    // For the others `k6/http` does it.
    let empty = || (!matches!(method, Method::Post | Method::Put | Method::Patch)).then(Payload::empty);
    BodyArg {
        payload: payload.or_else(empty),
        content_type: content_type.or_else(|| Some(String::from("application/octet-stream"))),
    }
}

impl Body {
    fn read<'js>(ctx: &Ctx<'js>, given: &Object<'js>) -> Result<Body> {
        let Some(value) = member(given, "body")? else { return Ok(Body::Same(BodyArg::default())) };
        let is_short = match value.as_string() {
            Some(text) => bytes::borrow(text, <[u8]>::len)? <= SHORT_TEXT,
            None => false,
        };
        if !is_short {
            return Ok(Body::Live);
        }
        let body = body::from_js(ctx, &value, &Borrows::none(ctx));
        body.map(Body::Same).map_err(|error| error.or_throw(|refusal| wrong(ctx, &refusal.message)))
    }
}

fn response_type<'js>(ctx: &Ctx<'js>, kind: &Value<'js>) -> Result<ResponseType> {
    match bytes::to_text(ctx, kind)?.as_str() {
        "text" | "" => Ok(ResponseType::Text),
        "binary" => Ok(ResponseType::Binary),
        "none" => Ok(ResponseType::None),
        other => Err(wrong(ctx, &format!("response_type is {other:?}, expected text, binary or none"))),
    }
}
