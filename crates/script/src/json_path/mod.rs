//! JSON text picked apart without building values: paths into a document, and what is wrong with one that does not
//! parse.
//!
//! Plain Rust over bytes, with tests of its own; nothing here knows JavaScript. `scanner.rs` steps over values,
//! `syntax.rs` reads a path, `selector.rs` follows it.

mod scanner;
mod selector;
mod syntax;

pub use scanner::explain;
pub use selector::Selector;
