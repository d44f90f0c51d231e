//! Readers of the target that have no other way out of this crate, for `cargo xtask fuzz`.
//!
//! Each function reads one input and says which promise was broken.

use crate::distribution::{Distribution, LONGEST};
use crate::range::{self, Asked};
use crate::request;
use crate::routes::form;

fn text(input: &[u8]) -> String {
    String::from_utf8_lossy(input).into_owned()
}

/// A `Range` header, of bodies of several lengths, against the grammar of RFC 9110 written once more.
pub fn range(input: &[u8]) -> Result<(), String> {
    let header = text(input);
    for total in [0, 1, 10, 1 << 40] {
        let (found, expected) = (range::parse(&header, total), by_grammar(&header, total));
        if found != expected {
            return Err(format!("{header:?} of {total} bytes: {found:?}, by the grammar {expected:?}"));
        }
    }
    Ok(())
}

/// `int-range / suffix-range`, with numbers of any length.
fn by_grammar(header: &str, total: u64) -> Asked {
    let Some(range) = header.strip_prefix("bytes=") else { return Asked::Whole };
    let digits = range.bytes().take_while(u8::is_ascii_digit).count();
    let (first, rest) = range.split_at(digits);
    let Some(last) = rest.strip_prefix('-') else { return Asked::Whole };
    if !last.bytes().all(|byte| byte.is_ascii_digit()) || (first.is_empty() && last.is_empty()) {
        return Asked::Whole;
    }
    let number = |digits: &str| {
        digits.bytes().fold(0_u128, |sum, digit| sum.saturating_mul(10).saturating_add(u128::from(digit - b'0')))
    };
    let (from, to, end) = (number(first), number(last), u128::from(total));
    let part = |from: u128, end: u128| Asked::Part(from as u64, end as u64);
    match (first.is_empty(), last.is_empty()) {
        (true, _) if to == 0 => Asked::Outside,
        // An empty body has no part, and nothing that could be left out.
        (true, _) if total == 0 => Asked::Whole,
        (true, _) => part(end.saturating_sub(to), end),
        (_, false) if u64::try_from(to).unwrap_or(u64::MAX) < u64::try_from(from).unwrap_or(u64::MAX) => Asked::Whole,
        _ if from >= end => Asked::Outside,
        (_, true) => part(from, end),
        _ => part(from, end.min(to.saturating_add(1))),
    }
}

/// A content type on the first line, then a body. Besides, the lines of the input as a form that is written here must
/// come back.
pub fn form(input: &[u8]) -> Result<(), String> {
    let at = input.iter().position(|byte| *byte == b'\n').unwrap_or(input.len());
    let body = input.get(at + 1..).unwrap_or_default();
    if let Err(why) = form::read(&text(&input[..at]), body)
        && why.is_empty()
    {
        return Err(String::from("an error without a text"));
    }
    // Names that browsers would write in another way are another subject's: here it is about boundaries.
    let plain: String = text(&input[..at]).chars().filter(|c| c.is_alphanumeric()).collect();
    let content = text(body);
    if content.contains("\r\n--b") || content.starts_with("--b") {
        return Ok(());
    }
    let written = format!(
        "--b\r\nContent-Disposition: form-data; name=\"{plain}\"\r\n\r\n{content}\r\n--b\r\nContent-Disposition: \
         form-data; name=\"f\"; filename=\"{plain}\"\r\nContent-Type: text/plain\r\n\r\n{content}\r\n--b--\r\n"
    );
    let read = form::read("multipart/form-data; boundary=b", written.as_bytes())?;
    let (field, file) = (read.form.get(&plain), read.files.get("f"));
    let expected = Some(vec![content]);
    if field == expected.as_ref() && file == expected.as_ref() {
        return Ok(());
    }
    Err(format!("{written:?} reads as {field:?} and {file:?}"))
}

/// Laws of waiting times and arguments of routes: what is accepted keeps to the longest wait.
pub fn waits(input: &[u8]) -> Result<(), String> {
    let text = text(input);
    let wait = |text: &str| request::duration("t", text).ok();
    let Some(law) = Distribution::parse(&text, wait) else { return Ok(()) };
    for n in 0..8 {
        let (drawn, again) = (law.draw(7, n), law.draw(7, n));
        if drawn > LONGEST || drawn != again {
            return Err(format!("{text:?} draws {drawn:?}, then {again:?}"));
        }
    }
    Ok(())
}
