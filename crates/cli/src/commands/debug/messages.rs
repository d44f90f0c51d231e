//! Messages of the Debug Adapter Protocol: a head with `Content-Length`, an empty line, JSON.
//!
//! A message that is no JSON can be skipped, because its length is known; a head that cannot be read ends the stream.
//! Neither is trusted with more than `MOST_BYTES`.

use std::io::{self, BufRead, Read, Write};
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

/// Bytes of a message at most; editors send some kilobytes.
const MOST_BYTES: usize = 16 << 20;
/// Bytes of a line of a head.
const LONGEST_LINE: u64 = 4096;

/// What an editor has sent.
#[derive(Debug, PartialEq)]
pub enum EditorMessage {
    /// A document, as it was sent.
    Json(Value),
    /// Something else, and what is wrong with it.
    Unreadable(String),
}

/// The next message; nothing at the end of the stream, and an error when it is not known where the next one begins.
pub fn read(input: &mut impl BufRead) -> Result<Option<EditorMessage>, String> {
    let Some(length) = head(input)? else { return Ok(None) };
    let mut bytes = vec![0; length];
    input.read_exact(&mut bytes).map_err(|error| format!("a message of {length} bytes was cut short: {error}"))?;
    Ok(Some(match serde_json::from_slice(&bytes) {
        Ok(message) => EditorMessage::Json(message),
        Err(error) => EditorMessage::Unreadable(format!("a message of {length} bytes is no JSON: {error}")),
    }))
}

/// The length that a head names.
fn head(input: &mut impl BufRead) -> Result<Option<usize>, String> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        let read = input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line);
        read.map_err(|error| format!("cannot read a message: {error}"))?;
        let text = String::from_utf8_lossy(&line);
        match text.trim_end() {
            "" if line.is_empty() => {
                return if length.is_none() { Ok(None) } else { Err(String::from("the stream ends in a head")) };
            }
            "" if length.is_some() => return Ok(length),
            // Blank lines between messages do no harm.
            "" => {}
            text => {
                let expected = "expected a head such as 'Content-Length: 123'";
                let field = text.split_once(':').ok_or_else(|| format!("found '{}', {expected}", shown(text)))?;
                if field.0.trim().eq_ignore_ascii_case("content-length") {
                    let number = field.1.trim().parse().ok().filter(|length| *length <= MOST_BYTES);
                    let most = MOST_BYTES;
                    let wrong = || format!("found '{}', expected a Content-Length of at most {most}", shown(text));
                    length = Some(number.ok_or_else(wrong)?);
                }
            }
        }
    }
}

fn shown(text: &str) -> String {
    ::report::visible_lines(&text.chars().take(80).collect::<String>()).into_owned()
}

/// Writes a message with its head.
pub fn write(output: &mut impl Write, message: &Value) -> io::Result<()> {
    let text = message.to_string();
    write!(output, "Content-Length: {}\r\n\r\n{text}", text.len())?;
    output.flush()
}

/// Writes a message as a line.
pub fn write_line(output: &mut impl Write, message: &Value) -> io::Result<()> {
    output.write_all(format!("{message}\n").as_bytes())
}

/// The answer to a request that was done.
pub fn done(request: &Value, body: Value) -> Value {
    json!({
        "type": "response", "request_seq": request["seq"], "command": request["command"],
        "success": true, "body": body,
    })
}

/// The answer to a request that was not.
pub fn refused(request: &Value, why: &str) -> Value {
    json!({
        "type": "response", "request_seq": request["seq"], "command": request["command"],
        "success": false, "message": why,
        "body": { "error": { "id": 1, "format": "{why}", "variables": { "why": why }, "showUser": true } },
    })
}

/// News that nobody has asked for.
pub fn event(name: &str, body: Value) -> Value {
    json!({ "type": "event", "event": name, "body": body })
}

/// Where messages to the editor go; threads share it. Each message gets the next number.
pub struct Editor<W> {
    output: Mutex<(W, u64)>,
}

impl<W: Write> Editor<W> {
    /// Messages go there.
    pub fn new(output: W) -> Self {
        Editor { output: Mutex::new((output, 0)) }
    }

    /// Sends a message. An editor that is gone does not hear it; the end of its own stream says so.
    pub fn send(&self, mut message: Value) {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        output.1 += 1;
        message["seq"] = output.1.into();
        let _gone = write(&mut output.0, &message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> (Vec<EditorMessage>, Option<String>) {
        let (mut input, mut came) = (text.as_bytes(), Vec::new());
        loop {
            match read(&mut input) {
                Ok(Some(incoming)) => came.push(incoming),
                Ok(None) => return (came, None),
                Err(why) => return (came, Some(why)),
            }
        }
    }

    #[test]
    fn messages_are_read_one_after_the_other() {
        let text = "Content-Length: 7\r\n\r\n{\"a\":1}Content-Type: x\r\ncontent-length: 3\r\n\r\n{a}\r\n";
        let (came, end) = all(text);
        assert_eq!(came[0], EditorMessage::Json(json!({ "a": 1 })));
        assert!(
            matches!(&came[1], EditorMessage::Unreadable(why) if why.starts_with("a message of 3 bytes is no JSON"))
        );
        assert_eq!((came.len(), end), (2, None));
    }

    #[test]
    fn a_head_that_cannot_be_read_ends_the_stream() {
        let whys = ["hello\n", "Content-Length: x\r\n", "Content-Length: 99999999999\n", "Content-Length: 5\r\n\r\n{}"];
        let whys = whys.map(|text| all(text).1.expect("no message"));
        assert_eq!(whys[0], "found 'hello', expected a head such as 'Content-Length: 123'");
        assert_eq!(whys[1], "found 'Content-Length: x', expected a Content-Length of at most 16777216");
        assert!(whys[2].contains("at most 16777216") && whys[3].starts_with("a message of 5 bytes was cut short"));
    }

    #[test]
    fn what_is_written_can_be_read() {
        let editor = Editor::new(Vec::new());
        editor.send(event("stopped", json!({ "text": "é" })));
        editor.send(done(&json!({ "seq": 4, "command": "next" }), json!({})));
        let written = editor.output.into_inner().expect("whole").0;
        let (came, end) = all(&String::from_utf8(written).expect("text"));
        let EditorMessage::Json(second) = &came[1] else { panic!("{came:?}") };
        assert_eq!((&second["seq"], &second["request_seq"], end), (&json!(2), &json!(4), None));
    }
}
