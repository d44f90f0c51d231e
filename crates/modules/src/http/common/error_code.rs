//! k6's `error_code`: why a request failed, or got an error status, as a number. The one list of them.
//!
//! The match over the kinds has no wildcard, so that a new kind of failure does not compile until it has a code.

use wire::FailureKind;

/// The first of the codes of GOAWAY: an error code that no RFC knows. NO_ERROR follows, then the others.
const HTTP2_GOAWAY: u16 = 1610;
/// The same of streams.
const HTTP2_STREAM: u16 = 1630;
/// The same of connections.
const HTTP2_CONNECTION: u16 = 1650;

macro_rules! error_codes {
    ($($code:literal = $($kind:ident)|*, $meaning:literal;)*) => {
        /// The code of a request that failed.
        pub fn of_failure(kind: FailureKind) -> u16 {
            match kind {
                $($(FailureKind::$kind => $code,)*)*
                FailureKind::Http2GoAway(reason) => HTTP2_GOAWAY + u16::from(reason),
                FailureKind::Http2Stream(reason) => HTTP2_STREAM + u16::from(reason),
                FailureKind::Http2Connection(reason) => HTTP2_CONNECTION + u16::from(reason),
            }
        }

        /// Each code and its meaning, for the reference.
        pub const MEANINGS: &[(u16, &str)] = &[$(($code, $meaning)),*];
    };
}

error_codes! {
    1000 = Other | Protocol | Payload | Cancelled, "An error without a code of its own. The server broke HTTP: a bad \
        chunk, a head that is too large, a status 101, a short body. The request's body could not be read to its \
        announced end, for example because its file was truncated. The test was stopped; such a request is not counted";
    1010 = NonTcp, "A network error that is not TCP's";
    1020 = InvalidUrl, "The URL is invalid";
    1050 = Timeout, "The request's time was over";
    1100 = Dns, "The name lookup failed";
    1101 = NoSuchHost, "There is no such host";
    1110 = BlacklistedIp, "The address is in `blacklistIPs`";
    1111 = BlockedHost, "The host is in `blockHostnames`";
    1201 = BrokenPipe, "The server closed the connection while the request was sent";
    1202 = UnknownErrno, "A TCP error that has only a number of the operating system";
    1210 = Dial, "Connecting failed";
    1211 = DialTimeout, "Connecting took too long";
    1212 = DialRefused, "The connection was refused";
    1213 = DialErrno, "Connecting failed with a number of the operating system";
    1220 = ConnectionReset, "The server reset the connection";
    1300 = Tls, "The TLS handshake failed";
    1301 = NotTls, "The server does not speak TLS";
    1310 = UnknownAuthority, "An unknown authority signed the certificate";
    1311 = WrongHost, "The certificate is for another host";
    1600 = Http2, "HTTP/2 failed without an error code";
    1610 = , "The server ended the HTTP/2 connection (GOAWAY): 1611 with NO_ERROR, up to 1624 with HTTP_1_1_REQUIRED; \
        1610 with a code that no RFC knows";
    1630 = , "The server reset the HTTP/2 stream, or broke the rules of streams: 1631 with NO_ERROR, up to 1644 with \
        HTTP_1_1_REQUIRED; 1630 with a code that no RFC knows";
    1650 = , "The server broke the rules of HTTP/2 connections: 1652 with PROTOCOL_ERROR, and on as above";
    1701 = Decompression, "The body could not be decoded";
    1710 = BodyTooLarge, "The decoded body exceeds `maxDecodedBody`, `maxDecodedRatio` or the user's memory; k6 has no \
        such limit";
}

/// The code of a response: 1000 more than an error status, else 0.
pub fn of_status(status: u16) -> u16 {
    if (400..600).contains(&status) { 1000 + status } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_status_is_a_code() {
        assert_eq!([200, 302, 399, 400, 404, 599, 600].map(of_status), [0, 0, 0, 1400, 1404, 1599, 0]);
    }

    /// Scripts compare with these numbers: they are k6's, and no two meanings share one.
    #[test]
    fn failures_have_the_codes_of_k6() {
        use FailureKind as K;
        for (code, kinds) in [
            (1000, &[K::Other, K::Protocol, K::Payload, K::Cancelled][..]),
            (1010, &[K::NonTcp]),
            (1020, &[K::InvalidUrl]),
            (1050, &[K::Timeout]),
            (1101, &[K::NoSuchHost]),
            (1110, &[K::BlacklistedIp]),
            (1111, &[K::BlockedHost]),
            (1201, &[K::BrokenPipe]),
            (1211, &[K::DialTimeout]),
            (1212, &[K::DialRefused]),
            (1213, &[K::DialErrno]),
            (1220, &[K::ConnectionReset]),
            (1310, &[K::UnknownAuthority]),
            (1311, &[K::WrongHost]),
            (1600, &[K::Http2]),
            (1613, &[K::Http2GoAway(3)]),
            (1630, &[K::Http2Stream(0)]),
            (1638, &[K::Http2Stream(8)]),
            (1652, &[K::Http2Connection(2)]),
            (1701, &[K::Decompression]),
        ] {
            kinds.iter().for_each(|kind| assert_eq!(of_failure(*kind), code, "{kind:?}"));
        }
        assert!(MEANINGS.is_sorted_by(|(a, _), (b, _)| a < b), "a code has two rows, or stands out of order");
    }
}
