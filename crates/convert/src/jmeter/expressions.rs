//! `${name}` and `${__function(…)}` of a plan, as JavaScript.
//!
//! Variables of the plan are constants that `-e` changes; columns of CSV files are fields of the row; what extractors
//! find is set while the test runs. Functions that k6 has no word for stay as they are, with a note.

use std::collections::BTreeMap;

use crate::identifier::{environment, identifier};
use crate::model::Test;
use crate::notes::Notes;
use crate::source;
use crate::template::{self, Template};

/// Where a name comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Origin {
    Plan(String),
    Row(String),
    Extracted,
    Unknown,
}

/// The names of a plan.
#[derive(Debug, Default)]
pub struct PlanVariables {
    origins: BTreeMap<String, Origin>,
    /// Names that hold every match of an extractor.
    lists: Vec<String>,
    used: Vec<String>,
    unknown: Vec<String>,
}

impl PlanVariables {
    /// A variable with its value; the first of a name holds.
    pub fn define(&mut self, name: &str, value: &str) {
        self.origins.entry(name.to_owned()).or_insert_with(|| Origin::Plan(value.to_owned()));
    }

    /// A column of `rows`, the variable that holds the row of an iteration.
    pub fn column(&mut self, name: &str, row: &str) {
        self.origins.insert(name.to_owned(), Origin::Row(row.to_owned()));
    }

    /// What an extractor sets.
    pub fn extracted(&mut self, name: &str) {
        self.origins.insert(name.to_owned(), Origin::Extracted);
    }

    /// What an extractor sets to a list of all matches: `name_1`, `name_2`, `name_matchNr` in the plan.
    pub fn extracted_all(&mut self, name: &str) {
        self.extracted(name);
        self.lists.push(name.to_owned());
    }

    /// Whether it holds every match of an extractor.
    pub fn is_list(&self, name: &str) -> bool {
        self.lists.iter().any(|known| known == name)
    }

    /// A text with the values that its variables have in the plan, as far as they are known.
    pub fn resolved(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for _ in 0..5 {
            let known = |inside: &str| match self.origins.get(inside) {
                Some(Origin::Plan(value)) => Some(Template::text(value.as_str())),
                _ if inside.starts_with("__P(") => arguments(inside).get(1).map(|value| Template::text(value.as_str())),
                _ => None,
            };
            let replaced = template::read(&text, "${", "}", known);
            match replaced.as_text() {
                Some(next) if next != text && next.len() < 100_000 => text = next.to_owned(),
                _ => break,
            }
        }
        text
    }

    /// The variable's name in the script, for a value that is set.
    pub fn assign(&mut self, name: &str) -> String {
        self.expression(name)
    }

    /// A text of the plan.
    pub fn template(&mut self, text: &str) -> Template {
        template::read(text, "${", "}", |inside| {
            if inside.starts_with("__") {
                let found = function(inside);
                if found.is_none() {
                    self.unknown.push(inside.to_owned());
                }
                return found.map(Template::code);
            }
            Some(Template::code(self.expression(inside)))
        })
    }

    /// A number of the plan; of a property its default.
    pub fn number(&self, text: &str) -> Option<u64> {
        let text = text.trim();
        let inside = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
        let value = match inside {
            None => text.to_owned(),
            Some(call) if call.starts_with("__") => arguments(call).get(1)?.trim().to_owned(),
            Some(name) => match self.origins.get(name) {
                Some(Origin::Plan(value)) if !value.contains(&format!("${{{name}}}")) => {
                    return if value.starts_with("${__") || !value.starts_with("${") {
                        self.number(value)
                    } else {
                        None
                    };
                }
                _ => return None,
            },
        };
        let number: f64 = value.parse().ok()?;
        (0.0..1e15).contains(&number).then_some(number.round() as u64)
    }

    /// Whether a text begins so, also by the value of the variable that it begins with.
    pub fn begins_with(&self, text: &str, start: char) -> bool {
        let name = text.strip_prefix("${").and_then(|rest| rest.split('}').next());
        match name.and_then(|name| self.origins.get(name)) {
            Some(Origin::Plan(value)) => value.starts_with(start),
            _ => text.starts_with(start),
        }
    }

    fn expression(&mut self, name: &str) -> String {
        if !self.origins.contains_key(name)
            && let Some((list, which)) = name.rsplit_once('_')
            && self.is_list(list)
        {
            match which.parse::<usize>() {
                Ok(number) if number > 0 => return format!("({}[{}] ?? '')", self.expression(list), number - 1),
                _ if which == "matchNr" => return format!("{}.length", self.expression(list)),
                _ => {}
            }
        }
        if !self.used.iter().any(|used| used == name) {
            self.used.push(name.to_owned());
        }
        match self.origins.entry(name.to_owned()).or_insert(Origin::Unknown) {
            Origin::Row(row) => {
                let field = source::name(name);
                if field.starts_with(['\'', '"', '[']) {
                    format!("{row}[{}]", source::text(name))
                } else {
                    format!("{row}.{field}")
                }
            }
            _ => identifier(name),
        }
    }

    /// Writes those that were used as init code.
    pub fn declare(mut self, test: &mut Test, notes: &mut Notes) {
        let mut lines: Vec<String> = Vec::new();
        let mut declared: Vec<String> = Vec::new();
        // Values may use further variables, which are declared before them.
        let mut at = 0;
        while at < self.used.len() && at < 10_000 {
            let name = self.used[at].clone();
            at += 1;
            let word = identifier(&name);
            let origin = self.origins.get(&name).cloned();
            if declared.contains(&word) && !matches!(origin, Some(Origin::Row(_))) {
                notes.add("", format!("the variable {name} has the name {word} in the script, as another has"));
                continue;
            }
            let line = match origin {
                Some(Origin::Plan(value)) => {
                    format!("const {word} = {} || {};", environment(&name), self.template(&value).expression())
                }
                Some(Origin::Extracted) if self.is_list(&name) => format!("let {word} = [];"),
                Some(Origin::Extracted) => format!("let {word} = '';"),
                Some(Origin::Unknown) | None => {
                    notes.add("", format!("the variable {name} is not defined in the plan: give it by -e '{name}=…'"));
                    format!("const {word} = {};", environment(&name))
                }
                Some(Origin::Row(_)) => continue,
            };
            declared.push(word);
            lines.insert(0, line);
        }
        test.init.splice(0..0, lines);
        for inside in self.unknown {
            notes.add("", format!("the function ${{{inside}}} has no counterpart; it is sent as it is"));
        }
    }
}

/// A function of JMeter.
fn function(call: &str) -> Option<String> {
    let arguments = arguments(call);
    let argument = |at: usize| arguments.get(at).map(|text| text.trim()).unwrap_or_default();
    let whole = |at: usize| argument(at).parse::<i64>().ok();
    Some(match call.split('(').next().unwrap_or_default() {
        "__P" | "__property" => {
            let default = argument(if call.starts_with("__P(") { 1 } else { 2 });
            let default = if default.is_empty() { String::new() } else { format!(" || {}", source::text(default)) };
            format!("({}{default})", environment(argument(0)))
        }
        "__threadNum" => String::from("__VU"),
        "__counter" => String::from("(__ITER + 1)"),
        "__UUID" => String::from("crypto.randomUUID()"),
        "__time" if argument(0).is_empty() => String::from("Date.now()"),
        "__time" if argument(0) == "/1000" => String::from("Math.floor(Date.now() / 1000)"),
        "__Random" => {
            let (low, high) = (whole(0)?, whole(1)?);
            format!("({low} + Math.floor(Math.random() * {}))", high.checked_sub(low)?.checked_add(1)?)
        }
        "__urlencode" => format!("encodeURIComponent({})", source::text(argument(0))),
        _ => return None,
    })
}

/// `__name(a,b)`: commas behind a backslash belong to an argument.
fn arguments(call: &str) -> Vec<String> {
    let Some((_, inside)) = call.split_once('(') else { return Vec::new() };
    let inside = inside.strip_suffix(')').unwrap_or(inside);
    let mut arguments = vec![String::new()];
    let mut chars = inside.chars();
    while let Some(c) = chars.next() {
        let last = arguments.last_mut().expect("one is there");
        match c {
            '\\' => last.extend(chars.next()),
            ',' => arguments.push(String::new()),
            c => last.push(c),
        }
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_functions_are_expressions() {
        let mut variables = PlanVariables::default();
        variables.define("host", "h");
        variables.column("user name", "row");
        let shown = variables
            .template("http://${host}/${user name}?a=${__P(a,b)}&r=${__Random(1,6)}&x=${__groovy(1)}")
            .expression();
        assert_eq!(
            shown,
            "`http://${host}/${row['user name']}?a=${(__ENV.a || 'b')}&r=${(1 + Math.floor(Math.random() * 6))}\
             &x=\\${__groovy(1)}`"
        );
        assert_eq!(variables.number("${__P(threads,20)}"), Some(20));
        variables.define("n", "7");
        assert_eq!((variables.number("${n}"), variables.number("x")), (Some(7), None));
        variables.define("loop", "${loop}");
        assert_eq!(variables.number("${loop}"), None);
    }
}
