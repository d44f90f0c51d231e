//! JUnit XML, which every CI reads: a suite of cases with what became of each.
//!
//! Everything from outside is escaped; a character that XML 1.0 cannot hold becomes a replacement character, so that no
//! name of a check makes a file that nobody can read. Cases have no times, because none of them ran by itself.

use std::fmt::Write;

/// A suite of cases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JunitSuite {
    /// The command that makes it: `onrush run`.
    pub program: &'static str,
    /// What was tested or compared.
    pub name: String,
    /// In the order they are shown.
    pub cases: Vec<JunitCase>,
    /// What there is to say of all together.
    pub remarks: Vec<String>,
}

/// One case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JunitCase {
    /// What kind of case it is: `thresholds`.
    pub class: String,
    /// Its name.
    pub name: String,
    /// Why it did not pass.
    pub problem: Option<(Problem, String)>,
    /// What else there is to say of it.
    pub out: String,
}

/// How a case did not pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// What was asked for is not so.
    Failure,
    /// Nothing could be measured.
    Error,
    /// Nobody can tell.
    Skipped,
}

impl Problem {
    const fn element(self) -> &'static str {
        match self {
            Problem::Failure => "failure",
            Problem::Error => "error",
            Problem::Skipped => "skipped",
        }
    }
}

impl JunitSuite {
    /// The XML document.
    pub fn xml(&self) -> String {
        let totals = format!(
            "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"",
            self.cases.len(),
            self.count(Problem::Failure),
            self.count(Problem::Error),
            self.count(Problem::Skipped)
        );
        let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        let _ = writeln!(xml, "<testsuites name=\"{}\" {totals}>", escape(self.program));
        let _ = writeln!(xml, "  <testsuite name=\"{}\" {totals}>", escape(&self.name));
        self.cases.iter().for_each(|case| case.write(&mut xml));
        let _ = writeln!(xml, "    <system-out>{}</system-out>", escape(&self.remarks.join("\n")));
        xml.push_str("  </testsuite>\n</testsuites>\n");
        xml
    }

    fn count(&self, problem: Problem) -> usize {
        self.cases.iter().filter(|case| case.problem.as_ref().is_some_and(|(kind, _)| *kind == problem)).count()
    }
}

impl JunitCase {
    fn write(&self, xml: &mut String) {
        let (class, name) = (escape(&self.class), escape(&self.name));
        let _ = writeln!(xml, "    <testcase classname=\"{class}\" name=\"{name}\" time=\"0\">");
        if let Some((problem, message)) = &self.problem {
            let _ = writeln!(xml, "      <{} message=\"{}\"/>", problem.element(), escape(message));
        }
        let _ = writeln!(xml, "      <system-out>{}</system-out>\n    </testcase>", escape(&self.out));
    }
}

/// Text and attribute values; what XML 1.0 cannot hold at all becomes a replacement character.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || matches!(c, '\u{FFFE}' | '\u{FFFF}') => out.push('\u{FFFD}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn nothing_of_a_name_is_markup() {
        assert_eq!(super::escape("a<b>&\"c\"\u{1}"), "a&lt;b&gt;&amp;&quot;c&quot;\u{FFFD}");
    }
}
