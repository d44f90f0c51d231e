//! The reference pages of docs/ are made of the lists in the code, so a stale page fails the tests.
//!
//! `ONRUSH_WRITE_DOCS=1 cargo test --workspace --lib reference` brings them up to date. A page keeps the prose that
//! people wrote around its two marks; what is between them is made here.

mod figures;
mod module_page;
mod named;
mod options;

use std::path::{Path, PathBuf};

use metrics::{Contains, Kind};

use crate::builtins::BUILTINS;
use crate::exit_code;
use crate::json_answer::{ANSWERS, Answer, WITHOUT};

const BEGIN: &str = "<!-- made by the tests from here -->\n";
const END: &str = "<!-- to here -->\n";

fn page(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference").join(name)
}

/// Holds what is between the marks of a page against the list, or writes it there.
fn holds(name: &str, table: &str) {
    let path = page(name);
    let found = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
    let (before, rest) = found.split_once(BEGIN).unwrap_or_else(|| panic!("{name} has no mark {BEGIN}"));
    let (_, after) = rest.split_once(END).unwrap_or_else(|| panic!("{name} has no mark {END}"));
    is_current(&path, &found, &format!("{before}{BEGIN}\n{table}\n{END}{after}"));
}

fn is_current(path: &Path, found: &str, wanted: &str) {
    if std::env::var_os("ONRUSH_WRITE_DOCS").is_some() {
        std::fs::create_dir_all(path.parent().expect("a page is in a folder")).expect("the folder of the page");
        std::fs::write(path, wanted).expect("the page can be written");
    } else {
        assert_eq!(found, wanted, "{} is stale: run the tests with ONRUSH_WRITE_DOCS=1", path.display());
    }
}

fn table(head: &str, rows: impl Iterator<Item = String>) -> String {
    let columns = "---|".repeat(head.matches('|').count() - 1);
    let rows: String = rows.map(|row| format!("{row}\n")).collect();
    format!("{head}\n|{columns}\n{rows}")
}

#[test]
fn exit_codes() {
    let rows = exit_code::MEANINGS.iter().map(|(code, meaning)| format!("| {code} | {meaning} |"));
    holds("exit-codes.md", &table("| code | meaning |", rows));
}

#[test]
fn options_and_flags() {
    holds("options.md", &options::text());
}

#[test]
fn flags_and_variables_of_k6() {
    let commands = options::commands_of_k6();
    holds("k6-flags.md", &format!("{}\n## Commands that are not offered\n\n{commands}", options::of_k6()));
}

#[test]
fn error_codes() {
    let rows =
        modules::http::common::error_code::MEANINGS.iter().map(|(code, meaning)| format!("| {code} | {meaning} |"));
    holds("error-codes.md", &table("| code | meaning |", rows));
}

#[test]
fn built_in_metrics() {
    let rows = metrics::builtin::ALL.iter().map(|metric| {
        let unit = match (metric.contains, metric.kind) {
            (Contains::Time, _) => "ms",
            (Contains::Data, _) => "bytes",
            (Contains::Default, Kind::Rate) => "share",
            (Contains::Default, _) => "number",
        };
        format!("| `{}` | {} | {unit} | {} |", metric.name, metric.kind.name(), metric.meaning.trim_end_matches('.'))
    });
    holds("metrics.md", &table("| metric | kind | unit | what a sample is |", rows));
}

#[test]
fn documents_of_commands() {
    let row = |answer: &Answer| {
        let schema =
            answer.schema.map_or_else(|| String::from("somebody else's"), |name| format!("[{name}](../schema/{name})"));
        format!("| `{}` | {} | {schema} |", answer.line, answer.what)
    };
    let answers = table("| command line | what is printed | schema |", ANSWERS.iter().map(row));
    let without =
        table("| command without | why |", WITHOUT.iter().map(|(name, why)| format!("| `onrush {name}` | {why} |")));
    holds("json.md", &format!("{answers}\n{without}"));
}

#[test]
fn routes() {
    let rows = server::route::ROUTES.iter().map(|route| {
        let methods = if route.methods.is_empty() { "all".to_owned() } else { route.methods.join(", ") };
        format!("| `{}` | {methods} | {} |", route.pattern, route.what)
    });
    holds("routes.md", &table("| path | methods | what it does |", rows));
}

#[test]
fn modules() {
    for module in BUILTINS.modules() {
        let path = page(&format!("modules/{}.md", module_page::file_name(module.name)));
        let found = std::fs::read_to_string(&path).unwrap_or_default();
        is_current(&path, &found, &module_page::text(module.name, module.types));
    }
}

#[test]
fn globals_of_apps() {
    let types = include_str!("../../../app/src/types.d.ts");
    let (path, wanted) = (page("modules/app.md"), module_page::text("onrush serve app.js", types));
    is_current(&path, &std::fs::read_to_string(&path).unwrap_or_default(), &wanted);
}
