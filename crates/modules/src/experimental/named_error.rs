//! What the modules of `k6/experimental` reject with: an `Error` whose `name` says the kind, so that a script may tell
//! `NotFoundError` from `ForbiddenError` as it does under k6.

use host::js::object::Property;
use host::js::{Ctx, Error, Exception};

use script::arguments::ArgumentError;

/// An error of these modules before it is an exception: its `name` and its message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedError {
    /// `TypeError`, `NotFoundError` …
    pub name: &'static str,
    /// What failed and what was expected.
    pub message: String,
}

impl NamedError {
    /// An error of this name.
    pub fn new(name: &'static str, message: impl Into<String>) -> Self {
        NamedError { name, message: message.into() }
    }

    /// A `TypeError`.
    pub fn wrong(message: impl Into<String>) -> Self {
        Self::new("TypeError", message)
    }

    /// Throws it.
    pub fn throw(&self, ctx: &Ctx<'_>) -> Error {
        if self.name == "TypeError" {
            return Exception::throw_type(ctx, &self.message);
        }
        let named = Exception::from_message(ctx.clone(), &self.message).and_then(|error| {
            let error = error.into_object();
            error.prop("name", Property::from(self.name).writable().configurable())?;
            Ok(error.into_value())
        });
        match named {
            Ok(error) => ctx.throw(error),
            Err(error) => error,
        }
    }
}

impl From<NamedError> for ArgumentError<NamedError> {
    fn from(error: NamedError) -> Self {
        ArgumentError::Refused(error)
    }
}
