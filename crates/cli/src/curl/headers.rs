//! The headers of a request as curl puts them together from `-H` and from what other flags imply.
//!
//! What `-H` says beats what curl would add; `Name:` takes a header off, `Name;` sends it empty. One of a name: those
//! that repeat are joined (RFC 9110 section 5.3). Refuses lines that are no header, which curl would drop.

use report::visible;

use super::line::Given;

/// Headers as curl puts them together: those given, and those it adds itself unless they are given or taken off.
#[derive(Debug, Default)]
pub struct Headers {
    given: Vec<(String, String)>,
    removed: Vec<String>,
    standard: Vec<(String, String)>,
}

impl Headers {
    /// `Name: value`, `Name;` for an empty value, `Name:` to send none, `@file` with one a line.
    pub fn read(&mut self, given: &Given) -> Result<(), String> {
        if let Some(path) = given.value.strip_prefix('@') {
            let text = std::fs::read_to_string(path)
                .map_err(|error| format!("{} @{path}: cannot read the file: {error}", given.spelled))?;
            return text.lines().filter(|line| !line.trim().is_empty()).try_for_each(|line| self.line(given, line));
        }
        self.line(given, &given.value)
    }

    fn line(&mut self, given: &Given, line: &str) -> Result<(), String> {
        let refuse = |why: &str| Err(format!("{} '{}': {why}", given.spelled, visible(line)));
        let (name, value) = match (line.split_once(':'), line.trim_end().strip_suffix(';')) {
            (Some((name, value)), _) => (name, Some(value.trim()).filter(|value| !value.is_empty())),
            (None, Some(name)) => (name, Some("")),
            (None, None) => return refuse("found no colon, expected 'Name: value'"),
        };
        let name = name.trim();
        if name.is_empty() || !name.bytes().all(is_token) {
            return refuse("expected 'Name: value' with a name of letters, digits and - ! # $ % & ' * + . ^ _ ` | ~");
        }
        if let Some(problem) = wire::field::problem_in(line) {
            return refuse(&problem);
        }
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        if is("Transfer-Encoding") {
            return refuse("bodies are sent with their length known; leave it out");
        }
        match value {
            // The length is known better here: a wrong one would break the connection.
            Some(_) if is("Content-Length") => {}
            // Anything but an empty one would have to be waited for.
            Some(_) if is("Expect") => return refuse("Onrush does not wait between head and body; leave it out"),
            Some(value) => self.push(name, value),
            None => self.removed.push(name.to_owned()),
        }
        Ok(())
    }

    fn push(&mut self, name: &str, value: &str) {
        let separator = if name.eq_ignore_ascii_case("cookie") { "; " } else { ", " };
        match self.given.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
            Some((_, known)) => *known = [known, value].join(separator),
            None => self.given.push((name.to_owned(), value.to_owned())),
        }
    }

    /// One that curl adds; a later one of the same name takes its place.
    pub fn standard(&mut self, name: &str, value: String) {
        self.standard.retain(|(known, _)| known != name);
        self.standard.push((name.to_owned(), value));
    }

    /// All of them, in order, one of a name.
    pub fn all(self) -> Vec<(String, String)> {
        let is_settled = |name: &str| {
            let mut settled = self.given.iter().map(|(known, _)| known).chain(&self.removed);
            settled.any(|known| known.eq_ignore_ascii_case(name))
        };
        let standard = self.standard.iter().filter(|(name, _)| !is_settled(name)).cloned();
        let agent_off = self.removed.iter().any(|name| name.eq_ignore_ascii_case("user-agent"));
        // An empty User-Agent is how a script sends none.
        let off = agent_off.then(|| (String::from("User-Agent"), String::new()));
        standard.chain(off).chain(self.given.iter().cloned()).collect()
    }
}

/// Characters of methods and names (RFC 9110 section 5.6.2).
pub fn is_token(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b)
}
