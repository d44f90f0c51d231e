//! Fields of tables: their rows and cells, and which of these an element is.

use host::js::{Ctx, IntoJs, Result, Value};

use super::document::NodeId;
use super::node::HtmlNode;

const CELLS: &[&str] = &["td", "th"];

fn child(node: &HtmlNode, name: &str) -> Option<NodeId> {
    node.document.child_elements(node.id).find(|id| node.document.tag(*id) == name)
}

pub(super) fn caption<'js>(ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
    node.other(ctx, child(node, "caption"))
}

pub(super) fn head<'js>(ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
    node.other(ctx, child(node, "thead"))
}

pub(super) fn foot<'js>(ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
    node.other(ctx, child(node, "tfoot"))
}

pub(super) fn bodies<'js>(ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
    node.list(ctx, node.document.child_elements(node.id).filter(|id| node.document.tag(*id) == "tbody"))
}

pub(super) fn rows<'js>(ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
    node.list(ctx, node.document.descendants_named(node.id, &["tr"]))
}

pub(super) fn cells<'js>(ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
    node.list(ctx, node.document.child_elements(node.id).filter(|id| CELLS.contains(&node.document.tag(*id))))
}

/// Which of these names, below the nearest element above with one of those names, the node is.
fn index_in<'js>(ctx: &Ctx<'js>, node: &HtmlNode, above: &[&str], names: &[&str]) -> Result<Value<'js>> {
    let above = node.document.ancestor_named(node.id, above);
    let at = above.and_then(|above| node.document.descendants_named(above, names).position(|id| id == node.id));
    at.map_or(-1.0, |at| at as f64).into_js(ctx)
}

pub(super) fn cell_index<'js>(ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
    index_in(ctx, node, &["tr"], CELLS)
}

pub(super) fn row_index<'js>(ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
    index_in(ctx, node, &["table"], &["tr"])
}

pub(super) fn section_row_index<'js>(ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
    index_in(ctx, node, &["tbody", "tfoot", "thead"], &["tr"])
}
