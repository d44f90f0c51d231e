//! Values that were made, and arguments that were given: without JavaScript, so that the makers are plain Rust.

use host::js::{Array, Ctx, Object, Result, Value};

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Made {
    /// A text.
    Text(String),
    /// A number.
    Number(f64),
    /// Yes or no.
    Is(bool),
    /// Several values.
    List(Vec<Made>),
    /// Values by name.
    Record(Vec<(String, Made)>),
}

impl Made {
    /// Values by name.
    pub fn record<const N: usize>(members: [(&str, Made); N]) -> Made {
        Made::Record(members.into_iter().map(|(name, made)| (name.to_owned(), made)).collect())
    }

    /// As part of a text.
    pub fn into_text(self) -> String {
        match self {
            Made::Text(text) => text,
            Made::Number(number) => number.to_string(),
            Made::Is(is) => is.to_string(),
            Made::List(list) => list.into_iter().map(Made::into_text).collect::<Vec<_>>().join(", "),
            Made::Record(members) => {
                members.into_iter().map(|(_, made)| made.into_text()).collect::<Vec<_>>().join(", ")
            }
        }
    }

    /// As the script gets it.
    pub fn to_js<'js>(&self, ctx: &Ctx<'js>) -> Result<Value<'js>> {
        match self {
            Made::Text(text) => Ok(host::js::String::from_str(ctx.clone(), text)?.into_value()),
            Made::Number(number) => Ok(Value::new_number(ctx.clone(), *number)),
            Made::Is(is) => Ok(Value::new_bool(ctx.clone(), *is)),
            Made::List(list) => {
                let array = Array::new(ctx.clone())?;
                for (index, made) in list.iter().enumerate() {
                    array.set(index, made.to_js(ctx)?)?;
                }
                Ok(array.into_value())
            }
            Made::Record(members) => {
                let object = Object::new(ctx.clone())?;
                for (name, made) in members {
                    object.set(name.as_str(), made.to_js(ctx)?)?;
                }
                Ok(object.into_value())
            }
        }
    }
}

impl From<String> for Made {
    fn from(text: String) -> Made {
        Made::Text(text)
    }
}

impl From<&str> for Made {
    fn from(text: &str) -> Made {
        Made::Text(text.to_owned())
    }
}

impl From<f64> for Made {
    fn from(number: f64) -> Made {
        Made::Number(number)
    }
}

impl From<i64> for Made {
    fn from(number: i64) -> Made {
        Made::Number(number as f64)
    }
}

impl From<bool> for Made {
    fn from(is: bool) -> Made {
        Made::Is(is)
    }
}

impl<T: Into<Made>> From<Vec<T>> for Made {
    fn from(list: Vec<T>) -> Made {
        Made::List(list.into_iter().map(Into::into).collect())
    }
}
