//! The block of the summary that names what went wrong: iterations that threw, answers from 400 on, requests without an
//! answer, with the most frequent kinds. k6 has no such block; it is there only when there is something to name.

use metrics::results::Results;
use units::show;

use super::paint::Paint;
use super::rows::{self, SummaryRow};
use super::{Paragraph, indented, wrapped};
use crate::errors::{Counted, Errors, times};
use crate::visible;

/// Kinds that are named; the others are counted.
const NAMED: usize = 5;

/// The paragraphs of the block, none when nothing went wrong or all of it was expected.
pub(super) fn paragraphs(results: &Results, paint: Paint, width: Option<usize>) -> Vec<Paragraph> {
    let errors = Errors::from(results);
    let (iterations, requests) = (results.count("iterations"), results.count("http_reqs"));
    let room = width.map(|width| width.saturating_sub(4));
    let mut parts: Vec<(SummaryRow, Paragraph)> = Vec::new();
    if errors.threw() > 0 {
        parts.push((row("iterations_threw", errors.threw(), iterations), kinds(&errors.exceptions, paint, room)));
    }
    if errors.unexpected_answers() > 0 {
        let mut named = errors.named_statuses(false);
        let expected = errors.named_statuses(true);
        if !expected.is_empty() {
            named.push_str(&format!("; expected: {expected}"));
        }
        let lines = wrapped(&named, room).into_iter().map(|line| paint.bad(&line)).collect();
        parts.push((row("answers ≥ 400", errors.unexpected_answers(), requests), lines));
    }
    if errors.without_answer() > 0 {
        parts.push((row("no answer", errors.without_answer(), requests), kinds(&errors.unanswered, paint, room)));
    }
    let (rows, details): (Vec<SummaryRow>, Vec<Paragraph>) = parts.into_iter().unzip();
    let heads = rows::render(&[rows], paint, room).concat();
    let paragraphs = heads.into_iter().zip(details);
    indented(paragraphs.map(|(head, lines)| [vec![head], indented(vec![lines], 2).concat()].concat()).collect(), 4)
}

fn row(name: &str, count: u64, of: u64) -> SummaryRow {
    SummaryRow::pair(name, show::share(count, of), format!("{count} out of {of}"))
}

/// `× 67,346  TypeError: …`
fn kinds(errors: &[Counted], paint: Paint, room: Option<usize>) -> Paragraph {
    let counts: Vec<String> = errors.iter().take(NAMED).map(|error| times(error.count)).collect();
    let wide = counts.iter().map(|count| count.chars().count()).max().unwrap_or(0);
    let mut lines = Vec::new();
    for (error, count) in errors.iter().zip(&counts) {
        // Two for the indentation, two between.
        let text = wrapped(&visible(&error.what), room.map(|room| room.saturating_sub(wide + 4)));
        for (at, part) in text.iter().enumerate() {
            let count = if at == 0 { count.as_str() } else { "" };
            lines.push(paint.bad(&format!("{count:wide$}  {part}")));
        }
    }
    if let Some(rest) = errors.get(NAMED..).filter(|rest| !rest.is_empty()) {
        let count = rest.iter().map(|error| error.count).sum();
        lines.push(paint.bad(&format!("{}  of {}", times(count), show::counted(rest.len(), "other kind"))));
    }
    lines
}
