//! Datagrams to one peer, for protocols over UDP: questions to name servers.
//!
//! The peer is found by the run's rules for names, addresses and local addresses. A user with a link has no datagrams:
//! a link carries streams, and what passed beside it would be faster than the network that the test asks for.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use tokio::net::UdpSocket;

use crate::client::Client;
use crate::client::route::endpoint::Address;
use crate::failure::{Failure, FailureKind, Step};

/// A socket that sends to one peer and receives from it alone. It is closed by dropping it.
#[derive(Debug)]
pub struct DatagramSocket {
    socket: UdpSocket,
    peer: SocketAddr,
}

impl Client {
    /// Opens one.
    pub async fn open_datagrams(&self, host: &str, port: u16) -> Result<DatagramSocket, Failure> {
        let failed = |message: String| Failure { step: Step::Connect, kind: FailureKind::Dial, message };
        if self.link.borrow().is_some() {
            let why = "this user has a network of its own (the option network), which carries no UDP";
            return Err(failed(why.to_owned()));
        }
        let host = host.to_ascii_lowercase();
        let route = self.worker.origins.route_to(&host, port, self.local).await?;
        let peer = match route.addresses.first() {
            Some(Address::Tcp(peer)) => *peer,
            _ => return Err(failed(format!("the option hosts has a unix socket for {host}, expected an address"))),
        };
        let any = if peer.is_ipv4() { IpAddr::from(Ipv4Addr::UNSPECIFIED) } else { Ipv6Addr::UNSPECIFIED.into() };
        let opened = async {
            let socket = UdpSocket::bind((route.local.unwrap_or(any), 0)).await?;
            socket.connect(peer).await?;
            Ok::<_, io::Error>(socket)
        };
        match opened.await {
            Ok(socket) => Ok(DatagramSocket { socket, peer }),
            Err(error) => Err(failed(format!("dial udp {peer}: {error}"))),
        }
    }
}

impl DatagramSocket {
    /// The peer's address.
    pub fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// Sends one datagram.
    pub async fn send(&self, datagram: &[u8]) -> io::Result<()> {
        self.socket.send(datagram).await.map(drop)
    }

    /// Waits for one and gives its length. What the buffer has no room for is lost.
    pub async fn receive(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.socket.recv(buffer).await
    }
}
