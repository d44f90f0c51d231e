//! `String.prototype.localeCompare` as in k6: by the order of words in dictionaries, not by code units.
//!
//! The order is CLDR's root collation (UTS #35), whatever locale the script names: Go's collator, which k6 uses, gives
//! the same order. QuickJS has no tables of languages and compares code units. Strings that are no well-formed UTF-16
//! are compared with U+FFFD in place of what is not.

use std::cmp::Ordering;

use icu_collator::options::CollatorOptions;
use icu_collator::{Collator, CollatorBorrowed, CollatorPreferences};
use rquickjs::function::{Opt, This};
use rquickjs::object::Property;
use rquickjs::{Ctx, Exception, Function, Object, Result, Value};

use crate::quickjs::text;

thread_local! {
    static ROOT: Option<CollatorBorrowed<'static>> =
        Collator::try_new(CollatorPreferences::default(), CollatorOptions::default()).ok();
}

/// Replaces the engine's own function.
pub(crate) fn install(ctx: &Ctx<'_>) -> Result<()> {
    let string: Object<'_> = ctx.globals().get("String")?;
    let prototype: Object<'_> = string.get("prototype")?;
    let function = Function::new(ctx.clone(), locale_compare)?.with_name("localeCompare")?.with_length(1)?;
    prototype.prop("localeCompare", Property::from(function).writable().configurable())
}

fn locale_compare<'js>(ctx: Ctx<'js>, This(this): This<Value<'js>>, other: Opt<Value<'js>>) -> Result<i32> {
    if this.is_null() || this.is_undefined() {
        return Err(Exception::throw_type(&ctx, "String.prototype.localeCompare called on null or undefined"));
    }
    let other = other.0.unwrap_or_else(|| Value::new_undefined(ctx.clone()));
    let (this, other) = (text::to_text(&ctx, &this)?, text::to_text(&ctx, &other)?);
    Ok(match compare(&this, &other) {
        Ordering::Less => -1,
        Ordering::Equal => 0,
        Ordering::Greater => 1,
    })
}

fn compare(one: &str, other: &str) -> Ordering {
    ROOT.with(|root| root.as_ref().map_or_else(|| one.cmp(other), |root| root.compare(one, other)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In the order that k6 2.2 sorts them in.
    #[test]
    fn words_are_in_the_order_of_dictionaries() {
        let mut words =
            ["resume", "Zebra", "r\u{e9}sum\u{e9}", "apple", "Resume", "\u{c4}pfel", "co-op", "coop", "10", "2", "_x"];
        words.sort_by(|one, other| compare(one, other));
        let expected =
            ["_x", "10", "2", "\u{c4}pfel", "apple", "co-op", "coop", "resume", "Resume", "r\u{e9}sum\u{e9}", "Zebra"];
        assert_eq!(words, expected);
        assert_eq!(compare("e\u{301}", "\u{e9}"), Ordering::Equal, "two spellings of one character");
    }
}
