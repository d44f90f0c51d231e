//! `onrush report DIR`: a saved result as one HTML file.
//!
//! Reads the document, or the journal of a run that did not come to its end, or the journals of a fleet's agents,
//! writes the page, says where.

use std::path::{Path, PathBuf};

use ::report::ci;
use ::report::compare::{self, Settings, Side, render};
use ::report::document::{Document, path_of, read};
use ::report::html::run::{Earlier, page, page_against};
use ::report::visible;
use clap::{Arg, ArgMatches, Command};
use journal::GivenJournal;

use crate::ci::{CiFiles, OF_JOBS};
use crate::commands::run::saved::{of_journals, shards};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::process::whole_file;
use crate::{json_answer, output};

/// Name of the report beside its document.
const FILE_NAME: &str = "report.html";

/// The command line.
pub fn command() -> Command {
    let command = Command::new("report")
        .about("Make an HTML report of a saved result")
        .after_help("The report is one file that opens offline: charts over time, distributions, tables.")
        .arg(Arg::new("result").value_name("DIR").required(true).num_args(1..).help(
            "What --save was given, or a result.json; or what agents were given as --keep, all of one test; or \
                     the URL that runs were given as --shards",
        ))
        .arg(
            Arg::new("output")
                .short('o')
                .long("output")
                .value_name("FILE")
                .help("Where to write it, - for standard output [default: report.html beside the result]"),
        )
        .arg(
            Arg::new("against")
                .long("against")
                .value_name("DIR")
                .help("An earlier result to show beside it: verdicts as of 'onrush compare', its lines in the charts"),
        )
        .arg(
            Arg::new("save")
                .long("save")
                .value_name("DIR")
                .help("Keep the result that journals of agents make in this directory"),
        )
        .arg(json_answer::flag_saying(
            "Print what decides as JSON (docs/schema/digest-1.json), and make no report unless -o says where",
        ));
    crate::ci::flags(command)
}

/// Makes the report.
pub fn main(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let given: Vec<PathBuf> = matches.get_many::<String>("result").into_iter().flatten().map(PathBuf::from).collect();
    let save = matches.get_one::<String>("save").map(Path::new);
    let failed = |problem: String| Failure::new(ExitCode::Generic, problem);
    // The run has told its job by itself: here a job is told of what is asked for, and nothing else.
    let env = std::env::vars().filter(|(name, _)| !OF_JOBS.contains(&name.as_str())).collect();
    let wanted = CiFiles::read(matches, &env)?;
    let (document, place) = document(&given, save).map_err(failed)?;
    if wanted.is_wanted() {
        let script = wanted.script(&document.script);
        wanted.write(&ci::of_run(&document, &script), &document.script)?;
    }
    let as_json = json_answer::is_wanted(matches);
    if as_json {
        json_answer::print(&ci::digest(&document))?;
    }
    if as_json && matches.get_one::<String>("output").is_none() {
        return Ok(ExitCode::Ok);
    }
    let text = match matches.get_one::<String>("against") {
        None => page(&document),
        Some(old) => {
            let earlier = read(old).map_err(|error| failed(format!("--against: {error}")))?;
            page_against(&document, Some(&beside_earlier(old, &earlier, &document)))
        }
    };
    match (matches.get_one::<String>("output").map(String::as_str), place) {
        (Some("-"), _) => {
            output::print(&text).map_err(|e| not_written("standard output", &e))?;
        }
        (None, None) => {
            return Err(failed(String::from("say where the report of many agents belongs: --save DIR, or -o FILE")));
        }
        (given, place) => {
            let path = given.map_or_else(|| beside(&place.unwrap_or_default()), PathBuf::from);
            whole_file::write(&path, text).map_err(|e| not_written(&path.display().to_string(), &e))?;
            let wrote = format!("wrote {}\n", visible(&path.display().to_string()));
            output::stdout().print(wrote.as_bytes());
        }
    }
    Ok(ExitCode::Ok)
}

/// The result, and where it is, if it is in one place. What is made of journals is kept as the result from then on.
fn document(given: &[PathBuf], save: Option<&Path>) -> Result<(Document, Option<PathBuf>), String> {
    if let [place] = given
        && shards::is_store(place)
    {
        let fetched = shards::fetch(&place.display().to_string())?;
        return of_parts(journal::all(&fetched.dirs)?, save);
    }
    let mut journals = journal::all(given)?;
    if given.len() == 1 && !journals.iter().any(|(_, head, _)| head.part.is_some()) {
        return of_run(&given[0], journals.pop()).map(|document| (document, Some(given[0].clone())));
    }
    if let Some(path) = given.iter().find(|path| !journals.iter().any(|(with, ..)| with == *path)) {
        return Err(format!("{}: there is no journal of an agent; a result is given alone", path.display()));
    }
    of_parts(journals, save)
}

/// Of the parts of a test.
fn of_parts(journals: Vec<GivenJournal>, save: Option<&Path>) -> Result<(Document, Option<PathBuf>), String> {
    let (document, told) = of_journals::of_parts(journal::join(journals)?);
    let kept = save.map_or(Ok(()), |dir| std::fs::create_dir_all(dir).and_then(|()| document.write(dir)));
    let problem = kept.err().map(|error| format!("; cannot write the result: {error}")).unwrap_or_default();
    output::stderr().print(format!("{told}{problem}\n").as_bytes());
    for lost in document.generator.agents.iter().filter_map(|agent| Some((agent.index, agent.lost.as_deref()?))) {
        output::stderr().print(format!("agent {} is lost, and the result INVALID: {}\n", lost.0, lost.1).as_bytes());
    }
    Ok((document, save.map(Path::to_owned)))
}

/// That of a run in one process; of one that did not come to its end, what its journal has.
fn of_run(path: &Path, journal: Option<GivenJournal>) -> Result<Document, String> {
    let Some((_, head, journal)) = journal else { return read(path).map_err(|error| error.to_string()) };
    let document = of_journals::of_run(head, journal)?;
    let file = visible(&path_of(path).display().to_string()).into_owned();
    let told = match document.write(path) {
        Ok(()) => format!("the run has not come to its end: {file} is made of its journal\n"),
        Err(error) => format!("the run has not come to its end: read from its journal; cannot write {file}: {error}\n"),
    };
    output::stderr().print(told.as_bytes());
    Ok(document)
}

/// What `onrush compare` says of both; where it refuses, why it does.
fn beside_earlier<'a>(name: &str, earlier: &'a Document, document: &Document) -> Earlier<'a> {
    let side = |name: &str, result: &Document| Side::single(name, result.clone());
    let settings = Settings { across_machines: true, ..Settings::default() };
    match compare::compare(&side(name, earlier), &side("this run", document), &settings) {
        Err(why) => Earlier { document: earlier, headline: why, columns: vec![], rows: vec![], notes: vec![] },
        Ok(comparison) => {
            let (columns, rows) = render::table(&comparison);
            let (headline, notes) = (render::headline(&comparison), render::notes(&comparison));
            Earlier { document: earlier, headline, columns, rows, notes }
        }
    }
}

fn beside(result: &Path) -> PathBuf {
    path_of(result).with_file_name(FILE_NAME)
}

fn not_written(place: &str, error: &std::io::Error) -> Failure {
    let text = format!("cannot write the report to {place}: {error}; name another place with -o FILE");
    Failure::new(ExitCode::ResultNotWritten, text)
}
