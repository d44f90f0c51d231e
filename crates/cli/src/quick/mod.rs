//! Quick mode: a URL instead of a script. `onrush run URL` and `onrush curl …` become a script that is run like any
//! other.
//!
//! Nothing but the script differs: same engine, same options, same summary, with a headline above it.

mod failures;
mod headline;
mod help;
pub(crate) mod recognise;
pub mod script;
mod traffic;

use std::sync::{Arc, OnceLock};

use ::script::Source;
use ::script::log::{Level, LogSink};
use metrics::results::Results;
use metrics::{Registry, builtin};
use report::errors::{Errors, times};

use self::headline::Headline;
use self::traffic::Traffic;
use crate::log::Logger;

pub use help::{HELP, curl_command};
pub use recognise::{Recognised, recognise};

/// A run without a script of the user's.
#[derive(Debug)]
pub struct Quick {
    /// The script.
    pub text: String,
    /// What is said before the run.
    notes: Vec<String>,
    unheard: Vec<&'static str>,
    scheduled: bool,
    failures: OnceLock<Arc<failures::Failures>>,
}

impl Quick {
    fn new(text: String, notes: Vec<String>, traffic: &Traffic) -> Quick {
        let (unheard, scheduled) = (traffic.unheard(), traffic.is_scheduled());
        Quick { text, notes, unheard, scheduled, failures: OnceLock::new() }
    }

    /// Has answers counted by status, and says what there is to say before the run.
    pub fn prepare(&self, registry: &Registry, log: &Logger) {
        registry.split(builtin::HTTP_REQS, &["status"]);
        self.notes.iter().for_each(|note| log.write(Level::Info, note, &[]));
    }

    /// The script; its relative paths start at the working directory, as the user's do.
    pub fn source(&self) -> Source {
        Source::Text { name: String::from("-"), text: self.text.clone() }
    }

    /// Where the script's log lines go.
    pub fn log(&self, log: &Arc<Logger>) -> Arc<dyn LogSink> {
        self.failures.get_or_init(|| Arc::new(failures::Failures::new(log.clone()))).clone()
    }

    /// Names of variables of the environment that flags of the command line have beaten.
    pub fn unheard(&self) -> &[&'static str] {
        &self.unheard
    }

    /// The lines above the summary.
    pub fn headline(&self, results: &Results) -> String {
        self.head(results).text()
    }

    /// Why a run that ended is no success: no request was made, or none got an answer below 400. Each
    /// iteration makes one request; its redirects are counted as requests too, and only the last of them can fail.
    pub fn failure(&self, results: &Results) -> Option<String> {
        let (errors, requests) = (Errors::from(results), results.count("http_reqs"));
        let (unanswered, refused) = (errors.without_answer(), errors.unexpected_answers());
        match (requests, unanswered + refused) {
            (0, _) => Some(String::from("no request was made: there is nothing to report")),
            (_, failed) if failed == 0 || failed < results.count("iterations") => None,
            (1, _) if unanswered == 1 => Some(String::from("the request got no answer")),
            (1, _) => Some(format!("the request failed: {}", errors.named_statuses(false))),
            (all, _) if unanswered == all => Some(format!("none of the {all} requests got an answer")),
            (_, failed) => {
                let unanswered = (unanswered > 0).then(|| format!("no answer {}", times(unanswered)));
                let statuses = Some(errors.named_statuses(false)).filter(|named| !named.is_empty());
                let named: Vec<String> = statuses.into_iter().chain(unanswered).collect();
                Some(format!("all {failed} requests failed: {}", named.join(", ")))
            }
        }
    }

    fn head<'a>(&self, results: &'a Results) -> Headline<'a> {
        let failures = self.failures.get().map(|failures| failures.counted()).unwrap_or_default();
        Headline::new(results, failures, self.scheduled)
    }
}
