//! The picture of a running test that is below everything else on a terminal: a headline and a line per scenario.
//!
//! Pure text from plain values. On a terminal the picture fits the window: bars shrink first, then long words go, then
//! lines are cut.

use unicode_width::UnicodeWidthStr;
use units::show::clock;

use crate::live::{Glance, ScenarioLine, cut};

/// What is below everything else on a terminal.
#[derive(Clone, Debug, PartialEq)]
pub enum Live {
    /// A line.
    Line(String),
    /// The progress of a test, and whether it has colours.
    Picture(Box<Glance>, bool),
}

/// A line of the picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// Its characters.
    pub plain: String,
    /// Where the tick is that is shown in green.
    tick: Option<usize>,
}

/// Cells of a bar where there is room.
const BAR: usize = 34;
/// A bar of fewer cells tells nothing.
const LEAST_BAR: usize = 8;
/// Columns around a bar's cells: ` ✓ [`, and `] 100%  `.
const AROUND_BAR: usize = 12;

impl Live {
    /// The lines as they fit a window of this size.
    pub fn lines(&self, columns: usize, rows: usize) -> Vec<Row> {
        // A line that ends in the last column wraps on some terminals.
        let columns = columns.saturating_sub(1).max(1);
        match self {
            Live::Line(text) => vec![Row { plain: cut(text, columns), tick: None }],
            Live::Picture(picture, color) => fitting(picture, *color, columns, rows.saturating_sub(2).max(1)),
        }
    }
}

impl Row {
    /// With its colour.
    pub fn shown(&self) -> String {
        match self.tick {
            Some(at) => {
                let (before, after) = self.plain.split_at(at);
                format!("{before}\x1b[32m✓\x1b[0m{}", &after["✓".len()..])
            }
            None => self.plain.clone(),
        }
    }
}

/// The picture as text for a file or a pipe, without the last newline: a line while the test runs, at its end one for
/// each scenario too.
pub fn draw(picture: &Glance) -> String {
    let mut text = headline(picture);
    if let Some(pace) = &picture.pace {
        text.push_str(&format!("; {pace}"));
    }
    if !picture.is_last() {
        return text;
    }
    let width = picture.scenarios.iter().map(|s| s.name.width()).max().unwrap_or(0);
    for line in &picture.scenarios {
        text.push('\n');
        text.push_str(&scenario(line, width, BAR).plain);
    }
    text
}

/// The picture for a window of this many columns, on this many rows at most.
fn fitting(picture: &Glance, color: bool, columns: usize, rows: usize) -> Vec<Row> {
    let widest = |of: fn(&ScenarioLine) -> usize| picture.scenarios.iter().map(of).max().unwrap_or(0);
    let (name, right) = (widest(|line| line.name.width()).min(columns / 3), widest(|line| line.right.width()));
    let room = columns.saturating_sub(name + AROUND_BAR + right).min(BAR);
    let cells = if room < LEAST_BAR { 0 } else { room };
    let head = [headline(picture), short_headline(picture)].into_iter().find(|text| text.width() <= columns);
    let head = head.unwrap_or_else(|| cut(&short_headline(picture), columns));
    let row = |line: &ScenarioLine| {
        let Row { plain, tick } = scenario(line, name, cells);
        Row { plain: cut(&plain, columns), tick: tick.filter(|_| color) }
    };
    let pace = picture.pace.as_ref().filter(|_| rows > 1);
    let rows = rows - usize::from(pace.is_some());
    let pace = pace.map(|pace| Row { plain: cut(&format!("{:name$}   {pace}", ""), columns), tick: None });
    let all = picture.scenarios.len();
    let shown = if all <= rows { all } else { rows.saturating_sub(1) };
    let more = (shown < all).then(|| format!("… and {} more scenarios", all - shown));
    let more = more.map(|text| Row { plain: cut(&text, columns), tick: None });
    let lines = picture.scenarios[..shown].iter().map(row);
    std::iter::once(Row { plain: head, tick: None }).chain(lines).chain(more).chain(pace).collect()
}

fn headline(picture: &Glance) -> String {
    let Glance { what, users, iterations, .. } = picture;
    let (elapsed, active, total) = (clock(picture.elapsed), users.active, users.total);
    let (complete, interrupted) = (iterations.complete, iterations.interrupted);
    format!("{what} ({elapsed}), {active}/{total} VUs, {complete} complete and {interrupted} interrupted iterations")
}

fn short_headline(picture: &Glance) -> String {
    let Glance { what, users, iterations, .. } = picture;
    let (elapsed, active, total) = (clock(picture.elapsed), users.active, users.total);
    let (complete, interrupted) = (iterations.complete, iterations.interrupted);
    format!("{what} ({elapsed}), {active}/{total} VUs, {complete} complete, {interrupted} interrupted")
}

/// `name ✓ [====>----]  42%  2 VUs`; without cells there is no bar.
fn scenario(line: &ScenarioLine, width: usize, cells: usize) -> Row {
    let name = cut(&line.name, width);
    let mark = match line.ended {
        None => " ",
        Some(true) => "✓",
        Some(false) => "✗",
    };
    let before = format!("{name}{} ", " ".repeat(width.saturating_sub(name.width())));
    let tick = (line.ended == Some(true)).then_some(before.len());
    Row { plain: format!("{before}{mark} {} {}", bar(line.progress, cells), line.right), tick }
}

/// `[=====>-----]  42% `, as wide as where there is room.
pub fn full_bar(progress: f64) -> String {
    bar(progress, BAR)
}

fn bar(progress: f64, width: usize) -> String {
    let share = progress.clamp(0.0, 1.0);
    let label = format!("{:>3.0}% ", (share * 100.0).floor());
    if width == 0 {
        return label;
    }
    let full = (share * width as f64).round() as usize;
    let cells: String = (0..width)
        .map(|i| match i {
            i if i + 1 == full && full < width => '>',
            i if i < full => '=',
            _ => '-',
        })
        .collect();
    format!("[{cells}] {label}")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::live::{IterationCounts, Pace, UserCounts};

    fn picture() -> Glance {
        let line = |name: &str, progress, ended| ScenarioLine {
            name: name.into(),
            progress,
            right: "2 VUs".into(),
            ended,
            ..ScenarioLine::default()
        };
        Glance {
            what: "running",
            elapsed: Duration::from_millis(1500),
            users: UserCounts { active: 2, total: 4 },
            iterations: IterationCounts { complete: 9, ..IterationCounts::default() },
            scenarios: vec![line("a", 0.5, None), line("long", 1.0, Some(true))],
            ..Glance::default()
        }
    }

    fn shown(picture: Glance, columns: usize, rows: usize) -> String {
        let rows = Live::Picture(Box::new(picture), false).lines(columns, rows);
        rows.iter().map(|row| format!("{}\n", row.shown())).collect()
    }

    #[test]
    fn the_picture_has_a_line_per_scenario() {
        let expected = "running (01.5s), 2/4 VUs, 9 complete and 0 interrupted iterations\n\
             a      [================>-----------------]  50%  2 VUs\n\
             long ✓ [==================================] 100%  2 VUs";
        let mut last = picture();
        last.scenarios.iter_mut().for_each(|line| line.ended = Some(true));
        assert_eq!(draw(&last), expected.replace("a      [", "a    ✓ ["));
        assert_eq!(shown(picture(), 80, 24), format!("{expected}\n"));
        let green = Live::Picture(Box::new(picture()), true).lines(80, 24);
        assert!(green[2].shown().starts_with("long \x1b[32m✓\x1b[0m [="), "{:?}", green[2].shown());
    }

    #[test]
    fn the_pace_is_below_on_a_terminal_and_behind_in_a_log() {
        let with_pace = Glance {
            pace: Some(Pace { what: "requests", per_second: 12.0, percentiles: [1.0, 4.0, 5.0], failed: None }),
            ..picture()
        };
        let headline = "running (01.5s), 2/4 VUs, 9 complete and 0 interrupted iterations";
        assert_eq!(draw(&with_pace), format!("{headline}; 12 requests/s, p(95) 4ms"));
        assert_eq!(draw(&picture()), headline);
        let rows = shown(with_pace.clone(), 80, 24);
        assert_eq!(rows.lines().last(), Some("       12 requests/s, p(95) 4ms"), "{rows}");
        let low = shown(with_pace, 80, 3);
        assert!(!low.contains("requests/s"), "{low}");
    }

    #[test]
    fn a_narrow_window_takes_from_the_bar_then_from_words() {
        assert_eq!(
            shown(picture(), 40, 24),
            "running (01.5s), 2/4 VUs, 9 complete, …\n\
             a      [========>---------]  50%  2 VUs\n\
             long ✓ [==================] 100%  2 VUs\n"
        );
        assert_eq!(
            shown(picture(), 25, 24),
            "running (01.5s), 2/4 VU…\n\
             a       50%  2 VUs\n\
             long ✓ 100%  2 VUs\n"
        );
    }

    #[test]
    fn a_low_window_shows_as_many_scenarios_as_it_has_rows() {
        let mut many = picture();
        many.scenarios = (0..9).map(|n| ScenarioLine { name: format!("s{n}"), ..many.scenarios[0].clone() }).collect();
        let text = shown(many, 80, 6);
        assert_eq!(text.lines().count(), 5, "{text}");
        assert!(text.ends_with("… and 6 more scenarios\n"), "{text}");
    }
}
