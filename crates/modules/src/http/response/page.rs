//! `html()`, `submitForm()` and `clickLink()` of a response.

use std::cell::Cell;

use host::bytes;
use host::js::function::Opt;
use host::js::prelude::This;
use host::js::{Array, Ctx, IntoJs, Object, Result, Value};
use host::kind::Kind;
use host::object;
use wire::Method;

use super::object::content;
use super::parts::lossy;
use crate::html::{self, Document, NoLink, Submission};
use crate::http::request::call::RequestArgs;
use script::Vu;
use script::arguments::{given, member, present};
use script::go_error;

/// Sends a request and waits for its response.
type Send = for<'js> fn(&Ctx<'js>, &RequestArgs<'_, 'js>) -> Result<Value<'js>>;

/// Who sends what a form or a link leads to: responses come from there, so this file cannot know it.
#[derive(Default)]
struct PageSender {
    send: Cell<Option<Send>>,
}

/// Says who sends; when a module is made whose functions give responses.
pub(crate) fn bind(ctx: &Ctx<'_>, send: Send) {
    Vu::of(ctx).local::<PageSender>().send.set(Some(send));
}

/// What a response's document is called in errors.
const WANTED: &str = "HTML";

/// `response.html(selector?)`: a selection of the document, or of what the selector selects in it.
pub(crate) fn html<'js>(ctx: Ctx<'js>, this: This<Value<'js>>, selector: Opt<Value<'js>>) -> Result<Value<'js>> {
    let text = content(&ctx, &this.0, WANTED)?;
    let root = html::root(&ctx, document(&ctx, &lossy(&text), &url(&ctx, &this.0)?)?)?;
    match (given(selector), root.as_object()) {
        (Some(selector), Some(selection)) => {
            let find: Value<'js> = selection.get("find")?;
            object::call_method(&ctx, &find, &root, [&selector, &Value::new_undefined(ctx.clone())])
        }
        _ => Ok(root),
    }
}

/// `response.submitForm({ formSelector, submitSelector, fields, params })`.
pub(crate) fn submit_form<'js>(ctx: Ctx<'js>, this: This<Value<'js>>, options: Opt<Value<'js>>) -> Result<Value<'js>> {
    let options = Options::read("submitForm", &ctx, options)?;
    let form = options.text("formSelector", "form")?;
    let button = options.text("submitSelector", "[type=\"submit\"]")?;
    let (text, url) = (content(&ctx, &this.0, WANTED)?, url(&ctx, &this.0)?);
    let Some(mut sent) = Submission::of(&*document(&ctx, &lossy(&text), &url)?, &form, &button) else {
        let message = format!("no form found for selector '{form}' in response '{url}'");
        return Err(go_error::throw(&ctx, &message));
    };
    if let Some(fields) = options.member("fields")? {
        let Some(fields) = fields.as_object() else {
            let message = format!("submitForm() got {} as fields, expected an object", fields.type_name());
            return Err(go_error::throw(&ctx, &message));
        };
        for property in fields.props::<String, Value<'js>>() {
            let (name, value) = property?;
            sent.set(name, field_texts(&ctx, &value)?);
        }
    }
    let (method, params) = (wire::Method::of(&sent.method), options.member("params")?);
    if method == Method::Get {
        return request(&ctx, method, sent.with_query(), None, params);
    }
    let action = std::mem::take(&mut sent.action);
    request(&ctx, method, action, Some(body(&ctx, sent)?), params)
}

/// `response.clickLink({ selector, params })`.
pub(crate) fn click_link<'js>(ctx: Ctx<'js>, this: This<Value<'js>>, options: Opt<Value<'js>>) -> Result<Value<'js>> {
    let options = Options::read("clickLink", &ctx, options)?;
    let selector = options.text("selector", "a[href]")?;
    let (text, url) = (content(&ctx, &this.0, WANTED)?, url(&ctx, &this.0)?);
    let target = html::link(&*document(&ctx, &lossy(&text), &url)?, &selector).map_err(|why| {
        let what = match why {
            NoLink::NoElement => format!("no element found for selector '{selector}'"),
            NoLink::NoHref => format!("the element of selector '{selector}' has no href"),
        };
        go_error::throw(&ctx, &format!("{what} in response '{url}'"))
    })?;
    request(&ctx, Method::Get, target, None, options.member("params")?)
}

fn document(ctx: &Ctx<'_>, text: &str, url: &str) -> Result<std::rc::Rc<Document>> {
    html::read(ctx, text, url)
}

/// Where the response came from, as the script sees it.
fn url<'js>(ctx: &Ctx<'js>, response: &Value<'js>) -> Result<String> {
    match response.as_object().map(|response| response.get::<_, Value<'js>>("url")).transpose()? {
        Some(url) => bytes::to_text(ctx, &url),
        None => Ok(String::new()),
    }
}

/// The argument of both functions.
struct Options<'a, 'js> {
    ctx: &'a Ctx<'js>,
    object: Option<Object<'js>>,
}

impl<'a, 'js> Options<'a, 'js> {
    fn read(function: &str, ctx: &'a Ctx<'js>, options: Opt<Value<'js>>) -> Result<Self> {
        let Some(options) = given(options) else { return Ok(Options { ctx, object: None }) };
        let found = options.type_name();
        match options.into_object() {
            Some(object) => Ok(Options { ctx, object: Some(object) }),
            None => Err(go_error::throw(ctx, &format!("{function}() got {found}, expected an object of options"))),
        }
    }

    fn member(&self, name: &str) -> Result<Option<Value<'js>>> {
        self.object.as_ref().map(|object| member(object, name)).transpose().map(Option::flatten)
    }

    fn text(&self, name: &str, absent: &str) -> Result<String> {
        match self.member(name)? {
            Some(value) => bytes::to_text(self.ctx, &value),
            None => Ok(absent.to_owned()),
        }
    }
}

/// The values of a field that the script gave.
fn field_texts<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<Vec<String>> {
    match Kind::of(value) {
        Kind::Array(list) => list.iter::<Value<'js>>().map(|one| bytes::to_text(ctx, &one?)).collect(),
        _ => match present(Some(value.clone())) {
            Some(value) => Ok(vec![bytes::to_text(ctx, &value)?]),
            None => Ok(vec![String::new()]),
        },
    }
}

/// The fields as an object, which requests write as a form.
fn body<'js>(ctx: &Ctx<'js>, sent: Submission) -> Result<Value<'js>> {
    let object = Object::new(ctx.clone())?;
    for (name, values) in sent.fields {
        let list = Array::new(ctx.clone())?;
        for (index, value) in values.into_iter().enumerate() {
            list.set(index, value)?;
        }
        object.set(name, list)?;
    }
    Ok(object.into_value())
}

fn request<'js>(
    ctx: &Ctx<'js>,
    method: Method,
    url: String,
    body: Option<Value<'js>>,
    params: Option<Value<'js>>,
) -> Result<Value<'js>> {
    let url = url.into_js(ctx)?;
    let send =
        Vu::of(ctx).local::<PageSender>().send.get().expect("the module that gave the response has said who sends");
    send(ctx, &RequestArgs { method, url: Some(&url), body: body.as_ref(), params: params.as_ref() })
}
