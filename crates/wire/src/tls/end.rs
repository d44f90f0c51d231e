//! The two ends of a TLS session: all in which client and server differ.
//!
//! rustls has a type of connection for each, with the same methods. A client's socket may have a link in it and is
//! tried at once. A server's waits for readiness first, so that a task that never waits for its peer gives way to
//! others.

use std::io::{self, IoSlice};
use std::ops::DerefMut;
use std::task::{Context, Poll};

use rustls::client::{ClientConnectionData, UnbufferedClientConnection};
use rustls::server::{ServerConnectionData, UnbufferedServerConnection};
use rustls::unbuffered::{UnbufferedConnectionCommon, UnbufferedStatus};

use crate::io::buffers::Buffers;
use crate::io::receive::Received;
use crate::io::socket::Socket;
use crate::link::LinkedSocket;

/// What a session works with during a call.
pub(crate) struct Line<'a, Socket> {
    /// Carries the records.
    pub(crate) socket: &'a Socket,
    /// The thread's.
    pub(crate) buffers: &'a Buffers,
    /// Counts bytes on the network.
    pub(crate) sent: &'a mut u64,
    /// Counts bytes on the network.
    pub(crate) received: &'a mut u64,
}

/// One end of a session: what rustls knows of it, and the socket that carries its records.
pub(crate) trait TlsEnd: DerefMut<Target = UnbufferedConnectionCommon<Self::Data>> {
    /// What rustls knows of this end alone.
    type Data;
    /// What carries the records.
    type Socket;

    /// One step over received records.
    fn process<'c, 'i>(&'c mut self, incoming: &'i mut [u8]) -> UnbufferedStatus<'c, 'i, Self::Data>;

    /// Writes what the socket takes, waiting only when it takes nothing.
    fn poll_send(socket: &Self::Socket, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>>;

    /// Waits for readiness, then reads once.
    fn poll_receive(socket: &Self::Socket, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<Received>>;
}

impl TlsEnd for UnbufferedClientConnection {
    type Data = ClientConnectionData;
    type Socket = LinkedSocket;

    fn process<'c, 'i>(&'c mut self, incoming: &'i mut [u8]) -> UnbufferedStatus<'c, 'i, Self::Data> {
        self.process_tls_records(incoming)
    }

    fn poll_send(socket: &LinkedSocket, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        socket.poll_send(cx, &[IoSlice::new(bytes)])
    }

    fn poll_receive(socket: &LinkedSocket, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<Received>> {
        socket.poll_receive(cx, buffer)
    }
}

impl TlsEnd for UnbufferedServerConnection {
    type Data = ServerConnectionData;
    type Socket = Socket;

    fn process<'c, 'i>(&'c mut self, incoming: &'i mut [u8]) -> UnbufferedStatus<'c, 'i, Self::Data> {
        self.process_tls_records(incoming)
    }

    fn poll_send(socket: &Socket, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        socket.poll_send_fairly(cx, &[IoSlice::new(bytes)])
    }

    fn poll_receive(socket: &Socket, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<Received>> {
        socket.poll_receive(cx, buffer)
    }
}
