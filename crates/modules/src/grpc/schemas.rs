//! What was compiled, kept for the process: all users that load the same files share one schema.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use grpc::{Schema, SchemaError};
use host::js::{Array, Ctx, Object, Result, Value};

use script::Vu;
use script::paths;

/// By what was loaded.
#[derive(Default)]
pub struct Schemas {
    known: Mutex<HashMap<String, Loaded>>,
}

type Loaded = std::result::Result<Arc<Schema>, String>;

impl Schemas {
    fn get(&self, key: String, make: impl FnOnce() -> Loaded) -> Loaded {
        // Held while compiling: a second user that comes meanwhile waits instead of compiling too.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(key).or_insert_with(make).clone()
    }
}

/// Compiles .proto files.
pub fn compile(vu: &Vu, imports: &[String], files: &[String]) -> Loaded {
    let mut folders: Vec<PathBuf> = imports.iter().map(|folder| paths::beside_script(vu, folder)).collect();
    if folders.is_empty() {
        folders.push(paths::beside_script(vu, "."));
    }
    let key = format!("{folders:?} {files:?}");
    vu.process::<Schemas>().get(key, || {
        let shared = Arc::clone(vu.shared());
        let names: HashMap<String, String> = files.iter().map(|file| (name_of(file), file.clone())).collect();
        let find = move |name: &str| {
            let name = names.get(name).map_or(name, String::as_str);
            let path =
                folders.iter().map(|folder| folder.join(name)).find(|path| shared.disk().place(path).exists())?;
            let opened = shared.open(&path);
            Some(opened.and_then(|opened| opened.text(&path)).map(|text| text.to_string()))
        };
        for file in files {
            if find(&name_of(file)).is_none() {
                let folder = imports.first().map_or(Path::new("."), Path::new);
                let path = paths::beside_script(vu, &folder.join(file).to_string_lossy());
                return Err(format!("stat {}: no such file or directory", path.display()));
            }
        }
        let files: Vec<String> = files.iter().map(|file| name_of(file)).collect();
        Schema::compile(&files, find).map(Arc::new).map_err(|SchemaError(why)| why)
    })
}

/// What the compiler calls a file: it takes no name that leaves its folder, as `../api/a.proto` does.
fn name_of(file: &str) -> String {
    file.split('/').filter(|part| !matches!(*part, "" | "." | "..")).collect::<Vec<_>>().join("/")
}

/// Reads a protoset.
pub fn protoset(vu: &Vu, path: &str) -> Loaded {
    let path = paths::beside_script(vu, path);
    let prefix = |why: String| format!("couldn't open protoset: {why}");
    let opened = vu.shared().open(&path).map_err(prefix)?;
    drop(opened);
    vu.process::<Schemas>().get(format!("protoset {path:?}"), || {
        let bytes = std::fs::read(vu.shared().disk().place(&path))
            .map_err(|error| prefix(format!("open {}: {error}", path.display())))?;
        let schema = Schema::from_protoset(&bytes).map(Arc::new);
        schema.iter().for_each(|schema| super::reflect::warn(vu, schema.unreadable().iter()));
        schema.map_err(|SchemaError(why)| format!("couldn't unmarshal protoset file {}: {why}", path.display()))
    })
}

/// The list that `load` returns.
pub fn listed<'js>(ctx: &Ctx<'js>, schema: &Schema) -> Result<Value<'js>> {
    let list = Array::new(ctx.clone())?;
    for (index, method) in schema.methods().iter().enumerate() {
        let entry = Object::new(ctx.clone())?;
        entry.set("package", &*method.package)?;
        entry.set("service", &*method.service)?;
        entry.set("full_method", &*method.path)?;
        entry.set("name", &*method.name)?;
        entry.set("is_client_stream", method.client_streams)?;
        entry.set("is_server_stream", method.server_streams)?;
        list.set(index, entry)?;
    }
    Ok(list.into_value())
}
