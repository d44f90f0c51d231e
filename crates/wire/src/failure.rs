//! A request that failed is an `Exchange` with a `Failure`, never a Rust error: it must be counted.

use std::fmt;

/// Where an exchange failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// Before any IO: URL, blocked host, header that cannot be sent.
    Prepare,
    /// Name lookup.
    Lookup,
    /// TCP or unix connect, proxy included.
    Connect,
    /// TLS handshake.
    Handshake,
    /// Writing the request.
    Send,
    /// Waiting for the first response byte.
    Wait,
    /// Reading the response.
    Receive,
    /// Decoding the body (content coding).
    Decode,
}

/// What kind of failure it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FailureKind {
    /// None of the others.
    Other,
    /// The server broke HTTP: a bad chunk, a head that is too large, a status 101, a short body.
    Protocol,
    /// The body could not be read to its announced end, for example because its file was truncated.
    Payload,
    /// The test was stopped; not counted as a request.
    Cancelled,
    /// A network error that is not TCP's.
    NonTcp,
    /// The URL is invalid.
    InvalidUrl,
    /// The request's time was over.
    Timeout,
    /// The name lookup failed.
    Dns,
    /// There is no such host.
    NoSuchHost,
    /// The address is in `blacklistIPs`.
    BlacklistedIp,
    /// The host is in `blockHostnames`.
    BlockedHost,
    /// The server closed the connection while the request was sent.
    BrokenPipe,
    /// A TCP error that has only a number of the operating system.
    UnknownErrno,
    /// Connecting failed.
    Dial,
    /// Connecting took too long.
    DialTimeout,
    /// The connection was refused.
    DialRefused,
    /// Connecting failed with a number of the operating system.
    DialErrno,
    /// The server reset the connection.
    ConnectionReset,
    /// The TLS handshake failed.
    Tls,
    /// The server does not speak TLS.
    NotTls,
    /// An unknown authority signed the certificate.
    UnknownAuthority,
    /// The certificate is for another host.
    WrongHost,
    /// HTTP/2 failed without an error code.
    Http2,
    /// The server ended the HTTP/2 connection (GOAWAY) with this error code.
    Http2GoAway(u8),
    /// The server reset the HTTP/2 stream, or broke the rules of streams: this error code.
    Http2Stream(u8),
    /// The server broke the rules of HTTP/2 connections: this error code.
    Http2Connection(u8),
    /// The body could not be decoded.
    Decompression,
    /// The decoded body exceeds its limits or the user's memory.
    BodyTooLarge,
}

/// Why an exchange has no complete response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Where.
    pub step: Step,
    /// What kind.
    pub kind: FailureKind,
    /// Text for people: `dial: connection refused`.
    pub message: String,
}

/// What to do when the machine has no local port left for an address: how the message of such a failure ends.
pub const NO_LOCAL_PORT: &str = "; every local port towards this address is in use or was until a minute ago: keep \
    connections (noConnectionReuse, noVUConnectionReuse), add addresses with the option localIPs, or widen \
    net.ipv4.ip_local_port_range";

/// How the message begins where a certificate was refused; the reason follows.
pub const UNVERIFIED: &str = "tls: failed to verify certificate: x509: ";

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
