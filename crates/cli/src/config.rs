//! The option layers: default < config file < script < environment < flag.
//!
//! Each layer becomes the JSON that a script would have written, and goes through the same parser; so an option behaves
//! alike wherever it is set. The merging itself is `Options::merge` (script crate), which knows that the execution
//! shortcuts of a higher layer replace the scenarios of a lower one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use clap::parser::ValueSource;
use serde_json::{Map, Value};

use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::flags::{Form, OPTIONS};

/// One layer as JSON, with the name errors call it by.
#[derive(Debug, PartialEq)]
pub struct Layer {
    /// `environment`, `flags`, or the path of the config file.
    pub origin: String,
    /// The options it sets.
    pub options: Value,
}

/// Options set by `K6_*` variables. Empty values count as unset.
pub fn environment_layer(env: &BTreeMap<String, String>) -> Result<Layer, Failure> {
    let mut options = Map::new();
    for option in OPTIONS {
        let Some(name) = option.env else { continue };
        let Some(text) = env.get(name).filter(|text| !text.is_empty()) else { continue };
        let value = option.parse(std::slice::from_ref(text), name).map_err(bad_text)?;
        options.insert(option.json.to_owned(), value);
    }
    Ok(Layer { origin: String::from("environment"), options: Value::Object(options) })
}

/// Options set by flags.
pub fn flag_layer(matches: &ArgMatches) -> Result<Layer, Failure> {
    let mut options = Map::new();
    for option in OPTIONS {
        let Some(flag) = option.flag else { continue };
        if matches.value_source(option.json) != Some(ValueSource::CommandLine) {
            continue;
        }
        let texts: Vec<String> = matches.get_many::<String>(option.json).into_iter().flatten().cloned().collect();
        let texts = if option.form == Form::Integer { texts.into_iter().rev().take(1).collect() } else { texts };
        let value = option.parse(&texts, &format!("--{flag}")).map_err(bad_text)?;
        options.insert(option.json.to_owned(), value);
    }
    Ok(Layer { origin: String::from("flags"), options: Value::Object(options) })
}

/// Options of the config file: the one asked for, or the user's own where there is one.
pub fn file_layer(asked: Option<&str>, env: &BTreeMap<String, String>) -> Result<Option<Layer>, Failure> {
    let path = match asked {
        Some(path) => PathBuf::from(path),
        None => match default_config(env).filter(|path| path.exists()) {
            Some(path) => path,
            None => return Ok(None),
        },
    };
    read_layer(&path).map(Some)
}

/// `onrush/config.json` in the user's configuration folder.
pub fn default_config(env: &BTreeMap<String, String>) -> Option<PathBuf> {
    let folder = match env.get("XDG_CONFIG_HOME").filter(|path| !path.is_empty()) {
        Some(path) => PathBuf::from(path),
        None => Path::new(env.get("HOME")?).join(".config"),
    };
    Some(folder.join("onrush").join("config.json"))
}

fn read_layer(path: &Path) -> Result<Layer, Failure> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).map_err(|e| {
        // -c is a number of users in wrk, oha, hey, bombardier, and with a URL.
        let is_number = path.to_str().is_some_and(|text| text.bytes().all(|b| b.is_ascii_digit()));
        let hint = if is_number { format!("; for {shown} virtual users write -u {shown}") } else { String::new() };
        Failure::new(ExitCode::Generic, format!("cannot read the config file {shown}: {e}{hint}"))
    })?;
    let options: Value = serde_json::from_str(&text).map_err(|e| {
        let place = format!("{shown}:{}:{}", e.line(), e.column());
        Failure::new(ExitCode::InvalidConfig, format!("{place}: the config file is not valid JSON: {e}"))
    })?;
    if !options.is_object() {
        let message = format!("{shown}: found {}, expected an object with options", kind_of(&options));
        return Err(Failure::new(ExitCode::InvalidConfig, message));
    }
    Ok(Layer { origin: shown.to_string(), options })
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

fn bad_text(bad: crate::flags::BadText) -> Failure {
    Failure::new(ExitCode::InvalidConfig, bad.message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn variables_become_options_and_empty_ones_do_not() {
        let env = BTreeMap::from([
            (String::from("K6_VUS"), String::from("3")),
            (String::from("K6_STAGES"), String::from("1s:2,3s:0")),
            (String::from("K6_DURATION"), String::new()),
        ]);
        let expected = json!({"vus": 3, "stages": [{"duration": "1s", "target": 2}, {"duration": "3s", "target": 0}]});
        assert_eq!(environment_layer(&env).expect("valid").options, expected);
    }

    #[test]
    fn a_bad_variable_names_itself() {
        let env = BTreeMap::from([(String::from("K6_VUS"), String::from("many"))]);
        let failure = environment_layer(&env).expect_err("refused");
        assert_eq!(failure.message, "K6_VUS: found 'many', expected a whole number, as in 10");
        assert_eq!(failure.code, ExitCode::InvalidConfig);
    }

    #[test]
    fn flags_become_options() {
        let matches = crate::flags::run_command()
            .try_get_matches_from([
                "run", "-u", "5", "--stage", "1s:2", "-s", "2s:0", "--throw", "--tag", "a=b", "x.js",
            ])
            .expect("valid flags");
        let expected = json!({
            "vus": 5,
            "stages": [{"duration": "1s", "target": 2}, {"duration": "2s", "target": 0}],
            "throw": true,
            "tags": {"a": "b"},
        });
        assert_eq!(flag_layer(&matches).expect("valid").options, expected);
    }
}
