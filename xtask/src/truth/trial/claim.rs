//! One line of the table: a figure, what Onrush said, what the referee says, and how far they may be apart.

use std::fmt::Display;

/// Above the table.
pub fn head() -> String {
    let [figure, said, truth, error, limit] = ["figure", "onrush", "referee", "error", "limit"];
    format!("{:<34} {figure:<34} {said:>12} {truth:>12} {error:>12} {limit:>12}", "case")
}

/// One comparison.
pub struct Claim {
    figure: String,
    said: String,
    true_value: String,
    error: f64,
    limit: f64,
}

impl Claim {
    /// Two figures that may be `limit` apart.
    pub fn near(figure: impl Into<String>, said: f64, true_value: f64, limit: f64) -> Claim {
        let show = |value: f64| format!("{value:.3}");
        let error = (said - true_value).abs();
        Claim { figure: figure.into(), said: show(said), true_value: show(true_value), error, limit }
    }

    /// Two counts that must be the same.
    pub fn same(figure: impl Into<String>, said: u64, true_value: u64) -> Claim {
        let (said_text, true_text) = (said.to_string(), true_value.to_string());
        Claim {
            figure: figure.into(),
            said: said_text,
            true_value: true_text,
            error: said.abs_diff(true_value) as f64,
            limit: 0.0,
        }
    }

    /// A figure that may be at most `limit`.
    pub fn at_most(figure: impl Into<String>, found: f64, limit: f64) -> Claim {
        Claim { figure: figure.into(), said: format!("{found:.4}"), true_value: String::from("-"), error: found, limit }
    }

    /// A figure that may be at most `limit`, with another to compare it with.
    pub fn beside(figure: impl Into<String>, found: f64, other: f64, limit: f64) -> Claim {
        let show = |value: f64| format!("{value:.4}");
        Claim { figure: figure.into(), said: show(found), true_value: show(other), error: found, limit }
    }

    /// Something that must be said.
    pub fn says(figure: impl Into<String>, said: impl Display, holds: bool) -> Claim {
        let error = if holds { 0.0 } else { 1.0 };
        Claim { figure: figure.into(), said: said.to_string(), true_value: String::from("-"), error, limit: 0.0 }
    }

    /// Whether it is within its limit; what could not be calculated is not.
    pub fn holds(&self) -> bool {
        self.error <= self.limit
    }

    /// For the table.
    pub fn line(&self, case: &str) -> String {
        let Claim { figure, said, true_value, error, limit } = self;
        let mark = if self.holds() { "" } else { "  MISSED" };
        format!("{case:<34} {figure:<34} {said:>12} {true_value:>12} {error:>12.4} {limit:>12.4}{mark}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_holds_up_to_its_limit_and_not_without_a_figure() {
        assert!(Claim::near("p99", 10.5, 10.0, 0.5).holds());
        assert!(!Claim::near("p99", 10.6, 10.0, 0.5).holds());
        assert!(!Claim::near("p99", f64::NAN, 10.0, 0.5).holds());
        assert!(Claim::same("requests", 7, 7).holds() && !Claim::same("requests", 7, 8).holds());
        assert!(Claim::at_most("KS", 0.1, 0.1).holds() && !Claim::says("verdict", "TRUSTED", false).holds());
    }
}
