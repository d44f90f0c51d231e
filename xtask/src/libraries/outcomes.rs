//! What calls came to, and where two lists of it differ.

use std::collections::{BTreeMap, BTreeSet};

use super::reasons::{self, NOT_CALLED};

/// Differences shown of one export.
const SHOWN: usize = 3;
/// Characters shown of an outcome, from a little in front of the difference on.
const WIDTH: usize = 160;

/// One call.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Call {
    export: String,
    /// Which of the calls of this export it was; checks and metrics have no number.
    number: usize,
    arguments: String,
}

/// The outcome of each call.
#[derive(Debug, Default)]
pub struct CallOutcomes {
    calls: BTreeMap<Call, String>,
    counts: BTreeMap<String, usize>,
}

impl CallOutcomes {
    /// Reads the lines of a run; others are the engine's.
    pub fn read(lines: &str) -> Result<CallOutcomes, String> {
        let mut outcomes = CallOutcomes::default();
        for line in lines.lines() {
            let Ok([export, arguments, outcome]) = serde_json::from_str::<[String; 3]>(line) else { continue };
            let count = outcomes.counts.entry(export.clone()).or_default();
            *count += 1;
            // The summary's lines have their own order in each engine.
            let (number, arguments) = match export.as_str() {
                "check" | "metric" => (0, format!("{arguments} {outcome}")),
                _ => (*count, arguments),
            };
            outcomes.calls.insert(Call { export, number, arguments }, outcome);
        }
        match outcomes.calls.len() {
            0..=1 => Err(format!("no calls: {}", lines.lines().take(5).collect::<Vec<_>>().join(" | "))),
            _ if lines.contains("\npanic: ") => Err(String::from("the engine panicked: leave out what it cannot do")),
            _ => Ok(outcomes),
        }
    }
}

/// What was compared of one export.
#[derive(Debug, Default)]
struct ExportRow {
    compared: usize,
    accepted: usize,
    different: Vec<String>,
}

/// A real file beside ours.
#[derive(Debug)]
pub struct Comparison {
    rows: BTreeMap<String, ExportRow>,
    /// Exports that no call begins with.
    not_called: Vec<String>,
}

impl Comparison {
    pub fn of(library: &str, real: &CallOutcomes, ours: &CallOutcomes) -> Comparison {
        let mut rows: BTreeMap<String, ExportRow> = BTreeMap::new();
        let calls: BTreeSet<&Call> = real.calls.keys().chain(ours.calls.keys()).collect();
        for call in calls {
            let row = rows.entry(call.export.clone()).or_default();
            row.compared += 1;
            let [left, right] = [real, ours].map(|side| side.calls.get(call).map_or("(no such call)", String::as_str));
            if left == right {
                continue;
            }
            match reasons::accepts(library, &call.export, &call.arguments, left, right) {
                true => row.accepted += 1,
                false => row.different.push(shown(&call.arguments, left, right)),
            }
        }
        let exports = real.calls.iter().find(|(call, _)| call.export == "exports").map_or("", |(_, names)| names);
        let exports = exports.trim_matches('"').split(',');
        let is_called = |name: &&str| rows.keys().any(|row| row.split([' ', '.']).next() == Some(*name));
        // What `default` has is called by its names.
        let is_excused = |name: &&str| {
            *name == "default" || NOT_CALLED.iter().any(|row| row.library == library && row.names.contains(name))
        };
        let not_called = exports.filter(|name| !is_called(name) && !is_excused(name)).map(str::to_owned).collect();
        Comparison { rows, not_called }
    }

    /// Prints a line an export; whether something is different.
    pub fn print(&self, title: &str) -> bool {
        let sum = |count: fn(&ExportRow) -> usize| self.rows.values().map(count).sum::<usize>();
        let (compared, accepted, different) = (sum(|r| r.compared), sum(|r| r.accepted), sum(|r| r.different.len()));
        println!("\n{title}: {compared} compared, {accepted} accepted, {different} different");
        for (export, row) in &self.rows {
            let ExportRow { compared, accepted, different } = row;
            println!("  {export:40} {compared:7} {accepted:6} {:6}", different.len());
            different.iter().take(SHOWN).for_each(|difference| println!("{difference}"));
        }
        if !self.not_called.is_empty() {
            println!("  no call of {}", self.not_called.join(", "));
        }
        different > 0 || !self.not_called.is_empty()
    }
}

fn shown(arguments: &str, real: &str, ours: &str) -> String {
    let same = real.chars().zip(ours.chars()).take_while(|(left, right)| left == right).count();
    let cut = |text: &str| text.chars().skip(same.saturating_sub(30)).take(WIDTH).collect::<String>();
    let arguments: String = arguments.chars().take(WIDTH).collect();
    format!("      {arguments}\n        real {}\n        ours {}", cut(real), cut(ours))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcomes(lines: &[[&str; 3]]) -> CallOutcomes {
        let lines: Vec<String> = lines.iter().map(|line| serde_json::to_string(line).unwrap()).collect();
        CallOutcomes::read(&lines.join("\n")).unwrap()
    }

    #[test]
    fn calls_are_compared_in_their_order_and_checks_without_one() {
        let real = outcomes(&[["exports", "", "a,b"], ["a", "1", "x"], ["a", "2", "y"], ["check", "g", "c 1/0"]]);
        let same = outcomes(&[["check", "g", "c 1/0"], ["exports", "", "a,b"], ["a", "1", "x"], ["a", "2", "y"]]);
        let comparison = Comparison::of("none", &real, &same);
        assert_eq!(comparison.not_called, ["b"]);
        assert!(comparison.rows.values().all(|row| row.different.is_empty()), "{comparison:?}");
        let other = outcomes(&[["exports", "", "a,b"], ["a", "1", "x"], ["a", "2", "z"], ["check", "g", "c 0/1"]]);
        let comparison = Comparison::of("none", &real, &other);
        assert_eq!(comparison.rows["a"].different.len(), 1);
        assert_eq!(comparison.rows["check"].different.len(), 2, "one is missing, one is new");
    }

    #[test]
    fn a_run_without_calls_is_an_error() {
        assert!(CallOutcomes::read("error: no such file").unwrap_err().contains("no such file"));
    }
}
