//! Names of requests by rule: `--name-rule '/items/[0-9]+ → item'`, the option `nameRules`.
//!
//! A rule is a regular expression for the whole path of a URL, without its query, and the name of requests that go
//! there. The first rule that matches counts, and a name that the script gives counts before all of them. A run says
//! of each rule at the end whether it matched anything.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use regex_lite::Regex;
use serde_json::{Value, json};

use super::written::Written;

/// What stands between a pattern and its name. No path has a space in it.
const ARROWS: [&str; 3] = [" → ", " -> ", " => "];

/// The rules of a run, in order.
#[derive(Default)]
pub struct NameRules(Vec<NameRule>);

struct NameRule {
    /// As it was written.
    pattern: String,
    whole: Regex,
    name: Arc<str>,
    has_matched: AtomicBool,
}

impl NameRules {
    /// The name of requests to this path; the path is what stands between the host and the query.
    pub fn name_of(&self, path: &str) -> Option<Arc<str>> {
        let rule = self.0.iter().find(|rule| rule.whole.is_match(path))?;
        rule.has_matched.store(true, Ordering::Relaxed);
        Some(Arc::clone(&rule.name))
    }

    /// The rules that have matched nothing so far, as a flag writes them.
    pub fn unmatched(&self) -> impl Iterator<Item = String> {
        let unmatched = self.0.iter().filter(|rule| !rule.has_matched.load(Ordering::Relaxed));
        unmatched.map(|rule| format!("{} → {}", rule.pattern, rule.name))
    }
}

/// A list of rules, `"PATTERN → NAME"` or `["PATTERN", "NAME"]` each.
pub(super) fn name_rules(value: &Value) -> Result<Written<NameRules>, String> {
    let Value::Array(items) = value else { return Err(expected(value)) };
    let rules = items.iter().map(name_rule).collect::<Result<Vec<NameRule>, String>>()?;
    let shown: Vec<Value> = rules.iter().map(|rule| json!([rule.pattern, &*rule.name])).collect();
    Ok(Written::new(NameRules(rules), shown))
}

fn name_rule(value: &Value) -> Result<NameRule, String> {
    let (pattern, name) = match value {
        Value::String(text) => {
            let arrow = ARROWS.iter().filter_map(|arrow| Some((text.find(arrow)?, arrow.len()))).min();
            let (at, length) = arrow.ok_or_else(|| expected(value))?;
            (text[..at].trim(), text[at + length..].trim())
        }
        Value::Array(pair) => match &pair[..] {
            [Value::String(pattern), Value::String(name)] => (pattern.trim(), name.trim()),
            _ => return Err(expected(value)),
        },
        _ => return Err(expected(value)),
    };
    if pattern.is_empty() || name.is_empty() {
        return Err(expected(value));
    }
    // Alone at first: what is wrong with the pattern must not be told of what is put around it.
    Regex::new(pattern).map_err(|error| broken(pattern, &error))?;
    let whole = Regex::new(&format!("^(?:{pattern})$")).map_err(|error| broken(pattern, &error))?;
    Ok(NameRule { pattern: pattern.to_owned(), whole, name: Arc::from(name), has_matched: AtomicBool::new(false) })
}

fn expected(found: &Value) -> String {
    format!(
        "found {found}, expected a pattern and a name, as in '/items/[0-9]+ → item' or [\"/items/[0-9]+\", \"item\"]"
    )
}

/// Where a pattern goes wrong, with a caret below. The library does not say where: it is behind the longest beginning
/// that is right by itself.
fn broken(pattern: &str, error: &regex_lite::Error) -> String {
    let begins = pattern.char_indices().map(|(at, _)| &pattern[..at]).rev();
    let right = begins.map(|begin| (begin, Regex::new(begin))).find(|(_, read)| read.is_ok());
    let before = right.map_or(0, |(begin, _)| begin.chars().count());
    format!(
        "the pattern is no regular expression: {error}, at character {}\n  {pattern}\n  {}^",
        before + 1,
        " ".repeat(before)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(value: Value) -> Result<Written<NameRules>, String> {
        name_rules(&value)
    }

    #[test]
    fn the_first_rule_that_matches_the_whole_path_names_it() {
        let rules = read(json!([
            "/items/[0-9]+ → item",
            "/items/.* -> other item",
            ["/(a|b)", "either"],
            "/never => a -> b",
            "(?i)/Case → case",
        ]))
        .unwrap();
        let name = |path: &str| rules.name_of(path).map(|name| name.to_string());
        assert_eq!(name("/items/12").as_deref(), Some("item"));
        assert_eq!(name("/items/12/x").as_deref(), Some("other item"));
        assert_eq!(name("/b").as_deref(), Some("either"));
        assert_eq!(name("/cASE").as_deref(), Some("case"));
        assert_eq!([name("/bb"), name("/x/items/12"), name("")], [None, None, None]);
        assert_eq!(rules.unmatched().collect::<Vec<String>>(), ["/never → a -> b"]);
        let shown = serde_json::to_value(&rules).unwrap();
        assert_eq!(shown[0], json!(["/items/[0-9]+", "item"]));
        assert_eq!(serde_json::to_value(read(shown.clone()).unwrap()).unwrap(), shown);
    }

    #[test]
    fn what_is_wrong_with_a_pattern_is_shown_where_it_is() {
        let wrong = |text: &str| read(json!([text])).err().unwrap();
        let told = |pattern: &str| wrong(&format!("{pattern} → x"));
        assert!(told("/a(b").ends_with(", at character 3\n  /a(b\n    ^"), "{}", told("/a(b"));
        assert!(told("/a)b").contains(", at character 3\n"), "{}", told("/a)b"));
        assert!(told("/é[a-").contains(", at character 3\n  /é[a-\n    ^"), "{}", told("/é[a-"));
        assert!(told("/a\\p{L}").contains(", at character 3\n"), "{}", told("/a\\p{L}"));
        assert!(told("/a)|(b").contains(", at character 3\n"), "{}", told("/a)|(b"));
        assert!(told("*").contains(", at character 1\n"), "{}", told("*"));
        for text in ["/a", "/a → ", " → x", "/a→x", "/a > x"] {
            assert!(wrong(text).starts_with(&format!("found \"{text}\", expected a pattern and a name")), "{text}");
        }
        assert!(read(json!([["/a"]])).err().unwrap().starts_with("found [\"/a\"], expected a pattern"));
        assert!(read(json!("/a → b")).err().unwrap().starts_with("found \"/a → b\", expected"));
    }
}
