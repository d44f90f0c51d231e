//! URL arguments: a string or an `http.url` template, parsed once and kept.
//!
//! Scripts ask for the same few URLs again and again, so a worker keeps what it has parsed, up to a bound; the last one
//! of each user is compared first. The text that becomes the `url` and `name` tags has its secrets masked: once, when
//! it is parsed.

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use host::bytes;
use host::js::function::Rest;
use host::js::prelude::{Func, This};
use host::js::{Ctx, Exception, Object, Result, Value};
use host::kind::Kind;
use host::native::{self, NativeClass};
use metrics::Sharded;
use rustc_hash::FxBuildHasher;
use wire::mask::Mask;
use wire::{FailureKind, Url};

use super::error_code;
use super::refusal::{Checked, Refusal};
use script::Vu;
use script::go_error;
use script::options::{NameRules, Written};

/// Distinct URLs kept by a worker; scripts that put ids into their URLs would otherwise fill the memory.
const KEPT: usize = 4096;

/// A URL that was asked for.
#[derive(Debug)]
pub struct Target {
    /// As the script wrote it.
    pub text: String,
    /// Ready to be requested, or why not: such a request is still counted, as a failed one.
    pub url: std::result::Result<Url, Unsendable>,
    /// Value of the `url` tag, and of `name` unless the script or a rule gave one.
    pub name: Arc<str>,
    /// The name by the run's rules.
    pub rule_name: Option<Arc<str>>,
}

/// Why a request fails before anything is sent: another scheme, no host, a port out of range, no time.
#[derive(Clone, Debug)]
pub struct Unsendable {
    /// For k6's error code.
    pub kind: FailureKind,
    /// For people.
    pub message: String,
}

/// The URLs that a worker's users asked for.
#[derive(Default)]
pub struct UrlCache {
    known: RefCell<Sharded<Box<str>, Rc<Target>, FxBuildHasher>>,
    mask: OnceCell<Mask>,
    rules: OnceCell<Option<Arc<NameRules>>>,
}

impl UrlCache {
    /// That of the user's worker.
    pub fn of(vu: &Vu) -> Rc<UrlCache> {
        let cache = vu.worker_local::<UrlCache>();
        cache.mask.get_or_init(|| vu.options().url_mask());
        cache.rules.get_or_init(|| vu.options().name_rules.as_ref().map(Written::shared));
        cache
    }

    /// What is hidden of URLs in this run.
    pub fn mask(&self) -> &Mask {
        self.mask.get_or_init(Mask::standard)
    }

    /// The parsed form of a URL argument, and the name that a template gave it.
    pub fn address(&self, argument: &UrlArg) -> std::result::Result<(Rc<Target>, Option<Arc<str>>), Refusal> {
        let name = match argument {
            UrlArg::Text(text) => return Ok((self.target(text)?, None)),
            UrlArg::Named(_, name) => name,
        };
        let name = match self.mask().url(name) {
            Cow::Borrowed(_) => Arc::clone(name),
            Cow::Owned(masked) => Arc::from(masked),
        };
        Ok((self.target(argument.text())?, Some(name)))
    }

    /// The name of what goes to a URL by the run's rules.
    pub fn rule_name(&self, url: &Url) -> Option<Arc<str>> {
        let path = url.target.split_once('?').map_or(&*url.target, |(path, _)| path);
        self.rules.get()?.as_deref()?.name_of(path)
    }

    /// The parsed form of a URL.
    pub fn target(&self, text: &str) -> std::result::Result<Rc<Target>, Refusal> {
        if let Some(target) = self.known.borrow().get(text) {
            return Ok(Rc::clone(target));
        }
        let mut target = Target::parse(text, self.mask())?;
        target.rule_name = target.url.as_ref().ok().and_then(|url| self.rule_name(url));
        let target = Rc::new(target);
        self.known.borrow_mut().insert(text.into(), Rc::clone(&target), Some(KEPT));
        Ok(target)
    }
}

impl Target {
    fn parse(text: &str, mask: &Mask) -> std::result::Result<Target, Refusal> {
        let url = match Url::parse(text) {
            Ok(url) => Ok(url),
            Err(error) if error.kind == FailureKind::InvalidUrl => {
                let message = mask.text(&error.message).into_owned();
                return Err(Refusal { message, code: error_code::of_failure(FailureKind::InvalidUrl) });
            }
            Err(error) => Err(Unsendable { kind: error.kind, message: error.message }),
        };
        let name = match &url {
            Ok(url) if url.userinfo.is_some() => Url::written(&url.text),
            _ => Url::written(text),
        };
        Ok(Target { text: text.to_owned(), name: Arc::from(mask.url(&name)), rule_name: None, url })
    }
}

/// What an `http.url` template holds: the text to request and the name for the tags.
struct Template {
    text: String,
    name: Arc<str>,
}

impl NativeClass for Template {
    const NAME: &'static str = "URL";

    fn methods<'js>(prototype: &Object<'js>) -> Result<()> {
        prototype.set("clean", Func::from(|This(this): This<Object<'js>>| this.get::<_, String>("clean_url")))?;
        prototype.set("getURL", Func::from(parts))
    }
}

/// A URL argument: its text and, from a template, its name.
pub enum UrlArg {
    /// A string.
    Text(String),
    /// An `http.url` template.
    Named(String, Arc<str>),
}

impl UrlArg {
    fn text(&self) -> &str {
        match self {
            UrlArg::Text(text) | UrlArg::Named(text, _) => text,
        }
    }
}

/// Reads a URL argument.
pub fn from_js<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Checked<UrlArg> {
    let shown = match Kind::of(value) {
        Kind::Text(_) => return Ok(UrlArg::Text(bytes::to_text(ctx, value)?)),
        Kind::Nothing => String::from("<nil>"),
        Kind::Bool(_) | Kind::Number(_) | Kind::BigInt | Kind::Symbol => bytes::to_text(ctx, value)?,
        _ => match native::with(value, |t: &Template| (t.text.clone(), Arc::clone(&t.name))) {
            Some((text, name)) => return Ok(UrlArg::Named(text, name)),
            None => String::from("map[]"),
        },
    };
    Err(Refusal { message: format!("invalid URL: '#{shown}'"), code: error_code::of_failure(FailureKind::InvalidUrl) }
        .into())
}

/// The fields of a template, with the names that they have in Go.
pub fn exported<'js>(value: &Value<'js>) -> Result<Option<[(&'static str, Value<'js>); 3]>> {
    let Some(template) = value.as_object().filter(|_| is_template(value)) else { return Ok(None) };
    let [name, url, clean] = ["name", "url", "clean_url"].map(|field| template.get::<_, Value<'js>>(field));
    Ok(Some([("Name", name?), ("URL", url?), ("CleanURL", clean?)]))
}

/// Whether the value is a template, and so an address rather than a description of a request.
pub fn is_template(value: &Value<'_>) -> bool {
    native::with(value, |_: &Template| ()).is_some()
}

/// ``http.url`…` ``: also callable as an ordinary function with an array of texts.
pub fn template<'js>(ctx: Ctx<'js>, args: Rest<Value<'js>>) -> Result<Object<'js>> {
    let mut args = args.0.into_iter();
    let pieces = match args.next() {
        None => Vec::new(),
        Some(first) => {
            let Some(array) = first.as_array() else {
                let shown = bytes::to_text(&ctx, &first)?;
                let message =
                    format!("could not convert function call parameter 0: could not convert {shown} to []string");
                return Err(Exception::throw_type(&ctx, &message));
            };
            array.iter::<Value<'js>>().map(|piece| bytes::to_text(&ctx, &piece?)).collect::<Result<Vec<_>>>()?
        }
    };
    let values: Vec<String> = args.map(|value| bytes::to_text(&ctx, &value)).collect::<Result<_>>()?;
    let (text, name) = fill(&pieces, &values);
    // An empty text is accepted here and refused when it is requested.
    let clean = if text.is_empty() {
        String::new()
    } else {
        // k6's `clean`: without name and password.
        let target = Target::parse(&text, &Mask::of([])).map_err(|refusal| go_error::throw(&ctx, &refusal.message))?;
        target.name.to_string()
    };
    let object = native::object(&ctx, Template { text: text.clone(), name: Arc::from(name.as_str()) })?;
    object.set("name", name)?;
    object.set("url", text)?;
    object.set("clean_url", clean)?;
    // Its methods are properties of its own.
    for name in ["clean", "getURL"] {
        object.set(name, object.get::<_, Value<'js>>(name)?)?;
    }
    Ok(object)
}

/// The text with the values put in, and the name with `${}` in their places.
fn fill(pieces: &[String], values: &[String]) -> (String, String) {
    let (mut text, mut name) = (String::new(), String::new());
    for (index, piece) in pieces.iter().enumerate() {
        text.push_str(piece);
        name.push_str(piece);
        if index + 1 < pieces.len() {
            text.push_str(values.get(index).map_or("", String::as_str));
            name.push_str("${}");
        }
    }
    (text, name)
}

/// `getURL()`: the parts of the URL, named as k6 names them.
fn parts<'js>(ctx: Ctx<'js>, This(this): This<Object<'js>>) -> Result<Object<'js>> {
    let text: String = this.get("url")?;
    let url = Url::parse(&text).map_err(|error| go_error::throw(&ctx, &Mask::standard().text(&error.message)))?;
    let (path, query) = url.target.split_once('?').unwrap_or((&url.target, ""));
    let parts = Object::new(ctx)?;
    parts.set("scheme", url.scheme())?;
    parts.set("host", url.authority.as_str())?;
    parts.set("path", path)?;
    parts.set("raw_query", query)?;
    parts.set("fragment", text.split_once('#').map_or("", |(_, fragment)| fragment))?;
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fills_templates() {
        let own = |texts: &[&str]| texts.iter().map(|&t| String::from(t)).collect::<Vec<_>>();
        let (text, name) = fill(&own(&["http://h/a/", "/b/", ""]), &own(&["5", "x y"]));
        assert_eq!((text.as_str(), name.as_str()), ("http://h/a/5/b/x y", "http://h/a/${}/b/${}"));
    }

    #[test]
    fn keeps_what_it_parsed_but_not_without_bound() {
        let cache = UrlCache::default();
        let first = cache.target("http://h/0").unwrap();
        assert!(Rc::ptr_eq(&first, &cache.target("http://h/0").unwrap()));
        for n in 0..KEPT {
            cache.target(&format!("http://h/{n}")).unwrap();
        }
        cache.target("http://h/more").unwrap();
        assert!(cache.known.borrow().kept() <= KEPT);
    }

    #[test]
    fn tags_show_no_password_but_the_fragment() {
        let name = |text: &str| Target::parse(text, &Mask::standard()).unwrap().name.to_string();
        assert_eq!(name("http://u:p@h/a#f"), "http://****:****@h/a#f");
        assert_eq!(name("http://H/é b#f"), "http://H/%C3%A9%20b#f");
        assert_eq!(name("http://h/?a=1&token=abc"), "http://h/?a=1&token=****");
        assert_eq!(name("http://u:p@h:99999/?sig=1"), "http://****:****@h:99999/?sig=****", "it cannot be requested");
    }

    #[test]
    fn errors_differ() {
        let parse = |text: &str| Target::parse(text, &Mask::standard());
        let refused = parse("http://u:p@[::1/?token=abc").unwrap_err();
        assert_eq!(refused.code, 1020);
        assert_eq!(refused.message, "invalid URL: parse \"http://****:****@[::1/?token=****\": missing ']' in host");
        let unsendable = parse("foo").unwrap().url.unwrap_err();
        let other = (FailureKind::Other, "unsupported protocol scheme \"\"");
        assert_eq!((unsendable.kind, unsendable.message.as_str()), other);
    }
}
