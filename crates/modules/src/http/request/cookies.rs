//! `http.cookieJar()`, `new http.CookieJar()` and what scripts do with them.
//!
//! A jar object holds a `wire::CookieJar`; the user's own jar lives in the module's state and is emptied before each
//! iteration unless `noCookiesReset` is set.

use std::rc::Rc;

use host::bytes;
use host::js::function::{Constructor, Opt};
use host::js::prelude::{Func, This};
use host::js::{Coerced, Ctx, Object, Result, Value};
use host::native::{self, NativeClass};
use wire::cookies::{Cookie, CookieJar, parse_date, problem_in};
use wire::mask::Mask;
use wire::{FailureKind, Url};

use script::go_error;

/// The script-side holder of a jar.
struct JarObject(Rc<CookieJar>);

impl NativeClass for JarObject {
    const NAME: &'static str = "CookieJar";

    fn methods<'js>(prototype: &Object<'js>) -> Result<()> {
        prototype.set("clear", Func::from(clear))?;
        prototype.set("cookiesForURL", Func::from(cookies_for_url))?;
        prototype.set("delete", Func::from(delete))?;
        prototype.set("set", Func::from(set))
    }
}

/// A jar as the script sees it.
pub fn object<'js>(ctx: &Ctx<'js>, jar: Rc<CookieJar>) -> Result<Object<'js>> {
    native::object(ctx, JarObject(jar))
}

/// `http.CookieJar`.
pub fn constructor<'js>(ctx: &Ctx<'js>) -> Result<Constructor<'js>> {
    let make = |ctx: Ctx<'js>| object(&ctx, Rc::new(CookieJar::default()));
    Constructor::new_prototype(ctx, native::prototype::<JarObject>(ctx)?, make)
}

/// The jar behind a script's object, when it is one.
pub fn jar_of(value: &Value<'_>) -> Option<Rc<CookieJar>> {
    native::with(value, |jar: &JarObject| Rc::clone(&jar.0))
}

fn own_jar<'js>(ctx: &Ctx<'js>, this: &Value<'js>) -> Result<Rc<CookieJar>> {
    jar_of(this).ok_or_else(|| go_error::throw(ctx, "this method belongs to a CookieJar: call it on one"))
}

/// Reads the URL argument. Cookies of URLs that cannot be requested go nowhere: `None`.
fn url<'js>(ctx: &Ctx<'js>, argument: Opt<Value<'js>>) -> Result<Option<Url>> {
    let text = text(ctx, argument)?;
    match Url::parse(&text) {
        Ok(url) => Ok(Some(url)),
        Err(error) if error.kind == FailureKind::InvalidUrl => {
            let message = error.message.strip_prefix("invalid URL: ").unwrap_or(&error.message);
            Err(go_error::throw(ctx, &Mask::standard().text(message)))
        }
        Err(_) => Ok(None),
    }
}

fn text<'js>(ctx: &Ctx<'js>, argument: Opt<Value<'js>>) -> Result<String> {
    match argument.0 {
        Some(value) => bytes::to_text(ctx, &value),
        None => Ok(String::new()),
    }
}

fn clear<'js>(ctx: Ctx<'js>, this: This<Value<'js>>, at: Opt<Value<'js>>) -> Result<()> {
    let jar = own_jar(&ctx, &this.0)?;
    if let Some(url) = url(&ctx, at)? {
        jar.clear(&url);
    }
    Ok(())
}

fn delete<'js>(ctx: Ctx<'js>, this: This<Value<'js>>, at: Opt<Value<'js>>, name: Opt<Value<'js>>) -> Result<()> {
    let jar = own_jar(&ctx, &this.0)?;
    let name = text(&ctx, name)?;
    if let Some(url) = url(&ctx, at)? {
        jar.delete(&url, &name);
    }
    Ok(())
}

fn cookies_for_url<'js>(ctx: Ctx<'js>, this: This<Value<'js>>, at: Opt<Value<'js>>) -> Result<Object<'js>> {
    let jar = own_jar(&ctx, &this.0)?;
    let found = Object::new(ctx.clone())?;
    let Some(url) = url(&ctx, at)? else { return Ok(found) };
    let mut grouped: Vec<(String, Vec<String>)> = Vec::new();
    for (name, value) in jar.for_url(&url) {
        match grouped.iter_mut().find(|(known, _)| *known == name) {
            Some((_, values)) => values.push(value),
            None => grouped.push((name, vec![value])),
        }
    }
    for (name, values) in grouped {
        found.set(name, values)?;
    }
    Ok(found)
}

fn set<'js>(
    ctx: Ctx<'js>,
    this: This<Value<'js>>,
    at: Opt<Value<'js>>,
    name: Opt<Value<'js>>,
    value: Opt<Value<'js>>,
    details: Opt<Value<'js>>,
) -> Result<bool> {
    let jar = own_jar(&ctx, &this.0)?;
    let (name, value) = (text(&ctx, name)?, text(&ctx, value)?);
    if let Some(problem) = problem_in(&name, &value) {
        return Err(go_error::throw(&ctx, &problem));
    }
    let mut cookie = Cookie::new(name, value);
    if let Some(details) = details.0.as_ref().and_then(Value::as_object) {
        detail(&ctx, &mut cookie, details)?;
    }
    if let Some(url) = url(&ctx, at)? {
        jar.set(&url, cookie);
    }
    Ok(true)
}

fn detail<'js>(ctx: &Ctx<'js>, cookie: &mut Cookie, details: &Object<'js>) -> Result<()> {
    let given = |name: &str| -> Result<Option<Value<'js>>> {
        let value: Value<'js> = details.get(name)?;
        Ok(if value.is_undefined() || value.is_null() { None } else { Some(value) })
    };
    if let Some(path) = given("path")? {
        cookie.path = bytes::to_text(ctx, &path)?;
    }
    if let Some(domain) = given("domain")? {
        cookie.domain = bytes::to_text(ctx, &domain)?;
    }
    cookie.http_only = details.get::<_, Coerced<bool>>("http_only")?.0;
    cookie.secure = details.get::<_, Coerced<bool>>("secure")?.0;
    if let Some(age) = given("max_age")?.and_then(|age| age.as_number()) {
        cookie.max_age = age as i64;
    }
    if let Some(expires) = given("expires")? {
        let text = bytes::to_text(ctx, &expires)?;
        let at = rfc1123(&text).ok_or_else(|| {
            go_error::throw(
                ctx,
                &format!(
                    "unable to parse \"expires\" date string {text:?}: parsing time {text:?} as \"Mon, 02 Jan 2006 \
                     15:04:05 MST\": cannot parse {text:?} as \"Mon\""
                ),
            )
        })?;
        cookie.expires_ms = Some(at);
    }
    Ok(())
}

/// A date of exactly the form `Wed, 21 Oct 2037 07:28:00 GMT` (or a numeric zone of 0), in ms since the epoch.
fn rfc1123(text: &str) -> Option<i64> {
    let (day, rest) = text.split_once(", ")?;
    if !["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"].contains(&day) || rest.split(' ').count() != 5 {
        return None;
    }
    let normal = text.strip_suffix(" +0000").map(|head| format!("{head} GMT"));
    parse_date(normal.as_deref().unwrap_or(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_set() {
        assert_eq!(rfc1123("Wed, 21 Oct 2037 07:28:00 GMT"), Some(2_139_722_880_000));
        assert_eq!(rfc1123("Wed, 21 Oct 2037 07:28:00 +0000"), Some(2_139_722_880_000));
        assert_eq!(rfc1123("2037-01-01T00:00:00Z"), None);
        assert_eq!(rfc1123("zz"), None);
    }
}
