//! SOCKS5 (RFC 1928, names and passwords by RFC 1929): how a proxy is asked to connect somewhere else.
//!
//! The proxy looks names up, as with Go, whether the scheme is `socks5` or `socks5h`. Refuses what the protocol has no
//! room for when the settings are read. Nothing but replies can arrive before the tunnel is open, for both HTTP and TLS
//! let the client speak first; more than a reply means that it is not a proxy.

use std::future::poll_fn;
use std::io::IoSlice;
use std::net::IpAddr;

use crate::client::worker::context::IoContext;
use crate::failure::{Failure, FailureKind, Step};
use crate::failure_map;
use crate::io::arrival::TransportError;
use crate::transport::Transport;

const VERSION: u8 = 5;
const NO_LOGIN: u8 = 0;
const LOGIN: u8 = 2;
/// Longest name, password and host: their length is one byte.
const LONGEST: usize = 255;

/// The bytes for the proxy, made once for an origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SocksRequest {
    greeting: Vec<u8>,
    login: Option<Vec<u8>>,
    connect: Vec<u8>,
}

/// Name and password for a proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Login {
    name: String,
    password: String,
}

impl Login {
    /// The error says what is wrong, without repeating it.
    pub(crate) fn new(name: &str, password: &str) -> Result<Login, &'static str> {
        if name.is_empty() || name.len() > LONGEST || password.len() > LONGEST {
            return Err("found a name or password that SOCKS has no room for (1 to 255 bytes)");
        }
        Ok(Login { name: name.to_owned(), password: password.to_owned() })
    }
}

impl SocksRequest {
    /// Asks for a connection to this host, without brackets.
    pub(crate) fn new(host: &str, port: u16, login: Option<&Login>) -> Result<SocksRequest, Failure> {
        let mut connect = vec![VERSION, 1, 0];
        match host.parse() {
            Ok(IpAddr::V4(ip)) => {
                connect.push(1);
                connect.extend(ip.octets());
            }
            Ok(IpAddr::V6(ip)) => {
                connect.push(4);
                connect.extend(ip.octets());
            }
            Err(_) => {
                let length = u8::try_from(host.len()).map_err(|_| refused("the host name is longer than 255 bytes"))?;
                connect.extend([3, length]);
                connect.extend(host.as_bytes());
            }
        }
        connect.extend(port.to_be_bytes());
        let greeting = match login {
            None => vec![VERSION, 1, NO_LOGIN],
            Some(_) => vec![VERSION, 2, NO_LOGIN, LOGIN],
        };
        let login = login.map(|Login { name, password }| {
            // The lengths were checked when the login was made.
            let (name, password) = (name.as_bytes(), password.as_bytes());
            [&[1, name.len() as u8], name, &[password.len() as u8], password].concat()
        });
        Ok(SocksRequest { greeting, login, connect })
    }

    /// Talks to the proxy until the tunnel is open.
    pub(crate) async fn open(&self, io: &IoContext, transport: &mut Transport) -> Result<(), Failure> {
        send(transport, &self.greeting).await?;
        match (&receive(io, transport, |_| Some(2)).await?[..], &self.login) {
            ([VERSION, NO_LOGIN], _) => {}
            ([VERSION, LOGIN], Some(login)) => {
                send(transport, login).await?;
                if receive(io, transport, |_| Some(2)).await?[1] != 0 {
                    return Err(refused("it does not accept the name and password"));
                }
            }
            ([VERSION, _], _) => return Err(refused("it wants another way of logging in")),
            _ => return Err(refused("it does not speak SOCKS5")),
        }
        send(transport, &self.connect).await?;
        let reply = receive(io, transport, reply_length).await?;
        match reply[1] {
            _ if reply[0] != VERSION => Err(refused("it does not speak SOCKS5")),
            0 => Ok(()),
            code => Err(refused(reason(code))),
        }
    }
}

/// Length of a reply to a connect, once that can be seen.
fn reply_length(reply: &[u8]) -> Option<usize> {
    match *reply.get(3)? {
        1 => Some(4 + 4 + 2),
        4 => Some(4 + 16 + 2),
        3 => Some(4 + 1 + usize::from(*reply.get(4)?) + 2),
        // Not SOCKS: what there is will do to say so.
        _ => Some(4),
    }
}

fn reason(code: u8) -> &'static str {
    match code {
        1 => "general SOCKS server failure",
        2 => "connection not allowed by ruleset",
        3 => "network unreachable",
        4 => "host unreachable",
        5 => "connection refused",
        6 => "TTL expired",
        7 => "command not supported",
        8 => "address type not supported",
        _ => "it gives a reason that SOCKS5 does not know",
    }
}

fn refused(why: &str) -> Failure {
    let message = format!("SOCKS proxy refused the connection: {why}");
    Failure { step: Step::Connect, kind: FailureKind::Other, message }
}

async fn send(transport: &mut Transport, bytes: &[u8]) -> Result<(), Failure> {
    let mut rest = bytes;
    while !rest.is_empty() {
        let written = poll_fn(|cx| transport.socket.poll_send(cx, &[IoSlice::new(rest)])).await;
        let n = written.map_err(|error| failure_map::transport(TransportError::Io(error), Step::Connect))?;
        transport.sent += n as u64;
        rest = &rest[n..];
    }
    Ok(())
}

/// Reads one reply of the length that `length` finds in its beginning.
async fn receive(
    io: &IoContext,
    transport: &mut Transport,
    length: impl Fn(&[u8]) -> Option<usize>,
) -> Result<Vec<u8>, Failure> {
    let mut reply = Vec::new();
    loop {
        match length(&reply) {
            Some(length) if reply.len() > length => return Err(refused("it says more than SOCKS5 asks for")),
            Some(length) if reply.len() == length => return Ok(reply),
            _ => {}
        }
        let arrival =
            poll_fn(|cx| transport.poll_receive(cx, &io.buffers, |bytes| reply.extend_from_slice(bytes))).await;
        if arrival.map_err(|error| failure_map::transport(error, Step::Connect))?.closed {
            return Err(refused("it hung up"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_named_or_numbered() {
        let connect = |host: &str| SocksRequest::new(host, 0x1234, None).map(|request| request.connect);
        assert_eq!(connect("a.test").unwrap(), b"\x05\x01\x00\x03\x06a.test\x12\x34");
        assert_eq!(connect("1.2.3.4").unwrap(), b"\x05\x01\x00\x01\x01\x02\x03\x04\x12\x34");
        assert_eq!(connect("::1").unwrap()[3..], [4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0x12, 0x34]);
        assert!(connect(&"a".repeat(256)).is_err());
    }

    #[test]
    fn logins_fit_their_bytes() {
        let login = Login::new("us", "").unwrap();
        let request = SocksRequest::new("h", 1, Some(&login)).unwrap();
        assert_eq!((request.greeting, request.login), (vec![5, 2, 0, 2], Some(b"\x01\x02us\x00".to_vec())));
        assert!(Login::new("", "p").is_err() && Login::new("u", &"p".repeat(256)).is_err());
    }

    #[test]
    fn replies_end_where_their_address_ends() {
        assert_eq!([&b""[..], b"\x05\x00\x00", b"\x05\x00\x00\x03"].map(reply_length), [None; 3]);
        assert_eq!(reply_length(b"\x05\x00\x00\x01"), Some(10));
        assert_eq!(reply_length(b"\x05\x00\x00\x03\x04"), Some(11));
        assert_eq!(reply_length(b"\x05\x00\x00\x04"), Some(22));
        assert_eq!(reply_length(b"HTTP"), Some(4));
    }
}
