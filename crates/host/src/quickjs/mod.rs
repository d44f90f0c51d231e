//! The engine: its runtime and memory, modules, and what of the language we add, replace or leave out.

pub mod allocator;
mod blocks;
pub(crate) mod collation;
pub(crate) mod contexts;
pub mod exception;
pub mod faults;
pub(crate) mod lazy_shape;
pub(crate) mod parts;
pub mod script_clock;
pub mod shortage;
pub(crate) mod text;
