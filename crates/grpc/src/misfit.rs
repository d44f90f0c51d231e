//! Why a script's value has no wire bytes: where in the value, what was found, what the field wants.

use std::fmt::{self, Display, Formatter};

use crate::plan::MessagePlan;
use crate::value::{Done, Kind, Value};

/// Why there are no wire bytes.
#[derive(Debug, PartialEq, Eq)]
pub enum Unfit<E> {
    /// Reading the value threw.
    Thrown(E),
    /// It does not fit the message.
    Misfit(Misfit),
}

impl<E> From<E> for Unfit<E> {
    fn from(error: E) -> Self {
        Unfit::Thrown(error)
    }
}

/// What does not fit, and where.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Misfit {
    /// From the outermost name to the innermost, in reverse.
    path: Vec<Step>,
    problem: String,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Field(Box<str>),
    Item(usize),
    Key(Box<str>),
}

impl Display for Misfit {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (at, step) in self.path.iter().rev().enumerate() {
            match step {
                Step::Field(name) if at == 0 => write!(f, "{name}")?,
                Step::Field(name) => write!(f, ".{name}")?,
                Step::Item(index) => write!(f, "[{index}]")?,
                Step::Key(key) => write!(f, "[{key:?}]")?,
            }
        }
        let separator = if self.path.is_empty() { "" } else { ": " };
        write!(f, "{separator}{}", self.problem)
    }
}

pub(crate) fn misfit<E>(problem: impl Into<String>) -> Unfit<E> {
    Unfit::Misfit(Misfit { path: Vec::new(), problem: problem.into() })
}

pub(crate) fn within<E>(done: Done<E>, step: impl FnOnce() -> Step) -> Done<E> {
    done.map_err(|unfit| match unfit {
        Unfit::Misfit(mut misfit) => {
            misfit.path.push(step());
            Unfit::Misfit(misfit)
        }
        thrown => thrown,
    })
}

pub(crate) fn unknown<E>(plan: &MessagePlan, name: &str) -> Unfit<E> {
    let hint = units::suggest::hint(name, plan.json_names());
    misfit(format!("unknown field {name:?} of {}{hint}", plan.name()))
}

/// What was found instead of what was wanted.
pub(crate) fn wrong<V: Value>(value: &V, wanted: &str) -> Unfit<V::Error> {
    const LONGEST: usize = 40;
    let found = value.kind().and_then(|kind| {
        Ok(match kind {
            Kind::Null => String::from("null"),
            Kind::Bool(flag) => flag.to_string(),
            Kind::Number(number) if number.abs() >= 1e21 => format!("{number:e}"),
            Kind::Number(number) => number.to_string(),
            Kind::Text => value.with_text(|text| match text.char_indices().nth(LONGEST) {
                Some((end, _)) => format!("{:?}…", &text[..end]),
                None => format!("{text:?}"),
            })?,
            Kind::BigInt => value.with_text(|digits| format!("{digits}n"))?,
            Kind::Bytes => String::from("bytes"),
            Kind::List => String::from("a list"),
            Kind::Object => String::from("an object"),
            Kind::Other(words) => String::from(words),
        })
    });
    match found {
        Ok(found) => misfit(format!("expected {wanted}, found {found}")),
        Err(error) => Unfit::Thrown(error),
    }
}
