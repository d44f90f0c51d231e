//! A node that a script holds, as a value of the script.
//!
//! Which methods it has is said by `element.rs`, which this file does not know: methods give nodes, too.

use std::cell::{Cell, RefCell};
use std::ffi::CStr;
use std::rc::Rc;

use host::js::{Array, Ctx, Error, Exception, Object, Persistent, Result, Value};
use host::native;
use host::plain::Args;
use rustc_hash::FxHashMap;

use super::document::{Document, NodeId};
use script::Vu;

/// A node that a script holds.
pub struct HtmlNode {
    pub(super) document: Rc<Document>,
    pub(super) id: NodeId,
}

impl HtmlNode {
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        self.document.attribute(self.id, name)
    }

    /// Another node of the document, or undefined.
    pub(super) fn other<'js>(&self, ctx: &Ctx<'js>, id: Option<NodeId>) -> Result<Value<'js>> {
        match id {
            Some(id) => value(ctx, &self.document, id),
            None => Ok(Value::new_undefined(ctx.clone())),
        }
    }

    pub(super) fn list<'js>(&self, ctx: &Ctx<'js>, ids: impl IntoIterator<Item = NodeId>) -> Result<Value<'js>> {
        let list = Array::new(ctx.clone())?;
        for (index, id) in ids.into_iter().enumerate() {
            list.set(index, value(ctx, &self.document, id)?)?;
        }
        Ok(list.into_value())
    }
}

/// Makes the object that holds the methods of all elements of a tag.
type MakePrototype = for<'js> fn(&Ctx<'js>, &str) -> Result<Object<'js>>;

/// The prototypes of a user's elements, each made when the first element of its tag is.
#[derive(Default)]
struct ElementPrototypes {
    make: Cell<Option<MakePrototype>>,
    of_tag: RefCell<FxHashMap<String, Persistent<Object<'static>>>>,
}

/// Says who makes prototypes; before the first node becomes a value.
pub(super) fn bind(ctx: &Ctx<'_>, make: MakePrototype) {
    Vu::of(ctx).local::<ElementPrototypes>().make.set(Some(make));
}

impl ElementPrototypes {
    fn of<'js>(&self, ctx: &Ctx<'js>, tag: &str) -> Result<Object<'js>> {
        if let Some(known) = self.of_tag.borrow().get(tag).cloned() {
            return known.restore(ctx);
        }
        let prototype = self.make.get().ok_or(Error::Unknown)?(ctx, tag)?;
        self.of_tag.borrow_mut().insert(tag.to_owned(), Persistent::save(ctx, prototype.clone()));
        Ok(prototype)
    }
}

/// A node as a value of the script.
pub(super) fn value<'js>(ctx: &Ctx<'js>, document: &Rc<Document>, id: NodeId) -> Result<Value<'js>> {
    let prototype = Vu::of(ctx).local::<ElementPrototypes>().of(ctx, document.tag(id))?;
    native::shared(ctx, Some(&prototype), Rc::new(HtmlNode { document: document.clone(), id }))
}

/// The node that a method was called on.
pub(super) fn this_node(ctx: &Ctx<'_>, args: &Args<'_, '_>, name: &CStr) -> Result<Rc<HtmlNode>> {
    native::get::<HtmlNode>(&args.this()).ok_or_else(|| {
        Exception::throw_type(ctx, &format!("{}() was not called on an Element", name.to_string_lossy()))
    })
}

/// The words of an attribute.
pub(super) fn words(text: Option<&str>) -> Vec<String> {
    text.unwrap_or_default().split_ascii_whitespace().map(str::to_owned).collect()
}

/// An attribute as a whole number.
pub(super) fn whole(node: &HtmlNode, name: &str) -> Option<i32> {
    node.attribute(name)?.trim().parse().ok()
}

/// An attribute as a number.
pub(super) fn number(node: &HtmlNode, name: &str) -> Option<f64> {
    node.attribute(name)?.trim().parse().ok().filter(|number: &f64| number.is_finite())
}

/// The value when it is one of these, else the first.
pub(super) fn one_of<'a>(value: Option<&'a str>, allowed: &[&'a str]) -> &'a str {
    value.filter(|value| allowed.contains(value)).unwrap_or_else(|| allowed.first().copied().unwrap_or_default())
}
