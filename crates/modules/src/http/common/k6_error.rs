//! What scripts and tags are told about a failed request: k6's words, where k6 says less than its log.

use wire::failure::{NO_LOCAL_PORT, UNVERIFIED};
use wire::{Failure, FailureKind};

/// The text of `res.error` and of the tag `error`: k6 leaves hosts, addresses and patterns to the log line, and Onrush
/// its advice.
pub fn k6_error(failure: &Failure) -> &str {
    let message = failure.message.strip_suffix(NO_LOCAL_PORT).unwrap_or(&failure.message);
    match failure.kind {
        FailureKind::UnknownAuthority => "x509: unknown authority",
        FailureKind::WrongHost => "x509: certificate doesn't match hostname",
        FailureKind::BlockedHost => "hostname is blocked",
        FailureKind::Timeout => "request timeout",
        FailureKind::BlacklistedIp => "ip is blacklisted",
        // k6 keeps the "x509: " that the prefix ends with.
        _ if message.starts_with(UNVERIFIED) => &message[UNVERIFIED.len() - "x509: ".len()..],
        // k6 keeps the package's name before its other texts.
        _ if message.starts_with("http2: invalid ") => &message["http2: ".len()..],
        _ => message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_of_a_response_is_short() {
        let error = |kind, message: &str| {
            k6_error(&Failure { step: wire::Step::Connect, kind, message: message.to_owned() }).to_owned()
        };
        let no_port = format!("dial: cannot assign requested address{NO_LOCAL_PORT}");
        let expired = format!("{UNVERIFIED}certificate has expired");
        for (kind, message, short) in [
            (FailureKind::DialRefused, "dial: connection refused", "dial: connection refused"),
            (FailureKind::DialErrno, &no_port, "dial: cannot assign requested address"),
            (FailureKind::UnknownAuthority, &expired, "x509: unknown authority"),
            (FailureKind::WrongHost, &expired, "x509: certificate doesn't match hostname"),
            (FailureKind::Other, &expired, "x509: certificate has expired"),
            (
                FailureKind::Other,
                "http2: invalid Upgrade request header: [\"x\"]",
                "invalid Upgrade request header: [\"x\"]",
            ),
            (FailureKind::BlockedHost, "hostname (a.b) is in a blocked pattern (*.b)", "hostname is blocked"),
            (FailureKind::BlacklistedIp, "IP (1.2.3.4) is in a blacklisted range (1.0.0.0/8)", "ip is blacklisted"),
            (FailureKind::Timeout, "request timeout: the name server has not answered yet", "request timeout"),
        ] {
            assert_eq!(error(kind, message), short);
        }
    }
}
