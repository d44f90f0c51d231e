/**
 * The driver of `k6/x/sql` for PostgreSQL.
 *
 * The name of a database is a URL, `postgres://user:password@host:5432/shop?sslmode=disable`, or words,
 * `host=/run/postgresql user=me dbname='my shop'`. Words that are missing come from the test's environment (`__ENV`): `PGHOST`, `PGPORT`,
 * `PGUSER`, `PGPASSWORD`, `PGDATABASE`, `PGSSLMODE`, `PGAPPNAME`, `PGCONNECT_TIMEOUT`.
 *
 * | word | meaning |
 * |---|---|
 * | `sslmode` | `require` unless said otherwise: encrypted, the certificate unchecked; `disable`; `allow`, `prefer`: encrypted where the server can; `verify-full`: the certificate and its name are checked. `verify-ca` is refused |
 * | `sslrootcert`, `sslcert`, `sslkey` | files in PEM: whom to trust, and who the client is |
 * | `connect_timeout` | seconds; 60 unless said otherwise |
 * | any other | a setting of the session: `application_name`, `search_path`, `statement_timeout`, … |
 *
 * Users are proved by a password in the clear, MD5 or SCRAM-SHA-256. Statements without parameters may be several in one text.
 * COPY from and to the client is refused.
 */

/** What `open()` of `k6/x/sql` takes. */
declare const driver: unique symbol;
export default driver;
