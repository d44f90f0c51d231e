//! `k6/x/sql`: statements for databases, and a module for each driver, whose default export names it.

pub(crate) mod common;
mod database;
mod drivers;
pub(crate) mod mysql;
pub(crate) mod postgres;
pub(crate) mod sqlite;

use host::bytes;
use host::js::function::Opt;
use host::js::prelude::Func;
use host::js::{Ctx, Function, Object, Result, Value};
use script::arguments::text_or;
use script::builtins::ModuleDef;
use script::go_error;

use drivers::{DRIVERS, Driver};

/// The module.
pub const MODULE: ModuleDef =
    ModuleDef { name: "k6/x/sql", exports: &["open"], load, types: include_str!("types.d.ts") };

/// The module of the driver for MySQL and MariaDB.
pub const MYSQL: ModuleDef = ModuleDef {
    name: "k6/x/sql/driver/mysql",
    exports: &[],
    load: |ctx| driver(ctx, "mysql"),
    types: include_str!("mysql/types.d.ts"),
};

/// The module of the driver for PostgreSQL.
pub const POSTGRES: ModuleDef = ModuleDef {
    name: "k6/x/sql/driver/postgres",
    exports: &[],
    load: |ctx| driver(ctx, "postgres"),
    types: include_str!("postgres/types.d.ts"),
};

/// The module of the driver for SQLite.
pub const SQLITE: ModuleDef = ModuleDef {
    name: "k6/x/sql/driver/sqlite3",
    exports: &[],
    load: |ctx| driver(ctx, "sqlite3"),
    types: include_str!("sqlite/types.d.ts"),
};

fn load<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    module.set("open", Func::from(open))?;
    module.set("query", Func::from(database::query_on))?;
    Ok(module)
}

fn driver<'js>(ctx: &Ctx<'js>, name: &'static str) -> Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    let symbol: Function<'js> = ctx.globals().get("Symbol")?;
    module.set("default", symbol.call::<_, Value<'js>>((name,))?)?;
    Ok(module)
}

fn open<'js>(ctx: Ctx<'js>, driver: Opt<Value<'js>>, name: Opt<Value<'js>>) -> Result<Object<'js>> {
    let asked = match &driver.0 {
        Some(value) => match value.as_symbol() {
            Some(symbol) => bytes::to_text(&ctx, &symbol.description()?)?,
            None if value.is_string() => bytes::to_text(&ctx, value)?,
            None => value.type_name().to_owned(),
        },
        None => String::from("nothing"),
    };
    let Some(Driver { read, .. }) = DRIVERS.iter().find(|driver| driver.name == asked) else {
        let known: Vec<&str> = DRIVERS.iter().map(|driver| driver.name).collect();
        let text = format!("unsupported database: found {asked}, expected one of {}", known.join(", "));
        return Err(go_error::throw(&ctx, &text));
    };
    let variables: Option<Object<'js>> = ctx.globals().get("__ENV")?;
    let environment = |name: &str| variables.as_ref().and_then(|variables| variables.get::<_, String>(name).ok());
    match read(&text_or(&ctx, name, "")?, &environment) {
        Ok(source) => database::object(&ctx, source),
        Err(why) => Err(go_error::throw(&ctx, &why)),
    }
}
