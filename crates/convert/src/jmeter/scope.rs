//! What elements of a plan hand to the samplers below and beside them: headers, defaults, timers, assertions,
//! extractors.

use super::plan::Plan;
use super::xml::Element;
use crate::model::Request;
use crate::source;

/// Of one place in the plan.
#[derive(Clone, Default)]
pub struct Scope<'e> {
    /// Later ones of a name replace earlier ones.
    pub headers: Vec<(String, String)>,
    /// HTTP Request Defaults, the innermost last.
    pub defaults: Vec<&'e Element>,
    /// Parameters of the defaults.
    pub arguments: Vec<&'e Element>,
    /// Expressions of seconds.
    pub pauses: Vec<String>,
    /// Assertions and extractors.
    pub after: Vec<&'e Element>,
}

/// Whether an element hands something to others.
pub fn hands_down(element: &Element) -> bool {
    const TAGS: [&str; 7] = [
        "HeaderManager",
        "ConstantTimer",
        "UniformRandomTimer",
        "GaussianRandomTimer",
        "ResponseAssertion",
        "JSONPostProcessor",
        "RegexExtractor",
    ];
    TAGS.contains(&element.tag.as_str()) || is_defaults(element)
}

fn is_defaults(element: &Element) -> bool {
    element.tag == "ConfigTestElement" && element.property("HTTPSampler.domain").is_some()
}

impl<'e> Scope<'e> {
    /// What the defaults say of a property.
    pub fn standard(&self, name: &str) -> String {
        let found = self.defaults.iter().rev().map(|element| element.text_of(name).trim());
        found.into_iter().find(|text| !text.is_empty()).unwrap_or_default().to_owned()
    }

    /// Takes an element in, when it hands something down.
    pub fn take(&mut self, element: &'e Element, plan: &mut Plan) {
        match element.tag.as_str() {
            "HeaderManager" => {
                for header in element.list("HeaderManager.headers") {
                    let name = header.text_of("Header.name").trim().to_owned();
                    // Recorders of HTTP/2 write what stands in the request line.
                    if name.starts_with(':') {
                        let text = format!("the header {name} is of HTTP/2's request line; left out");
                        plan.notes.add(format!("line {}", element.line), text);
                        continue;
                    }
                    self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(&name));
                    if !name.is_empty() {
                        self.headers.push((name, header.text_of("Header.value").to_owned()));
                    }
                }
            }
            _ if is_defaults(element) => {
                self.defaults.push(element);
                let holder = element.property("HTTPsampler.Arguments");
                self.arguments.extend(holder.map_or(&[][..], |holder| holder.list("Arguments.arguments")));
            }
            "ConstantTimer" | "UniformRandomTimer" | "GaussianRandomTimer" => self.pauses.extend(plan.pause(element)),
            _ if hands_down(element) => self.after.push(element),
            _ => {}
        }
    }
}

impl Plan<'_> {
    fn pause(&mut self, timer: &Element) -> Option<String> {
        let constant = timer.text_of("ConstantTimer.delay");
        let range = timer.text_of("RandomTimer.range");
        let (constant, random) = (self.variables.number(constant), self.variables.number(range));
        if constant.is_none() && random.is_none() {
            let place = format!("line {}", timer.line);
            self.notes.add(place, format!("the pause of the {} is not a number; left out", timer.tag));
            return None;
        }
        if timer.tag == "GaussianRandomTimer" {
            self.notes.add(format!("line {}", timer.line), "a GaussianRandomTimer becomes an even one");
        }
        let seconds = |ms: u64| format!("{}", ms as f64 / 1e3);
        Some(match (constant.unwrap_or(0), random.unwrap_or(0)) {
            (constant, 0) => seconds(constant),
            (constant, random) => format!("{} + Math.random() * {}", seconds(constant), seconds(random)),
        })
    }

    /// Assertions become checks, extractors lines behind the request.
    pub(super) fn add_after(&mut self, element: &Element, request: &mut Request) {
        match element.tag.as_str() {
            "ResponseAssertion" => self.assertion(element, request),
            "JSONPostProcessor" => {
                let names = element.text_of("JSONPostProcessor.referenceNames").split(';');
                for (name, path) in names.zip(element.text_of("JSONPostProcessor.jsonPathExprs").split(';')) {
                    match selector(path.trim()) {
                        Some(selector) => {
                            let variable = self.variables.assign(name.trim());
                            request.after.push(format!("{variable} = response.json({});", source::text(&selector)));
                        }
                        None => {
                            let place = format!("line {}", element.line);
                            self.notes
                                .add(place, format!("the path {path} has no counterpart; {} is not set", name.trim()));
                        }
                    }
                }
            }
            _ => {
                let variable = self.variables.assign(element.text_of("RegexExtractor.refname").trim());
                let regex = element.text_of("RegexExtractor.regex");
                let template = element.text_of("RegexExtractor.template");
                let group = template.trim_matches('$').parse::<u32>().unwrap_or(1);
                let default = source::text(element.text_of("RegexExtractor.default"));
                let matched = format!("(response.body.match(new RegExp({})) || [])[{group}]", source::text(regex));
                request.after.push(format!("{variable} = {matched} || {default};"));
            }
        }
    }

    fn assertion(&mut self, element: &Element, request: &mut Request) {
        let field = element.text_of("Assertion.test_field");
        let kind: u32 = element.text_of("Assertion.test_type").trim().parse().unwrap_or(2);
        let subject = match field {
            "Assertion.response_code" => "String(r.status)",
            "Assertion.response_data" | "Assertion.response_data_as_document" => "r.body",
            "Assertion.response_headers" => "JSON.stringify(r.headers)",
            "Assertion.response_message" => "r.status_text",
            other => {
                self.notes.add(format!("line {}", element.line), format!("an assertion on {other} is left out"));
                return;
            }
        };
        let is_negated = kind & 4 != 0;
        let strings = element.list("Asserion.test_strings");
        let tests: Vec<String> = strings
            .iter()
            .map(|string| {
                let text = self.variables.template(&string.text);
                let shown = text.expression();
                let whole_number =
                    text.as_text().filter(|text| text.len() == 3 && text.bytes().all(|b| b.is_ascii_digit()));
                let test = match (kind & !36, whole_number) {
                    (2 | 8 | 16, Some(status)) if field == "Assertion.response_code" => {
                        format!("r.status === {status}")
                    }
                    (8, _) => format!("{subject} === {shown}"),
                    (16, _) => format!("{subject}.includes({shown})"),
                    (1, _) => format!("new RegExp(`^(?:${{{shown}}})$`).test({subject})"),
                    _ => format!("new RegExp({shown}).test({subject})"),
                };
                if is_negated { format!("!({test})") } else { test }
            })
            .collect();
        let joined = tests.join(if kind & 32 != 0 { " || " } else { " && " });
        if !joined.is_empty() {
            request.checks.push((element.attribute("testname").to_owned(), joined));
        }
    }
}

/// `$.data.items[0].id` as a selector.
fn selector(path: &str) -> Option<String> {
    let mut selector: Vec<String> = Vec::new();
    for part in path.strip_prefix('$')?.split(['.', '[']).filter(|part| !part.is_empty()) {
        let part = part.trim_end_matches(']').trim_matches(['\'', '"']);
        if part.is_empty() || !part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-') {
            return None;
        }
        selector.push(part.to_owned());
    }
    (!path.contains("..") && !selector.is_empty()).then(|| selector.join("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_selectors() {
        assert_eq!(selector("$.data.items[0]['id']").as_deref(), Some("data.items.0.id"));
        for other in ["$..id", "$.a[*]", "$.a[?(@.b)]", "a", "$"] {
            assert_eq!(selector(other), None, "{other}");
        }
    }
}
