//! What the host keeps for a user beside its runtime.

use std::any::{Any, TypeId};
use std::cell::{Cell, RefCell};
use std::ffi::CStr;
use std::sync::Arc;

use rquickjs::{Persistent, Value, qjs};

use crate::quickjs::lazy_shape::LazyShape;
use crate::quickjs::parts::Parts;

/// A module made of a value, before it has its exports.
pub(crate) struct ValueModule {
    /// The context's definition.
    pub raw: *mut qjs::JSModuleDef,
    pub name: String,
    /// The names that it exports.
    pub exports: Vec<String>,
}

/// State of one user, held apart so that whoever uses a part of it need not know the others.
#[derive(Default)]
pub(crate) struct RuntimeState {
    /// The parts of the language that were made so far, beyond those of every user.
    pub intrinsics: Cell<Parts>,
    /// Modules made of values, until they are evaluated.
    pub value_modules: RefCell<Vec<ValueModule>>,
    /// A module has been linked and run.
    pub has_evaluated: Cell<bool>,
    /// Texts that functions of the runtime have their sources in.
    pub lent_texts: RefCell<Vec<Arc<CStr>>>,
    /// The one that is compiled or loaded.
    pub lent_text: RefCell<Option<Arc<CStr>>>,
    /// A panic on its way through a script.
    pub panic: RefCell<Option<Box<dyn Any + Send>>>,
    /// Class of lazy objects; 0: not registered yet.
    pub lazy_class: Cell<qjs::JSClassID>,
    /// Classes of Rust types.
    pub classes: RefCell<Vec<(TypeId, qjs::JSClassID)>>,
    /// Objects that keep the shapes of such objects alive.
    pub shape_keepers: RefCell<Vec<Persistent<Value<'static>>>>,
    /// What lazy objects have in common, by type.
    pub lazy_shapes: RefCell<Vec<LazyShape>>,
}

impl RuntimeState {
    /// Lets go of JavaScript values before the runtime goes.
    pub fn clear(&self) {
        drop(std::mem::take(&mut *self.shape_keepers.borrow_mut()));
        drop(std::mem::take(&mut *self.lazy_shapes.borrow_mut()));
    }
}
