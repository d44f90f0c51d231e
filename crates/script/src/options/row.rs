//! One row of the table of options: what an option is called in each place where it can be set, how text becomes JSON
//! there, and how its JSON becomes a value of `Options`.

use serde_json::Value;

use super::form::ValueForm;
use super::table::Options;

/// One option of a test.
pub struct TestOption {
    /// Its name in `export const options` and in the config file.
    pub json: &'static str,
    /// What it does, in one line.
    pub help: &'static str,
    /// Long flag.
    pub flag: Option<&'static str>,
    /// Short flag.
    pub short: Option<char>,
    /// Environment variable.
    pub env: Option<&'static str>,
    /// How the text of the flag or the variable becomes JSON.
    pub form: ValueForm,
    /// What the value is called in the help.
    pub value: &'static str,
    /// What holds when nobody sets it, as a flag would say it; empty where the option is then off.
    pub default: &'static str,
    /// What the reference says beside the help.
    pub more: &'static str,
    /// Whether the problems that `read` finds name the option, or the scenario, themselves.
    pub(super) names_itself: bool,
    /// Takes the JSON over.
    pub(super) read: fn(&mut Options, &Value) -> Result<(), String>,
    /// The JSON that reads back the same; null when nothing is set.
    pub(super) show: fn(&Options) -> Value,
}

/// A row without its name, its help and its field: those are added by the table.
const fn row(form: ValueForm, value: &'static str) -> TestOption {
    TestOption {
        json: "",
        help: "",
        flag: None,
        short: None,
        env: None,
        form,
        value,
        default: "",
        more: "",
        names_itself: false,
        read: |_, _| Ok(()),
        show: |_| Value::Null,
    }
}

pub(super) const fn integer() -> TestOption {
    row(ValueForm::Integer, "N")
}

pub(super) const fn switch() -> TestOption {
    row(ValueForm::Switch, "true|false")
}

pub(super) const fn time() -> TestOption {
    row(ValueForm::Time, "TIME")
}

pub(super) const fn size() -> TestOption {
    row(ValueForm::Size, "SIZE")
}

pub(super) const fn text(value: &'static str) -> TestOption {
    row(ValueForm::Text, value)
}

pub(super) const fn list(value: &'static str) -> TestOption {
    row(ValueForm::List, value)
}

pub(super) const fn items(value: &'static str) -> TestOption {
    row(ValueForm::Items, value)
}

pub(super) const fn stages() -> TestOption {
    row(ValueForm::Stages, "TIME:VUS")
}

pub(super) const fn pairs() -> TestOption {
    row(ValueForm::Pairs, "NAME=VALUE")
}

pub(super) const fn fields(value: &'static str) -> TestOption {
    row(ValueForm::Fields, value)
}

/// A flag that may stand alone and then means `alone`.
pub(super) const fn mode(value: &'static str, alone: &'static str) -> TestOption {
    row(ValueForm::Mode(alone), value)
}

/// Only scripts and config files can write it.
pub(super) const fn json(what: &'static str) -> TestOption {
    row(ValueForm::Json(what), "")
}

impl TestOption {
    pub(super) const fn flag(self, flag: &'static str) -> Self {
        TestOption { flag: Some(flag), ..self }
    }

    pub(super) const fn short(self, short: char) -> Self {
        TestOption { short: Some(short), ..self }
    }

    pub(super) const fn env(self, env: &'static str) -> Self {
        TestOption { env: Some(env), ..self }
    }

    pub(super) const fn default(self, default: &'static str) -> Self {
        TestOption { default, ..self }
    }

    pub(super) const fn more(self, more: &'static str) -> Self {
        TestOption { more, ..self }
    }

    pub(super) const fn names_itself(self) -> Self {
        TestOption { names_itself: true, ..self }
    }

    /// The help, with the default behind it.
    pub fn help_with_default(&self) -> String {
        match self.default {
            "" => self.help.to_owned(),
            default => format!("{} [default: {default}]", self.help),
        }
    }

    /// The problem with the name of the option, as a script or a config file writes it.
    pub(super) fn named(&self, problem: String) -> String {
        if self.names_itself { problem } else { format!("'{}': {problem}", self.json) }
    }
}
