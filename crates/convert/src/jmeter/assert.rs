//! Assertions: checks behind a request, which see what its extractors have found.
//!
//! A failed check does not fail the request, as it fails a sampler of JMeter. Assertions without a counterpart are
//! named by `mod.rs`.

use super::extract::{regular_expression, selector};
use super::plan::Plan;
use super::xml::Element;
use crate::model::Request;
use crate::source;

/// Assertions that become checks.
pub const ASSERTIONS: [&str; 3] = ["ResponseAssertion", "DurationAssertion", "JSONPathAssertion"];

impl Plan<'_> {
    /// Adds the check of an assertion.
    pub(super) fn add_assertion(&mut self, element: &Element, request: &mut Request) {
        element.visit();
        let Some(subject) = self.subject(element) else { return };
        let check = match element.tag.as_str() {
            "ResponseAssertion" => self.response(element, subject),
            "DurationAssertion" => self.duration(element),
            _ => self.json_path(element),
        };
        let name = element.attribute("testname");
        let name = if name.is_empty() { &element.tag } else { name };
        request.checks.extend(check.map(|code| (name.to_owned(), code)));
    }

    fn response(&mut self, element: &Element, subject: String) -> Option<String> {
        let place = format!("line {}", element.line);
        let field = element.text_of("Assertion.test_field");
        let kind: u32 = element.text_of("Assertion.test_type").trim().parse().unwrap_or(2);
        if element.is("Assertion.assume_success") {
            self.notes.add(place.as_str(), "an assertion ignores the status; a script counts it in http_req_failed");
        }
        let subject = match field {
            _ if !subject.is_empty() => subject.as_str(),
            "Assertion.response_code" => "String(r.status)",
            "" | "Assertion.response_data" | "Assertion.response_data_as_document" => "r.body",
            "Assertion.response_headers" => "JSON.stringify(r.headers)",
            "Assertion.response_message" => "r.status_text",
            "Assertion.sample_label" => "r.url",
            "Assertion.request_headers" => "JSON.stringify(r.request.headers)",
            "Assertion.request_data" => "r.request.body",
            other => {
                element.settle();
                self.notes.add(place, format!("an assertion on {} is left out", other.escape_debug()));
                return None;
            }
        };
        if field == "Assertion.response_data_as_document" {
            self.notes.add(place.as_str(), "an assertion on a document looks at the body as it is");
        }
        let is_negated = kind & 4 != 0;
        // JMeter has written the name of the collection so since its beginning.
        let strings =
            ["Asserion.test_strings", "Assertion.test_strings"].into_iter().flat_map(|name| element.list(name));
        let mut tests = Vec::new();
        for string in strings {
            let text = self.variables.template(string.own_text());
            let shown = text.expression();
            let whole = text.as_text().filter(|text| text.len() == 3 && text.bytes().all(|b| b.is_ascii_digit()));
            let test = match (kind & !36, whole) {
                (2 | 8 | 16, Some(status)) if subject == "String(r.status)" => format!("r.status === {status}"),
                (8, _) => format!("{subject} === {shown}"),
                (16, _) => format!("{subject}.includes({shown})"),
                (1, _) => format!("new RegExp(`^(?:${{{shown}}})$`).test({subject})"),
                _ => format!("{}.test({subject})", regular_expression(&text, "")),
            };
            tests.push(if is_negated { format!("!({test})") } else { test });
        }
        let joined = tests.join(if kind & 32 != 0 { " || " } else { " && " });
        if joined.is_empty() {
            self.notes.add(place, "an assertion without a pattern is left out");
        }
        Some(joined).filter(|joined| !joined.is_empty())
    }

    /// 0 is no limit.
    fn duration(&mut self, element: &Element) -> Option<String> {
        let text = element.text_of("DurationAssertion.duration");
        let most = self.variables.number(text);
        if most.is_none() {
            let why = format!("the duration '{}' of an assertion is no number; left out", text.escape_debug());
            self.notes.add(format!("line {}", element.line), why);
        }
        most.filter(|most| *most > 0).map(|most| format!("r.timings.duration <= {most}"))
    }

    fn json_path(&mut self, element: &Element) -> Option<String> {
        let path = element.text_of("JSON_PATH");
        let expected = self.variables.template(element.text_of("EXPECTED_VALUE"));
        let (compares, is_null) = (element.is("JSONVALIDATION"), element.is("EXPECT_NULL"));
        let (is_negated, is_regex) = (element.is("INVERT"), element.is("ISREGEX"));
        let Some(selector) = selector(path) else {
            let why = format!("an assertion on the path {} is left out", path.escape_debug());
            self.notes.add(format!("line {}", element.line), why);
            return None;
        };
        let value = format!("r.json({})", source::text(&selector));
        let test = match (is_null, compares) {
            (true, _) => format!("{value} === null"),
            (_, false) => format!("{value} !== undefined"),
            (_, true) if is_regex => {
                let whole = format!("`^(?:${{{}}})$`", expected.expression());
                format!("new RegExp({whole}).test(String({value}))")
            }
            (_, true) => format!("String({value}) === {}", expected.expression()),
        };
        Some(if is_negated { format!("!({test})") } else { test })
    }
}
