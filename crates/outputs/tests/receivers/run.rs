//! A small run without an engine: outputs, a recorder, samples whose sums a test knows.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use metrics::{Contains, Kind, MetricId, Recorder, Registry, SystemTags, TagSet, ThresholdSpecs, builtin};
use onrush_outputs::{Outputs, Setup};

/// The beginning of its time, in nanoseconds since 1970.
pub const BEGIN: u64 = 1_795_440_196_000_000_000;

/// What was lost, and what was told before.
pub type End = (Vec<String>, Vec<String>);

/// A run with one output.
pub struct Run {
    outputs: Outputs,
    pub recorder: Recorder,
    pub registry: Arc<Registry>,
    told: Arc<Mutex<Vec<String>>>,
}

impl Run {
    /// With this output and these variables.
    pub fn start(output: &str, env: &[(&str, &str)]) -> Run {
        let env: BTreeMap<String, String> = env.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let (registry, told) = (Registry::new(), Arc::new(Mutex::new(Vec::new())));
        let log = told.clone();
        let setup = Setup {
            registry: registry.clone(),
            thresholds: &ThresholdSpecs::new(),
            system_tags: SystemTags::default(),
            env: &env,
            stdout: &|| unreachable!("no output here writes there"),
            tell: Arc::new(move |text| log.lock().unwrap().push(text.to_owned())),
        };
        let outputs = Outputs::open(&[output.to_owned()], &setup).unwrap_or_else(|error| panic!("{error}"));
        let recorder = Recorder::new(registry.clone());
        outputs.tap()(&recorder);
        Run { outputs, recorder, registry, told }
    }

    /// A metric of the test's own.
    pub fn define(&self, name: &str, kind: Kind, contains: Contains) -> MetricId {
        self.registry.define(name, kind, contains).unwrap()
    }

    /// Adds samples, a second after each other.
    pub fn add(&self, metric: MetricId, tags: &[(&str, &str)], values: &[f64]) {
        let series = self.recorder.series(metric, &TagSet::new(tags.iter().copied()));
        for (second, value) in (0..).zip(values) {
            self.recorder.add(series, *value, BEGIN + second * 1_000_000_000);
        }
    }

    /// One of each kind.
    pub fn add_all_kinds(&self) {
        self.add(builtin::HTTP_REQS, &[("url", "/a b"), ("group", ""), ("status", "200")], &[1.0, 1.0, 1.0]);
        self.add(builtin::HTTP_REQ_DURATION, &[("url", "/a b"), ("group", "")], &[7.0, 0.0, 2.5, 300.0]);
        self.add(builtin::VUS, &[], &[3.0, 5.0, 4.0]);
        self.add(builtin::CHECKS, &[("check", "is, \"200\"")], &[1.0, 1.0, 0.0, 1.0]);
        self.add(builtin::DATA_SENT, &[], &[100.0, 20.5]);
    }

    /// Ends the run; what was lost, and what was told before.
    pub fn finish(self) -> End {
        self.ending()()
    }

    /// The same, for a thread that can wait for it.
    pub fn ending(self) -> impl FnOnce() -> End + Send {
        let Run { outputs, recorder, told, .. } = self;
        recorder.take();
        move || {
            let lost = outputs.finish();
            (lost, told.lock().unwrap().clone())
        }
    }
}
