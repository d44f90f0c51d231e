//! `onrush table`: the result of a matrix, shown again in another way; and the flags about tables that `matrix` shares.

use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, ArgMatches, Command};
use report::matrix::document::{self, MatrixDocument};
use report::matrix::plan::Plan;
use report::matrix::table::{self, PERCENTILES, TableOptions};

use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::output;

const LAYOUTS: [&str; 2] = ["table", "lines"];
const FORMATS: [&str; 5] = ["text", "markdown", "csv", "json", "html"];

/// The `table` command.
pub fn command() -> Command {
    let command = Command::new("table")
        .about("Show the result of a matrix again: other groups, another format")
        .arg(Arg::new("result").value_name("RESULT").required(true).help("The file that `onrush matrix` wrote"))
        .arg(Arg::new("output").short('o').long("output").value_name("FILE").help("Write there instead of printing"))
        .arg(
            Arg::new("accept-late")
                .long("accept-late")
                .action(ArgAction::SetTrue)
                .help("Count runs whose generator was late or the limit; the tables say so"),
        );
    flags(command)
}

/// The flags about tables.
pub fn flags(command: Command) -> Command {
    let value = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help).help_heading("Tables")
    };
    command
        .arg(value("group-by", "AXES", "A table for each value of these axes, as size,body; variant is one too"))
        .arg(
            value("layout", "table|lines", "Medians in tables, or one line a run: name axis=value …: rate")
                .default_value("table"),
        )
        .arg(value("format", "text|markdown|csv|json|html", "How they are written").default_value("text"))
        .arg(value("percentiles", "LIST", "Which percentiles, as 50,95,99 [default: 5 to 95, 99, 99.9]"))
}

/// Shows a result.
pub fn main(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let asked = Asked::read(matches)?;
    let file: &String = matches.get_one("result").expect("required");
    let mut document = document::read(Path::new(file)).map_err(generic)?;
    if matches.get_flag("accept-late") {
        document.accept_late();
    }
    let text = asked.text(&document)?;
    match matches.get_one::<String>("output").map(PathBuf::from) {
        Some(path) => {
            std::fs::write(&path, text)
                .map_err(|error| generic(format!("cannot write {}: {error}", path.display())))?;
        }
        None => emit(&text),
    }
    Ok(ExitCode::Ok)
}

/// What was asked for.
pub struct Asked {
    layout: String,
    format: String,
    options: TableOptions,
}

impl Asked {
    /// Reads the flags about tables.
    pub fn read(matches: &ArgMatches) -> Result<Asked, Failure> {
        let one_of = |flag: &str, known: &[&str]| -> Result<String, Failure> {
            let found: &String = matches.get_one(flag).expect("has a default");
            match known.contains(&found.as_str()) {
                true => Ok(found.clone()),
                false => Err(generic(format!("--{flag}: found '{found}', expected {}", known.join(", ")))),
            }
        };
        let list =
            |flag: &str| matches.get_one::<String>(flag).map(|text| text.split(',').map(str::trim).map(str::to_owned));
        let percentiles = match list("percentiles") {
            Some(texts) => texts.map(|text| percentile(&text)).collect::<Result<_, _>>()?,
            None => PERCENTILES.to_vec(),
        };
        let options = TableOptions { group_by: list("group-by").map(Iterator::collect), percentiles };
        Ok(Asked { layout: one_of("layout", &LAYOUTS)?, format: one_of("format", &FORMATS)?, options })
    }

    /// Refuses axes that a plan does not have, before hours of measuring.
    pub fn check(&self, plan: &Plan) -> Result<(), Failure> {
        let known: Vec<&str> = plan.axes.keys().map(String::as_str).chain(["variant"]).collect();
        match self.options.group_by.iter().flatten().find(|axis| !known.contains(&axis.as_str())) {
            Some(axis) => {
                Err(generic(format!("--group-by: unknown axis '{axis}', expected some of {}", known.join(", "))))
            }
            None => Ok(()),
        }
    }

    /// Prints them.
    pub fn print(&self, document: &MatrixDocument) -> Result<(), Failure> {
        emit(&self.text(document)?);
        Ok(())
    }

    fn text(&self, document: &MatrixDocument) -> Result<String, Failure> {
        if self.layout == "lines" {
            let lines = table::lines(document);
            return Ok(match self.format.as_str() {
                "csv" => table::csv_lines(&lines),
                "json" => json(&lines),
                _ => table::text_lines(&lines),
            });
        }
        let tables = table::tables(document, &self.options).map_err(generic)?;
        Ok(match self.format.as_str() {
            "markdown" => table::markdown(&tables),
            "csv" => table::csv(&tables),
            "html" => table::html(document, &tables),
            "json" => json(&tables),
            _ => table::text(&tables),
        })
    }
}

/// A closed pipe (`onrush table … | head`) is no reason to panic.
pub fn emit(text: &str) {
    output::stdout().print(text.as_bytes());
}

fn percentile(text: &str) -> Result<f64, Failure> {
    let number = text.parse::<f64>().ok().filter(|number| *number > 0.0 && *number < 100.0);
    number.ok_or_else(|| {
        generic(format!("--percentiles: found '{text}', expected numbers between 0 and 100, as 50,95,99.9"))
    })
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string_pretty(value).expect("plain data") + "\n"
}

fn generic(message: impl Into<String>) -> Failure {
    Failure::new(ExitCode::Generic, message)
}
