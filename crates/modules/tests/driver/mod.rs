//! A tiny engine: loads a script from text, makes users and runs their iterations, and keeps what was logged.
#![allow(dead_code, clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use engine::clock::AnyClock;
use engine::scenario::ScenarioInfo;
use engine::{Interrupt, Iteration, IterationEnd, Users, VirtualUser, VuContext};
use metrics::{Recorder, Registry};
use script::log::{Level, LogSink, Record};
use script::{LoadOptions, Program, ScriptError, ScriptUser, ScriptUsers, Source};

/// Keeps `level message` of each line.
#[derive(Default)]
pub struct Lines(Mutex<Vec<String>>);

impl LogSink for Lines {
    fn log(&self, record: &Record<'_>) {
        let level = if record.level == Level::Info { "" } else { record.level.as_str() };
        self.0.lock().unwrap().push(format!("{level} {}", record.message).trim_start().to_string());
    }
}

impl Lines {
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// The folder of a built-in module: `k6/net/grpc` lives in `modules/grpc`, `onrush/http` beside `k6/http`,
/// `k6/experimental/fs` in `modules/experimental/fs`.
pub fn folder(module: &str) -> PathBuf {
    let noun = match module {
        "onrush/data" => "onrush_data",
        "onrush/fs" => "onrush_fs",
        "onrush/http" => "onrush_http",
        library if library.starts_with("https://jslib.k6.io/formdata/") => "form_data",
        library if library.starts_with("https://jslib.k6.io/url/") => "url_library",
        trial if trial.starts_with("k6/experimental/") => trial.trim_start_matches("k6/"),
        name => name.rsplit('/').next().expect("rsplit yields at least one part"),
    };
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src").join(noun)
}

/// A loaded program with its log and metrics.
pub struct Test {
    pub program: Program,
    pub log: Arc<Lines>,
    pub recorder: Rc<Recorder>,
}

pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = wire::event_loop().unwrap();
    runtime.block_on(async { tokio::time::timeout(Duration::from_secs(30), future).await.expect("the test hangs") })
}

pub async fn load_source(source: Source, cwd: PathBuf) -> (Result<Program, ScriptError>, Arc<Lines>, Rc<Recorder>) {
    let log = Arc::new(Lines::default());
    let registry = Registry::new();
    let recorder = Rc::new(Recorder::new(registry.clone()));
    let options = LoadOptions {
        env: BTreeMap::from([("KEY".into(), "value".into())]),
        cwd,
        cache_dir: None,
        is_offline: false,
        options: script::options::Options::default(),
        log: log.clone(),
        registry,
        recorder: recorder.clone(),
        builtins: &onrush_modules::BUILTINS,
        secrets: Default::default(),
        debugger: None,
    };
    (Program::load(source, options).await, log, recorder)
}

pub async fn try_load(script: &str) -> Result<Test, ScriptError> {
    let source = Source::Text { name: "script.js".into(), text: script.into() };
    let (program, log, recorder) = load_source(source, PathBuf::from("/")).await;
    program.map(|program| Test { program, log, recorder })
}

pub async fn load(script: &str) -> Test {
    try_load(script).await.unwrap_or_else(|error| panic!("{error}\n{}", error.stack))
}

pub fn seat(id: u64, recorder: &Rc<Recorder>) -> VuContext {
    let outside = VuContext::outside(recorder.clone(), Arc::default(), AnyClock::real());
    VuContext { id_in_instance: id, id_in_test: id, ..outside }
}

pub fn scenario(exec: &str) -> Rc<ScenarioInfo> {
    Rc::new(facts(exec))
}

/// One whose iterations begin when a plan says so.
pub fn on_schedule() -> Rc<ScenarioInfo> {
    Rc::new(ScenarioInfo { is_planned: true, ..facts("default") })
}

fn facts(exec: &str) -> ScenarioInfo {
    ScenarioInfo {
        index: 0,
        name: "default".into(),
        executor: "per-vu-iterations",
        exec: exec.into(),
        env: BTreeMap::new(),
        tags: BTreeMap::new(),
        started: Duration::ZERO,
        is_planned: false,
        share: engine::scenario::WorkerShare::ALL,
    }
}

pub fn iteration(scenario: &Rc<ScenarioInfo>, number: u64) -> Iteration {
    Iteration { scenario: scenario.clone(), in_scenario: number, number: Some(number), planned: Duration::ZERO }
}

impl Test {
    pub async fn user(&self, id: u64) -> (ScriptUser, Rc<Interrupt>) {
        let seat = seat(id, &self.recorder);
        let interrupt = seat.interrupt.clone();
        let user = ScriptUsers::new(&self.program).create(seat).await;
        (user.unwrap_or_else(|error| panic!("{}", error.message)), interrupt)
    }

    /// One user, `count` iterations; what was logged meanwhile.
    pub async fn run(&self, count: u64) -> Vec<String> {
        let (mut user, _) = self.user(1).await;
        self.log.take();
        let scenario = scenario("default");
        for number in 0..count {
            let end = user.iterate(iteration(&scenario, number)).await;
            assert_eq!(end, IterationEnd::Completed);
        }
        self.log.take()
    }
}

/// Runs a script's default function once and returns what it logged.
pub fn run_script(script: &str) -> Vec<String> {
    block_on(async { load(script).await.run(1).await })
}
