//! Received WebSocket messages on their way to a log, one line of JSON each, with what `record` of `onrush/delay` said
//! of them.
//!
//! A line is begun before the handlers of its message run and handed over when they have, also when they threw. Whoever
//! runs the test says where lines go; they must be taken without waiting. Nothing of this happens, but for one look,
//! when nobody asked.

use std::borrow::Cow;
use std::io::Write;
use std::rc::Rc;

use base64_simd::STANDARD;
use host::messages::Note;
use serde_json::json;

use crate::Vu;
use crate::message_sink::MessageLines;

/// The log of one connection.
pub struct MessageLog {
    lines: Rc<dyn MessageLines>,
    url: Box<str>,
}

/// A message whose handlers run; its line is handed over when this is dropped.
pub struct Logged<'a> {
    lines: &'a dyn MessageLines,
    vu: &'a Vu,
    line: Vec<u8>,
    outer: Option<Note>,
}

impl MessageLog {
    /// Of a connection to this address, if messages are logged.
    pub fn of(vu: &Vu, url: &str) -> Option<MessageLog> {
        let lines = vu.worker.messages(&vu.shared)?;
        Some(MessageLog { lines, url: vu.mask().url(url).into() })
    }

    /// A message arrived, and its handlers are about to be called.
    pub fn begin<'a>(&'a self, vu: &'a Vu, arrived_ns: u64, is_text: bool, data: &[u8]) -> Logged<'a> {
        let kind = if is_text { "text" } else { "binary" };
        let data = match is_text {
            true => String::from_utf8_lossy(data),
            false => Cow::Owned(STANDARD.encode_to_string(data)),
        };
        let iteration = vu.iteration();
        let scenario = iteration.as_ref().map(|iteration| iteration.scenario.name.as_str());
        let mut line = Vec::with_capacity(data.len() + 160);
        let told = write!(
            line,
            r#"{{"t":{},"vu":{},"scenario":{},"url":{},"kind":"{kind}","data":{}"#,
            vu.test_time(arrived_ns) / 1000,
            vu.context().map_or_else(|| vu.id(), |context| context.id_in_test),
            json!(scenario),
            json!(self.url),
            json!(data),
        );
        told.expect("memory takes what is written to it");
        Logged { lines: &*self.lines, vu, line, outer: vu.messages.replace_note(None) }
    }
}

impl Drop for Logged<'_> {
    fn drop(&mut self) {
        if let Some(Note { event, stamps }) = self.vu.messages.replace_note(self.outer.take()) {
            // Stamps are whole numbers as a rule, and then look like them.
            let stamps: Vec<serde_json::Value> = stamps
                .iter()
                .map(|stamp| if stamp.fract() == 0.0 { json!(*stamp as i64) } else { json!(stamp) })
                .collect();
            let told = write!(self.line, r#","event":{},"stamps":{}"#, json!(event), json!(stamps));
            told.expect("memory takes what is written to it");
        }
        self.line.extend_from_slice(b"}\n");
        self.lines.put(&self.line);
    }
}
