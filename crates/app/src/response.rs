//! `Response` of apps: made by native code from strings, buffers and plain objects, since most are made for one request
//! each.
//!
//! Bodies and headers of other kinds are read by our JavaScript first. A body that is iterated, and headers that the
//! script has asked for, stay with the object as properties; then the answer is put together there as well.

use std::borrow::Cow;
use std::cell::Cell;
use std::rc::Rc;

use host::js::{Array, Ctx, Exception, Function, Object, Persistent, Result, Value};
use host::plain::{Args, Plain};
use host::{bytes as script_bytes, native, object};
use server::respond::{Body, Line, Response};

use crate::door::SlowPaths;
use crate::values::{argument, flat, string, undefined};
use crate::{answer, door};

/// The types that bodies bring along by themselves.
const TEXT: &str = "text/plain;charset=UTF-8";
const JSON: &str = "application/json";

/// What a response object stands for.
#[derive(Debug)]
pub(crate) struct Made {
    status: u16,
    status_text: Option<String>,
    headers: Vec<Line>,
    content_type: Option<Cow<'static, str>>,
    /// Nothing: the object has it as a property.
    body: Option<Body>,
    /// The object has a `Headers`, which the script may have changed.
    has_headers: Cell<bool>,
}

/// `slowPaths(extract, flatten, keep, Response)`: tells which they are.
pub(super) fn slow_paths<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    let function =
        |index| -> Result<_> { Ok(Persistent::save(ctx, argument(ctx, args, index).get::<Function<'js>>()?)) };
    let class = argument(ctx, args, 3);
    let prototype = prototype(ctx, &class)?;
    native::keep_shape::<Made>(ctx, &prototype)?;
    let kept = (Persistent::save(ctx, class), Persistent::save(ctx, prototype));
    *door::of(ctx).response.borrow_mut() = Some(kept);
    let paths = SlowPaths { extract: function(0)?, flatten: function(1)?, keep: function(2)? };
    *door::of(ctx).slow_paths.borrow_mut() = Some(paths);
    Ok(undefined(ctx))
}

fn slow<'js>(ctx: &Ctx<'js>, which: impl Fn(&SlowPaths) -> &Persistent<Function<'static>>) -> Result<Function<'js>> {
    let known = door::of(ctx).slow_paths.borrow().as_ref().map(|all| which(all).clone());
    known.ok_or(host::js::Error::Unknown)?.restore(ctx)
}

/// `new Response(body, init)`; a third argument, 1, is our own: the body is JSON.
pub(super) struct Constructor;

impl Plain for Constructor {
    fn call<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>, _: i32) -> Result<Value<'js>> {
        let prototype = prototype(ctx, &args.this())?;
        let mut body = argument(ctx, args, 0);
        let mut content_type = body.is_string().then_some(Cow::Borrowed(TEXT));
        let mut whole = answer::whole_body(ctx, &body)?;
        if whole.is_none() {
            let extracted: Array<'js> = slow(ctx, |paths| &paths.extract)?.call((body,))?;
            body = extracted.get(0)?;
            content_type = script_bytes::text(&extracted.get(1)?)?.map(Cow::Owned);
            whole = answer::whole_body(ctx, &body)?;
        }
        if args.count() > 2 {
            content_type = Some(Cow::Borrowed(JSON));
        }
        let is_streamed = whole.is_none();
        let has_body = !body.is_undefined() && !body.is_null();
        let mut made = Made {
            status: 200,
            status_text: None,
            headers: Vec::new(),
            content_type,
            body: whole,
            has_headers: Cell::new(false),
        };
        if let Some(init) = args.get(1)
            && let Some(init) = object::of(&init)
        {
            made.read(ctx, init, has_body)?;
        }
        let object = native::shared(ctx, Some(&prototype), Rc::new(made))?;
        if is_streamed {
            slow(ctx, |paths| &paths.keep)?.call::<_, ()>((object.clone(), body))?;
        }
        Ok(object)
    }
}

/// The prototype of what is being constructed: of a class that extends `Response` its own.
fn prototype<'js>(ctx: &Ctx<'js>, class: &Value<'js>) -> Result<Object<'js>> {
    let known = door::of(ctx).response.borrow().clone();
    if let Some((known, prototype)) = known
        && *class == known.restore(ctx)?
    {
        return prototype.restore(ctx);
    }
    let class = object::of(class);
    class.ok_or_else(|| Exception::throw_type(ctx, "Response is a class: write new Response(…)"))?.get("prototype")
}

impl Made {
    fn read<'js>(&mut self, ctx: &Ctx<'js>, init: &Object<'js>, has_body: bool) -> Result<()> {
        let status: Value<'js> = init.get("status")?;
        if !status.is_undefined() {
            self.status = read_status(ctx, &status, has_body)?;
        }
        let text: Value<'js> = init.get("statusText")?;
        if !text.is_undefined() {
            self.status_text = Some(script_bytes::to_text(ctx, &text)?);
        }
        let headers: Value<'js> = init.get("headers")?;
        if !headers.is_undefined() && !headers.is_null() {
            self.headers = match object::of(&headers).filter(|_| object::is_literal(&headers)) {
                Some(literal) => answer::lines_of_literal(ctx, literal)?,
                None => {
                    let lines: Value<'js> = slow(ctx, |paths| &paths.flatten)?.call((headers,))?;
                    answer::lines(ctx, &lines)?
                }
            };
        }
        Ok(())
    }

    /// With the type of the body among them, unless they have one.
    fn all_lines(&self) -> Vec<Line> {
        let mut lines = self.headers.clone();
        if let Some(kind) = self.content_type.clone().filter(|_| !has_type(&lines)) {
            lines.push((Cow::Borrowed("content-type"), kind));
        }
        lines
    }
}

fn has_type(lines: &[Line]) -> bool {
    lines.iter().any(|(name, _)| name == "content-type")
}

fn read_status<'js>(ctx: &Ctx<'js>, value: &Value<'js>, has_body: bool) -> Result<u16> {
    let number = value.get::<host::js::Coerced<f64>>()?.0;
    if !((200.0..=599.0).contains(&number) && number.fract() == 0.0) {
        let found = script_bytes::to_text(ctx, value)?;
        let message = format!("the status is {found}, expected a whole number from 200 to 599");
        return Err(Exception::throw_range(ctx, &message));
    }
    if has_body && [204.0, 205.0, 304.0].contains(&number) {
        return Err(Exception::throw_type(ctx, &format!("a response with status {number} has no body")));
    }
    Ok(number as u16)
}

/// The answer that a handler's value is, when it is a response that native code can send: taken out of the object when
/// that is its last owner.
pub(crate) fn taken(value: Value<'_>) -> std::result::Result<Response, Value<'_>> {
    let Some(made) = native::get::<Made>(&value).filter(|made| made.body.is_some() && !made.has_headers.get()) else {
        return Err(value);
    };
    drop(value);
    let Made { status, headers, content_type, body, .. } = Rc::try_unwrap(made).unwrap_or_else(|shared| shared.copy());
    let body = body.unwrap_or(Body::Static(b""));
    Ok(answer::build(status, headers, content_type, body))
}

impl Made {
    /// All but a body that is not whole.
    fn copy(&self) -> Made {
        Made {
            status: self.status,
            status_text: self.status_text.clone(),
            headers: self.headers.clone(),
            content_type: self.content_type.clone(),
            body: self.body.as_ref().and_then(Body::try_clone),
            has_headers: Cell::new(false),
        }
    }
}

fn made<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<Rc<Made>> {
    native::get::<Made>(value).ok_or_else(|| Exception::throw_type(ctx, "not called on a Response"))
}

/// `isResponse(value)`.
pub(super) fn is_response<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    Ok(Value::new_bool(ctx.clone(), native::get::<Made>(&argument(ctx, args, 0)).is_some()))
}

/// The getter `status`.
pub(super) fn status<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    Ok(Value::new_int(ctx.clone(), i32::from(made(ctx, &args.this())?.status)))
}

/// The getter `statusText`.
pub(super) fn status_text<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    string(ctx, made(ctx, &args.this())?.status_text.as_deref().unwrap_or_default())
}

/// `responseLines(response, keeps)` → [name, value, …], the type of the body among them. When `keeps`, they are the
/// object's from now on.
pub(super) fn lines<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    let made = made(ctx, &argument(ctx, args, 0))?;
    if argument(ctx, args, 1).as_bool() == Some(true) {
        made.has_headers.set(true);
    }
    let lines = made.all_lines();
    flat(ctx, lines.iter().map(|(name, value)| (&**name, &**value)))
}

/// `responseBytes(response)` → Uint8Array of a body that is whole; null for a file, undefined when the object has it.
pub(super) fn bytes<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    let made = made(ctx, &argument(ctx, args, 0))?;
    let content = match &made.body {
        Some(Body::Static(bytes)) => bytes.to_vec(),
        Some(Body::Shared(bytes)) => bytes.to_vec(),
        Some(Body::Array(pieces)) => pieces.concat(),
        Some(_) => return Ok(Value::new_null(ctx.clone())),
        None => return Ok(undefined(ctx)),
    };
    let buffer = script_bytes::array_buffer(ctx, content)?;
    let class: host::js::function::Constructor<'js> = ctx.globals().get("Uint8Array")?;
    class.construct((buffer,))
}

/// `answerWhole(request or reply, response, [name, value, …] or undefined)`: sends a body that is whole with these
/// lines, or else its own; false when it is not.
pub(super) fn answer_whole<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    let ticket = crate::ticket::answered(ctx, &argument(ctx, args, 0))?;
    let copy = made(ctx, &argument(ctx, args, 1))?.copy();
    let Some(body) = copy.body else { return Ok(Value::new_bool(ctx.clone(), false)) };
    let changed = argument(ctx, args, 2);
    let (lines, content_type) = match changed.is_undefined() {
        true => (copy.headers, copy.content_type),
        false => (answer::lines(ctx, &changed)?, None),
    };
    ticket.answer(Ok(answer::build(copy.status, lines, content_type, body)));
    Ok(Value::new_bool(ctx.clone(), true))
}
