//! Reads the journal of a probe while the probe writes it.
//!
//! A journal grows by a frame a second. It is opened anew each time and what was read before is passed over: a frame
//! that is half there is read whole the next time.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use journal::JournalReader;
use metrics::{Registry, ShardReader, Snapshot};
use serde_json::Value;
use units::Span;

/// A second of a probe.
pub struct Interval {
    /// Its end, from the start of the scenarios, in seconds.
    pub end: f64,
    /// How long it was.
    pub length: f64,
    /// What was measured.
    pub samples: Snapshot,
}

/// The journal of a probe.
pub struct Follower {
    folder: PathBuf,
    reader: ShardReader,
    read: usize,
    /// Iterations per second that were planned; none where users begin again when they have ended.
    planned_rate: Option<f64>,
}

impl Follower {
    /// Of the result in this folder.
    pub fn new(folder: PathBuf) -> Follower {
        Follower { folder, reader: ShardReader::default(), read: 0, planned_rate: None }
    }

    /// By whose names the samples are found.
    pub fn registry(&self) -> &Arc<Registry> {
        self.reader.registry()
    }

    /// Iterations per second of all scenarios, where all have an arrival rate.
    pub fn planned_rate(&self) -> Option<f64> {
        self.planned_rate
    }

    /// The seconds that have come since the last call. What cannot be read yet comes the next time.
    pub fn news(&mut self) -> Vec<Interval> {
        let Ok(Some((head, mut journal))) = JournalReader::open(&self.folder) else { return Vec::new() };
        if self.read == 0 {
            self.planned_rate = planned_rate(&head.options);
        }
        for _ in 0..self.read {
            if !matches!(journal.next_frame(), Ok(Some(_))) {
                return Vec::new();
            }
        }
        let mut news = Vec::new();
        while let Ok(Some(entry)) = journal.next_interval() {
            self.read += 1;
            let is_load = entry.times.is_load();
            let ((from, to), (start, _)) = (entry.times.interval(), entry.times.scenarios());
            let Ok(samples) = self.reader.snapshot(entry.samples) else { break };
            let seconds = |time: Duration, since: Duration| time.saturating_sub(since).as_secs_f64();
            if is_load {
                news.push(Interval { end: seconds(to, start), length: seconds(to, from), samples });
            }
        }
        news
    }
}

fn planned_rate(options: &Value) -> Option<f64> {
    let scenarios = options.get("scenarios")?.as_object()?;
    let rate = |scenario: &Value| {
        // What chance has planned is not known second by second.
        if scenario.get("arrivals").and_then(Value::as_str) == Some("poisson") {
            return None;
        }
        let unit = scenario.get("timeUnit").and_then(Value::as_str).unwrap_or("1s");
        let unit = Span::parse(unit).ok()?.to_duration()?.as_secs_f64();
        Some(scenario.get("rate")?.as_f64()? / unit)
    };
    scenarios.values().map(rate).sum()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_planned_rate_is_of_all_scenarios_or_of_none() {
        let open = |rate: u64| json!({ "executor": "constant-arrival-rate", "rate": rate, "timeUnit": "1m40s" });
        assert_eq!(planned_rate(&json!({ "scenarios": { "a": open(100), "b": open(250) } })), Some(3.5));
        let closed = json!({ "executor": "constant-vus", "vus": 5 });
        assert_eq!(planned_rate(&json!({ "scenarios": { "a": open(100), "b": closed } })), None);
    }
}
