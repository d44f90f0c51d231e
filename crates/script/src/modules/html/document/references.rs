//! Character references: `&amp;`, `&#8364;`, `&copy` without its semicolon (HTML standard, 13.2.5.72 and following).

use html5ever::data::{C1_REPLACEMENTS, NAMED_ENTITIES};
use memchr::memchr;

/// The names of references end within so many bytes.
const LONGEST_NAME: usize = 33;

/// Where a text stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ReferencePlace {
    /// Between tags.
    Text,
    /// In the value of an attribute, where `&copy=` is no reference.
    Attribute,
}

/// The text with its references replaced; none when there are none.
pub fn replaced(text: &str, place: ReferencePlace) -> Option<String> {
    let mut at = memchr(b'&', text.as_bytes())?;
    let (mut out, mut done) = (String::with_capacity(text.len()), 0);
    loop {
        out.push_str(&text[done..at]);
        let length = push_reference(&text[at + 1..], place, &mut out);
        if length == 0 {
            out.push('&');
        }
        done = at + 1 + length;
        match memchr(b'&', &text.as_bytes()[done..]) {
            Some(next) => at = done + next,
            None => break,
        }
    }
    out.push_str(&text[done..]);
    Some(out)
}

/// Adds what a reference stands for and gives the length of its text, both without the `&`; 0 when it is none.
fn push_reference(text: &str, place: ReferencePlace, out: &mut String) -> usize {
    match text.as_bytes() {
        [b'#', b'x' | b'X', digits @ ..] => push_number(digits, 2, 16, out),
        [b'#', digits @ ..] => push_number(digits, 1, 10, out),
        [first, ..] if first.is_ascii_alphanumeric() => push_named(text, place, out),
        _ => 0,
    }
}

fn push_number(digits: &[u8], prefix: usize, radix: u32, out: &mut String) -> usize {
    let (mut value, mut count) = (0_u32, 0);
    while let Some(digit) = digits.get(count).and_then(|digit| char::from(*digit).to_digit(radix)) {
        value = value.saturating_mul(radix).saturating_add(digit);
        count += 1;
    }
    if count == 0 {
        return 0;
    }
    let replaced = value.checked_sub(0x80).and_then(|index| *C1_REPLACEMENTS.get(index as usize)?);
    let known = if value == 0 { None } else { replaced.or_else(|| char::from_u32(value)) };
    out.push(known.unwrap_or(char::REPLACEMENT_CHARACTER));
    prefix + count + usize::from(digits.get(count) == Some(&b';'))
}

/// The longest name that is known counts: `&notit;` is `&not` and "it;".
fn push_named(text: &str, place: ReferencePlace, out: &mut String) -> usize {
    let bytes = text.as_bytes();
    let letters = bytes.iter().take(LONGEST_NAME).take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let with_end = letters + usize::from(bytes.get(letters) == Some(&b';'));
    for length in (2..=with_end).rev() {
        // The table has the beginnings of names, too, as names of nothing.
        let Some((first, second)) = NAMED_ENTITIES.get(&text[..length]).copied().filter(|(first, _)| *first != 0)
        else {
            continue;
        };
        let follows = bytes.get(length).is_some_and(|byte| *byte == b'=' || byte.is_ascii_alphanumeric());
        if place == ReferencePlace::Attribute && bytes[length - 1] != b';' && follows {
            return 0;
        }
        out.extend([first, second].into_iter().filter(|code| *code != 0).filter_map(char::from_u32));
        return length;
    }
    0
}
