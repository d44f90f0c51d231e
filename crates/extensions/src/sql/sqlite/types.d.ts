/**
 * The driver of `k6/x/sql` for SQLite, which is built in.
 *
 * The name of a database is a path, `shop.db`; `:memory:` or nothing, for a database of this user alone; or a URI of SQLite,
 * `file:shop.db?mode=ro`. Settings follow a question mark:
 *
 * | word | meaning |
 * |---|---|
 * | `_busy_timeout` | milliseconds that a locked file is waited for; 5000 unless said otherwise |
 * | `_journal_mode`, `_locking_mode`, `_synchronous`, `_auto_vacuum`, `_cache_size`, `_secure_delete` | pragmas of the same names |
 * | `_foreign_keys`, `_defer_foreign_keys`, `_recursive_triggers`, `_ignore_check_constraints`, `_case_sensitive_like`, `_query_only`, `_writable_schema` | switches: `on` or `off` |
 *
 * Several statements in one text take their parameters one after the other; the last one's rows are given.
 */

/** What `open()` of `k6/x/sql` takes. */
declare const driver: unique symbol;
export default driver;
