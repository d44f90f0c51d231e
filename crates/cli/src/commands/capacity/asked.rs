//! What `onrush capacity` was asked for: its own flags, and those of `onrush run` that go with every probe.
//!
//! Its own may stand anywhere between the others, as curl's flags of a URL do. So they are taken out of the line first,
//! and what is left is what a probe is run with.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Arg, ArgAction, Command};
use report::capacity::{LoadUnit, Objective};
use units::Span;

use crate::curl::url_word::is_url;
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::json_answer;

/// The flags that are its own, and whether a word belongs to each.
const OWN: [(&str, bool); 9] = [
    ("objective", true),
    ("by", true),
    ("from", true),
    ("to", true),
    ("budget", true),
    ("precision", true),
    ("at-least", true),
    ("save", true),
    ("json", false),
];

/// Flags of a load, which capacity chooses.
const OF_LOADS: [&str; 9] =
    ["--vus", "--duration", "--iterations", "--stage", "--rate", "--requests", "--hold", "--once", "--paused"];

/// The objectives of a URL for which none are given.
const USUAL: [&str; 2] = ["http_req_failed: rate<0.01", "http_req_duration: p(95)<500"];

/// A shorter budget finds no bracket.
const LEAST_BUDGET: Duration = Duration::from_secs(20);

/// What was asked for.
#[derive(Debug)]
pub struct CapacityFlags {
    /// The script or address.
    pub target: String,
    /// The words of `onrush run`, the script among them.
    pub words: Vec<OsString>,
    /// What has to hold; empty: the script's thresholds.
    pub objectives: Vec<Objective>,
    /// Whether these are the usual ones, because none were given.
    pub are_usual: bool,
    /// What loads are.
    pub unit: LoadUnit,
    /// The first load.
    pub from: f64,
    /// No load above it.
    pub to: Option<f64>,
    /// How long it may take.
    pub budget: Duration,
    /// Half the width of the answer, as a share of it.
    pub precision: f64,
    /// Exit code 99 when less is held.
    pub at_least: Option<f64>,
    /// Where everything is kept.
    pub save: Option<PathBuf>,
    /// `--json`: the answer alone, for programs.
    pub is_json: bool,
}

/// The command line, as help shows it.
pub fn command() -> Command {
    let value = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    Command::new("capacity")
        .about("Find the highest load that a target holds, what limits it, and how sure that is")
        .override_usage("onrush capacity [OPTIONS] [OPTIONS OF onrush run] <SCRIPT|URL>")
        .after_help(
            "A load is held when every objective holds and the target keeps up with the rate. Loads grow until one \
             breaks; the bracket is narrowed, its edges are repeated, and the target recovers in between. A probe \
             whose generator was late or full is no evidence; where the generator is the limit, the answer says \
             \"at least\".\n\nAll flags of onrush run go with each probe, and of a URL curl's; those of a load \
             (--vus, --duration, --rate) are what is searched for. docs/guides/capacity.md says how it decides.",
        )
        .arg(Arg::new("target").value_name("SCRIPT|URL").required(true).help("A script, an archive, or a URL"))
        .arg(
            value(
                "objective",
                "METRIC: CONDITION",
                "What has to hold, such as 'http_req_duration: p(95)<200'; repeat for more [default: the script's \
                 thresholds; of a URL http_req_failed: rate<0.01 and http_req_duration: p(95)<500]",
            )
            .action(ArgAction::Append),
        )
        .arg(value("by", "rate|users", "What a load is: iterations a second, or users [default: rate]"))
        .arg(value("from", "N", "The first load [default: 20 a second, or 1 user]"))
        .arg(value("to", "N", "No load above this one"))
        .arg(value("budget", "TIME", "How long it may take [default: 3m]"))
        .arg(value("precision", "PERCENT", "How precise the answer has to be [default: 3%]"))
        .arg(value("at-least", "N", "End with exit code 99 unless so much is held for certain"))
        .arg(value("save", "DIR", "Keep the answer and the result of each probe in this directory"))
        .arg(json_answer::flag("capacity-1.json"))
}

fn refused(message: String) -> Failure {
    Failure::new(ExitCode::Generic, message)
}

/// Takes the own flags out of the words: `--name value` and `--name=value`.
fn split(words: &[OsString]) -> (Vec<OsString>, Vec<OsString>) {
    let (mut own, mut others) = (Vec::new(), Vec::new());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let name = word.to_str().and_then(|word| word.strip_prefix("--"));
        let known = name.and_then(|name| OWN.iter().find(|(own, _)| *own == name.split('=').next().unwrap_or(name)));
        match known {
            Some((_, takes_word)) => {
                own.push(word.clone());
                let is_whole = name.is_some_and(|name| name.contains('='));
                if *takes_word && !is_whole {
                    own.extend(words.next().cloned());
                }
            }
            None => others.push(word.clone()),
        }
    }
    (own, others)
}

/// The URL, or the last word that is no flag: the script.
fn target_of(words: &[OsString]) -> Option<String> {
    let texts: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
    let url = texts.iter().copied().find(|word| is_url(word));
    url.or_else(|| texts.iter().copied().rfind(|word| !word.starts_with('-') || *word == "-")).map(str::to_owned)
}

impl CapacityFlags {
    /// Reads the words behind `capacity`. As clap has it, help that was asked for is an error, too.
    pub fn read(words: &[OsString]) -> Result<CapacityFlags, clap::error::Error> {
        let command = || command().no_binary_name(true);
        let (own, words) = split(words);
        if words.iter().any(|word| word == "--help" || word == "-h") {
            return Err(command().try_get_matches_from(["--help"]).expect_err("help is an error of clap's"));
        }
        let target = target_of(&words);
        let line = own.into_iter().chain(target.iter().map(OsString::from));
        let matches = command().try_get_matches_from(line)?;
        let failed = |failure: Failure| command().error(clap::error::ErrorKind::ValueValidation, failure.message);
        CapacityFlags::of(&matches, target.unwrap_or_default(), words).map_err(failed)
    }

    fn of(matches: &clap::ArgMatches, target: String, words: Vec<OsString>) -> Result<CapacityFlags, Failure> {
        let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
        let positive = |name: &str| -> Result<Option<f64>, Failure> {
            let Some(text) = text(name) else { return Ok(None) };
            let number = text.trim_end_matches("/s").parse().ok().filter(|number: &f64| *number > 0.0 && *number < 1e9);
            number.map(Some).ok_or_else(|| Failure::of_flag(&format!("--{name}"), text, "a number above 0"))
        };
        let own = words.iter().filter_map(|word| word.to_str());
        let of_load = own.map(|word| word.split('=').next().unwrap_or(word)).find(|word| OF_LOADS.contains(word));
        if let Some(flag) = of_load {
            return Err(refused(format!("{flag}: the load is what capacity searches for; --from and --to say where")));
        }
        let is_url = is_url(&target);
        let unit = match text("by") {
            None | Some("rate") if is_url => LoadUnit::Requests,
            None | Some("rate") => LoadUnit::Iterations,
            Some("users") => LoadUnit::Users,
            Some(other) => return Err(Failure::of_flag("--by", other, "rate or users")),
        };
        let given = matches.get_many::<String>("objective").into_iter().flatten();
        let given: Vec<Objective> = given
            .map(|text| Objective::read(text).map_err(|problem| refused(format!("--objective: {problem}"))))
            .collect::<Result<_, _>>()?;
        let are_usual = given.is_empty() && is_url;
        let usual = USUAL.iter().filter(|_| are_usual).map(|text| Objective::read(text).expect("they are known"));
        let from = positive("from")?.unwrap_or(if unit == LoadUnit::Users { 1.0 } else { 20.0 });
        let to = positive("to")?;
        if let Some(to) = to.filter(|to| *to < from) {
            return Err(refused(format!("--to: found {to}, expected at least the first load, {from} (--from)")));
        }
        Ok(CapacityFlags {
            target,
            words,
            objectives: usual.chain(given).collect(),
            are_usual,
            unit,
            from,
            to,
            budget: budget(text("budget"))?,
            precision: precision(text("precision"))?,
            at_least: positive("at-least")?,
            save: text("save").map(PathBuf::from),
            is_json: json_answer::is_wanted(matches),
        })
    }
}

fn budget(text: Option<&str>) -> Result<Duration, Failure> {
    let Some(text) = text else { return Ok(Duration::from_secs(180)) };
    let refuse = || Failure::of_flag("--budget", text, "a time with its unit, such as 3m or 90s");
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(refuse());
    }
    let time = Span::parse(text).ok().and_then(Span::to_duration).ok_or_else(refuse)?;
    if time < LEAST_BUDGET {
        let expected = format!(
            "at least {}s: a probe takes 5 s, and it takes some eight of them to find a bracket, some fifteen for \
             ± 3 % (1m30s to 3m)",
            LEAST_BUDGET.as_secs()
        );
        return Err(Failure::of_flag("--budget", text, &expected));
    }
    Ok(time)
}

fn precision(text: Option<&str>) -> Result<f64, Failure> {
    let Some(text) = text else { return Ok(0.03) };
    let percent: Option<f64> = text.trim_end_matches('%').trim().parse().ok();
    let percent = percent.filter(|percent| (0.5..=50.0).contains(percent));
    percent.map(|percent| percent / 100.0).ok_or_else(|| Failure::of_flag("--precision", text, "0.5% to 50%"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(words: &[&str]) -> Result<CapacityFlags, String> {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        CapacityFlags::read(&words).map_err(|error| error.to_string())
    }

    #[test]
    fn own_flags_stand_anywhere_and_the_others_go_with_each_probe() {
        let asked = asked(&[
            "-X",
            "POST",
            "--budget",
            "1m",
            "http://127.0.0.1:1/a",
            "--objective=http_req_duration: p(99)<50",
            "-d",
            "x",
            "--json",
            "--from",
            "30",
            "--at-least",
            "2000",
        ])
        .unwrap();
        assert_eq!(asked.words, ["-X", "POST", "http://127.0.0.1:1/a", "-d", "x"]);
        assert_eq!((asked.target.as_str(), asked.unit, asked.from), ("http://127.0.0.1:1/a", LoadUnit::Requests, 30.0));
        assert_eq!((asked.budget.as_secs(), asked.at_least, asked.is_json), (60, Some(2000.0), true));
        assert_eq!(asked.objectives.iter().map(Objective::text).collect::<Vec<_>>(), ["http_req_duration: p(99)<50"]);
        assert!(!asked.are_usual);
    }

    #[test]
    fn a_url_has_usual_objectives_and_a_script_its_own() {
        let of_url = asked(&["http://127.0.0.1/"]).unwrap();
        assert_eq!(of_url.objectives.iter().map(Objective::text).collect::<Vec<_>>(), USUAL);
        assert!(of_url.are_usual);
        let of_script = asked(&["--agents", "2", "a.js", "--by", "users"]).unwrap();
        assert_eq!((of_script.target.as_str(), of_script.unit, of_script.from), ("a.js", LoadUnit::Users, 1.0));
        assert!(of_script.objectives.is_empty());
    }

    #[test]
    fn what_cannot_be_is_refused_with_what_could() {
        let refused = |words: &[&str]| asked(words).unwrap_err();
        assert!(refused(&["a.js", "--rate", "5"]).contains("--rate: the load is what capacity searches for"));
        assert!(refused(&["a.js", "--budget", "5s"]).contains("expected at least 20s"));
        assert!(refused(&["a.js", "--budget", "180"]).contains("a time with its unit"));
        assert!(refused(&["a.js", "--by", "magic"]).contains("--by: found 'magic', expected rate or users"));
        assert!(refused(&["a.js", "--precision", "0"]).contains("0.5% to 50%"));
        assert!(refused(&["a.js", "--objective", "p95"]).contains("--objective: found 'p95'"));
        assert!(refused(&["a.js", "--from", "50", "--to", "5"]).contains("--to: found 5"));
        assert!(refused(&[]).contains("SCRIPT|URL"));
    }
}
