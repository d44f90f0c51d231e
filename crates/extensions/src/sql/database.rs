//! What a script holds: a database, and what came of a statement.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use host::bytes;
use host::js::atom::Atom;
use host::js::function::{Opt, Rest, This};
use host::js::prelude::Func;
use host::js::{Array, Ctx, Exception, Object, Result, Value};
use host::native::{self, NativeClass};
use script::Vu;
use script::go_error;
use units::Span;
use wire::link::Link;

use super::common::call::{Answer, SqlFailure, Statement};
use super::common::value::SqlValue;
use super::drivers::{Source, SqlConnection};

/// A database as the user sees it. Its calls wait, so that one connection is enough.
pub struct Database {
    source: Source,
    idle: RefCell<Option<Idle>>,
    is_closed: Cell<bool>,
}

/// The connection between two calls.
struct Idle {
    connection: SqlConnection,
    /// What it goes over.
    link: Option<Weak<Link>>,
}

/// The class that holds it.
struct DatabaseObject(Rc<Database>);

impl NativeClass for DatabaseObject {
    const NAME: &'static str = "Database";

    fn methods<'js>(prototype: &Object<'js>) -> Result<()> {
        prototype.set("exec", Func::from(exec))?;
        prototype.set("execWithTimeout", Func::from(exec_with_timeout))?;
        prototype.set("query", Func::from(query))?;
        prototype.set("queryWithTimeout", Func::from(query_with_timeout))?;
        prototype.set("close", Func::from(close))
    }
}

/// What `exec` gives.
struct SqlResult {
    affected: u64,
    is_empty: bool,
    last_id: Option<i64>,
}

impl NativeClass for SqlResult {
    const NAME: &'static str = "Result";

    fn methods<'js>(prototype: &Object<'js>) -> Result<()> {
        prototype.set("lastInsertId", Func::from(last_insert_id))?;
        prototype.set("rowsAffected", Func::from(rows_affected))
    }
}

/// The object of a database. It connects at the first statement.
pub fn object<'js>(ctx: &Ctx<'js>, source: Source) -> Result<Object<'js>> {
    let database = Database { source, idle: RefCell::default(), is_closed: Cell::default() };
    native::object(ctx, DatabaseObject(Rc::new(database)))
}

/// The rows of a statement on a database that was given as an argument, as scripts for older versions do.
pub fn query_on<'js>(ctx: Ctx<'js>, database: Opt<Value<'js>>, args: Rest<Value<'js>>) -> Result<Array<'js>> {
    let database = database.0.unwrap_or_else(|| Value::new_undefined(ctx.clone()));
    query(ctx, This(database), args)
}

fn query<'js>(ctx: Ctx<'js>, This(this): This<Value<'js>>, args: Rest<Value<'js>>) -> Result<Array<'js>> {
    rows(&ctx, run(&ctx, &this, &args.0)?)
}

fn query_with_timeout<'js>(ctx: Ctx<'js>, This(this): This<Value<'js>>, args: Rest<Value<'js>>) -> Result<Array<'js>> {
    rows(&ctx, run_within(&ctx, &this, &args.0)?)
}

fn exec<'js>(ctx: Ctx<'js>, This(this): This<Value<'js>>, args: Rest<Value<'js>>) -> Result<Object<'js>> {
    effect(&ctx, &run(&ctx, &this, &args.0)?)
}

fn exec_with_timeout<'js>(ctx: Ctx<'js>, This(this): This<Value<'js>>, args: Rest<Value<'js>>) -> Result<Object<'js>> {
    effect(&ctx, &run_within(&ctx, &this, &args.0)?)
}

fn close<'js>(ctx: Ctx<'js>, This(this): This<Value<'js>>) -> Result<()> {
    let database = of(&ctx, &this)?;
    database.is_closed.set(true);
    database.idle.take();
    Ok(())
}

fn of(ctx: &Ctx<'_>, this: &Value<'_>) -> Result<Rc<Database>> {
    let found = native::with(this, |object: &DatabaseObject| Rc::clone(&object.0));
    found.ok_or_else(|| Exception::throw_type(ctx, "expected a database, which open() gives"))
}

/// A call whose first argument is how long it may take.
fn run_within<'js>(ctx: &Ctx<'js>, this: &Value<'js>, args: &[Value<'js>]) -> Result<Answer> {
    let text = args.first().map(|value| bytes::to_text(ctx, value)).transpose()?.unwrap_or_default();
    let Ok(span) = Span::parse(&text) else {
        return Err(go_error::throw(ctx, &format!("time: invalid duration {text:?}")));
    };
    let mut statement = statement(ctx, args.get(1..).unwrap_or_default())?;
    statement.timeout = Some(span.or_zero());
    let database = of(ctx, this)?;
    call(ctx, &database, &statement)
}

fn run<'js>(ctx: &Ctx<'js>, this: &Value<'js>, args: &[Value<'js>]) -> Result<Answer> {
    let database = of(ctx, this)?;
    call(ctx, &database, &statement(ctx, args)?)
}

fn statement<'js>(ctx: &Ctx<'js>, args: &[Value<'js>]) -> Result<Statement> {
    let text = args.first().map(|value| bytes::to_text(ctx, value)).transpose()?.unwrap_or_default();
    let mut values = Vec::with_capacity(args.len().saturating_sub(1));
    for (index, value) in args.iter().enumerate().skip(1) {
        match SqlValue::of(ctx, value)? {
            Ok(value) => values.push(value),
            Err(found) => {
                let text = format!(
                    "sql: converting argument ${index} type: found {found}, expected text, a number, a boolean, \
                     a Date, a Uint8Array, an ArrayBuffer or null"
                );
                return Err(go_error::throw(ctx, &text));
            }
        }
    }
    Ok(Statement { text, args: values, timeout: None })
}

/// Waits for the answer on the user's coroutine.
fn call(ctx: &Ctx<'_>, database: &Database, statement: &Statement) -> Result<Answer> {
    let vu = Vu::of(ctx);
    match vu.block_on(ctx, database.answer(&vu, statement))? {
        Ok(answer) => Ok(answer),
        Err(failure) => Err(throw(ctx, &failure)?),
    }
}

fn throw(ctx: &Ctx<'_>, failure: &SqlFailure) -> Result<host::js::Error> {
    let parts = Object::new(ctx.clone())?;
    for (name, text) in &failure.parts {
        parts.set(*name, text)?;
    }
    Ok(go_error::throw_with(ctx, &failure.message, parts))
}

impl Database {
    async fn answer(&self, vu: &Vu, statement: &Statement) -> std::result::Result<Answer, SqlFailure> {
        if self.is_closed.get() {
            return Err(SqlFailure::refused("sql: database is closed"));
        }
        let link = vu.link();
        let mut connection = match self.take_idle(link.as_ref()) {
            Some(connection) => connection,
            // Boxed: it is large, and seldom needed.
            None => Box::pin(SqlConnection::open(vu, &self.source)).await?,
        };
        let outcome = connection.run(vu, statement).await;
        if outcome.as_ref().map_or_else(|failure| failure.is_usable, |_| true) {
            *self.idle.borrow_mut() = Some(Idle { connection, link: link.as_ref().map(Rc::downgrade) });
        }
        outcome
    }

    fn take_idle(&self, link: Option<&Rc<Link>>) -> Option<SqlConnection> {
        let Idle { mut connection, link: known } = self.idle.take()?;
        let is_same = known.as_ref().map(Weak::as_ptr) == link.map(Rc::as_ptr);
        (is_same && connection.is_usable()).then_some(connection)
    }
}

/// An object for each row, its columns in their order; of two with the same name the last one stands.
fn rows<'js>(ctx: &Ctx<'js>, answer: Answer) -> Result<Array<'js>> {
    let names = answer.columns.iter().map(|name| Atom::from_str(ctx.clone(), name));
    let names: Vec<Atom<'js>> = names.collect::<Result<_>>()?;
    let rows = Array::new(ctx.clone())?;
    let (mut cells, mut count) = (answer.cells.into_iter(), 0);
    while !names.is_empty() && cells.len() >= names.len() {
        let row = Object::new(ctx.clone())?;
        for name in &names {
            let value = cells.next().unwrap_or(SqlValue::Null);
            row.set(name.clone(), value.into_js(ctx)?)?;
        }
        rows.set(count, row)?;
        count += 1;
    }
    Ok(rows)
}

fn effect<'js>(ctx: &Ctx<'js>, answer: &Answer) -> Result<Object<'js>> {
    let Answer { affected, is_empty, last_id, .. } = *answer;
    native::object(ctx, SqlResult { affected, is_empty, last_id })
}

fn last_insert_id<'js>(ctx: Ctx<'js>, This(this): This<Value<'js>>) -> Result<f64> {
    match native::with(&this, |result: &SqlResult| result.last_id) {
        Some(Some(number)) => Ok(number as f64),
        Some(None) => Err(go_error::throw(&ctx, "LastInsertId is not supported by this driver")),
        None => Err(Exception::throw_type(&ctx, "lastInsertId() must be called on what exec() gives")),
    }
}

fn rows_affected<'js>(ctx: Ctx<'js>, This(this): This<Value<'js>>) -> Result<f64> {
    match native::with(&this, |result: &SqlResult| (!result.is_empty).then_some(result.affected)) {
        Some(Some(count)) => Ok(count as f64),
        Some(None) => Err(go_error::throw(&ctx, "no RowsAffected available after the empty statement")),
        None => Err(Exception::throw_type(&ctx, "rowsAffected() must be called on what exec() gives")),
    }
}
