//! Which file, and with which settings: `shop.db?_journal_mode=WAL`, as Go's driver reads it.

use std::time::Duration;

use form_urlencoded::parse;

/// How long a locked file is waited for, unless `_busy_timeout` says otherwise.
const PATIENCE: Duration = Duration::from_secs(5);
const SWITCH: &[&str] = &["0", "1", "false", "true", "no", "yes", "off", "on"];
const ANY_NUMBER: &[&str] = &[];

/// A setting by both of its names, the pragma behind it, and what it may be.
struct Setting(&'static str, &'static str, &'static str, &'static [&'static str]);

const SETTINGS: [Setting; 13] = [
    Setting("_case_sensitive_like", "_cslike", "case_sensitive_like", SWITCH),
    Setting("_defer_foreign_keys", "_defer_fk", "defer_foreign_keys", SWITCH),
    Setting("_foreign_keys", "_fk", "foreign_keys", SWITCH),
    Setting("_ignore_check_constraints", "", "ignore_check_constraints", SWITCH),
    Setting("_journal_mode", "_journal", "journal_mode", &["DELETE", "TRUNCATE", "PERSIST", "MEMORY", "WAL", "OFF"]),
    Setting("_locking_mode", "_locking", "locking_mode", &["NORMAL", "EXCLUSIVE"]),
    Setting("_query_only", "", "query_only", SWITCH),
    Setting("_recursive_triggers", "_rt", "recursive_triggers", SWITCH),
    Setting("_secure_delete", "", "secure_delete", &["0", "1", "false", "true", "no", "yes", "off", "on", "FAST"]),
    Setting("_synchronous", "_sync", "synchronous", &["0", "OFF", "1", "NORMAL", "2", "FULL", "3", "EXTRA"]),
    Setting("_auto_vacuum", "_vacuum", "auto_vacuum", &["0", "NONE", "1", "FULL", "2", "INCREMENTAL"]),
    Setting("_writable_schema", "", "writable_schema", SWITCH),
    Setting("_cache_size", "", "cache_size", ANY_NUMBER),
];

/// A database.
#[derive(Clone, Debug)]
pub struct SqliteSource {
    /// A path, `:memory:`, or a URI of SQLite.
    pub file: String,
    /// How long a locked file is waited for.
    pub patience: Duration,
    /// Statements that make the settings.
    pub pragmas: Vec<String>,
}

impl SqliteSource {
    /// Reads a data source name. The error says what is wrong with it.
    pub fn read(name: &str) -> Result<SqliteSource, String> {
        let (path, query) = name.split_once('?').unwrap_or((name, ""));
        // What is no URI is a path, whose settings are for the driver alone.
        let file = if name.starts_with("file:") { name } else { path };
        let file = if file.is_empty() { ":memory:" } else { file };
        let mut source = SqliteSource { file: file.to_owned(), patience: PATIENCE, pragmas: Vec::new() };
        for (word, value) in parse(query.as_bytes()) {
            if matches!(&*word, "_busy_timeout" | "_timeout") {
                let millis = value.parse().map_err(|_| format!("Invalid {word}: {value}, expecting milliseconds"))?;
                source.patience = Duration::from_millis(millis);
            }
            let Some(Setting(_, _, pragma, allowed)) =
                SETTINGS.iter().find(|Setting(long, short, _, _)| *long == word || *short == word)
            else {
                continue;
            };
            let is_right = match allowed.is_empty() {
                true => value.parse::<i64>().is_ok(),
                false => allowed.iter().any(|allowed| allowed.eq_ignore_ascii_case(&value)),
            };
            if !is_right {
                let wanted = if allowed.is_empty() { String::from("a whole number") } else { allowed.join(" ") };
                return Err(format!("Invalid {word}: {value}, expecting {wanted}"));
            }
            source.pragmas.push(format!("PRAGMA {pragma} = {value}"));
        }
        Ok(source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_become_pragmas_and_wrong_ones_are_told() {
        let source = SqliteSource::read("shop.db?_journal_mode=wal&_fk=on&_timeout=100&_loc=auto").unwrap();
        assert_eq!((source.file.as_str(), source.patience), ("shop.db", Duration::from_millis(100)));
        assert_eq!(source.pragmas, ["PRAGMA journal_mode = wal", "PRAGMA foreign_keys = on"]);
        let uri = SqliteSource::read("file:shop.db?mode=ro&_cache_size=-200").unwrap();
        assert_eq!(
            (uri.file.as_str(), uri.pragmas.as_slice()),
            ("file:shop.db?mode=ro&_cache_size=-200", &[String::from("PRAGMA cache_size = -200")][..])
        );
        let why = |name: &str| SqliteSource::read(name).unwrap_err();
        assert_eq!(
            why("a?_journal_mode=X"),
            "Invalid _journal_mode: X, expecting DELETE TRUNCATE PERSIST MEMORY WAL OFF"
        );
        assert_eq!(why("a?_cache_size=1;drop"), "Invalid _cache_size: 1;drop, expecting a whole number");
        assert_eq!(why("a?_busy_timeout=long"), "Invalid _busy_timeout: long, expecting milliseconds");
    }
}
