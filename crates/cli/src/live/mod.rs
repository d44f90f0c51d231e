//! What a person sees of a run while it goes on: one struct a second, `Glance`, made in one place
//! (`commands/run/drive/observer.rs`) and shown by everything that shows the run: the plain progress, the screen, the
//! page.
//!
//! Nothing here measures, and nothing here prints: figures come in, and rows, escape codes or JSON come out. No view
//! may hold the test up.

mod draw;
mod glance;
mod history;
mod scene;

pub use draw::{cut, draw};
pub use glance::{
    Chart, CheckLine, Doubt, ErrorLine, Glance, IterationCounts, Pace, RequestCounts, ScenarioLine, ThresholdLine,
    Trust, UserCounts, Word,
};
pub use history::{History, Track};
pub use scene::{Key, Scene};
