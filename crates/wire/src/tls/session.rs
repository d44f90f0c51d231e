//! TLS on a connection: the handshake and the records, by rustls' unbuffered interface.
//!
//! Records are decrypted out of the worker's shared receive buffer; only an incomplete one is kept by the connection.
//! Requests are encrypted run by run, up to 64 KiB for one write, and a small request leaves as one record in one
//! write. Invariant: bytes in `outbox` were encrypted in order and are written exactly once.

use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::task::{Context, Poll, ready};

use rustls::ProtocolVersion;
use rustls::client::UnbufferedClientConnection;
use rustls::unbuffered::{ConnectionState, EncodeError, EncryptError, UnbufferedStatus};

use crate::io::arrival::{Arrival, TURN, TransportError, end_turn};
use crate::io::buffers::Buffers;
use crate::io::upload::{Shown, Upload};
use crate::link::LinkedSocket;
use crate::tls::config::TlsTarget;

/// Content of one record at most (RFC 8446 5.1).
const RECORD: usize = 16 << 10;
/// Header, nonce and tag of a record stay below this.
const RECORD_EXTRA: usize = 64;
/// Encrypted bytes of one write.
const OUTBOX: usize = 4 * (RECORD + RECORD_EXTRA);

/// TLS state of one connection.
pub(crate) struct Session {
    connection: UnbufferedClientConnection,
    /// Received bytes of an incomplete record.
    incoming: Vec<u8>,
    outbox: Outbox,
}

/// Encrypted bytes on their way to the socket. The buffer is the worker's and goes back there when all is written.
#[derive(Default)]
struct Outbox {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl Outbox {
    fn poll_flush(
        &mut self,
        cx: &mut Context<'_>,
        socket: &LinkedSocket,
        buffers: &Buffers,
        sent: &mut u64,
    ) -> Poll<io::Result<()>> {
        while self.start < self.end {
            let n = ready!(socket.poll_send(cx, &[IoSlice::new(&self.bytes[self.start..self.end])]))?;
            *sent += n as u64;
            self.start += n;
        }
        if !self.bytes.is_empty() {
            (self.start, self.end) = (0, 0);
            buffers.return_cipher(std::mem::take(&mut self.bytes));
        }
        Poll::Ready(Ok(()))
    }

    fn room(&mut self, buffers: &Buffers, len: usize) -> &mut [u8] {
        if self.bytes.is_empty() {
            self.bytes = buffers.take_cipher(OUTBOX);
        }
        if self.bytes.len() - self.end < len {
            self.bytes.resize(self.end + len, 0);
        }
        &mut self.bytes[self.end..]
    }
}

/// The outcome of one pass over received records.
struct Pass {
    discard: usize,
    content: usize,
    next: NextStep,
}

/// What the TLS layer wants next.
#[derive(PartialEq, Eq)]
enum NextStep {
    Again,
    /// Content was taken: go on if there are more bytes.
    Taken,
    ReadMore,
    Ready,
    PeerClosed,
}

impl Session {
    pub(crate) fn new(target: &TlsTarget) -> Result<Session, TransportError> {
        let connection = UnbufferedClientConnection::new(target.config.clone(), target.name.clone());
        let connection = connection.map_err(TransportError::Tls)?;
        Ok(Session { connection, incoming: Vec::new(), outbox: Outbox::default() })
    }

    /// `tls1.2` or `tls1.3`.
    pub(crate) fn version(&self) -> Option<&'static str> {
        match self.connection.protocol_version()? {
            ProtocolVersion::TLSv1_2 => Some("tls1.2"),
            ProtocolVersion::TLSv1_3 => Some("tls1.3"),
            _ => None,
        }
    }

    /// IANA name of the suite in use.
    pub(crate) fn cipher_suite(&self) -> Option<&'static str> {
        crate::tls::choice::suite_name(self.connection.negotiated_cipher_suite()?.suite())
    }

    /// Runs the handshake to its end.
    pub(crate) async fn handshake(
        &mut self,
        socket: &LinkedSocket,
        buffers: &Buffers,
        sent: &mut u64,
        received: &mut u64,
    ) -> Result<(), TransportError> {
        poll_fn(|cx| self.poll_handshake(cx, socket, buffers, sent, received)).await
    }

    fn poll_handshake(
        &mut self,
        cx: &mut Context<'_>,
        socket: &LinkedSocket,
        buffers: &Buffers,
        sent: &mut u64,
        received: &mut u64,
    ) -> Poll<Result<(), TransportError>> {
        loop {
            let mut incoming = std::mem::take(&mut self.incoming);
            let pass = self.pass(buffers, &mut incoming, &mut |_| {});
            let pass = match pass {
                Ok(pass) => pass,
                Err(error) => {
                    // The alert that tells the peer why is worth one try; its loss is not worth a wait.
                    let _ = self.outbox.poll_flush(cx, socket, buffers, sent);
                    return Poll::Ready(Err(error));
                }
            };
            incoming.drain(..pass.discard);
            self.incoming = incoming;
            match pass.next {
                NextStep::Again | NextStep::Taken => continue,
                NextStep::Ready => {
                    ready!(self.outbox.poll_flush(cx, socket, buffers, sent)).map_err(TransportError::Io)?;
                    return Poll::Ready(Ok(()));
                }
                NextStep::PeerClosed => return Poll::Ready(Err(closed_in_handshake())),
                NextStep::ReadMore => {}
            }
            ready!(self.outbox.poll_flush(cx, socket, buffers, sent)).map_err(TransportError::Io)?;
            let mut buffer = buffers.receive_buffer();
            let read = ready!(socket.poll_receive(cx, &mut buffer)).map_err(TransportError::Io)?;
            if read.bytes == 0 {
                return Poll::Ready(Err(closed_in_handshake()));
            }
            *received += read.bytes as u64;
            self.incoming.extend_from_slice(&buffer[..read.bytes]);
        }
    }

    /// Encrypts and writes until everything is with the kernel.
    pub(crate) fn poll_send(
        &mut self,
        cx: &mut Context<'_>,
        socket: &LinkedSocket,
        buffers: &Buffers,
        (upload, shown): (&mut Upload<'_>, Shown<'_>),
        sent: &mut u64,
    ) -> Poll<Result<(), TransportError>> {
        let turn = *sent + TURN;
        loop {
            ready!(self.outbox.poll_flush(cx, socket, buffers, sent)).map_err(TransportError::Io)?;
            if upload.is_done() {
                return Poll::Ready(Ok(()));
            }
            if *sent >= turn {
                return end_turn(cx);
            }
            while !upload.is_done() && self.outbox.end + RECORD + RECORD_EXTRA <= OUTBOX {
                let mut gathered = buffers.gather_buffer(RECORD);
                let run = upload.next_run(shown, &mut gathered).map_err(TransportError::Payload)?;
                self.encrypt(buffers, run)?;
                let n = run.len();
                upload.advance(n);
            }
        }
    }

    /// Waits for bytes and gives the content of complete records to the sink.
    pub(crate) fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
        socket: &LinkedSocket,
        buffers: &Buffers,
        mut sink: impl FnMut(&[u8]),
        received: &mut u64,
    ) -> Poll<Result<Arrival, TransportError>> {
        let mut buffer = buffers.receive_buffer();
        let kept = self.incoming.len();
        buffer[..kept].copy_from_slice(&self.incoming);
        let read = ready!(socket.poll_receive(cx, &mut buffer[kept..])).map_err(TransportError::Io)?;
        *received += read.bytes as u64;
        self.incoming.clear();
        let mut arrival = Arrival { content: 0, closed: read.bytes == 0, stamp_ns: read.stamp_ns };
        if read.bytes == 0 && kept > 0 {
            let error = io::Error::new(io::ErrorKind::UnexpectedEof, "unexpected EOF");
            return Poll::Ready(Err(TransportError::Io(error)));
        }
        let (mut start, end) = (0, kept + read.bytes);
        loop {
            let pass = self.pass(buffers, &mut buffer[start..end], &mut sink)?;
            start += pass.discard;
            arrival.content += pass.content;
            match pass.next {
                NextStep::Again => continue,
                NextStep::Taken if start < end => continue,
                NextStep::PeerClosed => arrival.closed = true,
                NextStep::Taken | NextStep::Ready | NextStep::ReadMore => {}
            }
            break;
        }
        if start < end && !arrival.closed {
            self.incoming.extend_from_slice(&buffer[start..end]);
        }
        // A key update or an alert: written when the socket takes it, at the latest before the next request.
        if let Poll::Ready(Err(error)) = self.outbox.poll_flush(cx, socket, buffers, &mut 0) {
            return Poll::Ready(Err(TransportError::Io(error)));
        }
        Poll::Ready(Ok(arrival))
    }

    /// One step of the TLS state machine over received bytes.
    fn pass(
        &mut self,
        buffers: &Buffers,
        incoming: &mut [u8],
        sink: &mut impl FnMut(&[u8]),
    ) -> Result<Pass, TransportError> {
        let UnbufferedStatus { mut discard, state } = self.connection.process_tls_records(incoming);
        let mut content = 0;
        let next = match state {
            Ok(ConnectionState::ReadTraffic(mut traffic)) => {
                while let Some(record) = traffic.next_record() {
                    let record = record.map_err(TransportError::Tls)?;
                    discard += record.discard;
                    content += record.payload.len();
                    sink(record.payload);
                }
                NextStep::Taken
            }
            Ok(ConnectionState::EncodeTlsData(mut data)) => {
                encode_into(&mut data, buffers, &mut self.outbox)?;
                NextStep::Again
            }
            Ok(ConnectionState::TransmitTlsData(data)) => {
                data.done();
                NextStep::Again
            }
            Ok(ConnectionState::BlockedHandshake) => NextStep::ReadMore,
            Ok(ConnectionState::WriteTraffic(_)) => NextStep::Ready,
            Ok(ConnectionState::PeerClosed | ConnectionState::Closed) => NextStep::PeerClosed,
            Ok(_) => return Err(TransportError::Tls(rustls::Error::General("unexpected TLS state".into()))),
            Err(error) => {
                self.queue_alert(buffers);
                return Err(TransportError::Tls(error));
            }
        };
        Ok(Pass { discard, content, next })
    }

    /// After an error the connection offers its alert as one more thing to encode.
    fn queue_alert(&mut self, buffers: &Buffers) {
        if let Ok(ConnectionState::EncodeTlsData(mut data)) = self.connection.process_tls_records(&mut []).state {
            // Without the alert the peer learns less, but the failure reported is the same.
            let _ = encode_into(&mut data, buffers, &mut self.outbox);
        }
    }

    fn encrypt(&mut self, buffers: &Buffers, content: &[u8]) -> Result<(), TransportError> {
        loop {
            let UnbufferedStatus { state, .. } = self.connection.process_tls_records(&mut []);
            match state.map_err(TransportError::Tls)? {
                ConnectionState::WriteTraffic(mut traffic) => {
                    let room = self.outbox.room(buffers, content.len() + RECORD_EXTRA);
                    let written = traffic.encrypt(content, room).map_err(encrypt_failed)?;
                    self.outbox.end += written;
                    return Ok(());
                }
                ConnectionState::EncodeTlsData(mut data) => encode_into(&mut data, buffers, &mut self.outbox)?,
                ConnectionState::TransmitTlsData(data) => data.done(),
                _ => return Err(TransportError::Io(io::ErrorKind::BrokenPipe.into())),
            }
        }
    }
}

fn encode_into<Data>(
    data: &mut rustls::unbuffered::EncodeTlsData<'_, Data>,
    buffers: &Buffers,
    outbox: &mut Outbox,
) -> Result<(), TransportError> {
    let mut room = 1024;
    loop {
        match data.encode(outbox.room(buffers, room)) {
            Ok(written) => {
                outbox.end += written;
                return Ok(());
            }
            Err(EncodeError::InsufficientSize(needed)) if needed.required_size > room => room = needed.required_size,
            Err(error) => return Err(TransportError::Tls(rustls::Error::General(error.to_string()))),
        }
    }
}

fn encrypt_failed(error: EncryptError) -> TransportError {
    TransportError::Tls(rustls::Error::General(error.to_string()))
}

fn closed_in_handshake() -> TransportError {
    TransportError::Io(io::ErrorKind::UnexpectedEof.into())
}
