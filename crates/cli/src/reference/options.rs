//! The tables of `docs/reference/options.md`: options of a test, and flags that concern the run alone.

use script::options::{OPTIONS, TestOption};

use super::table;
use crate::commands::of_k6::NOT_OFFERED;
use crate::flags::{OF_K6, OfK6, Treated, run_flags};

/// Both tables under their headings.
pub fn text() -> String {
    let options = table(
        "| option | flag | environment | type | default | what it does |",
        OPTIONS.iter().map(|option| row(&option_cells(option))),
    );
    let flags = run_flags().map(|flag| {
        let env = flag.env.map(code).unwrap_or_default();
        row(&[flag_cell(flag.name, flag.short, flag.value), env, flag.help.to_owned()])
    });
    let flags = table("| flag | environment | what it does |", flags);
    format!(
        "## Options of the test\n\n{options}\n## Flags of `onrush run`\n\nThey concern the run and not the test, so a \
         script cannot set them.\n\n{flags}"
    )
}

/// What becomes of each flag and variable of k6.
pub fn of_k6() -> String {
    table(
        "| Onrush | flag of k6 | variable | what differs, or what to do |",
        OF_K6.iter().map(|of_k6| row(&cells_of_k6(of_k6))),
    )
}

/// Commands of k6 that are not offered.
pub fn commands_of_k6() -> String {
    let rows = NOT_OFFERED.iter().map(|(name, instead)| row(&[code(&format!("k6 {name}")), (*instead).to_owned()]));
    table("| command | what to do |", rows)
}

fn cells_of_k6(of_k6: &OfK6) -> [String; 4] {
    let flag = if of_k6.flag.is_empty() { String::new() } else { code(&format!("--{}", of_k6.flag)) };
    let variable = match of_k6.variable.strip_suffix('_') {
        Some(short) => format!("{}, {}", code(short), code(&format!("{short}_…"))),
        None if of_k6.variable.is_empty() => String::new(),
        None => code(of_k6.variable),
    };
    let (word, more) = match of_k6.treated {
        Treated::Obeyed => ("obeys", ""),
        Treated::But(what) => ("obeys, but", what),
        Treated::WithoutEffect(why) => ("accepts, without effect", why),
        Treated::Warned(instead) => ("warns", instead),
    };
    [word.to_owned(), flag, variable, more.to_owned()]
}

fn option_cells(option: &TestOption) -> [String; 6] {
    let value = option.form.takes_word().then_some(option.value);
    let flag = option.flag.map(|flag| flag_cell(flag, option.short, value)).unwrap_or_default();
    let what = match option.more {
        "" => option.help.to_owned(),
        more => format!("{}; {more}", option.help),
    };
    let default = if option.default.is_empty() { String::new() } else { code(option.default) };
    let env = option.env.map(code).unwrap_or_default();
    [code(option.json), flag, env, option.form.name().to_owned(), default, what]
}

fn flag_cell(name: &str, short: Option<char>, value: Option<&str>) -> String {
    let short = short.map(|letter| format!("-{letter}, ")).unwrap_or_default();
    let value = value.map(|value| format!(" {value}")).unwrap_or_default();
    code(&format!("{short}--{name}{value}"))
}

fn code(text: &str) -> String {
    format!("`{text}`")
}

/// A bar inside of a cell would end it.
fn row(cells: &[String]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    format!("| {} |", cells.join(" | "))
}
