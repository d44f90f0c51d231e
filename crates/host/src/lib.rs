//! Runs JavaScript: QuickJS on coroutines, one runtime a user.
//!
//! The only crate of the workspace that touches raw QuickJS values and coroutine stacks, and, with the socket files of
//! `wire`, the only one with unsafe code. It knows no module, metric, option or server: the crate that runs scripts
//! on it implements `Embedder`. What leaves this crate is safe to use from any native function.
//!
//! A user is a coroutine with a QuickJS runtime of its own. A native function that has to wait suspends the coroutine,
//! so scripts are synchronous and the network is not. A suspended user is never dropped: C frames lie on its stack; it
//! is resumed with a stop reason instead.
//!
//! How Rust is put behind JavaScript, one table for all ways: `modules/src/lib.rs`. Objects have one class a
//! Rust type (`class.rs`, `lazy_object`), so that a script cannot forge them. Bytes of the script go the other way:
//! `bytes::read` for the time of a call, `borrow::Borrows` for the time of a request.

#![allow(unsafe_code)]

pub mod async_context;
mod coroutine;
pub mod event_loop;
mod extensions;
pub mod intrinsics;
pub mod log;
pub mod memory;
pub mod messages;
pub mod module;
#[cfg(test)]
mod patched_engine;
mod quickjs;
mod runtime;
mod state;
#[cfg(test)]
mod test_user;
pub mod timers;
mod turn;
mod user;
mod values;

pub use coroutine::watchdog;
pub use quickjs::{allocator, exception, faults, script_clock, shortage};
pub use values::{
    apply, borrow, bytes, json, keeper, kind, lazy_object, memo, native, object, plain, received, record, sealed_file,
    shared_buffer,
};

/// The safe bindings of the engine: what the other crates use of them. The raw ones stay here.
pub mod js {
    pub use rquickjs::context::EvalOptions;
    pub use rquickjs::{
        Array, ArrayBuffer, Coerced, Ctx, Error, Exception, FromJs, Function, IntoJs, Object, Persistent, Promise,
        Result, String, TypedArray, Value,
    };
    pub use rquickjs::{atom, function, object, prelude, proxy};
}

pub use coroutine::fiber::{Advance, Fiber, GivenUp, Jobs};
pub use coroutine::stop::{Stop, StopFlag};
pub use coroutine::switch::{SLICE, Switch};
pub use extensions::Extensions;
pub use runtime::{DEFAULT_MEMORY_LIMIT, enter, space_collections, trim_objects};
pub use user::{Embedder, Phase, User, UserParts, embedder_of, peek_embedder};
pub use values::building::Building;
