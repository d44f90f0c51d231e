//! `k6/x/kv`: values by key that all users of the test share.
//!
//! In memory: what is kept here ends with the run. Values are kept as JSON, because each user has a heap of its own.

use std::collections::BTreeMap;
use std::future::ready;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use host::Phase;
use host::bytes;
use host::js::function::{Opt, This};
use host::js::prelude::Func;
use host::js::{Array, Coerced, Ctx, Exception, FromJs, Object, Promise, Result, Value};
use host::native::{self, NativeClass};
use script::Vu;
use script::arguments::{given, member, text_or};
use script::builtins::ModuleDef;
use script::go_error;

/// The module.
pub const MODULE: ModuleDef =
    ModuleDef { name: "k6/x/kv", exports: &["openKv"], load, types: include_str!("types.d.ts") };

/// Values as JSON by key, in order.
#[derive(Default)]
struct Store(Mutex<BTreeMap<String, Arc<str>>>);

impl Store {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Arc<str>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Those whose keys begin so, at most this many.
    fn list(&self, prefix: &str, limit: usize) -> Vec<(String, Arc<str>)> {
        let entries = self.lock();
        let from = entries.range::<str, _>((Bound::Included(prefix), Bound::Unbounded));
        let of_prefix = from.take_while(|(key, _)| key.starts_with(prefix)).take(limit);
        of_prefix.map(|(key, value)| (key.clone(), Arc::clone(value))).collect()
    }
}

/// What the script holds.
struct Kv(Arc<Store>);

impl NativeClass for Kv {
    const NAME: &'static str = "KV";

    fn methods<'js>(prototype: &Object<'js>) -> Result<()> {
        prototype.set("set", Func::from(set))?;
        prototype.set("get", Func::from(get))?;
        prototype.set("delete", Func::from(delete))?;
        prototype.set("exists", Func::from(exists))?;
        prototype.set("list", Func::from(list))?;
        prototype.set("clear", Func::from(clear))?;
        prototype.set("size", Func::from(size))
    }
}

fn load<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    module.set("openKv", Func::from(open))?;
    Ok(module)
}

fn open<'js>(ctx: Ctx<'js>, options: Opt<Value<'js>>) -> Result<Object<'js>> {
    let vu = Vu::of(&ctx);
    if vu.phase() != Phase::Init {
        return Err(go_error::throw(&ctx, "openKv() must be called in the init context"));
    }
    let options = given(options);
    let backend = options.as_ref().and_then(Value::as_object).map(|options| member(options, "backend")).transpose()?;
    if let Some(backend) = backend.flatten() {
        let found = bytes::to_text(&ctx, &backend)?;
        if found != "memory" {
            let text = format!("openKv(): backend is {found:?}, expected \"memory\": values end with the run");
            return Err(go_error::throw(&ctx, &text));
        }
    }
    native::object(&ctx, Kv(vu.process::<Store>()))
}

fn store_of<'js>(ctx: &Ctx<'js>, this: &Value<'js>) -> Result<Arc<Store>> {
    let store = native::with(this, |kv: &Kv| Arc::clone(&kv.0));
    store.ok_or_else(|| Exception::throw_type(ctx, "this method belongs to a KV: call it on one"))
}

/// A promise that is kept at once.
fn kept<'js, T: 'static>(
    ctx: &Ctx<'js>,
    value: T,
    convert: impl for<'a> FnOnce(&Ctx<'a>, T) -> Result<Value<'a>> + 'static,
) -> Result<Promise<'js>> {
    Vu::of(ctx).promise(ctx, ready(value), convert)
}

fn set<'js>(
    ctx: Ctx<'js>,
    This(this): This<Value<'js>>,
    key: Opt<Value<'js>>,
    value: Opt<Value<'js>>,
) -> Result<Promise<'js>> {
    let (store, key) = (store_of(&ctx, &this)?, text_or(&ctx, key, "")?);
    let value = value.0.unwrap_or_else(|| Value::new_undefined(ctx.clone()));
    let Some(json) = ctx.json_stringify(value.clone())? else {
        let text = format!("set({key:?}): found {}, expected a value that JSON can hold", value.type_name());
        return Err(Exception::throw_type(&ctx, &text));
    };
    let json: Arc<str> = json.to_string()?.into();
    store.lock().insert(key, Arc::clone(&json));
    kept(&ctx, json, |ctx, json| ctx.json_parse(&*json))
}

fn get<'js>(ctx: Ctx<'js>, This(this): This<Value<'js>>, key: Opt<Value<'js>>) -> Result<Promise<'js>> {
    let (store, key) = (store_of(&ctx, &this)?, text_or(&ctx, key, "")?);
    let found = store.lock().get(&key).cloned();
    kept(&ctx, found, move |ctx, found| match found {
        Some(json) => ctx.json_parse(&*json),
        None => {
            let error = Exception::from_message(ctx.clone(), &format!("key {key} not found"))?;
            error.set("name", "KeyNotFoundError")?;
            Err(ctx.throw(error.into_value()))
        }
    })
}

fn delete<'js>(ctx: Ctx<'js>, This(this): This<Value<'js>>, key: Opt<Value<'js>>) -> Result<Promise<'js>> {
    let (store, key) = (store_of(&ctx, &this)?, text_or(&ctx, key, "")?);
    store.lock().remove(&key);
    kept(&ctx, true, |ctx, done| Ok(Value::new_bool(ctx.clone(), done)))
}

fn exists<'js>(ctx: Ctx<'js>, This(this): This<Value<'js>>, key: Opt<Value<'js>>) -> Result<Promise<'js>> {
    let (store, key) = (store_of(&ctx, &this)?, text_or(&ctx, key, "")?);
    let is_there = store.lock().contains_key(&key);
    kept(&ctx, is_there, |ctx, is_there| Ok(Value::new_bool(ctx.clone(), is_there)))
}

fn list<'js>(ctx: Ctx<'js>, This(this): This<Value<'js>>, options: Opt<Value<'js>>) -> Result<Promise<'js>> {
    let store = store_of(&ctx, &this)?;
    let options = given(options);
    let option = |name: &str| match options.as_ref().and_then(Value::as_object) {
        Some(options) => member(options, name),
        None => Ok(None),
    };
    let prefix = option("prefix")?.map(|prefix| bytes::to_text(&ctx, &prefix)).transpose()?.unwrap_or_default();
    let limit = option("limit")?.map(|limit| Coerced::<f64>::from_js(&ctx, limit)).transpose()?;
    let limit = limit.map_or(usize::MAX, |limit| if limit.0 > 0.0 { limit.0 as usize } else { usize::MAX });
    kept(&ctx, store.list(&prefix, limit), |ctx, entries| {
        let list = Array::new(ctx.clone())?;
        for (index, (key, json)) in entries.into_iter().enumerate() {
            let entry = Object::new(ctx.clone())?;
            entry.set("key", key)?;
            entry.set("value", ctx.json_parse(&*json)?)?;
            list.set(index, entry)?;
        }
        Ok(list.into_value())
    })
}

fn clear<'js>(ctx: Ctx<'js>, This(this): This<Value<'js>>) -> Result<Promise<'js>> {
    store_of(&ctx, &this)?.lock().clear();
    kept(&ctx, true, |ctx, done| Ok(Value::new_bool(ctx.clone(), done)))
}

fn size<'js>(ctx: Ctx<'js>, This(this): This<Value<'js>>) -> Result<Promise<'js>> {
    let count = store_of(&ctx, &this)?.lock().len();
    kept(&ctx, count, |ctx, count| Ok(Value::new_number(ctx.clone(), count as f64)))
}
