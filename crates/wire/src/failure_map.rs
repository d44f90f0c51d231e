//! What the operating system and the TLS library report, as failures. The one table of them.

use std::io;

use crate::failure::{Failure, FailureKind, NO_LOCAL_PORT, Step, UNVERIFIED};
use crate::h1::decode::Unreadable;
use crate::io::arrival::TransportError;
use crate::payload::PayloadError;
use crate::room::NoRoom;

/// The request's time was over.
pub(crate) fn timeout(step: Step) -> Failure {
    Failure { step, kind: FailureKind::Timeout, message: String::from("request timeout") }
}

/// The request's time was over before its host had an address.
pub(crate) fn lookup_timeout() -> Failure {
    let message = String::from("request timeout: the name server has not answered yet");
    Failure { step: Step::Lookup, kind: FailureKind::Timeout, message }
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
    let advice = if error.raw_os_error() == Some(libc::EADDRNOTAVAIL) { NO_LOCAL_PORT } else { "" };
    Failure { step: Step::Connect, kind, message: format!("dial: {}{advice}", errno_text(error)) }
}

/// The peer broke HTTP.
pub(crate) fn protocol(step: Step, message: String) -> Failure {
    Failure { step, kind: FailureKind::Protocol, message }
}

/// What arrived at this step cannot be read on.
pub(crate) fn unreadable(why: Unreadable, step: Step) -> Failure {
    match why {
        Unreadable::Broken(message) => protocol(step, message),
        Unreadable::TooLarge(why) => body_too_large(&why),
    }
}

/// A body that is kept does not fit.
pub(crate) fn body_too_large(why: &NoRoom) -> Failure {
    let message = format!("response body too large: {}", why.0);
    Failure { step: Step::Receive, kind: FailureKind::BodyTooLarge, message }
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

/// A stream of HTTP/2 ended with an error code, of the peer's or of ours.
pub(crate) fn http2_stream(code: u32, step: Step) -> Failure {
    let (number, name) = http2_code(code);
    let message = format!("http2: stream error with http2 ErrCode {name}");
    Failure { step, kind: FailureKind::Http2Stream(number), message }
}

/// This side ended a connection of HTTP/2 with an error code.
pub(crate) fn http2_connection(code: u32, step: Step) -> Failure {
    let (number, name) = http2_code(code);
    let message = format!("http2: connection error with http2 ErrCode {name}");
    Failure { step, kind: FailureKind::Http2Connection(number), message }
}

/// The server said goodbye with an error code and then closed.
pub(crate) fn http2_goodbye(code: u32, step: Step) -> Failure {
    let (number, name) = http2_code(code);
    let message = format!("http2: received GoAway with http2 ErrCode {name}");
    Failure { step, kind: FailureKind::Http2GoAway(number), message }
}

/// The server ended the connection before it processed the stream.
pub(crate) fn http2_excluded(code: u32, step: Step) -> Failure {
    let (_, name) = http2_code(code);
    let message = format!("http2: Transport received GOAWAY from server ErrCode:{name}");
    Failure { step, kind: FailureKind::Other, message }
}

/// The name of an error code of HTTP/2 (RFC 9113 7), if that RFC knows it.
pub fn http2_error_name(code: u32) -> Option<&'static str> {
    const NAMES: [&str; 14] = [
        "NO_ERROR",
        "PROTOCOL_ERROR",
        "INTERNAL_ERROR",
        "FLOW_CONTROL_ERROR",
        "SETTINGS_TIMEOUT",
        "STREAM_CLOSED",
        "FRAME_SIZE_ERROR",
        "REFUSED_STREAM",
        "CANCEL",
        "COMPRESSION_ERROR",
        "CONNECT_ERROR",
        "ENHANCE_YOUR_CALM",
        "INADEQUATE_SECURITY",
        "HTTP_1_1_REQUIRED",
    ];
    NAMES.get(code as usize).copied()
}

/// The number of an error code among k6's, 0 for one that no RFC knows, and its name.
fn http2_code(code: u32) -> (u8, String) {
    match http2_error_name(code) {
        Some(name) => (code as u8 + 1, String::from(name)),
        None => (0, format!("unknown error code {code:#x}")),
    }
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
    use rustls::{Error as E, InvalidMessage as M};
    let (kind, message) = match error {
        E::InvalidMessage(M::InvalidContentType | M::UnknownProtocolVersion) if step == Step::Handshake => {
            (FailureKind::NotTls, String::from("tls: first record does not look like a TLS handshake"))
        }
        E::InvalidCertificate(reason) => {
            let (kind, text) = certificate(reason);
            (kind, format!("{UNVERIFIED}{text}"))
        }
        error => tls_text(error),
    };
    Failure { step, kind, message }
}

/// An error of the TLS library in words: what it has as names of its code is spelled out.
pub(crate) fn tls_text(error: &rustls::Error) -> (FailureKind, String) {
    use rustls::Error as E;
    let text = match error {
        E::AlertReceived(alert) => {
            return (FailureKind::NonTcp, format!("remote error: tls: {}", alert_text(*alert)));
        }
        E::PeerIncompatible(why) => format!("the server is incompatible: {}", spelled(why)),
        E::PeerMisbehaved(why) => format!("the server broke the protocol: {}", spelled(why)),
        E::InvalidMessage(why) => format!("the server sent a message that cannot be read: {}", spelled(why)),
        E::InvalidCertificate(reason) => certificate(reason).1,
        E::InappropriateMessage { got_type, .. } => {
            format!("the server sent a message that was not its turn: {}", spelled(got_type))
        }
        E::InappropriateHandshakeMessage { got_type, .. } => {
            format!("the server sent a handshake message that was not its turn: {}", spelled(got_type))
        }
        E::InvalidCertRevocationList(why) => format!("a list of revoked certificates cannot be used: {}", spelled(why)),
        E::General(text) => text.clone(),
        E::Other(_) | E::InvalidEncryptedClientHello(_) | E::InconsistentKeys(_) => spelled(error),
        error => error.to_string(),
    };
    (FailureKind::Tls, format!("tls: {text}"))
}

/// A name of the library's code as words: `NoCipherSuitesInCommon`, `MessageTooLarge { … }`.
fn spelled(named: &impl std::fmt::Debug) -> String {
    words(&name_of(&format!("{named:?}")))
}

/// What is wrong with a certificate: k6's kind, and Go's words where they do not hold the time of day, which would make
/// each second's failures another kind of failure.
fn certificate(reason: &rustls::CertificateError) -> (FailureKind, String) {
    use rustls::CertificateError as C;
    let unknown = |why: &str| (FailureKind::UnknownAuthority, format!("certificate signed by unknown authority{why}"));
    let other = |text: String| (FailureKind::Other, text);
    match reason {
        C::Expired => other(String::from("certificate has expired")),
        C::NotValidYet => other(String::from("certificate is not valid yet")),
        C::ExpiredContext { not_after, .. } => {
            other(format!("certificate has expired on {}", units::date::rfc3339(not_after.as_secs())))
        }
        C::NotValidYetContext { not_before, .. } => {
            other(format!("certificate is not valid before {}", units::date::rfc3339(not_before.as_secs())))
        }
        C::UnknownIssuer => unknown(""),
        C::BadSignature => unknown(" (an authority of that name is trusted, but another key has signed)"),
        C::UnsupportedSignatureAlgorithmContext { .. } | C::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => {
            unknown(" (it is signed with an algorithm that is not accepted, such as SHA-1)")
        }
        C::NotValidForNameContext { expected, presented } => {
            (FailureKind::WrongHost, wrong_name(&expected.to_str(), presented))
        }
        C::NotValidForName => (FailureKind::WrongHost, String::from("certificate is not valid for the name asked for")),
        C::InvalidPurpose | C::InvalidPurposeContext { .. } => {
            other(String::from("certificate specifies an incompatible key usage"))
        }
        C::UnhandledCriticalExtension => other(String::from("unhandled critical extension")),
        C::BadEncoding => other(String::from("certificate is malformed")),
        C::Revoked => other(String::from("certificate was revoked")),
        C::Other(error) => rare(&format!("{error:?}")),
        reason => other(format!("certificate is refused: {}", words(&name_of(&format!("{reason:?}"))))),
    }
}

/// What the TLS library gives away by the name of its own error alone; and `MissingIssuers`, which is ours.
fn rare(debug: &str) -> (FailureKind, String) {
    let (kind, text) = match debug {
        _ if debug.contains("CaUsedAsEndEntity") || debug.contains("EndEntityUsedAsCa") => {
            let why = "certificate signed by unknown authority (a certificate of its chain is no authority)";
            (FailureKind::UnknownAuthority, why)
        }
        _ if debug.contains("MissingIssuers") => {
            (FailureKind::UnknownAuthority, "certificate signed by unknown authority")
        }
        _ if debug.contains("UnsupportedCertVersion") => {
            (FailureKind::WrongHost, "certificate relies on legacy Common Name field, use SANs instead")
        }
        _ if debug.contains("UnsupportedCriticalExtension") => (FailureKind::Other, "unhandled critical extension"),
        _ if debug.contains("NameConstraintViolation") => {
            (FailureKind::Other, "a root or intermediate certificate is not authorized to sign for this name")
        }
        _ if debug.contains("PathLenConstraintViolated") => {
            (FailureKind::Other, "too many intermediates for path length constraint")
        }
        _ => return (FailureKind::Other, format!("certificate is refused: {}", words(&name_of(debug)))),
    };
    (kind, String::from(text))
}

/// `OtherError(Some { … })` and `Some { … }` as `Some`.
fn name_of(debug: &str) -> String {
    let inner = debug.strip_prefix("OtherError(").unwrap_or(debug);
    inner.chars().take_while(char::is_ascii_alphanumeric).collect()
}

/// `presented` are names as the library writes them: `DnsName("a.example")`, `IpAddress(10.0.0.1)`.
fn wrong_name(expected: &str, presented: &[String]) -> String {
    let bare = |name: &String| {
        let inner = name.split_once('(').map_or(name.as_str(), |(_, inner)| inner.trim_end_matches(')'));
        inner.trim_matches('"').to_owned()
    };
    let names: Vec<String> = presented.iter().map(bare).collect();
    match names.is_empty() {
        true => format!("certificate is not valid for any names, but wanted to match {expected}"),
        false => format!("certificate is valid for {}, not {expected}", names.join(", ")),
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
        // One that nobody has named is its number.
        A::Unknown(number) => return format!("alert({number})"),
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
    fn system_errors_are_in_gos_spelling() {
        let error = |errno| io::Error::from_raw_os_error(errno);
        let refused = dial(&error(libc::ECONNREFUSED));
        assert_eq!((refused.message.as_str(), refused.kind), ("dial: connection refused", FailureKind::DialRefused));
        let no_port = dial(&error(libc::EADDRNOTAVAIL));
        assert_eq!(no_port.kind, FailureKind::DialErrno);
        let advised = "dial: cannot assign requested address; every local port towards this address is in use or was \
                       until a minute ago: keep connections (noConnectionReuse, noVUConnectionReuse), add addresses \
                       with the option localIPs, or widen net.ipv4.ip_local_port_range";
        assert_eq!(no_port.message, advised);
        let reset = transport(TransportError::Io(error(libc::ECONNRESET)), Step::Wait);
        assert_eq!(
            (reset.message.as_str(), reset.kind),
            ("read: connection reset by peer", FailureKind::ConnectionReset)
        );
        let pipe = transport(TransportError::Io(error(libc::EPIPE)), Step::Send);
        assert_eq!((pipe.message.as_str(), pipe.kind), ("write: broken pipe", FailureKind::BrokenPipe));
    }

    #[test]
    fn certificates_are_refused_in_words() {
        use rustls::CertificateError as C;
        let at = |seconds| rustls::pki_types::UnixTime::since_unix_epoch(std::time::Duration::from_secs(seconds));
        let name = |names: &[&str]| C::NotValidForNameContext {
            expected: rustls::pki_types::ServerName::try_from("a.example").unwrap(),
            presented: names.iter().map(|name| String::from(*name)).collect(),
        };
        let rows = [
            (
                C::ExpiredContext { time: at(1), not_after: at(0) },
                FailureKind::Other,
                "certificate has expired on 1970-01-01T00:00:00Z",
            ),
            (
                C::NotValidYetContext { time: at(1), not_before: at(951_782_400) },
                FailureKind::Other,
                "certificate is not valid before 2000-02-29T00:00:00Z",
            ),
            (
                name(&["DnsName(\"b.c\")", "IpAddress(1.2.3.4)"]),
                FailureKind::WrongHost,
                "certificate is valid for b.c, 1.2.3.4, not a.example",
            ),
            (
                name(&[]),
                FailureKind::WrongHost,
                "certificate is not valid for any names, but wanted to match a.example",
            ),
            (C::UnknownIssuer, FailureKind::UnknownAuthority, "certificate signed by unknown authority"),
            (
                C::BadSignature,
                FailureKind::UnknownAuthority,
                "certificate signed by unknown authority (an authority of that name is trusted, but another key has \
                 signed)",
            ),
            (C::UnknownRevocationStatus, FailureKind::Other, "certificate is refused: unknown revocation status"),
        ];
        for (reason, kind, text) in rows {
            let error = rustls::Error::InvalidCertificate(reason);
            let failure = transport(TransportError::Tls(error), Step::Handshake);
            assert_eq!((failure.kind, failure.message), (kind, format!("{UNVERIFIED}{text}")));
        }
    }

    #[test]
    fn a_timeout_of_the_lookup_says_so() {
        let failure = lookup_timeout();
        assert_eq!(failure.kind, FailureKind::Timeout);
        assert_eq!(failure.message, "request timeout: the name server has not answered yet");
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

    #[test]
    fn no_failure_shows_names_of_the_librarys_code() {
        use rustls::{
            AlertDescription, CertRevocationListError as L, CertificateError as C, ContentType,
            EncryptedClientHelloError, Error as E, HandshakeType, InconsistentKeys, InvalidMessage as M, OtherError,
            PeerIncompatible, PeerMisbehaved,
        };
        let inner = || OtherError(std::sync::Arc::new(io::Error::other("Error(Inner { at: 1 })")));
        let errors = [
            E::InappropriateMessage { expect_types: vec![ContentType::Alert], got_type: ContentType::Unknown(99) },
            E::InappropriateHandshakeMessage {
                expect_types: vec![HandshakeType::Finished],
                got_type: HandshakeType::ServerHello,
            },
            E::InvalidEncryptedClientHello(EncryptedClientHelloError::SniRequired),
            E::InvalidMessage(M::MissingData("ServerHello")),
            E::InvalidMessage(M::TrailingData("ServerHello")),
            E::NoCertificatesPresented,
            E::UnsupportedNameType,
            E::DecryptError,
            E::PeerIncompatible(PeerIncompatible::ServerDoesNotSupportTls12Or13),
            E::PeerMisbehaved(PeerMisbehaved::TooMuchEarlyDataReceived),
            E::AlertReceived(AlertDescription::from(200)),
            E::InvalidCertificate(C::Other(inner())),
            E::InvalidCertificate(C::UnknownRevocationStatus),
            E::InvalidCertRevocationList(L::Other(inner())),
            E::InvalidCertRevocationList(L::UnsupportedCrlVersion),
            E::FailedToGetCurrentTime,
            E::FailedToGetRandomBytes,
            E::HandshakeNotComplete,
            E::PeerSentOversizedRecord,
            E::NoApplicationProtocol,
            E::BadMaxFragmentSize,
            E::InconsistentKeys(InconsistentKeys::KeyMismatch),
            E::Other(inner()),
        ];
        for error in errors {
            let text = tls_text(&error).1.replace("alert(200)", "alert");
            let is_name = |word: &str| {
                word.chars().skip(1).any(char::is_uppercase)
                    && word.chars().any(char::is_lowercase)
                    && word != "ServerHello"
            };
            let words = text.split(|c: char| !c.is_ascii_alphanumeric());
            let named: Vec<&str> = words.filter(|word| is_name(word)).collect();
            let is_code = ["{", "(", "::", "[", "Arc"].iter().any(|sign| text.contains(sign)) || !named.is_empty();
            assert!(!is_code, "{error:?} is told as '{text}': {named:?}");
        }
    }
}
