//! Runs statements and reads their rows; what a table says of a column decides what its values become.

use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Batch, Connection, Statement as Prepared, ToSql};

use super::super::common::call::{Answer, SqlFailure};
use super::super::common::time::{SqlTime, Zone};
use super::super::common::value::SqlValue;

/// From here on a column of times holds milliseconds, below it seconds; Go's driver draws the line there.
const FIRST_MILLIS: i64 = 1_000_000_000_000;

/// Runs statement after statement, each with as many of the parameters as it has places, and gives what the last gave.
pub fn execute(connection: &Connection, text: &str, args: &[SqlValue]) -> Result<Answer, SqlFailure> {
    // One statement is kept prepared. What follows a first one may need what that one makes: it is prepared later.
    if let Ok(mut prepared) = connection.prepare_cached(text) {
        return run_one(connection, &mut prepared, args);
    }
    let (mut args, mut answer) = (args, Answer::default());
    let mut batch = Batch::new(connection, text);
    while let Some(mut prepared) = batch.next().map_err(|error| told(&error))? {
        let (own, rest) = args.split_at(prepared.parameter_count().min(args.len()));
        answer = run_one(connection, &mut prepared, own)?;
        args = rest;
    }
    Ok(answer)
}

fn run_one(connection: &Connection, prepared: &mut Prepared<'_>, args: &[SqlValue]) -> Result<Answer, SqlFailure> {
    let (wanted, found) = (prepared.parameter_count(), args.len());
    let Some(args) = args.get(..wanted) else {
        return Err(SqlFailure::refused(format!("not enough args to execute query: want {wanted} got {found}")));
    };
    let before = connection.total_changes();
    let mut answer = rows(prepared, args).map_err(|error| told(&error))?;
    if connection.total_changes() != before {
        answer.affected = connection.changes();
    }
    answer.last_id = Some(connection.last_insert_rowid());
    Ok(answer)
}

/// Runs a prepared statement and reads all its rows.
pub fn rows(prepared: &mut Prepared<'_>, args: &[SqlValue]) -> rusqlite::Result<Answer> {
    let (mut answer, mut kinds) = (Answer::default(), Vec::new());
    let mut rows = prepared.query(rusqlite::params_from_iter(args))?;
    while let Some(row) = rows.next()? {
        // The first step prepares a kept statement anew when the table has changed: only now the columns are known.
        if kinds.is_empty() {
            let prepared: &Prepared<'_> = row.as_ref();
            answer.columns = prepared.column_names().map(str::to_owned).collect();
            kinds = prepared.columns().map(|column| Kind::of(column.decl_type())).collect();
        }
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
        let is = |name: &&str| declared.is_some_and(|declared| declared.eq_ignore_ascii_case(name));
        match () {
            () if is(&"boolean") => Kind::Bool,
            () if ["timestamp", "datetime", "date"].iter().any(is) => Kind::Time,
            () => Kind::Plain,
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
pub fn told(error: &rusqlite::Error) -> SqlFailure {
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
