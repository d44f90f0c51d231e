//! A connection's state: what it may send, what it has to write, who waits for what.
//!
//! Invariants: streams stand in the order of their numbers. What is in the queue was allowed by the windows of stream
//! and connection. A stream whose end is known sends nothing more.

use std::collections::VecDeque;

use bytes::Bytes;

use super::answer::AnswerReader;
use super::error_code::{CANCEL, NO_ERROR};
use super::frame::*;
use super::frame_queue::FrameQueue;
use super::hpack_encode::FieldEncoder;
use super::reading::Reading;
use super::request_head::Http2Head;
use super::streams::{Asked, OpenStream, ReceiveWindow, StreamEnd, WINDOW};
use crate::h1::response_head::MAX_HEAD;
use crate::io::arrival::Moment;
use crate::io::stamps::Tick;

/// Bytes of requests that wait in memory for the socket.
const SEND_BUFFER: usize = 256 << 10;
/// Streams before the peer has said how many it takes: Go's figure.
const FIRST_STREAMS: usize = 100;
/// The last number of a stream.
const LAST_STREAM: u32 = u32::MAX >> 1;

/// A connection without its socket.
pub(crate) struct Http2Session {
    pub(crate) queue: FrameQueue,
    pub(super) streams: Vec<OpenStream>,
    pub(super) next_stream: u32,
    pub(super) encoder: FieldEncoder,
    pub(super) answers: AnswerReader,
    pub(super) reading: Reading,
    pub(super) peer: PeerLimits,
    pub(super) send_window: i64,
    pub(super) receive_window: ReceiveWindow,
    /// The peer's goodbye: the last stream that it processes, and the error code.
    pub(super) goodbye: Option<(u32, u32)>,
    /// The streams that the read which is being looked at brought something for.
    pub(super) touched: Vec<u32>,
    /// Slots to be woken.
    woken: Vec<usize>,
    /// Requests that are whole but not with the kernel yet: where in the queue each ends, and its stream.
    unsent: VecDeque<(u64, u32)>,
    /// Slots that wait until another stream may be opened, the first in front.
    awaiting_room: VecDeque<usize>,
}

/// What the peer's settings allow.
pub(super) struct PeerLimits {
    /// Streams at a time.
    pub max_streams: usize,
    /// What a new stream may send.
    pub first_window: i64,
    /// Bytes of a frame's content.
    pub max_frame: usize,
}

impl Http2Session {
    /// Begins with the preface.
    pub(crate) fn new() -> Http2Session {
        let mut queue = FrameQueue::default();
        queue.put(|out| {
            out.extend_from_slice(PREFACE);
            push_head(out, SETTINGS, 0, 0, 18);
            push_setting(out, ENABLE_PUSH, 0);
            push_setting(out, INITIAL_WINDOW_SIZE, WINDOW);
            push_setting(out, MAX_HEADER_LIST_SIZE, MAX_HEAD as u32);
            push_number(out, WINDOW_UPDATE, 0, WINDOW - DEFAULT_WINDOW);
        });
        Http2Session {
            queue,
            streams: Vec::new(),
            next_stream: 1,
            encoder: FieldEncoder::new(),
            answers: AnswerReader::new(),
            reading: Reading::new(),
            peer: PeerLimits {
                max_streams: FIRST_STREAMS,
                first_window: i64::from(DEFAULT_WINDOW),
                max_frame: DEFAULT_MAX_FRAME,
            },
            send_window: i64::from(DEFAULT_WINDOW),
            receive_window: ReceiveWindow::new(WINDOW),
            goodbye: None,
            touched: Vec::new(),
            woken: Vec::new(),
            unsent: VecDeque::new(),
            awaiting_room: VecDeque::new(),
        }
    }

    /// Whether the peer takes requests at all: it has not said goodbye, and numbers are left.
    pub(crate) fn is_open(&self) -> bool {
        self.goodbye.is_none() && self.next_stream <= LAST_STREAM
    }

    /// Whether the peer allows one more stream beside those under way.
    pub(crate) fn has_room(&self) -> bool {
        self.streams.len() < self.peer.max_streams
    }

    /// Streams that the peer allows at once.
    pub(crate) fn max_streams(&self) -> usize {
        self.peer.max_streams
    }

    /// Whether it is this slot's turn to open a stream. If not, it is woken when it is.
    pub(crate) fn may_open(&mut self, slot: usize) -> bool {
        let is_first = self.awaiting_room.front().is_none_or(|first| *first == slot);
        if self.has_room() && is_first {
            self.awaiting_room.pop_front();
            return true;
        }
        if !self.awaiting_room.contains(&slot) {
            self.awaiting_room.push_back(slot);
        }
        false
    }

    /// This slot does not wait to open a stream any more.
    pub(crate) fn leave(&mut self, slot: usize) {
        self.awaiting_room.retain(|waiting| *waiting != slot);
        self.tell_room();
    }

    /// The error code of the peer's goodbye.
    pub(crate) fn goodbye(&self) -> Option<u32> {
        self.goodbye.map(|(_, code)| code)
    }

    /// Opens a stream with this head. `is_whole`: no content follows. Not to be called unless `is_open`.
    pub(crate) fn open(&mut self, head: &Http2Head, is_whole: bool, asked: Asked<'_>, slot: usize) -> u32 {
        debug_assert!(self.is_open() && self.has_room(), "the peer allows one more stream");
        let id = self.next_stream;
        debug_assert!(!id.is_multiple_of(2) && id <= LAST_STREAM, "streams of a client have odd numbers: {id}");
        self.next_stream += 2;
        debug_assert!(self.streams.last().is_none_or(|last| last.id < id), "streams lie in the order of their numbers");
        let Http2Session { queue, encoder, peer, .. } = self;
        queue.put(|out| {
            let start = out.len();
            push_head(out, HEADERS, END_HEADERS | if is_whole { END_STREAM } else { 0 }, id, 0);
            encoder.encode(head, out);
            fit_head(out, start, peer.max_frame, id);
        });
        let mut stream = OpenStream::new(id, slot, asked, self.peer.first_window);
        stream.sending.is_over = is_whole;
        self.streams.push(stream);
        if is_whole {
            self.unsent.push_back((self.queue.put_total(), id));
        }
        id
    }

    #[inline]
    pub(super) fn place(&self, id: u32) -> Option<usize> {
        match &*self.streams {
            [only] => (only.id == id).then_some(0),
            streams => streams.binary_search_by_key(&id, |stream| stream.id).ok(),
        }
    }

    /// A stream under way.
    pub(crate) fn stream(&mut self, id: u32) -> &mut OpenStream {
        let at = self.place(id).expect("a stream stays until its owner closes it");
        &mut self.streams[at]
    }

    /// How many bytes of content the stream may send now, of so many. Where none, its slot is woken when it may.
    pub(crate) fn allowed(&mut self, id: u32, wanted: usize) -> usize {
        let (room, window) = (SEND_BUFFER.saturating_sub(self.queue.len()), self.send_window);
        let stream = self.stream(id);
        let window = usize::try_from(stream.sending.window.min(window)).unwrap_or(0);
        let allowed = wanted.min(room).min(window);
        stream.sending.is_wanted = allowed == 0;
        allowed
    }

    /// Sends content, as much of it as is allowed. `is_last`: the request ends with it.
    pub(crate) fn send(&mut self, id: u32, mut content: Bytes, is_last: bool) {
        self.send_window -= content.len() as i64;
        let max_frame = self.peer.max_frame;
        debug_assert!(content.is_empty() || self.send_window >= 0, "no more than the connection's window is sent");
        let stream = self.stream(id);
        debug_assert!(!stream.sending.is_over, "stream {id} has sent all");
        stream.sending.window -= content.len() as i64;
        debug_assert!(content.is_empty() || stream.sending.window >= 0, "no more than the stream's window is sent");
        stream.sending.is_over = is_last;
        loop {
            let piece = content.split_to(content.len().min(max_frame));
            let flags = if is_last && content.is_empty() { END_STREAM } else { 0 };
            self.queue.put(|out| push_head(out, DATA, flags, id, piece.len()));
            self.queue.put_content(piece);
            if content.is_empty() {
                break;
            }
        }
        if is_last {
            self.unsent.push_back((self.queue.put_total(), id));
        }
    }

    /// What the queue gave away up to this place is with the kernel now.
    pub(crate) fn note_sent(&mut self, up_to: u64) {
        debug_assert!(up_to <= self.queue.put_total(), "{up_to} bytes of {}", self.queue.put_total());
        debug_assert!(self.unsent.iter().is_sorted_by_key(|(end, _)| *end), "requests end in the order of the queue");
        let mut now = None;
        while let Some((_, id)) = self.unsent.pop_front_if(|(end, _)| *end <= up_to) {
            if let Some(at) = self.place(id) {
                self.streams[at].sending.sent_at = Some(*now.get_or_insert_with(Tick::now));
            }
        }
    }

    /// Whether the stream could send at once what it could not before.
    pub(crate) fn may_send(&self, id: u32) -> bool {
        let Some(stream) = self.place(id).map(|at| &self.streams[at]) else { return false };
        stream.end.is_none() && stream.sending.window.min(self.send_window) > 0 && self.queue.len() < SEND_BUFFER
    }

    /// The owner of the stream is done with it. Where one of the sides has not said all, the peer is told.
    pub(crate) fn close(&mut self, id: u32, code: u32) {
        let Some(at) = self.place(id) else { return };
        let stream = self.streams.remove(at);
        let is_done = match stream.end {
            Some(StreamEnd::Complete) => stream.sending.is_over,
            Some(_) => true,
            None => false,
        };
        if !is_done {
            self.queue.put(|out| push_number(out, RST_STREAM, id, code));
        }
        self.tell_room();
    }

    pub(super) fn tell_room(&mut self) {
        let room = self.peer.max_streams.saturating_sub(self.streams.len());
        self.woken.extend(self.awaiting_room.iter().take(room));
    }

    /// The owner of the stream gives up.
    pub(crate) fn cancel(&mut self, id: u32) {
        self.close(id, CANCEL);
    }

    /// The read that was fed took place at this moment.
    pub(crate) fn note(&mut self, moment: Moment) {
        let mut touched = std::mem::take(&mut self.touched);
        for id in touched.drain(..) {
            let Some(at) = self.place(id) else { continue };
            let stream = &mut self.streams[at];
            debug_assert!(stream.is_touched, "a read brings something for a stream once");
            stream.is_touched = false;
            match stream.first {
                None => stream.first = Some(moment),
                Some(_) => stream.last = Some(moment),
            }
            self.woken.push(stream.slot);
        }
        self.touched = touched;
    }

    pub(super) fn touch(&mut self, at: usize) {
        let stream = &mut self.streams[at];
        if !std::mem::replace(&mut stream.is_touched, true) {
            self.touched.push(stream.id);
        }
    }

    /// Something was written, or the peer opened its windows: whoever waited to send goes on.
    pub(crate) fn wake_senders(&mut self) {
        if self.queue.len() >= SEND_BUFFER {
            return;
        }
        for stream in &mut self.streams {
            // One without a window keeps its wish: nobody would ask again for it.
            if stream.sending.window.min(self.send_window) > 0 && std::mem::take(&mut stream.sending.is_wanted) {
                self.woken.push(stream.slot);
            }
        }
    }

    /// The slots that have something to do since this was asked last.
    pub(crate) fn take_woken(&mut self, wake: impl FnMut(usize)) {
        self.woken.drain(..).for_each(wake);
    }

    /// Says goodbye: the peer broke the rules of the connection.
    pub(crate) fn accuse(&mut self, code: u32) {
        self.queue.put(|out| {
            push_head(out, GOAWAY, 0, 0, 8);
            out.extend_from_slice(&NO_ERROR.to_be_bytes());
            out.extend_from_slice(&code.to_be_bytes());
        });
    }
}

/// Sets the length of the head frame that begins at `start`, and cuts it where it is longer than a frame may be.
fn fit_head(out: &mut Vec<u8>, start: usize, max_frame: usize, id: u32) {
    debug_assert!(max_frame >= DEFAULT_MAX_FRAME, "no peer may allow less than {max_frame} bytes");
    let block = start + HEAD;
    let len = out.len() - block;
    let set_len = |out: &mut Vec<u8>, len: usize| {
        out[start..start + 3].copy_from_slice(&(len as u32).to_be_bytes()[1..]);
    };
    if len <= max_frame {
        return set_len(out, len);
    }
    let rest = out.split_off(block + max_frame);
    set_len(out, max_frame);
    out[start + 4] &= !END_HEADERS;
    let count = rest.len().div_ceil(max_frame);
    for (at, part) in (1..).zip(rest.chunks(max_frame)) {
        push_head(out, CONTINUATION, if at == count { END_HEADERS } else { 0 }, id, part.len());
        out.extend_from_slice(part);
    }
}
