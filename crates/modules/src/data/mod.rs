//! `k6/data`: `SharedArray`, test data that every virtual user reads and none owns.
//!
//! The function given to the constructor runs once in the process, in whichever virtual user comes first; the others
//! wait for it. What a script holds is a proxy around an empty array of the right length: it passes for an array
//! everywhere (`Array.isArray`, `JSON.stringify`, the methods of `Array.prototype`), makes a new frozen object at each
//! access and refuses every change. Buffers and typed arrays are views of the one copy, immutable too.

pub mod elements;
mod once_made;

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use host::Phase;
use host::js::atom::PredefinedAtom;
use host::js::function::Opt;
use host::js::proxy::{Proxy, ProxyHandler};
use host::js::{Array, Ctx, Exception, Function, IntoJs, Object, Result, Value};
use host::kind::{BufferKind, Kind};
use host::{bytes, object, shared_buffer};

use elements::{Element, Elements};
use once_made::{Asked, OnceMade};
use script::Vu;
use script::arguments::text_or;
use script::builtins::ModuleDef;
use script::go_error;

/// The module.
pub const MODULE: ModuleDef =
    ModuleDef { name: "k6/data", exports: &["SharedArray"], load, types: include_str!("types.d.ts") };

fn load<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    let prototype: Object<'js> = Array::new(ctx.clone())?.get_prototype().ok_or(host::js::Error::Unknown)?;
    let constructor = Function::new(ctx.clone(), shared_array)?.with_name("SharedArray")?.with_constructor(true);
    constructor.set(PredefinedAtom::Prototype, prototype)?;
    module.set("SharedArray", constructor)?;
    Ok(module)
}

/// The arrays of the process by name.
#[derive(Default)]
struct SharedArrays {
    arrays: Mutex<HashMap<String, Arc<OnceMade>>>,
}

impl SharedArrays {
    fn named(&self, name: &str) -> Arc<OnceMade> {
        let mut arrays = self.arrays.lock().unwrap_or_else(PoisonError::into_inner);
        arrays.entry(name.to_owned()).or_default().clone()
    }
}

/// Names whose function is running in this virtual user.
#[derive(Default)]
struct BeingMade {
    names: RefCell<HashSet<String>>,
}

fn shared_array<'js>(ctx: Ctx<'js>, name: Opt<Value<'js>>, make: Opt<Value<'js>>) -> Result<Value<'js>> {
    let vu = Vu::of(&ctx);
    if vu.phase() != Phase::Init {
        return Err(go_error::throw(&ctx, "new SharedArray must be called in the init context"));
    }
    let name = text_or(&ctx, name, "")?;
    if name.is_empty() {
        return Err(go_error::throw(&ctx, "empty name provided to SharedArray's constructor"));
    }
    let Some(make) = make.0.and_then(Value::into_function) else {
        let message = "a function is expected as the second argument of SharedArray's constructor";
        return Err(go_error::throw(&ctx, message));
    };
    if object::is_async(make.as_value()) {
        let message = "SharedArray constructor does not support async functions as second argument";
        return Err(go_error::throw(&ctx, message));
    }
    let elements = elements_of(&ctx, &vu, name, &make)?;
    view(&ctx, elements)
}

/// The elements of this name; runs `make` when nobody has before.
fn elements_of<'js>(ctx: &Ctx<'js>, vu: &Vu, name: String, make: &Function<'js>) -> Result<Arc<Elements>> {
    let own = vu.local::<BeingMade>();
    if own.names.borrow().contains(&name) {
        let message = format!("SharedArray '{name}' is being made by the function that asks for it");
        return Err(go_error::throw(ctx, &message));
    }
    let array = vu.process::<SharedArrays>().named(&name);
    let turn = loop {
        match array.ask() {
            Asked::Made(elements) => return Ok(elements),
            Asked::Turn(turn) => break turn,
            // Another virtual user is making it, on this thread perhaps: wait as for the network.
            Asked::Busy => vu.block_on(ctx, array.wait())?,
        }
    };
    own.names.borrow_mut().insert(name.clone());
    let made = make_elements(ctx, make);
    own.names.borrow_mut().remove(&name);
    Ok(turn.end(made?))
}

fn make_elements<'js>(ctx: &Ctx<'js>, make: &Function<'js>) -> Result<Elements> {
    let made: Value<'js> = make.call(())?;
    let Some(array) = made.as_array().filter(|_| made.is_array()) else {
        return Err(go_error::throw(ctx, "only arrays can be made into SharedArray"));
    };
    let mut elements = Elements::default();
    for element in array.iter::<Value<'js>>() {
        let element = element?;
        match Kind::of(&element) {
            Kind::Buffer(kind @ (BufferKind::Buffer | BufferKind::Typed(_))) => {
                let bytes = bytes::read(ctx, &element, ::bytes::Bytes::copy_from_slice)?;
                elements.push_binary(bytes.unwrap_or_default(), kind);
            }
            _ => match ctx.json_stringify(element)? {
                Some(json) => elements.push(Some(&json.to_string()?)),
                None => elements.push(None),
            },
        }
    }
    Ok(elements.shrink())
}

/// The array as one virtual user sees it.
pub(crate) fn view<'js>(ctx: &Ctx<'js>, elements: Arc<Elements>) -> Result<Value<'js>> {
    // The real length on the target lets the engine answer for `length` and keeps the proxy's invariants.
    let target = Array::new(ctx.clone())?;
    target.as_object().set(PredefinedAtom::Length, elements.len())?;

    let handler = Object::new(ctx.clone())?;
    let known = elements.clone();
    let get = move |ctx: Ctx<'js>, target: Object<'js>, key: Value<'js>| match index(&key)? {
        Some(index) => materialise(&ctx, known.get(index)),
        None => target.get(key),
    };
    handler.set("get", Function::new(ctx.clone(), get)?)?;
    let known = elements.clone();
    let has = move |target: Object<'js>, key: Value<'js>| match index(&key)? {
        Some(index) => Ok(index < known.len()),
        None => target.contains_key(key),
    };
    handler.set("has", Function::new(ctx.clone(), has)?)?;
    let known = elements.clone();
    let own_keys = move |ctx: Ctx<'js>| -> Result<Array<'js>> {
        let keys = Array::new(ctx)?;
        for index in 0..known.len() {
            keys.set(index, index.to_string())?;
        }
        keys.set(known.len(), "length")?;
        Ok(keys)
    };
    handler.set("ownKeys", Function::new(ctx.clone(), own_keys)?)?;
    let describe = move |ctx: Ctx<'js>, _target: Value<'js>, key: Value<'js>| describe(&ctx, &elements, &key);
    handler.set("getOwnPropertyDescriptor", Function::new(ctx.clone(), describe)?)?;
    let refuse = |ctx: Ctx<'js>| -> Result<bool> { Err(Exception::throw_type(&ctx, "SharedArray is immutable")) };
    let refuse = Function::new(ctx.clone(), refuse)?;
    for change in ["set", "defineProperty", "deleteProperty", "setPrototypeOf", "preventExtensions"] {
        handler.set(change, refuse.clone())?;
    }
    Proxy::new(ctx.clone(), target, ProxyHandler::from_object(handler)?)?.into_js(ctx)
}

fn describe<'js>(ctx: &Ctx<'js>, elements: &Elements, key: &Value<'js>) -> Result<Option<Object<'js>>> {
    let (value, is_element) = match index(key)? {
        Some(index) if index < elements.len() => (materialise(ctx, elements.get(index))?, true),
        None if key.as_string().is_some_and(|key| key.to_string().is_ok_and(|key| key == "length")) => {
            (elements.len().into_js(ctx)?, false)
        }
        _ => return Ok(None),
    };
    let descriptor = Object::new(ctx.clone())?;
    descriptor.set("value", value)?;
    descriptor.set("writable", true)?;
    descriptor.set("enumerable", is_element)?;
    descriptor.set("configurable", is_element)?;
    Ok(Some(descriptor))
}

/// The position that a property key names (`"7"`, not `"07"`).
fn index(key: &Value<'_>) -> Result<Option<usize>> {
    let Some(key) = key.as_string() else { return Ok(None) };
    bytes::borrow(key, |digits| {
        let canonical = match digits {
            [b'0'] => true,
            [b'1'..=b'9', rest @ ..] => rest.len() < 10 && rest.iter().all(u8::is_ascii_digit),
            _ => false,
        };
        canonical.then(|| digits.iter().fold(0, |index, digit| index * 10 + usize::from(digit - b'0')))
    })
}

fn materialise<'js>(ctx: &Ctx<'js>, element: Option<Element<'_>>) -> Result<Value<'js>> {
    match element {
        None | Some(Element::Undefined) => Ok(Value::new_undefined(ctx.clone())),
        Some(Element::Null) => Ok(Value::new_null(ctx.clone())),
        Some(Element::Bool(value)) => value.into_js(ctx),
        Some(Element::Number(value)) => value.into_js(ctx),
        Some(Element::Text(text)) => text.into_js(ctx),
        Some(Element::Binary(bytes, kind)) => shared_buffer::view(ctx, bytes, kind),
        Some(Element::Json(json)) => {
            let value = ctx.json_parse(json)?;
            object::freeze_tree(ctx, &value)?;
            Ok(value)
        }
    }
}
