//! Differences that somebody accepted, each with one of a few reasons.
//!
//! Whoever adds a line has to find its reason here. A sixth reason is a sign that something should be mended instead.

/// Why a difference stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// k6 is wrong or not reproducible.
    K6Defect,
    /// The script imports by `https://`.
    NoNetwork,
}

impl Reason {
    /// All, in the order of the report.
    pub const ALL: &[Reason] = &[Reason::K6Defect, Reason::NoNetwork];

    /// For people.
    pub fn text(self) -> &'static str {
        match self {
            Reason::K6Defect => "k6 loses or mixes up what happened",
            Reason::NoNetwork => "k6 fetches a library that Onrush has built in, and the kit has no network",
        }
    }
}

/// Part of a script's path, part of the difference's text (empty: all), and why.
const ACCEPTED: &[(&str, &str, Reason)] = &[
    // Without the system tag group k6 loses the checks of root_group; they were made all the same.
    ("parity/options.js", "::", Reason::K6Defect),
    ("parity/options.js", "group '': checks", Reason::K6Defect),
    ("url_library/test.js", "", Reason::NoNetwork),
];

/// The reason for a difference of a script, if there is one.
pub fn reason(script: &str, difference: &str) -> Option<Reason> {
    ACCEPTED
        .iter()
        .find(|(path, part, _)| script.contains(path) && difference.contains(part))
        .map(|(_, _, reason)| *reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_at_most_five_reasons_and_each_is_used() {
        assert!(Reason::ALL.len() <= 5);
        for reason in Reason::ALL {
            assert!(ACCEPTED.iter().any(|(_, _, used)| used == reason), "{reason:?} is the reason of nothing");
        }
        for (script, part, reason) in ACCEPTED {
            assert!(Reason::ALL.contains(reason), "{script}, {part}: {reason:?} is not in the list");
        }
    }

    #[test]
    fn a_difference_has_a_reason_only_in_its_script() {
        assert_eq!(reason("tests/parity/options.js", "check '::a': k6 1, Onrush 2"), Some(Reason::K6Defect));
        assert_eq!(reason("tests/parity/options.js", "exit code: k6 0, Onrush 99"), None);
        assert_eq!(reason("tests/parity/other.js", "check '::a': k6 1, Onrush 2"), None);
    }
}
