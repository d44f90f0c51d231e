//! `k6/x/dotenv`: variables of `.env` files in `__ENV`, and the format of such files.
//!
//! Imported, it reads the files of the working directory once a run, in the order of the convention that Ruby's dotenv
//! began. What `__ENV` has already stays.

pub(crate) mod format;

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::sync::{Arc, OnceLock};

use host::bytes;
use host::js::function::Opt;
use host::js::prelude::Func;
use host::js::{Ctx, Object, Result, Value};
use script::Vu;
use script::arguments::{given, text_or};
use script::builtins::ModuleDef;
use script::globals::environment;
use script::go_error;

/// The module.
pub const MODULE: ModuleDef =
    ModuleDef { name: "k6/x/dotenv", exports: &["parse", "stringify"], load, types: include_str!("types.d.ts") };

/// The environment that the files are of where `K6_ENV` names none.
const STANDARD: &str = "development";

/// What the files say, read by the first user: a file that changes during the run gives no two users different values.
#[derive(Default)]
struct Loaded(OnceLock<std::result::Result<Arc<BTreeMap<String, String>>, String>>);

fn load<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let vu = Vu::of(ctx);
    let named = environment::variable(&vu, "K6_ENV").filter(|name| !name.is_empty()).unwrap_or(STANDARD);
    let loaded = vu.process::<Loaded>();
    match loaded.0.get_or_init(|| read_all(named).map(Arc::new)) {
        Ok(variables) => environment::add(ctx, &vu, variables)?,
        Err(why) => return Err(go_error::throw(ctx, why)),
    }
    let module = Object::new(ctx.clone())?;
    module.set("parse", Func::from(parse))?;
    module.set("stringify", Func::from(stringify))?;
    Ok(module)
}

/// The files of an environment, the one that wins first.
fn files(environment: &str) -> Vec<String> {
    match environment {
        "false" => Vec::new(),
        // A test's results are not to hang on what one person has set for itself.
        "test" => vec![String::from(".env.test.local"), String::from(".env.test"), String::from(".env")],
        other => vec![
            format!(".env.{other}.local"),
            String::from(".env.local"),
            format!(".env.{other}"),
            String::from(".env"),
        ],
    }
}

/// Reads those that are there; the error names the file.
fn read_all(environment: &str) -> std::result::Result<BTreeMap<String, String>, String> {
    let mut all = BTreeMap::new();
    for name in files(environment) {
        let text = match fs::read_to_string(&name) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(format!("k6/x/dotenv: cannot read {name}: {error}")),
        };
        let variables = format::parse(&text).map_err(|why| format!("k6/x/dotenv: {name}: {why}"))?;
        let of_file: BTreeMap<String, String> = variables.into_iter().collect();
        for (name, value) in of_file {
            all.entry(name).or_insert(value);
        }
    }
    Ok(all)
}

fn parse<'js>(ctx: Ctx<'js>, text: Opt<Value<'js>>) -> Result<Object<'js>> {
    let text = text_or(&ctx, text, "")?;
    let variables = format::parse(&text).map_err(|why| go_error::throw(&ctx, &format!("parse(): {why}")))?;
    let object = Object::new(ctx)?;
    for (name, value) in variables {
        object.set(name, value)?;
    }
    Ok(object)
}

fn stringify<'js>(ctx: Ctx<'js>, value: Opt<Value<'js>>) -> Result<String> {
    let value = given(value);
    let Some(object) = value.as_ref().and_then(Value::as_object) else {
        let found = value.as_ref().map_or("nothing", Value::type_name);
        return Err(go_error::throw(&ctx, &format!("stringify(): found {found}, expected an object")));
    };
    let mut variables = BTreeMap::new();
    for name in object.keys::<String>() {
        let name = name?;
        let value: Value<'js> = object.get(name.as_str())?;
        variables.insert(name, bytes::to_text(&ctx, &value)?);
    }
    Ok(format::stringify(&variables))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_go_by_the_environment() {
        assert_eq!(files("staging"), [".env.staging.local", ".env.local", ".env.staging", ".env"]);
        assert_eq!(files("test"), [".env.test.local", ".env.test", ".env"]);
        assert_eq!(files("false"), [] as [&str; 0]);
    }
}
