//! What a script asks of a database, and what comes of it.

use std::time::Duration;

use super::value::SqlValue;

/// One call of a script.
pub struct Statement {
    /// SQL; without parameters it may be several statements, where the driver allows that.
    pub text: String,
    /// Parameters.
    pub args: Vec<SqlValue>,
    /// How long it may take.
    pub timeout: Option<Duration>,
}

/// What came of it: the rows of the first result, and the effect of the last.
#[derive(Default)]
pub struct Answer {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Values, row by row.
    pub cells: Vec<SqlValue>,
    /// Rows that were changed; the error says why that is not known.
    pub affected: u64,
    /// Nothing was executed, so that nothing is known of an effect.
    pub is_empty: bool,
    /// The number that the database gave to a new row; none where the driver does not say it.
    pub last_id: Option<i64>,
}

/// Why it failed.
#[derive(Debug)]
pub struct SqlFailure {
    /// One sentence.
    pub message: String,
    /// Parts of the error by their names, as the database told them.
    pub parts: Vec<(&'static str, String)>,
    /// The connection can go on.
    pub is_usable: bool,
}

impl SqlFailure {
    /// The connection is of no use any more, or there never was one.
    pub fn lost(message: impl Into<String>) -> SqlFailure {
        SqlFailure { message: message.into(), parts: Vec::new(), is_usable: false }
    }

    /// The connection can go on.
    pub fn refused(message: impl Into<String>) -> SqlFailure {
        SqlFailure { is_usable: true, ..SqlFailure::lost(message) }
    }

    /// The call took longer than the script allowed.
    pub fn too_late() -> SqlFailure {
        SqlFailure::lost("context deadline exceeded")
    }
}
