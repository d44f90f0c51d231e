//! What each frame of the peer means.
//!
//! Invariant: a block of fields is decoded even when nobody wants it, because the fields behind it may refer to it.

use super::answer::BadBlock;
use super::error_code::*;
use super::frame::*;
use super::reading::OpenBlock;
use super::session::Http2Session;
use super::streams::StreamEnd;
use crate::h1::response_head::MAX_HEAD;

/// Frames of one block of fields.
const MAX_BLOCK_FRAMES: usize = 1024;
/// Answers to PING and SETTINGS that the peer does not read.
const MAX_UNREAD: usize = 2 << 20;

impl Http2Session {
    pub(super) fn end_stream(&mut self, at: usize) {
        self.touch(at);
        if !self.streams[at].content.is_whole() {
            return self.break_stream(at, PROTOCOL_ERROR);
        }
        self.streams[at].end.get_or_insert(StreamEnd::Complete);
    }

    /// The peer broke a rule that concerns one stream.
    pub(super) fn break_stream(&mut self, at: usize, code: u32) {
        self.reset_stream(at, StreamEnd::Broken(code));
    }

    /// Ends a stream from this side, unless it has ended.
    pub(super) fn reset_stream(&mut self, at: usize, end: StreamEnd) {
        self.touch(at);
        let code = if let StreamEnd::Broken(code) = end { code } else { CANCEL };
        let stream = &mut self.streams[at];
        if stream.end.is_none() {
            stream.end = Some(end);
            let id = stream.id;
            self.queue.put(|out| push_number(out, RST_STREAM, id, code));
        }
    }

    pub(super) fn take_frame(&mut self, head: &FrameHead, payload: &[u8]) -> Result<(), ConnectionFault> {
        let is_of_stream = matches!(head.kind, HEADERS | PRIORITY | RST_STREAM | PUSH_PROMISE);
        let is_of_connection = matches!(head.kind, SETTINGS | PING | GOAWAY);
        if is_of_stream && head.stream == 0 || is_of_connection && head.stream != 0 {
            return Err(PROTOCOL);
        }
        match head.kind {
            HEADERS => self.take_headers(head, payload),
            CONTINUATION => self.take_continuation(head, payload),
            PRIORITY => self.take_priority(head, payload),
            RST_STREAM => self.take_reset(head, payload),
            SETTINGS => self.take_settings(head, payload),
            PUSH_PROMISE => Err(PROTOCOL),
            PING => self.take_ping(head, payload),
            GOAWAY => self.take_goodbye(payload),
            WINDOW_UPDATE => self.take_window(head, payload),
            _ => Ok(()),
        }
    }

    fn take_headers(&mut self, head: &FrameHead, payload: &[u8]) -> Result<(), ConnectionFault> {
        self.check_opened(head.stream)?;
        let mut block = unpadded(head.has(PADDED), payload).ok_or(PROTOCOL)?;
        if head.has(WITH_PRIORITY) {
            let priority = block.split_off(..5).ok_or(FRAME_SIZE)?;
            self.check_priority(head.stream, priority);
        }
        let is_last = head.has(END_STREAM);
        if head.has(END_HEADERS) {
            return self.take_block(head.stream, is_last, block);
        }
        self.reading.block = Some(OpenBlock { stream: head.stream, is_last, bytes: block.to_vec(), frames: 1 });
        Ok(())
    }

    fn take_continuation(&mut self, head: &FrameHead, payload: &[u8]) -> Result<(), ConnectionFault> {
        let mut block = self.reading.block.take().ok_or(PROTOCOL)?;
        block.bytes.extend_from_slice(payload);
        block.frames += 1;
        if block.frames > MAX_BLOCK_FRAMES || block.bytes.len() > MAX_HEAD {
            return Err(CALM);
        }
        if head.has(END_HEADERS) {
            return self.take_block(block.stream, block.is_last, &block.bytes);
        }
        self.reading.block = Some(block);
        Ok(())
    }

    fn take_block(&mut self, id: u32, is_last: bool, block: &[u8]) -> Result<(), ConnectionFault> {
        let place = self.place(id);
        let is_trailers = place.is_some_and(|at| self.streams[at].has_head);
        let head = match self.answers.read(block, is_trailers) {
            Err(BadBlock::Undecodable) => return Err(COMPRESSION),
            head => head.ok(),
        };
        let Some(at) = place.filter(|at| self.streams[*at].end.is_none()) else { return Ok(()) };
        match head {
            // Interim heads are for others.
            Some(head) if !is_trailers && head.status < 200 && !is_last => return Ok(()),
            Some(head) if !is_trailers && head.status >= 200 => {
                self.touch(at);
                self.streams[at].take_head(head, is_last);
            }
            Some(head) if is_trailers && is_last => self.streams[at].trailers = Some(head),
            _ => {
                self.break_stream(at, PROTOCOL_ERROR);
                return Ok(());
            }
        }
        if is_last {
            self.end_stream(at);
        }
        Ok(())
    }

    fn take_priority(&mut self, head: &FrameHead, payload: &[u8]) -> Result<(), ConnectionFault> {
        if payload.len() != 5 {
            return Err(FRAME_SIZE);
        }
        self.check_priority(head.stream, payload);
        Ok(())
    }

    /// No stream can depend on itself.
    fn check_priority(&mut self, stream: u32, priority: &[u8]) {
        let depends_on = priority.first_chunk().map(|bytes| u32::from_be_bytes(*bytes) & (u32::MAX >> 1));
        if let Some(at) = self.place(stream)
            && depends_on == Some(stream)
        {
            self.break_stream(at, PROTOCOL_ERROR);
        }
    }

    fn take_reset(&mut self, head: &FrameHead, payload: &[u8]) -> Result<(), ConnectionFault> {
        let code = number(payload)?;
        self.check_opened(head.stream)?;
        if let Some(at) = self.place(head.stream) {
            self.touch(at);
            self.streams[at].end.get_or_insert(StreamEnd::Reset(code));
        }
        Ok(())
    }

    fn take_ping(&mut self, head: &FrameHead, payload: &[u8]) -> Result<(), ConnectionFault> {
        if payload.len() != 8 {
            return Err(FRAME_SIZE);
        }
        if head.has(ACK) {
            return Ok(());
        }
        self.queue.put(|out| {
            push_head(out, PING, ACK, 0, 8);
            out.extend_from_slice(payload);
        });
        self.check_unread()
    }

    fn check_unread(&self) -> Result<(), ConnectionFault> {
        if self.queue.len() > MAX_UNREAD { Err(CALM) } else { Ok(()) }
    }

    fn take_goodbye(&mut self, payload: &[u8]) -> Result<(), ConnectionFault> {
        let (last, rest) = payload.split_first_chunk().ok_or(FRAME_SIZE)?;
        let code = u32::from_be_bytes(*rest.first_chunk().ok_or(FRAME_SIZE)?);
        let last = u32::from_be_bytes(*last) & (u32::MAX >> 1);
        if self.goodbye.is_some_and(|(before, _)| last > before) {
            return Err(PROTOCOL);
        }
        self.goodbye = Some((last, code));
        for at in 0..self.streams.len() {
            if self.streams[at].id > last {
                self.touch(at);
                self.streams[at].end.get_or_insert(StreamEnd::Excluded(code));
            }
        }
        Ok(())
    }

    fn take_window(&mut self, head: &FrameHead, payload: &[u8]) -> Result<(), ConnectionFault> {
        let by = i64::from(number(payload)? & (u32::MAX >> 1));
        let most = i64::from(u32::MAX >> 1);
        if head.stream == 0 {
            self.send_window += by;
            if self.send_window > most || by == 0 {
                return Err(if by == 0 { PROTOCOL } else { FLOW_CONTROL });
            }
            self.wake_senders();
            return Ok(());
        }
        self.check_opened(head.stream)?;
        let Some(at) = self.place(head.stream) else { return Ok(()) };
        if by == 0 {
            self.break_stream(at, PROTOCOL_ERROR);
        } else if !self.streams[at].sending.is_over {
            self.streams[at].sending.window += by;
            if self.streams[at].sending.window > most {
                self.break_stream(at, FLOW_CONTROL_ERROR);
            }
            self.wake_senders();
        }
        Ok(())
    }

    fn take_settings(&mut self, head: &FrameHead, payload: &[u8]) -> Result<(), ConnectionFault> {
        if head.has(ACK) {
            let is_asked = !std::mem::replace(&mut self.reading.has_acknowledgement, true);
            return if !payload.is_empty() { Err(FRAME_SIZE) } else { is_asked.then_some(()).ok_or(PROTOCOL) };
        }
        let (settings, []) = payload.as_chunks::<6>() else { return Err(FRAME_SIZE) };
        for [a, b, c, d, e, f] in settings {
            self.take_setting(u16::from_be_bytes([*a, *b]), u32::from_be_bytes([*c, *d, *e, *f]))?;
        }
        self.reading.has_settings = true;
        self.queue.put(|out| push_head(out, SETTINGS, ACK, 0, 0));
        self.check_unread()
    }

    fn take_setting(&mut self, id: u16, value: u32) -> Result<(), ConnectionFault> {
        match id {
            HEADER_TABLE_SIZE => self.encoder.allow_table(value as usize),
            ENABLE_PUSH if value > 1 => return Err(PROTOCOL),
            MAX_CONCURRENT_STREAMS => {
                self.peer.max_streams = value as usize;
                self.tell_room();
            }
            INITIAL_WINDOW_SIZE if value > u32::MAX >> 1 => return Err(FLOW_CONTROL),
            INITIAL_WINDOW_SIZE => {
                let change = i64::from(value) - self.peer.first_window;
                self.peer.first_window = i64::from(value);
                for stream in &mut self.streams {
                    stream.sending.window += change;
                    if stream.sending.window > i64::from(u32::MAX >> 1) {
                        return Err(FLOW_CONTROL);
                    }
                }
                self.wake_senders();
            }
            MAX_FRAME_SIZE => match value {
                16_384..=16_777_215 => self.peer.max_frame = value as usize,
                _ => return Err(PROTOCOL),
            },
            _ => {}
        }
        Ok(())
    }
}

/// A payload that is one number.
fn number(payload: &[u8]) -> Result<u32, ConnectionFault> {
    payload.try_into().map(u32::from_be_bytes).map_err(|_| FRAME_SIZE)
}
