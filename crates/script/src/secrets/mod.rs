//! Secrets that scripts do not contain: where they come from, and what hides them. `modules/secrets` binds them to
//! JavaScript.

mod redactor;
mod source;
mod url;

pub use redactor::{HIDDEN, Redactor};
pub use source::SecretKind;
pub use source::Secrets;
