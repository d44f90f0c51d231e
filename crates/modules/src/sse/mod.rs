//! `k6/x/sse`: `open` and the client object, as the extension of that name has them.
//!
//! The call returns when the stream has ended or the script has closed it. What the extension leaves out is a param:
//! `reconnect` asks again, as browsers do. Each answer is a request in the metrics of HTTP. An answer that is no stream
//! of events is an error, told by the handlers and by `response.error`, and has its body.

mod client;

use std::rc::Rc;
use std::time::Duration;

use host::bytes;
use host::js::function::Rest;
use host::js::prelude::Func;
use host::js::{Coerced, Ctx, FromJs, Function, Object, Result, Value};
use wire::{Exchange, Method, Response};

use self::client::{SseClient, SseHappening};
use crate::http::request::call::{Call, RequestArgs};
use crate::http::request::events::{self, Listener};
use crate::http::request::prepare::{Purpose, prepare};
use crate::http::request::state::HttpState;
use crate::http::response::failure_text::failure_text;
use crate::http::response::plain_response::response;
use crate::http::send::perform::perform;
use script::Vu;
use script::arguments::{self, ArgumentError};
use script::builtins::ModuleDef;
use script::go_error;

/// The module.
pub const MODULE: ModuleDef =
    ModuleDef { name: "k6/x/sse", exports: &["open"], load, types: include_str!("types.d.ts") };

/// Before a stream is asked for again, unless the server gave another time.
const RETRY: Duration = Duration::from_secs(3);

fn load<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    module.set("open", Func::from(open))?;
    Ok(module)
}

fn open<'js>(ctx: Ctx<'js>, args: Rest<Value<'js>>) -> Result<Object<'js>> {
    let vu = Vu::of(&ctx);
    if vu.phase() == host::Phase::Init {
        return Err(go_error::throw(&ctx, "using sse in the init context is not supported"));
    }
    let (url, params, set_up) = match args.0.as_slice() {
        [url, set_up] => (url, None, set_up),
        [url, params, set_up] => (url, Some(params), set_up),
        _ => return Err(go_error::throw(&ctx, "invalid number of arguments to sse.open")),
    };
    let Some(set_up) = set_up.as_function() else {
        return Err(go_error::throw(&ctx, "last argument to sse.open must be a function"));
    };
    let own = OwnParams::from_js(&ctx, params)?;
    let args = RequestArgs { method: own.method.clone(), url: Some(url), body: own.body.as_ref(), params };
    let session = Session { ctx: &ctx, vu: &vu, state: vu.local::<HttpState>(), client: SseClient::new(), set_up };
    let outcome = session.run(&args, own.reconnects);
    session.client.end();
    outcome
}

/// The params that requests of `k6/http` do not have.
struct OwnParams<'js> {
    method: Method,
    body: Option<Value<'js>>,
    /// How often the stream is asked for again.
    reconnects: u32,
}

impl<'js> OwnParams<'js> {
    fn from_js(ctx: &Ctx<'js>, params: Option<&Value<'js>>) -> Result<OwnParams<'js>> {
        let mut own = OwnParams { method: Method::Get, body: None, reconnects: 0 };
        let Some(params) = params.and_then(Value::as_object) else { return Ok(own) };
        if let Some(method) = arguments::member(params, "method")? {
            own.method = wire::Method::of(bytes::to_text(ctx, &method)?.trim());
        }
        own.body = arguments::member(params, "body")?;
        if let Some(reconnect) = arguments::member(params, "reconnect")? {
            own.reconnects = match reconnect.as_bool() {
                Some(true) => u32::MAX,
                Some(false) => 0,
                None => Coerced::<f64>::from_js(ctx, reconnect)?.0 as u32,
            };
        }
        Ok(own)
    }
}

/// One call of `open`.
struct Session<'a, 'js> {
    ctx: &'a Ctx<'js>,
    vu: &'a Vu,
    state: Rc<HttpState>,
    client: Rc<SseClient>,
    set_up: &'a Function<'js>,
}

impl<'js> Session<'_, 'js> {
    fn run(&self, args: &RequestArgs<'_, 'js>, mut reconnects: u32) -> Result<Object<'js>> {
        let (ctx, vu) = (self.ctx, self.vu);
        loop {
            let mut call = match prepare(ctx, vu, &self.state, args, &Purpose::Events(&self.client.stream)) {
                Ok(prepared) => Call::new(prepared),
                Err(ArgumentError::Thrown(error)) => return Err(error),
                Err(ArgumentError::Refused(refusal)) => return self.failed(&refusal.message),
            };
            self.ask(Call::not_shared(&mut call))?;
            let url = call.prepared.sent.target.name.to_string();
            let problem = match call.exchange() {
                Some(Exchange { outcome: Ok(answer), .. }) => self.problem(answer),
                _ => match failure_text(vu, &call) {
                    // Nobody was set up to hear of a first request that failed.
                    Some(failure) if !self.client.is_set_up() => return self.failed(&failure),
                    failure => failure,
                },
            };
            let answer = call.exchange().and_then(|exchange| exchange.outcome.as_ref().ok());
            let may_go_on = answer.is_none_or(events::is_event_stream);
            if let Some(problem) = &problem {
                self.client.set_up(ctx, self.set_up)?;
                self.client.fail(ctx, problem)?;
            }
            if self.client.stream.is_closed() || reconnects == 0 || !may_go_on {
                return response(ctx, &url, answer, problem.as_deref().unwrap_or_default());
            }
            reconnects -= 1;
            let retry = self.client.stream.retry_ms().map_or(RETRY, Duration::from_millis);
            vu.block_on(ctx, tokio::time::sleep(retry))?;
        }
    }

    /// One request, until its answer has ended.
    fn ask(&self, call: &mut Call) -> Result<()> {
        let tags = call.prepared.own_tags(self.vu);
        let request = std::pin::pin!(perform(self.vu, &self.state, call));
        self.client.stream.drive((self.ctx, self.vu, &tags), request, &mut Setting(self))
    }

    /// Why the answer is no stream of events.
    fn problem(&self, answer: &Response) -> Option<String> {
        if events::is_event_stream(answer) && (200..300).contains(&answer.status) {
            return None;
        }
        let kind = answer
            .header("Content-Type")
            .map_or_else(|| String::from("none"), |kind| format!("{:?}", String::from_utf8_lossy(kind)));
        // 204 is how a server asks its clients to come no more.
        (answer.status != 204).then(|| {
            format!(
                "the answer is no stream of events: status {}, content type {kind}; expected 200 and {:?}",
                answer.status,
                events::CONTENT_TYPE
            )
        })
    }

    /// The first request could not be made.
    fn failed(&self, why: &str) -> Result<Object<'js>> {
        if self.vu.options().throw.unwrap_or(false) {
            return Err(go_error::throw(self.ctx, why));
        }
        response(self.ctx, "", None, why)
    }
}

/// Hands what happens to the handlers of the script.
struct Setting<'a, 'b, 'js>(&'a Session<'b, 'js>);

impl<'js> Listener<'js> for Setting<'_, '_, 'js> {
    fn opened(&mut self, ctx: &Ctx<'js>) -> Result<()> {
        let session = self.0;
        session.client.set_up(ctx, session.set_up)?;
        session.client.handlers.emit(ctx, SseHappening::Open, &[])
    }

    fn event(&mut self, ctx: &Ctx<'js>, event: Object<'js>) -> Result<bool> {
        self.0.client.handlers.emit_one(ctx, SseHappening::Event, event.as_value())?;
        Ok(!self.0.client.stream.is_closed())
    }
}
