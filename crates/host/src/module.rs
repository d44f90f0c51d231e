//! Modules of the engine: compiling, bytecode, evaluating, and modules whose exports are the properties of a value.
//!
//! Which module an import means and where its text comes from is the embedder's business. Bytecode cannot be made but
//! by compiling, so what the engine loads is always its own.

use std::ffi::{CStr, CString, c_char};
use std::fmt;
use std::ptr::{NonNull, null, null_mut};
use std::sync::{Arc, Mutex, PoisonError};

use rquickjs::{Ctx, Error, Exception, Object, Promise, Result, Value, qjs};

use crate::runtime;
use crate::state::ValueModule;
use crate::user::User;

/// How a text is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As an ES module.
    Module,
    /// As an expression.
    Expression,
}

/// Compiled code in the form that every runtime of this process can load.
#[derive(Clone)]
pub struct Bytecode {
    bytes: Box<[u8]>,
    form: Form,
    text: LentText,
}

/// What functions point into instead of having their sources. Nothing for code of this program, whose functions have
/// none.
type LentText = Option<Arc<CStr>>;

impl fmt::Debug for Bytecode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bytecode({:?}, {} bytes)", self.form, self.bytes.len())
    }
}

/// Code that was compiled in a context and not run yet.
pub struct Code<'js> {
    value: Value<'js>,
    form: Form,
    text: LentText,
}

/// Bytecode of sources that are part of this program, by their addresses.
static OWN: Mutex<Vec<(usize, Arc<Bytecode>)>> = Mutex::new(Vec::new());

/// The value of an expression that is part of this program, in strict mode. Compiled once for all users, who load
/// bytecode: compiling costs more time, and what it compiles keeps the text.
pub fn evaluate_own<'js>(ctx: &Ctx<'js>, name: &str, source: &'static str) -> Result<Value<'js>> {
    let own = || OWN.lock().unwrap_or_else(PoisonError::into_inner);
    let address = source.as_ptr() as usize;
    let known = own().iter().find(|(of, _)| *of == address).map(|(_, bytecode)| Arc::clone(bytecode));
    let bytecode = match known {
        Some(bytecode) => bytecode,
        None => {
            // On one line with the source, so that line numbers stay true.
            let text = CString::new(format!("'use strict'; {source}"))?;
            let code = Code { value: compile(ctx, name, &text, Form::Expression)?, form: Form::Expression, text: None };
            let bytecode = Arc::new(code.bytecode()?);
            own().push((address, Arc::clone(&bytecode)));
            bytecode
        }
    };
    Code::load(ctx, &bytecode)?.run()
}

fn compile<'js>(ctx: &Ctx<'js>, name: &str, text: &CStr, form: Form) -> Result<Value<'js>> {
    let kind = match form {
        Form::Module => qjs::JS_EVAL_TYPE_MODULE,
        Form::Expression => qjs::JS_EVAL_TYPE_GLOBAL,
    };
    let (length, name) = (text.to_bytes().len(), CString::new(name)?);
    let flags = (kind | qjs::JS_EVAL_FLAG_COMPILE_ONLY) as i32;
    // SAFETY: both strings are terminated and live during the call.
    let value = unsafe { qjs::JS_Eval(ctx.as_raw().as_ptr(), text.as_ptr(), length as _, name.as_ptr(), flags) };
    own(ctx, value)
}

unsafe extern "C" {
    /// Of `quickjs/sources.patch`.
    fn JS_LendText(runtime: *mut qjs::JSRuntime, text: *const c_char, length: usize);
}

/// Does something while functions that are compiled, written or read have their sources in this text. The user keeps
/// the text: functions read it for as long as scripts run.
fn with_lent<R>(ctx: &Ctx<'_>, text: Option<&Arc<CStr>>, work: impl FnOnce() -> R) -> R {
    let Some(text) = text else { return work() };
    let user = User::of(ctx);
    if !user.state.lent_texts.borrow().iter().any(|kept| Arc::ptr_eq(kept, text)) {
        user.state.lent_texts.borrow_mut().push(Arc::clone(text));
    }
    // Compiling and loading may come to an import, whose module has a text of its own.
    let outer = user.state.lent_text.replace(Some(Arc::clone(text)));
    lend(ctx, Some(text));
    let done = work();
    lend(ctx, outer.as_ref());
    user.state.lent_text.replace(outer);
    done
}

/// Of a text that its user keeps.
fn lend(ctx: &Ctx<'_>, text: Option<&Arc<CStr>>) {
    let (start, length) = text.map_or((null(), 0), |text| (text.as_ptr(), text.to_bytes().len()));
    // SAFETY: context and runtime are live. The text stays where it is while the user holds its `Arc`, and only running
    // scripts read it; a user goes after its scripts.
    unsafe { JS_LendText(qjs::JS_GetRuntime(ctx.as_raw().as_ptr()), start, length) }
}

/// A module of a context.
pub struct Module<'js> {
    ctx: Ctx<'js>,
    /// Owned by the context.
    raw: *mut qjs::JSModuleDef,
}

/// What every module of this runtime is found by.
pub(crate) fn install(ctx: &Ctx<'_>) {
    // SAFETY: context and runtime are live; the callbacks find their user through the context.
    unsafe {
        let runtime = qjs::JS_GetRuntime(ctx.as_raw().as_ptr());
        qjs::JS_SetModuleLoaderFunc(runtime, Some(on_normalize), Some(on_load), null_mut());
    }
}

impl<'js> Code<'js> {
    /// Compiles without running. `name` is in stacks and is what imports of the text start from. Functions know their
    /// sources (`String(f)`): the text is kept once for all users.
    pub fn compile(ctx: &Ctx<'js>, name: &str, text: String, form: Form) -> Result<Code<'js>> {
        let text: Arc<CStr> = CString::new(text)?.into();
        let value = with_lent(ctx, Some(&text), || compile(ctx, name, &text, form))?;
        Ok(Code { value, form, text: Some(text) })
    }

    /// Loads what was compiled before, in this runtime or in another one.
    pub fn load(ctx: &Ctx<'js>, bytecode: &Bytecode) -> Result<Code<'js>> {
        let bytes = &bytecode.bytes;
        let flags = qjs::JS_READ_OBJ_BYTECODE as i32;
        // SAFETY: the bytes come from `bytecode` of this process; QuickJS copies what it keeps.
        let read = || unsafe { qjs::JS_ReadObject(ctx.as_raw().as_ptr(), bytes.as_ptr(), bytes.len() as _, flags) };
        let value = with_lent(ctx, bytecode.text.as_ref(), read);
        Ok(Code { value: own(ctx, value)?, form: bytecode.form, text: bytecode.text.clone() })
    }

    /// For other runtimes.
    pub fn bytecode(&self) -> Result<Bytecode> {
        let mut length = 0;
        let sources = if self.text.is_some() { 0 } else { qjs::JS_WRITE_OBJ_STRIP_SOURCE };
        let flags = (qjs::JS_WRITE_OBJ_BYTECODE | sources) as i32;
        let ctx = self.value.ctx();
        let context = ctx.as_raw().as_ptr();
        // SAFETY: the value is live; the buffer that comes back is ours and is given back with the allocator that made
        // it.
        unsafe {
            let write = || qjs::JS_WriteObject(context, &mut length, self.value.as_raw(), flags);
            let bytes = with_lent(ctx, self.text.as_ref(), write);
            if bytes.is_null() {
                return Err(Error::Exception);
            }
            let copy = std::slice::from_raw_parts(bytes, length as usize).into();
            qjs::js_free(context, bytes.cast());
            Ok(Bytecode { bytes: copy, form: self.form, text: self.text.clone() })
        }
    }

    /// The module, when the code is one.
    pub fn into_module(self) -> Option<Module<'js>> {
        // SAFETY: a module value holds a pointer to its definition, which the context owns; the value's own count is
        // not needed.
        let raw = || unsafe { qjs::JS_VALUE_GET_PTR(self.value.as_raw()).cast() };
        (self.form == Form::Module).then(|| Module { ctx: self.value.ctx().clone(), raw: raw() })
    }

    /// The value of an expression; nothing of a module.
    pub fn run(&self) -> Result<Value<'js>> {
        if self.form == Form::Module {
            return Err(Error::Unknown);
        }
        // SAFETY: `JS_EvalFunction` takes over one count of the bytecode, which is made here.
        let value = unsafe {
            let context = self.value.ctx().as_raw().as_ptr();
            qjs::JS_EvalFunction(context, qjs::JS_DupValue(context, self.value.as_raw()))
        };
        own(self.value.ctx(), value)
    }
}

impl<'js> Module<'js> {
    /// A module whose exports are the properties of a value, and whose `default` is the value's own `default` or
    /// itself.
    pub fn of_value(ctx: &Ctx<'js>, name: &str, exports: Vec<String>, value: Value<'js>) -> Result<Module<'js>> {
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
            qjs::JS_SetModulePrivateValue(context, module, qjs::JS_DupValue(context, value.as_raw()));
            let made = ValueModule { raw: module, name: name.into_string().unwrap_or_default(), exports };
            User::of(ctx).state.value_modules.borrow_mut().push(made);
            Ok(Module { ctx: ctx.clone(), raw: module })
        }
    }

    /// Has a module that `of_value` made export one more name, which is `undefined` where its value has no such
    /// property. Has no effect once a module has run: what is linked cannot grow.
    pub fn add_export(ctx: &Ctx<'js>, module: &str, name: &str) -> Result<()> {
        let user = User::of(ctx);
        if user.state.has_evaluated.get() {
            return Ok(());
        }
        let mut made = user.state.value_modules.borrow_mut();
        let known = made.iter_mut().find(|made| made.name == module);
        let Some(made) = known.filter(|made| name != "default" && made.exports.iter().all(|known| known != name))
        else {
            return Ok(());
        };
        let text = CString::new(name)?;
        // SAFETY: the definition belongs to this context and is not linked yet; QuickJS copies the name.
        unsafe { qjs::JS_AddModuleExport(ctx.as_raw().as_ptr(), made.raw, text.as_ptr()) };
        made.exports.push(name.to_owned());
        Ok(())
    }

    /// Links and runs it; the promise settles when it has run, with the exception that its code threw.
    pub fn evaluate(&self) -> Result<Promise<'js>> {
        User::of(&self.ctx).state.has_evaluated.set(true);
        // SAFETY: the definition belongs to this context. `JS_EvalFunction` takes over one count, which is made here.
        let value = unsafe {
            let context = self.ctx.as_raw().as_ptr();
            let value = qjs::JS_MKPTR(qjs::JS_TAG_MODULE, self.raw.cast());
            qjs::JS_DupValue(context, value);
            if qjs::JS_ResolveModule(context, value) < 0 {
                qjs::JS_FreeValue(context, value);
                return Err(Error::Exception);
            }
            qjs::JS_EvalFunction(context, value)
        };
        own(&self.ctx, value)?.into_promise().ok_or(Error::Unknown)
    }

    /// Its exports.
    pub fn namespace(&self) -> Result<Object<'js>> {
        // SAFETY: the definition belongs to this context.
        let value = own(&self.ctx, unsafe { qjs::JS_GetModuleNamespace(self.ctx.as_raw().as_ptr(), self.raw) })?;
        value.into_object().ok_or(Error::Unknown)
    }

    /// Its `import.meta`.
    pub fn meta(&self) -> Result<Object<'js>> {
        // SAFETY: the call hands over one count of the object.
        let value = own(&self.ctx, unsafe { qjs::JS_GetImportMeta(self.ctx.as_raw().as_ptr(), self.raw) })?;
        value.into_object().ok_or(Error::Unknown)
    }
}

/// Takes over a value that QuickJS returned; its exception becomes an error.
fn own<'js>(ctx: &Ctx<'js>, value: qjs::JSValue) -> Result<Value<'js>> {
    // SAFETY: the caller got the value from a call that hands over one count.
    unsafe {
        if qjs::JS_IsException(value) {
            return Err(Error::Exception);
        }
        Ok(Value::from_raw(ctx.clone(), value))
    }
}

/// Leaves an exception behind.
fn leave(ctx: &Ctx<'_>, error: &Error) {
    if !error.is_exception() {
        Exception::throw_message(ctx, &error.to_string());
    }
}

unsafe extern "C" fn on_normalize(
    context: *mut qjs::JSContext,
    base: *const qjs::c_char,
    name: *const qjs::c_char,
    _opaque: *mut qjs::c_void,
) -> *mut qjs::c_char {
    let Some(raw) = NonNull::new(context) else { return null_mut() };
    // SAFETY: QuickJS calls this with a live context and two terminated strings.
    let (ctx, base, name) = unsafe { (Ctx::from_raw(raw), CStr::from_ptr(base), CStr::from_ptr(name)) };
    match runtime::embedder(&ctx).resolve(&ctx, &base.to_string_lossy(), &name.to_string_lossy()) {
        // SAFETY: the text is copied into memory that QuickJS frees.
        Ok(name) => unsafe { qjs::js_strndup(context, name.as_ptr().cast(), name.len() as _) },
        Err(error) => {
            leave(&ctx, &error);
            null_mut()
        }
    }
}

unsafe extern "C" fn on_load(
    context: *mut qjs::JSContext,
    name: *const qjs::c_char,
    _opaque: *mut qjs::c_void,
) -> *mut qjs::JSModuleDef {
    let Some(raw) = NonNull::new(context) else { return null_mut() };
    // SAFETY: QuickJS calls this with a live context and a terminated string.
    let (ctx, name) = unsafe { (Ctx::from_raw(raw), CStr::from_ptr(name)) };
    match runtime::embedder(&ctx).load(&ctx, &name.to_string_lossy()) {
        Ok(module) => module.raw,
        Err(error) => {
            leave(&ctx, &error);
            null_mut()
        }
    }
}

unsafe extern "C" fn on_value_module(context: *mut qjs::JSContext, module: *mut qjs::JSModuleDef) -> qjs::c_int {
    let Some(raw) = NonNull::new(context) else { return -1 };
    // SAFETY: QuickJS calls this once with the module that `of_value` made.
    let outcome = unsafe {
        let ctx = Ctx::from_raw(raw);
        set_exports(&ctx, module)
    };
    if outcome.is_ok() { 0 } else { -1 }
}

fn set_exports(ctx: &Ctx<'_>, module: *mut qjs::JSModuleDef) -> Result<()> {
    let context = ctx.as_raw().as_ptr();
    // SAFETY: `of_value` stored the value; the call hands over one count.
    let value = unsafe { own(ctx, qjs::JS_GetModulePrivateValue(context, module))? };
    let names = {
        let user = User::of(ctx);
        let mut pending = user.state.value_modules.borrow_mut();
        let place = pending.iter().position(|made| made.raw == module).ok_or(Error::Unknown)?;
        pending.swap_remove(place).exports
    };
    let object = value.as_object();
    let set = |name: &str, value: Value<'_>| -> Result<()> {
        let name = CString::new(name)?;
        // SAFETY: the export was declared by `of_value`; one count is made for it here.
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
