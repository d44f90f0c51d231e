//! An open file of SQLite.

use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, InterruptHandle, OpenFlags};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::super::common::call::{Answer, SqlFailure, Statement};
use super::super::common::value::SqlValue;
use super::execute::{execute, told};
use super::short::{ShortReads, has};
use super::source::SqliteSource;

/// An open file.
pub struct SqliteConnection {
    /// Out while a call runs on a thread.
    file: Option<File>,
    interrupt: Arc<InterruptHandle>,
    short: ShortReads,
    /// The first statement reads the file's schema, which takes its time.
    has_run: bool,
}

struct File {
    connection: Connection,
    /// How long a locked file is waited for, on a thread. On the worker it is not.
    patience: Duration,
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
        let opened = joined(spawn_blocking(move || open(&source)).await)?;
        let (file, short) = opened.map_err(|error| told(&error))?;
        let interrupt = Arc::new(file.connection.get_interrupt_handle());
        Ok(SqliteConnection { file: Some(file), interrupt, short, has_run: false })
    }

    /// One statement, or several.
    pub async fn run(&mut self, statement: &Statement) -> Result<Answer, SqlFailure> {
        let Some(file) = &self.file else {
            return Err(SqlFailure::lost("the database is still busy with the call before"));
        };
        if self.has_run
            && let Some(answer) = self.short.run(&file.connection, statement)
        {
            return Ok(answer);
        }
        self.has_run = true;
        // Boxed: it is large, and seldom needed.
        Box::pin(self.run_on_thread(statement)).await
    }

    async fn run_on_thread(&mut self, statement: &Statement) -> Result<Answer, SqlFailure> {
        let Some(mut file) = self.file.take() else {
            return Err(SqlFailure::lost("the database is still busy with the call before"));
        };
        let (text, args) = (statement.text.clone(), statement.args.clone());
        let mut call = spawn_blocking(move || {
            let outcome = file.execute(&text, &args);
            (file, outcome)
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
        let (file, outcome) = joined(ended)?;
        self.file = Some(file);
        outcome.map_err(|failure| match is_late {
            true => SqlFailure { is_usable: true, ..SqlFailure::too_late() },
            false => failure,
        })
    }
}

impl File {
    /// Waits for locks as the script wishes, which may say so in a pragma, too.
    fn execute(&mut self, text: &str, args: &[SqlValue]) -> Result<Answer, SqlFailure> {
        let connection = &self.connection;
        connection.busy_timeout(self.patience).map_err(|error| told(&error))?;
        let outcome = execute(connection, text, args);
        if has(text, "busy_timeout") {
            let known = connection.query_row("PRAGMA busy_timeout", [], |row| row.get::<_, u32>(0));
            self.patience = known.map_or(self.patience, |millis| Duration::from_millis(millis.into()));
        }
        connection.busy_timeout(Duration::ZERO).map_err(|error| told(&error))?;
        outcome
    }
}

fn open(source: &SqliteSource) -> rusqlite::Result<(File, ShortReads)> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_URI;
    let mut connection = Connection::open_with_flags(&source.file, flags)?;
    connection.busy_timeout(source.patience)?;
    for pragma in &source.pragmas {
        connection.execute_batch(pragma)?;
    }
    connection.busy_timeout(Duration::ZERO)?;
    let short = ShortReads::watch(&mut connection)?;
    Ok((File { connection, patience: source.patience }, short))
}

/// A panic in the other thread is one here.
fn joined<T>(ended: Result<T, tokio::task::JoinError>) -> Result<T, SqlFailure> {
    ended.map_err(|error| match error.try_into_panic() {
        Ok(panic) => std::panic::resume_unwind(panic),
        Err(_) => SqlFailure::lost("the run ended before the database answered"),
    })
}
