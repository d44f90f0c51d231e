//! `Element`: one node, bound to JavaScript. What every node has is here; what elements of one tag have besides is in
//! `accessors.rs`.
//!
//! Every method is a call, as in k6: `element.id()`, not `element.id`. Where k6 crashes, because there is no such node,
//! these give undefined.

use std::ffi::CStr;
use std::rc::Rc;

use host::js::{Ctx, IntoJs, Object, Result, Value};
use host::native::NativeClass;
use host::plain::{self, Args, Plain};
use host::{bytes, native, object};

use super::accessors;
use super::document::{Document, NodeData, NodeId};
use super::node::{HtmlNode, this_node, words};
use super::selection;
use super::selector::CssSelector;
use script::arguments::present;

/// The prototype of the elements of a tag: what all have is the prototype of that of each class.
pub(super) fn prototype<'js>(ctx: &Ctx<'js>, tag: &str) -> Result<Object<'js>> {
    let of_all = native::prototype::<EveryElement>(ctx)?;
    let Some(class) = accessors::class_of(tag) else { return Ok(of_all) };
    let prototype = accessors::prototype(ctx, class)?;
    prototype.set_prototype(Some(&of_all))?;
    Ok(prototype)
}

/// No value is of this class: it keeps the prototype.
struct EveryElement;

impl NativeClass for EveryElement {
    const NAME: &'static str = "Element";

    fn methods<'js>(prototype: &Object<'js>) -> Result<()> {
        for (number, (name, _)) in METHODS.iter().enumerate() {
            let function = plain::function::<CallElement>(prototype.ctx(), name, number as i32)?;
            object::define(prototype, name, function.into_value())?;
        }
        Ok(())
    }
}

type ElementMethod = for<'js> fn(&Ctx<'js>, &HtmlNode, Args<'_, 'js>) -> Result<Value<'js>>;

/// What every node has.
#[rustfmt::skip]
static METHODS: &[(&CStr, ElementMethod)] = &[
    (c"attributes", attributes),
    (c"childElementCount", |ctx, this, _| (this.document.child_elements(this.id).count() as f64).into_js(ctx)),
    (c"childNodes", |ctx, this, _| this.list(ctx, this.document.children(this.id))),
    (c"children", |ctx, this, _| this.list(ctx, this.document.child_elements(this.id))),
    (c"classList", |ctx, this, _| words(this.attribute("class")).into_js(ctx)),
    (c"className", |ctx, this, _| this.attribute("class").into_js(ctx)),
    (c"contains", contains),
    (c"firstChild", |ctx, this, _| this.other(ctx, this.document.first_child(this.id))),
    (c"firstElementChild", |ctx, this, _| this.other(ctx, this.document.child_elements(this.id).next())),
    (c"getAttribute", |ctx, this, args| this.attribute(&name_of(ctx, &args)?).into_js(ctx)),
    (c"getAttributeNode", get_attribute_node),
    (c"getElementsByClassName", by_class_name),
    (c"getElementsByTagName", |ctx, this, args| this.query_all(ctx, &name_of(ctx, &args)?)),
    (c"hasAttribute", |ctx, this, args| this.attribute(&name_of(ctx, &args)?).is_some().into_js(ctx)),
    (c"hasAttributes", |ctx, this, _| {
        this.document.element(this.id).is_some_and(|e| !e.attributes.is_empty()).into_js(ctx)
    }),
    (c"hasChildNodes", |ctx, this, _| this.document.first_child(this.id).is_some().into_js(ctx)),
    (c"id", |ctx, this, _| this.attribute("id").unwrap_or_default().into_js(ctx)),
    (c"innerHTML", |ctx, this, _| this.document.inner_html(this.id).into_js(ctx)),
    (c"isDefaultNamespace", |ctx, this, _| {
        this.document.element(this.id).is_some_and(|e| e.name.ns == html5ever::ns!(html)).into_js(ctx)
    }),
    (c"isEqualNode", |ctx, this, args| is_equal(this, other_node(&args).as_deref()).into_js(ctx)),
    (c"isSameNode", |ctx, this, args| is_same(this, other_node(&args).as_deref()).into_js(ctx)),
    (c"lang", |ctx, this, _| this.attribute("lang").into_js(ctx)),
    (c"lastChild", |ctx, this, _| this.other(ctx, this.document.last_child(this.id))),
    (c"lastElementChild", |ctx, this, _| this.other(ctx, this.document.child_elements(this.id).last())),
    (c"matches", |ctx, this, args| {
        let selector = CssSelector::read(&name_of(ctx, &args)?);
        selector.is_some_and(|selector| selector.matches(&this.document, this.id)).into_js(ctx)
    }),
    (c"namespaceURI", |ctx, this, _| this.document.element(this.id).map_or("", |e| &e.name.ns).into_js(ctx)),
    (c"nextElementSibling", |ctx, this, _| {
        this.other(ctx, this.document.following(this.id).find(|id| this.document.is_element(*id)))
    }),
    (c"nextSibling", |ctx, this, _| this.other(ctx, this.document.next(this.id))),
    (c"nodeName", node_name),
    (c"nodeType", node_type),
    (c"nodeValue", node_value),
    (c"ownerDocument", |ctx, this, _| this.other(ctx, Some(Document::ROOT))),
    (c"parentElement", |ctx, this, _| {
        this.other(ctx, this.document.parent(this.id).filter(|id| this.document.is_element(*id)))
    }),
    (c"parentNode", |ctx, this, _| this.other(ctx, this.document.parent(this.id))),
    (c"previousElementSibling", |ctx, this, _| {
        this.other(ctx, this.document.preceding(this.id).find(|id| this.document.is_element(*id)))
    }),
    (c"previousSibling", |ctx, this, _| this.other(ctx, this.document.previous(this.id))),
    (c"querySelector", |ctx, this, args| {
        let selector = CssSelector::read(&name_of(ctx, &args)?);
        let found = selector.and_then(|selector| selector.select(&this.document, this.id).next());
        this.other(ctx, found)
    }),
    (c"querySelectorAll", |ctx, this, args| this.query_all(ctx, &name_of(ctx, &args)?)),
    (c"selection", |ctx, this, _| selection::value(ctx, &this.document, vec![this.id], None)),
    (c"textContent", |ctx, this, _| this.document.text(this.id).into_js(ctx)),
    (c"toString", |ctx, _, _| "[object html.Node]".into_js(ctx)),
];

struct CallElement;

impl Plain for CallElement {
    fn call<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>, number: i32) -> Result<Value<'js>> {
        let (name, method) = METHODS[number as usize];
        method(ctx, &*this_node(ctx, &args, name)?, args)
    }
}

impl HtmlNode {
    fn query_all<'js>(&self, ctx: &Ctx<'js>, selector: &str) -> Result<Value<'js>> {
        let selector = CssSelector::read(selector);
        self.list(ctx, selector.iter().flat_map(|selector| selector.select(&self.document, self.id)))
    }
}

fn name_of<'js>(ctx: &Ctx<'js>, args: &Args<'_, 'js>) -> Result<String> {
    present(args.get(0)).map(|name| bytes::to_text(ctx, &name)).transpose().map(Option::unwrap_or_default)
}

fn other_node(args: &Args<'_, '_>) -> Option<Rc<HtmlNode>> {
    native::get::<HtmlNode>(&args.get(0)?)
}

fn is_same(one: &HtmlNode, other: Option<&HtmlNode>) -> bool {
    other.is_some_and(|other| one.id == other.id && Rc::ptr_eq(&one.document, &other.document))
}

/// Two nodes that are written in the same way.
fn is_equal(one: &HtmlNode, other: Option<&HtmlNode>) -> bool {
    let Some(other) = other else { return false };
    let head = |node: &HtmlNode| match &node.document.node(node.id).data {
        NodeData::Element(element) => (Some((element.name.clone(), element.attributes.clone())), None),
        NodeData::Text(text) | NodeData::Comment(text) => (None, Some(text.to_string())),
        NodeData::Doctype(text) => (None, Some(text.clone())),
        NodeData::Document => (None, None),
    };
    head(one) == head(other) && one.document.inner_html(one.id) == other.document.inner_html(other.id)
}

fn contains<'js>(ctx: &Ctx<'js>, this: &HtmlNode, args: Args<'_, 'js>) -> Result<Value<'js>> {
    let other = other_node(&args).filter(|other| Rc::ptr_eq(&this.document, &other.document));
    other.is_some_and(|other| this.document.contains(this.id, other.id)).into_js(ctx)
}

fn by_class_name<'js>(ctx: &Ctx<'js>, this: &HtmlNode, args: Args<'_, 'js>) -> Result<Value<'js>> {
    let wanted = words(Some(&name_of(ctx, &args)?));
    let has_all = |id: &NodeId| {
        let classes = words(this.document.attribute(*id, "class"));
        !wanted.is_empty() && wanted.iter().all(|class| classes.contains(class))
    };
    this.list(ctx, this.document.below(this.id).filter(has_all))
}

fn attributes<'js>(ctx: &Ctx<'js>, this: &HtmlNode, _: Args<'_, 'js>) -> Result<Value<'js>> {
    let all = Object::new(ctx.clone())?;
    for attribute in this.document.element(this.id).into_iter().flat_map(|element| &element.attributes) {
        all.set(&*attribute.name.local, attribute_node(ctx, this, &attribute.name.local, &attribute.value)?)?;
    }
    Ok(all.into_value())
}

fn get_attribute_node<'js>(ctx: &Ctx<'js>, this: &HtmlNode, args: Args<'_, 'js>) -> Result<Value<'js>> {
    let name = name_of(ctx, &args)?;
    match this.attribute(&name) {
        Some(value) => attribute_node(ctx, this, &name, value).map(Object::into_value),
        None => Ok(Value::new_undefined(ctx.clone())),
    }
}

fn attribute_node<'js>(ctx: &Ctx<'js>, this: &HtmlNode, name: &str, value: &str) -> Result<Object<'js>> {
    let node = Object::new(ctx.clone())?;
    node.set("owner_element", this.other(ctx, Some(this.id))?)?;
    node.set("name", name)?;
    node.set("value", value)?;
    Ok(node)
}

fn node_name<'js>(ctx: &Ctx<'js>, this: &HtmlNode, _: Args<'_, 'js>) -> Result<Value<'js>> {
    match &this.document.node(this.id).data {
        NodeData::Document => "#document",
        NodeData::Doctype(_) => "#doctype",
        NodeData::Text(_) => "#text",
        NodeData::Comment(_) => "#comment",
        NodeData::Element(element) => &element.name.local,
    }
    .into_js(ctx)
}

fn node_type<'js>(ctx: &Ctx<'js>, this: &HtmlNode, _: Args<'_, 'js>) -> Result<Value<'js>> {
    let number = match &this.document.node(this.id).data {
        NodeData::Element(_) => 1,
        NodeData::Text(_) => 3,
        NodeData::Comment(_) => 8,
        NodeData::Document => 9,
        NodeData::Doctype(_) => 10,
    };
    Ok(Value::new_int(ctx.clone(), number))
}

fn node_value<'js>(ctx: &Ctx<'js>, this: &HtmlNode, _: Args<'_, 'js>) -> Result<Value<'js>> {
    match &this.document.node(this.id).data {
        NodeData::Text(text) | NodeData::Comment(text) => (&**text).into_js(ctx),
        _ => Ok(Value::new_undefined(ctx.clone())),
    }
}
