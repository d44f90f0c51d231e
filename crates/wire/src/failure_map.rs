//! What the operating system and the TLS library report, in k6's words and kinds. The one table of wire failures.

use std::io;

use crate::failure::{Failure, FailureKind, Step};
use crate::payload::PayloadError;
use crate::transport::TransportError;

/// The request's time was over.
pub(crate) fn timeout(step: Step) -> Failure {
    Failure { step, kind: FailureKind::Timeout, message: String::from("request timeout") }
}

/// Dialling took longer than dialling may.
pub(crate) fn dial_timeout() -> Failure {
    let message = String::from("dial: i/o timeout");
    Failure { step: Step::Connect, kind: FailureKind::DialTimeout, message }
}

/// A connect failed.
pub(crate) fn dial(error: &io::Error) -> Failure {
    let kind = match error.raw_os_error() {
        Some(libc::ECONNREFUSED) => FailureKind::DialRefused,
        Some(libc::ETIMEDOUT) => FailureKind::DialTimeout,
        Some(_) => FailureKind::DialErrno,
        None => FailureKind::Dial,
    };
    Failure { step: Step::Connect, kind, message: format!("dial: {}", errno_text(error)) }
}

/// The peer broke HTTP.
pub(crate) fn protocol(step: Step, message: String) -> Failure {
    Failure { step, kind: FailureKind::Protocol, message }
}

/// The peer closed: before anything came, or in the middle.
pub(crate) fn closed(step: Step) -> Failure {
    let message = if step == Step::Receive { "unexpected EOF" } else { "EOF" };
    Failure { step, kind: FailureKind::Other, message: String::from(message) }
}

/// A transport failed while doing `step`.
pub(crate) fn transport(error: TransportError, step: Step) -> Failure {
    match error {
        TransportError::Io(error) => io_failure(&error, step),
        TransportError::Tls(error) => tls(&error, step),
        TransportError::Payload(error) => payload(error, step),
    }
}

/// What was to be sent cannot be read.
pub(crate) fn payload(error: PayloadError, step: Step) -> Failure {
    Failure { step, kind: FailureKind::Payload, message: error.0 }
}

fn io_failure(error: &io::Error, step: Step) -> Failure {
    let verb = if step == Step::Send { "write" } else { "read" };
    let kind = match error.raw_os_error() {
        Some(libc::ECONNRESET) => FailureKind::ConnectionReset,
        Some(libc::EPIPE) => FailureKind::BrokenPipe,
        Some(_) => FailureKind::UnknownErrno,
        None if error.kind() == io::ErrorKind::BrokenPipe => FailureKind::BrokenPipe,
        None if error.kind() == io::ErrorKind::UnexpectedEof => return closed(step),
        None => FailureKind::Other,
    };
    Failure { step, kind, message: format!("{verb}: {}", errno_text(error)) }
}

fn tls(error: &rustls::Error, step: Step) -> Failure {
    use rustls::{CertificateError as C, Error as E, InvalidMessage as M};
    let (kind, message) = match error {
        E::InvalidMessage(M::InvalidContentType | M::UnknownProtocolVersion) if step == Step::Handshake => {
            (FailureKind::NotTls, String::from("tls: first record does not look like a TLS handshake"))
        }
        E::InvalidCertificate(C::UnknownIssuer) => {
            (FailureKind::UnknownAuthority, String::from("x509: unknown authority"))
        }
        E::InvalidCertificate(C::NotValidForName | C::NotValidForNameContext { .. }) => {
            (FailureKind::WrongHost, String::from("x509: certificate doesn't match hostname"))
        }
        E::InvalidCertificate(reason) => (FailureKind::Other, format!("x509: {}", certificate_text(reason))),
        E::AlertReceived(alert) => (FailureKind::NonTcp, format!("remote error: tls: {}", alert_text(*alert))),
        error => (FailureKind::Tls, format!("tls: {error}")),
    };
    Failure { step, kind, message }
}

fn certificate_text(reason: &rustls::CertificateError) -> String {
    use rustls::CertificateError as C;
    let dates = "certificate has expired or is not yet valid";
    match reason {
        C::Expired | C::NotValidYet => String::from(dates),
        C::ExpiredContext { time, not_after } => {
            format!("{dates}: current time {} is after {}", rfc3339(time.as_secs()), rfc3339(not_after.as_secs()))
        }
        C::NotValidYetContext { time, not_before } => {
            format!("{dates}: current time {} is before {}", rfc3339(time.as_secs()), rfc3339(not_before.as_secs()))
        }
        C::UnsupportedSignatureAlgorithmContext { .. } => {
            String::from("certificate signed with an algorithm that is not supported (SHA-1, or RSA below 2048 bits)")
        }
        reason => format!("{reason:?}").split([' ', '(']).next().unwrap_or("invalid certificate").to_owned(),
    }
}

/// Alerts as Go words them; what is not listed reads like its name in the RFC.
fn alert_text(alert: rustls::AlertDescription) -> String {
    use rustls::AlertDescription as A;
    let text = match alert {
        A::CloseNotify => "close notify",
        A::BadRecordMac => "bad record MAC",
        A::CertificateRevoked => "revoked certificate",
        A::CertificateExpired => "expired certificate",
        A::CertificateUnknown => "unknown certificate",
        A::UnknownCA => "unknown certificate authority",
        A::DecodeError => "error decoding message",
        A::DecryptError => "error decrypting message",
        A::ProtocolVersion => "protocol version not supported",
        A::InsufficientSecurity => "insufficient security level",
        A::UnknownPSKIdentity => "unknown PSK identity",
        other => return words(&format!("{other:?}")),
    };
    String::from(text)
}

/// `HandshakeFailure` as `handshake failure`.
fn words(name: &str) -> String {
    let mut text = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !text.is_empty() {
            text.push(' ');
        }
        text.push(c.to_ascii_lowercase());
    }
    text
}

/// A moment in UTC, to the second.
fn rfc3339(unix_seconds: u64) -> String {
    let (days, rest) = (unix_seconds / 86_400, unix_seconds % 86_400);
    // Civil date from days, counted in 400-year eras that begin on 1 March.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

/// The C library's text in Go's spelling: lower case, without Rust's error number.
fn errno_text(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    text.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_civil() {
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00Z");
        assert_eq!(rfc3339(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(rfc3339(1_798_761_599), "2026-12-31T23:59:59Z");
    }

    #[test]
    fn system_errors_are_in_gos_spelling() {
        let error = |errno| io::Error::from_raw_os_error(errno);
        let refused = dial(&error(libc::ECONNREFUSED));
        assert_eq!((refused.message.as_str(), refused.kind.code()), ("dial: connection refused", 1212));
        let no_port = dial(&error(libc::EADDRNOTAVAIL));
        assert_eq!((no_port.message.as_str(), no_port.kind.code()), ("dial: cannot assign requested address", 1213));
        let reset = transport(TransportError::Io(error(libc::ECONNRESET)), Step::Wait);
        assert_eq!((reset.message.as_str(), reset.kind.code()), ("read: connection reset by peer", 1220));
        let pipe = transport(TransportError::Io(error(libc::EPIPE)), Step::Send);
        assert_eq!((pipe.message.as_str(), pipe.kind.code()), ("write: broken pipe", 1201));
    }

    #[test]
    fn alerts_read_as_in_go() {
        use rustls::AlertDescription as A;
        let cases = [
            (A::HandshakeFailure, "remote error: tls: handshake failure"),
            (A::CertificateRequired, "remote error: tls: certificate required"),
            (A::ProtocolVersion, "remote error: tls: protocol version not supported"),
        ];
        for (alert, text) in cases {
            let failure = transport(TransportError::Tls(rustls::Error::AlertReceived(alert)), Step::Handshake);
            assert_eq!((failure.message.as_str(), failure.kind), (text, FailureKind::NonTcp));
        }
    }
}
