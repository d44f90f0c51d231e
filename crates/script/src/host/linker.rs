//! Joins the module store with QuickJS: resolves imports, compiles or loads modules, and runs CommonJS.
//!
//! VU 0 compiles and leaves bytecode in the store; every other user loads it. A CommonJS module runs when it is first
//! imported or required, and its `module.exports` is kept for later ones, so that all importers see one object.

use std::ffi::{CStr, CString};
use std::ptr::null_mut;
use std::rc::Rc;
use std::sync::Arc;

use rquickjs::function::{Func, Opt};
use rquickjs::{Ctx, Error, Exception, Function, Object, Persistent, Promise, Value, qjs};

use super::intrinsics::{self, Parts};
use super::{exception, go_error};
use crate::builtins::{LibraryText, ModuleDef};
use crate::error::{ScriptError, exit_code};
use crate::loader::{self, Kind, Module, resolve};
use crate::log::{Level, Record};
use crate::modules::BUILTINS;
use crate::vu::{Phase, Vu};

/// What every module of this user's runtime is found by.
pub(crate) fn install(ctx: &Ctx<'_>) {
    // SAFETY: context and runtime are live; the callbacks find their user through the context.
    unsafe {
        let runtime = qjs::JS_GetRuntime(ctx.as_raw().as_ptr());
        qjs::JS_SetModuleLoaderFunc(runtime, Some(on_normalize), Some(on_load), null_mut());
    }
}

/// A module that has been compiled into this context.
enum Linked<'js> {
    Es(*mut qjs::JSModuleDef),
    CommonJs(Value<'js>),
}

/// Runs the entry module; what it exports as an object.
pub(crate) fn run_entry<'js>(ctx: &Ctx<'js>, vu: &Rc<Vu>, name: &str) -> rquickjs::Result<Object<'js>> {
    match link(ctx, vu, name)? {
        Linked::CommonJs(function) => {
            let exports = run_common_js(ctx, vu, name, function)?;
            exports.into_object().ok_or_else(|| Exception::throw_type(ctx, "module.exports is not an object"))
        }
        Linked::Es(module) => {
            let promise = evaluate(ctx, module)?;
            vu.events.look_after(ctx, promise.as_value());
            if vu.shared.is_app {
                vu.events.run_until_settled(ctx, vu, &promise)?;
            } else {
                vu.events.run(ctx, vu)?;
            }
            finish(ctx, &promise)?;
            namespace(ctx, module)
        }
    }
}

/// `require(specifier)` from the module `base`.
pub(crate) fn require<'js>(ctx: &Ctx<'js>, vu: &Rc<Vu>, base: &str, specifier: &str) -> rquickjs::Result<Value<'js>> {
    if vu.phase() != Phase::Init {
        return Err(go_error::throw(ctx, "require can only be called in the init code, outside of functions"));
    }
    vu.runtime.importing.replace(Some((base.to_string(), specifier.to_string())));
    let name = resolve::resolve(base, specifier).map_err(|error| throw(ctx, &error))?;
    if let Some(def) = BUILTINS.find(&name) {
        let object = builtin(ctx, vu, def)?;
        return Ok(object.into_value());
    }
    if let Some(exports) = known_exports(ctx, vu, &name)? {
        return Ok(exports);
    }
    match link(ctx, vu, &name)? {
        Linked::CommonJs(function) => run_common_js(ctx, vu, &name, function),
        Linked::Es(module) => {
            let promise = evaluate(ctx, module)?;
            vu.events.look_after(ctx, promise.as_value());
            vu.events.run_jobs(ctx)?;
            finish(ctx, &promise)?;
            let namespace = namespace(ctx, module)?.into_value();
            vu.runtime.exports.borrow_mut().push((name, Persistent::save(ctx, namespace.clone())));
            Ok(namespace)
        }
    }
}

/// The object of a built-in module, made at its first import.
pub(crate) fn builtin<'js>(ctx: &Ctx<'js>, vu: &Vu, def: &'static ModuleDef) -> rquickjs::Result<Object<'js>> {
    let known = vu.runtime.builtins.borrow().iter().find(|(name, _)| *name == def.name).map(|(_, o)| o.clone());
    if let Some(object) = known {
        return object.restore(ctx);
    }
    let object = (def.load)(ctx)?;
    vu.runtime.builtins.borrow_mut().push((def.name, Persistent::save(ctx, object.clone())));
    Ok(object)
}

fn known_exports<'js>(ctx: &Ctx<'js>, vu: &Vu, name: &str) -> rquickjs::Result<Option<Value<'js>>> {
    let known = vu.runtime.exports.borrow().iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
    known.map(|value| value.restore(ctx)).transpose()
}

/// A script error as a JavaScript exception, with its place in front of the message; an error without one happened where
/// the module is imported.
fn throw(ctx: &Ctx<'_>, error: &ScriptError) -> Error {
    let vu = Vu::of(ctx);
    let importing = vu.runtime.importing.borrow();
    let place = importing.as_ref().and_then(|(base, specifier)| vu.shared.modules.place_of_import(base, specifier));
    let error = error.clone().at(place);
    vu.runtime.load_error.replace(Some(error.clone()));
    go_error::throw(ctx, &error.to_string())
}

fn link<'js>(ctx: &Ctx<'js>, vu: &Rc<Vu>, name: &str) -> rquickjs::Result<Linked<'js>> {
    let store = &vu.shared.modules;
    if let Some(module) = store.compiled(name) {
        intrinsics::add(ctx, vu, module.parts)?;
        let value = load_bytecode(ctx, &module)?;
        return linked(ctx, name, module.kind, value);
    }
    if store.needs_fetch(name) {
        fetch(ctx, vu, name)?;
    }
    let prepared = store.prepare(name).map_err(|error| throw(ctx, &error))?;
    for known in &prepared.libraries {
        log_replaced(vu, name, known);
    }
    let parts = Parts::named_in(&prepared.code);
    intrinsics::add(ctx, vu, parts)?;
    let value = compile(ctx, name, &prepared)?;
    store.insert_compiled(name, Module { kind: prepared.kind, parts, bytecode: write_bytecode(ctx, &value)? });
    linked(ctx, name, prepared.kind, value)
}

/// Tells that a copy of k6's FormData library does not run. Modules are compiled once, so it reports once.
fn log_replaced(vu: &Vu, name: &str, known: &LibraryText) {
    let file = name.strip_prefix("file://").unwrap_or(name);
    let message = format!(
        "{file} has the FormData of k6's library formdata ({}): the native FormData takes its place, see docs/guides/uploading.md",
        known.version
    );
    vu.log().log(&Record { level: Level::Info, message: &message, fields: &[] });
}

/// Fetches a module while the user waits, as any native function does.
fn fetch(ctx: &Ctx<'_>, vu: &Vu, name: &str) -> rquickjs::Result<()> {
    let worker = wire::ClientContext::new(Arc::new(vu.options().network_settings()));
    let worker = worker.map_err(|error| Exception::throw_message(ctx, &error.message))?;
    let fetched = loader::remote::fetch(name, worker, vu.shared.modules.cache_dir.as_deref(), vu.log());
    let text = vu.block_on(ctx, fetched)?.map_err(|error| throw(ctx, &error))?;
    vu.shared.modules.insert_source(name, text);
    Ok(())
}

fn linked<'js>(ctx: &Ctx<'js>, name: &str, kind: Kind, value: Value<'js>) -> rquickjs::Result<Linked<'js>> {
    if kind == Kind::CommonJs {
        return Ok(Linked::CommonJs(value));
    }
    // SAFETY: a module value holds a pointer to its definition, which the context owns; the value's own count is not needed.
    let module: *mut qjs::JSModuleDef = unsafe { qjs::JS_VALUE_GET_PTR(value.as_raw()).cast() };
    // SAFETY: the call hands over one count of the object.
    let meta = unsafe { Value::from_raw(ctx.clone(), qjs::JS_GetImportMeta(ctx.as_raw().as_ptr(), module)) };
    let base = name.to_string();
    let resolve_there = move |ctx: Ctx<'js>, specifier: String| {
        resolve::resolve(&base, &specifier).map_err(|error| go_error::throw(&ctx, &error.message))
    };
    if let Some(meta) = meta.as_object() {
        meta.set("resolve", Func::from(resolve_there))?;
    }
    Ok(Linked::Es(module))
}

/// Compiles without running. A CommonJS module becomes an expression whose value is the function of its wrap.
fn compile<'js>(ctx: &Ctx<'js>, name: &str, prepared: &loader::Prepared) -> rquickjs::Result<Value<'js>> {
    let (code, kind) = match prepared.kind {
        Kind::EsModule => (prepared.code.clone(), qjs::JS_EVAL_TYPE_MODULE),
        // On one line with the code, so that line numbers stay true.
        Kind::CommonJs => {
            (format!("(function(module, exports, require){{{}\n}})", prepared.code), qjs::JS_EVAL_TYPE_GLOBAL)
        }
    };
    let length = code.len();
    let code = CString::new(code)?;
    let file = CString::new(name)?;
    let flags = (kind | qjs::JS_EVAL_FLAG_COMPILE_ONLY) as i32;
    // SAFETY: both strings are terminated and live during the call.
    let value = unsafe { qjs::JS_Eval(ctx.as_raw().as_ptr(), code.as_ptr(), length as _, file.as_ptr(), flags) };
    own(ctx, value)
}

fn write_bytecode(ctx: &Ctx<'_>, value: &Value<'_>) -> rquickjs::Result<Vec<u8>> {
    let mut length = 0;
    let flags = (qjs::JS_WRITE_OBJ_BYTECODE | qjs::JS_WRITE_OBJ_STRIP_SOURCE) as i32;
    // SAFETY: the value is live; the buffer that comes back is ours and is given back with the allocator that made it.
    unsafe {
        let context = ctx.as_raw().as_ptr();
        let bytes = qjs::JS_WriteObject(context, &mut length, value.as_raw(), flags);
        if bytes.is_null() {
            return Err(Error::Exception);
        }
        let copy = std::slice::from_raw_parts(bytes, length as usize).to_vec();
        qjs::js_free(context, bytes.cast());
        Ok(copy)
    }
}

fn load_bytecode<'js>(ctx: &Ctx<'js>, module: &Module) -> rquickjs::Result<Value<'js>> {
    let bytes = &module.bytecode;
    let flags = qjs::JS_READ_OBJ_BYTECODE as i32;
    // SAFETY: the bytes come from `write_bytecode` of this process; QuickJS copies what it keeps.
    let value = unsafe { qjs::JS_ReadObject(ctx.as_raw().as_ptr(), bytes.as_ptr(), bytes.len() as _, flags) };
    own(ctx, value)
}

fn evaluate<'js>(ctx: &Ctx<'js>, module: *mut qjs::JSModuleDef) -> rquickjs::Result<Promise<'js>> {
    // SAFETY: the definition belongs to this context. `JS_EvalFunction` takes over one count, which is made here.
    let value = unsafe {
        let context = ctx.as_raw().as_ptr();
        let value = qjs::JS_MKPTR(qjs::JS_TAG_MODULE, module.cast());
        qjs::JS_DupValue(context, value);
        if qjs::JS_ResolveModule(context, value) < 0 {
            qjs::JS_FreeValue(context, value);
            return Err(Error::Exception);
        }
        qjs::JS_EvalFunction(context, value)
    };
    let value = own(ctx, value)?;
    value.into_promise().ok_or(Error::Unknown)
}

/// The outcome of a module's evaluation; its rejection is the exception that its code threw.
fn finish<'js>(ctx: &Ctx<'js>, promise: &Promise<'js>) -> rquickjs::Result<()> {
    match promise.result::<Value<'js>>() {
        Some(Ok(_)) => Ok(()),
        Some(Err(error)) => Err(error),
        None => Err(Exception::throw_message(ctx, "the module awaits something that never happens (top-level await)")),
    }
}

fn namespace<'js>(ctx: &Ctx<'js>, module: *mut qjs::JSModuleDef) -> rquickjs::Result<Object<'js>> {
    // SAFETY: the definition belongs to this context.
    let value = own(ctx, unsafe { qjs::JS_GetModuleNamespace(ctx.as_raw().as_ptr(), module) })?;
    value.into_object().ok_or(Error::Unknown)
}

/// Takes over a value that QuickJS returned; its exception becomes an error.
fn own<'js>(ctx: &Ctx<'js>, value: qjs::JSValue) -> rquickjs::Result<Value<'js>> {
    // SAFETY: the caller got the value from a call that hands over one count.
    unsafe {
        if qjs::JS_IsException(value) {
            return Err(Error::Exception);
        }
        Ok(Value::from_raw(ctx.clone(), value))
    }
}

/// Calls the function of a CommonJS module; its `module.exports`.
fn run_common_js<'js>(ctx: &Ctx<'js>, vu: &Rc<Vu>, name: &str, code: Value<'js>) -> rquickjs::Result<Value<'js>> {
    // SAFETY: `JS_EvalFunction` takes over one count of the bytecode, which is made here.
    let function = own(ctx, unsafe {
        let context = ctx.as_raw().as_ptr();
        qjs::JS_EvalFunction(context, qjs::JS_DupValue(context, code.as_raw()))
    })?;
    let function = function.into_function().ok_or(Error::Unknown)?;
    let module = Object::new(ctx.clone())?;
    let exports = Object::new(ctx.clone())?;
    module.set("exports", exports.clone())?;
    let index = {
        let mut all = vu.runtime.exports.borrow_mut();
        // Known while it runs, so that modules that require each other see what there is so far.
        all.push((name.to_string(), Persistent::save(ctx, exports.clone().into_value())));
        all.len() - 1
    };
    let require = require_function(ctx, name)?;
    let result =
        function.call::<_, Value<'js>>((rquickjs::function::This(exports.clone()), module.clone(), exports, require));
    if let Err(error) = result {
        vu.runtime.exports.borrow_mut().retain(|(known, _)| known != name);
        return Err(error);
    }
    let exports: Value<'js> = module.get("exports")?;
    if let Some(entry) = vu.runtime.exports.borrow_mut().get_mut(index) {
        entry.1 = Persistent::save(ctx, exports.clone());
    }
    Ok(exports)
}

/// The `require` that ES modules find among the globals: it starts at the module that calls.
pub(crate) fn global_require<'js>(ctx: &Ctx<'js>) -> rquickjs::Result<Function<'js>> {
    require_from(ctx, |ctx| {
        // A native function has no stack frame of its own: level 0 is the caller.
        let caller = ctx.script_or_module_name(0).and_then(|name| name.to_string().ok());
        caller.filter(|name| name.contains("://")).unwrap_or_else(|| Vu::of(ctx).shared.entry.clone())
    })
}

/// The `require` of one CommonJS module.
fn require_function<'js>(ctx: &Ctx<'js>, base: &str) -> rquickjs::Result<Function<'js>> {
    let base = base.to_string();
    require_from(ctx, move |_| base.clone())
}

fn require_from<'js>(ctx: &Ctx<'js>, base: impl Fn(&Ctx<'js>) -> String + 'js) -> rquickjs::Result<Function<'js>> {
    let require_there = move |ctx: Ctx<'js>, specifier: Opt<Value<'js>>| {
        let specifier = specifier.0.and_then(|value| value.as_string().and_then(|text| text.to_string().ok()));
        let Some(specifier) = specifier.filter(|text| !text.is_empty()) else {
            return Err(go_error::throw(&ctx, "require() expects the name of a module, a non-empty string"));
        };
        require(&ctx, &Vu::of(&ctx), &base(&ctx), &specifier)
    };
    Function::new(ctx.clone(), require_there)
}

unsafe extern "C" fn on_normalize(
    context: *mut qjs::JSContext,
    base: *const qjs::c_char,
    name: *const qjs::c_char,
    _opaque: *mut qjs::c_void,
) -> *mut qjs::c_char {
    let Some(raw) = std::ptr::NonNull::new(context) else { return null_mut() };
    // SAFETY: QuickJS calls this with a live context and two terminated strings.
    let (ctx, base, name) = unsafe { (Ctx::from_raw(raw), CStr::from_ptr(base), CStr::from_ptr(name)) };
    let (base, name) = (base.to_string_lossy(), name.to_string_lossy());
    let resolved = resolve::resolve(&base, &name);
    Vu::of(&ctx).runtime.importing.replace(Some((base.into_owned(), name.into_owned())));
    match resolved {
        // SAFETY: the text is copied into memory that QuickJS frees.
        Ok(name) => unsafe { qjs::js_strndup(context, name.as_ptr().cast(), name.len() as _) },
        Err(error) => {
            throw(&ctx, &error);
            null_mut()
        }
    }
}

unsafe extern "C" fn on_load(
    context: *mut qjs::JSContext,
    name: *const qjs::c_char,
    _opaque: *mut qjs::c_void,
) -> *mut qjs::JSModuleDef {
    let Some(raw) = std::ptr::NonNull::new(context) else { return null_mut() };
    // SAFETY: QuickJS calls this with a live context and a terminated string.
    let (ctx, name) = unsafe { (Ctx::from_raw(raw), CStr::from_ptr(name)) };
    load_module(&ctx, &name.to_string_lossy()).unwrap_or_else(|error| {
        if !error.is_exception() {
            Exception::throw_message(&ctx, &error.to_string());
        }
        null_mut()
    })
}

fn load_module(ctx: &Ctx<'_>, name: &str) -> rquickjs::Result<*mut qjs::JSModuleDef> {
    let vu = Vu::of(ctx);
    if let Some(def) = BUILTINS.find(name) {
        let object = builtin(ctx, &vu, def)?;
        return value_module(ctx, name, def.exports.iter().map(|name| name.to_string()).collect(), object.into_value());
    }
    if let Some(exports) = known_exports(ctx, &vu, name)? {
        return common_js_module(ctx, name, exports);
    }
    match link(ctx, &vu, name)? {
        Linked::Es(module) => Ok(module),
        Linked::CommonJs(code) => {
            let exports = run_common_js(ctx, &vu, name, code)?;
            common_js_module(ctx, name, exports)
        }
    }
}

fn common_js_module<'js>(ctx: &Ctx<'js>, name: &str, exports: Value<'js>) -> rquickjs::Result<*mut qjs::JSModuleDef> {
    let keys = match exports.as_object() {
        Some(object) => object.keys::<String>().collect::<rquickjs::Result<Vec<_>>>()?,
        None => Vec::new(),
    };
    value_module(ctx, name, keys, exports)
}

/// A module whose exports are the properties of a value, and whose `default` is the value's own `default` or itself.
fn value_module<'js>(
    ctx: &Ctx<'js>,
    name: &str,
    exports: Vec<String>,
    value: Value<'js>,
) -> rquickjs::Result<*mut qjs::JSModuleDef> {
    let context = ctx.as_raw().as_ptr();
    let name = CString::new(name)?;
    // SAFETY: all strings are terminated and copied by QuickJS; the private value takes over one count made here.
    unsafe {
        let module = qjs::JS_NewCModule(context, name.as_ptr(), Some(on_value_module));
        if module.is_null() {
            return Err(Error::Exception);
        }
        for export in exports.iter().filter(|export| *export != "default") {
            qjs::JS_AddModuleExport(context, module, CString::new(export.as_str())?.as_ptr());
        }
        qjs::JS_AddModuleExport(context, module, c"default".as_ptr());
        let pair = rquickjs::Array::new(ctx.clone())?;
        pair.set(0, value)?;
        pair.set(1, exports)?;
        let pair = pair.into_value();
        qjs::JS_SetModulePrivateValue(context, module, qjs::JS_DupValue(context, pair.as_raw()));
        Ok(module)
    }
}

unsafe extern "C" fn on_value_module(context: *mut qjs::JSContext, module: *mut qjs::JSModuleDef) -> qjs::c_int {
    let Some(raw) = std::ptr::NonNull::new(context) else { return -1 };
    // SAFETY: QuickJS calls this once with the module that `value_module` made.
    let outcome = unsafe {
        let ctx = Ctx::from_raw(raw);
        set_exports(&ctx, module)
    };
    if outcome.is_ok() { 0 } else { -1 }
}

fn set_exports(ctx: &Ctx<'_>, module: *mut qjs::JSModuleDef) -> rquickjs::Result<()> {
    let context = ctx.as_raw().as_ptr();
    // SAFETY: `value_module` stored an array; the call hands over one count.
    let pair = unsafe { own(ctx, qjs::JS_GetModulePrivateValue(context, module))? };
    let pair = pair.into_array().ok_or(Error::Unknown)?;
    let value: Value<'_> = pair.get(0)?;
    let names: Vec<String> = pair.get(1)?;
    let object = value.as_object();
    let set = |name: &str, value: Value<'_>| -> rquickjs::Result<()> {
        let name = CString::new(name)?;
        // SAFETY: the export was declared by `value_module`; one count is made for it here.
        let result = unsafe {
            qjs::JS_SetModuleExport(context, module, name.as_ptr(), qjs::JS_DupValue(context, value.as_raw()))
        };
        if result < 0 { Err(Error::Exception) } else { Ok(()) }
    };
    for name in names.iter().filter(|name| *name != "default") {
        if let Some(object) = object {
            set(name, object.get(name.as_str())?)?;
        }
    }
    let own_default = match object {
        Some(object) if object.contains_key("default")? => Some(object.get::<_, Value<'_>>("default")?),
        _ => None,
    };
    set("default", own_default.unwrap_or(value.clone()))
}

/// The error behind an exception of the module loader, with its place, if the exception is one.
pub(crate) fn take_error(ctx: &Ctx<'_>, vu: &Vu, error: Error) -> exception::Caught {
    vu.runtime.resume_panic();
    match exception::take(ctx, error, &vu.shared.modules) {
        exception::Caught::Thrown(thrown) => {
            let loading = vu.runtime.load_error.take();
            let same = loading.as_ref().is_some_and(|loading| thrown.message.ends_with(&loading.to_string()));
            exception::Caught::Thrown(match loading {
                Some(loading) if same => {
                    let place = loading.place.clone().or(thrown.place);
                    ScriptError { place, stack: thrown.stack, ..loading }
                }
                _ => ScriptError { exit_code: exit_code::SCRIPT_EXCEPTION, ..thrown },
            })
        }
        stopped => stopped,
    }
}
