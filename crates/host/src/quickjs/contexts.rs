//! The engine's side of async contexts (`async_context.rs`): `quickjs/async_context.patch` keeps their numbers over
//! promises and jobs, and calls these functions.

use std::cell::Cell;
use std::ffi::{c_int, c_void};

use rquickjs::qjs;

/// As `quickjs/async_context.patch` declares it.
#[repr(C)]
pub(crate) struct Contexts {
    current: *const Cell<i64>,
    changed: unsafe extern "C" fn(*mut c_void),
    counted: unsafe extern "C" fn(*mut c_void, i64, c_int),
    opaque: *mut c_void,
}

unsafe extern "C" {
    /// Of `quickjs/async_context.patch`.
    pub(crate) fn JS_SetAsyncContexts(runtime: *mut qjs::JSRuntime, contexts: *const Contexts);
}

impl Contexts {
    /// All of it must live until `JS_SetAsyncContexts` is called with null.
    pub(crate) fn new(
        current: &Cell<i64>,
        changed: unsafe extern "C" fn(*mut c_void),
        counted: unsafe extern "C" fn(*mut c_void, i64, c_int),
    ) -> Contexts {
        Contexts { current, changed, counted, opaque: std::ptr::null_mut() }
    }

    pub(crate) fn set_opaque(&mut self, opaque: *mut c_void) {
        self.opaque = opaque;
    }
}
