//! The screen of a running test: a scene and the last log lines become the cells of a window. Pure, and made for every
//! size: a small window shows fewer rows of each part, a tiny one a single line that fits.
//!
//! Colour only repeats what words and signs say.

mod chart;
mod ink;
mod lists;
#[cfg(test)]
mod tests;
mod text;

use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Paragraph, Widget};

use super::scene::{KEYS, Scene};
use ink::Ink;
use lists::Listed;
pub use text::cut;

/// A smaller window shows one line.
const LEAST_COLUMNS: u16 = 40;
const LEAST_ROWS: u16 = 8;
/// Columns of what a part is called.
const LABEL: u16 = 12;
/// Rows that the chart gets before lists get more than one each.
const CHART: u16 = 6;
/// A lower chart tells nothing.
const LEAST_CHART: u16 = 4;

/// The cells of a window of this size. `log`: the last lines, oldest first.
pub fn draw(scene: &Scene, log: &[String], columns: u16, rows: u16) -> Buffer {
    let area = Rect::new(0, 0, columns, rows);
    let mut buffer = Buffer::empty(area);
    let ink = Ink { color: scene.color };
    if columns < LEAST_COLUMNS || rows < LEAST_ROWS {
        buffer.set_stringn(0, 0, cut(&text::tiny(scene), usize::from(columns)), usize::from(columns), ink.plain());
        return buffer;
    }
    let constraints = [Constraint::Length(3), Constraint::Fill(1), Constraint::Length(1)];
    let [head, middle, foot] = Layout::vertical(constraints).areas(area);
    header(scene, ink, head, &mut buffer);
    body(scene, log, ink, middle, &mut buffer);
    footer(scene, ink, foot, &mut buffer);
    if scene.view.shows_help {
        help(ink, middle, &mut buffer);
    }
    buffer
}

fn header(scene: &Scene, ink: Ink, area: Rect, buffer: &mut Buffer) {
    let width = usize::from(area.width);
    let [first, second, third] = Layout::vertical([Constraint::Length(1); 3]).areas(area);
    let left = format!(" {}", text::headline(&scene.glance));
    let state = match scene.view {
        view if view.is_stopping => " STOPPING ",
        view if view.is_paused => " PAUSED ",
        _ => "",
    };
    let used = unicode_width::UnicodeWidthStr::width(left.as_str());
    let room = width.saturating_sub(used + state.len() + 2);
    let title = if room >= 8 { format!("{} ", cut(&scene.title, room)) } else { String::new() };
    Line::styled(cut(&left, width.saturating_sub(state.len())), ink.strong()).render(first, buffer);
    Line::from(vec![Span::styled(title, ink.faint()), Span::styled(state, ink.marked())])
        .right_aligned()
        .render(first, buffer);
    Line::styled(cut(&format!(" {}", text::pace(&scene.glance)), width), ink.strong()).render(second, buffer);
    text::trust(&scene.glance, ink, width).render(third, buffer);
}

fn body(scene: &Scene, log: &[String], ink: Ink, area: Rect, buffer: &mut Buffer) {
    let width = usize::from(area.width.saturating_sub(LABEL));
    let parts = lists::parts(&scene.glance, log, ink, width);
    let chart = if scene.history.tracks.is_empty() { 0 } else { CHART };
    let given = lists::deal(&parts, area.height.saturating_sub(chart));
    let used: u16 = given.iter().sum();
    let rest = if chart == 0 { 0 } else { area.height - used };
    let chart_area = Rect { height: rest, ..area };
    if rest >= LEAST_CHART {
        chart::draw(scene, ink, chart_area, buffer);
    }
    let mut y = area.y + rest;
    for (part, rows) in parts.iter().zip(given) {
        list(part, Rect { y, height: rows, ..area }, ink, buffer);
        y += rows;
    }
}

fn list(part: &Listed, area: Rect, ink: Ink, buffer: &mut Buffer) {
    if area.height == 0 {
        return;
    }
    Line::styled(format!(" {}", part.label), ink.faint()).render(Rect { width: LABEL, height: 1, ..area }, buffer);
    let right = Rect { x: area.x + LABEL, width: area.width - LABEL, ..area };
    for (row, line) in right.rows().zip(part.shown(usize::from(area.height))) {
        line.render(row, buffer);
    }
}

fn footer(scene: &Scene, ink: Ink, area: Rect, buffer: &mut Buffer) {
    let hold = if scene.view.is_paused { "go on" } else { "hold" };
    let keys = format!(" p {hold} · Tab metric · s stop the test · q leave · ? help");
    Line::styled(cut(&keys, usize::from(area.width)), ink.faint()).render(area, buffer);
}

fn help(ink: Ink, area: Rect, buffer: &mut Buffer) {
    let lines: Vec<Line<'_>> = KEYS.iter().map(|(key, what)| Line::raw(format!(" {key:<12} {what}"))).collect();
    let widest = lines.iter().map(Line::width).max().unwrap_or(0) as u16;
    let (width, height) = ((widest + 3).min(area.width), (lines.len() as u16 + 2).min(area.height));
    let x = area.x + (area.width - width) / 2;
    let y = area.y + (area.height - height) / 2;
    let place = Rect { x, y, width, height };
    Clear.render(place, buffer);
    Paragraph::new(lines).style(ink.plain()).block(Block::bordered().title(" keys ")).render(place, buffer);
}
