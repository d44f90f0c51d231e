//! Outputs: where the samples of a run go while it runs, beside its summary. Files of JSON or CSV lines, databases.
//!
//! A worker writes its samples down in batches (`metrics::batches`) and leaves them in a queue; each output has a
//! thread that takes them out. Nothing here holds up a worker: when a queue is full, because a disk or a receiver is
//! slower than the test, samples are dropped, counted and told at the end.
//!
//! Memory is bounded by the queues (`feed::ROOM`) and the number of series, not by the number of samples.

mod catalog;
mod csv;
mod feed;
mod file;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod influxdb;
mod json;
mod list;
mod loki;
mod opentelemetry;
mod post;
mod prometheus;
mod proto;
mod push;
mod setup;
mod statsd;
mod tally;
mod text;
mod variables;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use metrics::Recorder;
use metrics::span::SpanSink;

use feed::{Feed, Running};
use opentelemetry::spans;
use opentelemetry::trace_settings::TraceSettings;

pub use loki::{LogLine, Loki};
pub use setup::{Setup, Tell};

/// An output that cannot be: what was found, what was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputError(pub String);

impl fmt::Display for OutputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for OutputError {}

/// The outputs of a run.
#[derive(Default)]
pub struct Outputs {
    running: Vec<Running>,
    /// Where spans go.
    traces: Option<Running>,
    sources: Arc<AtomicU32>,
    tell: Option<Tell>,
}

/// Whether one of these outputs, as `--out` names them, takes standard output.
pub fn take_stdout(wanted: &[String]) -> bool {
    wanted.iter().any(|text| {
        let (name, argument) = text.split_once('=').unwrap_or((text, ""));
        matches!((name, argument), ("json", "" | "-") | ("csv", "-" | "fileName=-"))
    })
}

/// Whether a line that `Outputs::finish` gave is about spans: without them all that was measured is there.
pub fn is_about_spans(line: &str) -> bool {
    line.strip_prefix("output ").is_some_and(|rest| rest.starts_with(spans::NAME))
}

/// The same output for one of many processes that may share a folder: a file has the number in front of its ending.
pub fn for_agent(wanted: &str, index: u32) -> String {
    let Some((name @ ("json" | "csv"), argument)) = wanted.split_once('=') else { return wanted.to_owned() };
    let numbered = |path: &str| {
        let name_at = path.rfind('/').map_or(0, |slash| slash + 1);
        match path[name_at..].find('.').filter(|dot| *dot > 0) {
            Some(dot) => format!("{}-{index}{}", &path[..name_at + dot], &path[name_at + dot..]),
            None => format!("{path}-{index}"),
        }
    };
    let part = |part: &str| match part.split_once('=') {
        Some(("fileName", path)) => format!("fileName={}", numbered(path)),
        None if !part.is_empty() => numbered(part),
        _ => part.to_owned(),
    };
    let argument: Vec<String> = argument.split(',').map(part).collect();
    format!("{name}={}", argument.join(","))
}

impl Outputs {
    /// Opens these outputs, `NAME` or `NAME=ARGUMENT` each, and starts their threads.
    pub fn open(wanted: &[String], setup: &Setup<'_>) -> Result<Outputs, OutputError> {
        let mut outputs = Outputs { tell: Some(setup.tell.clone()), ..Outputs::default() };
        for text in wanted {
            let (name, argument) = text.split_once('=').unwrap_or((text, ""));
            let running =
                list::open(name, argument, setup).map_err(|why| OutputError(format!("--out {text}: {why}")))?;
            outputs.running.push(running);
        }
        Ok(outputs)
    }

    /// Opens what `--traces-output` names, if it is something, and starts its thread.
    pub fn open_traces(&mut self, wanted: &str, setup: &Setup<'_>) -> Result<(), OutputError> {
        let settings = TraceSettings::read(wanted).map_err(OutputError)?;
        let fail = |why: String| OutputError(format!("--traces-output {wanted}: {why}"));
        self.traces = settings.map(|settings| spans::open(settings, setup)).transpose().map_err(fail)?;
        Ok(())
    }

    /// What takes spans, if something does.
    pub fn spans(&self) -> Option<Arc<dyn SpanSink>> {
        self.traces.as_ref().map(|running| running.feed.clone() as Arc<dyn SpanSink>)
    }

    /// Whether there are none that take samples.
    pub fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    /// What gives each recorder's samples to all outputs. To be called for a recorder before its first sample.
    pub fn tap(&self) -> impl Fn(&Recorder) + Send + Sync + 'static {
        let feeds: Arc<[Arc<Feed>]> = self.running.iter().map(|running| running.feed.clone()).collect();
        let sources = self.sources.clone();
        move |recorder| {
            let (source, feeds) = (sources.fetch_add(1, Ordering::Relaxed), feeds.clone());
            recorder.set_batches(Box::new(move |batch| {
                let batch = Arc::new(batch);
                feeds.iter().for_each(|feed| feed.put(source, &batch));
            }));
        }
    }

    /// Waits until all outputs have what came before this call, or no longer get on; what was lost, a line each.
    pub fn finish(self) -> Vec<String> {
        let Outputs { mut running, traces, tell, .. } = self;
        running.extend(traces);
        running.iter().for_each(|running| running.feed.end());
        let tell = |text: &str| tell.iter().for_each(|tell| tell(text));
        running.into_iter().flat_map(|running| running.finish(&tell)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::for_agent;

    #[test]
    fn files_of_agents_have_names_of_their_own() {
        for (wanted, own) in [
            ("json=samples.json", "json=samples-7.json"),
            ("json=out.d/samples", "json=out.d/samples-7"),
            ("csv=/tmp/x/samples.csv.gz", "csv=/tmp/x/samples-7.csv.gz"),
            ("csv=fileName=a.csv,saveInterval=2s", "csv=fileName=a-7.csv,saveInterval=2s"),
            ("json=.hidden", "json=.hidden-7"),
            ("statsd=localhost:8125", "statsd=localhost:8125"),
            ("opentelemetry", "opentelemetry"),
        ] {
            assert_eq!(for_agent(wanted, 7), own);
        }
    }
}
