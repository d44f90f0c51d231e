//! The lists below the chart: scenarios, thresholds, checks, errors, the log. Each gets one row before any gets two, so
//! that a small window has something of everything.

use ratatui::text::{Line, Span};
use report::visible::visible;
use unicode_width::UnicodeWidthStr;
use units::show::{about, grouped, percent, share};

use super::ink::Ink;
use super::text::cut;
use crate::live::{CheckLine, Glance, ScenarioLine, ThresholdLine};

/// Cells of a scenario's bar.
const BAR: usize = 20;
/// A wider window has bars.
const WITH_BARS: usize = 60;

/// A list with its name.
pub struct Listed {
    /// What stands left of it.
    pub label: &'static str,
    lines: Vec<Line<'static>>,
    /// Rows at most.
    most: u16,
    /// Whether the last lines matter, not the first.
    is_log: bool,
}

impl Listed {
    /// What fits so many rows.
    pub fn shown(&self, rows: usize) -> Vec<Line<'static>> {
        let all = self.lines.len();
        if self.is_log {
            return self.lines[all.saturating_sub(rows)..].to_vec();
        }
        if all <= rows || rows == 1 {
            return self.lines.iter().take(rows).cloned().collect();
        }
        let more = Line::raw(format!("… and {} more", all + 1 - rows));
        self.lines[..rows - 1].iter().cloned().chain([more]).collect()
    }
}

/// The lists of a run, those that are empty left out.
pub fn parts(glance: &Glance, log: &[String], ink: Ink, width: usize) -> Vec<Listed> {
    let name = glance.scenarios.iter().map(|line| line.name.width()).max().unwrap_or(0).min(width / 3);
    let scenarios = glance.scenarios.iter().map(|line| scenario(line, name, width, ink)).collect();
    // What needs somebody's eye first.
    let mut thresholds: Vec<&ThresholdLine> = glance.thresholds.iter().collect();
    thresholds.sort_by(|a, b| a.ok.cmp(&b.ok).then(margin(a).total_cmp(&margin(b))));
    let thresholds = thresholds.into_iter().map(|line| threshold(line, width, ink)).collect();
    let mut checks: Vec<&CheckLine> = glance.checks.iter().collect();
    checks.sort_by_key(|check| std::cmp::Reverse(check.fails));
    let checks = checks.into_iter().map(|line| check(line, width, ink)).collect();
    let errors = glance.errors.iter().map(|error| {
        let count = format!(" × {}", grouped(error.count));
        let what = cut(&visible(&error.what), width.saturating_sub(count.width()));
        Line::from(vec![Span::styled(what, ink.bad()), Span::styled(count, ink.plain())])
    });
    let log = log.iter().map(|line| Line::raw(cut(&visible(line), width))).collect();
    let part = |label, lines: Vec<Line<'static>>, most| Listed { label, lines, most, is_log: false };
    let all = [
        part("scenarios", scenarios, 8),
        part("thresholds", thresholds, 8),
        part("checks", checks, 6),
        part("errors", errors.collect(), 6),
        Listed { is_log: true, ..part("log", log, 6) },
    ];
    all.into_iter().filter(|part| !part.lines.is_empty()).collect()
}

/// Rows for each, not more than `budget` together.
pub fn deal(parts: &[Listed], budget: u16) -> Vec<u16> {
    let mut given = vec![0; parts.len()];
    let mut left = budget;
    while left > 0 {
        let before = left;
        for (part, rows) in parts.iter().zip(&mut given) {
            if left > 0 && *rows < part.most && usize::from(*rows) < part.lines.len() {
                *rows += 1;
                left -= 1;
            }
        }
        if left == before {
            break;
        }
    }
    given
}

fn margin(line: &ThresholdLine) -> f64 {
    line.margin.unwrap_or(f64::INFINITY)
}

fn scenario(line: &ScenarioLine, name: usize, width: usize, ink: Ink) -> Line<'static> {
    let shown = cut(&visible(&line.name), name);
    let fill = " ".repeat(name.saturating_sub(shown.width()));
    let bar = if width >= WITH_BARS { format!("{} ", bar(line.progress)) } else { String::new() };
    let (mark, style) = match line.ended {
        None => (" ", ink.plain()),
        Some(true) => ("✓", ink.good()),
        Some(false) => ("✗", ink.bad()),
    };
    let left = line.left.map(|left| format!("{} left  ", about(left))).unwrap_or_default();
    let percent = (line.progress.clamp(0.0, 1.0) * 100.0).floor();
    let text = format!(" {bar}{percent:>3.0}%  {left}{}", line.right);
    let text = cut(&text, width.saturating_sub(name + 2));
    Line::from(vec![Span::raw(format!("{shown}{fill} ")), Span::styled(mark, style), Span::raw(text)])
}

fn bar(progress: f64) -> String {
    let full = (progress.clamp(0.0, 1.0) * BAR as f64).round() as usize;
    format!("[{}{}]", "=".repeat(full), "-".repeat(BAR - full))
}

fn threshold(line: &ThresholdLine, width: usize, ink: Ink) -> Line<'static> {
    let (mark, style) = match (line.left.is_some(), line.ok) {
        (false, _) => ("·", ink.faint()),
        (true, true) => ("✓", ink.good()),
        (true, false) => ("✗", ink.bad()),
    };
    let mut text = format!(" {} {}", visible(&line.metric), visible(&line.source));
    match &line.left {
        Some(left) => text.push_str(&format!(": {left}")),
        None => text.push_str(": no samples yet"),
    }
    match line.margin {
        Some(margin) if margin < 0.0 => text.push_str(&format!(", beyond it by {}", rough(-margin))),
        Some(margin) => text.push_str(&format!(", margin {}", rough(margin))),
        None => {}
    }
    Line::from(vec![Span::styled(mark, style), Span::raw(cut(&text, width.saturating_sub(1)))])
}

fn rough(share: f64) -> String {
    percent(share, if share < 0.1 { 2 } else { 0 })
}

fn check(line: &CheckLine, width: usize, ink: Ink) -> Line<'static> {
    let (mark, style) = if line.fails == 0 { ("✓", ink.good()) } else { ("✗", ink.bad()) };
    let all = line.passes + line.fails;
    let failed = if line.fails == 0 { String::new() } else { format!(", {} failed", grouped(line.fails)) };
    let figures = format!(": {} of {}{failed}", share(line.passes, all), grouped(all));
    let name = cut(&visible(&line.name), width.saturating_sub(figures.width() + 2));
    Line::from(vec![Span::styled(mark, style), Span::raw(format!(" {name}{figures}"))])
}
