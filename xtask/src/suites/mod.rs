//! The one table of suites: what each does, and who runs it.
//!
//! Usage, the list in CONTRIBUTING.md and the jobs of `.ci/nightly` are made from [`table`]. A suite that nobody runs
//! says why: [`Runner`] has no fourth case.

mod listing;
mod table;
#[cfg(test)]
mod workflows;

use std::fmt::Write as _;

use table::SUITES;

use listing::run;

/// The width of help on a terminal.
const WIDTH: usize = 118;

/// A command of `cargo xtask`.
pub(crate) struct SuiteRow {
    /// One word, or two: `fleet nats`.
    name: &'static str,
    /// What may follow the name; one entry for each way.
    arguments: &'static [&'static str],
    /// One line that begins with a verb, as Markdown.
    does: &'static str,
    /// When one runs it by hand.
    when: &'static str,
    /// What else `cargo xtask help NAME` says.
    help: &'static str,
    runner: Runner,
    /// Takes the words behind the name. The error is for people.
    run: fn(&[String]) -> Result<(), String>,
}

/// Who runs a suite without being asked.
enum Runner {
    /// `.ci/run`, by a line that contains this.
    Ci(&'static str),
    /// `.ci/nightly`, once for each job.
    Nightly(&'static [NightlyJob]),
    /// Nobody, because of this.
    Nobody(&'static str),
}

/// A line of `cargo xtask suites --nightly`.
struct NightlyJob {
    /// What follows the suite's name. The script replaces a word that begins with `$` by the value of that variable.
    arguments: &'static str,
    /// The job is stopped after this time, and has failed.
    minutes: u32,
    /// The job is left out without these: programs of PATH, files when there is a slash, variables behind `$`, `root`.
    needs: &'static [&'static str],
}

impl SuiteRow {
    /// The words behind the suite's name, when the arguments begin with it.
    fn words<'a>(&self, arguments: &'a [String]) -> Option<&'a [String]> {
        let mut rest = arguments;
        for word in self.name.split(' ') {
            let (first, others) = rest.split_first()?;
            rest = (first == word).then_some(others)?;
        }
        Some(rest)
    }

    fn usage(&self) -> String {
        let lines = self.arguments.iter().map(|words| format!("cargo xtask {} {words}", self.name));
        lines.map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n       ")
    }

    fn help(&self) -> String {
        let text = format!("{}. {}", upper_first(self.does), self.help);
        format!("usage: {}\n\n{}", self.usage(), wrapped(&text, ""))
    }
}

/// Runs the suite that the arguments name.
pub(crate) fn dispatch(arguments: &[String]) -> Result<(), String> {
    if let [help, rest @ ..] = arguments
        && help == "help"
        && let Some((row, _)) = find(rest)
    {
        println!("{}", row.help());
        return Ok(());
    }
    match find(arguments) {
        Some((row, words)) => (row.run)(words),
        None => Err(usage()),
    }
}

fn find(arguments: &[String]) -> Option<(&'static SuiteRow, &[String])> {
    SUITES.iter().find_map(|row| row.words(arguments).map(|words| (row, words)))
}

/// All suites with what they do.
fn usage() -> String {
    let mut text = String::from("usage: cargo xtask SUITE [ARGUMENT…]\n       cargo xtask help SUITE\n\n");
    for row in SUITES {
        let _ = writeln!(text, "{:<15} {}", row.name, wrapped(row.does, &" ".repeat(16)));
    }
    text.trim_end().to_owned()
}

fn upper_first(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Breaks a text into lines; those behind the first begin with `indent`.
fn wrapped(text: &str, indent: &str) -> String {
    let (mut out, mut column) = (String::new(), indent.len());
    for word in text.split(' ') {
        let width = word.chars().count();
        if column > indent.len() && column + 1 + width > WIDTH {
            out.push('\n');
            out.push_str(indent);
            column = indent.len();
        } else if column > indent.len() {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += width;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_suite_is_found_by_all_words_of_its_name() {
        let named = |text: &str| find(&words(text)).map(|(row, rest)| (row.name, rest.join(" ")));
        assert_eq!(named("fleet nats now"), Some(("fleet nats", String::from("now"))));
        assert_eq!(named("mutants --list"), Some(("mutants", String::from("--list"))));
        assert_eq!(named("fleet"), None);
        assert_eq!(named("mutant"), None);
    }

    #[test]
    fn names_are_there_once_and_hide_no_other() {
        for row in SUITES {
            let named = words(row.name);
            let (found, rest) = find(&named).expect("its own row");
            assert_eq!((found.name, rest.len()), (row.name, 0));
            assert!(!row.arguments.is_empty() && !row.does.ends_with('.') && row.help.ends_with('.'), "{}", row.name);
        }
    }

    #[test]
    fn help_is_wrapped_with_its_indent() {
        let text = "word ".repeat(60);
        let lines = wrapped(text.trim_end(), "    ");
        assert!(lines.lines().all(|line| line.len() <= WIDTH) && lines.lines().skip(1).all(|l| l.starts_with("    w")));
        assert_eq!(lines.split_whitespace().count(), 60);
        assert!(usage().contains("\nfleet crowd     measures"), "{}", usage());
    }
}
