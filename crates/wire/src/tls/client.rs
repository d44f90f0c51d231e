//! The client's end of TLS: it begins the handshake and sends requests run by run.

use std::future::poll_fn;
use std::io;
use std::task::{Context, Poll, ready};

use rustls::ProtocolVersion;
use rustls::client::UnbufferedClientConnection;

use super::config::TlsTarget;
use super::end::Line;
use super::outbox::RECORD;
use super::session::Session;
use crate::io::arrival::{TURN, TransportError, end_turn};
use crate::io::upload::{Shown, Upload};
use crate::link::LinkedSocket;

/// A client's session.
pub(crate) type ClientSession = Session<UnbufferedClientConnection>;

impl Session<UnbufferedClientConnection> {
    /// A session towards a server.
    pub(crate) fn towards(target: &TlsTarget) -> Result<ClientSession, TransportError> {
        let connection =
            UnbufferedClientConnection::new(target.config.clone(), target.name.clone()).map_err(TransportError::Tls)?;
        Ok(Session::new(connection))
    }

    /// `tls1.2` or `tls1.3`.
    pub(crate) fn version(&self) -> Option<&'static str> {
        match self.connection().protocol_version()? {
            ProtocolVersion::TLSv1_2 => Some("tls1.2"),
            ProtocolVersion::TLSv1_3 => Some("tls1.3"),
            _ => None,
        }
    }

    /// IANA name of the suite in use.
    pub(crate) fn cipher_suite(&self) -> Option<&'static str> {
        super::choice::suite_name(self.connection().negotiated_cipher_suite()?.suite())
    }

    /// The server chose HTTP/2.
    pub(crate) fn chose_http2(&self) -> bool {
        self.connection().alpn_protocol() == Some(b"h2")
    }

    /// Runs the handshake to its end.
    pub(crate) async fn handshake(&mut self, mut line: Line<'_, LinkedSocket>) -> Result<(), TransportError> {
        self.begin(line.buffers)?;
        poll_fn(|cx| self.poll_handshake(cx, &mut line)).await
    }

    fn poll_handshake(
        &mut self,
        cx: &mut Context<'_>,
        line: &mut Line<'_, LinkedSocket>,
    ) -> Poll<Result<(), TransportError>> {
        loop {
            ready!(self.poll_flush(cx, line)).map_err(TransportError::Io)?;
            if !self.connection().is_handshaking() {
                return Poll::Ready(Ok(()));
            }
            // What a server says before it is asked belongs to the first answer.
            let arrival = ready!(self.poll_receive(cx, line, 0, &mut |_| {}))?;
            if arrival.closed && self.connection().is_handshaking() {
                return Poll::Ready(Err(TransportError::Io(io::ErrorKind::UnexpectedEof.into())));
            }
        }
    }

    /// Encrypts and writes until everything is with the kernel.
    pub(crate) fn poll_send(
        &mut self,
        cx: &mut Context<'_>,
        mut line: Line<'_, LinkedSocket>,
        upload: &mut Upload<'_>,
        shown: Shown<'_>,
    ) -> Poll<Result<(), TransportError>> {
        let turn = *line.sent + TURN;
        loop {
            ready!(self.poll_flush(cx, &mut line)).map_err(TransportError::Io)?;
            if upload.is_done() {
                return Poll::Ready(Ok(()));
            }
            if *line.sent >= turn {
                return end_turn(cx);
            }
            while !upload.is_done() && self.has_room() {
                let mut gathered = line.buffers.gather_buffer(RECORD);
                let run = upload.next_run(shown, &mut gathered).map_err(TransportError::Payload)?;
                self.encrypt(line.buffers, run)?;
                let n = run.len();
                upload.advance(n);
            }
        }
    }
}
