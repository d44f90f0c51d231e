//! Extractors: lines between a request and its checks that read values of the answer, as JMeter runs post-processors
//! before assertions.
//!
//! Match number 0 takes a random match, a negative one all of them, which then are a list. Paths and selectors without
//! a counterpart are named, and their variables not set.

use super::plan::Plan;
use super::xml::Element;
use crate::model::Request;
use crate::source;
use crate::template::Template;

/// Post-processors that become lines.
pub const EXTRACTORS: [&str; 5] =
    ["JSONPostProcessor", "RegexExtractor", "BoundaryExtractor", "HtmlExtractor", "JMESPathExtractor"];

/// JMeter's extractors count matches from 1.
const PICK: &str = "const pick = (matches, number, otherwise) => {
  const at = number === 0 ? Math.floor(Math.random() * matches.length) : number - 1;
  return matches[at] ?? otherwise;
};";

/// Which of the matches an extractor takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Match {
    Number(u64),
    All,
}

/// An extractor of a text: where it looks, and what becomes of a match.
struct Pattern<'e> {
    name: &'e str,
    regex: Template,
    /// Of a match `m`.
    value: String,
    subject: String,
    default: &'e str,
    /// Otherwise the variable stays as it was.
    has_default: bool,
}

/// The names and the default of an extractor that reads JSON, by type.
struct Names {
    names: &'static str,
    paths: &'static str,
    numbers: &'static str,
    defaults: &'static str,
}

const JSON_PATH: Names = Names {
    names: "JSONPostProcessor.referenceNames",
    paths: "JSONPostProcessor.jsonPathExprs",
    numbers: "JSONPostProcessor.match_numbers",
    defaults: "JSONPostProcessor.defaultValues",
};

const JMES: Names = Names {
    names: "JMESExtractor.referenceName",
    paths: "JMESExtractor.jmesPathExpr",
    numbers: "JMESExtractor.matchNumber",
    defaults: "JMESExtractor.defaultValue",
};

impl Plan<'_> {
    /// Makes the variables of an extractor known, before anything uses them.
    pub(super) fn declare_extracted(&mut self, element: &Element) {
        let (names, numbers) = match element.tag.as_str() {
            "JSONPostProcessor" => (JSON_PATH.names, JSON_PATH.numbers),
            "JMESPathExtractor" => (JMES.names, JMES.numbers),
            "RegexExtractor" => ("RegexExtractor.refname", "RegexExtractor.match_number"),
            "BoundaryExtractor" => ("BoundaryExtractor.refname", "BoundaryExtractor.match_number"),
            _ => ("HtmlExtractor.refname", "HtmlExtractor.match_number"),
        };
        let (names, numbers) = (element.text_of(names), element.text_of(numbers));
        let mut numbers = numbers.split(';');
        for name in names.split(';').map(str::trim).filter(|name| !name.is_empty()) {
            let is_all = numbers.next().is_some_and(|number| number.trim().starts_with('-'));
            if is_all {
                self.variables.extracted_all(name)
            } else {
                self.variables.extracted(name)
            }
            if element.is("JSONPostProcessor.compute_concat") {
                self.variables.extracted(&format!("{name}_ALL"));
            }
        }
    }

    /// Adds the lines of an extractor.
    pub(super) fn add_extractor(&mut self, element: &Element, request: &mut Request) {
        element.visit();
        let Some(subject) = self.subject(element) else { return };
        match element.tag.as_str() {
            "JSONPostProcessor" => self.json(element, &JSON_PATH, &subject, request),
            "JMESPathExtractor" => self.json(element, &JMES, &subject, request),
            "RegexExtractor" => {
                let found = self.regex(element, &subject);
                self.add_pattern(element, "RegexExtractor.match_number", found, request);
            }
            "BoundaryExtractor" => {
                let found = self.boundary(element, &subject);
                self.add_pattern(element, "BoundaryExtractor.match_number", found, request);
            }
            _ => self.html(element, &subject, request),
        }
    }

    /// Where an extractor or an assertion looks: the answer, or a variable.
    pub(super) fn subject(&mut self, element: &Element) -> Option<String> {
        let variable = element.text_of("Scope.variable").trim();
        let place = format!("line {}", element.line);
        match element.text_of("Sample.scope").trim() {
            "variable" if !variable.is_empty() => Some(format!("String({})", self.variables.assign(variable))),
            "all" | "children" => {
                let why = format!("a {} looks at embedded resources too, which are not loaded", element.tag);
                self.notes.add(place, why);
                Some(String::new())
            }
            "" | "parent" => Some(String::new()),
            other => {
                element.settle();
                self.notes.add(place, format!("a {} of '{}' is left out", element.tag, other.escape_debug()));
                None
            }
        }
    }

    /// The place that a field of an element names; what is empty is the body.
    fn place_in_answer(&mut self, element: &Element, field: &str, subject: &str) -> Option<String> {
        if !subject.is_empty() {
            return Some(subject.to_owned());
        }
        Some(String::from(match field {
            "" | "false" | "body" => "response.body",
            "unescaped" | "as_document" => {
                self.notes.add(format!("line {}", element.line), format!("a {} reads the body as it is", element.tag));
                "response.body"
            }
            "true" => "Object.entries(response.headers).map((pair) => pair.join(': ')).join('\\n')",
            "URL" => "response.url",
            "code" => "String(response.status)",
            "message" => "response.status_text",
            other => {
                let why = format!("a {} of '{}' is left out", element.tag, other.escape_debug());
                self.notes.add(format!("line {}", element.line), why);
                return None;
            }
        }))
    }

    fn regex<'e>(&mut self, element: &'e Element, subject: &str) -> Option<Pattern<'e>> {
        let subject = self.place_in_answer(element, element.text_of("RegexExtractor.useHeaders"), subject)?;
        Some(Pattern {
            name: element.text_of("RegexExtractor.refname").trim(),
            regex: self.variables.template(element.text_of("RegexExtractor.regex")),
            value: groups(element.text_of("RegexExtractor.template")),
            subject,
            default: element.text_of("RegexExtractor.default"),
            has_default: element.is("RegexExtractor.default_empty_value"),
        })
    }

    fn boundary<'e>(&mut self, element: &'e Element, subject: &str) -> Option<Pattern<'e>> {
        let subject = self.place_in_answer(element, element.text_of("BoundaryExtractor.useHeaders"), subject)?;
        let (left, right) =
            (element.text_of("BoundaryExtractor.lboundary"), element.text_of("BoundaryExtractor.rboundary"));
        let regex =
            format!("{}([\\s\\S]*?){}", escaped(left), if right.is_empty() { "$".into() } else { escaped(right) });
        Some(Pattern {
            name: element.text_of("BoundaryExtractor.refname").trim(),
            regex: Template::text(regex),
            value: String::from("m[1]"),
            subject,
            default: element.text_of("BoundaryExtractor.default"),
            has_default: element.is("BoundaryExtractor.default_empty_value"),
        })
    }

    fn add_pattern(&mut self, element: &Element, number: &str, pattern: Option<Pattern>, request: &mut Request) {
        let Some(pattern) = pattern else { return element.settle() };
        let number = self.match_number(element, element.text_of(number));
        let variable = self.variables.assign(pattern.name);
        let standard = match pattern.default {
            "" if !pattern.has_default => variable.clone(),
            default => source::text(default),
        };
        let Pattern { subject, regex, value, .. } = pattern;
        let matches = format!("[...{subject}.matchAll({})].map((m) => {value})", regular_expression(&regex, "g"));
        request.reads.push(match number {
            Match::Number(1) if value.starts_with("m[") => {
                let regex = regular_expression(&regex, "");
                format!("{variable} = ({subject}.match({regex}) || []){} ?? {standard};", &value[1..])
            }
            Match::Number(number) => {
                self.needs_pick();
                format!("{variable} = pick({matches}, {number}, {standard});")
            }
            Match::All => format!("{variable} = {matches};"),
        });
    }

    /// By a selector of CSS.
    fn html(&mut self, element: &Element, subject: &str, request: &mut Request) {
        let name = element.text_of("HtmlExtractor.refname").trim();
        let (selector, attribute) =
            (element.text_of("HtmlExtractor.expr").trim(), element.text_of("HtmlExtractor.attribute").trim());
        let number = self.match_number(element, element.text_of("HtmlExtractor.match_number"));
        let default = element.text_of("HtmlExtractor.default");
        let has_default = element.is("HtmlExtractor.default_empty_value") || !default.is_empty();
        let variable = self.variables.assign(name);
        let standard = if has_default { source::text(default) } else { variable.clone() };
        let page = match subject {
            "" => String::from("response.html()"),
            subject => {
                self.test.imports.insert(String::from("import { parseHTML } from 'k6/html';"));
                format!("parseHTML({subject})")
            }
        };
        let value = match attribute {
            "" => String::from("found.text()"),
            attribute => format!("found.attr({})", source::text(attribute)),
        };
        let matches = format!("{page}.find({}).map((_, found) => {value})", source::text(selector));
        request.reads.push(match number {
            Match::All => format!("{variable} = {matches};"),
            Match::Number(number) => {
                self.needs_pick();
                format!("{variable} = pick({matches}, {number}, {standard});")
            }
        });
    }

    fn json(&mut self, element: &Element, fields: &Names, subject: &str, request: &mut Request) {
        let concatenates = element.is("JSONPostProcessor.compute_concat");
        let split = |name: &str| element.text_of(name).split(';').map(str::trim).collect::<Vec<_>>();
        let (names, paths) = (split(fields.names), split(fields.paths));
        let (numbers, defaults) = (split(fields.numbers), split(fields.defaults));
        let has_defaults = !element.text_of(fields.defaults).is_empty();
        for (at, (name, path)) in names.iter().zip(&paths).enumerate() {
            let Some(selector) = selector(path) else {
                let place = format!("line {}", element.line);
                self.notes.add(place, format!("the path {path} has no counterpart; {name} is not set"));
                continue;
            };
            let number = numbers.get(at).copied().unwrap_or_default();
            let is_one = !selector.contains('#') && matches!(number, "" | "1") && !concatenates;
            let number = self.match_number(element, number);
            let variable = self.variables.assign(name);
            let default = defaults.get(at).copied().unwrap_or_default();
            let standard = if has_defaults { source::text(default) } else { variable.clone() };
            let value = match subject {
                "" => format!("response.json({})", source::text(&selector)),
                subject => {
                    let why = format!("the value of {name} is read from {subject} by its names");
                    self.notes.add(format!("line {}", element.line), why);
                    format!("JSON.parse({subject}){}", in_javascript(&selector))
                }
            };
            if is_one {
                let otherwise = if has_defaults { format!(" ?? {standard}") } else { String::new() };
                request.reads.push(format!("{variable} = {value}{otherwise};"));
                continue;
            }
            let matches = format!("[].concat({value} ?? []).flat(Infinity)");
            request.reads.push(match number {
                Match::All => format!("{variable} = {matches};"),
                Match::Number(number) => {
                    self.needs_pick();
                    format!("{variable} = pick({matches}, {number}, {standard});")
                }
            });
            if concatenates {
                let all = self.variables.assign(&format!("{name}_ALL"));
                request.reads.push(format!("{all} = {matches}.join(',');"));
            }
        }
    }

    /// What is empty is 0, as in JMeter.
    fn match_number(&mut self, element: &Element, text: &str) -> Match {
        let text = text.trim();
        if text.is_empty() {
            return Match::Number(0);
        }
        if text.strip_prefix('-').is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_digit())) {
            return Match::All;
        }
        Match::Number(self.variables.number(text).unwrap_or_else(|| {
            self.notes
                .add(format!("line {}", element.line), format!("the match '{text}' is no number; the first is taken"));
            1
        }))
    }

    fn needs_pick(&mut self) {
        if !self.test.init.iter().any(|line| line == PICK) {
            self.test.init.push(PICK.to_owned());
        }
    }
}

/// A regular expression of JMeter: its flags stand at its beginning, those of JavaScript behind it.
pub fn regular_expression(regex: &Template, more: &str) -> String {
    let split = regex.as_text().and_then(|text| text.strip_prefix("(?")).and_then(|rest| rest.split_once(')'));
    let flags = split.filter(|(flags, _)| !flags.is_empty() && flags.chars().all(|flag| "ims".contains(flag)));
    let (pattern, flags) = match flags {
        Some((flags, rest)) => (source::text(rest), format!("{flags}{more}")),
        None => (regex.expression(), more.to_owned()),
    };
    let flags = if flags.is_empty() { String::new() } else { format!(", '{flags}'") };
    format!("new RegExp({pattern}{flags})")
}

/// Text within a regular expression.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if "\\^$.|?*+()[]{}/".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// `$1$`, `$1$-$2$` of a match `m`.
fn groups(template: &str) -> String {
    let mut pieces: Vec<String> = Vec::new();
    let mut rest = template;
    let mut is_text = false;
    while let Some(at) = rest.find('$') {
        let behind = &rest[at + 1..];
        let end = behind.find('$').unwrap_or(0);
        let Ok(number) = behind[..end].parse::<u32>() else { break };
        if at > 0 {
            pieces.push(source::inside_backticks(&rest[..at]));
            is_text = true;
        }
        pieces.push(format!("${{m[{number}]}}"));
        rest = &behind[end + 1..];
    }
    if !rest.is_empty() {
        pieces.push(source::inside_backticks(rest));
        is_text = true;
    }
    match (&pieces[..], is_text) {
        ([], _) => String::from("m[1]"),
        ([one], false) => one.trim_start_matches("${").trim_end_matches('}').to_owned(),
        (pieces, _) => format!("`{}`", pieces.concat()),
    }
}

/// `$.data.items[0].id` as a selector of `response.json`; `[*]` is each of a list.
pub fn selector(path: &str) -> Option<String> {
    let path = path.trim();
    let rest = path.strip_prefix('$').or_else(|| (!path.is_empty()).then_some(path))?;
    let mut selector: Vec<String> = Vec::new();
    for part in rest.split(['.', '[']).filter(|part| !part.is_empty()) {
        let part = part.trim_end_matches(']').trim_matches(['\'', '"']);
        if part == "*" {
            selector.push(String::from("#"));
            continue;
        }
        if part.is_empty() || !part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-') {
            return None;
        }
        selector.push(part.to_owned());
    }
    let is_plain = !path.contains("..") && !selector.is_empty() && !rest.contains(['?', '@', '(', ':', ',']);
    is_plain.then(|| selector.join("."))
}

/// A selector as names of JavaScript.
fn in_javascript(selector: &str) -> String {
    selector.split('.').map(|part| format!("?.[{}]", source::text(part))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_selectors() {
        assert_eq!(selector("$.data.items[0]['id']").as_deref(), Some("data.items.0.id"));
        assert_eq!(selector("$.items[*].id").as_deref(), Some("items.#.id"));
        assert_eq!(selector("a.b").as_deref(), Some("a.b"), "as JMESPath writes it");
        for other in ["$..id", "$.a[?(@.b)]", "$", "$.a[0,1]", "$.a[0:2]", "$.length()"] {
            assert_eq!(selector(other), None, "{other}");
        }
    }

    #[test]
    fn regular_expressions_are_javascripts() {
        assert_eq!(regular_expression(&Template::text("(?i)a(b)"), "g"), "new RegExp('a(b)', 'ig')");
        assert_eq!(regular_expression(&Template::text("(?:a)"), ""), "new RegExp('(?:a)')");
        for (template, expected) in
            [("$1$", "m[1]"), ("", "m[1]"), ("$0$", "m[0]"), ("$1$-$2$", "`${m[1]}-${m[2]}`"), ("x$1$", "`x${m[1]}`")]
        {
            assert_eq!(groups(template), expected, "{template}");
        }
        assert_eq!(escaped("a.b["), "a\\.b\\[");
    }
}
