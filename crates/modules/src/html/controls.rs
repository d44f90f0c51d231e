//! Fields of form controls that are no plain attribute: their form, labels, options and state.

use host::js::{Ctx, IntoJs, Result, Value};

use super::document::{Document, NodeId};
use super::form::FieldValue;
use super::node::{HtmlNode, number, one_of};

/// Ways to write a form's fields; the first is the default.
pub(super) const ENCTYPES: &[&str] = &["application/x-www-form-urlencoded", "multipart/form-data", "text/plain"];

/// Types of `<input>`; the first is the default.
#[rustfmt::skip]
pub(super) const INPUT_TYPES: &[&str] = &[
    "text", "button", "checkbox", "color", "date", "datetime", "datetime-local", "email", "file", "hidden", "image", 
    "month", "number", "password", "radio", "range", "reset", "search", "submit", "tel", "time", "url", "week",
];

const CONTROLS: &[&str] = &["button", "fieldset", "input", "keygen", "object", "output", "select", "textarea"];

pub(super) fn text<'js>(ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
    node.document.text(node.id).into_js(ctx)
}

pub(super) fn text_length<'js>(ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
    (node.document.text(node.id).encode_utf16().count() as f64).into_js(ctx)
}

/// The element with this id.
fn by_id(node: &HtmlNode, id: &str) -> Option<NodeId> {
    let document = &node.document;
    document.below(Document::ROOT).find(|other| document.attribute(*other, "id") == Some(id))
}

/// The form that a control names, or that is around it.
fn form_id(node: &HtmlNode, control: NodeId) -> Option<NodeId> {
    match node.document.attribute(control, "form").filter(|id| !id.is_empty()) {
        Some(id) => by_id(node, id).filter(|form| node.document.tag(*form) == "form"),
        None => node.document.ancestor_named(control, &["form"]),
    }
}

pub(super) fn form<'js>(ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
    node.other(ctx, form_id(node, node.id))
}

/// An attribute of the control, else of its form.
fn own_or_of_form<'a>(node: &'a HtmlNode, own: &str, of_form: &str) -> Option<&'a str> {
    node.attribute(own).or_else(|| form_id(node, node.id).and_then(|form| node.document.attribute(form, of_form)))
}

pub(super) fn form_action<'js>(ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
    own_or_of_form(node, "formaction", "action").unwrap_or_default().into_js(ctx)
}

pub(super) fn form_enctype<'js>(ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
    one_of(own_or_of_form(node, "formenctype", "enctype"), ENCTYPES).into_js(ctx)
}

pub(super) fn form_method<'js>(ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
    one_of(own_or_of_form(node, "formmethod", "method"), &["get", "post"]).into_js(ctx)
}

pub(super) fn form_no_validate<'js>(ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
    own_or_of_form(node, "formnovalidate", "novalidate").is_some().into_js(ctx)
}

pub(super) fn form_target<'js>(ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
    own_or_of_form(node, "formtarget", "target").unwrap_or_default().into_js(ctx)
}

/// By itself or by the fieldset around it.
pub(super) fn disabled<'js>(ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
    let above = node.document.ancestor_named(node.id, &["fieldset"]);
    let by_above = above.is_some_and(|above| node.document.attribute(above, "disabled").is_some());
    (by_above || node.attribute("disabled").is_some()).into_js(ctx)
}

/// The labels that are around it or name it.
pub(super) fn labels<'js>(ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
    let (document, id) = (&node.document, node.attribute("id"));
    let is_of = |label: &NodeId| {
        document.contains(*label, node.id) || (id.is_some() && document.attribute(*label, "for") == id)
    };
    node.list(ctx, document.descendants_named(Document::ROOT, &["label"]).filter(is_of))
}

/// What a label is for.
fn control_id(node: &HtmlNode) -> Option<NodeId> {
    match node.attribute("for") {
        Some(id) => by_id(node, id),
        None => node.document.descendants_named(node.id, CONTROLS).next(),
    }
}

pub(super) fn control<'js>(ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
    node.other(ctx, control_id(node))
}

pub(super) fn form_of_control<'js>(ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
    node.other(ctx, control_id(node).and_then(|control| form_id(node, control)))
}

pub(super) fn elements<'js>(ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
    node.list(ctx, node.document.descendants_named(node.id, CONTROLS))
}

pub(super) fn length<'js>(ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
    (node.document.descendants_named(node.id, CONTROLS).count() as f64).into_js(ctx)
}

/// The suggestions that an input names.
pub(super) fn list<'js>(ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
    let found = node.attribute("list").and_then(|id| by_id(node, id));
    node.other(ctx, found.filter(|list| node.document.tag(*list) == "datalist"))
}

fn all_options(node: &HtmlNode) -> impl Iterator<Item = NodeId> + '_ {
    node.document.descendants_named(node.id, &["option"])
}

pub(super) fn options<'js>(ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
    node.list(ctx, all_options(node))
}

pub(super) fn option_count<'js>(ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
    (all_options(node).count() as f64).into_js(ctx)
}

pub(super) fn selected_index<'js>(ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
    let selected = node.document.selected_options(node.id).next();
    let at = selected.and_then(|selected| all_options(node).position(|option| option == selected));
    at.map_or(-1.0, |at| at as f64).into_js(ctx)
}

pub(super) fn selected_options<'js>(ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
    node.list(ctx, node.document.selected_options(node.id))
}

pub(super) fn select_size<'js>(ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
    (if node.attribute("multiple").is_some() { 4 } else { 1 }).into_js(ctx)
}

pub(super) fn select_type<'js>(ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
    (if node.attribute("multiple").is_some() { "select-multiple" } else { "select" }).into_js(ctx)
}

pub(super) fn select_value<'js>(ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
    let selected = node.document.selected_options(node.id).next();
    selected.map(|option| node.document.option_value(option)).unwrap_or_default().into_js(ctx)
}

pub(super) fn value<'js>(ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
    node.document.field_value(node.id).unwrap_or(FieldValue::One(String::new())).into_js(ctx)
}

pub(super) fn option_disabled<'js>(ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
    let group = node.document.ancestor_named(node.id, &["optgroup"]);
    let by_group = group.is_some_and(|group| node.document.attribute(group, "disabled").is_some());
    (by_group || node.attribute("disabled").is_some()).into_js(ctx)
}

pub(super) fn option_index<'js>(ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
    let above = node.document.ancestor_named(node.id, &["select", "datalist"]);
    let at = above.and_then(|above| node.document.descendants_named(above, &["option"]).position(|id| id == node.id));
    at.map_or(0.0, |at| at as f64).into_js(ctx)
}

pub(super) fn option_label<'js>(ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
    node.attribute("label").map_or_else(|| node.document.text(node.id), str::to_owned).into_js(ctx)
}

fn maximum(node: &HtmlNode) -> f64 {
    number(node, "max").filter(|max| *max > 0.0).unwrap_or(1.0)
}

pub(super) fn progress_max<'js>(ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
    maximum(node).into_js(ctx)
}

/// -1 for one that says no value, else how far it is.
pub(super) fn progress_position<'js>(ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
    number(node, "value").map_or(-1.0, |value| value / maximum(node)).into_js(ctx)
}

/// How far it is: k6 divides here, too.
pub(super) fn progress_value<'js>(ctx: &Ctx<'js>, node: &HtmlNode) -> Result<Value<'js>> {
    number(node, "value").map_or(0.0, |value| value / maximum(node)).into_js(ctx)
}
