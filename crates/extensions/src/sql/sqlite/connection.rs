//! An open file of SQLite.

use std::sync::Arc;

use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Batch, Connection, InterruptHandle, OpenFlags, Statement as Prepared, ToSql};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::super::common::call::{Answer, SqlFailure, Statement};
use super::super::common::time::{SqlTime, Zone};
use super::super::common::value::SqlValue;
use super::source::SqliteSource;

/// From here on a column of times holds milliseconds, below it seconds; Go's driver draws the line there.
const FIRST_MILLIS: i64 = 1_000_000_000_000;

/// An open file; out while a call runs.
pub struct SqliteConnection {
    connection: Option<Connection>,
    interrupt: Arc<InterruptHandle>,
}

/// Ends the call that runs when it is dropped before its end: a script that is stopped does not wait for it.
struct Guard<'a>(Option<&'a InterruptHandle>);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if let Some(handle) = self.0 {
            handle.interrupt();
        }
    }
}

impl SqliteConnection {
    /// Opens the file, or makes it.
    pub async fn open(source: &SqliteSource) -> Result<SqliteConnection, SqlFailure> {
        let source = source.clone();
        let opened = spawn_blocking(move || {
            let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_URI;
            let connection = Connection::open_with_flags(&source.file, flags)?;
            connection.busy_timeout(source.patience)?;
            for pragma in &source.pragmas {
                connection.execute_batch(pragma)?;
            }
            Ok(connection)
        });
        let connection = joined(opened.await)?.map_err(|error| told(&error))?;
        let interrupt = Arc::new(connection.get_interrupt_handle());
        Ok(SqliteConnection { connection: Some(connection), interrupt })
    }

    /// One statement, or several.
    pub async fn run(&mut self, statement: &Statement) -> Result<Answer, SqlFailure> {
        let Some(connection) = self.connection.take() else {
            return Err(SqlFailure::lost("the database is still busy with the call before"));
        };
        let (text, args) = (statement.text.clone(), statement.args.clone());
        let mut call = spawn_blocking(move || {
            let outcome = execute(&connection, &text, args);
            (connection, outcome)
        });
        let mut guard = Guard(Some(&self.interrupt));
        let (mut is_late, limit) = (false, statement.timeout);
        let ended = match limit {
            None => call.await,
            Some(limit) => match timeout(limit, &mut call).await {
                Ok(ended) => ended,
                Err(_) => {
                    is_late = true;
                    self.interrupt.interrupt();
                    call.await
                }
            },
        };
        guard.0 = None;
        let (connection, outcome) = joined(ended)?;
        self.connection = Some(connection);
        outcome.map_err(|failure| match is_late {
            true => SqlFailure { is_usable: true, ..SqlFailure::too_late() },
            false => failure,
        })
    }
}

/// A panic in the other thread is one here.
fn joined<T>(ended: Result<T, tokio::task::JoinError>) -> Result<T, SqlFailure> {
    ended.map_err(|error| match error.try_into_panic() {
        Ok(panic) => std::panic::resume_unwind(panic),
        Err(_) => SqlFailure::lost("the run ended before the database answered"),
    })
}

/// Runs statement after statement, each with as many of the parameters as it has places, and gives what the last gave.
fn execute(connection: &Connection, text: &str, args: Vec<SqlValue>) -> Result<Answer, SqlFailure> {
    let (mut args, mut answer) = (args.into_iter(), Answer::default());
    let mut batch = Batch::new(connection, text);
    while let Some(mut prepared) = batch.next().map_err(|error| told(&error))? {
        let wanted = prepared.parameter_count();
        let given: Vec<SqlValue> = args.by_ref().take(wanted).collect();
        if given.len() < wanted {
            let found = given.len();
            return Err(SqlFailure::refused(format!("not enough args to execute query: want {wanted} got {found}")));
        }
        let before = connection.total_changes();
        answer = rows(&mut prepared, given).map_err(|error| told(&error))?;
        if connection.total_changes() != before {
            answer.affected = connection.changes();
        }
        answer.last_id = Some(connection.last_insert_rowid());
    }
    Ok(answer)
}

fn rows(prepared: &mut Prepared<'_>, args: Vec<SqlValue>) -> rusqlite::Result<Answer> {
    let columns: Vec<String> = prepared.column_names().map(str::to_owned).collect();
    let kinds: Vec<Kind> = prepared.columns().map(|column| Kind::of(column.decl_type())).collect();
    let mut answer = Answer { columns, ..Answer::default() };
    let mut rows = prepared.query(rusqlite::params_from_iter(args))?;
    while let Some(row) = rows.next()? {
        for (column, kind) in kinds.iter().enumerate() {
            answer.cells.push(kind.read(row.get_ref(column)?));
        }
    }
    Ok(answer)
}

/// What the table says of a column; SQLite itself has numbers, texts and bytes alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Plain,
    Bool,
    Time,
}

impl Kind {
    fn of(declared: Option<&str>) -> Kind {
        match declared.map(str::to_ascii_lowercase).as_deref() {
            Some("boolean") => Kind::Bool,
            Some("timestamp" | "datetime" | "date") => Kind::Time,
            _ => Kind::Plain,
        }
    }

    fn read(self, value: ValueRef<'_>) -> SqlValue {
        match (value, self) {
            (ValueRef::Null, _) => SqlValue::Null,
            (ValueRef::Integer(number), Kind::Bool) => SqlValue::Bool(number > 0),
            (ValueRef::Integer(number), Kind::Time) => {
                let time = match number.abs() >= FIRST_MILLIS {
                    true => SqlTime::from_millis(number as f64),
                    false => SqlTime::from_seconds(number),
                };
                time.map_or(SqlValue::Whole(number), SqlValue::Time)
            }
            (ValueRef::Integer(number), Kind::Plain) => SqlValue::Whole(number),
            (ValueRef::Real(number), _) => SqlValue::Number(number),
            (ValueRef::Text(text), kind) => {
                let text = String::from_utf8_lossy(text);
                let time = if kind == Kind::Time { SqlTime::parse(&text, Zone::Utc) } else { None };
                time.map_or_else(|| SqlValue::Text(text.into_owned()), |time| SqlValue::Time(time.to_utc()))
            }
            (ValueRef::Blob(content), _) => SqlValue::Bytes(content.to_vec()),
        }
    }
}

impl ToSql for SqlValue {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            SqlValue::Null => ToSqlOutput::Owned(Value::Null),
            SqlValue::Bool(is_true) => ToSqlOutput::Owned(Value::Integer((*is_true).into())),
            SqlValue::Whole(number) => ToSqlOutput::Owned(Value::Integer(*number)),
            SqlValue::Number(number) => ToSqlOutput::Owned(Value::Real(*number)),
            SqlValue::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            SqlValue::Bytes(content) => ToSqlOutput::Borrowed(ValueRef::Blob(content)),
            SqlValue::Time(time) => {
                ToSqlOutput::Owned(Value::Text(format!("{} {}{}", time.date(), time.clock(), time.offset())))
            }
            SqlValue::List(_) => {
                return Err(rusqlite::Error::ToSqlConversionFailure("found an array: SQLite has none".into()));
            }
        })
    }
}

/// What SQLite says went wrong, and its codes.
fn told(error: &rusqlite::Error) -> SqlFailure {
    let (message, codes) = match error {
        rusqlite::Error::SqliteFailure(codes, message) => (message.clone(), Some(codes)),
        rusqlite::Error::SqlInputError { error: codes, msg, .. } => (Some(msg.clone()), Some(codes)),
        _ => (None, None),
    };
    let mut failure = SqlFailure::refused(message.unwrap_or_else(|| error.to_string()));
    if let Some(codes) = codes {
        // The lower byte is the code without its extension (sqlite.org/rescode.html).
        let plain = codes.extended_code & 0xff;
        failure.parts = vec![("code", plain.to_string()), ("extendedCode", codes.extended_code.to_string())];
    }
    failure
}
