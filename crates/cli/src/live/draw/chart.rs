//! The chart of one metric over time. Percentiles lie above each other, so their order tells them apart where colours
//! do not; their names and last values stand above in that order.

use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::symbols::Marker;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Axis, Chart, Dataset, GraphType, Widget};
use unicode_width::UnicodeWidthStr;
use units::show::{about, bytes, number, percent, rounded, time};

use super::ink::Ink;
use super::text::cut;
use crate::live::{Scene, Track};

/// Draws the chart that the view chose.
pub fn draw(scene: &Scene, ink: Ink, area: Rect, buffer: &mut Buffer) {
    let tracks = &scene.history.tracks;
    let Some(index) = scene.view.metric.checked_rem(tracks.len()) else { return };
    let track = &tracks[index];
    let place = format!("{} of {} ", index + 1, tracks.len());
    title(track, &place, ink, Rect { height: 1, ..area }, buffer);
    let below = Rect { y: area.y + 1, height: area.height - 1, ..area };
    lines(track, ink, below, buffer);
}

fn title(track: &Track, place: &str, ink: Ink, area: Rect, buffer: &mut Buffer) {
    let room = usize::from(area.width).saturating_sub(place.len() + 2);
    let mut spans = vec![Span::styled(format!(" {}", cut(&track.name, room / 2)), ink.strong())];
    let mut used = spans[0].width();
    // A figure that does not fit is left out: half of it would be another one.
    let mut add = |text: String, style| {
        used += text.width();
        if used <= room {
            spans.push(Span::styled(text, style));
        }
    };
    for (number, (label, line)) in track.labels.iter().zip(&track.lines).enumerate() {
        let value = line.last().map(|value| shown(*value, track.unit)).unwrap_or_default();
        let text = if track.lines.len() > 1 { format!("  {label} {value}") } else { format!("  {value}") };
        add(text, ink.line(number));
    }
    if track.every > 1 {
        add(format!("  (points of {}s)", track.every), ink.faint());
    }
    Line::from(spans).render(Rect { width: room as u16, ..area }, buffer);
    Line::styled(place, ink.faint()).right_aligned().render(area, buffer);
}

fn lines(track: &Track, ink: Ink, area: Rect, buffer: &mut Buffer) {
    let top = track.top() * 1.05;
    let top = if top > 0.0 { top } else { 1.0 };
    let (from, to) = (track.at_s.first().copied().unwrap_or(0.0), track.at_s.last().copied().unwrap_or(0.0));
    let to = to.max(from + 1.0);
    let points: Vec<Vec<(f64, f64)>> =
        track.lines.iter().map(|line| track.at_s.iter().copied().zip(line.iter().copied()).collect()).collect();
    let sets = points.iter().enumerate().map(|(number, points)| {
        let kind = if points.len() > 1 { GraphType::Line } else { GraphType::Scatter };
        Dataset::default().marker(Marker::Braille).graph_type(kind).style(ink.line(number)).data(points)
    });
    let second = |at: f64| about(Duration::from_secs_f64(at.max(0.0)));
    let y = Axis::default().bounds([0.0, top]).style(ink.faint());
    let y = y.labels([String::from("0"), shown(top / 2.0, track.unit), shown(top, track.unit)]);
    let x = Axis::default().bounds([from, to]).labels([second(from), second(to)]).style(ink.faint());
    // A short window has room for the lines alone.
    let x = if area.height >= 6 { x } else { Axis::default().bounds([from, to]).style(ink.faint()) };
    // Without the names of lines, which stand above.
    Chart::new(sets.collect()).x_axis(x).y_axis(y).legend_position(None).render(area, buffer);
}

/// A value as people read it.
fn shown(value: f64, unit: &str) -> String {
    match unit {
        "ms" => time(value),
        "%" => percent(value / 100.0, 2),
        "B/s" => format!("{}/s", bytes(value)),
        "B" => bytes(value),
        "/s" => format!("{}/s", rounded(value)),
        _ if value.fract() == 0.0 => number(value),
        _ => rounded(value),
    }
}
