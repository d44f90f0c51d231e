//! Values of scripts as Rust sees them, and values of Rust as scripts see them.

pub mod apply;
pub mod borrow;
pub(crate) mod building;
pub mod bytes;
pub(crate) mod class;
pub mod json;
pub mod keeper;
pub mod kind;
pub mod lazy_object;
pub mod memo;
pub mod native;
pub mod object;
pub(crate) mod own_data;
pub mod plain;
pub mod received;
pub mod record;
pub mod sealed_file;
pub mod shared_buffer;
