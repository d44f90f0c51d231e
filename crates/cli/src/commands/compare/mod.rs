//! `onrush compare A B`: which results changed, in which direction, and how sure that is.
//!
//! Flags are read here and the answer printed; `alternate` makes the runs of `--run`; everything else is
//! `report::compare`. Exit codes are the command's own, so that a CI job can tell a worse result (1) from too little
//! evidence (2) and from results that cannot be compared (3).

mod alternate;

use clap::{Arg, ArgAction, ArgMatches, Command};
use report::ci::{CiScript, of_comparison, of_refusal};
use report::compare::{self, Comparison, Conclusion, Condition, Settings, Side, Wanted, render};
use report::visible_lines;

use self::alternate::Alternation;
use crate::ci::{self, CiFiles};
use crate::commands::groups::interruption;
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::process::whole_file;
use crate::{json_answer, output};

/// A line break ends a paragraph, so that help is folded to the terminal.
const AFTER_HELP: &str = "\
A and B are each a result (DIR of 'onrush run --save DIR', or its result.json), several with commas between them, a \
directory of results, or the result of a matrix. PATH:NAME=VALUE,... takes the runs with that label, axis or variant. \
Runs are paired by cell and by the label 'round' where all have them, else by order; run them by turns, A B B A.

Verdicts: better and worse are proven (exact signed-rank test over the pairs at 5 %, Holm over the metrics); same \
means that the whole 95 % interval is within the margin; everything else is cannot tell.

Up to five runs of each are compared by their seconds, which is weaker evidence: better and worse need a change beyond \
5 %, and same is hardly ever proven. This takes 10 seconds of each run.

--run: A and B are scripts or URLs. Onrush runs them by turns, A B B A, with the flags behind --, looks after each \
pair, and stops as soon as every metric (or every condition) has its answer. The promise of 5 % holds over all looks; \
one metric takes at least 7 pairs of at most 30, five take 9.

--fail-on: a condition fails when the change is proven to be beyond its bound, and holds when it is proven to be on \
this side; otherwise nobody can tell. With conditions, they alone decide the exit code.

Exit codes: 0 same or better, or every condition holds; 1 worse, or a condition fails; 2 cannot tell; 3 results that \
cannot be read or must not be compared; 255 wrong flags.";

/// The command with its flags.
pub fn command() -> Command {
    let text = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    let command = Command::new("compare")
        .about("Compare results: which metrics changed from A to B, and how sure that is")
        .after_help(AFTER_HELP)
        .arg(Arg::new("a").value_name("A").required(true).help("Results to compare with; with --run a script or URL"))
        .arg(
            Arg::new("b")
                .value_name("B")
                .required(true)
                .help("Results that may have changed; with --run a script or URL"),
        )
        .args(alternate::arguments())
        .arg(
            text(
                "metric",
                "METRIC",
                "Judge this metric instead of the usual ones, such as http_req_duration:p(99) or \
                my_count:rate:higher; repeat for more",
            )
            .action(ArgAction::Append),
        )
        .arg(text("margin", "PERCENT", "Changes within this count as the same").default_value("2%"))
        .arg(
            text(
                "fail-on",
                "CHANGE",
                "A change that must not happen, such as 'p(95) +5%' or 'http_reqs -3%'; repeat for more",
            )
            .action(ArgAction::Append),
        )
        .arg(
            text("format", "FORMAT", "Output format")
                .value_parser(["text", "markdown", "json", "junit"])
                .default_value("text"),
        )
        .arg(
            json_answer::flag_saying("As JSON (docs/schema/comparison-1.json): the same as --format json")
                .conflicts_with("format"),
        )
        .arg(text("output", "FILE", "Write to a file; - is standard output").short('o').default_value("-"))
        .arg(
            Arg::new("accept-late")
                .long("accept-late")
                .action(ArgAction::SetTrue)
                .help("Count runs whose generator was late or the limit; the answer says so"),
        )
        .arg(
            Arg::new("across-machines")
                .long("across-machines")
                .action(ArgAction::SetTrue)
                .help("Compare results even if they are of different machines"),
        );
    ci::flags(command)
}

/// Compares, prints, and says how it went.
pub fn main(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let mut settings = settings(matches)?;
    let text = |name: &str| matches.get_one::<String>(name).expect("required or with a default");
    let ci = CiFiles::read(matches, &std::env::vars().collect())?;
    let refused = |message: String| {
        // A job that shows what its commands wrote must not show the comment of another build. Why nothing can be
        // compared matters more than a file that cannot be written.
        let _ = ci.write(&of_refusal((text("a"), text("b")), &message), text("b"));
        Failure::new(ExitCode::NotComparable, message)
    };
    let (b, comparison) = if matches.get_flag("run") {
        let asked = Alternation::read(matches)?;
        settings.most_pairs = Some(asked.most_pairs());
        asked.run(&settings).map_err(|failure| refused(failure.message))?
    } else {
        let (mut a, mut b) = compare::read_sides(text("a"), text("b")).map_err(refused)?;
        if matches.get_flag("accept-late") {
            [&mut a, &mut b].into_iter().for_each(Side::accept_late);
        }
        let comparison = compare::compare(&a, &b, &settings).map_err(refused)?;
        (b, comparison)
    };
    write(text("output"), &render(&comparison, if json_answer::is_wanted(matches) { "json" } else { text("format") }))?;
    if ci.is_wanted() {
        tell(&ci, &comparison, &b, text("b"))?;
    }
    if interruption::is_asked() {
        return Ok(ExitCode::Signal);
    }
    Ok(match comparison.conclusion() {
        Conclusion::SameOrBetter => ExitCode::Ok,
        Conclusion::Worse => ExitCode::Worse,
        Conclusion::CannotTell => ExitCode::CannotTell,
    })
}

fn settings(matches: &ArgMatches) -> Result<Settings, Failure> {
    let bad = |flag: &'static str| move |message: String| Failure::new(ExitCode::Generic, format!("{flag}: {message}"));
    let all = |name: &str| matches.get_many::<String>(name).into_iter().flatten().cloned().collect::<Vec<_>>();
    let wanted =
        all("metric").iter().map(|text| Wanted::parse(text)).collect::<Result<_, _>>().map_err(bad("--metric"))?;
    let conditions = all("fail-on").iter().map(|text| Condition::parse(text)).collect::<Result<_, _>>();
    let margin: &String = matches.get_one("margin").expect("has a default");
    Ok(Settings {
        wanted,
        margin: percent(margin)
            .ok_or_else(|| bad("--margin")(format!("found '{margin}', expected a share from 0% to 50%, as in 2%")))?,
        conditions: conditions.map_err(bad("--fail-on"))?,
        across_machines: matches.get_flag("across-machines"),
        most_pairs: None,
    })
}

/// Notices stand at the script that B ran.
fn tell(ci: &CiFiles, comparison: &Comparison, b: &Side, given: &str) -> Result<(), Failure> {
    let documents = b.runs.iter().filter_map(|run| run.result.as_ref().ok());
    let script = documents.filter_map(CiScript::of_result).map(|script| ci.script(&script.path)).next();
    let path = script.as_ref().map_or(given, |script| script.path.as_str());
    let written = ci.write(&of_comparison(comparison, script.as_ref()), path);
    written.map_err(|failure| Failure::new(ExitCode::NotComparable, failure.message))
}

/// `2%` or `2`, as 0.02.
fn percent(text: &str) -> Option<f64> {
    let number: f64 = text.trim().trim_end_matches('%').trim().parse().ok()?;
    (0.0..=50.0).contains(&number).then_some(number / 100.0)
}

fn render(comparison: &Comparison, format: &str) -> String {
    match format {
        "markdown" => visible_lines(&render::markdown(comparison)).into_owned(),
        "json" => format!("{}\n", report::pretty(&render::json(comparison))),
        "junit" => render::junit(comparison),
        _ => visible_lines(&render::text(comparison)).into_owned(),
    }
}

fn write(path: &str, text: &str) -> Result<(), Failure> {
    let written = match path {
        "-" => output::print(text),
        path => whole_file::write(path, text),
    };
    written.map_err(|error| {
        Failure::new(ExitCode::NotComparable, format!("cannot write the comparison to {path}: {error}"))
    })
}
