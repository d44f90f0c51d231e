//! "did you mean": the known word nearest to one that is not known.
//!
//! For error messages about names (metrics, tags, options). A suggestion that is not close is worse than none, so a word
//! must be within a third of its length in edits, a swap of neighbours counting as one.

/// The candidate nearest to `word`, when one is near enough. Case does not count.
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let allowed = word.chars().count().div_ceil(3).min(4);
    let near = candidates.into_iter().map(|known| (distance(&word, &known.to_lowercase()), known));
    near.filter(|(edits, _)| *edits <= allowed).min_by_key(|(edits, _)| *edits).map(|(_, known)| known)
}

/// `; did you mean 'x'` or nothing, ready to be appended to a message.
pub fn hint<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    closest(word, candidates).map(|known| format!("; did you mean '{known}'?")).unwrap_or_default()
}

/// Edits (insert, delete, replace, swap neighbours) between two words.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = vec![i + 1];
        for j in 0..b.len() {
            let mut best = (last[j] + usize::from(a[i] != b[j])).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 4] = ["http_req_duration", "http_reqs", "checks", "vus"];

    #[test]
    fn finds_the_near_word() {
        assert_eq!(closest("http_req_durration", KNOWN), Some("http_req_duration"));
        assert_eq!(closest("chekcs", KNOWN), Some("checks"));
        assert_eq!(closest("HTTP_REQS", KNOWN), Some("http_reqs"));
    }

    #[test]
    fn stays_silent_when_nothing_is_near() {
        assert_eq!(closest("login_time", KNOWN), None);
        assert_eq!(hint("login_time", KNOWN), "");
    }

    #[test]
    fn counts_a_swap_as_one_edit() {
        assert_eq!(distance("ab", "ba"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
