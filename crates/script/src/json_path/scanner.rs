//! A strict JSON scanner that builds nothing: it steps over values and says what is wrong in the words k6 prints.
//!
//! `response.json()` lets the JavaScript engine parse; only when that fails is the text scanned here for the message.
//! `selector` steps through documents with it. No recursion: a deeply nested document costs heap, not stack.

/// Where a text stops being JSON, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// Bytes read when it was noticed, the offending one included.
    pub offset: usize,
    /// What was found and what was expected.
    pub message: String,
}

/// A position in a text.
pub struct Scanner<'a> {
    text: &'a [u8],
    pos: usize,
}

/// What the scanner inside of a container expects next.
enum Expect {
    Value,
    FirstKeyOrEnd,
    Key,
    FirstValueOrEnd,
    CommaOrEnd,
}

impl<'a> Scanner<'a> {
    /// Starts at the first byte.
    pub fn new(text: &'a [u8]) -> Self {
        Scanner { text, pos: 0 }
    }

    /// Current position.
    pub fn pos(&self) -> usize {
        self.pos
    }

    /// The bytes from `start` to the current position.
    pub fn since(&self, start: usize) -> &'a [u8] {
        debug_assert!(
            start <= self.pos && self.pos <= self.text.len(),
            "{start} to {} of {}",
            self.pos,
            self.text.len()
        );
        &self.text[start..self.pos]
    }

    /// The byte at the current position.
    pub fn peek(&self) -> Option<u8> {
        self.text.get(self.pos).copied()
    }

    /// Steps over one byte that the caller has seen by `peek`.
    pub fn bump(&mut self) {
        debug_assert!(self.pos < self.text.len(), "there is a byte to pass at {}", self.pos);
        self.pos += 1;
    }

    /// Steps over white space.
    pub fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.pos += 1;
        }
    }

    /// Makes sure that nothing but white space is left.
    pub fn end(&mut self) -> Result<(), JsonError> {
        self.space();
        if self.peek().is_some() { Err(self.unexpected("after top-level value")) } else { Ok(()) }
    }

    /// The error for the byte at the current position, or for the end of the text.
    pub fn unexpected(&self, context: &str) -> JsonError {
        match self.peek() {
            None => JsonError { offset: self.text.len(), message: String::from("unexpected end of JSON input") },
            Some(byte) => {
                let message = format!("invalid character {} {context}", quoted(byte));
                JsonError { offset: self.pos + 1, message }
            }
        }
    }

    /// Steps over a whole value.
    pub fn skip_value(&mut self) -> Result<(), JsonError> {
        let mut open: Vec<u8> = Vec::new();
        let mut expect = Expect::Value;
        loop {
            self.space();
            expect = match expect {
                Expect::FirstKeyOrEnd if self.peek() == Some(b'}') => self.close(&mut open),
                Expect::FirstKeyOrEnd | Expect::Key => {
                    self.key()?;
                    Expect::Value
                }
                Expect::FirstValueOrEnd if self.peek() == Some(b']') => self.close(&mut open),
                Expect::FirstValueOrEnd | Expect::Value => self.begin_value(&mut open)?,
                Expect::CommaOrEnd => self.after_value(&mut open)?,
            };
            if open.is_empty() {
                return Ok(());
            }
        }
    }

    /// Steps over a key and its colon; returns the key's bytes between the quotes, escapes as written.
    pub fn key(&mut self) -> Result<&'a [u8], JsonError> {
        if self.peek() != Some(b'"') {
            return Err(self.unexpected("looking for beginning of object key string"));
        }
        let key = self.string()?;
        self.space();
        if self.peek() != Some(b':') {
            return Err(self.unexpected("after object key"));
        }
        self.pos += 1;
        Ok(key)
    }

    /// Steps over a string at the current position; returns the bytes between the quotes, escapes as written.
    pub fn string(&mut self) -> Result<&'a [u8], JsonError> {
        debug_assert_eq!(self.peek(), Some(b'"'), "a string begins here");
        self.pos += 1;
        let start = self.pos;
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => self.escape()?,
                Some(byte) if byte >= 0x20 => self.pos += 1,
                _ => return Err(self.unexpected("in string literal")),
            }
        }
        let inner = self.since(start);
        self.pos += 1;
        Ok(inner)
    }

    fn close(&mut self, open: &mut Vec<u8>) -> Expect {
        self.pos += 1;
        let closed = open.pop();
        debug_assert!(matches!(closed, Some(b'{' | b'[')), "what is closed was opened");
        Expect::CommaOrEnd
    }

    fn begin_value(&mut self, open: &mut Vec<u8>) -> Result<Expect, JsonError> {
        match self.peek() {
            Some(b'{') => {
                self.pos += 1;
                open.push(b'{');
                return Ok(Expect::FirstKeyOrEnd);
            }
            Some(b'[') => {
                self.pos += 1;
                open.push(b'[');
                return Ok(Expect::FirstValueOrEnd);
            }
            Some(b'"') => {
                self.string()?;
            }
            Some(b't') => self.word("true")?,
            Some(b'f') => self.word("false")?,
            Some(b'n') => self.word("null")?,
            Some(b'-' | b'0'..=b'9') => self.number()?,
            _ => return Err(self.unexpected("looking for beginning of value")),
        }
        Ok(Expect::CommaOrEnd)
    }

    fn after_value(&mut self, open: &mut Vec<u8>) -> Result<Expect, JsonError> {
        debug_assert!(!open.is_empty(), "a value that stands alone is the end");
        let in_object = open.last() == Some(&b'{');
        match self.peek() {
            Some(b',') => {
                self.pos += 1;
                Ok(if in_object { Expect::Key } else { Expect::Value })
            }
            Some(b'}') if in_object => Ok(self.close(open)),
            Some(b']') if !in_object => Ok(self.close(open)),
            _ if in_object => Err(self.unexpected("after object key:value pair")),
            _ => Err(self.unexpected("after array element")),
        }
    }

    fn escape(&mut self) -> Result<(), JsonError> {
        self.pos += 1;
        match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.pos += 1,
            Some(b'u') => {
                self.pos += 1;
                for _ in 0..4 {
                    if !self.peek().is_some_and(|b| b.is_ascii_hexdigit()) {
                        return Err(self.unexpected("in \\u hexadecimal character escape"));
                    }
                    self.pos += 1;
                }
            }
            _ => return Err(self.unexpected("in string escape code")),
        }
        Ok(())
    }

    fn word(&mut self, word: &str) -> Result<(), JsonError> {
        for expected in word.bytes() {
            if self.peek() != Some(expected) {
                return Err(self.unexpected(&format!("in literal {word} (expecting '{}')", expected as char)));
            }
            self.pos += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), JsonError> {
        if self.peek() == Some(b'-') {
            self.pos += 1;
        }
        match self.peek() {
            Some(b'0') => self.pos += 1,
            Some(b'1'..=b'9') => self.digits(),
            _ => return Err(self.unexpected("in numeric literal")),
        }
        if self.peek() == Some(b'.') {
            self.pos += 1;
            self.some_digits("after decimal point in numeric literal")?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.pos += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.pos += 1;
            }
            self.some_digits("in exponent of numeric literal")?;
        }
        Ok(())
    }

    fn some_digits(&mut self, context: &str) -> Result<(), JsonError> {
        if !self.peek().is_some_and(|b| b.is_ascii_digit()) {
            return Err(self.unexpected(context));
        }
        self.digits();
        Ok(())
    }

    fn digits(&mut self) {
        while self.peek().is_some_and(|b| b.is_ascii_digit()) {
            self.pos += 1;
        }
    }
}

/// What is wrong with a whole document, with line and character counted as k6 counts them; `None` when it is fine.
pub fn explain(text: &[u8]) -> Option<String> {
    let mut scanner = Scanner::new(text);
    let error = scanner.skip_value().and_then(|()| scanner.end()).err()?;
    debug_assert!(error.offset <= text.len(), "byte {} of {}", error.offset, text.len());
    let before = &text[..error.offset.min(text.len())];
    let line = before.iter().filter(|&&b| b == b'\n').count() + 1;
    let character = before.len() - before.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
    Some(format!("cannot parse json due to an error at line {line}, character {character} , error: {}", error.message))
}

/// Decodes the escapes of a string's inner bytes. Lone surrogates become U+FFFD.
pub fn unescape(inner: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(inner.len());
    let mut at = 0;
    while let Some(&byte) = inner.get(at) {
        at += 1;
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        let Some(&code) = inner.get(at) else { break };
        at += 1;
        match code {
            b'b' => out.push(8),
            b'f' => out.push(12),
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'u' => {
                let (c, used) = unicode_escape(&inner[at..]);
                at += used;
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            }
            other => out.push(other),
        }
    }
    out
}

/// Decodes what follows `\u`, a surrogate pair included; returns the bytes used.
fn unicode_escape(rest: &[u8]) -> (char, usize) {
    let unit = |at: usize| {
        rest.get(at..at + 4)
            .and_then(|hex| std::str::from_utf8(hex).ok())
            .and_then(|hex| u32::from_str_radix(hex, 16).ok())
    };
    let Some(first) = unit(0) else { return (char::REPLACEMENT_CHARACTER, rest.len().min(4)) };
    if (0xd800..0xdc00).contains(&first)
        && rest.get(4..6) == Some(b"\\u")
        && let Some(second @ 0xdc00..0xe000) = unit(6)
    {
        let joined = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
        return (char::from_u32(joined).unwrap_or(char::REPLACEMENT_CHARACTER), 10);
    }
    (char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER), 4)
}

/// A byte as the messages show it.
fn quoted(byte: u8) -> String {
    match byte {
        b'\'' => String::from("'\\''"),
        b'"' => String::from("'\"'"),
        b'\n' => String::from("'\\n'"),
        b'\r' => String::from("'\\r'"),
        b'\t' => String::from("'\\t'"),
        0x20..=0x7e => format!("'{}'", byte as char),
        0x80.. => format!("'{}'", char::from(byte)),
        _ => format!("'\\x{byte:02x}'"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn explains_like_k6() {
        let table: &[(&str, &str)] = &[
            ("", "line 1, character 0 , error: unexpected end of JSON input"),
            ("hello", "line 1, character 1 , error: invalid character 'h' looking for beginning of value"),
            (
                "{\"a\": 1, xx}\n",
                "line 1, character 10 , error: invalid character 'x' looking for beginning of object key string",
            ),
            ("{\"a\" 1}", "line 1, character 6 , error: invalid character '1' after object key"),
            ("[1 2]", "line 1, character 4 , error: invalid character '2' after array element"),
            ("{\"a\":1 2}", "line 1, character 8 , error: invalid character '2' after object key:value pair"),
            ("tru!", "line 1, character 4 , error: invalid character '!' in literal true (expecting 'e')"),
            ("1 1", "line 1, character 3 , error: invalid character '1' after top-level value"),
            ("-x", "line 1, character 2 , error: invalid character 'x' in numeric literal"),
            ("{\"a\":", "line 1, character 5 , error: unexpected end of JSON input"),
        ];
        for (text, expected) in table {
            let found = explain(text.as_bytes()).unwrap();
            assert!(found.ends_with(expected), "{text}: {found}");
        }
    }

    #[test]
    fn accepts_what_is_json() {
        for text in ["null", " [] ", "{}", "{\"a\":[1,-2.5e+3,\"\\u00e9\\n\",{\"b\":false}]}", "0", "\"\""] {
            assert_eq!(explain(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn deep_nesting_needs_no_stack() {
        let deep = "[".repeat(1_000_000);
        assert!(explain(deep.as_bytes()).unwrap().ends_with("unexpected end of JSON input"));
    }

    #[test]
    fn unescapes() {
        assert_eq!(unescape(br#"a\n\"\u00e9\ud83d\ude00\ud800x"#), "a\n\"é😀\u{fffd}x".as_bytes());
    }
}
