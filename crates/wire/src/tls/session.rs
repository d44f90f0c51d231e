//! TLS on a connection, at either end: the handshake and the records, by rustls' unbuffered interface.
//!
//! Records are decrypted in the thread's shared receive buffer. A connection keeps a record that is not complete, and
//! content that its reader had no room for; once that is read it keeps neither. What is sent is encrypted record by
//! record, and a small message leaves as one record in one write. Refuses to interpret the content.
//! Invariant: what rustls is shown begins where it left off, also when nothing was received: it remembers parts of
//! messages by their place.

use std::io::{self, IoSlice};
use std::mem;
use std::task::{Context, Poll, ready};

use rustls::unbuffered::{ConnectionState, UnbufferedStatus, WriteTraffic};

use super::end::{Line, TlsEnd};
use super::outbox::{Outbox, RECORD};
use super::parts::Parts;
use crate::io::arrival::{Arrival, TransportError};
use crate::io::buffers::Buffers;

/// A received record at most: content, what its protection may add (RFC 5246 6.2.3), header.
const RECEIVED_RECORD: usize = RECORD + 2048 + 5;
/// An alert before anything is encrypted: the end of what is sent (RFC 8446 6.1).
const PLAIN_CLOSE_NOTIFY: [u8; 7] = [21, 3, 3, 0, 2, 1, 0];

/// TLS state of one connection.
pub(crate) struct Session<E: TlsEnd> {
    connection: E,
    /// Received bytes of an incomplete record, or of an incomplete message in several.
    incoming: Vec<u8>,
    /// Decrypted content that nobody had room for, and how much of it was given since.
    content: Vec<u8>,
    given: usize,
    /// The peer has said that it sends nothing more, or closed its side.
    is_ended: bool,
    /// What ended it: rustls is not asked again, because it would look for bytes that are gone.
    failed: Option<rustls::Error>,
    /// `close` was called.
    is_closing: bool,
    outbox: Outbox,
}

/// What rustls wants after one step.
enum Next {
    /// Another step.
    Step,
    /// Another step if there are more bytes.
    StepOverMore,
    /// More bytes.
    Receive,
}

impl<E: TlsEnd> Session<E> {
    pub(crate) fn new(connection: E) -> Session<E> {
        Session {
            connection,
            incoming: Vec::new(),
            content: Vec::new(),
            given: 0,
            is_ended: false,
            failed: None,
            is_closing: false,
            outbox: Outbox::default(),
        }
    }

    /// What rustls knows.
    pub(crate) fn connection(&self) -> &E {
        &self.connection
    }

    /// Says what comes before anything is received: a client's first message.
    pub(crate) fn begin(&mut self, buffers: &Buffers) -> Result<(), TransportError> {
        self.process(buffers, &mut [], 0, &mut |_| {}).map(drop)
    }

    /// Waits for bytes and gives the content of complete records to the sink, at most `most` bytes. What goes beyond is
    /// for the next call; with `most` 0 all of it.
    pub(crate) fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
        line: &mut Line<'_, E::Socket>,
        most: usize,
        sink: &mut impl FnMut(&[u8]),
    ) -> Poll<Result<Arrival, TransportError>> {
        if let Some(error) = &self.failed {
            return Poll::Ready(Err(TransportError::Tls(error.clone())));
        }
        if self.has_content() && most > 0 {
            let content = self.give_content(most, sink);
            return Poll::Ready(Ok(Arrival { content, closed: false, stamp_ns: None }));
        }
        if self.is_ended {
            return Poll::Ready(Ok(Arrival { content: 0, closed: true, stamp_ns: None }));
        }
        let mut buffer = line.buffers.receive_buffer();
        let kept = self.incoming.len();
        // Content is shorter than its records. Where there is room for a record, so all of it will be taken.
        let end = most.max(RECEIVED_RECORD).max(if kept < RECEIVED_RECORD { 0 } else { kept + RECORD });
        let end = end.min(buffer.len());
        let read = ready!(E::poll_receive(line.socket, cx, &mut buffer[kept..end])).map_err(TransportError::Io)?;
        *line.received += read.bytes as u64;
        if read.bytes == 0 {
            self.is_ended = true;
            return Poll::Ready(match kept {
                0 => Ok(Arrival { content: 0, closed: true, stamp_ns: None }),
                _ => Err(TransportError::Io(io::ErrorKind::UnexpectedEof.into())),
            });
        }
        buffer[..kept].copy_from_slice(&self.incoming);
        self.incoming = Vec::new();
        let bytes = &mut buffer[..kept + read.bytes];
        let processed = self.process(line.buffers, bytes, most, sink);
        // Answers to the handshake, tickets, alerts. After an error the alert tells the peer why; its loss changes
        // nothing in what is reported.
        let flushed = self.outbox.poll_flush_messages::<E>(cx, line);
        let (used, content) = processed?;
        flushed.map_err(TransportError::Io)?;
        if !self.is_ended && used < bytes.len() {
            self.incoming = bytes[used..].to_vec();
        }
        Poll::Ready(Ok(Arrival { content, closed: self.is_ended, stamp_ns: read.stamp_ns }))
    }

    /// Content is waiting that was received before.
    pub(crate) fn has_content(&self) -> bool {
        self.given < self.content.len()
    }

    /// Nothing is to be received any more.
    pub(crate) fn is_ended(&self) -> bool {
        self.is_ended
    }

    fn give_content(&mut self, most: usize, sink: &mut impl FnMut(&[u8])) -> usize {
        let content = &self.content[self.given..];
        let content = &content[..content.len().min(most)];
        sink(content);
        let n = content.len();
        self.given += n;
        if !self.has_content() {
            (self.content, self.given) = (Vec::new(), 0);
        }
        n
    }

    /// Steps over received bytes until more are needed; how many are used up, and how much content was given.
    fn process(
        &mut self,
        buffers: &Buffers,
        bytes: &mut [u8],
        most: usize,
        sink: &mut impl FnMut(&[u8]),
    ) -> Result<(usize, usize), TransportError> {
        let (mut used, mut content) = (0, 0);
        loop {
            let (next, discard) = self.step(buffers, &mut bytes[used..], most, &mut content, sink);
            used += discard;
            match next {
                Ok(Next::Step) => {}
                Ok(Next::StepOverMore) if used < bytes.len() => {}
                Ok(Next::StepOverMore | Next::Receive) => return Ok((used, content)),
                Err(error) => {
                    self.failed = Some(error.clone());
                    self.put_alert(buffers, &mut bytes[used..]);
                    return Err(TransportError::Tls(error));
                }
            }
        }
    }

    /// One step; also how many bytes are used up.
    fn step(
        &mut self,
        buffers: &Buffers,
        bytes: &mut [u8],
        most: usize,
        given: &mut usize,
        sink: &mut impl FnMut(&[u8]),
    ) -> (Result<Next, rustls::Error>, usize) {
        let UnbufferedStatus { mut discard, state } = self.connection.process(bytes);
        let next = match state {
            Ok(ConnectionState::ReadTraffic(mut traffic)) => loop {
                let record = match traffic.next_record() {
                    None => break Ok(Next::StepOverMore),
                    Some(Err(error)) => break Err(error),
                    Some(Ok(record)) => record,
                };
                discard += record.discard;
                let (now, later) = record.payload.split_at(record.payload.len().min(most - *given));
                if !now.is_empty() {
                    sink(now);
                }
                *given += now.len();
                self.content.extend_from_slice(later);
            },
            Ok(ConnectionState::EncodeTlsData(mut message)) => {
                self.outbox.put_message(buffers, &mut message).map(|()| Next::Step)
            }
            Ok(ConnectionState::TransmitTlsData(transmit)) => {
                transmit.done();
                Ok(Next::Step)
            }
            Ok(ConnectionState::BlockedHandshake | ConnectionState::WriteTraffic(_)) => Ok(Next::Receive),
            Ok(ConnectionState::PeerClosed | ConnectionState::Closed) => {
                self.is_ended = true;
                Ok(Next::Receive)
            }
            Ok(_) => Err(rustls::Error::General("unexpected TLS state".into())),
            Err(error) => Err(error),
        };
        (next, discard)
    }

    /// After an error the connection offers its alert as the last thing to encode.
    fn put_alert(&mut self, buffers: &Buffers, bytes: &mut [u8]) {
        while self.connection.wants_write()
            && let Ok(ConnectionState::EncodeTlsData(mut message)) = self.connection.process(bytes).state
        {
            // Without the alert the peer learns less, but the failure reported is the same.
            let _ = self.outbox.put_message(buffers, &mut message);
        }
    }

    /// Another record of content may be encrypted before the next `poll_flush`.
    pub(crate) fn has_room(&self) -> bool {
        self.outbox.has_room()
    }

    /// Whether everything that was encrypted is with the kernel.
    pub(crate) fn is_flushed(&self) -> bool {
        self.outbox.is_flushed()
    }

    /// Writes everything that was encrypted.
    pub(crate) fn poll_flush(&mut self, cx: &mut Context<'_>, line: &mut Line<'_, E::Socket>) -> Poll<io::Result<()>> {
        self.outbox.poll_flush::<E>(cx, line)
    }

    /// Encrypts content, at most a record of it, into the outbox.
    pub(crate) fn encrypt(&mut self, buffers: &Buffers, content: &[u8]) -> Result<(), TransportError> {
        self.with_traffic(buffers, |traffic, outbox| {
            outbox.put(buffers, content.len(), |room| traffic.encrypt(content, room))
        })
    }

    /// Encrypts as many bytes of the slices as there is room for; how many.
    pub(crate) fn take(&mut self, buffers: &Buffers, parts: &[IoSlice<'_>]) -> Result<usize, TransportError> {
        let (mut parts, mut taken) = (Parts::new(parts), 0);
        while self.has_room() {
            let mut gathered = buffers.gather_buffer(RECORD);
            let run = parts.next_run(&mut gathered);
            if run.is_empty() {
                break;
            }
            self.encrypt(buffers, run)?;
            taken += run.len();
        }
        Ok(taken)
    }

    /// Says that nothing more is sent. Nothing is said within a handshake whose first message came: rustls offers no
    /// way.
    pub(crate) fn close(&mut self, buffers: &Buffers) {
        if mem::replace(&mut self.is_closing, true) || self.failed.is_some() {
            return;
        }
        let said = if self.connection.protocol_version().is_none() {
            self.outbox
                .put(buffers, 0, |room| {
                    room[..PLAIN_CLOSE_NOTIFY.len()].copy_from_slice(&PLAIN_CLOSE_NOTIFY);
                    Ok(PLAIN_CLOSE_NOTIFY.len())
                })
                .map_err(TransportError::Tls)
        } else {
            self.with_traffic(buffers, |traffic, outbox| {
                outbox.put(buffers, 0, |room| traffic.queue_close_notify(room))
            })
        };
        // The end of the connection says the same.
        drop(said);
    }

    /// Steps to where content may be sent.
    fn with_traffic(
        &mut self,
        buffers: &Buffers,
        put: impl FnOnce(&mut WriteTraffic<'_, E::Data>, &mut Outbox) -> Result<(), rustls::Error>,
    ) -> Result<(), TransportError> {
        if let Some(error) = &self.failed {
            return Err(TransportError::Tls(error.clone()));
        }
        loop {
            let UnbufferedStatus { discard, state } = self.connection.process(&mut self.incoming);
            let done = match state.map_err(TransportError::Tls)? {
                ConnectionState::WriteTraffic(mut traffic) => {
                    let done = put(&mut traffic, &mut self.outbox);
                    self.incoming.drain(..discard);
                    return done.map_err(TransportError::Tls);
                }
                ConnectionState::EncodeTlsData(mut message) => self.outbox.put_message(buffers, &mut message),
                ConnectionState::TransmitTlsData(transmit) => {
                    transmit.done();
                    Ok(())
                }
                _ => return Err(TransportError::Io(io::ErrorKind::BrokenPipe.into())),
            };
            done.map_err(TransportError::Tls)?;
            self.incoming.drain(..discard);
        }
    }
}
