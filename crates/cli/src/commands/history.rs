//! `onrush history DIR`: the saved runs of a folder one after the other, and where a level changed.
//!
//! Flags are read here and the answer printed; everything else is `report::history`. Nothing is kept but the results
//! themselves: a run is in the history while its result is in the folder.

use clap::{Arg, ArgAction, ArgMatches, Command};
use report::compare::{Wanted, read_runs};
use report::{history, visible_lines};

use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::process::whole_file;
use crate::{json_answer, output};

/// The command line.
pub fn command() -> Command {
    Command::new("history")
        .about("Show the saved runs of a folder over time, and where a level changed")
        .after_help(
            "DIR has a result in each of its folders: run with --save DIR/NAME. DIR:NAME=VALUE,... takes the runs with \
             that label.\n\nA change is a level that stays: one slow run is none. Six runs are the fewest in which one \
             can be found. Runs whose generator was the limit are shown and count for no change.",
        )
        .arg(Arg::new("dir").value_name("DIR").required(true).help("Where the results are"))
        .arg(
            Arg::new("metric")
                .long("metric")
                .value_name("METRIC")
                .action(ArgAction::Append)
                .help("Show this metric instead of the usual ones, such as http_req_duration:p(99); repeat for more"),
        )
        .arg(json_answer::flag("history-1.json"))
        .arg(
            Arg::new("output")
                .short('o')
                .long("output")
                .value_name("FILE")
                .help("Write an HTML page with a chart of each metric to this file"),
        )
}

/// Reads, prints, and writes the page.
pub fn main(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let failed = |problem: String| Failure::new(ExitCode::Generic, problem);
    let dir = matches.get_one::<String>("dir").expect("required");
    let named = matches.get_many::<String>("metric").into_iter().flatten();
    let wanted = named.map(|text| Wanted::parse(text)).collect::<Result<Vec<_>, _>>();
    let wanted = wanted.map_err(|problem| failed(format!("--metric: {problem}")))?;
    let runs = read_runs(dir).map_err(failed)?;
    let found = history::history(&runs, &wanted).map_err(failed)?;
    if let Some(path) = matches.get_one::<String>("output") {
        whole_file::write(path, history::page(&found, dir)).map_err(|error| {
            let text = format!("cannot write the page to {path}: {error}; name another place with -o FILE");
            Failure::new(ExitCode::ResultNotWritten, text)
        })?;
    }
    let text = match json_answer::is_wanted(matches) {
        true => format!("{}\n", report::pretty(&history::json(&found))),
        false => visible_lines(&history::text(&found)).into_owned(),
    };
    output::print(&text).map_err(|error| failed(format!("cannot print the history: {error}")))?;
    Ok(ExitCode::Ok)
}
