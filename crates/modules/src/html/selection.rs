//! `Selection`: the methods of a list of nodes, bound to JavaScript.
//!
//! A table of names and functions; all functions are of one native class and live on its prototype. Callbacks are
//! called with the index, and with an element (`each`) or a selection (everything else).

use std::cell::RefCell;
use std::ffi::CStr;
use std::rc::Rc;

use host::js::object::Accessor;
use host::js::prelude::This;
use host::js::{Array, Ctx, Error, Exception, Function, IntoJs, Object, Result, Value};
use host::kind::Kind;
use host::native::{self, NativeClass};
use host::plain::{self, Args, Plain};
use host::{bytes, object};

use super::data;
use super::document::{Document, NodeId};
use super::form::{FieldValue, by_name, urlencoded};
use super::node::{self, HtmlNode};
use super::nodes::{Chosen, Way, once, part};
use super::selector::CssSelector;
use script::arguments::present;
use script::go_error;

/// Nodes of a document.
pub struct Selection {
    pub(super) document: Rc<Document>,
    pub(super) nodes: Vec<NodeId>,
    /// What `end()` gives back.
    previous: RefCell<Option<Rc<Selection>>>,
}

impl Drop for Selection {
    /// One after the other: a chain of selections may be long, and a coroutine's stack is short.
    fn drop(&mut self) {
        let mut previous = self.previous.take();
        while let Some(selection) = previous {
            previous = Rc::into_inner(selection).and_then(|selection| selection.previous.take());
        }
    }
}

impl NativeClass for Selection {
    const NAME: &'static str = "Selection";

    fn methods<'js>(prototype: &Object<'js>) -> Result<()> {
        for (number, (name, _)) in METHODS.iter().enumerate() {
            let function = plain::function::<CallSelection>(prototype.ctx(), name, number as i32)?;
            object::define(prototype, name, function.into_value())?;
        }
        let url = |this: This<Value<'js>>| native::with(&this.0, |this: &Selection| this.document.url().to_owned());
        prototype.prop("url", Accessor::from(url).enumerable())
    }
}

type SelectionMethod = for<'js> fn(&Ctx<'js>, &Rc<Selection>, Args<'_, 'js>) -> Result<Value<'js>>;

/// Every method.
#[rustfmt::skip]
static METHODS: &[(&CStr, SelectionMethod)] = &[
    (c"add", add),
    (c"attr", attr),
    (c"children", |ctx, this, args| this.go(ctx, Way::Children, args, "children")),
    (c"closest", closest),
    (c"contents", |ctx, this, _| this.derive(ctx, Way::Contents.from(&this.document, &this.nodes))),
    (c"data", data_of),
    (c"each", each),
    (c"end", end),
    (c"eq", eq),
    (c"filter", |ctx, this, args| this.keep(ctx, args, "filter", true)),
    (c"find", find),
    (c"first", |ctx, this, _| this.derive(ctx, this.nodes.iter().take(1).copied().collect())),
    (c"get", get),
    (c"has", has),
    (c"html", html),
    (c"index", index),
    (c"is", is),
    (c"last", |ctx, this, _| this.derive(ctx, this.nodes.last().copied().into_iter().collect())),
    (c"map", map),
    (c"next", |ctx, this, args| this.go(ctx, Way::Next, args, "next")),
    (c"nextAll", |ctx, this, args| this.go(ctx, Way::NextAll, args, "nextAll")),
    (c"nextUntil", |ctx, this, args| this.go_until(ctx, Way::NextAll, args, "nextUntil")),
    (c"not", |ctx, this, args| this.keep(ctx, args, "not", false)),
    (c"parent", |ctx, this, args| this.go(ctx, Way::Parent, args, "parent")),
    (c"parents", |ctx, this, args| this.go(ctx, Way::Parents, args, "parents")),
    (c"parentsUntil", |ctx, this, args| this.go_until(ctx, Way::Parents, args, "parentsUntil")),
    (c"prev", |ctx, this, args| this.go(ctx, Way::Previous, args, "prev")),
    (c"prevAll", |ctx, this, args| this.go(ctx, Way::PreviousAll, args, "prevAll")),
    (c"prevUntil", |ctx, this, args| this.go_until(ctx, Way::PreviousAll, args, "prevUntil")),
    (c"serialize", |ctx, this, _| urlencoded(by_name(this.document.submitted(&this.nodes))).into_js(ctx)),
    (c"serializeArray", serialize_array),
    (c"serializeObject", serialize_object),
    (c"siblings", |ctx, this, args| this.go(ctx, Way::Siblings, args, "siblings")),
    (c"single", single),
    (c"size", |ctx, this, _| (this.nodes.len() as f64).into_js(ctx)),
    (c"slice", slice),
    (c"text", text),
    (c"toArray", to_array),
    (c"val", val),
];

struct CallSelection;

impl Plain for CallSelection {
    fn call<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>, number: i32) -> Result<Value<'js>> {
        let (name, method) = METHODS[number as usize];
        let Some(this) = native::get::<Selection>(&args.this()) else {
            let message = format!("{}() was not called on a Selection", name.to_string_lossy());
            return Err(Exception::throw_type(ctx, &message));
        };
        method(ctx, &this, args)
    }
}

/// The selection of these nodes as a value of the script.
pub(super) fn value<'js>(
    ctx: &Ctx<'js>,
    document: &Rc<Document>,
    nodes: Vec<NodeId>,
    previous: Option<Rc<Selection>>,
) -> Result<Value<'js>> {
    let selection = Selection { document: document.clone(), nodes, previous: RefCell::new(previous) };
    let prototype = native::prototype::<Selection>(ctx)?;
    native::shared(ctx, Some(&prototype), Rc::new(selection))
}

impl Selection {
    /// The selection that a method of this one gives.
    fn derive<'js>(self: &Rc<Self>, ctx: &Ctx<'js>, nodes: Vec<NodeId>) -> Result<Value<'js>> {
        value(ctx, &self.document, nodes, Some(self.clone()))
    }

    /// The nodes of a way, and of these only what the argument chooses, if there is one.
    fn go<'js>(self: &Rc<Self>, ctx: &Ctx<'js>, way: Way, args: Args<'_, 'js>, name: &str) -> Result<Value<'js>> {
        let nodes = way.from(&self.document, &self.nodes);
        let nodes = self.only(ctx, nodes, args.get(0), name)?;
        self.derive(ctx, nodes)
    }

    fn go_until<'js>(self: &Rc<Self>, ctx: &Ctx<'js>, way: Way, args: Args<'_, 'js>, name: &str) -> Result<Value<'js>> {
        let end = present(args.get(0)).map(|end| self.chosen(ctx, Some(end), name)).transpose()?;
        let nodes = way.until(&self.document, &self.nodes, end.as_ref());
        let nodes = self.only(ctx, nodes, args.get(1), name)?;
        self.derive(ctx, nodes)
    }

    fn only<'js>(
        &self,
        ctx: &Ctx<'js>,
        nodes: Vec<NodeId>,
        filter: Option<Value<'js>>,
        name: &str,
    ) -> Result<Vec<NodeId>> {
        let Some(filter) = present(filter) else { return Ok(nodes) };
        let filter = self.chosen(ctx, Some(filter), name)?;
        Ok(nodes.into_iter().filter(|id| filter.has(&self.document, *id)).collect())
    }

    /// What an argument chooses: a selector, a selection or an element.
    fn chosen<'js>(&self, ctx: &Ctx<'js>, argument: Option<Value<'js>>, name: &str) -> Result<Chosen> {
        let Some(argument) = argument else { return Err(unusable(ctx, name, "nothing")) };
        if let Kind::Text(_) = Kind::of(&argument) {
            return Ok(Chosen::Selector(CssSelector::read(&bytes::to_text(ctx, &argument)?)));
        }
        if let Some(other) = native::get::<Selection>(&argument) {
            let same = Rc::ptr_eq(&other.document, &self.document);
            return Ok(Chosen::Nodes(if same { other.nodes.clone() } else { Vec::new() }));
        }
        if let Some(other) = native::get::<HtmlNode>(&argument) {
            let same = Rc::ptr_eq(&other.document, &self.document);
            return Ok(Chosen::Nodes(if same { vec![other.id] } else { Vec::new() }));
        }
        Err(unusable(ctx, name, argument.type_name()))
    }

    /// The places of the nodes that a selector, a selection or a function keeps.
    fn kept<'js>(self: &Rc<Self>, ctx: &Ctx<'js>, argument: Option<Value<'js>>, name: &str) -> Result<Vec<bool>> {
        if let Some(function) = argument.as_ref().and_then(Value::as_function) {
            let ask = |(index, id): (usize, &NodeId)| {
                let one = value(ctx, &self.document, vec![*id], Some(self.clone()))?;
                Ok(object::is_true(&function.call::<_, Value<'js>>((index as f64, one))?))
            };
            return self.nodes.iter().enumerate().map(ask).collect();
        }
        let chosen = self.chosen(ctx, argument, name)?;
        Ok(self.nodes.iter().map(|id| chosen.has(&self.document, *id)).collect())
    }

    fn keep<'js>(self: &Rc<Self>, ctx: &Ctx<'js>, args: Args<'_, 'js>, name: &str, wanted: bool) -> Result<Value<'js>> {
        let kept = self.kept(ctx, args.get(0), name)?;
        let nodes = self.nodes.iter().zip(kept).filter(|(_, kept)| *kept == wanted).map(|(id, _)| *id);
        self.derive(ctx, nodes.collect())
    }
}

// Cold: it is called only to throw.
#[cold]
fn unusable(ctx: &Ctx<'_>, name: &str, found: &str) -> Error {
    go_error::throw(ctx, &format!("{name}() got {found}, expected a selector, a selection or an element"))
}

/// A number that counts, cut to a whole one; `absent` when there is none.
fn place<'js>(ctx: &Ctx<'js>, argument: Option<Value<'js>>, absent: i64) -> Result<i64> {
    match present(argument) {
        Some(value) => Ok(value.get::<host::js::Coerced<f64>>().map_or(0, |number| number.0 as i64)),
        None => Ok(absent),
    }
    .inspect_err(|_: &Error| _ = ctx.catch())
}

fn callback<'js>(ctx: &Ctx<'js>, args: &Args<'_, 'js>, name: &str) -> Result<Function<'js>> {
    args.get(0)
        .and_then(Value::into_function)
        .ok_or_else(|| go_error::throw(ctx, &format!("{name}() expects a function to call")))
}

fn add<'js>(ctx: &Ctx<'js>, this: &Rc<Selection>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    let chosen = this.chosen(ctx, args.get(0), "add")?;
    let more: Vec<NodeId> = match &chosen {
        Chosen::Nodes(nodes) => nodes.clone(),
        Chosen::Selector(_) => chosen.below(&this.document, Document::ROOT).collect(),
    };
    this.derive(ctx, once(this.nodes.iter().copied().chain(more)))
}

fn attr<'js>(ctx: &Ctx<'js>, this: &Rc<Selection>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    let name = present(args.get(0)).map(|name| bytes::to_text(ctx, &name)).transpose()?.unwrap_or_default();
    match this.nodes.first().and_then(|id| this.document.attribute(*id, &name)) {
        Some(value) => value.into_js(ctx),
        None => Ok(args.get(1).unwrap_or_else(|| Value::new_undefined(ctx.clone()))),
    }
}

fn closest<'js>(ctx: &Ctx<'js>, this: &Rc<Selection>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    let chosen = this.chosen(ctx, args.get(0), "closest")?;
    let document = &this.document;
    let nearest =
        |id: &NodeId| std::iter::once(*id).chain(document.ancestors(*id)).find(|id| chosen.has(document, *id));
    this.derive(ctx, once(this.nodes.iter().filter_map(nearest)))
}

fn data_of<'js>(ctx: &Ctx<'js>, this: &Rc<Selection>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    let element = this.nodes.first().and_then(|id| this.document.element(*id));
    let Some(element) = element else { return Ok(Value::new_undefined(ctx.clone())) };
    match present(args.get(0)) {
        Some(name) => data::one(ctx, element, &bytes::to_text(ctx, &name)?),
        None => data::all(ctx, element),
    }
}

fn each<'js>(ctx: &Ctx<'js>, this: &Rc<Selection>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    let function = callback(ctx, &args, "each")?;
    for (index, id) in this.nodes.iter().enumerate() {
        function.call::<_, ()>((index as f64, node::value(ctx, &this.document, *id)?))?;
    }
    Ok(args.this())
}

fn end<'js>(ctx: &Ctx<'js>, this: &Rc<Selection>, _: Args<'_, 'js>) -> Result<Value<'js>> {
    let previous = this.previous.borrow().clone();
    match previous {
        Some(previous) => {
            let before = previous.previous.borrow().clone();
            value(ctx, &previous.document, previous.nodes.clone(), before)
        }
        None => this.derive(ctx, Vec::new()),
    }
}

fn eq<'js>(ctx: &Ctx<'js>, this: &Rc<Selection>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    let at = place(ctx, args.get(0), 0)?;
    this.derive(ctx, at_place(&this.nodes, at).into_iter().collect())
}

/// The node at a place, counted from the end when it is negative.
fn at_place(nodes: &[NodeId], at: i64) -> Option<NodeId> {
    let at = if at < 0 { at + nodes.len() as i64 } else { at };
    usize::try_from(at).ok().and_then(|at| nodes.get(at)).copied()
}

fn find<'js>(ctx: &Ctx<'js>, this: &Rc<Selection>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    let chosen = this.chosen(ctx, args.get(0), "find")?;
    let nodes = match this.nodes[..] {
        [one] => chosen.below(&this.document, one).collect(),
        _ => once(this.nodes.iter().flat_map(|id| chosen.below(&this.document, *id))),
    };
    this.derive(ctx, nodes)
}

fn single<'js>(ctx: &Ctx<'js>, this: &Rc<Selection>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    let chosen = this.chosen(ctx, args.get(0), "single")?;
    let first = this.nodes.iter().find_map(|id| chosen.below(&this.document, *id).next());
    this.derive(ctx, first.into_iter().collect())
}

fn get<'js>(ctx: &Ctx<'js>, this: &Rc<Selection>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    if args.count() == 0 {
        let all = Array::new(ctx.clone())?;
        for (index, id) in this.nodes.iter().enumerate() {
            all.set(index, node::value(ctx, &this.document, *id)?)?;
        }
        return Ok(all.into_value());
    }
    match at_place(&this.nodes, place(ctx, args.get(0), 0)?) {
        Some(id) => node::value(ctx, &this.document, id),
        None => Ok(Value::new_undefined(ctx.clone())),
    }
}

fn has<'js>(ctx: &Ctx<'js>, this: &Rc<Selection>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    let chosen = this.chosen(ctx, args.get(0), "has")?;
    let holds = |id: &NodeId| chosen.below(&this.document, *id).next().is_some();
    this.derive(ctx, this.nodes.iter().copied().filter(holds).collect())
}

fn html<'js>(ctx: &Ctx<'js>, this: &Rc<Selection>, _: Args<'_, 'js>) -> Result<Value<'js>> {
    this.nodes.first().map(|id| this.document.inner_html(*id)).unwrap_or_default().into_js(ctx)
}

fn index<'js>(ctx: &Ctx<'js>, this: &Rc<Selection>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    let (document, first) = (&this.document, this.nodes.first().copied());
    let found = match present(args.get(0)) {
        None => first.map(|id| document.preceding(id).filter(|id| document.is_element(*id)).count()),
        Some(argument) => match this.chosen(ctx, Some(argument), "index")? {
            Chosen::Nodes(nodes) => nodes.first().and_then(|wanted| this.nodes.iter().position(|id| id == wanted)),
            selector => first.and_then(|first| selector.below(document, Document::ROOT).position(|id| id == first)),
        },
    };
    found.map_or(-1.0, |found| found as f64).into_js(ctx)
}

fn is<'js>(ctx: &Ctx<'js>, this: &Rc<Selection>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    this.kept(ctx, args.get(0), "is")?.contains(&true).into_js(ctx)
}

fn map<'js>(ctx: &Ctx<'js>, this: &Rc<Selection>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    let function = callback(ctx, &args, "map")?;
    let results = Array::new(ctx.clone())?;
    for (index, id) in this.nodes.iter().enumerate() {
        let one = value(ctx, &this.document, vec![*id], Some(this.clone()))?;
        results.set(index, function.call::<_, Value<'js>>((index as f64, one))?)?;
    }
    Ok(results.into_value())
}

fn slice<'js>(ctx: &Ctx<'js>, this: &Rc<Selection>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    let from = place(ctx, args.get(0), 0)?;
    let to = present(args.get(1)).map(|to| place(ctx, Some(to), 0)).transpose()?;
    this.derive(ctx, this.nodes[part(this.nodes.len(), from, to)].to_vec())
}

fn text<'js>(ctx: &Ctx<'js>, this: &Rc<Selection>, _: Args<'_, 'js>) -> Result<Value<'js>> {
    let mut text = String::new();
    this.nodes.iter().for_each(|id| this.document.push_text(*id, &mut text));
    text.into_js(ctx)
}

fn to_array<'js>(ctx: &Ctx<'js>, this: &Rc<Selection>, _: Args<'_, 'js>) -> Result<Value<'js>> {
    let all = Array::new(ctx.clone())?;
    for (index, id) in this.nodes.iter().enumerate() {
        all.set(index, value(ctx, &this.document, vec![*id], Some(this.clone()))?)?;
    }
    Ok(all.into_value())
}

fn val<'js>(ctx: &Ctx<'js>, this: &Rc<Selection>, _: Args<'_, 'js>) -> Result<Value<'js>> {
    match this.nodes.first().and_then(|id| this.document.field_value(*id)) {
        Some(value) => value.into_js(ctx),
        None => Ok(Value::new_undefined(ctx.clone())),
    }
}

fn serialize_array<'js>(ctx: &Ctx<'js>, this: &Rc<Selection>, _: Args<'_, 'js>) -> Result<Value<'js>> {
    let all = Array::new(ctx.clone())?;
    for (index, (name, value)) in this.document.submitted(&this.nodes).into_iter().enumerate() {
        let field = Object::new(ctx.clone())?;
        field.set("name", name)?;
        field.set("value", value)?;
        all.set(index, field)?;
    }
    Ok(all.into_value())
}

fn serialize_object<'js>(ctx: &Ctx<'js>, this: &Rc<Selection>, _: Args<'_, 'js>) -> Result<Value<'js>> {
    let all = Object::new(ctx.clone())?;
    for (name, value) in by_name(this.document.submitted(&this.nodes)) {
        all.set(name, value)?;
    }
    Ok(all.into_value())
}

impl<'js> IntoJs<'js> for FieldValue {
    fn into_js(self, ctx: &Ctx<'js>) -> Result<Value<'js>> {
        match self {
            FieldValue::One(text) => text.into_js(ctx),
            FieldValue::Many(texts) => texts.into_js(ctx),
        }
    }
}
