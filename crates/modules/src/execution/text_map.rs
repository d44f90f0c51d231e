//! An object of the script whose properties are text kept elsewhere: tags and metadata of a virtual user.
//!
//! Reads, writes, `delete`, `in`, `Object.keys` and `JSON.stringify` all go to the store, so that the script never
//! holds a stale copy. Values other than strings, numbers and booleans are refused; symbols are no names.

use host::bytes;
use host::js::proxy::{Proxy, ProxyHandler};
use host::js::{Array, Ctx, Exception, Function, IntoJs, Object, Result, Value};

use script::series::{refusal, tag_text};

/// Where the texts are. May refuse to work (in init code) by throwing.
pub(super) trait TextStore: Copy + 'static {
    /// What a value is called in messages: `tag` or `metadata`.
    const WHAT: &'static str;
    /// The text of this name.
    fn get(self, ctx: &Ctx<'_>, name: &str) -> Result<Option<String>>;
    /// Sets or removes a text.
    fn set(self, ctx: &Ctx<'_>, name: &str, value: Option<&str>) -> Result<()>;
    /// All names.
    fn names(self, ctx: &Ctx<'_>) -> Result<Vec<String>>;
}

/// The object over a store.
pub(super) fn text_map<'js, S: TextStore>(ctx: &Ctx<'js>, store: S) -> Result<Value<'js>> {
    let handler = Object::new(ctx.clone())?;
    let get = move |ctx: Ctx<'js>, target: Object<'js>, key: Value<'js>| match lookup(&ctx, store, &key)? {
        Some(text) => text.into_js(&ctx),
        None => target.get(key),
    };
    handler.set("get", Function::new(ctx.clone(), get)?)?;
    let set = move |ctx: Ctx<'js>, _target: Value<'js>, key: Value<'js>, value: Value<'js>| -> Result<bool> {
        let Some(name) = bytes::text(&key)? else {
            return Err(Exception::throw_type(&ctx, &format!("a symbol cannot name a metric {}", S::WHAT)));
        };
        match tag_text(&ctx, &value)? {
            Some(text) => store.set(&ctx, &name, Some(&text)).map(|()| true),
            None => Err(Exception::throw_type(&ctx, &refusal(S::WHAT, &name))),
        }
    };
    handler.set("set", Function::new(ctx.clone(), set)?)?;
    let has = move |ctx: Ctx<'js>, _target: Value<'js>, key: Value<'js>| {
        lookup(&ctx, store, &key).map(|found| found.is_some())
    };
    handler.set("has", Function::new(ctx.clone(), has)?)?;
    let delete = move |ctx: Ctx<'js>, _target: Value<'js>, key: Value<'js>| -> Result<bool> {
        if let Some(name) = bytes::text(&key)? {
            store.set(&ctx, &name, None)?;
        }
        Ok(true)
    };
    handler.set("deleteProperty", Function::new(ctx.clone(), delete)?)?;
    handler.set("ownKeys", Function::new(ctx.clone(), move |ctx: Ctx<'js>| own_keys(&ctx, store))?)?;
    let describe = move |ctx: Ctx<'js>, _target: Value<'js>, key: Value<'js>| describe(&ctx, store, &key);
    handler.set("getOwnPropertyDescriptor", Function::new(ctx.clone(), describe)?)?;
    let target = Object::new(ctx.clone())?;
    Proxy::new(ctx.clone(), target, ProxyHandler::from_object(handler)?)?.into_js(ctx)
}

fn lookup<'js, S: TextStore>(ctx: &Ctx<'js>, store: S, key: &Value<'js>) -> Result<Option<String>> {
    match bytes::text(key)? {
        Some(name) => store.get(ctx, &name),
        None => Ok(None),
    }
}

fn own_keys<'js, S: TextStore>(ctx: &Ctx<'js>, store: S) -> Result<Array<'js>> {
    let keys = Array::new(ctx.clone())?;
    for (index, name) in store.names(ctx)?.into_iter().enumerate() {
        keys.set(index, name)?;
    }
    Ok(keys)
}

fn describe<'js, S: TextStore>(ctx: &Ctx<'js>, store: S, key: &Value<'js>) -> Result<Option<Object<'js>>> {
    let Some(text) = lookup(ctx, store, key)? else { return Ok(None) };
    let descriptor = Object::new(ctx.clone())?;
    descriptor.set("value", text)?;
    for attribute in ["writable", "enumerable", "configurable"] {
        descriptor.set(attribute, true)?;
    }
    Ok(Some(descriptor))
}
