//! Which parts of the language a script can use, told from its text.
//!
//! The text of a module is searched for the names, generously: a name in a comment counts, and so does whatever could
//! make up names (`eval`, `globalThis`, `global`).

/// A set of parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts(pub(crate) u8);

impl Parts {
    /// ArrayBuffer, the typed arrays, DataView.
    pub const BINARY: Parts = Parts(1);
    /// Map, Set, WeakMap, WeakSet.
    pub const COLLECTIONS: Parts = Parts(2);
    /// Date.
    pub const DATES: Parts = Parts(4);
    /// `String.prototype.localeCompare` by the rules of languages.
    pub const COLLATION: Parts = Parts(16);
    /// All that k6 has too.
    pub const ALL: Parts = Parts(7 | 16);
    /// WeakRef, DOMException, base64 functions, performance.
    pub(crate) const BEYOND_K6: Parts = Parts(8);

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
        if names(&["localeCompare"]) {
            parts.0 |= Parts::COLLATION.0;
        }
        if names(&["Date"]) {
            parts.0 |= Parts::DATES.0;
        }
        parts
    }
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
            ("words.sort((a, b) => a.localeCompare(b))", Parts::COLLATION),
            ("globalThis['Uint8' + x]", Parts::ALL),
            ("eval(code)", Parts::ALL),
        ] {
            assert_eq!(Parts::named_in(source), expected, "{source}");
        }
    }
}
