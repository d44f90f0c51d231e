//! Messages of the server, and the errors among them.

use fallible_iterator::FallibleIterator;
use postgres_protocol::message::backend::{ErrorResponseBody, Message};

use super::super::common::call::SqlFailure;
use super::super::common::socket::Socket;

/// The next message.
pub async fn next(socket: &mut Socket) -> Result<Message, SqlFailure> {
    loop {
        if let Some(message) = Message::parse(&mut socket.received).map_err(broken)? {
            return Ok(message);
        }
        socket.receive().await?;
    }
}

/// The server said what the protocol does not have.
pub fn broken(error: std::io::Error) -> SqlFailure {
    SqlFailure::lost(format!("pq: the server's answer cannot be read: {error}"))
}

/// Parts of an error by the letters that the protocol has for them (PostgreSQL's documentation, 55.8).
const PARTS: [(u8, &str); 17] = [
    (b'S', "severity"),
    (b'C', "code"),
    (b'M', "message"),
    (b'D', "detail"),
    (b'H', "hint"),
    (b'P', "position"),
    (b'p', "internal_position"),
    (b'q', "internal_query"),
    (b'W', "where"),
    (b's', "schema"),
    (b't', "table"),
    (b'c', "column"),
    (b'd', "data_type_name"),
    (b'n', "constraint"),
    (b'F', "file"),
    (b'L', "line"),
    (b'R', "routine"),
];

/// What the server says went wrong.
pub fn told(body: &ErrorResponseBody) -> Result<SqlFailure, SqlFailure> {
    let mut parts: Vec<(&'static str, String)> = PARTS.iter().map(|(_, name)| (*name, String::new())).collect();
    let mut fields = body.fields();
    while let Some(field) = fields.next().map_err(broken)? {
        if let Some(place) = PARTS.iter().position(|(letter, _)| *letter == field.type_()) {
            parts[place].1 = String::from_utf8_lossy(field.value_bytes()).into_owned();
        }
    }
    let of = |name: &str| parts.iter().find(|(part, _)| *part == name).map_or("", |(_, text)| text.as_str());
    let message = format!("pq: {} ({})", of("message"), of("code"));
    // After such an error the server closes the connection (a database that is shut down, a session that was ended).
    let is_usable = !matches!(of("severity"), "FATAL" | "PANIC");
    Ok(SqlFailure { message, parts, is_usable })
}
