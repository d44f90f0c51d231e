/**
 * The driver of `k6/x/sql` for MySQL and MariaDB.
 *
 * The name of a database is `user:password@tcp(host:3306)/shop?parseTime=true`, or `user@unix(/run/mysqld/mysqld.sock)/shop`.
 *
 * | word | meaning |
 * |---|---|
 * | `tls` | `false` unless said otherwise; `true`; `skip-verify`: the certificate unchecked; `preferred`: where the server can, unchecked |
 * | `parseTime` | `true`: DATE, DATETIME and TIMESTAMP give a `Time`, not bytes. Times are read in UTC; any other `loc` is refused |
 * | `multiStatements` | `true`: several statements in one text |
 * | `clientFoundRows` | `true`: `rowsAffected()` counts the rows found, not those changed |
 * | `interpolateParams` | `true`: parameters are written into the statement, which saves preparing it |
 * | `timeout`, `readTimeout` | how long connecting, and an answer, may take: `"2s"` |
 * | `allowCleartextPasswords` | `true`: the password may be sent as it is without TLS, if the server wants that |
 * | any other | a variable of the session, its value as SQL: `sql_mode=%27ANSI%27` |
 *
 * Users are proved by mysql_native_password, caching_sha2_password or sha256_password. A statement with parameters is
 * prepared, executed and closed. LOAD DATA LOCAL is refused. Parameters longer than 16 MiB together are refused.
 */

/** What `open()` of `k6/x/sql` takes. */
declare const driver: unique symbol;
export default driver;
