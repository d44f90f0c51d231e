//! Text from outside (names of checks, groups and tags, URLs, messages) as people are shown it: what a terminal would
//! obey, and what would turn the order of characters around, is there as an escape.
//!
//! Used where text is printed and nowhere else: results, JSON and tags hold what the script said. HTML has
//! `html::Text`.

use std::borrow::Cow;
use std::fmt::Write;

/// One line: line breaks and tabs are shown too, as `\n` and `\t`.
pub fn visible(text: &str) -> Cow<'_, str> {
    shown(text, is_hidden)
}

/// Several lines: line feeds and tabs stay what they are.
pub fn visible_lines(text: &str) -> Cow<'_, str> {
    shown(text, |c| is_hidden(c) && !matches!(c, '\n' | '\t'))
}

/// Several lines of a script's own: colours and styles (SGR, ECMA-48 8.3.117) stay as well.
pub fn visible_colored_lines(text: &str) -> Cow<'_, str> {
    if !text.contains('\x1b') {
        return visible_lines(text);
    }
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find("\x1b[") {
        let (before, escape) = rest.split_at(at);
        let style = escape[2..].find(|c: char| !(c.is_ascii_digit() || matches!(c, ';' | ':'))).map(|end| end + 2);
        let end = style.filter(|end| escape[*end..].starts_with('m')).map(|end| end + 1);
        out.push_str(&visible_lines(before));
        match end {
            Some(end) => out.push_str(&escape[..end]),
            None => out.push_str(&visible_lines(&escape[..2])),
        }
        rest = &escape[end.unwrap_or(2)..];
    }
    out.push_str(&visible_lines(rest));
    Cow::Owned(out)
}

/// Appends a character, or its escape.
pub fn push_visible(out: &mut String, c: char) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c if !is_hidden(c) => out.push(c),
        c if c.is_ascii() => write!(out, "\\x{:02x}", u32::from(c)).expect("a string takes any text"),
        c => write!(out, "\\u{:04x}", u32::from(c)).expect("a string takes any text"),
    }
}

fn shown(text: &str, hide: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&hide) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    text.chars().for_each(|c| if hide(c) { push_visible(&mut out, c) } else { out.push(c) });
    Cow::Owned(out)
}

/// Controls (C0, DEL, C1), marks and overrides of direction, separators of lines and paragraphs.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_shown() {
        let text = "a\x1b[31mé\r\nb\tc\u{9b}\u{7f}\0\u{202e}x\u{2066}\\";
        assert_eq!(visible(text), "a\\x1b[31mé\\r\\nb\\tc\\u009b\\x7f\\x00\\u202ex\\u2066\\");
        assert_eq!(visible_lines(text), "a\\x1b[31mé\\r\nb\tc\\u009b\\x7f\\x00\\u202ex\\u2066\\");
        for plain in ["", "naïve — 日本 ✓", "back\\slash"] {
            assert!(matches!(visible(plain), Cow::Borrowed(same) if same == plain), "{plain}");
        }
    }

    #[test]
    fn colours_stay_and_all_other_sequences_are_shown() {
        for (text, expected) in [
            ("\x1b[31mred\x1b[0m\n\x1b[1;38;5;200mx\x1b[m", "\x1b[31mred\x1b[0m\n\x1b[1;38;5;200mx\x1b[m"),
            ("\x1b[2J\x1b[31mx", "\\x1b[2J\x1b[31mx"),
            ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
            ("\x1b[31", "\\x1b[31"),
            ("\x1b[?25l\x1b[", "\\x1b[?25l\\x1b["),
            ("plain\r", "plain\\r"),
        ] {
            assert_eq!(visible_colored_lines(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_character_is_appended_as_it_is_or_as_its_escape() {
        let mut out = String::new();
        for c in ['a', '\n', 'é', '\u{9b}', ' ', '\u{2028}', '\x1b', '\\', '日'] {
            push_visible(&mut out, c);
        }
        assert_eq!(out, "a\\né\\u009b \\u2028\\x1b\\日");
    }
}
