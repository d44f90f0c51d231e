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

macro_rules! failure_kinds {
    ($($name:ident = $code:literal, $meaning:literal;)*) => {
        /// What kind of failure it was. The one list from kinds to k6's `error_code`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum FailureKind {
            $(#[doc = $meaning] $name),*
        }

        impl FailureKind {
            /// k6's `error_code`.
            pub fn code(self) -> u16 {
                match self {
                    $(FailureKind::$name => $code),*
                }
            }

            /// Each kind's code and meaning, for the reference.
            pub const MEANINGS: &[(u16, &str)] = &[$(($code, $meaning)),*];
        }
    };
}

failure_kinds! {
    Other = 1000, "An error without a code of its own";
    Protocol = 1000, "The server broke HTTP: a bad chunk, a head that is too large, a status 101, a short body";
    Payload = 1000, "The body could not be read to its announced end, for example because its file was truncated";
    Cancelled = 1000, "The test was stopped; not counted as a request";
    NonTcp = 1010, "A network error that is not TCP's";
    InvalidUrl = 1020, "The URL is invalid";
    Timeout = 1050, "The request's time was over";
    Dns = 1100, "The name lookup failed";
    NoSuchHost = 1101, "There is no such host";
    BlacklistedIp = 1110, "The address is in `blacklistIPs`";
    BlockedHost = 1111, "The host is in `blockHostnames`";
    Tcp = 1200, "A TCP error without a code of its own";
    BrokenPipe = 1201, "The server closed the connection while the request was sent";
    UnknownErrno = 1202, "A TCP error that has only a number of the operating system";
    Dial = 1210, "Connecting failed";
    DialTimeout = 1211, "Connecting took too long";
    DialRefused = 1212, "The connection was refused";
    DialErrno = 1213, "Connecting failed with a number of the operating system";
    ConnectionReset = 1220, "The server reset the connection";
    Tls = 1300, "The TLS handshake failed";
    NotTls = 1301, "The server does not speak TLS";
    UnknownAuthority = 1310, "An unknown authority signed the certificate";
    WrongHost = 1311, "The certificate is for another host";
    Decompression = 1701, "The body could not be decoded";
    BodyTooLarge = 1710, "The decoded body exceeds `maxDecodedBody`, `maxDecodedRatio` or the user's memory; k6 has no \
        such limit";
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
