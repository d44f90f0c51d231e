//! Where in a script something stands: the line that a CI shows a notice at.
//!
//! A result does not say on which line a threshold or a check was written, so the script's text is searched for it.
//! What is not found is told of line 1: a wrong line would be worse than the first. Places of exceptions are read from
//! their texts, which end with them.

/// The script as it is now, and what it is called within the repository.
#[derive(Clone, Debug, Default)]
pub struct CiScript {
    /// Relative to the root of the repository.
    pub path: String,
    /// Its text; empty where it cannot be read.
    pub text: String,
    /// The root of the repository, which paths of exceptions begin with; empty where nobody knows.
    pub root: String,
}

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Relative to the root of the repository.
    pub file: String,
    /// From 1 on.
    pub line: u32,
    /// From 1 on, where it is known.
    pub column: Option<u32>,
}

impl CiScript {
    /// Where a threshold on this metric is written.
    pub(super) fn of_threshold(&self, metric: &str, source: &str) -> Place {
        let metric_at = self.quoted(metric, 0).or_else(|| self.containing(metric, 0));
        let line = metric_at.and_then(|from| self.containing(source, from)).or_else(|| self.containing(source, 0));
        self.at(line.or(metric_at))
    }

    /// Where a check of this name is made.
    pub(super) fn of_check(&self, name: &str) -> Place {
        self.at(self.quoted(name, 0))
    }

    /// The whole script.
    pub(super) fn itself(&self) -> Place {
        self.at(None)
    }

    /// The place at the end of an exception's text, `(/path/script.js:7:28)`; the whole script where there is none.
    pub(super) fn of_exception(&self, text: &str) -> Place {
        self.read_place(text).unwrap_or_else(|| self.itself())
    }

    fn read_place(&self, text: &str) -> Option<Place> {
        let inner = text.trim_end().strip_suffix(')')?;
        let (_, place) = inner.rsplit_once('(')?;
        let (rest, column) = place.rsplit_once(':')?;
        let (file, line) = rest.rsplit_once(':')?;
        let file = file.strip_prefix("file://").unwrap_or(file);
        let below = file.strip_prefix(self.root.as_str()).filter(|_| !self.root.is_empty());
        let file = below.map_or(file, |below| below.trim_start_matches('/'));
        Some(Place { file: file.to_owned(), line: line.parse().ok()?, column: column.parse().ok() })
    }

    fn at(&self, index: Option<usize>) -> Place {
        let line = index.and_then(|index| u32::try_from(index + 1).ok()).unwrap_or(1);
        Place { file: self.path.clone(), line, column: None }
    }

    fn containing(&self, needle: &str, from: usize) -> Option<usize> {
        let lines = self.text.lines().enumerate().skip(from);
        lines.filter(|(_, line)| !needle.is_empty() && line.contains(needle)).map(|(at, _)| at).next()
    }

    fn quoted(&self, needle: &str, from: usize) -> Option<usize> {
        let all = ['\'', '"', '`'].map(|mark| self.containing(&format!("{mark}{needle}{mark}"), from));
        all.into_iter().flatten().min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script() -> CiScript {
        let text = "export const options = {
  thresholds: {
    http_reqs: ['rate>5'],
    http_req_duration: [
      'p(95)<200',
      'rate>5',
    ],
    \"checks{a:b}\": ['rate>0.9'],
  },
};
check(r, { 'is 200': ok });
";
        CiScript { path: String::from("tests/a.js"), text: text.into(), root: String::from("/repo") }
    }

    #[test]
    fn thresholds_and_checks_are_found_where_they_are_written() {
        let script = script();
        let line = |metric, source| script.of_threshold(metric, source).line;
        assert_eq!(line("http_req_duration", "p(95)<200"), 5);
        assert_eq!(line("http_req_duration", "rate>5"), 6, "the one of that metric, not the first of that text");
        assert_eq!(line("http_reqs", "rate>5"), 3);
        assert_eq!(line("checks{a:b}", "rate > 0.9"), 8, "the metric's line where the text differs");
        assert_eq!(line("unknown", "avg<1"), 1);
        assert_eq!((script.of_check("is 200").line, script.of_check("is").line), (11, 1));
    }

    #[test]
    fn exceptions_have_their_place() {
        let script = script();
        let place = script.of_exception("Error: boom (x) (/repo/tests/lib/b.js:7:28)");
        assert_eq!(place, Place { file: String::from("tests/lib/b.js"), line: 7, column: Some(28) });
        assert_eq!(script.of_exception("Error: (/elsewhere/b.js:7:1)").file, "/elsewhere/b.js");
        for text in ["Error: boom", "Error (b.js:x:1)", "()", ""] {
            assert_eq!(script.of_exception(text), script.itself(), "{text}");
        }
    }
}
