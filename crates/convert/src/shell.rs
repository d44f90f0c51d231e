//! A pasted command line, split into words as a POSIX shell would: what browsers' "copy as cURL" gives.
//!
//! Quotes, backslashes, line ends behind a backslash, `$'…'` with its escapes. Nothing is expanded: a `$name`, a
//! backtick or an operator outside of quotes means that the text is more than one command, and is refused.

use std::iter::Peekable;
use std::str::Chars;

/// The words of a command. The error says what was found.
pub fn split(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut splitter = WordSplitter { rest: text.chars().peekable() };
    while let Some(word) = splitter.word()? {
        words.push(word);
    }
    Ok(words)
}

struct WordSplitter<'a> {
    rest: Peekable<Chars<'a>>,
}

impl WordSplitter<'_> {
    fn word(&mut self) -> Result<Option<String>, String> {
        self.skip_blank();
        if matches!(self.rest.peek(), None | Some('#')) {
            return Ok(None);
        }
        let mut word = Vec::new();
        while let Some(c) = self.rest.next_if(|c| !c.is_whitespace()) {
            match c {
                '\'' => self.until_quote(&mut word)?,
                '"' => self.double_quoted(&mut word)?,
                '\\' => match self.rest.next() {
                    Some('\n') => {}
                    Some(c) => push(&mut word, c),
                    None => return Err("the command ends with a backslash: the rest of it is missing".into()),
                },
                '$' if self.rest.next_if_eq(&'\'').is_some() => self.dollar_quoted(&mut word)?,
                '$' | '`' if self.begins_expansion(c) => return Err(expansion(c)),
                '^' if matches!(self.rest.peek(), Some('"' | '\n' | '\r')) => {
                    return Err("this is a command for Windows' cmd: copy it as cURL (bash)".into());
                }
                '|' | '&' | ';' | '<' | '>' | '(' | ')' => {
                    return Err(format!("found {c} outside of quotes: quote it, or paste the curl command alone"));
                }
                c => push(&mut word, c),
            }
        }
        String::from_utf8(word).map(Some).map_err(|_| {
            "a word is not UTF-8 text: put its bytes into a file and send it with --data-binary @file".into()
        })
    }

    /// Spaces, and line ends behind a backslash.
    fn skip_blank(&mut self) {
        loop {
            while self.rest.next_if(|c| c.is_whitespace()).is_some() {}
            let mut ahead = self.rest.clone();
            match (ahead.next(), ahead.next(), ahead.next()) {
                (Some('\\'), Some('\n'), _) => {
                    self.rest.nth(1);
                }
                (Some('\\'), Some('\r'), Some('\n')) => {
                    self.rest.nth(2);
                }
                _ => return,
            }
        }
    }

    fn begins_expansion(&mut self, c: char) -> bool {
        c == '`' || self.rest.peek().is_some_and(|c| c.is_alphanumeric() || "_{(".contains(*c))
    }

    fn until_quote(&mut self, word: &mut Vec<u8>) -> Result<(), String> {
        loop {
            match self.rest.next() {
                Some('\'') => return Ok(()),
                Some(c) => push(word, c),
                None => return Err(open('\'')),
            }
        }
    }

    fn double_quoted(&mut self, word: &mut Vec<u8>) -> Result<(), String> {
        loop {
            match self.rest.next() {
                Some('"') => return Ok(()),
                Some('\\') => match self.rest.next() {
                    Some('\n') => {}
                    Some(c @ ('"' | '\\' | '$' | '`')) => push(word, c),
                    Some(c) => {
                        word.push(b'\\');
                        push(word, c);
                    }
                    None => return Err(open('"')),
                },
                Some(c @ ('$' | '`')) if self.begins_expansion(c) => return Err(expansion(c)),
                Some(c) => push(word, c),
                None => return Err(open('"')),
            }
        }
    }

    /// `$'…'`: C's escapes, bytes by `\xHH` and octal digits, characters by `\uHHHH`.
    fn dollar_quoted(&mut self, word: &mut Vec<u8>) -> Result<(), String> {
        loop {
            let c = match self.rest.next() {
                Some('\'') => return Ok(()),
                Some('\\') => self.rest.next().ok_or_else(|| open('\''))?,
                Some(c) => {
                    push(word, c);
                    continue;
                }
                None => return Err(open('\'')),
            };
            match c {
                'n' => word.push(b'\n'),
                'r' => word.push(b'\r'),
                't' => word.push(b'\t'),
                'a' => word.push(7),
                'b' => word.push(8),
                'f' => word.push(12),
                'v' => word.push(11),
                'e' | 'E' => word.push(27),
                'x' => word.push(self.number(16, 2, 'x')? as u8),
                'u' | 'U' => self.character(if c == 'u' { 4 } else { 8 }, word)?,
                '0'..='7' => {
                    let first = c.to_digit(8).expect("an octal digit");
                    word.push(self.digits(8, 2).iter().fold(first, |number, digit| number * 8 + digit) as u8);
                }
                '\\' | '\'' | '"' | '?' => push(word, c),
                // A shell keeps what it does not know.
                c => {
                    word.push(b'\\');
                    push(word, c);
                }
            }
        }
    }

    fn character(&mut self, digits: usize, word: &mut Vec<u8>) -> Result<(), String> {
        let mut code = self.number(16, digits, 'u')?;
        // Browsers write characters beyond U+FFFF as two halves.
        if (0xD800..0xDC00).contains(&code) {
            let mut ahead = self.rest.clone();
            if (ahead.next(), ahead.next()) == (Some('\\'), Some('u')) {
                self.rest = ahead;
                let low = self.number(16, 4, 'u')?;
                code = low.wrapping_sub(0xDC00).wrapping_add(0x10000 + ((code - 0xD800) << 10));
            }
        }
        let c = char::from_u32(code).ok_or_else(|| format!("found \\u{code:04x}, which is no character"))?;
        push(word, c);
        Ok(())
    }

    fn number(&mut self, radix: u32, most: usize, letter: char) -> Result<u32, String> {
        let digits = self.digits(radix, most);
        if digits.is_empty() {
            return Err(format!("found \\{letter} without digits in $'…'"));
        }
        Ok(digits.iter().fold(0, |number: u32, digit| number.wrapping_mul(radix) + digit))
    }

    fn digits(&mut self, radix: u32, most: usize) -> Vec<u32> {
        let mut digits = Vec::new();
        while digits.len() < most
            && let Some(digit) = self.rest.peek().and_then(|c| c.to_digit(radix))
        {
            digits.push(digit);
            self.rest.next();
        }
        digits
    }
}

fn push(word: &mut Vec<u8>, c: char) {
    word.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
}

fn open(quote: char) -> String {
    format!("a {quote} is not closed: the rest of the command is missing")
}

fn expansion(c: char) -> String {
    format!("found {c} outside of single quotes: nothing is expanded here; write its value")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_a_shells() {
        let table: &[(&str, &[&str])] = &[
            ("curl a  b\tc\n", &["curl", "a", "b", "c"]),
            ("curl 'a b' \\\n  -H 'c: d' \\\r\n 'e'", &["curl", "a b", "-H", "c: d", "e"]),
            (r#"a"b c"'d e'f\ g"#, &["ab cd ef g"]),
            (r#""\"\\\$\`\n""#, &[r#""\$`\n"#]),
            ("'' \"\"", &["", ""]),
            (r"$'a\'b\\\n\t\x41\101\u00e9\u20ac'", &["a'b\\\n\tAAé€"]),
            (r"$'\ud83d\ude00\U0001F600\xc3\xa9\q'", &["😀😀é\\q"]),
            ("'it'\\''s'", &["it's"]),
            ("'{\"a\":\"$x\"}' a$ 5$", &["{\"a\":\"$x\"}", "a$", "5$"]),
            ("a#b # the rest\n", &["a#b"]),
            ("--data-raw $'a\nb'", &["--data-raw", "a\nb"]),
        ];
        for (text, expected) in table {
            let words = split(text).expect(text);
            assert_eq!(words.iter().map(String::as_str).collect::<Vec<_>>(), *expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_single_command_is_refused() {
        for (text, found) in [
            ("curl 'a", "a ' is not closed"),
            ("curl \"a", "a \" is not closed"),
            ("curl $'a\\'", "a ' is not closed"),
            ("curl a \\", "ends with a backslash"),
            ("curl $URL", "found $ outside of single quotes"),
            ("curl \"${URL}\"", "found $ outside of single quotes"),
            ("curl `x`", "found ` outside of single quotes"),
            ("curl a | jq .", "found | outside of quotes"),
            ("curl http://h/?a=1&b=2", "found & outside of quotes"),
            ("curl ^\"http://h/^\"", "copy it as cURL (bash)"),
            ("curl $'\\xff'", "not UTF-8"),
            ("curl $'\\u'", "without digits"),
        ] {
            let message = split(text).expect_err(text);
            assert!(message.contains(found), "{text}: {message}");
        }
    }
}
