//! `k6/ws`: `connect` and the socket object, blocking as in k6: the call returns when the socket is closed.
//!
//! A connection that cannot be made is a response with an `error`, or an exception with the option `throw`; an answer
//! that is no upgrade is a response with its status. Refused in init code. The files beside are shared with
//! `k6/websockets`.

pub(crate) mod channel;
pub(crate) mod frame_log;
pub(crate) mod params;
pub(crate) mod samples;
pub(crate) mod socket;

use std::time::Instant;

use host::Phase;
use host::js::function::Rest;
use host::js::prelude::Func;
use host::js::{Ctx, Function, Object, Result, Value};
use host::{bytes, native};
use wire::client::Opening;
use wire::response::Response;

use self::channel::Channel;
use self::params::{BadAddress, ConnectParams, Plan};
use self::samples::{Answered, Naming, Samples};
use self::socket::{Socket, SocketObject};
use crate::http::common::k6_error::k6_error;
use crate::http::common::url::UrlCache;
use crate::http::response::failure_text::described;
use crate::http::response::plain_response::response;
use crate::http::samples::sampler::ms;
use script::Vu;
use script::builtins::ModuleDef;
use script::go_error;
use script::message_log::MessageLog;

/// The module.
pub const MODULE: ModuleDef =
    ModuleDef { name: "k6/ws", exports: &["connect"], load, types: include_str!("types.d.ts") };

fn load<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    module.set("connect", Func::from(connect))?;
    Ok(module)
}

fn connect<'js>(ctx: Ctx<'js>, args: Rest<Value<'js>>) -> Result<Object<'js>> {
    let vu = Vu::of(&ctx);
    if vu.phase() == Phase::Init {
        return Err(go_error::throw(&ctx, "using websockets in the init context is not supported"));
    }
    let (url, params, begin) = match args.0.as_slice() {
        [url, begin] => (url, None, begin),
        [url, params, begin] => (url, Some(params), begin),
        _ => return Err(go_error::throw(&ctx, "invalid number of arguments to ws.connect")),
    };
    let Some(begin) = begin.as_function() else {
        return Err(go_error::throw(&ctx, "last argument to ws.connect must be a function"));
    };
    let params = ConnectParams::from_js(&ctx, &vu, params, false)?;
    let text = bytes::to_text(&ctx, url)?;
    let url = params::address(&text).map_err(|bad| match bad {
        BadAddress::Malformed(why) => UrlCache::of(&vu).mask().text(&why).into_owned(),
        BadAddress::Scheme(_) => "malformed ws or wss URL".into(),
        BadAddress::Unreachable(why) => why,
    });
    let plan = Plan { text, url, params, protocols: Vec::new() };
    run(&ctx, &vu, &plan, begin)
}

fn run<'js>(ctx: &Ctx<'js>, vu: &Vu, plan: &Plan, begin: &Function<'js>) -> Result<Object<'js>> {
    let began = Instant::now();
    let url = match (plan.conflict(), &plan.url) {
        (Some(conflict), _) => return failed(ctx, vu, plan, began, [&conflict; 2], None),
        (None, Err(why)) => return failed(ctx, vu, plan, began, [why; 2], None),
        (None, Ok(url)) => url,
    };
    let client = vu.client();
    let opening = vu.block_on(ctx, channel::open(client, plan, url))?;
    vu.count_data(opening.bytes_sent, opening.bytes_received);
    let Opening { outcome, answer, agreed, .. } = opening;
    match (outcome, answer) {
        (Ok(mut link), Some(answer)) => {
            frame_log::watch(vu, &mut link, &plan.text);
            let subprotocol = agreed.protocol.as_deref().unwrap_or_default();
            let answered = Answered { status: answer.status, subprotocol, error: "" };
            let samples = Samples::of(vu, plan, Naming::NameBeside, &answered);
            samples.connected(vu, ms(began.elapsed()));
            let socket = Socket::new(Channel::new(link, samples, began, MessageLog::of(vu, &plan.text)));
            let holder = native::object(ctx, SocketObject(socket.clone()))?;
            socket.run(ctx, vu, begin, holder)?;
            response(ctx, &plan.text, Some(&answer), "")
        }
        // As in k6, an answer that is no upgrade has its status, and no error.
        (Err(failure), Some(answer)) if answer.status != 101 => {
            failed(ctx, vu, plan, began, [&described(&failure, url), ""], Some(&answer))
        }
        (Err(failure), _) => failed(ctx, vu, plan, began, [&described(&failure, url), k6_error(&failure)], None),
        (Ok(_), None) => unreachable!("a connection stands because of an answer"),
    }
}

/// No connection: its samples, and the response or the exception. Why, for people and as a kind of errors.
fn failed<'js>(
    ctx: &Ctx<'js>,
    vu: &Vu,
    plan: &Plan,
    began: Instant,
    [why, kind]: [&str; 2],
    answer: Option<&Response>,
) -> Result<Object<'js>> {
    let status = answer.map_or(0, |answer| answer.status);
    let samples = Samples::of(vu, plan, Naming::NameBeside, &Answered { status, subprotocol: "", error: kind });
    samples.connected(vu, ms(began.elapsed()));
    samples.ended(vu, ms(began.elapsed()));
    if vu.options().throw.unwrap_or(false) {
        return Err(go_error::throw(ctx, why));
    }
    response(ctx, "", answer, if answer.is_some() { "" } else { why })
}
