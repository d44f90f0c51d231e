//! Scripts of a collection, line by line: tests of a status become checks, values put into variables are read; what is
//! left becomes a comment beside its request.
//!
//! Reads no JavaScript: it knows the few forms that Postman's own snippets have. A test of which one line is not known
//! is kept as a comment as a whole.

use super::Collection;
use super::pairs::is_on;
use crate::model::{Request, Step};
use crate::node::Node;
use crate::source;

impl Collection {
    /// Adds the scripts of one list of events.
    pub(super) fn add_scripts(&mut self, events: &Node, name: &str, before: &mut Vec<Step>, request: &mut Request) {
        for event in events.items().iter().filter(|event| is_on(event)) {
            let is_test = event.text_of("listen") != "prerequest";
            let lines = lines(event.at("/script/exec").or_else(|| event.get("script")));
            if lines.iter().all(|line| line.trim().is_empty()) {
                continue;
            }
            let left = if is_test { self.tests(&lines, request) } else { lines };
            let left: Vec<String> = left.into_iter().filter(|line| !line.trim().is_empty()).collect();
            if left.is_empty() {
                continue;
            }
            let kind = if is_test { "test" } else { "pre-request" };
            self.notes.add(name, format!("a {kind} script is kept as a comment: write it for k6"));
            let comment = std::iter::once(format!("{kind} script of Postman:"));
            let comment: Vec<String> = comment.chain(left.iter().map(|line| format!("  {line}"))).collect();
            match is_test {
                true => request.after.extend(comment.iter().map(|line| source::comment(line))),
                false => before.push(Step::Comment(comment)),
            }
        }
    }

    /// Takes what is known out of a test script; returns the rest.
    fn tests(&mut self, lines: &[String], request: &mut Request) -> Vec<String> {
        let mut left = Vec::new();
        let mut at = 0;
        while let Some(line) = lines.get(at) {
            let code = line.trim();
            let block = block_at(&lines[at..]);
            at += block.len().max(1);
            match (code.strip_prefix("pm.test("), block.is_empty()) {
                (Some(_), false) => match checks(block) {
                    Some(found) => request.checks.extend(found),
                    None => left.extend_from_slice(block),
                },
                _ if code.starts_with("//") => {}
                _ => match self.assignment(code) {
                    Some(found) => request.after.push(found),
                    None if is_parsing(code) => {}
                    None => left.push(line.clone()),
                },
            }
        }
        left
    }

    /// `pm.environment.set("token", pm.response.json().data.token)`, also by a constant of the parsed answer.
    fn assignment(&mut self, code: &str) -> Option<String> {
        const SETTERS: [&str; 5] = [
            "pm.environment.set(",
            "pm.collectionVariables.set(",
            "pm.globals.set(",
            "pm.variables.set(",
            "postman.setEnvironmentVariable(",
        ];
        let rest = SETTERS.iter().find_map(|setter| code.strip_prefix(setter))?;
        let rest = rest.trim_end_matches(';').strip_suffix(')')?;
        let (name, value) = rest.split_once(',')?;
        let name = literal(name.trim())?;
        let value = value.trim();
        const ANSWERS: [&str; 6] = ["pm.response.json()", "jsonData", "json", "responseJson", "data", "res"];
        let path = ANSWERS.iter().find_map(|answer| value.strip_prefix(answer))?;
        let selector = selector(path)?;
        let variable = self.variables.assign(&name);
        Some(format!("{variable} = response.json({});", source::text(&selector)))
    }
}

fn lines(exec: Option<&Node>) -> Vec<String> {
    let Some(exec) = exec else { return Vec::new() };
    let listed = exec.items().iter().filter_map(Node::text).collect::<Vec<_>>().join("\n");
    exec.text().unwrap_or(&listed).lines().map(str::to_owned).collect()
}

/// The lines of a `pm.test(…)`, up to the one that closes it.
fn block_at(lines: &[String]) -> &[String] {
    let mut depth = 0_i32;
    for (at, line) in lines.iter().enumerate() {
        let count = |open: char, close: char| line.matches(open).count() as i32 - line.matches(close).count() as i32;
        depth += count('(', ')') + count('{', '}');
        if depth <= 0 {
            return &lines[..=at];
        }
    }
    &[]
}

/// Checks of one test, when every line of it is known.
fn checks(block: &[String]) -> Option<Vec<(String, String)>> {
    let whole = block.join("\n");
    let rest = whole.trim().strip_prefix("pm.test(")?;
    let (name, rest) = quoted(rest)?;
    let open = rest.find('{')?;
    let head = rest[..open].replace(' ', "");
    if !matches!(head.as_str(), ",function()" | ",()=>" | ",function(){") {
        return None;
    }
    let inner =
        rest[open + 1..].trim_end().trim_end_matches(';').trim_end().strip_suffix(')')?.trim_end().strip_suffix('}')?;
    let statements = inner.split([';', '\n']).map(str::trim).filter(|code| !code.is_empty() && !code.starts_with("//"));
    let conditions: Option<Vec<String>> = statements.map(condition).collect();
    let conditions = conditions.filter(|found| !found.is_empty())?;
    Some(vec![(name, conditions.join(" && "))])
}

/// What an expectation says, in `r`.
fn condition(code: &str) -> Option<String> {
    let number = |text: &str| text.strip_suffix(')')?.trim().parse::<u64>().ok();
    for start in
        ["pm.response.to.have.status(", "pm.expect(pm.response.code).to.equal(", "pm.expect(pm.response.code).to.eql("]
    {
        if let Some(status) = code.strip_prefix(start).and_then(number) {
            return Some(format!("r.status === {status}"));
        }
    }
    if let Some(most) = code.strip_prefix("pm.expect(pm.response.responseTime).to.be.below(").and_then(number) {
        return Some(format!("r.timings.duration < {most}"));
    }
    if let Some(list) =
        code.strip_prefix("pm.expect(pm.response.code).to.be.oneOf([").and_then(|rest| rest.strip_suffix("])"))
    {
        let statuses: Option<Vec<u64>> = list.split(',').map(|status| status.trim().parse().ok()).collect();
        let statuses: Vec<String> = statuses?.iter().map(u64::to_string).collect();
        return Some(format!("[{}].includes(r.status)", statuses.join(", ")));
    }
    if let Some(text) =
        code.strip_prefix("pm.expect(pm.response.text()).to.include(").and_then(|rest| literal(rest.strip_suffix(')')?))
    {
        return Some(format!("r.body.includes({})", source::text(&text)));
    }
    match code {
        "pm.response.to.be.ok" | "pm.response.to.be.success" => Some(String::from("r.status >= 200 && r.status < 300")),
        "pm.response.to.be.json" => Some(String::from("(r.headers['Content-Type'] || '').includes('json')")),
        _ => None,
    }
}

/// `const jsonData = pm.response.json();`: read where it is used.
fn is_parsing(code: &str) -> bool {
    let value = code.trim_end_matches(';').split_once('=').map(|(_, value)| value.trim());
    matches!(value, Some("pm.response.json()" | "JSON.parse(responseBody)"))
        && ["const ", "let ", "var "].iter().any(|word| code.starts_with(word))
}

/// `.data.items[0].id` as a selector.
fn selector(path: &str) -> Option<String> {
    let mut selector = String::new();
    for part in path.split(['.', '[']).skip(1) {
        let part = part.strip_suffix(']').unwrap_or(part);
        let part = literal(part).unwrap_or_else(|| part.to_owned());
        if part.is_empty() || !part.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-$".contains(&b)) {
            return None;
        }
        selector.push_str(if selector.is_empty() { "" } else { "." });
        selector.push_str(&part);
    }
    (!selector.is_empty() && path.starts_with(['.', '['])).then_some(selector)
}

/// A literal that is the whole text.
fn literal(text: &str) -> Option<String> {
    quoted(text).filter(|(_, rest)| rest.trim().is_empty()).map(|(text, _)| text)
}

/// The literal at the beginning, without escapes, and what stands behind it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'))?;
    let (inside, rest) = text[1..].split_once(quote)?;
    (!inside.contains(['\\', '\n'])).then(|| (inside.to_owned(), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_tests_become_checks() {
        let block = |text: &str| checks(&text.lines().map(str::to_owned).collect::<Vec<_>>());
        let is = |text: &str, code: &str| {
            assert_eq!(block(text).map(|found| found[0].1.clone()).as_deref(), Some(code), "{text}")
        };
        is("pm.test(\"ok\", function () {\n    pm.response.to.have.status(200);\n});", "r.status === 200");
        is("pm.test('ok', () => { pm.response.to.have.status(201) })", "r.status === 201");
        is(
            "pm.test('a', () => {\n pm.expect(pm.response.code).to.be.oneOf([200, 201]);\n \
             pm.expect(pm.response.responseTime).to.be.below(200);\n});",
            "[200, 201].includes(r.status) && r.timings.duration < 200",
        );
        assert_eq!(block("pm.test('a', () => {\n pm.response.to.have.status(200);\n own();\n});"), None);
        assert_eq!(selector(".data.items[0]['a-b']").as_deref(), Some("data.items.0.a-b"));
        assert_eq!(selector(".a()"), None);
    }
}
