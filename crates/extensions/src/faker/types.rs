//! The second half of `types.d.ts` is made of the table, so that neither can have what the other lacks.
//!
//! `ONRUSH_WRITE_DOCS=1 cargo test -p onrush-extensions` brings it up to date.

use std::fmt::Write;
use std::path::Path;

use super::groups::{ALL, GROUPS};
use super::make::draw;
use super::make::function::Function;

const MARK: &str = "// Made of the table by the tests from here.\n";

fn interface(group: &str) -> String {
    format!("{}Functions", draw::capital(group))
}

fn declaration(function: &Function) -> String {
    let mut about = function.about.to_owned();
    let parameters: Vec<String> = function
        .parameters
        .iter()
        .map(|parameter| {
            let optional = if parameter.default.is_some() { "?" } else { "" };
            if let Some(default) = parameter.default.filter(|default| !default.is_empty()) {
                let _ = write!(about, " `{}` is {default} if not given.", parameter.name);
            }
            format!("{}{optional}: {}", parameter.name, parameter.kind.name())
        })
        .collect();
    format!("  /** {about} */\n  {}({}): {};\n", function.name, parameters.join(", "), function.gives)
}

fn declarations() -> String {
    let mut text = String::from(MARK);
    for group in GROUPS.iter().filter(|group| group.name != ALL) {
        let functions: String = group.functions.iter().map(declaration).collect();
        let _ =
            write!(text, "\n/** {} */\nexport interface {} {{\n{functions}}}\n", group.about, interface(group.name));
    }
    let others: Vec<String> =
        GROUPS.iter().filter(|group| group.name != ALL).map(|group| format!("\n  {}", interface(group.name))).collect();
    let _ = write!(
        text,
        "\n/** The functions of all groups. */\nexport interface ZenFunctions extends {} {{}}\n",
        others.join(",")
    );
    let groups = GROUPS.iter();
    let properties: String = groups
        .map(|group| format!("  /** {} */\n  readonly {}: {};\n", group.about, group.name, interface(group.name)))
        .collect();
    let _ = write!(text, "\n/** What a `Faker` has of each group. */\nexport interface Groups {{\n{properties}}}\n");
    text
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test is told by the environment whether to write")]
fn the_declarations_are_those_of_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/faker/types.d.ts");
    let found = std::fs::read_to_string(&path).unwrap();
    let (head, _) = found.split_once(MARK).expect("types.d.ts has the mark");
    let wanted = format!("{head}{}", declarations());
    if std::env::var_os("ONRUSH_WRITE_DOCS").is_some() {
        std::fs::write(&path, wanted).unwrap();
    } else {
        assert!(found == wanted, "types.d.ts is stale: run the tests with ONRUSH_WRITE_DOCS=1");
    }
}
