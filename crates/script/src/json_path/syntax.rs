//! The syntax of selectors: text to steps. What the steps find is `selector`'s business.
//!
//! Refused with a message: syntax that gjson has and we do not. A query that is never closed is no error: in gjson, and
//! so in k6, it finds nothing.

use super::scanner::unescape;

/// One component of a path.
#[derive(Debug)]
pub enum Step {
    /// Key of an object or index of an array.
    Key {
        /// What the key has to look like.
        pattern: Vec<Token>,
        /// The key itself when there are no wildcards.
        literal: Option<Vec<u8>>,
    },
    /// `#`: the count at the end of a path, else the rest of the path for each element.
    Each,
    /// `#(…)` or, with `all`, `#(…)#`.
    Query {
        /// Path to what is tested, inside of an element.
        left: Vec<Step>,
        /// Operator and value; without, what `left` leads to has to be there.
        test: Option<(Op, Vec<u8>)>,
        /// All elements that pass, not only the first.
        all: bool,
    },
    /// `@reverse`; `@this` leaves no step.
    Reverse,
}

/// One character of a pattern.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Token {
    /// Itself.
    Byte(u8),
    /// `?`
    One,
    /// `*`
    Many,
}

/// How a query compares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Op {
    /// `=`, `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `%`
    Like,
    /// `!%`
    NotLike,
}

/// Reads steps from a text.
pub struct PathParser<'p> {
    path: &'p [u8],
    at: usize,
    whole: &'p str,
}

impl<'p> PathParser<'p> {
    /// At the start of a selector.
    pub fn new(whole: &'p str) -> Self {
        PathParser { path: whole.as_bytes(), at: 0, whole }
    }

    /// Whether all is read; else steps over the pipe that ended the last part.
    pub fn done(&mut self) -> bool {
        let done = self.at >= self.path.len();
        self.at += 1;
        done
    }

    /// The steps up to a pipe or the end.
    pub fn steps(&mut self) -> Result<Option<Vec<Step>>, String> {
        let mut steps = Vec::new();
        loop {
            match self.path.get(self.at) {
                Some(b'{' | b'[' | b'!') => return Err(self.unsupported("multipaths and literals")),
                Some(b'@') => {
                    if let Some(step) = self.modifier()? {
                        steps.push(step);
                    }
                }
                Some(b'#') if matches!(self.path.get(self.at + 1), Some(b'(' | b'[')) => match self.query()? {
                    Some(step) => steps.push(step),
                    None => return Ok(None),
                },
                Some(b'#') if matches!(self.path.get(self.at + 1), None | Some(b'.' | b'|')) => {
                    self.at += 1;
                    steps.push(Step::Each);
                }
                _ => steps.push(self.key()),
            }
            match self.path.get(self.at) {
                Some(b'.') => self.at += 1,
                Some(b'|') | None => return Ok(Some(steps)),
                // Something right behind a query: `#(a==1)x` leads nowhere.
                Some(_) => return Ok(None),
            }
        }
    }

    fn unsupported(&self, what: &str) -> String {
        format!(
            "json selector {:?}: {what} are not supported yet; parse the document with json() and select in JavaScript",
            self.whole
        )
    }

    fn key(&mut self) -> Step {
        let mut pattern = Vec::new();
        while let Some(&byte) = self.path.get(self.at) {
            match byte {
                b'.' | b'|' => break,
                b'*' => pattern.push(Token::Many),
                b'?' => pattern.push(Token::One),
                b'\\' => {
                    self.at += 1;
                    pattern.extend(self.path.get(self.at).map(|&b| Token::Byte(b)));
                }
                _ => pattern.push(Token::Byte(byte)),
            }
            self.at += 1;
        }
        self.at = self.at.min(self.path.len());
        let literal = pattern.iter().map(|t| if let Token::Byte(b) = t { Some(*b) } else { None }).collect();
        Step::Key { pattern, literal }
    }

    fn modifier(&mut self) -> Result<Option<Step>, String> {
        let rest = &self.path[self.at..];
        let end = rest.iter().position(|b| matches!(b, b'.' | b'|')).unwrap_or(rest.len());
        let step = match &rest[..end] {
            b"@this" => None,
            b"@reverse" => Some(Step::Reverse),
            _ => return Err(self.unsupported("modifiers other than @this and @reverse")),
        };
        self.at += end;
        Ok(step)
    }

    fn query(&mut self) -> Result<Option<Step>, String> {
        let start = self.at + 2;
        let Some(end) = closing(self.path, start) else { return Ok(None) };
        let inner = &self.path[start..end];
        self.at = end + 1;
        let all = self.path.get(self.at) == Some(&b'#');
        self.at += usize::from(all);
        let (left, test) = split_test(inner);
        let test = match test {
            Some((_, value)) if value.first() == Some(&b'~') => return Err(self.unsupported("~ values")),
            Some((op, value)) => Some((op, unquote(value))),
            None => None,
        };
        let left = left.trim_ascii();
        let steps = if left.is_empty() {
            Some(Vec::new())
        } else {
            PathParser { path: left, at: 0, whole: self.whole }.steps()?
        };
        Ok(steps.map(|left| Step::Query { left, test, all }))
    }
}

/// Position of the bracket that closes the one before `start`.
fn closing(path: &[u8], start: usize) -> Option<usize> {
    let mut depth = 1;
    let mut at = start;
    while let Some(&byte) = path.get(at) {
        match byte {
            b'\\' => at += 1,
            b'"' => at = end_of_quotes(path, at)?,
            b'(' | b'[' => depth += 1,
            b')' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

fn end_of_quotes(path: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    while let Some(&byte) = path.get(at) {
        match byte {
            b'\\' => at += 1,
            b'"' => return Some(at),
            _ => {}
        }
        at += 1;
    }
    None
}

/// Splits the inside of a query at its operator. Operators inside nested brackets belong to the nested query.
fn split_test(inner: &[u8]) -> (&[u8], Option<(Op, &[u8])>) {
    let mut depth = 0;
    let mut at = 0;
    while let Some(&byte) = inner.get(at) {
        match byte {
            b'\\' => at += 1,
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth -= 1,
            b'=' | b'!' | b'<' | b'>' | b'%' if depth == 0 => {
                let (op, width) = operator(&inner[at..]);
                return (&inner[..at], op.map(|op| (op, inner[at + width..].trim_ascii())));
            }
            _ => {}
        }
        at += 1;
    }
    (inner, None)
}

fn operator(text: &[u8]) -> (Option<Op>, usize) {
    match (text[0], text.get(1)) {
        (b'=', Some(b'=')) => (Some(Op::Equal), 2),
        (b'=', _) => (Some(Op::Equal), 1),
        (b'!', Some(b'=')) => (Some(Op::NotEqual), 2),
        (b'!', Some(b'%')) => (Some(Op::NotLike), 2),
        (b'<', Some(b'=')) => (Some(Op::LessOrEqual), 2),
        (b'<', _) => (Some(Op::Less), 1),
        (b'>', Some(b'=')) => (Some(Op::GreaterOrEqual), 2),
        (b'>', _) => (Some(Op::Greater), 1),
        (b'%', _) => (Some(Op::Like), 1),
        _ => (None, 1),
    }
}

fn unquote(value: &[u8]) -> Vec<u8> {
    match value {
        [b'"', inner @ .., b'"'] => unescape(inner),
        _ => value.to_vec(),
    }
}

/// A pattern as the value of `%` gives it.
pub fn tokens(pattern: &[u8]) -> Vec<Token> {
    let mut out = Vec::with_capacity(pattern.len());
    let mut bytes = pattern.iter();
    while let Some(&byte) = bytes.next() {
        out.push(match byte {
            b'*' => Token::Many,
            b'?' => Token::One,
            b'\\' => Token::Byte(*bytes.next().unwrap_or(&b'\\')),
            _ => Token::Byte(byte),
        });
    }
    out
}
