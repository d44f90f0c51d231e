//! A value of a script, as far as messages are made of it.

use crate::misfit::Unfit;
use crate::plan::MessagePlan;

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Nothing; in a list, what JSON has no value for.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(f64),
    /// Text.
    Text,
    /// A whole number of any length, whose digits `with_text` gives.
    BigInt,
    /// Bytes.
    Bytes,
    /// A list of values.
    List,
    /// Values with names.
    Object,
    /// Anything else, in words.
    Other(&'static str),
}

/// What becomes of the work on a part of a value.
pub type Done<E> = Result<(), Unfit<E>>;

/// A value of a script.
pub trait Value: Sized {
    /// What its code may throw while it is read.
    type Error;

    /// What it is. No other method is called for one of another kind.
    fn kind(&self) -> Result<Kind, Self::Error>;
    /// Lends its text.
    fn with_text<R>(&self, read: impl FnOnce(&str) -> R) -> Result<R, Self::Error>;
    /// Appends its bytes.
    fn add_bytes(&self, out: &mut Vec<u8>) -> Result<(), Self::Error>;
    /// Hands out the values of a list.
    fn each_item(&self, each: impl FnMut(usize, &Self) -> Done<Self::Error>) -> Done<Self::Error>;
    /// Hands out the values of an object with their names, those left out that JSON leaves out.
    fn each_entry(&self, each: impl FnMut(&str, &Self) -> Done<Self::Error>) -> Done<Self::Error>;

    /// The same where names are those of fields: by the field's index, or by a name that the plan does not know.
    fn each_field(
        &self,
        plan: &MessagePlan,
        mut each: impl FnMut(Result<u32, &str>, &Self) -> Done<Self::Error>,
    ) -> Done<Self::Error> {
        self.each_entry(|name, value| each(plan.field(name).ok_or(name), value))
    }
}
