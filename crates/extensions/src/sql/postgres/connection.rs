//! One connection to PostgreSQL: messages out, messages in until the server is ready again.

use std::ops::ControlFlow;
use std::time::Duration;

use bytes::BytesMut;
use fallible_iterator::FallibleIterator;
use postgres_protocol::IsNull;
use postgres_protocol::message::backend::{DataRowBody, Message, RowDescriptionBody};
use postgres_protocol::message::frontend::{self, BindError};
use script::Vu;
use tokio::time::timeout;

use super::super::common::call::{Answer, SqlFailure, Statement};
use super::super::common::socket::Socket;
use super::super::common::value::SqlValue;
use super::login;
use super::messages::{broken, next, told};
use super::source::PostgresSource;
use super::values;
use crate::client::dial::Place;

/// How long the server has to end a statement after it was asked to.
const CANCEL_TIME: Duration = Duration::from_secs(5);

/// An open connection, ready for statements.
pub struct PostgresConnection {
    socket: Socket,
    place: Place,
    /// What the server wants to hear before it ends a statement: the process's number and a secret.
    key: Option<(i32, i32)>,
}

/// What was read of an answer so far.
#[derive(Default)]
struct Reading {
    answer: Answer,
    /// Type of each column of the first result; none before it came.
    kinds: Option<Vec<u32>>,
    /// The first result has ended.
    has_ended: bool,
    failure: Option<SqlFailure>,
}

impl PostgresConnection {
    /// Connects and logs in.
    pub async fn open(vu: &Vu, source: &PostgresSource) -> Result<PostgresConnection, SqlFailure> {
        let mut socket = login::connect(vu, source).await?;
        let key = login::log_in(&mut socket, source).await;
        socket.count(vu);
        Ok(PostgresConnection { socket, place: source.place.clone(), key: key? })
    }

    /// One statement, or several without parameters.
    pub async fn run(&mut self, vu: &Vu, statement: &Statement) -> Result<Answer, SqlFailure> {
        let outcome = match statement.timeout {
            None => self.exchange(statement).await,
            Some(limit) => {
                let mut reading = Reading::default();
                match timeout(limit, self.ask(statement, &mut reading)).await {
                    Ok(asked) => asked.and_then(|()| reading.outcome()),
                    Err(_) => self.cancel(vu, reading).await,
                }
            }
        };
        self.socket.count(vu);
        outcome.map_err(|failure| placed(failure, &statement.text))
    }

    async fn exchange(&mut self, statement: &Statement) -> Result<Answer, SqlFailure> {
        let mut reading = Reading::default();
        self.ask(statement, &mut reading).await?;
        reading.outcome()
    }

    async fn ask(&mut self, statement: &Statement, reading: &mut Reading) -> Result<(), SqlFailure> {
        request(statement, &mut self.socket.sending).map_err(SqlFailure::refused)?;
        self.socket.send().await?;
        self.read(reading).await
    }

    async fn read(&mut self, reading: &mut Reading) -> Result<(), SqlFailure> {
        loop {
            let message = match (next(&mut self.socket).await, &reading.failure) {
                (Ok(message), _) => message,
                // It said why before it closed the connection.
                (Err(_), Some(_)) => return Ok(()),
                (Err(lost), None) => return Err(lost),
            };
            if reading.take(message, &mut self.socket.sending)?.is_break() {
                return Ok(());
            }
            if !self.socket.sending.is_empty() {
                self.socket.send().await?;
            }
        }
    }

    /// Asks the server, over a connection of its own, to end the statement, and waits until it has.
    async fn cancel(&mut self, vu: &Vu, mut reading: Reading) -> Result<Answer, SqlFailure> {
        let Some((process, secret)) = self.key else { return Err(SqlFailure::too_late()) };
        let ended = async {
            let mut other = Socket::open(vu, &self.place, CANCEL_TIME).await?;
            frontend::cancel_request(process, secret, &mut other.sending);
            other.send().await?;
            self.read(&mut reading).await
        };
        match timeout(CANCEL_TIME, ended).await {
            Ok(Ok(())) => reading.outcome(),
            _ => Err(SqlFailure::too_late()),
        }
    }

    /// Whether nothing came since the last answer.
    pub fn is_quiet(&mut self) -> bool {
        self.socket.is_quiet()
    }
}

/// The messages of a statement.
fn request(statement: &Statement, buffer: &mut BytesMut) -> Result<(), String> {
    let told = |error: std::io::Error| format!("pq: the statement cannot be sent: {error}");
    if statement.args.is_empty() {
        return frontend::query(&statement.text, buffer).map_err(told);
    }
    frontend::parse("", &statement.text, [], buffer).map_err(told)?;
    // Bytes go as they are, which for a text is the same as its text; all else as text that the server reads.
    let formats = statement.args.iter().map(|value| i16::from(matches!(value, SqlValue::Bytes(_))));
    let write = |value: &SqlValue, buffer: &mut BytesMut| {
        match value {
            SqlValue::Bytes(content) => buffer.extend_from_slice(content),
            _ => match values::write(value) {
                Some(text) => buffer.extend_from_slice(text.as_bytes()),
                None => return Ok(IsNull::Yes),
            },
        }
        Ok(IsNull::No)
    };
    frontend::bind("", "", formats, &statement.args, write, [0], buffer).map_err(|error| match error {
        BindError::Conversion(error) => format!("pq: a parameter cannot be sent: {error}"),
        BindError::Serialization(error) => told(error),
    })?;
    frontend::describe(b'P', "", buffer).map_err(told)?;
    frontend::execute("", 0, buffer).map_err(told)?;
    frontend::sync(buffer);
    Ok(())
}

impl Reading {
    /// Takes a message; breaks at the end of the answer.
    fn take(&mut self, message: Message, sending: &mut BytesMut) -> Result<ControlFlow<()>, SqlFailure> {
        match message {
            Message::RowDescription(body) if self.kinds.is_none() && !self.has_ended => self.begin(&body)?,
            Message::DataRow(body) if !self.has_ended => self.take_row(&body)?,
            Message::CommandComplete(body) => {
                self.has_ended = true;
                self.answer.affected = affected(body.tag().map_err(broken)?);
            }
            Message::EmptyQueryResponse => self.answer.is_empty = true,
            // The first is the cause of those that follow.
            Message::ErrorResponse(body) if self.failure.is_none() => self.failure = Some(told(&body)?),
            Message::CopyInResponse(_) => {
                self.fail("COPY … FROM STDIN is not offered: use INSERT, or a file of the server");
                frontend::copy_fail("not offered", sending).map_err(broken)?;
            }
            Message::CopyOutResponse(_) => self.fail("COPY … TO STDOUT is not offered: use SELECT"),
            Message::ReadyForQuery(_) => return Ok(ControlFlow::Break(())),
            _ => {}
        }
        Ok(ControlFlow::Continue(()))
    }

    fn begin(&mut self, body: &RowDescriptionBody) -> Result<(), SqlFailure> {
        let (mut kinds, mut fields) = (Vec::new(), body.fields());
        while let Some(field) = fields.next().map_err(broken)? {
            kinds.push(field.type_oid());
            self.answer.columns.push(field.name().to_owned());
        }
        self.kinds = Some(kinds);
        Ok(())
    }

    fn take_row(&mut self, body: &DataRowBody) -> Result<(), SqlFailure> {
        let kinds = self.kinds.as_deref().unwrap_or_default();
        let (mut ranges, mut column) = (body.ranges(), 0);
        while let Some(range) = ranges.next().map_err(broken)? {
            let kind = kinds.get(column).copied().unwrap_or_default();
            self.answer.cells.push(range.map_or(SqlValue::Null, |range| values::read(kind, &body.buffer()[range])));
            column += 1;
        }
        Ok(())
    }

    fn fail(&mut self, why: &str) {
        self.failure = Some(SqlFailure::refused(format!("pq: {why}")));
    }

    fn outcome(self) -> Result<Answer, SqlFailure> {
        match self.failure {
            Some(failure) => Err(failure),
            None => Ok(self.answer),
        }
    }
}

/// The number of rows at the end of a tag such as `INSERT 0 3`.
fn affected(tag: &str) -> u64 {
    tag.rsplit(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// The failure with where in the statement it is.
fn placed(mut failure: SqlFailure, statement: &str) -> SqlFailure {
    let position = failure.parts.iter().find(|(name, _)| *name == "position").and_then(|(_, at)| at.parse().ok());
    let Some(position) = position.filter(|position: &usize| *position > 0) else { return failure };
    let before: String = statement.chars().take(position - 1).collect();
    let column = before.chars().rev().take_while(|letter| *letter != '\n').count() + 1;
    let place = match statement.contains('\n') {
        true => format!("position {}:{column}", before.matches('\n').count() + 1),
        false => format!("column {column}"),
    };
    if let Some(at) = failure.message.rfind(" (") {
        failure.message.insert_str(at, &format!(" at {place}"));
    }
    failure
}
