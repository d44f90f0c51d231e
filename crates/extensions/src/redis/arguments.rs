//! From arguments of a script to the bytes of a request: an array of bulk strings (RESP, "Sending commands").

use host::bytes;
use host::js::{Coerced, Ctx, FromJs, Result, Value};
use host::kind::Kind;

/// The bytes of a request.
#[derive(Clone, Debug)]
pub struct Request {
    bytes: Vec<u8>,
    /// Where the first argument lies: the key that a cluster decides by.
    key: Option<(usize, usize)>,
}

impl Request {
    /// Of the words of a command.
    pub fn of(words: &[&str]) -> Request {
        let mut words_of = Words::new(words[0]);
        words[1..].iter().for_each(|word| words_of.push(word.as_bytes()));
        words_of.request()
    }

    /// What is sent.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The first argument.
    pub fn key(&self) -> Option<&[u8]> {
        self.key.map(|(start, end)| &self.bytes[start..end])
    }
}

/// A request that is being written.
pub struct Words {
    count: usize,
    body: Vec<u8>,
    key: Option<(usize, usize)>,
}

impl Words {
    /// A command without arguments.
    pub fn new(command: &str) -> Words {
        let mut words = Words { count: 0, body: Vec::with_capacity(64), key: None };
        words.push(command.as_bytes());
        words
    }

    /// Adds a word.
    pub fn push(&mut self, word: &[u8]) {
        self.body.push(b'$');
        self.body.extend_from_slice(word.len().to_string().as_bytes());
        self.body.extend_from_slice(b"\r\n");
        let start = self.body.len();
        self.body.extend_from_slice(word);
        self.body.extend_from_slice(b"\r\n");
        self.count += 1;
        if self.count == 2 {
            self.key = Some((start, start + word.len()));
        }
    }

    /// The whole.
    pub fn request(self) -> Request {
        let mut bytes = format!("*{}\r\n", self.count).into_bytes();
        let key = self.key.map(|(start, end)| (start + bytes.len(), end + bytes.len()));
        bytes.extend_from_slice(&self.body);
        Request { bytes, key }
    }
}

/// A value that is stored: text, a number or a boolean; none for anything else.
pub fn stored<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<Option<Vec<u8>>> {
    Ok(match Kind::of(value) {
        Kind::Text(_) => Some(bytes::to_text(ctx, value)?.into_bytes()),
        Kind::Bool(flag) => Some(Vec::from(if flag { "1" } else { "0" })),
        Kind::Number(number) => Some(number_text(number).into_bytes()),
        _ => None,
    })
}

/// A whole number as Go reads it from a script: what is no number is 0.
pub fn whole<'js>(ctx: &Ctx<'js>, value: Option<&Value<'js>>) -> Result<i64> {
    let Some(value) = value.filter(|value| !value.is_undefined()) else { return Ok(0) };
    Ok(Coerced::<f64>::from_js(ctx, value.clone())?.0 as i64)
}

/// Without an exponent, as Go writes numbers to Redis.
fn number_text(number: f64) -> String {
    match number {
        number if number.is_nan() => String::from("NaN"),
        number if number.is_infinite() => String::from(if number > 0.0 { "+Inf" } else { "-Inf" }),
        number => format!("{number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_arrays_of_bulk_strings() {
        let request = Request::of(&["SET", "key", "ü"]);
        assert_eq!(request.bytes(), "*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$2\r\nü\r\n".as_bytes());
        assert_eq!(request.key(), Some(b"key".as_slice()));
        assert_eq!(Request::of(&["PING"]).key(), None);
    }

    #[test]
    fn numbers_are_written_in_full() {
        let texts = [1e21, 12.5, -3.0, 1e-7, f64::NAN, f64::NEG_INFINITY].map(number_text);
        assert_eq!(texts, ["1000000000000000000000", "12.5", "-3", "0.0000001", "NaN", "-Inf"]);
    }
}
