//! How a decoded message becomes a value: the values of a script, or none when bytes are only checked.

use crate::plan::MessagePlan;

/// Makes values of a script.
pub trait Builder {
    /// A value.
    type Value;
    /// An object that is being made.
    type Object;
    /// A list that is being made.
    type List;
    /// What the script's memory may throw.
    type Error;

    /// `null`.
    fn null(&mut self) -> Self::Value;
    /// `true` or `false`.
    fn bool(&mut self, flag: bool) -> Self::Value;
    /// A number.
    fn number(&mut self, number: f64) -> Self::Value;
    /// A number of 64 bits, which is text in JSON.
    fn int64(&mut self, number: i128) -> Result<Self::Value, Self::Error>;
    /// Text.
    fn text(&mut self, text: &str) -> Result<Self::Value, Self::Error>;
    /// Bytes, which are base64 in JSON.
    fn bytes(&mut self, bytes: &[u8]) -> Result<Self::Value, Self::Error>;
    /// Begins an object.
    fn object(&mut self) -> Result<Self::Object, Self::Error>;
    /// Gives it a field of its plan.
    fn field(
        &mut self,
        object: &mut Self::Object,
        plan: &MessagePlan,
        index: usize,
        value: Self::Value,
    ) -> Result<(), Self::Error>;
    /// Gives it a value of another name.
    fn entry(&mut self, object: &mut Self::Object, name: &str, value: Self::Value) -> Result<(), Self::Error>;
    /// Ends an object.
    fn end_object(&mut self, object: Self::Object) -> Self::Value;
    /// Begins a list.
    fn list(&mut self) -> Result<Self::List, Self::Error>;
    /// Gives it its next value.
    fn item(&mut self, list: &mut Self::List, value: Self::Value) -> Result<(), Self::Error>;
    /// Ends a list.
    fn end_list(&mut self, list: Self::List) -> Self::Value;
}

/// Builds nothing.
pub(crate) struct Nothing;

impl Builder for Nothing {
    type Value = ();
    type Object = ();
    type List = ();
    type Error = std::convert::Infallible;

    fn null(&mut self) {}
    fn bool(&mut self, _: bool) {}
    fn number(&mut self, _: f64) {}
    fn int64(&mut self, _: i128) -> Result<(), Self::Error> {
        Ok(())
    }
    fn text(&mut self, _: &str) -> Result<(), Self::Error> {
        Ok(())
    }
    fn bytes(&mut self, _: &[u8]) -> Result<(), Self::Error> {
        Ok(())
    }
    fn object(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
    fn field(&mut self, _: &mut (), _: &MessagePlan, _: usize, _: ()) -> Result<(), Self::Error> {
        Ok(())
    }
    fn entry(&mut self, _: &mut (), _: &str, _: ()) -> Result<(), Self::Error> {
        Ok(())
    }
    fn end_object(&mut self, _: ()) {}
    fn list(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
    fn item(&mut self, _: &mut (), _: ()) -> Result<(), Self::Error> {
        Ok(())
    }
    fn end_list(&mut self, _: ()) {}
}
