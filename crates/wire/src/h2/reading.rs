//! Frames from bytes, however they were cut.
//!
//! Content is handed on as it comes; only other frames are put together, and only when a read cut them. Invariant: no
//! frame is larger than this side allows.

use super::error_code::*;
use super::frame::*;
use super::session::Http2Session;

/// DATA frames without content or end, on one stream.
const MAX_EMPTY_FRAMES: u32 = 10_000;

/// Where in a frame the reading is.
pub(super) struct Reading {
    at: FramePart,
    /// The head or payload that a read has cut.
    partial: Vec<u8>,
    /// The block of fields that goes on in the next frame.
    pub(super) block: Option<OpenBlock>,
    pub(super) has_settings: bool,
    pub(super) has_acknowledgement: bool,
}

#[derive(Clone, Copy)]
enum FramePart {
    Head,
    Payload(FrameHead),
    Content(DataFrame),
}

#[derive(Clone, Copy)]
struct DataFrame {
    stream: u32,
    content: usize,
    padding: usize,
    is_padding_known: bool,
    is_last: bool,
    /// Nobody wants it.
    is_unwanted: bool,
}

/// A block of fields of which more is to come.
pub(super) struct OpenBlock {
    pub(super) stream: u32,
    pub(super) is_last: bool,
    pub(super) bytes: Vec<u8>,
    pub(super) frames: usize,
}

impl Reading {
    pub(super) fn new() -> Reading {
        Reading {
            at: FramePart::Head,
            partial: Vec::new(),
            block: None,
            has_settings: false,
            has_acknowledgement: false,
        }
    }
}

impl Http2Session {
    /// Takes bytes in; the fault ends the connection.
    pub(crate) fn feed(&mut self, mut bytes: &[u8]) -> Result<(), ConnectionFault> {
        loop {
            match self.reading.at {
                FramePart::Head => {
                    let Some(head) = self.read_head(&mut bytes) else { return Ok(()) };
                    self.begin_frame(&head)?;
                    if head.kind != DATA {
                        self.reading.at = FramePart::Payload(head);
                    }
                }
                FramePart::Payload(head) => {
                    if self.reading.partial.is_empty()
                        && let Some(payload) = bytes.split_off(..head.len)
                    {
                        self.reading.at = FramePart::Head;
                        self.take_frame(&head, payload)?;
                        continue;
                    }
                    if !self.gather(&mut bytes, head.len) {
                        return Ok(());
                    }
                    self.reading.at = FramePart::Head;
                    let mut payload = std::mem::take(&mut self.reading.partial);
                    self.take_frame(&head, &payload)?;
                    payload.clear();
                    self.reading.partial = payload;
                }
                FramePart::Content(frame) => {
                    if bytes.is_empty() {
                        return Ok(());
                    }
                    self.take_content(frame, &mut bytes)?;
                }
            }
        }
    }

    /// Bytes until there are so many.
    fn gather(&mut self, bytes: &mut &[u8], len: usize) -> bool {
        let partial = &mut self.reading.partial;
        let missing = bytes.split_off(..bytes.len().min(len - partial.len())).unwrap_or_default();
        partial.extend_from_slice(missing);
        partial.len() == len
    }

    fn read_head(&mut self, bytes: &mut &[u8]) -> Option<FrameHead> {
        if self.reading.partial.is_empty()
            && let Some((head, rest)) = bytes.split_first_chunk()
        {
            *bytes = rest;
            return Some(FrameHead::read(head));
        }
        if !self.gather(bytes, HEAD) {
            return None;
        }
        let head = self.reading.partial.first_chunk().map(FrameHead::read);
        self.reading.partial.clear();
        head
    }

    fn begin_frame(&mut self, head: &FrameHead) -> Result<(), ConnectionFault> {
        if head.len > DEFAULT_MAX_FRAME {
            return Err(FRAME_SIZE);
        }
        if !self.reading.has_settings && (head.kind != SETTINGS || head.has(ACK)) {
            return Err(PROTOCOL);
        }
        let continues = self.reading.block.as_ref().map(|block| block.stream);
        let is_next = head.kind == CONTINUATION;
        if is_next != continues.is_some() || continues.is_some_and(|stream| stream != head.stream) {
            return Err(PROTOCOL);
        }
        if head.kind == DATA { self.begin_content(head) } else { Ok(()) }
    }

    /// A stream that this side has opened: anything else is against the rules.
    pub(super) fn check_opened(&self, stream: u32) -> Result<(), ConnectionFault> {
        if stream.is_multiple_of(2) || stream >= self.next_stream { Err(PROTOCOL) } else { Ok(()) }
    }

    fn begin_content(&mut self, head: &FrameHead) -> Result<(), ConnectionFault> {
        self.check_opened(head.stream)?;
        if !self.receive_window.take(head.len) {
            return Err(FLOW_CONTROL);
        }
        self.receive_window.release(head.len);
        if let Some(by) = self.receive_window.increment() {
            self.queue.put(|out| push_number(out, WINDOW_UPDATE, 0, by));
        }
        let mut wanted = self.place(head.stream).filter(|at| self.streams[*at].end.is_none());
        if let Some(at) = wanted.take_if(|at| !self.streams[*at].has_head) {
            self.break_stream(at, PROTOCOL_ERROR);
        }
        if let Some(at) = wanted {
            let stream = &mut self.streams[at];
            if !stream.content.window.take(head.len) {
                return Err(FLOW_CONTROL);
            }
            if let Some(by) = stream.content.window.increment() {
                self.queue.put(|out| push_number(out, WINDOW_UPDATE, head.stream, by));
            }
        }
        if head.has(PADDED) && head.len == 0 {
            return Err(PROTOCOL);
        }
        let frame = DataFrame {
            stream: head.stream,
            content: head.len,
            padding: 0,
            is_padding_known: !head.has(PADDED),
            is_last: head.has(END_STREAM),
            is_unwanted: wanted.is_none(),
        };
        if head.len == 0 { self.end_content(frame, true) } else { self.go_on(frame) }
    }

    fn go_on(&mut self, frame: DataFrame) -> Result<(), ConnectionFault> {
        self.reading.at = FramePart::Content(frame);
        Ok(())
    }

    /// The next bytes of a DATA frame.
    fn take_content(&mut self, mut frame: DataFrame, bytes: &mut &[u8]) -> Result<(), ConnectionFault> {
        if !frame.is_padding_known {
            let padding = bytes.split_off_first().map_or(0, |padding| usize::from(*padding));
            let content = (frame.content - 1).checked_sub(padding).ok_or(PROTOCOL)?;
            frame = DataFrame { content, padding, is_padding_known: true, ..frame };
            if content == 0 {
                return self.end_content(frame, true);
            }
            return self.go_on(frame);
        }
        let content = bytes.split_off(..bytes.len().min(frame.content)).unwrap_or_default();
        frame.content -= content.len();
        if !content.is_empty()
            && !frame.is_unwanted
            && let Some(at) = self.place(frame.stream)
        {
            self.touch(at);
            if self.streams[at].end.is_none()
                && let Err(end) = self.streams[at].content.take(content)
            {
                self.reset_stream(at, end);
            }
        }
        if frame.content > 0 {
            return self.go_on(frame);
        }
        let padding = bytes.split_off(..bytes.len().min(frame.padding)).unwrap_or_default();
        frame.padding -= padding.len();
        self.end_content(frame, false)
    }

    /// All content of a frame came; its padding may be to come.
    fn end_content(&mut self, frame: DataFrame, is_empty: bool) -> Result<(), ConnectionFault> {
        if frame.padding > 0 {
            return self.go_on(frame);
        }
        self.reading.at = FramePart::Head;
        let Some(at) = self.place(frame.stream).filter(|_| !frame.is_unwanted) else { return Ok(()) };
        let stream = &mut self.streams[at];
        if is_empty && !frame.is_last {
            stream.empty_frames += 1;
            if stream.empty_frames > MAX_EMPTY_FRAMES {
                return Err(CALM);
            }
        }
        if frame.is_last {
            self.end_stream(at);
        }
        Ok(())
    }
}
