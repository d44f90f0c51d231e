//! Who watches a run: the screen on a terminal, and the page. Both get the same glance once a second, with the past of
//! its charts; neither can hold the test up, because both take what there is when they have time.

mod page;
mod screen;

use std::sync::Arc;

use crate::live::{Glance, History};

pub use page::WebPage;
pub use screen::{LiveScreen, Wanted};

/// Those of this run.
#[derive(Default)]
pub struct Viewers {
    history: Arc<History>,
    screen: Option<LiveScreen>,
    page: Option<Arc<WebPage>>,
}

impl Viewers {
    /// With a screen and a page, or without.
    pub fn new(screen: Option<LiveScreen>, page: Option<Arc<WebPage>>) -> Viewers {
        Viewers { history: Arc::default(), screen, page }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.screen.is_none() && self.page.is_none()
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
        if let Some(page) = &self.page {
            page.show(&glance, &self.history);
        }
    }

    /// The scenarios have ended: the terminal is needed for the summary.
    pub fn close(&mut self) {
        self.screen.take().iter().for_each(LiveScreen::close);
        self.page.iter().for_each(|page| page.close());
    }
}
