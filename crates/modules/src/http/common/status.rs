//! Which statuses count as expected: `http.expectedStatuses(…)`, `http.setResponseCallback(…)`,
//! `params.responseCallback`.
//!
//! The value a script holds is opaque: an instance of a class that has no properties, recognised by its class alone.

use std::rc::Rc;

use host::js::function::Rest;
use host::js::{Ctx, Exception, Object, Result, Value};
use host::native::{self, NativeClass};

use script::go_error;

/// A set of statuses.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Statuses {
    ranges: Vec<(i64, i64)>,
}

/// What decides whether an answer was the expected one.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Expectation {
    /// k6's own: 200-399.
    #[default]
    Default,
    /// The script's set.
    Statuses(Rc<Statuses>),
    /// Switched off: neither `http_req_failed` nor `expected_response`.
    Off,
}

impl Statuses {
    /// Whether the status is in the set.
    pub fn contains(&self, status: u16) -> bool {
        self.ranges.iter().any(|&(min, max)| (min..=max).contains(&i64::from(status)))
    }
}

impl Expectation {
    /// Whether the status was expected; `None` when nobody wants to know.
    pub fn judge(&self, status: u16) -> Option<bool> {
        match self {
            Expectation::Default => Some((200..=399).contains(&status)),
            Expectation::Statuses(statuses) => Some(statuses.contains(status)),
            Expectation::Off => None,
        }
    }

    /// Reads a `responseCallback`: null switches off, a set is taken; anything else is `None`.
    pub fn from_js(value: &Value<'_>) -> Option<Expectation> {
        if value.is_null() || value.is_undefined() {
            return Some(Expectation::Off);
        }
        native::with(value, |set: &ExpectedStatuses| Expectation::Statuses(Rc::clone(&set.0)))
    }
}

/// The opaque value of `http.expectedStatuses`.
struct ExpectedStatuses(Rc<Statuses>);

impl NativeClass for ExpectedStatuses {
    const NAME: &'static str = "ExpectedStatuses";
}

/// `http.expectedStatuses(...)`.
pub fn expected_statuses<'js>(ctx: Ctx<'js>, args: Rest<Value<'js>>) -> Result<Object<'js>> {
    if args.0.is_empty() {
        return Err(go_error::throw(&ctx, "no arguments"));
    }
    let mut ranges = Vec::with_capacity(args.0.len());
    for (index, arg) in args.0.iter().enumerate() {
        ranges.push(range(&ctx, index + 1, arg)?);
    }
    native::object(&ctx, ExpectedStatuses(Rc::new(Statuses { ranges })))
}

fn range<'js>(ctx: &Ctx<'js>, number: usize, arg: &Value<'js>) -> Result<(i64, i64)> {
    if arg.is_null() || arg.is_undefined() {
        return Err(Exception::throw_type(ctx, "Cannot convert undefined or null to object"));
    }
    if let Some(status) = whole(arg) {
        return Ok((status, status));
    }
    let neither = || {
        format!(
            "argument number {number} to expectedStatuses was neither an integer nor an object like {{min:100, \
             max:329}}"
        )
    };
    let Some(object) = arg.as_object() else { return Err(go_error::throw(ctx, &neither())) };
    let (min, max): (Value<'js>, Value<'js>) = (object.get("min")?, object.get("max")?);
    if min.is_undefined() || max.is_undefined() {
        return Err(go_error::throw(ctx, &neither()));
    }
    match (whole(&min), whole(&max)) {
        (Some(min), Some(max)) => Ok((min, max)),
        _ => Err(go_error::throw(ctx, &format!("both min and max need to be integers for argument number {number}"))),
    }
}

/// A number without a fraction.
fn whole(value: &Value<'_>) -> Option<i64> {
    let number = value.as_number()?;
    (number.fract() == 0.0 && number.abs() < 9e15).then_some(number as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn judges() {
        let set = Expectation::Statuses(Rc::new(Statuses { ranges: vec![(200, 200), (400, 404)] }));
        let judged: Vec<_> = [0, 199, 200, 201, 399, 400, 404, 405].iter().map(|&s| set.judge(s).unwrap()).collect();
        assert_eq!(judged, [false, false, true, false, false, true, true, false]);
        assert_eq!(
            [0, 199, 200, 399, 400].map(|s| Expectation::Default.judge(s)),
            [Some(false), Some(false), Some(true), Some(true), Some(false)]
        );
        assert_eq!(Expectation::Off.judge(200), None);
    }
}
