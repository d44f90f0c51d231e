import sql from "k6/x/sql";
import driver from "k6/x/sql/driver/mysql";
import { is, messageOf } from "../../../../../tests/lib/assert.js";

export const options = {
  vus: 4,
  iterations: 40,
  thresholds: { checks: ["rate == 1"], iterations: ["count == 40"] },
};

const db = sql.open(driver, __ENV.MYSQL);

const bytes = (text) => Array.from(text, (letter) => letter.charCodeAt(0));
const withWords = (words) => sql.open(driver, `${__ENV.MYSQL}${__ENV.MYSQL.includes("?") ? "&" : "?"}${words}`);

export function setup() {
  const cipher = db.query("SHOW STATUS LIKE 'Ssl_cipher'")[0].Value;
  is("encrypted", cipher.length > 0, __ENV.TLS === "1");
  db.exec("DROP TABLE IF EXISTS items");
  db.exec("CREATE TABLE items (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20), big BIGINT UNSIGNED, f FLOAT, d DOUBLE, price DECIMAL(10,2), data BLOB, at DATETIME(3), day DATE, clock TIME)");
  const inserted = db.exec("INSERT INTO items (name, big, f, d, price, data, at, day, clock) VALUES ('x', 18446744073709551615, 0.1, 0.25, 1.5, 'ab', '2024-01-02 03:04:05.678', '2024-01-02', '-30:04:05'), ('y', NULL, 1, 1, 1, NULL, NULL, NULL, NULL)");
  is("inserted", [inserted.rowsAffected(), inserted.lastInsertId()], [2, 1]);
  const wanted = { id: 1, name: bytes("x"), big: 18446744073709552000, f: 0.1, d: 0.25, price: bytes("1.50"), data: bytes("ab"), at: bytes("2024-01-02 03:04:05.678"), day: bytes("2024-01-02"), clock: bytes("-30:04:05") };
  is("as text", db.query("SELECT * FROM items WHERE id = 1")[0], wanted);
  is("as binary", db.query("SELECT * FROM items WHERE id = ?", 1)[0], wanted);
  const timely = withWords("parseTime=true");
  const times = { at: "2024-01-02T03:04:05.678Z", day: "2024-01-02T00:00:00Z" };
  is("times as text", timely.query("SELECT at, day FROM items WHERE id = 1")[0], times);
  is("times as binary", timely.query("SELECT at, day FROM items WHERE id = ?", 1)[0], times);
  is("nulls", db.query("SELECT big, at FROM items WHERE id = ?", 2), [{ big: null, at: null }]);
  is("parameters", db.query("SELECT ? a, ? b, ? c, ? d, ? e, ? f", 1, 1.5, "ü", true, null, new Uint8Array([1, 0])), [{ a: 1, b: 1.5, c: [195, 188], d: 1, e: null, f: [1, 0] }]);
  is("written parameters", withWords("interpolateParams=true").query("SELECT ? a, ? b, ? c", 1, "x'y\\", null), [{ a: 1, b: bytes("x'y\\"), c: null }]);
  is("no rows", db.query("SELECT 1 FROM items WHERE id = 0"), []);
  is("several", withWords("multiStatements=true").query("SELECT 1 a; SELECT 2 b"), [{ a: 1 }]);
  is("several effects", withWords("multiStatements=true").exec("UPDATE items SET f = 2 WHERE id = 1; UPDATE items SET f = 3").rowsAffected(), 2);
  is("changed", db.exec("UPDATE items SET f = 3").rowsAffected(), 0);
  is("found", withWords("clientFoundRows=true").exec("UPDATE items SET f = 3").rowsAffected(), 2);
  is("a variable", withWords("sql_mode=%27ANSI_QUOTES%27").query("SELECT \"id\" a FROM items WHERE id = 1"), [{ a: 1 }]);
  is("long text", db.query("SELECT REPEAT('x', 100000) a")[0].a.length, 100000);
  is("too few", messageOf(() => db.query("SELECT ? a, ? b", 1)), "sql: expected 2 arguments, got 1");
  is("no table", messageOf(() => db.query("SELECT * FROM none")), "Error 1146 (42S02): Table 'test.none' doesn't exist");
  is("late error", messageOf(() => db.query("SELECT (SELECT id FROM items) a")), "Error 1242 (21000): Subquery returns more than 1 row");
  is("an array", messageOf(() => db.query("SELECT ?", [1])), "sql: found an array, expected one value: MySQL has no arrays");
  try {
    db.exec("INSERT INTO items (id) VALUES (1)");
  } catch (error) {
    is("parts of an error", [error.name, error.value.number, error.value.sqlState], ["GoError", "1062", "23000"]);
  }
  is("too long", messageOf(() => db.queryWithTimeout("100ms", "SELECT SLEEP(20)")), "context deadline exceeded");
  is("silence", messageOf(() => withWords("readTimeout=100ms").query("SELECT SLEEP(20)")), "invalid connection: no answer within readTimeout, 100ms");
  const before = db.query("SELECT CONNECTION_ID() c")[0].c;
  is("the connection is kept", db.query("SELECT CONNECTION_ID() c")[0].c, before);
  is("ended by the server", messageOf(() => db.exec(`KILL ${before}`)) !== "", true);
  is("and opened again", db.query("SELECT 1 a"), [{ a: 1 }]);
  const wrong = __ENV.MYSQL.replace(":secret@", ":wrong@");
  is("wrong password", /^Error 1045 \(28000\): Access denied/.test(messageOf(() => sql.open(driver, wrong).query("SELECT 1"))), true);
  db.exec("DELETE FROM items");
}

export default function () {
  db.exec("START TRANSACTION");
  db.exec("INSERT INTO items (name) VALUES (?)", `${__VU}`);
  db.exec("ROLLBACK");
  is("inserted", db.exec("INSERT INTO items (name, data, at) VALUES (?, ?, ?), ('y', NULL, NOW())", `${__VU}`, new Uint8Array([0, 255]), new Date()).rowsAffected(), 2);
}

export function teardown() {
  is("all of them", db.query("SELECT COUNT(*) c, COUNT(data) d FROM items"), [{ c: 80, d: 40 }]);
  db.close();
}
