//! Fields of links: the parts of the URL that one leads to, absolute when the document knows where it came from.

use host::js::{Ctx, IntoJs, Result, Value};
use url::Url;

use super::document::Document;
use super::node::HtmlNode;

/// Where relative links of a document without a URL start; it shows in no answer.
const NOWHERE: &str = "http://nowhere.invalid/";

/// A link's URL, and whether it begins with a scheme.
fn target(node: &HtmlNode) -> Option<(Url, bool)> {
    let text = node.attribute("href")?.trim();
    let base = Url::parse(node.document.url()).ok();
    match Url::options().base_url(base.as_ref()).parse(text) {
        Ok(url) => Some((url, true)),
        Err(_) => Some((Url::parse(NOWHERE).ok()?.join(text).ok()?, false)),
    }
}

/// The absolute form of a reference in the document; as it is when that is not possible.
pub(super) fn absolute(document: &Document, reference: &str) -> String {
    let joined = Url::parse(document.url()).and_then(|base| base.join(reference.trim()));
    joined.map_or_else(|_| reference.to_owned(), String::from)
}

fn of_target<'js>(ctx: &Ctx<'js>, node: &HtmlNode, part: impl FnOnce(&Url, bool) -> String) -> Result<Value<'js>> {
    target(node).map(|(url, is_absolute)| part(&url, is_absolute)).unwrap_or_default().into_js(ctx)
}

/// `mark` and the text behind it, or nothing.
fn marked(mark: char, text: Option<&str>) -> String {
    text.filter(|text| !text.is_empty()).map(|text| format!("{mark}{text}")).unwrap_or_default()
}

pub(super) fn href<'js>(ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
    node.attribute("href").map(|href| absolute(&node.document, href)).unwrap_or_default().into_js(ctx)
}

pub(super) fn hash<'js>(ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
    of_target(ctx, node, |url, _| marked('#', url.fragment()))
}

pub(super) fn search<'js>(ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
    of_target(ctx, node, |url, _| marked('?', url.query()))
}

pub(super) fn host<'js>(ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
    of_target(ctx, node, |url, is_absolute| match url.port() {
        _ if !is_absolute => String::new(),
        Some(port) => format!("{}:{port}", url.host_str().unwrap_or_default()),
        None => url.host_str().unwrap_or_default().to_owned(),
    })
}

pub(super) fn hostname<'js>(ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
    of_target(ctx, node, |url, is_absolute| match is_absolute {
        true => url.host_str().unwrap_or_default().to_owned(),
        false => String::new(),
    })
}

pub(super) fn port<'js>(ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
    of_target(ctx, node, |url, _| url.port().map(|port| port.to_string()).unwrap_or_default())
}

pub(super) fn origin<'js>(ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
    of_target(ctx, node, |url, is_absolute| match (is_absolute, url.port()) {
        (false, _) => String::new(),
        (true, Some(port)) => format!("{}://{}:{port}", url.scheme(), url.host_str().unwrap_or_default()),
        (true, None) => format!("{}://{}", url.scheme(), url.host_str().unwrap_or_default()),
    })
}

/// As it stands in the document when that has no URL of its own.
pub(super) fn pathname<'js>(ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
    of_target(ctx, node, |url, is_absolute| match is_absolute {
        true if url.cannot_be_a_base() => String::new(),
        true => url.path().to_owned(),
        false => {
            let text = node.attribute("href").unwrap_or_default();
            text.split(['?', '#']).next().unwrap_or_default().to_owned()
        }
    })
}

/// Without the colon, but for links without a scheme, whose protocol is the colon alone: so it is in k6.
pub(super) fn protocol<'js>(ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
    match target(node) {
        Some((url, true)) => url.scheme().into_js(ctx),
        _ => ":".into_js(ctx),
    }
}

pub(super) fn username<'js>(ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
    of_target(ctx, node, |url, _| url.username().to_owned())
}

pub(super) fn password<'js>(ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
    of_target(ctx, node, |url, _| url.password().unwrap_or_default().to_owned())
}

/// The areas of a map.
pub(super) fn areas<'js>(ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
    node.list(ctx, node.document.descendants_named(node.id, &["area"]))
}

/// The images and objects that use a map.
pub(super) fn images<'js>(ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
    let wanted = format!("#{}", node.attribute("name").unwrap_or_default());
    let uses = |id: &u32| node.document.attribute(*id, "usemap") == Some(&wanted);
    node.list(ctx, node.document.descendants_named(Document::ROOT, &["img", "object"]).filter(uses))
}

/// The tracks of a video.
pub(super) fn text_tracks<'js>(ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
    node.list(ctx, node.document.descendants_named(node.id, &["track"]))
}
