import sql from "k6/x/sql";
import driver from "k6/x/sql/driver/postgres";
import { is, messageOf } from "../../../../../tests/lib/assert.js";

export const options = {
  vus: 4,
  iterations: 40,
  thresholds: { checks: ["rate == 1"], iterations: ["count == 40"] },
};

const db = sql.open(driver, __ENV.POSTGRES);

const one = (expression, ...args) => db.query(`SELECT ${expression} AS a`, ...args)[0].a;
const bytes = (text) => Array.from(text, (letter) => letter.charCodeAt(0));

export function setup() {
  db.exec("DROP TABLE IF EXISTS items; CREATE TABLE items (id SERIAL PRIMARY KEY, name TEXT, price NUMERIC, data BYTEA, at TIMESTAMPTZ)");
  is("encrypted", db.query("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")[0].ssl, __ENV.TLS === "1");
  is("numbers", db.query("SELECT 2::int2 b, 3::int8 c, 1.5::float8 d, 0.1::float4 e")[0], { b: 2, c: 3, d: 1.5, e: 0.1 });
  is("types without one in Go", [one("1.50"), one("'{\"a\":1}'::json"), one("'a'::name")], ["1.50", '{"a":1}', "a"].map(bytes));
  is("text", [one("'ü'::text"), one("'v'::varchar"), one("'c'::char(2)")], ["ü", "v", "c "]);
  is("others", [one("true"), one("NULL"), one("'\\x6100'::bytea")], [true, null, [97, 0]]);
  const time = one("'2024-01-02 03:04:05.123456+00'::timestamptz");
  is("a time", [String(time), time, time.unix(), time.month(), time - 0], ["2024-01-02 03:04:05.123456 +0000 UTC", "2024-01-02T03:04:05.123456Z", 1704164645, 1, 1704164645123]);
  is("parameters", [one("$1::text", 42), one("$1::int", "7"), one("$1::bool", true), one("$1::text", null), one("$1::bytea", new Uint8Array([1, 2])), one("$1::text", [1, "x y"])], ["42", 7, true, null, [1, 2], '{1,"x y"}']);
  is("a date as parameter", one("$1::timestamptz", new Date(0)), "1970-01-01T00:00:00Z");
  is("rows", db.query("SELECT n, n * 2 d FROM generate_series(1, 3) n"), [{ n: 1, d: 2 }, { n: 2, d: 4 }, { n: 3, d: 6 }]);
  is("no rows", db.query("SELECT 1 WHERE false"), []);
  is("the first of two", db.query("SELECT 1 a; SELECT 2 b"), [{ a: 1 }]);
  is("an old call", sql.query(db, "SELECT $1::int a", 5), [{ a: 5 }]);
  is("last id", messageOf(() => db.exec("INSERT INTO items (name) VALUES ('x')").lastInsertId()), "LastInsertId is not supported by this driver");
  is("syntax", messageOf(() => db.query("SELEC 1")), 'pq: syntax error at or near "SELEC" at column 1 (42601)');
  is("place in lines", messageOf(() => db.query("SELECT *\nFROM none")), 'pq: relation "none" does not exist at position 2:6 (42P01)');
  is("late error", messageOf(() => db.query("SELECT 1 / (3 - n) FROM generate_series(1, 5) n")), "pq: division by zero (22012)");
  is("copy", messageOf(() => db.exec("COPY items FROM STDIN")), "pq: COPY … FROM STDIN is not offered: use INSERT, or a file of the server");
  is("a parameter that is none", messageOf(() => one("$1::text", { a: 1 })), "sql: converting argument $1 type: found an object, expected text, a number, a boolean, a Date, a Uint8Array, an ArrayBuffer or null");
  is("too few", /supplies 1 parameters.*requires 2/.test(messageOf(() => db.query("SELECT $1::int, $2::int", 1))), true);
  try {
    db.exec("INSERT INTO items (id) VALUES (1)");
  } catch (error) {
    is("parts of an error", [error.name, error.value.code, error.value.constraint], ["GoError", "23505", "items_pkey"]);
  }
  is("too long", messageOf(() => db.queryWithTimeout("100ms", "SELECT pg_sleep(20)")), "pq: canceling statement due to user request (57014)");
  is("the connection goes on", one("pg_backend_pid() = $1", db.query("SELECT pg_backend_pid() p")[0].p), true);
  is("duration", messageOf(() => db.queryWithTimeout("soon", "SELECT 1")), 'time: invalid duration "soon"');
  is("ended by the server", /terminating connection/.test(messageOf(() => db.exec("SELECT pg_terminate_backend(pg_backend_pid())"))), true);
  is("and opened again", one("1"), 1);
  const other = sql.open(driver, __ENV.POSTGRES);
  other.close();
  is("closed", messageOf(() => other.query("SELECT 1")), "sql: database is closed");
  const wrong = __ENV.POSTGRES.replace(":secret@", ":wrong@");
  if (wrong !== __ENV.POSTGRES) {
    is("wrong password", /^pq: password authentication failed for user .* \(28P01\)$/.test(messageOf(() => sql.open(driver, wrong).query("SELECT 1"))), true);
  }
  db.exec("DELETE FROM items");
}

export default function () {
  db.exec("BEGIN");
  db.exec("INSERT INTO items (name) VALUES ($1)", `${__VU}`);
  db.exec("ROLLBACK");
  is("inserted", db.exec("INSERT INTO items (name, price, data, at) VALUES ($1, $2, $3, $4), ('y', 1, NULL, now())", `${__VU}`, 1.5, new Uint8Array([0, 255]), new Date()).rowsAffected(), 2);
}

export function teardown() {
  is("all of them", db.query("SELECT count(*) c, sum(length(data)) d FROM items"), [{ c: 80, d: 80 }]);
  db.close();
}
