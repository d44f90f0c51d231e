//! The paths of `response.json(selector)`: the part of gjson's syntax that k6 scripts use.
//!
//! Keys and indexes joined by dots, `\` escapes, wildcards `*` and `?`, `#` (count), `#.rest` (each), queries
//! `#(path op value)` and `#(…)#` with `== = != < <= > >= % !%`, `|`, and the modifiers `@this` and `@reverse`.
//! Refused with a message, never answered wrongly: other modifiers, multipaths `{…}` `[…]`, literals `!…`, `~` values.
//! The document is stepped through once and validated on the way; nothing is built but the answer, which is JSON text.

use std::borrow::Cow;

use super::scanner::{JsonError, Scanner, unescape};
use super::syntax::{Op, PathParser, Step, Token, tokens};

/// Longest path in bytes. Each step is a stack frame, and the stack of a virtual user is small.
const LONGEST: usize = 512;

/// JSON text of the answer.
type Raw<'a> = Cow<'a, [u8]>;

/// A parsed selector.
#[derive(Debug)]
pub struct Selector {
    /// Parts between pipes: each works on what the one before found.
    parts: Vec<Vec<Step>>,
}

impl Selector {
    /// Parses a selector. `Ok(None)`: it can match nothing (an unclosed query). `Err`: syntax that is not supported
    /// yet.
    pub fn parse(path: &str) -> Result<Option<Selector>, String> {
        if path.len() > LONGEST {
            return Err(format!("json selector of {} bytes: expected at most {LONGEST}", path.len()));
        }
        let mut parser = PathParser::new(path);
        let mut parts = Vec::new();
        loop {
            let Some(steps) = parser.steps()? else { return Ok(None) };
            parts.push(steps);
            if parser.done() {
                return Ok(Some(Selector { parts }));
            }
        }
    }

    /// The JSON text that the path leads to. `Ok(None)`: nothing there. `Err`: the document is not JSON.
    pub fn find<'a>(&self, document: &'a [u8]) -> Result<Option<Raw<'a>>, JsonError> {
        let mut scanner = Scanner::new(document);
        let mut found = walk(&mut scanner, &self.parts[0])?;
        scanner.end()?;
        for part in &self.parts[1..] {
            let Some(raw) = found else { return Ok(None) };
            found = walk(&mut Scanner::new(&raw), part)?.map(|raw| Cow::Owned(raw.into_owned()));
        }
        Ok(found)
    }
}

/// Follows `steps` from the value at the scanner's position and leaves the scanner behind that value.
fn walk<'a>(scanner: &mut Scanner<'a>, steps: &[Step]) -> Result<Option<Raw<'a>>, JsonError> {
    scanner.space();
    let start = scanner.pos();
    let Some((step, rest)) = steps.split_first() else {
        scanner.skip_value()?;
        return Ok(Some(Cow::Borrowed(scanner.since(start))));
    };
    match (scanner.peek(), step) {
        (Some(b'{'), Step::Key { pattern, literal }) => {
            in_object(scanner, |key| matches_key(key, pattern, literal), rest)
        }
        (Some(b'{'), Step::Each) => in_object(scanner, |key| key == b"#", rest),
        (Some(b'['), Step::Key { literal: Some(literal), .. }) => match index(literal) {
            Some(wanted) => nth(scanner, wanted, rest),
            None => nothing(scanner),
        },
        (Some(b'['), Step::Each) => each(scanner, rest),
        (Some(b'['), Step::Query { left, test, all }) => query(scanner, left, test.as_ref(), *all, rest),
        (_, Step::Reverse) => {
            scanner.skip_value()?;
            let turned = reversed(scanner.since(start))?;
            Ok(walk(&mut Scanner::new(&turned), rest)?.map(|raw| Cow::Owned(raw.into_owned())))
        }
        _ => nothing(scanner),
    }
}

fn nothing<'a>(scanner: &mut Scanner<'a>) -> Result<Option<Raw<'a>>, JsonError> {
    scanner.skip_value()?;
    Ok(None)
}

/// The first member whose key is wanted and under which the rest of the path leads somewhere.
fn in_object<'a>(
    scanner: &mut Scanner<'a>,
    wanted: impl Fn(&[u8]) -> bool,
    rest: &[Step],
) -> Result<Option<Raw<'a>>, JsonError> {
    let mut found = None;
    scanner.bump();
    scanner.space();
    if scanner.peek() == Some(b'}') {
        scanner.bump();
        return Ok(None);
    }
    loop {
        scanner.space();
        let key = scanner.key()?;
        if found.is_none() && wanted(key) {
            found = walk(scanner, rest)?;
        } else {
            scanner.skip_value()?;
        }
        scanner.space();
        match scanner.peek() {
            Some(b',') => scanner.bump(),
            Some(b'}') => break,
            _ => return Err(scanner.unexpected("after object key:value pair")),
        }
    }
    scanner.bump();
    Ok(found)
}

/// Calls `visit` with the scanner before each element of the array; it has to step over the element.
fn elements<'a>(
    scanner: &mut Scanner<'a>,
    mut visit: impl FnMut(&mut Scanner<'a>) -> Result<(), JsonError>,
) -> Result<(), JsonError> {
    scanner.bump();
    scanner.space();
    if scanner.peek() == Some(b']') {
        scanner.bump();
        return Ok(());
    }
    loop {
        visit(scanner)?;
        scanner.space();
        match scanner.peek() {
            Some(b',') => scanner.bump(),
            Some(b']') => break,
            _ => return Err(scanner.unexpected("after array element")),
        }
    }
    scanner.bump();
    Ok(())
}

fn nth<'a>(scanner: &mut Scanner<'a>, wanted: usize, rest: &[Step]) -> Result<Option<Raw<'a>>, JsonError> {
    let mut found = None;
    let mut at = 0;
    elements(scanner, |scanner| {
        if at == wanted {
            found = walk(scanner, rest)?;
        } else {
            scanner.skip_value()?;
        }
        at += 1;
        Ok(())
    })?;
    Ok(found)
}

/// `#`: the count, or what the rest of the path finds in each element, as an array.
fn each<'a>(scanner: &mut Scanner<'a>, rest: &[Step]) -> Result<Option<Raw<'a>>, JsonError> {
    let mut count = 0;
    let mut all = Vec::from(*b"[");
    elements(scanner, |scanner| {
        count += 1;
        if rest.is_empty() {
            return scanner.skip_value();
        }
        if let Some(raw) = walk(scanner, rest)? {
            append(&mut all, &raw);
        }
        Ok(())
    })?;
    if rest.is_empty() {
        return Ok(Some(Cow::Owned(count.to_string().into_bytes())));
    }
    all.push(b']');
    Ok(Some(Cow::Owned(all)))
}

fn query<'a>(
    scanner: &mut Scanner<'a>,
    left: &[Step],
    test: Option<&(Op, Vec<u8>)>,
    all: bool,
    rest: &[Step],
) -> Result<Option<Raw<'a>>, JsonError> {
    let mut first = None;
    let mut decided = false;
    let mut gathered = Vec::from(*b"[");
    elements(scanner, |scanner| {
        scanner.space();
        let start = scanner.pos();
        scanner.skip_value()?;
        let element = scanner.since(start);
        if (decided && !all) || !holds(element, left, test)? {
            return Ok(());
        }
        decided = true;
        let raw = walk(&mut Scanner::new(element), rest)?;
        match raw {
            Some(raw) if all => append(&mut gathered, &raw),
            raw => first = raw,
        }
        Ok(())
    })?;
    if !all {
        return Ok(first);
    }
    gathered.push(b']');
    Ok(Some(Cow::Owned(gathered)))
}

fn append(array: &mut Vec<u8>, raw: &[u8]) {
    if array.len() > 1 {
        array.push(b',');
    }
    array.extend_from_slice(raw);
}

/// Whether an element passes the test of a query. The element's own type decides how the value is compared.
fn holds(element: &[u8], left: &[Step], test: Option<&(Op, Vec<u8>)>) -> Result<bool, JsonError> {
    let Some(value) = walk(&mut Scanner::new(element), left)? else { return Ok(false) };
    let Some((op, right)) = test else { return Ok(true) };
    Ok(match value.first() {
        Some(b'"') => {
            let left = unescape(&value[1..value.len() - 1]);
            match op {
                Op::Like => like(&left, &tokens(right)),
                Op::NotLike => !like(&left, &tokens(right)),
                _ => ordered(*op, Some(left.as_slice().cmp(right.as_slice()))),
            }
        }
        Some(b'-' | b'0'..=b'9') => ordered(*op, number(&value).partial_cmp(&number(right))),
        Some(b't' | b'f') => {
            let right = if right == b"true" {
                Some(true)
            } else if right == b"false" {
                Some(false)
            } else {
                None
            };
            let left = value.first() == Some(&b't');
            match right {
                Some(right) => ordered(*op, Some(left.cmp(&right))),
                None => *op == Op::NotEqual || (left && *op == Op::GreaterOrEqual) || (!left && *op == Op::LessOrEqual),
            }
        }
        _ => false,
    })
}

/// A number as gjson reads the value of a query: 0 when it is not a number.
fn number(text: &[u8]) -> f64 {
    std::str::from_utf8(text).ok().and_then(|t| t.parse().ok()).unwrap_or(0.0)
}

fn ordered(op: Op, order: Option<std::cmp::Ordering>) -> bool {
    let Some(order) = order else { return op == Op::NotEqual };
    match op {
        Op::Equal => order.is_eq(),
        Op::NotEqual => order.is_ne(),
        Op::Less => order.is_lt(),
        Op::LessOrEqual => order.is_le(),
        Op::Greater => order.is_gt(),
        Op::GreaterOrEqual => order.is_ge(),
        Op::Like | Op::NotLike => false,
    }
}

fn matches_key(raw: &[u8], pattern: &[Token], literal: &Option<Vec<u8>>) -> bool {
    let key: Cow<'_, [u8]> = if raw.contains(&b'\\') { Cow::Owned(unescape(raw)) } else { Cow::Borrowed(raw) };
    match literal {
        Some(literal) => *key == **literal,
        None => like(&key, pattern),
    }
}

/// Wildcard match in linear space and at worst quadratic time: only the last `*` is ever retried.
fn like(text: &[u8], pattern: &[Token]) -> bool {
    let (mut t, mut p) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    loop {
        match pattern.get(p) {
            Some(Token::Many) => {
                retry = Some((t, p + 1));
                p += 1;
                continue;
            }
            Some(Token::One) if t < text.len() => {
                t += char_width(text[t]).min(text.len() - t);
                p += 1;
                continue;
            }
            Some(Token::Byte(byte)) if text.get(t) == Some(byte) => {
                t += 1;
                p += 1;
                continue;
            }
            None if t == text.len() => return true,
            _ => {}
        }
        let Some((from, after)) = retry else { return false };
        if from >= text.len() {
            return false;
        }
        retry = Some((from + 1, after));
        (t, p) = (from + 1, after);
    }
}

/// Bytes of the UTF-8 character that starts with this byte.
fn char_width(first: u8) -> usize {
    match first {
        0xc0..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xff => 4,
        _ => 1,
    }
}

fn index(literal: &[u8]) -> Option<usize> {
    if literal.is_empty() || !literal.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(literal).ok()?.parse().ok()
}

/// An array's elements or an object's members in reverse order; anything else as it is.
fn reversed(value: &[u8]) -> Result<Vec<u8>, JsonError> {
    let mut pieces: Vec<&[u8]> = Vec::new();
    let mut scanner = Scanner::new(value);
    let close = match scanner.peek() {
        Some(b'[') => {
            elements(&mut scanner, |scanner| {
                scanner.space();
                let start = scanner.pos();
                scanner.skip_value()?;
                pieces.push(scanner.since(start));
                Ok(())
            })?;
            b']'
        }
        Some(b'{') => {
            members(&mut scanner, &mut pieces)?;
            b'}'
        }
        _ => return Ok(value.to_vec()),
    };
    let mut out = vec![value[0]];
    for piece in pieces.iter().rev() {
        append(&mut out, piece);
    }
    out.push(close);
    Ok(out)
}

/// The `"key": value` pieces of an object that is known to be well formed.
fn members<'a>(scanner: &mut Scanner<'a>, pieces: &mut Vec<&'a [u8]>) -> Result<(), JsonError> {
    scanner.bump();
    scanner.space();
    while scanner.peek().is_some_and(|b| b != b'}') {
        let start = scanner.pos();
        scanner.key()?;
        scanner.skip_value()?;
        pieces.push(scanner.since(start));
        scanner.space();
        if scanner.peek() == Some(b',') {
            scanner.bump();
            scanner.space();
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOC: &str = r#"{"a": {"b": [1, 2, {"c": "x"}]}, "n": 1.5, "t": true, "z": null, "f.n": {"first": "T"},
        "friends": [{"first": "Dale", "age": 44}, {"first": "Roger", "age": 68}, {"first": "Jane", "age": 47}]}"#;

    fn find(path: &str) -> Option<String> {
        let selector = Selector::parse(path).unwrap()?;
        selector.find(DOC.as_bytes()).unwrap().map(|raw| String::from_utf8(raw.into_owned()).unwrap())
    }

    /// Answers taken from k6 2.2.0.
    #[test]
    fn answers_like_k6() {
        let table: &[(&str, Option<&str>)] = &[
            ("a.b", Some(r#"[1, 2, {"c": "x"}]"#)),
            ("a.b.0", Some("1")),
            ("a.b.2.c", Some(r#""x""#)),
            ("a.b.#", Some("3")),
            ("n", Some("1.5")),
            ("z", Some("null")),
            ("nope", None),
            (r"f\.n.first", Some(r#""T""#)),
            ("friends.#.first", Some(r#"["Dale","Roger","Jane"]"#)),
            (r#"friends.#(first=="Jane").age"#, Some("47")),
            (r#"friends.#(first="Jane").age"#, Some("47")),
            (r#"friends.#[first=="Dale"].age"#, Some("44")),
            ("friends.#(age>45)#.first", Some(r#"["Roger","Jane"]"#)),
            (r#"friends.#(age>"45")#.first"#, Some(r#"["Roger","Jane"]"#)),
            ("friends.#(age>45).first", Some(r#""Roger""#)),
            ("friends.#(age<=44).first", Some(r#""Dale""#)),
            ("friends.1.first", Some(r#""Roger""#)),
            ("friends.00.first", Some(r#""Dale""#)),
            ("friends.-1", None),
            ("friends.9", None),
            ("friends.@reverse.0.first", Some(r#""Jane""#)),
            ("fri*.0.first", Some(r#""Dale""#)),
            ("friends.*.age", None),
            ("friends.0.*", Some(r#""Dale""#)),
            ("n?pe", None),
            ("f?.n", None),
            ("", None),
            ("..", None),
            ("n.", None),
            (".n", None),
            ("a..b", None),
            (r#"friends.#(first%"D*").age"#, Some("44")),
            (r#"friends.#(first!%"D*")#.first"#, Some(r#"["Roger","Jane"]"#)),
            (r#"friends.#(first!="Dale")#.age"#, Some("[68,47]")),
            ("friends.#(age>=47)#|#", Some("2")),
            ("friends|0|first", Some(r#""Dale""#)),
            ("friends.#(nope)#", Some("[]")),
            ("friends.#.nope", Some("[]")),
            ("friends.#.#", Some("[]")),
            ("friends.#(first)#.age", Some("[44,68,47]")),
            ("friends.#(age>40)#.first.0", Some("[]")),
            ("friends.#(age>40)#|0.first", Some(r#""Dale""#)),
            ("friends.#.first|0", Some(r#""Dale""#)),
            ("friends.#.first|#", Some("3")),
            ("a.b.#.c", Some(r#"["x"]"#)),
            ("a.b.#(>1)", Some("2")),
            ("a.b.#(=1)", Some("1")),
            ("*.b.#", Some("3")),
            ("n.x", None),
            ("t.x", None),
            ("friends.first", None),
            (r#"friends.#(first=="Jane""#, None),
            ("friends.#(", None),
            ("friends.##", None),
            ("friends.#x", None),
            (" n", None),
        ];
        for (path, expected) in table {
            assert_eq!(find(path).as_deref(), *expected, "{path}");
        }
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        for path in ["{n,t}", "[n,t]", "!\"x\"", "a.@pretty", "friends.#(t==~true)#"] {
            let message = Selector::parse(path).unwrap_err();
            assert!(message.contains("not supported yet"), "{message}");
        }
    }

    #[test]
    fn a_broken_document_is_an_error_even_behind_the_answer() {
        let selector = Selector::parse("a").unwrap().unwrap();
        assert!(selector.find(b"{\"a\": 1, xx}").is_err());
        assert!(selector.find(b"{\"a\": 1} x").is_err());
    }

    #[test]
    fn escaped_keys_match() {
        let selector = Selector::parse("é.\"").unwrap().unwrap();
        assert_eq!(selector.find(br#"{"\u00e9": {"\"": 7}}"#).unwrap().as_deref(), Some(&b"7"[..]));
    }
}
