//! Refuses sources that are nested deeper than anybody writes, before the parser calls itself for each level.
//!
//! The parser has no limit of its own. 50,000 levels cost it 150 MB of stack, and 5,000 type arguments that are opened
//! and never closed, each of which it reads in several ways, 1.6 GB. This looks at brackets alone, and skips strings
//! and comments; where it takes a regular expression for something else it counts too little, and the parser has the
//! last word.

use crate::error::{Place, ScriptError, exit_code};

/// Brackets that may be open at once.
const DEEPEST: usize = 5000;

/// Angle brackets that may be open at once between two semicolons or braces, without being closed by one of their kind.
const MOST_UNCLOSED: usize = 500;

/// An error when the source is nested too deeply.
pub fn check(name: &str, text: &str) -> Result<(), ScriptError> {
    match too_deep(text) {
        None => Ok(()),
        Some((at, what)) => Err(refusal(Place::of_offset(name, text, at), &what)),
    }
}

fn refusal(place: Place, what: &str) -> ScriptError {
    let message = format!("SyntaxError: {what}; long data belongs in a file, for JSON.parse(open('data.json'))");
    ScriptError { message, place: Some(place), stack: String::new(), exit_code: exit_code::SCRIPT_EXCEPTION }
}

/// Where it is too deep, and how.
fn too_deep(text: &str) -> Option<(usize, String)> {
    let (bytes, mut at) = (text.as_bytes(), 0);
    let (mut depth, mut angles) = (0_usize, 0_usize);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' | b'\'' | b'`' => at = end_of_string(bytes, at),
            b'/' if bytes.get(at + 1) == Some(&b'/') => at += length_to(&bytes[at + 1..], b"\n"),
            b'/' if bytes.get(at + 1) == Some(&b'*') => at += 1 + length_to(&bytes[at + 2..], b"*/"),
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b'<' => angles += 1,
            b'>' if bytes.get(at.wrapping_sub(1)) != Some(&b'=') => angles = angles.saturating_sub(1),
            _ => {}
        }
        if matches!(byte, b';' | b'{' | b'}') {
            angles = 0;
        }
        debug_assert!(angles <= DEEPEST + 1 && depth <= DEEPEST + 1, "the first level too many is refused");
        if depth > DEEPEST || angles > DEEPEST {
            return Some((at, format!("nested deeper than {DEEPEST} levels")));
        }
        if byte == b'<' && angles == MOST_UNCLOSED + 1 && !has_closing(&bytes[at..]) {
            return Some((at, format!("more than {MOST_UNCLOSED} times '<' without '>'")));
        }
        at += 1;
    }
    None
}

/// Whether `>` comes before the statement ends.
fn has_closing(rest: &[u8]) -> bool {
    let end = rest.iter().position(|byte| matches!(byte, b';' | b'{' | b'}' | b'>'));
    end.is_some_and(|end| rest[end] == b'>')
}

/// Where the string that begins here ends: at its quote, or a quoted one at the end of its line.
fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let quote = bytes[start];
    let mut at = start + 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 1,
            b'\n' if quote != b'`' => return at,
            _ if byte == quote => return at,
            _ => {}
        }
        at += 1;
    }
    at
}

/// How far it is to the end of this text, or to the end of everything.
fn length_to(bytes: &[u8], text: &[u8]) -> usize {
    bytes.windows(text.len()).position(|window| window == text).map_or(bytes.len(), |at| at + text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deep_sources_are_refused_with_their_place() {
        let deep = |open: &str, close: &str, levels: usize| {
            format!("let a =\n{}1{}", open.repeat(levels), close.repeat(levels))
        };
        for (open, close) in [("[", "]"), ("(", ")"), ("{a:", "}"), ("f<", ">")] {
            assert!(check("x.ts", &deep(open, close, 5000)).is_ok(), "{open}");
            let error = check("x.ts", &deep(open, close, 50_000)).unwrap_err();
            assert_eq!(
                error.message,
                "SyntaxError: nested deeper than 5000 levels; long data belongs in a file, for \
                 JSON.parse(open('data.json'))"
            );
            assert_eq!(error.place.map(|place| place.line), Some(2));
        }
        let error = check("x.ts", &"mise<".repeat(5000)).unwrap_err();
        assert!(error.message.starts_with("SyntaxError: more than 500 times '<' without '>'; "), "{}", error.message);
    }

    #[test]
    fn text_and_comparisons_are_no_nesting() {
        for text in [
            format!("const a = '{}', b = \"{0}\", c = `\n{0}`;", "([{<".repeat(6000)),
            format!("// {}\n/* {0} */ 1", "([{<".repeat(6000)),
            "if (a < b) { c = a << 3; }\n".repeat(6000),
            "const f = (x) => x < 3;\n".repeat(6000),
            "'it\\'s' + \"([{\";\n".repeat(6000),
        ] {
            assert!(check("x.ts", &text).is_ok(), "{}", &text[..30]);
        }
    }
}
