//! `onrush witness FILE --claims OUTPUT`: whether what a load tool printed is true, by what its target saw.
//!
//! Reads both files, prints the trial. `recorder` is the other half: it writes the first file for `onrush serve
//! --witness`. Everything else is `report::witness`.

mod recorder;

use std::path::Path;

use clap::{Arg, ArgMatches, Command};
use report::witness::{judge, read_claims, read_witness, text};

use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::{json_answer, output};

pub use recorder::ServerRecord;

/// The command line.
pub fn command() -> Command {
    Command::new("witness")
        .about("Say which figures of a load tool's output are true, by what the target saw")
        .after_help(
            "FILE is what 'onrush serve --witness FILE' wrote when it ended, after that load alone. OUTPUT is what the \
             tool printed: wrk, wrk2, k6 and Onrush (--summary-export), the JSON of oha, vegeta report, hey, \
             bombardier, ab, h2load, Locust (…_stats.csv). Which tool it was is told by the text.",
        )
        .arg(Arg::new("witness").value_name("FILE").required(true).help("What the target saw"))
        .arg(Arg::new("claims").long("claims").value_name("OUTPUT").required(true).help("What the tool printed"))
        .arg(json_answer::flag("trial-1.json"))
}

/// Reads both, judges, prints.
pub fn main(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let failed = |problem: String| Failure::new(ExitCode::Generic, problem);
    let file = |name: &str| Path::new(matches.get_one::<String>(name).expect("required"));
    let witness = read_witness(file("witness")).map_err(failed)?;
    let claims = read_claims(file("claims")).map_err(|problem| failed(format!("--claims: {problem}")))?;
    let trial = judge(&witness, &claims);
    if json_answer::is_wanted(matches) {
        return json_answer::print(&trial);
    }
    output::answer(&report::visible_lines(&text(&trial)))
}
