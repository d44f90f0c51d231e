//! The page of a trial: a table for each target, then each tool's rows in full.

use std::fmt::Write as _;

use report::witness::{ClaimVerdict, JudgedFigure};

use super::{Held, TargetKind};

/// The columns of the tables: a heading, and the figures that are looked for, the first that is there.
const COLUMNS: [(&str, &[&str]); 8] = [
    ("requests", &["requests"]),
    ("rate", &["rate", "rate of sending"]),
    ("duration", &["duration"]),
    ("bytes", &["bytes received", "bytes of response bodies"]),
    ("errors", &["errors", "failed"]),
    ("p50", &["latency, p50"]),
    ("p99", &["latency, p99"]),
    ("max", &["latency, max"]),
];

/// The whole page.
pub(super) fn page(held: &[Held], missing: &[&str]) -> String {
    let mut page = String::from(HEAD);
    for kind in [TargetKind::Steady, TargetKind::Stalling] {
        let of_kind: Vec<&Held> = held.iter().filter(|held| held.kind == kind).collect();
        let _ = write!(page, "\n## {}\n\n{}\n", heading(kind), table(&of_kind));
        for held in of_kind {
            for finding in held.trial.findings.iter() {
                let _ =
                    writeln!(page, "- **{}**, {}: {}.", held.tool.name, finding.name.replace('_', " "), finding.text);
            }
        }
    }
    page.push_str("\n## How each was run\n\n| tool | command |\n|---|---|\n");
    let mut named: Vec<&str> = Vec::new();
    for held in held {
        if !named.contains(&held.tool.name) {
            named.push(held.tool.name);
            let _ = writeln!(page, "| {} | `{}` |", held.tool.name, held.tool.line);
        }
    }
    if !missing.is_empty() {
        let _ = writeln!(page, "\nNot on this machine, and therefore not tried: {}.", missing.join(", "));
    }
    page.push_str("\n## Every figure\n");
    for held in held {
        let _ = write!(page, "\n### {}, {} target\n\n```text\n{}```\n", held.tool.name, held.kind.name(), held.text);
    }
    page
}

const HEAD: &str = "# Load tools on trial, 2026-11-29

`cargo xtask witness`: each tool runs against a new `onrush serve --witness`, whose one route answers after 2 ms, and
`onrush witness` holds what the tool printed against what the target saw. Target and tool share two cores. ✓ is true, ✗
is not true, ? cannot be told from the target's side; behind the sign stands what the tool printed. What each verdict
means, and what a witness cannot know: [the guide](../../../docs/guides/witness.md).
";

fn heading(kind: TargetKind) -> &'static str {
    match kind {
        TargetKind::Steady => "A steady target (5 s)",
        TargetKind::Stalling => "A target that stands still for a second (10 s, stopped at about 4 s)",
    }
}

fn table(held: &[&Held]) -> String {
    let headings: Vec<&str> = COLUMNS.iter().map(|(heading, _)| *heading).collect();
    let mut table =
        format!("| tool | {} | p99 of visitors on schedule |\n|---|{}--:|\n", headings.join(" | "), "---|".repeat(8));
    for held in held {
        let cell = |(_, names): &(&str, &[&str])| {
            let found = names.iter().find_map(|name| held.trial.figures.iter().find(|figure| figure.name == *name));
            found.map_or(String::from("–"), shown)
        };
        let cells: Vec<String> = COLUMNS.iter().map(cell).collect();
        let p99 = held.trial.figures.iter().find(|figure| figure.name == "latency, p99");
        let on_schedule = p99.and_then(|figure| figure.on_schedule);
        let on_schedule = on_schedule.map_or(String::from("–"), |wait| format!("≥ {}", units::show::time(wait)));
        let _ = writeln!(table, "| {} | {} | {on_schedule} |", held.tool.name, cells.join(" | "));
    }
    table
}

fn shown(figure: &JudgedFigure) -> String {
    let sign = match figure.verdict {
        ClaimVerdict::True => "✓",
        ClaimVerdict::NotTrue => "✗",
        ClaimVerdict::CannotBeTold => "?",
    };
    format!("{sign} {}", figure.printed)
}
