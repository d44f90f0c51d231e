//! An open connection: what is queued to be written, what arrives, and the time without it. Knows nothing of JavaScript
//! but the promises that it hands back.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use host::memory::Reservation;
use script::series::SampleTags;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};
use wire::client::{ByteStream, StreamTraffic};

use super::settle::Settle;

/// What one read brings at most: as much as k6 reads, so that `tcp_reads` means the same.
const PIECE: usize = 4096;

/// Bytes on their way out.
pub struct Write {
    pub bytes: Vec<u8>,
    pub sent: usize,
    pub settle: Settle,
    pub tags: SampleTags,
    #[expect(dead_code, reason = "counted as the user's memory until the bytes are gone")]
    pub held: Reservation,
}

/// What happened on a connection.
pub enum Progress {
    /// Bytes came.
    Data(Vec<u8>),
    /// None will come any more.
    Ended,
    /// Reading failed, and why.
    Broken(String),
    /// Nothing came for as long as the script said.
    Silent,
    /// The kernel has taken all of it.
    Written(Write),
    /// Writing failed, and why.
    Unwritten(Write, String),
}

/// A connection.
pub struct OpenStream {
    stream: ByteStream,
    ends: String,
    writes: VecDeque<Write>,
    alarm: Option<(Duration, Pin<Box<Sleep>>)>,
}

impl OpenStream {
    /// Around a stream that was just opened.
    pub fn new(stream: ByteStream, timeout: Option<Duration>) -> OpenStream {
        let ends = match (stream.local(), stream.peer()) {
            (Some(local), Some(peer)) => format!("tcp {local}->{peer}"),
            _ => String::from("unix"),
        };
        let mut open = OpenStream { stream, ends, writes: VecDeque::new(), alarm: None };
        open.set_timeout(timeout);
        open
    }

    /// What goes over it.
    pub fn traffic(&self) -> Rc<StreamTraffic> {
        self.stream.traffic()
    }

    /// From now on says when nothing came for so long.
    pub fn set_timeout(&mut self, timeout: Option<Duration>) {
        self.alarm = timeout.map(|timeout| (timeout, Box::pin(sleep(timeout))));
    }

    /// Queues bytes, and writes what the kernel takes at once: the user may wait for something else next.
    pub fn push(&mut self, write: Write) -> Option<Progress> {
        self.writes.push_back(write);
        if self.writes.len() > 1 {
            return None;
        }
        match self.poll_write(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(progress) => Some(progress),
            Poll::Pending => None,
        }
    }

    /// What is still queued.
    pub fn take_writes(&mut self) -> VecDeque<Write> {
        std::mem::take(&mut self.writes)
    }

    /// What happens next.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Progress> {
        if !self.writes.is_empty()
            && let Poll::Ready(progress) = self.poll_write(cx)
        {
            return Poll::Ready(progress);
        }
        // Before the alarm: what lies there already has not been waited for.
        if let Poll::Ready(progress) = self.poll_read(cx) {
            return Poll::Ready(progress);
        }
        match &mut self.alarm {
            Some((timeout, alarm)) => {
                ready!(alarm.as_mut().poll(cx));
                alarm.as_mut().reset(Instant::now() + *timeout);
                Poll::Ready(Progress::Silent)
            }
            None => Poll::Pending,
        }
    }

    fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<Progress> {
        let Some(mut write) = self.writes.pop_front() else { return Poll::Pending };
        let mut stream = Pin::new(&mut self.stream);
        let outcome = loop {
            let left = &write.bytes[write.sent..];
            if left.is_empty() {
                break stream.poll_flush(cx);
            }
            match stream.as_mut().poll_write(cx, left) {
                Poll::Ready(Ok(sent)) => write.sent += sent,
                Poll::Ready(Err(error)) => break Poll::Ready(Err(error)),
                Poll::Pending => break Poll::Pending,
            }
        };
        match outcome {
            Poll::Ready(Ok(())) => Poll::Ready(Progress::Written(write)),
            Poll::Ready(Err(error)) => {
                let why = format!("write {}: write: {}", self.ends, words(&error));
                Poll::Ready(Progress::Unwritten(write, why))
            }
            Poll::Pending => {
                self.writes.push_front(write);
                Poll::Pending
            }
        }
    }

    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<Progress> {
        let mut room = [0; PIECE];
        let mut piece = ReadBuf::new(&mut room);
        let read = ready!(Pin::new(&mut self.stream).poll_read(cx, &mut piece));
        Poll::Ready(match read {
            Err(error) => Progress::Broken(format!("read {}: read: {}", self.ends, words(&error))),
            Ok(()) if piece.filled().is_empty() => Progress::Ended,
            Ok(()) => {
                if let Some((timeout, alarm)) = &mut self.alarm {
                    alarm.as_mut().reset(Instant::now() + *timeout);
                }
                Progress::Data(piece.filled().to_vec())
            }
        })
    }
}

/// The words of an error, as Go has them: without the number, beginning small.
fn words(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_worded_as_in_go() {
        assert_eq!(words(&io::Error::from_raw_os_error(104)), "connection reset by peer");
        assert_eq!(words(&io::Error::from_raw_os_error(32)), "broken pipe");
    }
}
