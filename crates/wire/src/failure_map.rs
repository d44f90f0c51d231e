//! What the operating system and the TLS library report, in k6's words and kinds. The one table of wire failures.

use std::io;

use crate::failure::{Failure, FailureKind, Step};
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
    Failure { step, kind: FailureKind::Tls, message: error.to_string() }
}

/// The C library's text in Go's spelling: lower case, without Rust's error number.
fn errno_text(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    text.to_lowercase()
}
