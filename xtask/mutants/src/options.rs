//! What the command line asks for, and which changes that draws.

use crate::change::Change;

const USAGE: &str = "usage: cargo xtask mutants [--seed N] [--count N] [--part K/N] [--match TEXT] [--list] [SUBJECT…]";

/// Which changes are made.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Options {
    seed: u64,
    count: usize,
    /// The k-th of n parts of what is drawn, k from 1.
    part: (usize, usize),
    /// All changes with this text in their name, instead of a draw.
    matching: Option<String>,
    /// Whether the changes are only named.
    pub(crate) is_listing: bool,
    subjects: Vec<String>,
}

impl Options {
    pub(crate) fn read(arguments: &[String], known: &[&str]) -> Result<Options, String> {
        let (seed, count, part) = (1, 100, (1, 1));
        let mut options = Options { seed, count, part, matching: None, is_listing: false, subjects: Vec::new() };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value\n{USAGE}"));
            let wrong = |value: &str, expected: &str| format!("{argument} {value}: expected {expected}\n{USAGE}");
            match argument.as_str() {
                "--seed" => options.seed = value().and_then(|v| v.parse().map_err(|_| wrong(v, "a whole number")))?,
                "--count" => options.count = value().and_then(|v| v.parse().map_err(|_| wrong(v, "a whole number")))?,
                "--part" => {
                    options.part = value().and_then(|v| a_part(v).ok_or_else(|| wrong(v, "a form like 1/4")))?
                }
                "--match" => options.matching = Some(value()?.clone()),
                "--list" => options.is_listing = true,
                name if known.contains(&name) => options.subjects.push(name.to_owned()),
                name => return Err(format!("found {name:?}, expected some of {}\n{USAGE}", known.join(", "))),
            }
        }
        Ok(options)
    }

    /// Whether the subject is asked for; without any all are.
    pub(crate) fn wants(&self, subject: &str) -> bool {
        self.subjects.is_empty() || self.subjects.iter().any(|wanted| wanted == subject)
    }

    /// The same changes for the same seed, in the order of the source.
    pub(crate) fn draw(&self, mut all: Vec<Change>) -> Vec<Change> {
        match &self.matching {
            Some(text) => all.retain(|change| change.name.contains(text)),
            None => {
                let mut order: Vec<usize> = (0..all.len()).collect();
                fastrand::Rng::with_seed(self.seed).shuffle(&mut order);
                let (k, n) = self.part;
                let drawn = order.into_iter().take(self.count).enumerate();
                let mut chosen: Vec<usize> = drawn.filter(|(turn, _)| turn % n == k - 1).map(|(_, at)| at).collect();
                chosen.sort_unstable();
                all = chosen.into_iter().map(|at| all[at].clone()).collect();
            }
        }
        all
    }
}

fn a_part(text: &str) -> Option<(usize, usize)> {
    let (k, n) = text.split_once('/')?;
    let (k, n) = (k.parse().ok()?, n.parse().ok()?);
    (1..=n).contains(&k).then_some((k, n))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(arguments: &[&str]) -> Result<Options, String> {
        let arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        Options::read(&arguments, &["metrics", "engine"])
    }

    fn changes() -> Vec<Change> {
        let named = |n: usize| Change {
            name: format!("{n:03}"),
            file: String::new(),
            what: String::new(),
            code: String::new(),
        };
        (0..300).map(named).collect()
    }

    #[test]
    fn a_seed_draws_the_same_changes_and_parts_share_them_out() {
        let whole = read(&["--seed", "7", "--count", "50"]).unwrap().draw(changes());
        assert_eq!(whole.len(), 50);
        assert!(whole.is_sorted_by(|a, b| a.name < b.name));
        assert_ne!(read(&["--count", "50"]).unwrap().draw(changes()), whole);
        let of_part = |part| read(&["--seed", "7", "--count", "50", "--part", part]).unwrap().draw(changes());
        let mut parts = [of_part("1/3"), of_part("2/3"), of_part("3/3")].concat();
        parts.sort_by(|a, b| a.name.cmp(&b.name));
        assert_eq!(parts, whole);
    }

    #[test]
    fn a_text_picks_changes_by_their_names() {
        let found = read(&["--match", "29", "engine"]).unwrap().draw(changes());
        let names: Vec<&str> = found.iter().map(|change| change.name.as_str()).collect();
        assert_eq!(names, ["029", "129", "229", "290", "291", "292", "293", "294", "295", "296", "297", "298", "299"]);
    }

    #[test]
    fn changes_can_be_listed_only() {
        assert!(read(&["--list"]).unwrap().is_listing);
        assert!(!read(&["engine"]).unwrap().is_listing);
    }

    #[test]
    fn what_cannot_be_says_what_could() {
        for (arguments, message) in [
            (&["wire"][..], "found \"wire\", expected some of metrics, engine"),
            (&["--seed"], "--seed needs a value"),
            (&["--count", "x"], "--count x: expected a whole number"),
            (&["--part", "4/3"], "--part 4/3: expected a form like 1/4"),
            (&["--part", "0/3"], "--part 0/3: expected a form like 1/4"),
        ] {
            assert_eq!(read(arguments), Err(format!("{message}\n{USAGE}")));
        }
    }
}
