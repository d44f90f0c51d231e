//! The commands of a shell's file, as text each: what a person keeps with curl in it, or a terminal's history.
//!
//! Only as much of a shell as finds where commands begin and end: quotes, comments, line ends behind a backslash,
//! separators, redirections, substitutions. Nothing is run. Variables are marked, and known by their assignments.

use std::collections::HashMap;
use std::iter::Peekable;
use std::str::Chars;

use crate::shell;
use crate::template::{self, Template};

/// A command.
#[derive(Debug, PartialEq, Eq)]
pub struct Command {
    /// Where it begins, from 1.
    pub line: usize,
    /// Its words, or why they cannot be read.
    pub words: Result<Vec<String>, String>,
    /// As it was written.
    pub text: String,
}

/// A variable within a word: letters and digits alone, so that it passes through a URL.
const MARK: (&str, &str) = ("0onrushvar0", "0end0");

/// The commands whose first word is one of these, or ends in `/` and one of these.
pub fn find(text: &str, names: &[&str]) -> Vec<Command> {
    let (mut found, mut known) = (Vec::new(), HashMap::new());
    let mut slicer = Slicer { rest: text.chars().peekable(), line: 1 };
    while let Some(Slice { line, text }) = slicer.next() {
        let text = text.trim_start_matches("$ ").trim();
        let first = text.split_whitespace().next().unwrap_or_default();
        let is_one = names.iter().any(|name| first == *name || first.ends_with(&format!("/{name}")));
        if !is_one {
            remember(text, &mut known);
            continue;
        }
        let words = shell::split(text).map(|words| words.iter().map(|word| replaced(word, &known)).collect());
        found.push(Command { line, words, text: unmarked(text) });
    }
    found
}

/// `NAME=value`.
fn remember(text: &str, known: &mut HashMap<String, String>) {
    let text = text.strip_prefix("export ").unwrap_or(text);
    let Some((name, _)) = text.split_once('=') else { return };
    let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let Some(Ok(words)) = is_name.then(|| shell::split(text)) else { return };
    // What a substitution gives is not known: its `$` is all that is left here.
    if let [word] = &words[..]
        && !word.ends_with('$')
    {
        let value = word.split_once('=').map(|(_, value)| replaced(value, known)).unwrap_or_default();
        known.insert(name.to_owned(), value);
    }
}

fn replaced(word: &str, known: &HashMap<String, String>) -> String {
    let value = |name: &str| known.get(&decoded(name)?).map(Template::text);
    template::read(word, MARK.0, MARK.1, value).as_text().unwrap_or_default().to_owned()
}

fn marked(name: &str) -> String {
    let hex: String = name.bytes().map(|b| format!("{b:02x}")).collect();
    format!("{}{hex}{}", MARK.0, MARK.1)
}

fn decoded(hex: &str) -> Option<String> {
    let byte = |at| hex.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
    let bytes: Option<Vec<u8>> = (0..hex.len()).step_by(2).map(byte).collect();
    String::from_utf8(bytes?).ok()
}

fn unmarked(text: &str) -> String {
    let name = |hex: &str| decoded(hex).map(|name| Template::text(format!("${name}")));
    template::read(text, MARK.0, MARK.1, name).as_text().unwrap_or_default().to_owned()
}

/// A text with the variables that nothing was assigned to, as expressions; `each` hears their names.
pub fn with_variables(text: &str, mut each: impl FnMut(&str)) -> Template {
    template::read(text, MARK.0, MARK.1, |hex| {
        let name = decoded(hex)?;
        each(&name);
        Some(Template::code(format!("__ENV.{name}")))
    })
}

struct Slicer<'t> {
    rest: Peekable<Chars<'t>>,
    line: usize,
}

struct Slice {
    line: usize,
    text: String,
}

impl Slicer<'_> {
    fn take(&mut self) -> Option<char> {
        let c = self.rest.next();
        self.line += usize::from(c == Some('\n'));
        c
    }

    /// The next command, which may be empty.
    fn next(&mut self) -> Option<Slice> {
        while self.rest.peek().is_some_and(|c| c.is_whitespace()) {
            self.take();
        }
        self.rest.peek()?;
        let line = self.line;
        let mut text = String::new();
        while let Some(c) = self.take() {
            match c {
                '\\' => {
                    text.push(c);
                    // The carriage return of a file from Windows.
                    if self.rest.peek() == Some(&'\r') {
                        self.take();
                    }
                    text.extend(self.take());
                }
                '\'' => self.quoted(&mut text, '\''),
                '"' => self.quoted(&mut text, '"'),
                '#' if text.is_empty() || text.ends_with(char::is_whitespace) => self.skip_line(),
                '$' => match self.rest.peek() {
                    Some('\'') => {
                        text.push(c);
                        self.take();
                        self.quoted(&mut text, '$');
                    }
                    _ => self.variable(&mut text),
                },
                '>' | '<' => {
                    let without_number = text.trim_end_matches(|c: char| c.is_ascii_digit()).len();
                    if text[..without_number].ends_with(char::is_whitespace) {
                        text.truncate(without_number);
                    }
                    self.skip_redirection();
                    text.push(' ');
                }
                '&' if self.rest.peek().is_some_and(|c| !c.is_whitespace() && *c != '&') => text.push(c),
                '\n' | ';' | '|' | '&' | '(' | ')' | '`' => break,
                c => text.push(c),
            }
        }
        Some(Slice { line, text })
    }

    fn skip_line(&mut self) {
        while self.rest.peek().is_some_and(|c| *c != '\n') {
            self.take();
        }
    }

    /// `>file`, `2>&1`, `<<<word`.
    fn skip_redirection(&mut self) {
        while self.rest.next_if(|c| ">&<| ".contains(*c)).is_some() {}
        while self.rest.next_if(|c| !c.is_whitespace() && !";|&)".contains(*c)).is_some() {}
    }

    /// Up to the closing quote, which is kept; `$` stands for `$'…'`.
    fn quoted(&mut self, text: &mut String, quote: char) {
        text.push(if quote == '$' { '\'' } else { quote });
        while let Some(c) = self.take() {
            match c {
                '$' if quote == '"' => self.variable(text),
                '\\' if quote != '\'' => {
                    text.push(c);
                    text.extend(self.take());
                }
                c => {
                    text.push(c);
                    if c == quote || quote == '$' && c == '\'' {
                        return;
                    }
                }
            }
        }
    }

    /// What stands behind a `$`: a name becomes its mark, anything else stays.
    fn variable(&mut self, text: &mut String) {
        let mut ahead = self.rest.clone();
        let in_braces = ahead.next_if_eq(&'{').is_some();
        let mut name = String::new();
        while let Some(c) = ahead.next_if(|c| c.is_ascii_alphanumeric() || *c == '_') {
            name.push(c);
        }
        let is_name = !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit());
        if is_name && (!in_braces || ahead.next() == Some('}')) {
            self.rest = ahead;
            text.push_str(&marked(&name));
        } else {
            text.push('$');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let one = |command: &Command| match &command.words {
            Ok(words) => {
                let words = words.iter().map(|word| with_variables(word, |_| {}).expression());
                format!("{} {}", command.line, words.collect::<Vec<_>>().join(" "))
            }
            Err(why) => format!("{} !{why}", command.line),
        };
        find(text, &["curl"]).iter().map(one).collect()
    }

    #[test]
    fn commands_are_found_in_a_file() {
        for (text, expected) in [
            ("#!/bin/sh\n# curl x\ncurl a\n\ncurl b # c\n", vec!["3 'curl' 'a'", "5 'curl' 'b'"]),
            (
                "curl 'a\nb' \\\r\n  -d \"c;d\" | jq . && /usr/bin/curl e >f 2>&1; curl g",
                vec!["1 'curl' `a\nb` '-d' 'c;d'", "3 '/usr/bin/curl' 'e'", "3 'curl' 'g'"],
            ),
            (
                "B=http://h\nT=$(curl -s $B/t | jq -r .t)\ncurl \"$B/x?y=${Z}\" -H 'q: $T' -H \"t: $T\"",
                vec![
                    "2 'curl' '-s' 'http://h/t'",
                    "3 'curl' `http://h/x?y=${__ENV.Z}` '-H' 'q: $T' '-H' `t: ${__ENV.T}`",
                ],
            ),
            ("curl $'a\\'b'\necho curl", vec!["1 'curl' \"a'b\""]),
            ("curl 'a", vec!["1 !a ' is not closed: the rest of the command is missing"]),
            ("curl http://h/?a=1&b=2", vec!["1 !found & outside of quotes: quote it, or paste the curl command alone"]),
            ("curl \"$(x)\"", vec!["1 !found $ outside of single quotes: nothing is expanded here; write its value"]),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }
}
