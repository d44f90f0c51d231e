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

/// What kind of failure it was; one table maps it to k6's `error_code`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FailureKind {
    /// 1000.
    Other,
    /// 1010: a network error that is not TCP's.
    NonTcp,
    /// 1020.
    InvalidUrl,
    /// 1050: the request's time was over.
    Timeout,
    /// 1100.
    Dns,
    /// 1101.
    NoSuchHost,
    /// 1110.
    BlacklistedIp,
    /// 1111.
    BlockedHost,
    /// 1200.
    Tcp,
    /// 1201.
    BrokenPipe,
    /// 1202.
    UnknownErrno,
    /// 1210.
    Dial,
    /// 1211.
    DialTimeout,
    /// 1212.
    DialRefused,
    /// 1213.
    DialErrno,
    /// 1220.
    ConnectionReset,
    /// 1300.
    Tls,
    /// 1301: the other side does not speak TLS.
    NotTls,
    /// 1310.
    UnknownAuthority,
    /// 1311.
    WrongHost,
    /// 1701.
    Decompression,
    /// 1710, which k6 does not have: a body became larger by decoding than the limits allow.
    DecodedTooLarge,
    /// 1000: the peer broke HTTP (bad chunk, header too large, 101, short body).
    Protocol,
    /// 1000: the body could not be read to its announced end (a file that was truncated).
    Payload,
    /// The caller gave up (test stopped): not counted as a request.
    Cancelled,
}

/// Why an exchange has no complete response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Where.
    pub step: Step,
    /// What kind.
    pub kind: FailureKind,
    /// Text for people, k6's words where scripts match on them ("dial: connection refused", "request timeout").
    pub message: String,
}

impl FailureKind {
    /// k6's `error_code`.
    pub fn code(self) -> u16 {
        use FailureKind::*;
        match self {
            Other | Protocol | Payload | Cancelled => 1000,
            NonTcp => 1010,
            InvalidUrl => 1020,
            Timeout => 1050,
            Dns => 1100,
            NoSuchHost => 1101,
            BlacklistedIp => 1110,
            BlockedHost => 1111,
            Tcp => 1200,
            BrokenPipe => 1201,
            UnknownErrno => 1202,
            Dial => 1210,
            DialTimeout => 1211,
            DialRefused => 1212,
            DialErrno => 1213,
            ConnectionReset => 1220,
            Tls => 1300,
            NotTls => 1301,
            UnknownAuthority => 1310,
            WrongHost => 1311,
            Decompression => 1701,
            DecodedTooLarge => 1710,
        }
    }
}

impl Failure {
    /// The text of `response.error`: k6 leaves host, address and pattern to the log line there.
    pub fn k6_error(&self) -> &str {
        match self.kind {
            FailureKind::BlockedHost => "hostname is blocked",
            FailureKind::BlacklistedIp => "ip is blacklisted",
            _ => &self.message,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
