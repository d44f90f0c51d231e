//! The commands of a shell's file, as text each: what a person keeps with curl in it, or a terminal's history.
//!
//! Only as much of a shell as finds where commands begin and end: quotes, comments, line ends behind a backslash,
//! separators, redirections, substitutions. Nothing is run. Variables are marked, and known by their assignments.

use data_encoding::HEXLOWER;
use std::collections::HashMap;

use crate::shell;
use crate::slicer::{Slice, Slicer, printed};
use crate::template::{self, Template};

pub use crate::slicer::Input;

/// A command.
#[derive(Debug, PartialEq, Eq)]
pub struct Command {
    /// Where it begins, from 1.
    pub line: usize,
    /// Its words, or why they cannot be read.
    pub words: Result<Vec<String>, String>,
    /// What it reads from its standard input.
    pub input: Option<Input>,
    /// As it was written.
    pub text: String,
}

/// A variable within a word: letters and digits alone, so that it passes through a URL.
const MARK: (&str, &str) = ("0onrushvar0", "0end0");

/// The commands whose first word is one of these, or ends in `/` and one of these.
pub fn find(text: &str, names: &[&str]) -> Vec<Command> {
    let (mut found, mut known) = (Vec::new(), HashMap::new());
    let mut slicer = Slicer::new(text);
    let mut piped: Option<Input> = None;
    while let Some(Slice { line, text, input, is_piped }) = slicer.next() {
        let text = text.trim_start_matches("$ ").trim();
        let input = input.map(|input| known_input(input, &known)).or(piped.take());
        let first = text.split_whitespace().next().unwrap_or_default();
        let is_one = names.iter().any(|name| first == *name || first.ends_with(&format!("/{name}")));
        let words = || shell::split(text).map(|words| words.iter().map(|word| replaced(word, &known)).collect());
        if is_piped {
            let print = words().ok().and_then(|words: Vec<String>| printed(&words, input.clone()));
            piped = print.or_else(|| Some(Input::Unknown(unmarked(first))));
        }
        if !is_one {
            remember(text, &mut known);
            continue;
        }
        found.push(Command { line, words: words(), input, text: unmarked(text) });
    }
    found
}

fn known_input(input: Input, known: &HashMap<String, String>) -> Input {
    match input {
        Input::Text(text) => Input::Text(replaced(&text, known)),
        Input::File(path) => Input::File(replaced(&path, known)),
        other => other,
    }
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

/// A variable as a mark within a word.
pub(crate) fn marked(name: &str) -> String {
    let hex = HEXLOWER.encode(name.as_bytes());
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
    fn standard_input_is_known() {
        let input = |text: &str| {
            let found = find(text, &["curl"]);
            let shown = |text: &str| unmarked(text).replace('\n', "/");
            match found.last().and_then(|command| command.input.clone()) {
                Some(Input::Text(text)) => shown(&text),
                Some(Input::File(path)) => format!("file {}", shown(&path)),
                Some(Input::Unknown(why)) => format!("of {why}"),
                None => String::from("none"),
            }
        };
        for (text, expected) in [
            ("curl -d @- h <<END\n{\"a\": 1}\nEND\n", "{\"a\": 1}/"),
            ("curl -d @- h <<'E'\n$A \\$\nE\n", "$A \\$/"),
            ("A=1\ncurl -d @- h << E\n$A ${B} \\$C\nE\n", "1 $B $C/"),
            ("curl -d @- h <<-E\n\ta\n\tE\n", "a/"),
            ("curl -d @- <<\"A B\" h\nx\nA B\n", "x/"),
            ("curl -d @- h <<<'a b'", "a b/"),
            ("curl -d @- h <<< $'a\\tb'", "a\tb/"),
            ("curl -d @- h < body.json", "file body.json"),
            ("cat <<E | curl -d @- h\nx\nE\n", "x/"),
            ("cat b.json | curl -d @- h", "file b.json"),
            ("echo '{}' | curl -d @- h", "{}/"),
            ("echo -n a b | curl -d @- h", "a b"),
            ("printf 'a\\nb' | curl -d @- h", "a/b"),
            ("jq . a | curl -d @- h", "of jq"),
            ("echo a || curl h", "none"),
            ("echo a; curl h", "none"),
        ] {
            assert_eq!(input(text), expected, "{text}");
        }
        assert_eq!(
            shown("curl a <<E; curl b\nx\nE\ncurl -d \"$(cat <<'F'\n{\"q\": \"$1\"}\nF\n)\" c\n"),
            ["1 'curl' 'a'", "1 'curl' 'b'", "4 'curl' '-d' '{\"q\": \"$1\"}' 'c'"]
        );
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
