import sql from "k6/x/sql";
import driver from "k6/x/sql/driver/sqlite3";
import { is, messageOf } from "../../../../../tests/lib/assert.js";

export const options = {
  vus: 4,
  iterations: 40,
  thresholds: { checks: ["rate == 1"], iterations: ["count == 40"] },
};

const db = sql.open(driver, `${__ENV.SQLITE}?_journal_mode=WAL`);

export function setup() {
  db.exec("CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT, price REAL, data BLOB, done BOOLEAN, at DATETIME)");
  const inserted = db.exec("INSERT INTO items (name, price, data, done, at) VALUES ('ü', 1.5, x'6100', true, '2024-01-02 03:04:05.678'), (NULL, NULL, NULL, 0, 1704164645)");
  is("inserted", [inserted.rowsAffected(), inserted.lastInsertId()], [2, 2]);
  is("rows", db.query("SELECT * FROM items"), [
    { id: 1, name: "ü", price: 1.5, data: [97, 0], done: true, at: "2024-01-02T03:04:05.678Z" },
    { id: 2, name: null, price: null, data: null, done: false, at: "2024-01-02T03:04:05Z" },
  ]);
  is("parameters", db.query("SELECT ?1 a, ?1 b, ?2 c, ?3 d, ?4 e, typeof(?5) f", 1, 1.5, "x", null, new Uint8Array([1])), [{ a: 1, b: 1, c: 1.5, d: "x", e: null, f: "blob" }]);
  is("the last of two", db.query("SELECT 1 a; SELECT 2 b"), [{ b: 2 }]);
  is("too few", messageOf(() => db.query("SELECT ? a, ? b", 1)), "not enough args to execute query: want 2 got 1");
  is("syntax", messageOf(() => db.query("SELEC 1")), 'near "SELEC": syntax error');
  try {
    db.exec("INSERT INTO items (id) VALUES (1)");
  } catch (error) {
    is("a constraint", [error.message, error.value.code, error.value.extendedCode], ["UNIQUE constraint failed: items.id", "19", "1555"]);
  }
  is("too long", messageOf(() => db.queryWithTimeout("100ms", "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c")), "context deadline exceeded");
  is("it goes on", db.query("SELECT 1 a"), [{ a: 1 }]);
  const many = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 200000) SELECT count(*) n FROM c";
  for (let call = 0; call < 3; call++) is("a long read", db.query(many), [{ n: 200000 }]);
  for (let call = 0; call < 3; call++) is("a short read", db.query("SELECT name FROM items WHERE id = ?", 1), [{ name: "ü" }]);
  is("a read that fails", messageOf(() => db.query("SELECT name FROM items WHERE wrong = 1")), "no such column: wrong");
  db.exec("ALTER TABLE items ADD COLUMN note");
  is("one column more", Object.keys(db.query("SELECT * FROM items WHERE id = 2")[0]), ["id", "name", "price", "data", "done", "at", "note"]);
  is("patience", db.query("PRAGMA busy_timeout"), [{ timeout: 5000 }]);
  const impatient = sql.open(driver, `${__ENV.SQLITE}?_busy_timeout=50`);
  is("less patience", impatient.query("PRAGMA busy_timeout"), [{ timeout: 50 }]);
  db.exec("BEGIN IMMEDIATE");
  is("locked", messageOf(() => impatient.exec("DELETE FROM items")), "database is locked");
  db.exec("ROLLBACK");
  impatient.exec("PRAGMA busy_timeout = 60");
  is("patience that was set", impatient.query("PRAGMA busy_timeout"), [{ timeout: 60 }]);
  is("a user's own", sql.open(driver, ":memory:").query("SELECT count(*) c FROM sqlite_master"), [{ c: 0 }]);
  is("no folder", messageOf(() => sql.open(driver, "/nowhere/x.db").query("SELECT 1")), "unable to open database file: /nowhere/x.db");
  is("no database", messageOf(() => sql.open(driver, "/etc/hostname?mode=ro").query("SELECT * FROM sqlite_master")), "file is not a database");
  is("no driver", messageOf(() => sql.open("oracle", "x")), "unsupported database: found oracle, expected one of mysql, postgres, sqlite3");
  db.exec("DELETE FROM items");
}

export default function () {
  is("inserted", db.exec("INSERT INTO items (name, data) VALUES (?, ?)", `${__VU}`, new Uint8Array([0, 255])).rowsAffected(), 1);
}

export function teardown() {
  is("all of them", db.query("SELECT count(*) c FROM items"), [{ c: 40 }]);
  db.close();
}
