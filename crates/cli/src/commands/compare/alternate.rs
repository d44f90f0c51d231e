//! `onrush compare --run A B`: makes the runs itself, by turns, and stops when it knows.
//!
//! Each run is a process of its own (`onrush run --save`), one after the other in the order A B B A. After each pair
//! everything is compared again by the test that allows that (`report::stats::Looks`), until all metrics or all
//! conditions have their answer, the pairs are used up, or the time is over. A pair that was cut counts for nothing.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use clap::{Arg, ArgAction, ArgMatches};
use report::compare::{self, Comparison, EvidenceRun, Settings, Side};
use report::document;
use units::Span;
use units::show::about;

use crate::commands::groups::guard::Guard;
use crate::commands::groups::process::{Group, ProcessEnd, wait_for};
use crate::commands::groups::{interruption, onrush_run};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::process::private_folder::PrivateFolder;
use crate::terminal::progress::Screen;

/// How often signals and the time are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// So many pairs without one that counts, and there will be none.
const HOPELESS: usize = 3;
const USUAL_BUDGET: Duration = Duration::from_secs(600);
const USUAL_PAIRS: usize = 30;
/// Counting the signs of more takes longer than the runs.
const MOST_PAIRS: usize = 200;
/// Flags of `onrush run` that say what is said here.
const TAKEN: [&str; 2] = ["--save", "--out"];
/// Exit codes of runs that came to their end.
const WHOLE: [i32; 3] = [0, 99, 110];

/// What was asked for.
pub struct Alternation {
    targets: [String; 2],
    words: Vec<OsString>,
    save: Option<PathBuf>,
    budget: Duration,
    most_pairs: usize,
    accepts_late: bool,
}

/// Why a run gave nothing.
enum Cut {
    Interrupted,
    Budget,
    Failed(Failure),
}

/// The flags of `compare` that are about runs which it makes itself.
pub fn arguments() -> Vec<Arg> {
    let text = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help).requires("run")
    };
    let run = Arg::new("run").long("run").action(ArgAction::SetTrue);
    let words = Arg::new("words").value_name("FLAGS").num_args(0..).last(true).requires("run");
    vec![
        run.help("Run A and B by turns until it is known what changed"),
        text("budget", "TIME", "With --run: how long it may take [default: 10m]"),
        text("most-pairs", "N", "With --run: at most so many pairs [default: 30]"),
        text("save", "DIR", "With --run: keep the result of each run in this new directory"),
        words.value_parser(clap::value_parser!(OsString)).help("With --run: flags of 'onrush run' for A and B"),
    ]
}

impl Alternation {
    /// Of the flags of `compare`.
    pub fn read(matches: &ArgMatches) -> Result<Alternation, Failure> {
        let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
        let target = |name: &str| text(name).expect("required").to_owned();
        let words: Vec<OsString> = matches.get_many::<OsString>("words").into_iter().flatten().cloned().collect();
        let is_taken = |word: &&str| TAKEN.contains(&word.split('=').next().unwrap_or(word));
        if let Some(word) = words.iter().filter_map(|word| word.to_str()).find(is_taken) {
            let flag = word.split('=').next().unwrap_or(word);
            let text =
                format!("found {flag} behind --, expected flags that both runs share; --save DIR stands before --");
            return Err(Failure::new(ExitCode::Generic, text));
        }
        Ok(Alternation {
            targets: [target("a"), target("b")],
            words,
            save: text("save").map(PathBuf::from),
            budget: text("budget").map_or(Ok(USUAL_BUDGET), budget)?,
            most_pairs: text("most-pairs").map_or(Ok(USUAL_PAIRS), most_pairs)?,
            accepts_late: matches.get_flag("accept-late"),
        })
    }

    /// At most so many pairs.
    pub fn most_pairs(&self) -> usize {
        self.most_pairs
    }

    /// Runs pairs until the answer is known; the runs of B, and the comparison.
    pub fn run(&self, settings: &Settings) -> Result<(Side, Comparison), Failure> {
        let failed = |error: std::io::Error| refused(format!("cannot make a folder for the runs: {error}"));
        let scratch = PrivateFolder::make().map_err(failed)?;
        if let Some(save) = &self.save {
            empty_folder(save)?;
        }
        interruption::listen()?;
        let guard = Guard::start(scratch.path())?;
        let onrush = onrush_run::binary(ExitCode::NotComparable)?;
        PairRuns {
            asked: self,
            guard: &guard,
            onrush,
            scratch: scratch.path(),
            sides: self.targets.clone().map(|name| Side { name, runs: Vec::new() }),
            screen: Screen::on_stderr(self.words.iter().any(|word| word == "-q" || word == "--quiet")),
            began: Instant::now(),
        }
        .run(settings)
    }
}

/// Runs that were made so far.
struct PairRuns<'a> {
    asked: &'a Alternation,
    guard: &'a Guard,
    onrush: PathBuf,
    scratch: &'a Path,
    sides: [Side; 2],
    screen: Screen,
    began: Instant,
}

impl PairRuns<'_> {
    fn run(mut self, settings: &Settings) -> Result<(Side, Comparison), Failure> {
        let mut last: Option<Comparison> = None;
        let mut longest = Duration::ZERO;
        let ended_by = loop {
            let number = self.sides[0].runs.len() + 1;
            if number > self.asked.most_pairs {
                break None;
            }
            if self.began.elapsed() + longest > self.asked.budget {
                break Some(self.over_budget());
            }
            let pair_began = Instant::now();
            match self.pair(number) {
                Ok(()) => {}
                Err(Cut::Interrupted) => break Some(String::from("it was interrupted")),
                Err(Cut::Budget) => break Some(self.over_budget()),
                Err(Cut::Failed(failure)) => return Err(failure),
            }
            longest = longest.max(pair_began.elapsed());
            let comparison = compare::compare(&self.sides[0], &self.sides[1], settings).map_err(refused)?;
            let needed = comparison.all.pairs_needed;
            let found = match comparison.all.pairs < needed {
                true => format!("it takes at least {needed} to know"),
                false => compare::render::headline(&comparison),
            };
            self.screen.say(&format!("pair {number}: {found}"));
            let is_decided = comparison.is_decided();
            let is_hopeless = comparison.all.pairs == 0 && number >= HOPELESS;
            last = Some(comparison);
            if is_decided {
                break None;
            }
            if is_hopeless {
                break Some(format!("none of {number} pairs counts"));
            }
        };
        self.screen.settle();
        let Some(mut comparison) = last else {
            let why = ended_by.unwrap_or_default();
            return Err(refused(format!("{why} before the first pair had ended: there is nothing to compare")));
        };
        if let Some(looks) = &mut comparison.looks {
            looks.ended_by = ended_by;
        }
        let [_, b] = self.sides;
        Ok((b, comparison))
    }

    fn over_budget(&self) -> String {
        format!("the time was over ({}, --budget)", about(self.asked.budget))
    }

    /// A and B, or B and A in every second pair.
    fn pair(&mut self, number: usize) -> Result<(), Cut> {
        let first = (number + 1) % 2;
        let mut runs = [None, None];
        for side in [first, 1 - first] {
            self.screen.over(&format!("pair {number} of at most {}: {}", self.asked.most_pairs, ["A", "B"][side]));
            runs[side] = Some(self.one(side, number)?);
        }
        for (side, run) in self.sides.iter_mut().zip(runs) {
            side.runs.extend(run);
            if self.asked.accepts_late {
                side.accept_late();
            }
        }
        Ok(())
    }

    fn one(&self, side: usize, number: usize) -> Result<EvidenceRun, Cut> {
        let name = format!("{}-{number:02}", ["a", "b"][side]);
        let folder = self.asked.save.as_deref().unwrap_or(self.scratch).join(&name);
        let command = self.command(side, number, &folder);
        let failed = |text: String| Cut::Failed(refused(text));
        let mut group = Group::spawn(&command, &[], self.scratch.join("run.log"), self.guard)
            .map_err(|error| failed(format!("cannot start a run: {error}")))?;
        let end = loop {
            if let Some(end) = group.ended() {
                break end;
            }
            if interruption::is_asked() {
                group.stop();
                return Err(Cut::Interrupted);
            }
            if self.began.elapsed() > self.asked.budget {
                group.stop();
                return Err(Cut::Budget);
            }
            wait_for(&[&group], LOOK_EVERY);
        };
        let lines = group.last_lines();
        group.kill();
        // A signal of the terminal reaches the run too.
        if interruption::is_asked() {
            return Err(Cut::Interrupted);
        }
        let result = document::read(&folder).map_err(|error| error.to_string());
        let is_whole = end.code.is_some_and(|code| WHOLE.contains(&code));
        if result.is_err() || !is_whole && number == 1 {
            return Err(failed(self.failure(side, end, &lines)));
        }
        Ok(EvidenceRun { name, cell: Default::default(), round: Some(number.to_string()), result })
    }

    fn command(&self, side: usize, number: usize, folder: &Path) -> Command {
        let mut command = onrush_run::command(&self.onrush, folder);
        command.args(["--label", ["variant=a", "variant=b"][side]]).arg("--label").arg(format!("round={number}"));
        command.args(&self.asked.words).arg(&self.asked.targets[side]);
        command
    }

    /// In the run's own words.
    fn failure(&self, side: usize, end: ProcessEnd, lines: &[String]) -> String {
        let target = &self.asked.targets[side];
        let text = format!("{} ({target}) ended with {}", ["A", "B"][side], end.text());
        match onrush_run::own_words(lines).as_str() {
            "" => text,
            words => format!("{text}: {words}"),
        }
    }
}

fn refused(text: String) -> Failure {
    Failure::new(ExitCode::NotComparable, text)
}

/// Runs of before would be among those of now.
fn empty_folder(path: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(path)
        .map_err(|error| refused(format!("--save: cannot make {}: {error}", path.display())))?;
    match std::fs::read_dir(path).map(|mut entries| entries.next().is_none()) {
        Ok(true) => Ok(()),
        Ok(false) => Err(refused(format!("--save: found files in {}, expected a new or empty folder", path.display()))),
        Err(error) => Err(refused(format!("--save: cannot read {}: {error}", path.display()))),
    }
}

fn budget(text: &str) -> Result<Duration, Failure> {
    let has_unit = text.bytes().any(|byte| !byte.is_ascii_digit());
    let time = Span::parse(text).ok().and_then(Span::to_duration).filter(|time| has_unit && !time.is_zero());
    time.ok_or_else(|| Failure::of_flag("--budget", text, "a time with its unit, such as 10m or 90s"))
}

fn most_pairs(text: &str) -> Result<usize, Failure> {
    let number = text.parse().ok().filter(|number| (6..=MOST_PAIRS).contains(number));
    number.ok_or_else(|| {
        let expected = format!("a number from 6, the fewest that can prove anything, to {MOST_PAIRS}");
        Failure::of_flag("--most-pairs", text, &expected)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_refused_with_what_could_be() {
        assert_eq!(budget("90s").ok(), Some(Duration::from_secs(90)));
        for text in ["90", "0s", "-1s", "soon"] {
            assert!(budget(text).unwrap_err().message.contains("a time with its unit"), "{text}");
        }
        assert_eq!(most_pairs("6").ok(), Some(6));
        for text in ["5", "201", "x"] {
            assert!(most_pairs(text).unwrap_err().message.contains("a number from 6"), "{text}");
        }
    }
}
