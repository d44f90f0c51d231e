//! k6's `error_code`: why a request failed, or got an error status, as a number. The one list of them.
//!
//! The match over the kinds has no wildcard, so that a new kind of failure does not compile until it has a code.

use wire::FailureKind;

macro_rules! error_codes {
    ($($code:literal = $($kind:ident)|+, $meaning:literal;)*) => {
        /// The code of a request that failed.
        pub fn of_failure(kind: FailureKind) -> u16 {
            match kind {
                $($(FailureKind::$kind)|+ => $code),*
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
            (1701, &[K::Decompression]),
        ] {
            kinds.iter().for_each(|kind| assert_eq!(of_failure(*kind), code, "{kind:?}"));
        }
        assert!(MEANINGS.is_sorted_by(|(a, _), (b, _)| a < b), "a code has two rows, or stands out of order");
    }
}
