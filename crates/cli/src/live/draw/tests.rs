//! The screen as rows of text, at the sizes that windows have: goldens in `golden/`, written anew with ONRUSH_BLESS=1.

use std::sync::Arc;
use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::style::Color;

use super::draw;
use crate::live::*;

fn second(s: u64) -> Glance {
    let share = s as f64 / 60.0;
    let p50 = 20.0 + 10.0 * (s as f64 / 5.0).sin();
    let chart = |name: &str, unit, lines| Chart { name: name.into(), unit, lines };
    let scenario = |name: &str, progress: f64, right: &str, ended: Option<bool>| ScenarioLine {
        name: name.into(),
        progress,
        right: right.into(),
        left: ended.is_none().then(|| Duration::from_secs(60 - s)),
        ended,
    };
    let doubt = Doubt { title: "late starts".into(), figure: "12 ms".into(), advice: String::new() };
    Glance {
        what: "running",
        elapsed: Duration::from_secs(s),
        left: Some(Duration::from_secs(60 - s)),
        users: UserCounts { active: 48, total: 50 },
        iterations: IterationCounts { complete: 1234 * s, interrupted: 0, dropped: 7 },
        requests: RequestCounts { count: 2468 * s, failed: 12 },
        pace: Some(Pace { what: "requests", per_second: 2468.4, percentiles: [p50, 48.0, 120.5], failed: Some(0.001) }),
        charts: vec![
            chart("http_req_duration", "ms", vec![("p99", 4.0 * p50), ("p95", 2.0 * p50), ("p50", p50)]),
            chart("http_reqs", "/s", vec![("rate", 2000.0 + 1000.0 * share)]),
            chart("data_received", "B/s", vec![("rate", 2e6)]),
        ],
        errors: [("dial: connection refused", 9), ("status 503", 3)]
            .map(|(what, count)| ErrorLine { what: what.into(), count })
            .into(),
        checks: [("status is 200", 99, 1), ("has a\u{1b}[31m body", 100, 0)]
            .map(|(name, passes, fails)| CheckLine { name: name.into(), passes, fails })
            .into(),
        thresholds: vec![
            threshold("http_req_duration", "p(95)<500", Some("48ms"), true, Some(0.904)),
            threshold("checks", "rate>0.995", Some("99.50 %"), false, Some(-0.0003)),
            threshold("mine{page:home}", "count>0", None, true, None),
        ],
        trust: Some(Trust { now: Word::Suspect, doubts: vec![doubt], suspect_s: 3, invalid_s: 1 }),
        scenarios: vec![
            scenario("browse", share, "50 VUs  24.0s/1m0s", None),
            scenario("a scenario whose name is long", 1.0, "1 VUs  02.0s/1m0s  5/5 shared iters", Some(true)),
        ],
    }
}

fn threshold(metric: &str, source: &str, left: Option<&str>, ok: bool, margin: Option<f64>) -> ThresholdLine {
    ThresholdLine { metric: metric.into(), source: source.into(), left: left.map(str::to_owned), ok, margin }
}

fn scene(seconds: u64) -> Scene {
    let mut history = History::default();
    (1..=seconds).for_each(|s| history.add(&second(s)));
    Scene {
        title: "checkout.js".into(),
        glance: Arc::new(second(seconds)),
        history: Arc::new(history),
        ..Scene::default()
    }
}

fn log() -> Vec<String> {
    let line = |n: usize| {
        format!("INFO[{n:04}] bought item {n}, and what follows is longer than most windows are wide, I think")
    };
    (1..=30).map(line).collect()
}

fn text(buffer: &Buffer) -> String {
    let width = usize::from(buffer.area.width);
    let row = |cells: &[ratatui::buffer::Cell]| {
        let row: String = cells.iter().map(ratatui::buffer::Cell::symbol).collect();
        row.trim_end().to_owned() + "\n"
    };
    buffer.content.chunks(width).map(row).collect()
}

fn golden(name: &str, buffer: &Buffer) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/live/draw/golden").join(name);
    let found = text(buffer);
    if std::env::var_os("ONRUSH_BLESS").is_some() {
        std::fs::write(&path, &found).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(found, expected, "{name}; after a change on purpose ONRUSH_BLESS=1 writes it");
}

#[test]
fn windows_of_the_usual_sizes() {
    for (columns, rows) in [(80, 24), (120, 40), (60, 16), (20, 5)] {
        golden(&format!("{columns}x{rows}.txt"), &draw(&scene(24), &log(), columns, rows));
    }
}

#[test]
fn a_paused_picture_with_help_and_another_metric() {
    let mut scene = scene(24);
    scene.view = scene.view.pressed(Key::Next, 3).pressed(Key::Pause, 3).pressed(Key::Help, 3);
    golden("help.txt", &draw(&scene, &log(), 80, 24));
}

#[test]
fn a_fleet_and_an_empty_run() {
    let glance = Glance {
        what: "running",
        scenarios: second(24).scenarios,
        elapsed: Duration::from_secs(1),
        ..Glance::default()
    };
    let scene = Scene { title: "x".into(), glance: Arc::new(glance), ..Scene::default() };
    golden("fleet.txt", &draw(&scene, &[], 80, 24));
}

/// Signs and words alone tell what colours repeat.
#[test]
fn without_colours_the_same_is_said() {
    let plain = draw(&scene(24), &log(), 80, 24);
    let colors = |buffer: &Buffer| {
        buffer.content.iter().filter(|cell| cell.fg != Color::Reset || cell.bg != Color::Reset).count()
    };
    assert_eq!(colors(&plain), 0);
    let colored = draw(&Scene { color: true, ..scene(24) }, &log(), 80, 24);
    assert!(colors(&colored) > 0);
    assert_eq!(text(&plain), text(&colored));
}

#[test]
fn no_size_and_no_text_breaks_it() {
    for columns in [1, 2, 3, 7, 12, 13, 39, 40, 41, 60, 200] {
        for rows in [1, 2, 3, 7, 8, 9, 10, 11, 12, 50] {
            for seconds in [1, 2, 60] {
                let mut scene = scene(seconds);
                scene.title = "日本語🎉".repeat(9);
                scene.view.shows_help = true;
                let buffer = draw(&scene, &log(), columns, rows);
                assert_eq!((buffer.area.width, buffer.area.height), (columns, rows));
            }
        }
    }
}
