//! The parts of the language that not every script uses: made for a user when a module of its script names them.
//!
//! Each user has a runtime of its own and so pays for each class of each part: typed arrays alone are 16 KiB of a
//! user's 200. The text of a module is searched for the names, generously: a name in a comment counts, and so does
//! whatever could make up names (`eval`, `globalThis`, `global`). Native code that hands out a buffer asks for them
//! itself (`bytes::array_buffer`). Invariant: a script cannot tell; whatever it names is there before it runs.

use rquickjs::{Ctx, Result, qjs};

use crate::user::User;

/// A set of parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts(u8);

impl Parts {
    /// ArrayBuffer, the typed arrays, DataView.
    pub const BINARY: Parts = Parts(1);
    /// Map, Set, WeakMap, WeakSet.
    pub const COLLECTIONS: Parts = Parts(2);
    /// Date.
    pub const DATES: Parts = Parts(4);
    /// All of them.
    pub const ALL: Parts = Parts(7);

    /// What this source could use.
    pub fn named_in(source: &str) -> Parts {
        let names = |words: &[&str]| words.iter().any(|word| source.contains(word));
        if names(&["eval", "global", "Function("]) {
            return Parts::ALL;
        }
        let mut parts = Parts::default();
        // `Uint8Array` and its like are the only names in which Array follows a digit or `Clamped`.
        let is_typed = |(at, _): (usize, &str)| {
            source[..at].ends_with(|c: char| c.is_ascii_digit()) || source[..at].ends_with("Clamped")
        };
        if names(&["ArrayBuffer", "DataView"]) || source.match_indices("Array").any(is_typed) {
            parts.0 |= Parts::BINARY.0;
        }
        if names(&["Map", "Set"]) {
            parts.0 |= Parts::COLLECTIONS.0;
        }
        if names(&["Date"]) {
            parts.0 |= Parts::DATES.0;
        }
        parts
    }
}

/// Makes what this source of ours could use.
pub fn for_source(ctx: &Ctx<'_>, source: &str) -> Result<()> {
    add(ctx, Parts::named_in(source))
}

/// Makes what native code needs that is about to hand out a buffer.
pub(crate) fn for_buffers(ctx: &Ctx<'_>) -> Result<()> {
    add(ctx, Parts::BINARY)
}

/// Makes the missing parts.
pub fn add(ctx: &Ctx<'_>, parts: Parts) -> Result<()> {
    let user = User::of(ctx);
    let known = user.runtime.intrinsics.get();
    let missing = parts.0 & !known.0;
    if missing == 0 {
        return Ok(());
    }
    user.runtime.intrinsics.set(Parts(known.0 | missing));
    let context = ctx.as_raw().as_ptr();
    let has = |part: Parts| missing & part.0 != 0;
    // SAFETY: the context is live, and each of them is called once for it.
    unsafe {
        if has(Parts::BINARY) {
            qjs::JS_AddIntrinsicTypedArrays(context);
        }
        if has(Parts::COLLECTIONS) {
            qjs::JS_AddIntrinsicMapSet(context);
        }
        if has(Parts::DATES) {
            qjs::JS_AddIntrinsicDate(context);
        }
    }
    hide(ctx, &user)
}

/// Makes all that the language has, for programs that are no tests.
pub fn add_all(ctx: &Ctx<'_>) -> Result<()> {
    let context = ctx.as_raw().as_ptr();
    // SAFETY: the context is live; making one of them again replaces it.
    unsafe {
        qjs::JS_AddIntrinsicWeakRef(context);
        qjs::JS_AddIntrinsicDOMException(context);
        qjs::JS_AddIntrinsicAToB(context);
        qjs::JS_AddPerformance(context);
    }
    add(ctx, Parts::ALL)
}

/// Takes away the names that scripts of this user do not find; again whenever a part of the language was made.
pub fn hide(ctx: &Ctx<'_>, user: &User) -> Result<()> {
    user.hidden.iter().try_for_each(|name| ctx.globals().remove(*name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found() {
        let both = Parts(Parts::BINARY.0 | Parts::COLLECTIONS.0);
        for (source, expected) in [
            ("http.get('http://h/')", Parts::default()),
            ("Array.isArray(x); new Array(3)", Parts::default()),
            ("new Uint8Array(3)", Parts::BINARY),
            ("x instanceof Uint8ClampedArray", Parts::BINARY),
            ("new DataView(b)", Parts::BINARY),
            ("a instanceof ArrayBuffer", Parts::BINARY),
            ("new WeakMap()", Parts::COLLECTIONS),
            ("new Set([new Float64Array(1)])", both),
            ("Date.now()", Parts::DATES),
            ("globalThis['Uint8' + x]", Parts::ALL),
            ("eval(code)", Parts::ALL),
        ] {
            assert_eq!(Parts::named_in(source), expected, "{source}");
        }
    }
}
