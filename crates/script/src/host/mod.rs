//! The QuickJS host: coroutines, the runtime of a virtual user, its event loop and its globals.
//!
//! The only place of the workspace that touches raw QuickJS values and coroutine stacks. What leaves this folder is safe to
//! use from any native function: `Vu`, `LazyObject`, `ScriptError`.

#![allow(unsafe_code)]

pub(crate) mod allocator;
pub(crate) mod app_main;
pub(crate) mod apply;
pub mod bytes;
mod carrier;
mod computation;
pub(crate) mod console;
pub(crate) mod coroutine;
mod engine_code;
pub mod event_loop;
pub mod exception;
pub(crate) mod export;
pub(crate) mod files;
pub(crate) mod globals;
pub mod go_error;
pub(crate) mod handle;
pub mod handled;
pub(crate) mod inspect;
pub(crate) mod intrinsics;
pub(crate) mod json;
pub mod keeper;
pub mod kind;
pub mod lazy_object;
pub mod lend;
pub(crate) mod linker;
pub mod loan;
pub mod memo;
pub mod memory;
pub mod native;
pub mod object;
pub mod plain;
mod preemption;
pub mod record;
pub(crate) mod runtime;
pub mod shared_buffer;
pub(crate) mod text;
mod timers;
pub(crate) mod user_main;
mod watchdog;
pub(crate) mod web_crypto;
