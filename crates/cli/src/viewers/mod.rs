//! Who watches a run: the screen on a terminal, and the page. Both get the same glance once a second, with the past of
//! its charts; neither can hold the test up, because both take what there is when they have time.

mod screen;

use std::sync::Arc;

use crate::live::{Glance, History};

pub use screen::{LiveScreen, Wanted};

/// Those of this run.
#[derive(Default)]
pub struct Viewers {
    history: Arc<History>,
    screen: Option<LiveScreen>,
}

impl Viewers {
    /// With a screen, or without.
    pub fn new(screen: Option<LiveScreen>) -> Viewers {
        Viewers { history: Arc::default(), screen }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.screen.is_none()
    }

    /// Shows a second.
    pub fn show(&mut self, glance: &Glance) {
        if self.is_empty() {
            return;
        }
        Arc::make_mut(&mut self.history).add(glance);
        let glance = Arc::new(glance.clone());
        if let Some(screen) = &self.screen {
            screen.show(&glance, &self.history);
        }
    }

    /// The scenarios have ended: the terminal is needed for the summary.
    pub fn close(&mut self) {
        self.screen.take().iter().for_each(LiveScreen::close);
    }
}
