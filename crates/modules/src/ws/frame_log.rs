//! The option `wsDebug`: each frame of a WebSocket as a log line, with direction, opcode, size and the beginning of its
//! payload.
//!
//! Frames are shown as they are on the wire (`wire::ws::FrameWatch`): fragments one by one, and a compressed payload
//! not at all. Costs one branch a message when it is off.

use std::fmt::Write;
use std::rc::{Rc, Weak};

use host::Phase;
use host::log::{Level, Record};
use wire::client::WebSocket;
use wire::ws::{FrameDirection, FrameWatch, PassingFrame};

use script::Vu;

/// Bytes of a binary payload that are shown.
const BINARY: usize = 32;

/// Shows the frames of one connection.
struct FrameLog {
    user: Weak<Vu>,
    url: String,
}

/// Shows the frames of a connection to this address, when the options say so.
pub fn watch(vu: &Vu, socket: &mut WebSocket, url: &str) {
    if vu.options().ws_debug == Some(true) && vu.is_debugged() {
        socket.watch(Rc::new(FrameLog { user: vu.weak(), url: vu.mask().url(url).into_owned() }));
    }
}

impl FrameWatch for FrameLog {
    fn passed(&self, frame: &PassingFrame) {
        let Some(vu) = self.user.upgrade() else { return };
        let (number, group) = (vu.id().to_string(), vu.group());
        let before = if vu.phase() == Phase::Iteration { vu.iterations_before() } else { 0 }.to_string();
        let iteration = vu.iteration().filter(|_| vu.phase() == Phase::Iteration);
        let mut fields = vec![("group", &*group), ("iter", before.as_str())];
        fields.extend(iteration.as_ref().map(|iteration| ("scenario", iteration.scenario.name.as_str())));
        fields.extend([("source", "ws-debug"), ("url", self.url.as_str()), ("vu", number.as_str())]);
        vu.log().log(&Record { level: Level::Info, message: &line(frame), fields: &fields });
    }
}

/// `Sent: text, 5 bytes: hello`
fn line(frame: &PassingFrame) -> String {
    let PassingFrame { direction, opcode, fin, compressed, size, beginning } = frame;
    let way = match direction {
        FrameDirection::Sent => "Sent",
        FrameDirection::Received => "Received",
    };
    let mut line = format!("{way}: {opcode}, {}", units::show::counted(*size as usize, "byte"));
    line.push_str(if *compressed { ", compressed" } else { "" });
    line.push_str(if *fin { "" } else { ", to be continued" });
    if *compressed || beginning.is_empty() {
        return line;
    }
    let shown = match (*opcode, beginning.as_slice()) {
        ("close", [high, low, reason @ ..]) => {
            let code = u16::from_be_bytes([*high, *low]);
            format!("{code} {}", String::from_utf8_lossy(reason)).trim_end().to_owned()
        }
        ("binary", bytes) => hex(&bytes[..bytes.len().min(BINARY)]),
        (_, bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            // Cut within a character.
            Err(error) if error.error_len().is_none() => String::from_utf8_lossy(&bytes[..error.valid_up_to()]).into(),
            Err(_) => hex(&bytes[..bytes.len().min(BINARY)]),
        },
    };
    let all = if *opcode == "binary" { beginning.len().min(BINARY) } else { beginning.len() };
    let _ = write!(line, ": {shown}{}", if (all as u64) < *size { "…" } else { "" });
    line
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_one_line() {
        let frame = |opcode: &'static str, size: u64, beginning: &[u8]| PassingFrame {
            direction: FrameDirection::Received,
            opcode,
            fin: true,
            compressed: false,
            size,
            beginning: beginning.to_vec(),
        };
        assert_eq!(line(&frame("text", 5, b"hello")), "Received: text, 5 bytes: hello");
        assert_eq!(line(&frame("text", 900, "héé".as_bytes())), "Received: text, 900 bytes: héé…");
        assert_eq!(line(&frame("text", 900, &"hé".as_bytes()[..2])), "Received: text, 900 bytes: h…");
        assert_eq!(line(&frame("binary", 3, &[0, 255, 16])), "Received: binary, 3 bytes: 00 ff 10");
        assert!(line(&frame("binary", 99, &[7; 99])).ends_with(" 07 07…"));
        assert_eq!(line(&frame("close", 5, b"\x03\xe8bye")), "Received: close, 5 bytes: 1000 bye");
        assert_eq!(line(&frame("ping", 0, b"")), "Received: ping, 0 bytes");
        let part = PassingFrame { fin: false, direction: FrameDirection::Sent, ..frame("text", 1, b"a") };
        assert_eq!(line(&part), "Sent: text, 1 byte, to be continued: a");
        let packed = PassingFrame { compressed: true, ..frame("text", 7, b"\x01") };
        assert_eq!(line(&packed), "Received: text, 7 bytes, compressed");
    }
}
