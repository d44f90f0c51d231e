//! `http.batch`: several requests at once, as many as `batch` and `batchPerHost` allow, answers in the shape asked for.
//!
//! All items are prepared first; when one is refused none is sent, as in k6. Each request is polled only when something
//! happened to it, so a large batch does not cost the square of its size.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use host::Phase;
use host::bytes;
use host::js::function::Rest;
use host::js::object::Filter;
use host::js::{Array, Ctx, Object, Result, Value};
use host::kind::Kind;
use host::lazy_object::Lazy;
use wire::Method;
use wire::settings::BatchLimits;

use super::perform::perform;
use crate::http::common::go_format::go_type;
use crate::http::common::refusal::{Checked, Refusal};
use crate::http::common::url;
use crate::http::request::call::{Call, PreparedRequest, RequestArgs};
use crate::http::request::prepare::{Purpose, prepare};
use crate::http::request::state::HttpState;
use crate::http::response::failure_text::failure_text;
use crate::http::response::finish::finish;
use crate::http::response::object as response;
use script::Vu;
use script::arguments::ArgumentError;
use script::go_error;

/// How the items came, and so how the answers go.
enum Shape {
    List,
    Named(Vec<String>),
}

/// `http.batch(requests)`.
pub fn batch<'js>(ctx: Ctx<'js>, args: Rest<Value<'js>>) -> Result<Value<'js>> {
    let vu = Vu::of(&ctx);
    if vu.phase() == Phase::Init {
        return Err(go_error::throw(&ctx, "Using batch in the init context is not supported"));
    }
    let [argument] = args.0.as_slice() else {
        let message = match args.0.len() {
            0 => "no argument was provided to http.batch()",
            _ => "http.batch() accepts only an array or an object of requests",
        };
        return Err(go_error::throw(&ctx, message));
    };
    let (shape, items) = items(&ctx, argument)?;
    let state = vu.local::<HttpState>();
    let mut calls = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let key = match &shape {
            Shape::List => index.to_string(),
            Shape::Named(names) => names[index].clone(),
        };
        match item_request(&ctx, &vu, &state, &key, item) {
            Ok(prepared) => calls.push(Call::new(prepared)),
            Err(ArgumentError::Thrown(error)) => return Err(error),
            Err(ArgumentError::Refused(refusal)) => {
                return refuse(&ctx, &vu, &state, &shape, (index, items.len()), refusal);
            }
        }
    }
    let run = state.run(&vu);
    vu.block_on(&ctx, all(&vu, &state, &mut calls, run.batch))?;
    let thrown = calls.iter().filter(|call| call.prepared.throw).find_map(|call| failure_text(&vu, call));
    if let Some(message) = thrown {
        return Err(go_error::throw(&ctx, &message));
    }
    let answers = calls.into_iter().map(|call| finish(&ctx, &vu, call, Vec::new())).collect::<Result<Vec<_>>>()?;
    shape.arrange(&ctx, answers)
}

impl Shape {
    fn arrange<'js>(&self, ctx: &Ctx<'js>, answers: Vec<Value<'js>>) -> Result<Value<'js>> {
        match self {
            Shape::List => {
                let list = Array::new(ctx.clone())?;
                for (index, answer) in answers.into_iter().enumerate() {
                    list.set(index, answer)?;
                }
                Ok(list.into_value())
            }
            Shape::Named(names) => {
                // Fewer when one was refused: blank answers stand before it and nothing behind it.
                debug_assert!(answers.len() <= names.len(), "{} answers to {}", answers.len(), names.len());
                let object = Object::new(ctx.clone())?;
                for (name, answer) in names.iter().zip(answers) {
                    object.set(name.as_str(), answer)?;
                }
                Ok(object.into_value())
            }
        }
    }
}

/// What k6 gives back when an item cannot be a request: blank answers before it, the error, nothing behind it.
fn refuse<'js>(
    ctx: &Ctx<'js>,
    vu: &Vu,
    state: &HttpState,
    shape: &Shape,
    (index, count): (usize, usize),
    refusal: Refusal,
) -> Result<Value<'js>> {
    if state.run(vu).throw {
        return Err(go_error::throw(ctx, &refusal.message));
    }
    vu.log().warn("A batch request failed", &[("error", &refusal.message)]);
    let mut answers = (0..index).map(|_| response::refused(ctx, None)).collect::<Result<Vec<_>>>()?;
    answers.push(response::refused(ctx, Some(refusal))?);
    if let Shape::List = shape {
        answers.resize_with(count, || Value::new_null(ctx.clone()));
    }
    shape.arrange(ctx, answers)
}

fn items<'js>(ctx: &Ctx<'js>, argument: &Value<'js>) -> Result<(Shape, Vec<Value<'js>>)> {
    if let Some(list) = argument.as_array() {
        return Ok((Shape::List, list.iter::<Value<'js>>().collect::<Result<_>>()?));
    }
    let Some(object) = argument.as_object().filter(|object| !object.is_function()) else {
        return Err(go_error::throw(ctx, &format!("invalid http.batch() argument type {}", go_type(argument))));
    };
    let (mut names, mut items) = (Vec::new(), Vec::new());
    for entry in object.own_props::<Value<'js>, Value<'js>>(Filter::default()) {
        let (name, item) = entry?;
        names.push(bytes::to_text(ctx, &name)?);
        items.push(item);
    }
    Ok((Shape::Named(names), items))
}

/// An item: a URL, `[method, url, body?, params?]`, or `{ method?, url, body?, params? }`.
fn item_request<'js>(
    ctx: &Ctx<'js>,
    vu: &Vu,
    state: &HttpState,
    key: &str,
    item: &Value<'js>,
) -> Checked<Rc<PreparedRequest>> {
    if let Some(list) = item.as_array() {
        return list_request(ctx, vu, state, list);
    }
    let Some(object) = item.as_object().filter(|_| !url::is_template(item)) else {
        let args = RequestArgs { method: Method::Get, url: Some(item), body: None, params: None };
        return prepare(ctx, vu, state, &args, &Purpose::Promise);
    };
    let (address, body, params): (Value<'js>, Value<'js>, Value<'js>) =
        (object.get("url")?, object.get("body")?, object.get("params")?);
    if address.is_undefined() {
        return Err(Refusal::new(format!("batch request {key} doesn't have a url key")).into());
    }
    let token: Value<'js> = object.get("method")?;
    // In object form k6 takes any case; none at all is GET.
    let method = match &token {
        token if token.is_undefined() => Method::Get,
        token => wire::Method::of(&method_token(ctx, token)?.to_ascii_uppercase()),
    };
    // Only a method that is named drops the body; k6 sends one with the GET that it assumes.
    let drop_body = !token.is_undefined() && matches!(method, Method::Get | Method::Head);
    let body = Some(&body).filter(|_| !drop_body);
    let args = RequestArgs { method, url: Some(&address), body, params: Some(&params) };
    prepare(ctx, vu, state, &args, &Purpose::Promise)
}

fn list_request<'js>(ctx: &Ctx<'js>, vu: &Vu, state: &HttpState, list: &Array<'js>) -> Checked<Rc<PreparedRequest>> {
    let parts: Vec<Value<'js>> = list.iter::<Value<'js>>().collect::<Result<_>>()?;
    if parts.len() < 2 {
        let shown: Vec<String> = parts
            .iter()
            .map(|part| bytes::to_text(ctx, part).map(|text| if part.is_string() { format!("{text:?}") } else { text }))
            .collect::<Result<_>>()?;
        return Err(Refusal::new(format!("invalid batch request '[]interface {{}}{{{}}}'", shown.join(", "))).into());
    }
    let method = wire::Method::of(&method_token(ctx, &parts[0])?);
    let args = RequestArgs { method, url: parts.get(1), body: parts.get(2), params: parts.get(3) };
    prepare(ctx, vu, state, &args, &Purpose::Promise)
}

/// The method of an item, as the script wrote it.
fn method_token<'js>(ctx: &Ctx<'js>, token: &Value<'js>) -> Checked<String> {
    let shown = match Kind::of(token) {
        Kind::Text(_) => return Ok(bytes::to_text(ctx, token)?),
        Kind::Nothing => String::from("<nil>"),
        _ => bytes::to_text(ctx, token)?,
    };
    Err(Refusal::new(format!("invalid method type '{shown}'")).into())
}

type Sending<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

/// Wakes the batch and remembers which request it was for.
struct Wakeup {
    ready: AtomicBool,
    batch: Mutex<Waker>,
}

impl Wake for Wakeup {
    fn wake(self: Arc<Self>) {
        self.ready.store(true, Ordering::Release);
        self.batch.lock().expect("nobody panics while holding it").wake_by_ref();
    }
}

/// A request on its way.
struct Active<'a> {
    host: Rc<str>,
    future: Sending<'a>,
    wakeup: Arc<Wakeup>,
}

/// Sends all, no more at a time than the limits say; 0 is none.
fn all<'a>(
    vu: &'a Vu,
    state: &'a HttpState,
    calls: &'a mut [Rc<Lazy<Call>>],
    limits: BatchLimits,
) -> impl Future<Output = ()> + 'a {
    let hosts: Vec<Rc<str>> = calls.iter().map(|call| Rc::from(host(&call.prepared))).collect();
    let mut calls: Vec<Option<&'a mut Call>> = calls.iter_mut().map(|call| Some(Call::not_shared(call))).collect();
    let unlimited = |n: usize| if n == 0 { usize::MAX } else { n };
    let (limit, per_host) = (unlimited(limits.in_all), unlimited(limits.per_host));
    let mut waiting: Vec<usize> = (0..calls.len()).collect();
    let mut active: Vec<Active<'a>> = Vec::new();
    let mut busy: HashMap<Rc<str>, usize> = HashMap::new();
    std::future::poll_fn(move |context| {
        loop {
            waiting.retain(|&index| {
                let on_host = busy.entry(Rc::clone(&hosts[index])).or_default();
                if active.len() >= limit || *on_host >= per_host {
                    return true;
                }
                *on_host += 1;
                let call = calls[index].take().expect("each is sent once");
                // Boxed: the list of those on their way moves its elements.
                let future: Sending<'a> = Box::pin(perform(vu, state, call));
                let wakeup =
                    Arc::new(Wakeup { ready: AtomicBool::new(true), batch: Mutex::new(context.waker().clone()) });
                active.push(Active { host: Rc::clone(&hosts[index]), future, wakeup });
                false
            });
            let before = active.len();
            debug_assert!(before <= limit, "{before} at once, of at most {limit}");
            debug_assert_eq!(busy.values().sum::<usize>(), before, "each is on the account of its host");
            debug_assert!(before > 0 || waiting.is_empty(), "the batch has something that wakes it");
            active.retain_mut(|request| match request.poll(context) {
                Poll::Pending => true,
                Poll::Ready(()) => {
                    busy.entry(Rc::clone(&request.host)).and_modify(|count| *count -= 1);
                    false
                }
            });
            if active.is_empty() && waiting.is_empty() {
                return Poll::Ready(());
            }
            // Something finished: there may be room for one that waits.
            if active.len() == before || waiting.is_empty() {
                return Poll::Pending;
            }
        }
    })
}

impl Active<'_> {
    fn poll(&mut self, context: &Context<'_>) -> Poll<()> {
        let mut batch = self.wakeup.batch.lock().expect("nobody panics while holding it");
        if !batch.will_wake(context.waker()) {
            batch.clone_from(context.waker());
        }
        drop(batch);
        if !self.wakeup.ready.swap(false, Ordering::AcqRel) {
            return Poll::Pending;
        }
        let waker = Waker::from(Arc::clone(&self.wakeup));
        self.future.as_mut().poll(&mut Context::from_waker(&waker))
    }
}

fn host(prepared: &PreparedRequest) -> &str {
    prepared.sent.target.url.as_ref().map_or("", |url| url.authority.as_str())
}
