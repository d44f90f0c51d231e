//! Joins the module store with the engine: resolves imports, compiles or loads modules, and runs CommonJS.
//!
//! VU 0 compiles and leaves bytecode in the store; every other user loads it. A CommonJS module runs when it is first
//! imported or required, and its `module.exports` is kept for later ones, so that all importers see one object.

use std::sync::Arc;

use host::intrinsics::{self, Parts};
use host::js::function::{Func, Opt};
use host::js::{Ctx, Error, Exception, Function, Object, Persistent, Promise, Value};
use host::log::{Level, Record};
use host::module::{Code, Form, Module};
use host::{Embedder, Phase};

use crate::builtins::{LibraryText, ModuleDef};
use crate::error::{ScriptError, exit_code};
use crate::loader::{ALL_NAMES, COMMON_JS_HEAD, Compiled, Prepared, remote};
use crate::sources::source_kind::SourceKind;
use crate::vu::Vu;
use crate::{exception, go_error, stops};

/// A module that has been compiled into this context.
enum Linked<'js> {
    Es(Module<'js>),
    CommonJs(Code<'js>),
}

/// How long the top-level code of the entry runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// Until nothing is pending: a test.
    Idle,
    /// Until the module is there; what is pending continues later: a server program.
    Settled,
}

/// Runs the entry module; what it exports as an object.
pub fn run_entry<'js>(ctx: &Ctx<'js>, vu: &Vu, until: Until) -> host::js::Result<Object<'js>> {
    let name = vu.shared.entry();
    match link(ctx, vu, name)? {
        Linked::CommonJs(code) => {
            let exports = run_common_js(ctx, vu, name, &code)?;
            exports.into_object().ok_or_else(|| Exception::throw_type(ctx, "module.exports is not an object"))
        }
        Linked::Es(module) => {
            let promise = module.evaluate()?;
            vu.events.look_after(ctx, promise.as_value());
            match until {
                Until::Idle => vu.run_events(ctx)?,
                Until::Settled => vu.run_until_settled(ctx, &promise)?,
            }
            finish(ctx, &promise)?;
            module.namespace()
        }
    }
}

/// `require(specifier)` from the module `base`.
pub(crate) fn require<'js>(ctx: &Ctx<'js>, vu: &Vu, base: &str, specifier: &str) -> host::js::Result<Value<'js>> {
    if vu.phase() != Phase::Init {
        return Err(go_error::throw(ctx, "require can only be called in the init code, outside of functions"));
    }
    vu.script.importing.replace(Some((base.to_string(), specifier.to_string())));
    let name = vu.shared.modules.resolve(base, specifier).map_err(|error| throw(ctx, &error))?;
    if let Some(def) = vu.shared.modules.builtins().find(&name) {
        let object = builtin(ctx, vu, def)?;
        return Ok(object.into_value());
    }
    if let Some(exports) = known_exports(ctx, vu, &name)? {
        return Ok(exports);
    }
    match link(ctx, vu, &name)? {
        Linked::CommonJs(code) => run_common_js(ctx, vu, &name, &code),
        Linked::Es(module) => {
            let promise = module.evaluate()?;
            vu.events.look_after(ctx, promise.as_value());
            vu.events.run_jobs(ctx)?;
            finish(ctx, &promise)?;
            let namespace = module.namespace()?.into_value();
            vu.script.exports.borrow_mut().push((name, Persistent::save(ctx, namespace.clone())));
            Ok(namespace)
        }
    }
}

/// The object of a built-in module, made at its first import.
pub fn builtin<'js>(ctx: &Ctx<'js>, vu: &Vu, def: &'static ModuleDef) -> host::js::Result<Object<'js>> {
    let known = vu.script.builtins.borrow().iter().find(|(name, _)| *name == def.name).map(|(_, o)| o.clone());
    if let Some(object) = known {
        return object.restore(ctx);
    }
    let object = (def.load)(ctx)?;
    stops::watch_responses(ctx, vu, def.name, &object)?;
    vu.script.builtins.borrow_mut().push((def.name, Persistent::save(ctx, object.clone())));
    Ok(object)
}

fn known_exports<'js>(ctx: &Ctx<'js>, vu: &Vu, name: &str) -> host::js::Result<Option<Value<'js>>> {
    let known = vu.script.exports.borrow().iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
    known.map(|value| value.restore(ctx)).transpose()
}

/// A script error as a JavaScript exception, with its place in front of the message; an error without one happened
/// where the module is imported.
fn throw(ctx: &Ctx<'_>, error: &ScriptError) -> Error {
    let vu = Vu::of(ctx);
    let importing = vu.script.importing.borrow();
    let place = importing.as_ref().and_then(|(base, specifier)| vu.shared.modules.place_of_import(base, specifier));
    let error = error.clone().at(place);
    vu.script.load_error.replace(Some(error.clone()));
    go_error::throw(ctx, &error.to_string())
}

fn link<'js>(ctx: &Ctx<'js>, vu: &Vu, name: &str) -> host::js::Result<Linked<'js>> {
    let store = &vu.shared.modules;
    if let Some(module) = store.compiled(name) {
        intrinsics::add(ctx, module.parts)?;
        let code = Code::load(ctx, &module.bytecode)?;
        return linked(name, module.kind, code);
    }
    if store.needs_fetch(name) {
        fetch(ctx, vu, name)?;
    }
    let prepared = store.prepare(name).map_err(|error| throw(ctx, &error))?;
    for known in &prepared.libraries {
        log_replaced(vu, name, known);
    }
    for (module, export) in &prepared.imports {
        let all = store.builtins().find(module).filter(|_| export == ALL_NAMES);
        match all {
            Some(def) => def.exports.iter().try_for_each(|name| Module::add_export(ctx, module, name))?,
            None if export == ALL_NAMES => {}
            None => Module::add_export(ctx, module, export)?,
        }
    }
    let parts = Parts::named_in(&prepared.code);
    intrinsics::add(ctx, parts)?;
    let code = compile(ctx, name, &prepared)?;
    store.insert_compiled(name, Compiled { kind: prepared.kind, parts, bytecode: code.bytecode()? });
    linked(name, prepared.kind, code)
}

/// Tells that a copy of k6's FormData library does not run. Modules are compiled once, so it reports once.
fn log_replaced(vu: &Vu, name: &str, known: &LibraryText) {
    let file = name.strip_prefix("file://").unwrap_or(name);
    let message = format!(
        "{file} has the FormData of k6's library formdata ({}): the native FormData takes its place, see \
         docs/guides/uploading.md",
        known.version
    );
    vu.log().log(&Record { level: Level::Info, message: &message, fields: &[] });
}

/// Fetches a module while the user waits, as any native function does.
fn fetch(ctx: &Ctx<'_>, vu: &Vu, name: &str) -> host::js::Result<()> {
    let store = &vu.shared.modules;
    let advice = (store.builtins().advice)(name);
    if store.is_offline {
        let text = remote::kept(name, store.cache_dir.as_deref(), advice).map_err(|error| throw(ctx, &error))?;
        store.insert_source(name, text);
        return Ok(());
    }
    let worker = wire::ClientContext::new(Arc::new(vu.options().network_settings()));
    let worker = worker.map_err(|error| Exception::throw_message(ctx, &error.message))?;
    let fetched = remote::fetch(name, worker, store.cache_dir.as_deref(), advice, vu.log());
    let text = vu.block_on(ctx, fetched)?.map_err(|error| throw(ctx, &error))?;
    store.insert_source(name, text);
    Ok(())
}

/// A module that is known by its compiled form.
fn linked<'js>(name: &str, kind: SourceKind, code: Code<'js>) -> host::js::Result<Linked<'js>> {
    if kind == SourceKind::CommonJs {
        return Ok(Linked::CommonJs(code));
    }
    let module = code.into_module().ok_or(Error::Unknown)?;
    let base = name.to_string();
    let resolve_there = move |ctx: Ctx<'js>, specifier: String| {
        let found = Vu::of(&ctx).shared.modules.resolve(&base, &specifier);
        found.map_err(|error| go_error::throw(&ctx, &error.message))
    };
    module.meta()?.set("resolve", Func::from(resolve_there))?;
    Ok(Linked::Es(module))
}

/// Compiles without running. A CommonJS module becomes an expression whose value is the function of its wrap.
fn compile<'js>(ctx: &Ctx<'js>, name: &str, prepared: &Prepared) -> host::js::Result<Code<'js>> {
    match prepared.kind {
        SourceKind::EsModule => Code::compile(ctx, name, prepared.code.clone(), Form::Module),
        // On one line with the code, so that line numbers stay true.
        SourceKind::CommonJs => {
            let wrapped = format!("{COMMON_JS_HEAD}{}\n}})", prepared.code);
            Code::compile(ctx, name, wrapped, Form::Expression)
        }
    }
}

/// The outcome of a module's evaluation; its rejection is the exception that its code threw.
fn finish<'js>(ctx: &Ctx<'js>, promise: &Promise<'js>) -> host::js::Result<()> {
    match promise.result::<Value<'js>>() {
        Some(Ok(_)) => Ok(()),
        Some(Err(error)) => Err(error),
        None => Err(Exception::throw_message(ctx, "the module awaits something that never happens (top-level await)")),
    }
}

/// Calls the function of a CommonJS module; its `module.exports`.
fn run_common_js<'js>(ctx: &Ctx<'js>, vu: &Vu, name: &str, code: &Code<'js>) -> host::js::Result<Value<'js>> {
    let function = code.run()?;
    let function = function.into_function().ok_or(Error::Unknown)?;
    let module = Object::new(ctx.clone())?;
    let exports = Object::new(ctx.clone())?;
    module.set("exports", exports.clone())?;
    let index = {
        let mut all = vu.script.exports.borrow_mut();
        // Known while it runs, so that modules that require each other see what there is so far.
        all.push((name.to_string(), Persistent::save(ctx, exports.clone().into_value())));
        all.len() - 1
    };
    let require = require_function(ctx, name)?;
    let result =
        function.call::<_, Value<'js>>((host::js::function::This(exports.clone()), module.clone(), exports, require));
    if let Err(error) = result {
        vu.script.exports.borrow_mut().retain(|(known, _)| known != name);
        return Err(error);
    }
    let exports: Value<'js> = module.get("exports")?;
    if let Some(entry) = vu.script.exports.borrow_mut().get_mut(index) {
        entry.1 = Persistent::save(ctx, exports.clone());
    }
    Ok(exports)
}

/// The `require` that ES modules find among the globals: it starts at the module that calls.
pub(crate) fn global_require<'js>(ctx: &Ctx<'js>) -> host::js::Result<Function<'js>> {
    require_from(ctx, |ctx| {
        // A native function has no stack frame of its own: level 0 is the caller.
        let caller = ctx.script_or_module_name(0).and_then(|name| name.to_string().ok());
        caller.filter(|name| name.contains("://")).unwrap_or_else(|| Vu::of(ctx).shared.entry().to_owned())
    })
}

/// The `require` of one CommonJS module.
fn require_function<'js>(ctx: &Ctx<'js>, base: &str) -> host::js::Result<Function<'js>> {
    let base = base.to_string();
    require_from(ctx, move |_| base.clone())
}

fn require_from<'js>(ctx: &Ctx<'js>, base: impl Fn(&Ctx<'js>) -> String + 'js) -> host::js::Result<Function<'js>> {
    let require_there = move |ctx: Ctx<'js>, specifier: Opt<Value<'js>>| {
        let specifier = specifier.0.and_then(|value| value.as_string().and_then(|text| text.to_string().ok()));
        let Some(specifier) = specifier.filter(|text| !text.is_empty()) else {
            return Err(go_error::throw(&ctx, "require() expects the name of a module, a non-empty string"));
        };
        require(&ctx, &Vu::of(&ctx), &base(&ctx), &specifier)
    };
    Function::new(ctx.clone(), require_there)
}

impl Embedder for Vu {
    fn resolve(&self, ctx: &Ctx<'_>, base: &str, specifier: &str) -> host::js::Result<String> {
        let resolved = self.shared.modules.resolve(base, specifier);
        self.script.importing.replace(Some((base.to_owned(), specifier.to_owned())));
        resolved.map_err(|error| throw(ctx, &error))
    }

    fn load<'js>(&self, ctx: &Ctx<'js>, name: &str) -> host::js::Result<Module<'js>> {
        if let Some(def) = self.shared.modules.builtins().find(name) {
            let object = builtin(ctx, self, def)?;
            // What a getter makes is made when somebody asks for it.
            let mut exports: Vec<String> = def.exports.iter().map(|name| name.to_string()).collect();
            if !self.shared.modules.imported_from(name).iter().any(|name| name == ALL_NAMES) {
                exports.retain(|name| !host::object::has_getter(&object, name));
            }
            return self.value_module(ctx, name, exports, object.into_value());
        }
        if let Some(exports) = known_exports(ctx, self, name)? {
            return self.common_js_module(ctx, name, exports);
        }
        match link(ctx, self, name)? {
            Linked::Es(module) => Ok(module),
            Linked::CommonJs(code) => {
                let exports = run_common_js(ctx, self, name, &code)?;
                self.common_js_module(ctx, name, exports)
            }
        }
    }

    fn unhandled(&self, ctx: &Ctx<'_>, reason: &Value<'_>) {
        let error = exception::describe(reason, &self.shared.modules);
        stops::stop_at_uncaught(ctx, self, &error);
        if matches!(self.phase(), Phase::Init | Phase::Setup | Phase::Teardown) {
            let message = format!("Uncaught (in promise) {}", error.message);
            let error = ScriptError { message, exit_code: exit_code::GENERIC, ..error };
            self.script.unhandled.borrow_mut().get_or_insert(error);
            return;
        }
        let message = format!("Uncaught (in promise) {}", error.with_stack());
        let iteration = self.iteration();
        let fields = iteration.as_ref().map(|iteration| {
            [("executor", iteration.scenario.executor), ("scenario", iteration.scenario.name.as_str())]
        });
        let fields = fields.as_ref().map_or(&[][..], |fields| &fields[..]);
        self.log().log(&Record { level: Level::Error, message: &message, fields });
    }

    fn callee_at(&self, module: &str, line: u32, column: u32) -> Option<String> {
        self.shared.modules.callee_at(module, line, column)
    }

    fn keeps_async_contexts(&self) -> bool {
        self.ask_for_async_contexts()
    }

    fn async_context_changed(&self, number: i64) {
        self.enter_context(number);
    }

    fn async_context_counted(&self, number: i64, by: i32) {
        self.count_context(number, by);
    }

    fn clear(&self) {
        self.script.clear();
    }
}

impl Vu {
    /// A module that is no ES module. As in k6, a name that it does not have is `undefined`: scripts ask for what only
    /// some versions of a module have.
    fn value_module<'js>(
        &self,
        ctx: &Ctx<'js>,
        name: &str,
        mut exports: Vec<String>,
        value: Value<'js>,
    ) -> host::js::Result<Module<'js>> {
        for imported in self.shared.modules.imported_from(name) {
            if !["default", ALL_NAMES].contains(&imported.as_str()) && !exports.contains(&imported) {
                exports.push(imported);
            }
        }
        Module::of_value(ctx, name, exports, value)
    }

    fn common_js_module<'js>(&self, ctx: &Ctx<'js>, name: &str, exports: Value<'js>) -> host::js::Result<Module<'js>> {
        let keys = match exports.as_object() {
            Some(object) => object.keys::<String>().collect::<host::js::Result<Vec<_>>>()?,
            None => Vec::new(),
        };
        self.value_module(ctx, name, keys, exports)
    }
}

/// The error behind an exception of the module loader, with its place, if the exception is one.
pub fn take_error(ctx: &Ctx<'_>, vu: &Vu, error: Error) -> exception::Caught {
    vu.resume_panic();
    match exception::take(ctx, error, &vu.shared.modules) {
        exception::Caught::Thrown(thrown) => {
            let loading = vu.script.load_error.take();
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
