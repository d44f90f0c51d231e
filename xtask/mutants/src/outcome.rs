//! What became of changes, and the share of them that tests caught.

use std::collections::HashMap;

use serde_json::Value;

use crate::change::Change;

/// What tests made of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// A test failed, or did not end.
    Caught,
    /// Every test passed.
    Missed,
    /// It does not compile.
    Unviable,
}

/// A change and its outcome.
pub(crate) struct Found {
    pub(crate) change: Change,
    pub(crate) outcome: Outcome,
}

/// What became of a subject's changes.
pub(crate) struct Tally {
    pub(crate) found: Vec<Found>,
    /// How many drawn changes are listed as equivalent.
    pub(crate) equivalent: usize,
}

/// Outcomes by the names of changes, of cargo-mutants' `outcomes.json`.
pub(crate) fn read(document: &Value) -> Result<HashMap<String, Outcome>, String> {
    let list = document["outcomes"].as_array().ok_or("cargo-mutants' outcomes.json has no outcomes")?;
    let of_changes = list.iter().filter(|outcome| outcome["scenario"].is_object());
    let one = |outcome: &Value| {
        let name = outcome["scenario"]["Mutant"]["name"].as_str().ok_or("an outcome has no name")?;
        let became = match outcome["summary"].as_str().unwrap_or_default() {
            "CaughtMutant" | "Timeout" => Outcome::Caught,
            "MissedMutant" => Outcome::Missed,
            "Unviable" => Outcome::Unviable,
            other => return Err(format!("{name}: cargo-mutants says {other:?}, expected an outcome")),
        };
        Ok((name.to_owned(), became))
    };
    of_changes.map(one).collect()
}

impl Tally {
    fn count(&self, outcome: Outcome) -> usize {
        self.found.iter().filter(|found| found.outcome == outcome).count()
    }

    /// Caught among viable; everything of nothing.
    pub(crate) fn share(&self) -> f64 {
        let (caught, missed) = (self.count(Outcome::Caught), self.count(Outcome::Missed));
        if caught + missed == 0 { 1.0 } else { caught as f64 / (caught + missed) as f64 }
    }

    /// What was missed, line by line, then the figures.
    pub(crate) fn text(&self, subject: &str) -> String {
        let missed = self.found.iter().filter(|found| found.outcome == Outcome::Missed);
        let mut text: String =
            missed.map(|found| format!("missed: {}\n    in: {}\n", found.change.name, found.change.code)).collect();
        let [caught, missed, unviable] = [Outcome::Caught, Outcome::Missed, Outcome::Unviable].map(|o| self.count(o));
        let (equivalent, share) = (self.equivalent, self.share() * 100.0);
        text.push_str(&format!(
            "{subject}: {caught} caught, {missed} missed, {unviable} unviable, {equivalent} equivalent: {share:.1} % \
             of viable changes caught\n"
        ));
        text
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(name: &str, outcome: Outcome) -> Found {
        let change =
            Change { name: name.to_owned(), file: String::new(), what: String::new(), code: "x < y".to_owned() };
        Found { change, outcome }
    }

    #[test]
    fn outcomes_are_read_by_name() {
        let of = |name: &str, summary: &str| json!({ "scenario": { "Mutant": { "name": name } }, "summary": summary });
        let baseline = json!({ "scenario": "Baseline", "summary": "Success" });
        let list = json!({ "outcomes": [baseline, of("a", "CaughtMutant"), of("b", "Timeout"), of("c", "MissedMutant"),
            of("d", "Unviable")] });
        let outcomes = read(&list).unwrap();
        assert_eq!(["a", "b", "c", "d"].map(|name| outcomes[name]), {
            use Outcome::*;
            [Caught, Caught, Missed, Unviable]
        });
        let message = "e: cargo-mutants says \"Failure\", expected an outcome";
        assert_eq!(read(&json!({ "outcomes": [of("e", "Failure")] })), Err(message.to_owned()));
    }

    #[test]
    fn unviable_changes_do_not_count() {
        let found = vec![
            found("a", Outcome::Caught),
            found("b:1:2: replace < with <=", Outcome::Missed),
            found("c", Outcome::Unviable),
            found("d", Outcome::Caught),
        ];
        let tally = Tally { found, equivalent: 3 };
        assert_eq!(
            tally.text("metrics"),
            "missed: b:1:2: replace < with <=\n    in: x < y\nmetrics: 2 caught, 1 missed, 1 unviable, 3 equivalent: \
             66.7 % of viable changes caught\n"
        );
        assert_eq!(Tally { found: Vec::new(), equivalent: 0 }.share(), 1.0);
    }
}
