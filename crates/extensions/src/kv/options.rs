//! What `openKv` is given, and the stores that are open in this process.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use host::bytes;
use host::js::{Ctx, Object, Result, Value};
use script::arguments::member;

use super::store::{KvError, KvOutcome, Memory, Store};

/// Where values are kept if the script does not say; that of the extension.
const STANDARD_PATH: &str = "./.k6.kv";

/// What is stored of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Serialization {
    /// Its JSON.
    Json,
    /// Its text.
    Text,
}

/// What the script asked for.
pub struct KvOptions {
    /// None for the memory.
    path: Option<PathBuf>,
    /// What is stored.
    pub serialization: Serialization,
}

/// Reads what the script gave; the inner error is a wrong choice.
pub fn read<'js>(ctx: &Ctx<'js>, given: Option<&Value<'js>>) -> Result<KvOutcome<KvOptions>> {
    let object = given.and_then(Value::as_object);
    let text = |name: &str| -> Result<Option<String>> {
        let value = object.map(|object: &Object<'js>| member(object, name)).transpose()?.flatten();
        value.map(|value| bytes::to_text(ctx, &value)).transpose()
    };
    let refuse = |name: &str, found: &str, expected: &str| {
        Ok(Err(KvError::new("GoError", format!("openKv(): {name} is {found:?}, expected {expected}"))))
    };
    let serialization = match text("serialization")?.as_deref() {
        None | Some("" | "json") => Serialization::Json,
        Some("string") => Serialization::Text,
        Some(found) => return refuse("serialization", found, "\"json\" or \"string\""),
    };
    let path = match text("backend")?.as_deref() {
        None | Some("" | "memory") => None,
        Some("disk") => {
            Some(text("path")?.filter(|path| !path.is_empty()).map_or_else(|| STANDARD_PATH.into(), PathBuf::from))
        }
        Some(found) => return refuse("backend", found, "\"memory\" or \"disk\""),
    };
    Ok(Ok(KvOptions { path, serialization }))
}

type OpenStore = (Arc<Store>, Serialization);

/// The stores of this process by their paths: one a path, and one in memory.
#[derive(Default)]
pub struct Stores(Mutex<BTreeMap<Option<PathBuf>, OpenStore>>);

impl Stores {
    /// The store, opened if it is not open yet.
    pub fn open(&self, options: &KvOptions) -> KvOutcome<Arc<Store>> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((store, serialization)) = open.get(&options.path) {
            if *serialization != options.serialization {
                let text = "openKv(): the store is open with another serialization, expected the same each time";
                return Err(KvError::new("KVOptionsConflictError", text));
            }
            return Ok(Arc::clone(store));
        }
        let store = match &options.path {
            None => Store::Memory(Memory::default()),
            Some(path) => Store::Disk(super::disk::Disk::open(path)?),
        };
        let store = Arc::new(store);
        open.insert(options.path.clone(), (Arc::clone(&store), options.serialization));
        Ok(store)
    }
}
