//! What the screen shows at one moment: a glance, the past, and what somebody has pressed. Pure: a key changes a view,
//! and `draw` makes a window of a scene. The test itself knows nothing of either.

use std::sync::Arc;

use super::glance::Glance;
use super::history::History;

/// Everything that is drawn, but for the lines of the log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scene {
    /// The script or URL.
    pub title: String,
    /// The run.
    pub glance: Arc<Glance>,
    /// Its past.
    pub history: Arc<History>,
    /// What somebody has pressed.
    pub view: View,
    /// Whether it has colours.
    pub color: bool,
}

/// What keys have changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// Which chart, counted from 0; beyond the last it starts again.
    pub metric: usize,
    /// The picture stands still; the test goes on.
    pub is_paused: bool,
    /// The keys are explained.
    pub shows_help: bool,
    /// Somebody has ended the test from here.
    pub is_stopping: bool,
}

/// What a key means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// Hold the picture, or let it go on.
    Pause,
    /// The next chart.
    Next,
    /// The chart before.
    Previous,
    /// End the test gently.
    Stop,
    /// Back to the plain progress.
    Leave,
    /// Explain the keys, or stop explaining.
    Help,
}

/// Each key with what it does, for the help of the screen and the reference.
pub const KEYS: [(&str, &str); 5] = [
    ("p, space", "hold the picture; the test goes on"),
    ("Tab, arrows", "show another metric"),
    ("s", "stop the test gently, as the first Ctrl-C does"),
    ("q", "leave the screen; the plain progress takes its place"),
    ("?", "show or hide this help"),
];

impl View {
    /// After a key, where there are `charts` to choose from.
    #[must_use]
    pub fn pressed(self, key: Key, charts: usize) -> View {
        let charts = charts.max(1);
        match key {
            Key::Pause => View { is_paused: !self.is_paused, ..self },
            Key::Next => View { metric: (self.metric + 1) % charts, ..self },
            Key::Previous => View { metric: (self.metric % charts + charts - 1) % charts, ..self },
            Key::Stop => View { is_stopping: true, ..self },
            Key::Help => View { shows_help: !self.shows_help, ..self },
            Key::Leave => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charts_go_round() {
        let view = View::default();
        assert_eq!(view.pressed(Key::Previous, 3).metric, 2);
        assert_eq!(view.pressed(Key::Next, 3).pressed(Key::Next, 3).pressed(Key::Next, 3), view);
        assert_eq!(view.pressed(Key::Next, 0), view, "nothing to choose from");
        assert!(view.pressed(Key::Pause, 1).is_paused && view.pressed(Key::Help, 1).shows_help);
    }
}
