//! Tables of a matrix: the flags that say which, for `onrush table` and `onrush matrix`, and how they are printed.

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};
use report::matrix::document::MatrixDocument;
use report::matrix::plan::Plan;
use report::matrix::table::{self, PERCENTILES, PIVOT_PERCENTILES, Pivot, TableOptions};
use report::visible_lines;

use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::{json_answer, output};

/// The percentiles of a page, with the maximum: what a reader compares by.
const PAGE_PERCENTILES: [f64; 4] = [50.0, 95.0, 99.0, 100.0];
const LAYOUTS: [&str; 3] = ["table", "pivot", "lines"];
const FORMATS: [&str; 5] = ["text", "markdown", "csv", "json", "html"];

/// The flags about tables.
pub fn flags(command: Command) -> Command {
    let value = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help).help_heading("Tables")
    };
    command
        .arg(value("group-by", "AXES", "A table for each value of these axes, such as size,body; variant is one too"))
        .arg(
            value(
                "layout",
                "table|pivot|lines",
                "Medians in tables; a grid of two axes for each figure; or one line a run: name axis=value …: rate",
            )
            .default_value("table"),
        )
        .arg(value("rows", "AXES", "A pivot whose rows are the values of these axes, such as size"))
        .arg(value("columns", "AXES", "Its columns, such as body [default: variant]"))
        .arg(value("format", "text|markdown|csv|json|html", "Output format").default_value("text"))
        .arg(
            json_answer::flag_saying("As JSON (docs/schema/tables-1.json): the same as --format json")
                .conflicts_with("format")
                .help_heading("Tables"),
        )
        .arg(value(
            "percentiles",
            "LIST",
            "Which percentiles, such as 50,99,100; 100 is the maximum \
             [default: 5 to 95, 99, 99.9, 100; of a page 50, 95, 99, 100]",
        ))
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
        let axes = |flag: &str| list(flag).map(Iterator::collect::<Vec<String>>);
        let layout = one_of("layout", &LAYOUTS)?;
        let pivot = pivot(matches, &layout, axes("rows"), axes("columns"))?;
        let group_by = axes("group-by");
        if pivot.is_some() && group_by.is_some() {
            let problem =
                "a pivot has grids for each value of the axes that are neither rows nor columns; leave it out";
            return Err(generic(format!("--group-by: {problem}")));
        }
        let format = if json_answer::is_wanted(matches) { String::from("json") } else { one_of("format", &FORMATS)? };
        let percentiles = match list("percentiles") {
            Some(texts) => texts.map(|text| percentile(&text)).collect::<Result<_, _>>()?,
            None if pivot.is_some() => PIVOT_PERCENTILES.to_vec(),
            None if format == "html" => PAGE_PERCENTILES.to_vec(),
            None => PERCENTILES.to_vec(),
        };
        let options = TableOptions { group_by, percentiles, pivot };
        Ok(Asked { layout, format, options })
    }

    /// Refuses axes that a plan does not have, before hours of measuring.
    pub fn check(&self, plan: &Plan) -> Result<(), Failure> {
        self.options.check(plan).map_err(generic)
    }

    /// Whether a program reads it.
    pub fn is_json(&self) -> bool {
        self.format == "json"
    }

    /// Axes whose values get a table of their own.
    pub fn group_by(&self) -> Option<&[String]> {
        self.options.group_by.as_deref()
    }

    /// Prints them.
    pub fn print(&self, document: &MatrixDocument) -> Result<(), Failure> {
        print(&self.text(document)?)
    }

    /// The tables in the format asked for.
    pub fn text(&self, document: &MatrixDocument) -> Result<String, Failure> {
        if self.layout == "lines" {
            let lines = table::lines(document);
            return Ok(match self.format.as_str() {
                "csv" => table::csv_lines(&lines),
                "json" => json_answer::text(&lines),
                _ => visible_lines(&table::text_lines(&lines)).into_owned(),
            });
        }
        let tables = table::tables(document, &self.options).map_err(generic)?;
        Ok(match self.format.as_str() {
            "markdown" => visible_lines(&table::markdown(&tables)).into_owned(),
            "csv" => table::csv(&tables),
            "html" => table::html(document, &tables),
            "json" if self.options.pivot.is_some() => json_answer::text(&table::grids(&tables)),
            "json" => json_answer::text(&tables),
            _ => visible_lines(&table::text(&tables)).into_owned(),
        })
    }
}

/// The pivot that was asked for: by its layout, or by its axes alone.
fn pivot(
    matches: &ArgMatches,
    layout: &str,
    rows: Option<Vec<String>>,
    columns: Option<Vec<String>>,
) -> Result<Option<Pivot>, Failure> {
    let has_axes = rows.is_some() || columns.is_some();
    let says_layout = matches.value_source("layout") == Some(ValueSource::CommandLine);
    if has_axes && says_layout && layout != "pivot" {
        return Err(generic(format!("--rows and --columns: found --layout {layout}, expected pivot, or no layout")));
    }
    let pivot = Pivot { rows: rows.unwrap_or_default(), columns: columns.unwrap_or_default() };
    Ok((has_axes || layout == "pivot").then_some(pivot))
}

/// Prints tables, or the plan of a matrix.
pub fn print(text: &str) -> Result<(), Failure> {
    output::print(text).map_err(|error| {
        let message =
            format!("cannot write to standard output: {error}; `onrush table RESULT -o FILE` writes to a file");
        Failure::new(ExitCode::ResultNotWritten, message)
    })
}

fn percentile(text: &str) -> Result<f64, Failure> {
    let number = text.parse::<f64>().ok().filter(|number| *number > 0.0 && *number <= 100.0);
    number.ok_or_else(|| {
        generic(format!("--percentiles: found '{text}', expected numbers above 0 and up to 100, as 50,99,100"))
    })
}

fn generic(message: impl Into<String>) -> Failure {
    Failure::new(ExitCode::Generic, message)
}
