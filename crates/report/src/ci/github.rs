//! GitHub's annotations: workflow commands, which a job prints and GitHub shows beside the line of a file.
//!
//! GitHub shows ten of each level for a step, so no more are written, and the last one says how many there are. Text
//! from outside cannot begin a command of its own: a line break becomes `%0A`.

use super::{Notice, NoticeLevel};
use crate::visible_lines;

/// How many of a level GitHub shows.
const SHOWN: usize = 10;

/// A command for each notice.
pub(super) fn annotations(notices: &[Notice]) -> String {
    let of = |is_error: bool| notices.iter().filter(move |notice| (notice.level != NoticeLevel::Doubtful) == is_error);
    [true, false].map(|is_error| lines(&of(is_error).collect::<Vec<_>>(), is_error)).concat()
}

fn lines(notices: &[&Notice], is_error: bool) -> String {
    let command = if is_error { "error" } else { "warning" };
    let shown = if notices.len() > SHOWN { SHOWN - 1 } else { notices.len() };
    let mut out: String = notices[..shown].iter().map(|notice| annotation(command, notice)).collect();
    if shown < notices.len() {
        let more = notices.len() - shown;
        out.push_str(&format!("::{command} title=onrush::{more} more like these are in the job's summary\n"));
    }
    out
}

fn annotation(command: &str, notice: &Notice) -> String {
    let mut properties = Vec::new();
    if let Some(place) = &notice.place {
        properties.push(format!("file={}", property(&place.file)));
        properties.push(format!("line={}", place.line));
        properties.extend(place.column.map(|column| format!("col={column}")));
    }
    properties.push(format!("title={}", property(&format!("onrush: {}", notice.check))));
    format!("::{command} {}::{}\n", properties.join(","), data(&visible_lines(&notice.message)))
}

/// What stands behind the second pair of colons.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The value of a property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::super::Place;
    use super::*;

    fn notice(level: NoticeLevel, message: &str) -> Notice {
        let place = Some(Place { file: String::from("a,b:c.js"), line: 3, column: Some(7) });
        Notice { level, check: "threshold", subject: String::new(), message: message.to_owned(), place }
    }

    #[test]
    fn text_stays_within_its_command() {
        let found = annotations(&[notice(NoticeLevel::Failed, "100 % of\n::error::x")]);
        let expected = "::error file=a%2Cb%3Ac.js,line=3,col=7,title=onrush%3A threshold::100 %25 of%0A::error::x\n";
        assert_eq!(found, expected);
    }

    #[test]
    fn errors_come_first_and_no_more_are_written_than_are_shown() {
        let mut all = vec![notice(NoticeLevel::Doubtful, "w")];
        all.extend((0..12).map(|number| notice(NoticeLevel::Failed, &number.to_string())));
        let found = annotations(&all);
        let lines: Vec<&str> = found.lines().collect();
        assert_eq!(lines.len(), 11);
        assert_eq!(lines[9], "::error title=onrush::3 more like these are in the job's summary");
        assert!(lines[10].starts_with("::warning file=") && lines[10].ends_with("::w"), "{found}");
    }
}
