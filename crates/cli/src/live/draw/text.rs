//! The words at the top of the screen: how far the test is, how fast it goes, and what its figures are worth.

use ratatui::text::{Line, Span};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};
use units::show::{about, grouped, time};

use super::ink::Ink;
use crate::live::{Glance, Scene, Word};

/// `running 12s, 48s left · 10/10 VUs · 1,234 iterations`.
pub fn headline(glance: &Glance) -> String {
    let Glance { what, elapsed, left, users, iterations, .. } = glance;
    let left = left.map(|left| format!(", {} left", about(left))).unwrap_or_default();
    let named = |count: u64, what: &str| if count > 0 { format!(", {} {what}", grouped(count)) } else { String::new() };
    format!(
        "{what} {}{left} · {}/{} VUs · {} iterations{}{}",
        about(*elapsed),
        users.active,
        users.total,
        grouped(iterations.complete),
        named(iterations.interrupted, "interrupted"),
        named(iterations.dropped, "dropped"),
    )
}

/// `7,775 requests/s · p50 300µs · p95 477µs · p99 1.2ms · 0.10 % failed (12 so far)`.
pub fn pace(glance: &Glance) -> String {
    let Some(pace) = &glance.pace else { return String::from("nothing ended in the last second") };
    let [p50, p95, p99] = pace.percentiles.map(time);
    let so_far = match glance.requests.failed {
        0 => String::new(),
        failed => format!(" ({} of {} so far)", grouped(failed), grouped(glance.requests.count)),
    };
    let failed = pace.failures().map(|failures| format!(" · {failures}{so_far}")).unwrap_or_default();
    format!("{} · p50 {p50} · p95 {p95} · p99 {p99}{failed}", pace.rate())
}

/// The verdict on the generator as it develops.
pub fn trust(glance: &Glance, ink: Ink, width: usize) -> Line<'static> {
    let label = Span::styled(" generator  ", ink.faint());
    let room = width.saturating_sub(label.width());
    let Some(trust) = &glance.trust else {
        let text = cut("each agent judges itself; the verdict comes at the end", room);
        return Line::from(vec![label, Span::styled(text, ink.plain())]);
    };
    let style = match trust.now {
        Word::NotJudged => ink.plain(),
        Word::Trusted => ink.good(),
        Word::Suspect => ink.doubtful(),
        Word::Invalid => ink.bad(),
    };
    let doubts: Vec<String> = trust.doubts.iter().map(|doubt| format!("{} ({})", doubt.title, doubt.figure)).collect();
    let mut rest = if doubts.is_empty() { String::new() } else { format!(": {}", doubts.join(", ")) };
    let so_far = [(trust.invalid_s, Word::Invalid), (trust.suspect_s, Word::Suspect)];
    let so_far: Vec<String> =
        so_far.iter().filter(|(seconds, _)| *seconds > 0).map(|(s, word)| format!("{s}s {}", word.text())).collect();
    if !so_far.is_empty() {
        rest.push_str(&format!(" · so far {}", so_far.join(", ")));
    }
    let rest = cut(&rest, room.saturating_sub(trust.now.text().len()));
    Line::from(vec![label, Span::styled(trust.now.text(), style), Span::styled(rest, ink.plain())])
}

/// All that fits a tiny window, the most important first.
pub fn tiny(scene: &Scene) -> String {
    let glance = &*scene.glance;
    let pace = glance.pace.map(|pace| format!(" {pace}")).unwrap_or_default();
    format!("{}{pace}", about(glance.elapsed))
}

/// The text, cut to this many columns with an ellipsis.
pub fn cut(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut width = 0;
    let fits = |c: &char| {
        width += c.width().unwrap_or(0);
        width < columns
    };
    text.chars().take_while(fits).chain((columns > 0).then_some('…')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_text_fits() {
        for (text, columns, expected) in
            [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("日本語", 4, "日…"), ("abc", 1, "…"), ("abc", 0, "")]
        {
            assert_eq!(cut(text, columns), expected);
        }
    }
}
