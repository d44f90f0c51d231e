//! The words of `onrush run` with several scripts: which of them are scripts, and which go with each of the runs.
//!
//! Pure but for the environment, whose variables stand for flags. What cannot be shared (a port, a file that each run
//! would write, standard output for a program) is refused by name, before anything runs.

use std::ffi::{OsStr, OsString};

use clap::ArgMatches;
use clap::parser::ValueSource;

use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::flags::{self, run_command};

/// The flag that has scripts wait for each other.
const IN_ORDER: &str = "--in-order";

/// Flags that one run alone can have, with what to do instead.
const ALONE: &[(&[&str], &str)] = &[
    (&["address", "linger", "paused"], "two runs cannot be led at one address: run the scripts by themselves"),
    (
        &["web", "web-host", "web-port", "web-period", "web-open"],
        "two runs cannot share a page: run the scripts by themselves",
    ),
    (
        &["web-export", "summary-export", "console-output", "junit", "comment", "gitlab-metrics", "code-quality"],
        "each run would write this file: --save DIR keeps the result of each, and `onrush report` makes the files",
    ),
    (
        &["json"],
        "there is one document for each script: --save DIR keeps them, and `onrush report DIR/NAME --json` prints one",
    ),
    (&["agents", "fleet-listen", "fleet", "fleet-credentials", "resume", "shards"], "a fleet runs one script"),
];

/// A command line of `run`, taken apart.
#[derive(Debug, Default, PartialEq)]
pub struct Words {
    /// What goes with each run.
    pub flags: Vec<OsString>,
    /// In the order in which they were given.
    pub scripts: Vec<OsString>,
    /// Whether each waits for the one before.
    pub in_order: bool,
}

impl Words {
    /// Takes the words behind `run` apart, as clap would.
    pub fn read(words: &[OsString]) -> Words {
        let mut read = Words::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if word == "--" {
                read.scripts.extend(words.by_ref().cloned());
            } else if word == IN_ORDER {
                read.in_order = true;
            } else if word == "-" || !word.as_encoded_bytes().starts_with(b"-") {
                read.scripts.push(word.clone());
            } else {
                read.flags.push(word.clone());
                read.flags.extend(takes_next(word).then(|| words.next().cloned()).flatten());
            }
        }
        read
    }

    /// Whether they are for several runs: one script alone is a run as ever, and without any there is nothing to run.
    pub fn is_for_several(&self) -> bool {
        let is_help = self.flags.iter().any(|flag| flag == "--help" || flag == "-h");
        !is_help && (self.scripts.len() > 1 || self.in_order && !self.scripts.is_empty())
    }

    /// The flags as clap reads them, with the first script; its error where they are wrong.
    pub fn matches(&self) -> Result<ArgMatches, clap::Error> {
        let script = self.scripts.first().into_iter().flat_map(|script| [OsString::from("--"), script.clone()]);
        let words = self.flags.iter().cloned().chain(script);
        run_command().no_binary_name(true).try_get_matches_from(words)
    }
}

/// Whether the word behind this flag belongs to it.
fn takes_next(flag: &OsStr) -> bool {
    let Some(text) = flag.to_str() else { return false };
    if let Some(name) = text.strip_prefix("--") {
        return !name.contains('=') && flags::takes_word(name) == Some(true);
    }
    // The first letter of a group that has a value has the rest of the word, or the next one.
    let letters: Vec<char> = text.chars().skip(1).collect();
    let with_value = letters.iter().position(|letter| flags::letter_takes_word(*letter));
    with_value.is_some_and(|at| at + 1 == letters.len())
}

/// Refuses what several runs cannot have.
pub fn check(matches: &ArgMatches) -> Result<(), Failure> {
    for (names, why) in ALONE {
        for name in *names {
            if is_given(matches, name) {
                return Err(refused(format!("--{name}: found several scripts: {why}")));
            }
            if let Some(variable) = of_system(name) {
                return Err(refused(format!("{variable}: found several scripts: {why}")));
            }
        }
    }
    let value = |name: &str| matches.get_many::<String>(name).into_iter().flatten().map(String::as_str);
    let of_file = |text: &&str| ["json", "csv"].contains(&text.split('=').next().unwrap_or(text));
    let given: Vec<String> = value("out").map(str::to_owned).chain(std::env::var("K6_OUT").ok()).collect();
    if given.iter().any(|output| output.starts_with("web-dashboard")) {
        return Err(refused(String::from("--out web-dashboard: found several scripts: two runs cannot share a page")));
    }
    if let Some(output) = given.into_iter().find(|text| of_file(&text.as_str())) {
        let text = format!("--out {output}: found several scripts: each run would write this file");
        return Err(refused(text));
    }
    if value("summary-mode").any(|mode| mode == "json") {
        return Err(refused(String::from(
            "--summary-mode json: found several scripts: there is one document for each; --save DIR keeps them",
        )));
    }
    Ok(())
}

fn is_given(matches: &ArgMatches, name: &str) -> bool {
    let is_said = matches.value_source(name) == Some(ValueSource::CommandLine);
    is_said && matches.get_raw(name).into_iter().flatten().any(|value| value != "false")
}

/// The variable of the environment that stands for a flag, where it is set.
fn of_system(name: &str) -> Option<&'static str> {
    let variable = flags::run_flags().find(|flag| flag.name == name)?.env?;
    std::env::var(variable).is_ok_and(|value| !["", "false"].contains(&value.as_str())).then_some(variable)
}

fn refused(text: String) -> Failure {
    Failure::new(ExitCode::Generic, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> (Vec<String>, Vec<String>, bool) {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let Words { flags, scripts, in_order } = Words::read(&words);
        let texts = |words: Vec<OsString>| words.into_iter().map(|word| word.into_string().unwrap()).collect();
        (texts(flags), texts(scripts), in_order)
    }

    #[test]
    fn scripts_are_told_from_the_values_of_flags() {
        let line = "a.js --vus 3 -qi 5 b.js --duration=3s -e A=b.js -u7 --in-order --web=false - -v -- --c.js";
        let (flags, scripts, in_order) = read(line);
        assert_eq!(scripts, ["a.js", "b.js", "-", "--c.js"]);
        assert_eq!(flags.join(" "), "--vus 3 -qi 5 --duration=3s -e A=b.js -u7 --web=false -v");
        assert!(in_order);
        assert_eq!(read("--quiet a.js -o json=x").1, ["a.js"]);
    }

    #[test]
    fn what_runs_cannot_share_is_refused_by_name() {
        let refusal = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            check(&Words::read(&words).matches().unwrap()).err().map(|failure| failure.message)
        };
        for line in ["a.js b.js --web --address=:0", "a.js b.js -a :0", "a.js b.js --paused"] {
            assert!(refusal(line).unwrap().contains("run the scripts by themselves"), "{line}");
        }
        for (line, says) in [
            ("a.js b.js --junit x", "--junit: found several scripts: each run would write this file"),
            ("a.js b.js --json", "--json: found several scripts: there is one document for each script"),
            ("a.js b.js --summary-mode json", "--summary-mode json: found several scripts"),
            ("a.js b.js -o csv=x", "--out csv=x: found several scripts: each run would write this file"),
            ("a.js b.js --agents 2", "--agents: found several scripts: a fleet runs one script"),
        ] {
            assert!(refusal(line).unwrap().starts_with(says), "{line}: {:?}", refusal(line));
        }
        assert_eq!(refusal("a.js b.js --web=false -o statsd --save x -u 3"), None);
    }
}
