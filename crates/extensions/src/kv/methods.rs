//! The methods of the object that `openKv` gives.

use std::cell::Cell;
use std::future::ready;
use std::sync::Arc;

use host::bytes;
use host::js::function::This;
use host::js::prelude::Func;
use host::js::{Array, Coerced, Ctx, Exception, FromJs, Object, Result, Value};
use host::native::{self, NativeClass};
use host::plain::{self, Args, Plain};
use script::Vu;
use script::arguments::{member, present};

use super::operations::{self as run, KvAnswer, Operation};
use super::options::Serialization;
use super::store::{Entry, KvError, KvOutcome, Store};
use super::throw;

/// What the script holds.
pub struct Kv {
    store: Arc<Store>,
    serialization: Serialization,
    is_closed: Cell<bool>,
}

impl Kv {
    /// A handle of a store.
    pub fn new(store: Arc<Store>, serialization: Serialization) -> Kv {
        Kv { store, serialization, is_closed: Cell::new(false) }
    }
}

/// Reads the arguments of a method. The inner error rejects the promise, the outer one is thrown.
type ReadOperation = for<'js> fn(&KvCall<'_, 'js>) -> Result<KvOutcome<Operation>>;

/// Each method that gives a promise. One line a method.
#[rustfmt::skip]
const METHODS: &[(&str, ReadOperation)] = &[
    ("set", |call| call.ok(run::set(call.key()?, call.value(1)?))),
    ("get", |call| call.ok(run::get(call.key()?))),
    ("delete", |call| call.ok(run::delete(call.key()?, Some(true)))),
    ("exists", |call| call.ok(run::exists(call.key()?))),
    ("list", |call| call.ok(run::list(call.prefix()?, call.limit()?))),
    ("scan", |call| call.ok(run::scan(call.prefix()?, call.limit()?, call.option_text("cursor")?))),
    ("clear", |call| call.ok(run::clear())),
    ("size", |call| call.ok(run::count(String::new()))),
    ("count", |call| call.ok(run::count(call.prefix()?))),
    ("incrementBy", |call| call.increment()),
    ("getOrSet", |call| call.ok(run::get_or_set(call.key()?, call.value(1)?))),
    ("setIfAbsent", |call| call.ok(run::compare_and_swap(call.key()?, None, call.value(1)?, call.kind))),
    ("swap", |call| call.ok(run::swap(call.key()?, call.value(1)?))),
    ("compareAndSwap", |call| {
        let old = call.present_value(1)?;
        call.ok(run::compare_and_swap(call.key()?, old, call.value(2)?, call.kind))
    }),
    ("deleteIfExists", |call| call.ok(run::delete(call.key()?, None))),
    ("compareAndDelete", |call| call.ok(run::compare_and_delete(call.key()?, call.value(1)?, call.kind))),
    ("randomKey", |call| call.ok(run::random_key(call.prefix()?))),
    ("popRandom", |call| call.ok(run::pop_random(call.prefix()?))),
    // Keys are in order wherever they are kept: there is no list beside them.
    ("rebuildKeyList", |call| call.ok(Box::new(|_| Ok(KvAnswer::Is(true))))),
];

impl NativeClass for Kv {
    const NAME: &'static str = "KV";

    fn methods<'js>(prototype: &Object<'js>) -> Result<()> {
        for (number, (name, _)) in METHODS.iter().enumerate() {
            let function = plain::function::<CallKv>(prototype.ctx(), c"", number as i32)?;
            function.set_name(name)?;
            prototype.set(*name, function)?;
        }
        prototype.set("close", Func::from(close))
    }
}

fn close<'js>(ctx: Ctx<'js>, This(this): This<Value<'js>>) -> Result<()> {
    native::with(&this, |kv: &Kv| kv.is_closed.set(true)).ok_or_else(|| no_kv(&ctx))
}

fn no_kv(ctx: &Ctx<'_>) -> host::js::Error {
    Exception::throw_type(ctx, "this method belongs to a KV: call it on one")
}

/// The method behind each of `METHODS`.
struct CallKv;

impl Plain for CallKv {
    fn call<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>, number: i32) -> Result<Value<'js>> {
        let (name, read) = METHODS[number as usize];
        let handle =
            native::with(&args.this(), |kv: &Kv| (Arc::clone(&kv.store), kv.serialization, kv.is_closed.get()));
        let Some((store, kind, is_closed)) = handle else { return Err(no_kv(ctx)) };
        let call = KvCall { ctx, name, args, kind };
        let operation = match read(&call)? {
            Ok(_) if is_closed => Err(KvError::new("StoreClosedError", format!("{name}(): the store is closed"))),
            operation => operation,
        };
        let vu = Vu::of(ctx);
        let promise = match operation {
            Ok(operation) if store.blocks() => {
                let work = tokio::task::spawn_blocking(move || operation(&store));
                let ended =
                    move |error| KvError::new("DiskStoreWriteError", format!("the thread of {name}() ended: {error}"));
                let outcome = async move { work.await.map_err(ended).flatten() };
                vu.promise(ctx, outcome, move |ctx, outcome| answer(ctx, outcome, kind))
            }
            operation => {
                let outcome = ready(operation.and_then(|operation| operation(&store)));
                vu.promise(ctx, outcome, move |ctx, outcome| answer(ctx, outcome, kind))
            }
        };
        Ok(promise?.into_value())
    }
}

/// A call's arguments.
struct KvCall<'a, 'js> {
    ctx: &'a Ctx<'js>,
    name: &'static str,
    args: Args<'a, 'js>,
    kind: Serialization,
}

impl<'js> KvCall<'_, 'js> {
    fn ok(&self, operation: Operation) -> Result<KvOutcome<Operation>> {
        Ok(Ok(operation))
    }

    fn key(&self) -> Result<String> {
        present(self.args.get(0)).map_or_else(|| Ok(String::new()), |key| bytes::to_text(self.ctx, &key))
    }

    /// What is stored of a value.
    fn value(&self, index: usize) -> Result<Arc<str>> {
        let value = self.args.get(index).unwrap_or_else(|| Value::new_undefined(self.ctx.clone()));
        if self.kind == Serialization::Text {
            return bytes::to_text(self.ctx, &value).map(Arc::from);
        }
        match self.ctx.json_stringify(value.clone())? {
            Some(json) => Ok(json.to_string()?.into()),
            None => {
                let (name, key) = (self.name, self.key()?);
                let text = format!("{name}({key:?}): found {}, expected a value that JSON can hold", value.type_name());
                Err(Exception::throw_type(self.ctx, &text))
            }
        }
    }

    /// The same of what is neither null nor undefined.
    fn present_value(&self, index: usize) -> Result<Option<Arc<str>>> {
        present(self.args.get(index)).map(|_| self.value(index)).transpose()
    }

    fn increment(&self) -> Result<KvOutcome<Operation>> {
        let (key, delta) = (self.key()?, self.args.get(1).unwrap_or_else(|| Value::new_undefined(self.ctx.clone())));
        Ok(match delta.as_number().filter(|delta| delta.is_finite()) {
            Some(delta) => Ok(run::increment_by(key, delta)),
            None => {
                let found = Coerced::<String>::from_js(self.ctx, delta)?.0;
                let text = format!("incrementBy({key:?}): the delta is {found}, expected a number");
                Err(KvError::new("ValueNumberRequiredError", text))
            }
        })
    }

    fn option(&self, name: &str) -> Result<Option<Value<'js>>> {
        match present(self.args.get(0)).as_ref().and_then(Value::as_object) {
            Some(options) => member(options, name),
            None => Ok(None),
        }
    }

    fn option_text(&self, name: &str) -> Result<String> {
        Ok(self.option(name)?.map(|value| bytes::to_text(self.ctx, &value)).transpose()?.unwrap_or_default())
    }

    fn prefix(&self) -> Result<String> {
        self.option_text("prefix")
    }

    /// None or less than 1 is no limit.
    fn limit(&self) -> Result<usize> {
        let limit = self.option("limit")?.map(|limit| Coerced::<f64>::from_js(self.ctx, limit)).transpose()?;
        Ok(limit.map_or(usize::MAX, |limit| if limit.0 >= 1.0 { limit.0 as usize } else { usize::MAX }))
    }
}

/// What a promise is settled with.
fn answer<'js>(ctx: &Ctx<'js>, outcome: KvOutcome<KvAnswer>, kind: Serialization) -> Result<Value<'js>> {
    let value = |text: Arc<str>| value(ctx, &text, kind);
    let pair = |entry| pair(ctx, entry, kind);
    match outcome.map_err(|error| throw(ctx, &error))? {
        KvAnswer::Is(is) => Ok(Value::new_bool(ctx.clone(), is)),
        KvAnswer::Number(number) => Ok(Value::new_number(ctx.clone(), number)),
        KvAnswer::Text(text) => Ok(host::js::String::from_str(ctx.clone(), &text)?.into_value()),
        KvAnswer::Value(text) => value(text),
        KvAnswer::Loaded(name, found, loaded) => {
            let object = Object::new(ctx.clone())?;
            object.set(name, found.map(value).transpose()?.unwrap_or_else(|| Value::new_null(ctx.clone())))?;
            object.set("loaded", loaded)?;
            Ok(object.into_value())
        }
        KvAnswer::Entry(entry) => entry.map_or_else(|| Ok(Value::new_null(ctx.clone())), pair),
        KvAnswer::Entries(entries) => Ok(pairs(ctx, entries, kind)?.into_value()),
        KvAnswer::Page(entries, next) => {
            let page = Object::new(ctx.clone())?;
            page.set("entries", pairs(ctx, entries, kind)?)?;
            page.set("done", next.is_none())?;
            page.set("cursor", next.unwrap_or_default())?;
            Ok(page.into_value())
        }
    }
}

fn value<'js>(ctx: &Ctx<'js>, text: &str, kind: Serialization) -> Result<Value<'js>> {
    match kind {
        Serialization::Json => ctx.json_parse(text),
        Serialization::Text => Ok(host::js::String::from_str(ctx.clone(), text)?.into_value()),
    }
}

fn pair<'js>(ctx: &Ctx<'js>, (key, text): Entry, kind: Serialization) -> Result<Value<'js>> {
    let entry = Object::new(ctx.clone())?;
    entry.set("key", key)?;
    entry.set("value", value(ctx, &text, kind)?)?;
    Ok(entry.into_value())
}

fn pairs<'js>(ctx: &Ctx<'js>, entries: Vec<Entry>, kind: Serialization) -> Result<Array<'js>> {
    let list = Array::new(ctx.clone())?;
    for (index, entry) in entries.into_iter().enumerate() {
        list.set(index, pair(ctx, entry, kind)?)?;
    }
    Ok(list)
}
