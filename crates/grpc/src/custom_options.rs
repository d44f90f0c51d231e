//! The text of a .proto file without its custom options, `option (name) = …;` and `[(name) = …]`.
//!
//! They say nothing about messages. Lines and columns of the rest stay as they are.

use std::ops::Range;

use crate::editions::tokens;

/// The text with blanks in place of custom options.
pub(crate) fn without_custom_options(source: &str) -> String {
    let tokens = tokens(source);
    let word = |at: usize| tokens.get(at).map_or("", |token: &Range<usize>| &source[token.clone()]);
    let (mut gone, mut at) = (Vec::new(), 0);
    while at < tokens.len() {
        match (word(at), word(at + 1)) {
            ("option", "(") => {
                let end = end_of_value(&word, at, &[";"]);
                gone.push(at..end + 1);
                at = end;
            }
            // Brackets of a field; those of values are inside of what is skipped.
            ("[", _) => at = bracketed(&word, at, &mut gone),
            _ => {}
        }
        at += 1;
    }
    blanked(source, &tokens, gone)
}

/// Notes the custom options in brackets; where the closing one is.
fn bracketed<'a>(word: &impl Fn(usize) -> &'a str, open: usize, gone: &mut Vec<Range<usize>>) -> usize {
    let (mut at, mut kept, mut custom) = (open + 1, 0, Vec::new());
    while !matches!(word(at), "]" | "") {
        let end = end_of_value(word, at, &[",", "]"]);
        match word(at) {
            // Its comma goes with it: the one in front, where an option stays there, else the one behind.
            "(" if kept > 0 => custom.push(at - 1..end),
            "(" => custom.push(at..end + 1),
            _ => kept += 1,
        }
        at = if word(end) == "," { end + 1 } else { end };
    }
    match kept {
        0 => gone.push(open..at + 1),
        _ => gone.extend(custom),
    }
    at
}

/// Where one of these signs ends what begins here, outside of any brackets.
fn end_of_value<'a>(word: &impl Fn(usize) -> &'a str, start: usize, ends: &[&str]) -> usize {
    let (mut at, mut depth) = (start, 0_usize);
    loop {
        match word(at) {
            "" => return at,
            end if depth == 0 && ends.contains(&end) => return at,
            "{" | "[" | "(" => depth += 1,
            "}" | "]" | ")" => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
}

fn blanked(source: &str, tokens: &[Range<usize>], gone: Vec<Range<usize>>) -> String {
    let mut text = source.as_bytes().to_vec();
    for range in gone {
        let gone = &tokens[range.start..range.end.min(tokens.len())];
        let (Some(first), Some(last)) = (gone.first(), gone.last()) else { continue };
        text[first.start..last.end].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
    }
    // Whole tokens went, so what is left is whole, too.
    String::from_utf8_lossy(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn custom_options_go_and_all_else_stays_in_its_place() {
        let of = |text: &str| without_custom_options(text);
        assert_eq!(of("option (a) = { b: [1, 2]; c { d: \"}\" } };\nx"), format!("{}\nx", " ".repeat(41)));
        assert_eq!(of("int32 a = 1 [(x) = 1];"), "int32 a = 1          ;");
        assert_eq!(
            of("a = 1 [(x).y = { z: [1] }, deprecated = true, (w) = -inf];").replace(' ', ""),
            "a=1[deprecated=true];"
        );
        assert_eq!(of("a = 1 [default = 2, (x) = \"]\", (y) = 1];").replace(' ', ""), "a=1[default=2];");
        let plain = "option java_package = \"(\"; // [(x) = 1]\nextensions 4 [declaration = { number: 4 }];";
        assert_eq!(of(plain), plain);
        for broken in ["option (", "a [(", "[", "a = 1 [(x", "option (a) = {"] {
            of(broken);
        }
    }
}
