//! Statements that read little run on the worker: the way to a thread and back costs several times what they do.
//!
//! Whether a statement is short is only known when it ran. A handler that SQLite asks every 1,000 instructions ends it
//! when it is not; it is repeated on a thread then, and so is one that finds the file locked or fails in any other way.
//! That is harmless, because a statement that only reads leaves nothing behind. Its text goes to a thread at once for
//! some time.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rusqlite::{Connection, Error};

use super::super::common::call::{Answer, Statement};
use super::execute::rows;

/// SQLite asks the handler after so many of its instructions: some 20 µs.
const INSTRUCTIONS: i32 = 1_000;
/// How often it may ask before a statement is not short.
const ASKS: u32 = 20;
/// A statement that waited for the disk is not short either, however few its instructions are.
const LONG: Duration = Duration::from_millis(2);
/// So many in a row: a single one may have waited for the processor.
const LONG_CALLS: u32 = 3;
/// How many calls of a text go to a thread before it is tried on the worker again.
const CALLS_ELSEWHERE: u32 = 1_000;
/// Of a text that can never run on the worker.
const ALWAYS: u32 = u32::MAX;
/// How many texts are remembered.
const TEXTS: usize = 1_000;
/// Statements with a shorter limit of time run on a thread, where they can be ended in time.
const SHORTEST_LIMIT: Duration = Duration::from_millis(100);

/// Without a limit.
const UNLIMITED: u32 = u32::MAX;

/// Which statements run on the worker, and for how long.
pub struct ShortReads {
    /// How often the handler may be asked by the statement that runs.
    asks: Arc<AtomicU32>,
    /// How many calls of a text go to a thread.
    elsewhere: HashMap<Box<str>, u32>,
    /// How many calls in a row were long.
    long_calls: u32,
}

impl ShortReads {
    /// Sets the handler of a connection.
    pub fn watch(connection: &mut Connection) -> rusqlite::Result<ShortReads> {
        let asks = Arc::new(AtomicU32::new(UNLIMITED));
        let asked = Arc::clone(&asks);
        connection.progress_handler(INSTRUCTIONS, Some(move || has_to_end(&asked)))?;
        Ok(ShortReads { asks, elsewhere: HashMap::new(), long_calls: 0 })
    }

    /// What the statement gives, when it only reads and is short.
    pub fn run(&mut self, connection: &Connection, statement: &Statement) -> Option<Answer> {
        if statement.timeout.is_some_and(|limit| limit < SHORTEST_LIMIT) || !self.is_tried(&statement.text) {
            return None;
        }
        let begin = Instant::now();
        self.asks.store(ASKS, Ordering::Relaxed);
        let answer = read(connection, statement);
        self.asks.store(UNLIMITED, Ordering::Relaxed);
        let answer = answer.unwrap_or(None);
        if answer.is_none() || self.was_long(begin.elapsed()) {
            self.elsewhere.insert(statement.text.as_str().into(), CALLS_ELSEWHERE);
        }
        answer
    }

    /// Whether this call and those before it took too long.
    fn was_long(&mut self, took: Duration) -> bool {
        self.long_calls = if took > LONG { self.long_calls + 1 } else { 0 };
        self.long_calls >= LONG_CALLS
    }

    fn is_tried(&mut self, text: &str) -> bool {
        if let Some(calls) = self.elsewhere.get_mut(text) {
            if *calls != ALWAYS {
                *calls = calls.saturating_sub(1);
            }
            return *calls == 0;
        }
        if self.elsewhere.len() >= TEXTS {
            self.elsewhere.clear();
        }
        let calls = if may_be_short(text) { 0 } else { ALWAYS };
        self.elsewhere.insert(text.into(), calls);
        calls == 0
    }
}

/// Asked by SQLite.
fn has_to_end(asks: &AtomicU32) -> bool {
    match asks.load(Ordering::Relaxed) {
        UNLIMITED => false,
        0 => true,
        left => {
            asks.store(left - 1, Ordering::Relaxed);
            false
        }
    }
}

/// Pragmas do much in one instruction, and those of the locks must see the thread's patience.
fn may_be_short(text: &str) -> bool {
    let begins = |word: &str| text.trim_start().get(..word.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(word));
    !has(text, "pragma") && ["SELECT", "WITH", "VALUES"].into_iter().any(begins)
}

/// Whether the word is in the text, whatever its case.
pub fn has(text: &str, word: &str) -> bool {
    text.as_bytes().windows(word.len()).any(|part| part.eq_ignore_ascii_case(word.as_bytes()))
}

/// None when the statement does more than read, or has too few parameters.
fn read(connection: &Connection, statement: &Statement) -> Result<Option<Answer>, Error> {
    let mut prepared = connection.prepare_cached(&statement.text)?;
    let Some(args) = statement.args.get(..prepared.parameter_count()) else { return Ok(None) };
    if !prepared.readonly() || prepared.column_count() == 0 {
        return Ok(None);
    }
    let mut answer = rows(&mut prepared, args)?;
    answer.last_id = Some(connection.last_insert_rowid());
    Ok(Some(answer))
}

#[cfg(test)]
mod tests {
    use super::super::super::common::value::SqlValue;
    use super::*;

    fn call(text: &str, args: Vec<SqlValue>) -> Statement {
        Statement { text: text.into(), args, timeout: None }
    }

    fn opened() -> (Connection, ShortReads) {
        let mut connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)").unwrap();
        let reads = ShortReads::watch(&mut connection).unwrap();
        (connection, reads)
    }

    #[test]
    fn short_reads_run_here_and_all_else_does_not() {
        let (connection, mut reads) = opened();
        let mut ran =
            |text: &str, args: Vec<SqlValue>| reads.run(&connection, &call(text, args)).map(|answer| answer.cells);
        assert_eq!(ran("SELECT a FROM t ORDER BY a", vec![]), Some(vec![SqlValue::Whole(1), SqlValue::Whole(2)]));
        assert_eq!(
            ran(" with x AS (SELECT ? b) SELECT b FROM x", vec![SqlValue::Whole(7)]),
            Some(vec![SqlValue::Whole(7)])
        );
        for text in [
            "INSERT INTO t VALUES (3) RETURNING a",
            "WITH x AS (SELECT 4) INSERT INTO t SELECT * FROM x",
            "SELECT 1; INSERT INTO t VALUES (5)",
            "PRAGMA busy_timeout",
            "SELECT * FROM Pragma_integrity_check",
            "SELECT ?",
            "SELECT nothing FROM t",
            "COMMIT",
        ] {
            assert_eq!(ran(text, vec![]), None, "{text}");
        }
        assert_eq!(ran("SELECT count(*) FROM t", vec![]), Some(vec![SqlValue::Whole(2)]), "nothing was written");
    }

    #[test]
    fn a_long_read_is_ended_and_the_next_calls_of_its_text_are_not_tried() {
        let (connection, mut reads) = opened();
        let text = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c";
        assert!(reads.run(&connection, &call(text, vec![])).is_none());
        assert_eq!(reads.elsewhere[text], CALLS_ELSEWHERE);
        assert!(reads.run(&connection, &call(text, vec![])).is_none());
        assert_eq!(reads.elsewhere[text], CALLS_ELSEWHERE - 1);
        let many =
            "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 100000) SELECT count(*) n FROM c";
        let counted: i64 = connection.query_row(many, [], |row| row.get(0)).unwrap();
        assert_eq!(counted, 100_000, "what runs on a thread has no limit");
    }

    #[test]
    fn what_takes_long_several_times_in_a_row_goes_to_a_thread() {
        let (_connection, mut reads) = opened();
        let times = [LONG * 2, LONG * 2, LONG / 2, LONG * 2, LONG * 2, LONG * 2];
        assert_eq!(times.map(|took| reads.was_long(took)), [false, false, false, false, false, true]);
    }

    #[test]
    fn a_kept_statement_sees_columns_that_came_later() {
        let (connection, mut reads) = opened();
        let mut columns = || reads.run(&connection, &call("SELECT * FROM t", vec![])).unwrap().columns;
        assert_eq!(columns(), ["a"]);
        connection.execute_batch("ALTER TABLE t ADD COLUMN b BOOLEAN").unwrap();
        assert_eq!(columns(), ["a", "b"]);
    }
}
