//! What the loader and the globals keep for a user.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;

use host::js::{Object, Persistent, Value};

use crate::error::ScriptError;

/// State of one user's script.
#[derive(Default)]
pub(crate) struct ScriptState {
    /// Module objects made so far, by import path.
    pub builtins: RefCell<Vec<(&'static str, Persistent<Object<'static>>)>>,
    /// What CommonJS modules, and ES modules that were required, export.
    pub exports: RefCell<Vec<(String, Persistent<Value<'static>>)>>,
    /// The last error of the module loader, whose exception may be on its way through the script.
    pub load_error: RefCell<Option<ScriptError>>,
    /// The first promise of this part that was rejected and that nobody handled, where that fails the part.
    pub unhandled: RefCell<Option<ScriptError>>,
    /// The import or require being carried out: the module that asks, and what it asks for.
    pub importing: RefCell<Option<(String, String)>>,
    /// What modules added to `__ENV`.
    pub added_env: RefCell<Option<Arc<BTreeMap<String, String>>>>,
    /// Names that the scenario of the last iteration put into `__ENV`.
    pub scenario_env: RefCell<Vec<String>>,
    /// Whether `__ITER` is there and tells the number of the iteration.
    pub has_iter: Cell<bool>,
}

impl ScriptState {
    /// Lets go of JavaScript values before the runtime goes.
    pub fn clear(&self) {
        drop(std::mem::take(&mut *self.builtins.borrow_mut()));
        drop(std::mem::take(&mut *self.exports.borrow_mut()));
    }
}
