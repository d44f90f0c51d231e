//! A load that clients changed while the test ran.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::show;

/// So many changes are told one by one.
const MOST_TOLD: usize = 5;

/// One change: from then on the scenario had this load, whatever its plan was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadChange {
    /// From when on it held, in seconds since the start of the scenarios.
    pub at_s: f64,
    /// Name of the scenario.
    pub scenario: String,
    /// Of what: `users`, `rate` (iterations per second), or `max_users` (of an arrival rate).
    pub quantity: String,
    /// What was planned at that moment.
    pub from: f64,
    /// What was planned from there to the end.
    pub to: f64,
    /// The way it came: `REST API`, or `onrush scale`.
    pub by: String,
}

impl LoadChange {
    /// `at 12.3 s scenario 'a': 100 → 200 iterations/s (by onrush scale)`.
    fn line(&self) -> String {
        let unit = match self.quantity.as_str() {
            "rate" => "iterations/s",
            "max_users" => "users at most",
            _ => "users",
        };
        let [from, to] = [self.from, self.to].map(show::rounded);
        format!("at {:.1} s scenario '{}': {from} → {to} {unit} (by {})", self.at_s, self.scenario, self.by)
    }
}

/// What summaries and reports say of them, a line each; many are counted.
pub fn change_lines(changes: &[LoadChange]) -> Vec<String> {
    let mut lines: Vec<String> =
        changes.iter().take(MOST_TOLD).map(|change| format!("changed while it ran: {}", change.line())).collect();
    if changes.len() > MOST_TOLD {
        lines.push(format!("and {} more changes", changes.len() - MOST_TOLD));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_lines_and_many_are_counted() {
        let change = |quantity: &str| LoadChange {
            at_s: 12.34,
            scenario: String::from("a"),
            quantity: quantity.to_owned(),
            from: 1000.0,
            to: 2.5,
            by: String::from("REST API"),
        };
        assert_eq!(
            change_lines(&[change("rate"), change("users")]),
            [
                "changed while it ran: at 12.3 s scenario 'a': 1,000 → 2.5 iterations/s (by REST API)",
                "changed while it ran: at 12.3 s scenario 'a': 1,000 → 2.5 users (by REST API)",
            ]
        );
        let many = change_lines(&vec![change("max_users"); 9]);
        assert_eq!((many.len(), many[5].as_str()), (6, "and 4 more changes"));
        assert!(change_lines(&[]).is_empty());
    }
}
