//! The option layers: default < config file < script < environment < flag.
//!
//! Which options there are, and how each is read, is known to `script::options` alone; so an option behaves alike
//! wherever it is set. The merging itself is `Options::merge`, which knows that the execution shortcuts of a higher
//! layer replace the scenarios of a lower one.

use std::path::{Path, PathBuf};

use clap::ArgMatches;
use clap::parser::ValueSource;
use script::log::Level;
use script::options::{OPTIONS, Options, OptionsError, ValueForm};
use serde_json::Value;

use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::log::Logger;
use crate::process::environment::Variables;

/// Options set by environment variables. Empty values count as unset.
pub fn environment_layer(env: &Variables) -> Result<Options, Failure> {
    let mut options = Options::default();
    for option in OPTIONS {
        let Some(name) = option.env else { continue };
        let Some(text) = env.get(name).filter(|text| !text.is_empty()) else { continue };
        options.set(option, std::slice::from_ref(text), name).map_err(refused)?;
    }
    Ok(options)
}

/// Options set by flags.
pub fn flag_layer(matches: &ArgMatches) -> Result<Options, Failure> {
    let mut options = Options::default();
    for option in OPTIONS {
        let Some(flag) = option.flag else { continue };
        let is_known = matches.try_contains_id(option.json).is_ok();
        if !is_known || matches.value_source(option.json) != Some(ValueSource::CommandLine) {
            continue;
        }
        let texts: Vec<String> = matches.get_many::<String>(option.json).into_iter().flatten().cloned().collect();
        // k6's code for a flag that cannot be read.
        let refused = |error: OptionsError| Failure::new(ExitCode::Generic, error.message);
        let bare = texts.iter().find(|text| text.bytes().all(|byte| byte.is_ascii_digit()) && text.as_str() != "0");
        if let (ValueForm::Time, Some(bare)) = (option.form, bare) {
            let message = format!("--{flag}: found '{bare}', expected a time with its unit, as {bare}s or {bare}ms");
            return Err(refused(OptionsError { message }));
        }
        options.set(option, &texts, &format!("--{flag}")).map_err(refused)?;
    }
    Ok(options)
}

/// Options that the script exports, as JSON. Warnings go to the log.
pub fn script_layer(json: Option<&str>, log: &Logger) -> Result<Options, Failure> {
    let Some(json) = json else { return Ok(Options::default()) };
    let layer = serde_json::from_str(json).expect("made by JSON.stringify");
    read(&layer, "the script", log)
}

/// Options that were packed with a test.
pub fn archive_layer(options: &Value, log: &Logger) -> Result<Options, Failure> {
    if options.is_null() { Ok(Options::default()) } else { read(options, "the archive", log) }
}

/// Options of the config file: the one asked for, or the user's own where there is one.
/// Warnings go to the log.
pub fn file_layer(asked: Option<&str>, env: &Variables, log: &Logger) -> Result<Options, Failure> {
    let path = match asked {
        Some(path) => PathBuf::from(path),
        None => match default_configs(env).into_iter().find(|path| path.exists()) {
            Some(path) => path,
            None => return Ok(Options::default()),
        },
    };
    let layer = read_file(&path)?;
    read(&layer, &path.display().to_string(), log)
}

fn read(layer: &Value, origin: &str, log: &Logger) -> Result<Options, Failure> {
    let (options, warnings) = Options::from_json(layer, origin).map_err(refused)?;
    warnings.iter().for_each(|warning| log.write(Level::Warning, warning, &[]));
    Ok(options)
}

/// `config.json` in the user's configuration folder: Onrush's, or k6's where there is none.
fn default_configs(env: &Variables) -> Vec<PathBuf> {
    let given = |name: &str| env.get(name).filter(|path| !path.is_empty());
    let folder = given("XDG_CONFIG_HOME").map(PathBuf::from);
    let folder = folder.or_else(|| Some(Path::new(given("HOME")?).join(".config")));
    let names = ["onrush", "k6"].into_iter();
    folder.map_or_else(Vec::new, |folder| names.map(|name| folder.join(name).join("config.json")).collect())
}

fn read_file(path: &Path) -> Result<Value, Failure> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).map_err(|e| {
        // -c is a number of users in wrk, oha, hey, bombardier, and with a URL.
        let is_number = path.to_str().is_some_and(|text| text.bytes().all(|b| b.is_ascii_digit()));
        let hint = if is_number { format!("; for {shown} virtual users write -u {shown}") } else { String::new() };
        Failure::new(ExitCode::InvalidConfig, format!("cannot read the config file {shown}: {e}{hint}"))
    })?;
    let options: Value = serde_json::from_str(&text).map_err(|e| {
        let place = format!("{shown}:{}:{}", e.line(), e.column());
        Failure::new(ExitCode::InvalidConfig, format!("{place}: the config file is not valid JSON: {e}"))
    })?;
    if !options.is_object() {
        let message = format!("{shown}: found {}, expected an object with options", kind_of(&options));
        return Err(Failure::new(ExitCode::InvalidConfig, message));
    }
    Ok(options)
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

fn refused(error: OptionsError) -> Failure {
    Failure::new(ExitCode::InvalidConfig, error.message)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;

    fn script(options: Value) -> Options {
        Options::from_json(&options, "the script").expect("valid").0
    }

    #[test]
    fn variables_become_options_and_empty_ones_do_not() {
        let env = BTreeMap::from([
            (String::from("K6_VUS"), String::from("3")),
            (String::from("K6_STAGES"), String::from("1s:2,3s:0")),
            (String::from("K6_DURATION"), String::new()),
        ]);
        let expected = json!({"vus": 3, "stages": [{"duration": "1s", "target": 2}, {"duration": "3s", "target": 0}]});
        assert_eq!(environment_layer(&env), Ok(script(expected)));
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
        assert_eq!(flag_layer(&matches), Ok(script(expected)));
    }
}
