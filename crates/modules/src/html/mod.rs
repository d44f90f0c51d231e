//! `k6/html`: reading HTML documents, and `html()`, `submitForm()` and `clickLink()` of responses.
//!
//! `document/` reads a text, `selector/` and `nodes.rs` find nodes in it, `selection.rs` and `element.rs`
//! bind both to JavaScript. Selections and elements refer to one document and copy nothing. `page.rs` has what a
//! response does with its document.

mod accessors;
mod controls;
mod data;
mod document;
mod element;
mod form;
mod links;
mod node;
mod nodes;
mod page;
mod selection;
pub(crate) mod selector;
mod tables;

use std::rc::Rc;

use host::bytes;
use host::js::function::{Func, Opt};
use host::js::{Ctx, Object, Result, Value};

pub(crate) use document::Document;
pub(crate) use page::{NoLink, Submission, link};
use script::Vu;
use script::builtins::ModuleDef;
use script::go_error;

/// The module.
pub const MODULE: ModuleDef =
    ModuleDef { name: "k6/html", exports: &["parseHTML"], load, types: include_str!("types.d.ts") };

fn load<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    module.set("parseHTML", Func::from(parse_html))?;
    Ok(module)
}

fn parse_html<'js>(ctx: Ctx<'js>, text: Opt<Value<'js>>) -> Result<Value<'js>> {
    let Some(text) = text.0 else {
        return Err(go_error::throw(&ctx, "parseHTML() got nothing, expected the text of a document"));
    };
    // As k6 has it: null is a document without content.
    let text = if text.is_null() { String::new() } else { bytes::to_text(&ctx, &text)? };
    let document = read(&ctx, &text, "")?;
    root(&ctx, document)
}

/// Reads a document that came from this URL; what it takes counts as memory of the user.
pub(crate) fn read(ctx: &Ctx<'_>, text: &str, url: &str) -> Result<Rc<Document>> {
    let mut document = Document::parse(text, url);
    let held = Vu::of(ctx).memory().reserve(document.size()).map_err(|over| over.throw(ctx))?;
    document.hold(held);
    node::bind(ctx, element::prototype);
    Ok(Rc::new(document))
}

/// The selection of a document's root.
pub(crate) fn root<'js>(ctx: &Ctx<'js>, document: Rc<Document>) -> Result<Value<'js>> {
    selection::value(ctx, &document, vec![Document::ROOT], None)
}
