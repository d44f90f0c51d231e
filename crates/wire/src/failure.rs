//! A request that failed is an `Exchange` with a `Failure`, never a Rust error: it must be counted.

use std::fmt;

use crate::failure_map::{NO_PORT, UNVERIFIED};

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
    /// 1710, which k6 does not have: a body became larger than the limits of decoding, or of its user's memory, allow.
    BodyTooLarge,
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
            BodyTooLarge => 1710,
        }
    }
}

impl Failure {
    /// The text of `response.error` and of the tag `error`: k6 leaves hosts, addresses and patterns to the log line, and we our
    /// advice.
    pub fn k6_error(&self) -> &str {
        let message = self.message.strip_suffix(NO_PORT).unwrap_or(&self.message);
        match self.kind {
            FailureKind::UnknownAuthority => "x509: unknown authority",
            FailureKind::WrongHost => "x509: certificate doesn't match hostname",
            FailureKind::BlockedHost => "hostname is blocked",
            FailureKind::Timeout => "request timeout",
            FailureKind::BlacklistedIp => "ip is blacklisted",
            // k6 keeps the "x509: " that the prefix ends with.
            _ if message.starts_with(UNVERIFIED) => &message[UNVERIFIED.len() - "x509: ".len()..],
            _ => message,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
