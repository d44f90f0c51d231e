/**
 * Statements for databases, as in the extension xk6-sql: PostgreSQL, MySQL and MariaDB, SQLite.
 *
 * ```js
 * import sql from "k6/x/sql";
 * import driver from "k6/x/sql/driver/sqlite3";
 *
 * const db = sql.open(driver, ":memory:");
 *
 * export default function () {
 *   db.exec("CREATE TABLE IF NOT EXISTS items (id INTEGER PRIMARY KEY, name TEXT)");
 *   console.log(db.exec("INSERT INTO items (name) VALUES (?), (?)", "pen", "ink").rowsAffected());
 *   for (const row of db.query("SELECT * FROM items WHERE name = ?", "ink")) {
 *     console.log(`${row.id}: ${row.name}`);
 *   }
 * }
 *
 * export function teardown() {
 *   db.close();
 * }
 * ```
 *
 * Each user has a connection of its own, opened by its first statement. Bytes to and from a server are counted as
 * `data_sent` and `data_received`, and go over the user's link where there is one. There are no other metrics: measure
 * with a `Trend` of your own.
 *
 * What a column gives follows Go's drivers, so that scripts written for k6 find what they expect:
 *
 * | column | value |
 * |---|---|
 * | NULL | `null` |
 * | whole numbers, floating point | number |
 * | boolean of PostgreSQL, column `boolean` of SQLite | boolean |
 * | text of PostgreSQL and SQLite | string |
 * | text of MySQL; binary columns; types without one in Go (numeric, json, uuid, arrays) | array of bytes: `String.fromCharCode(...row.name)` |
 * | dates and times of PostgreSQL; of SQLite by the column's type; of MySQL with `parseTime=true` | `Time` |
 */

/**
 * A database. It connects at the first statement.
 *
 * @param driver the default export of a driver's module; its name as a string also does, as older scripts have it
 * @param dataSourceName where the database is; its form is the driver's
 * @throws GoError for a driver that is not built in, and for a name that the driver cannot read
 */
export function open(driver: symbol | string, dataSourceName: string): Database;

/** A database, and this user's connection to it. All calls wait. */
export interface Database {
  /**
   * Executes statements that give no rows.
   *
   * @param args values for the places `$1`, `?` of the statement: text, numbers, booleans, `Date`, bytes, `null`
   * @throws GoError with the database's message; `e.value` has its parts: `code`, `detail`, … of PostgreSQL, `number`
   * and `sqlState` of MySQL, `code` and `extendedCode` of SQLite
   */
  exec(query: string, ...args: any[]): Result;
  /** The same, ended after a time such as `"300ms"` or `"2s"`. PostgreSQL and SQLite are told to stop; a connection to MySQL is closed. */
  execWithTimeout(timeout: string, query: string, ...args: any[]): Result;
  /** The rows of a statement: of several statements those of the first, with SQLite those of the last. */
  query(query: string, ...args: any[]): Row[];
  /** The same, ended after a time. */
  queryWithTimeout(timeout: string, query: string, ...args: any[]): Row[];
  /** Closes the connection; later statements fail. */
  close(): void;
}

/** A row: a property for each column, in their order. */
export interface Row {
  [column: string]: any;
}

/** What a statement has changed. */
export interface Result {
  /** Rows inserted, changed or deleted by the last statement. */
  rowsAffected(): number;
  /** The number that the database gave to a new row. @throws GoError with PostgreSQL, which does not say it */
  lastInsertId(): number;
}

/** A point in time. As text it is what Go prints, as JSON RFC 3339, as a number milliseconds of Unix time. */
export interface Time {
  toString(): string;
  toJSON(): string;
  unix(): number;
  unixMilli(): number;
  unixMicro(): number;
  unixNano(): number;
  year(): number;
  /** From 1. */
  month(): number;
  day(): number;
  hour(): number;
  minute(): number;
  second(): number;
  nanosecond(): number;
}

declare const sql: {
  open: typeof open;
  /** `database.query(query, ...args)`, as older scripts write it. */
  query(database: Database, query: string, ...args: any[]): Row[];
};
export default sql;
