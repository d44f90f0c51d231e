//! The facts in which two observations differ, one line each.

use std::collections::BTreeSet;

use super::observation::Observation;

/// Lines such as `exit code: k6 99, Onrush 0`, in order of the facts' names.
pub fn differences(k6: &Observation, onrush: &Observation) -> Vec<String> {
    let names: BTreeSet<&String> = k6.facts.keys().chain(onrush.facts.keys()).collect();
    names
        .into_iter()
        .filter_map(|name| match (k6.facts.get(name), onrush.facts.get(name)) {
            (Some(theirs), Some(ours)) if theirs == ours => None,
            (Some(theirs), Some(ours)) => Some(format!("{name}: k6 {theirs}, Onrush {ours}")),
            (Some(theirs), None) => Some(format!("{name}: k6 {theirs}, Onrush nothing")),
            (None, Some(ours)) => Some(format!("{name}: k6 nothing, Onrush {ours}")),
            (None, None) => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observation(facts: &[(&str, &str)]) -> Observation {
        Observation { facts: facts.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect() }
    }

    #[test]
    fn each_difference_is_a_line() {
        let k6 = observation(&[("a", "1"), ("b", "2"), ("c", "3")]);
        let onrush = observation(&[("b", "2"), ("c", "4"), ("d", "5")]);
        let expected = ["a: k6 1, Onrush nothing", "c: k6 3, Onrush 4", "d: k6 nothing, Onrush 5"];
        assert_eq!(differences(&k6, &onrush), expected);
        assert_eq!(differences(&k6, &k6), Vec::<String>::new());
    }
}
