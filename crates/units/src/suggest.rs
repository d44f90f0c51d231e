//! "did you mean": the known word nearest to one that is not known.
//!
//! For error messages about names (metrics, tags, options). A suggestion that is not close is worse than none, so a
//! word must be within a third of its length in edits, a swap of neighbours counting as one.

use strsim::osa_distance;

/// The candidate nearest to `word`, when one is near enough. Case does not count.
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let allowed = word.chars().count().div_ceil(3).min(4);
    let near = candidates.into_iter().map(|known| (osa_distance(&word, &known.to_lowercase()), known));
    near.filter(|(edits, _)| *edits <= allowed).min_by_key(|(edits, _)| *edits).map(|(_, known)| known)
}

/// `; did you mean 'x'` or nothing, ready to be appended to a message.
pub fn hint<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    closest(word, candidates).map(|known| format!("; did you mean '{known}'?")).unwrap_or_default()
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
        // A swap of neighbours is one edit: with two, `vus` would be out of reach.
        assert_eq!(closest("uvs", KNOWN), Some("vus"));
    }

    #[test]
    fn stays_silent_when_nothing_is_near() {
        assert_eq!(closest("login_time", KNOWN), None);
        assert_eq!(hint("login_time", KNOWN), "");
    }
}
