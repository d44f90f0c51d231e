//! A test script, loaded: the parts of its life that run once.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use host::{Phase, StopFlag};
use metrics::Recorder;

use crate::error::{ScriptError, exit_code};
use crate::message_sink::MessageSink;
use crate::options::Options;
use crate::paths;
use crate::referee::Referee;
use crate::shared::{LoadOptions, Shared, Source};
use crate::unstamped::Unstamped;
use crate::user::{self, CallError, Exported, Job, JobEnd, Returned, UserFiber, stuck};
use crate::vu::Role;
use crate::whole_test::test_clock::TestClock;
use crate::whole_test::test_mark::TestMark;
use crate::whole_test::traces::Traces;
use crate::worker::WorkerState;

/// A user that belongs to no scenario: the first run of the init code, setup, teardown, summary.
struct Guest {
    fiber: UserFiber,
    stop: Rc<StopFlag>,
}

impl Guest {
    fn new(shared: &Arc<Shared>, recorder: &Rc<Recorder>) -> Result<Guest, ScriptError> {
        let stop = Rc::new(StopFlag::default());
        let worker = WorkerState::of(shared, recorder);
        let (fiber, _) = user::make(shared, worker, Role::Guest(stop.clone()))?;
        Ok(Guest { fiber, stop })
    }

    /// Runs the init code, which may take this long.
    async fn init(&mut self, limit: Duration) -> Result<Exported, ScriptError> {
        let ended = within(limit, self.fiber.run(Job::Init), || self.stop.set()).await;
        init_ended(ended, limit, || stuck(&self.fiber, "the init code"))
    }
}

/// What a job of a coroutine comes to, and whether its time was over; then `stop` has asked it to end.
pub(crate) async fn within<E>(limit: Duration, job: impl Future<Output = E>, stop: impl FnOnce()) -> (E, bool) {
    let mut running = pin!(job);
    tokio::select! {
        end = &mut running => (end, false),
        () = tokio::time::sleep(limit) => {
            stop();
            (running.await, true)
        }
    }
}

/// What became of init code; `stuck` says where it is when it could not be stopped.
pub(crate) fn init_ended(
    (end, is_late): (Option<JobEnd>, bool),
    limit: Duration,
    stuck: impl FnOnce() -> ScriptError,
) -> Result<Exported, ScriptError> {
    let late = |more: &str| {
        let message = format!("the init code did not end within {limit:?}; raise the limit with --init-timeout{more}");
        ScriptError::new(message, exit_code::GENERIC_TIMEOUT)
    };
    match end {
        Some(JobEnd::Ready(exported)) => match *exported {
            Err(error) if is_late && error.exit_code == exit_code::GENERIC_TIMEOUT => Err(late("")),
            exported => exported,
        },
        _ if is_late => Err(late(&format!("; {}", stuck().message))),
        _ => Err(stuck()),
    }
}

/// A loaded test script.
pub struct Program {
    pub(crate) shared: Arc<Shared>,
    exported: Exported,
}

impl Program {
    /// Reads the script and all it imports and runs its init code once, as VU 0.
    pub async fn load(source: Source, load: LoadOptions) -> Result<Program, ScriptError> {
        let recorder = load.recorder.clone();
        let shared = Shared::new(source, load)?;
        let mut guest = Guest::new(&shared, &recorder)?;
        let exported = guest.init(shared.time_limit(shared.options().init_time_limit())).await?;
        if exported.functions.is_empty() {
            let message = format!(
                "no exported functions in {}; a test needs one to run, for instance a default export",
                shared.entry
            );
            return Err(ScriptError::new(message, exit_code::GENERIC));
        }
        shared.modules.seal();
        Ok(Program { shared, exported })
    }

    /// Names of the exported functions.
    pub fn functions(&self) -> &[String] {
        &self.exported.functions
    }

    /// The script's own `options` as JSON; `None` when it exports none.
    pub fn options_json(&self) -> Option<&str> {
        self.exported.options.as_deref()
    }

    /// The text of the script as it was read.
    pub fn source(&self) -> String {
        self.shared.modules.text(self.shared.entry()).unwrap_or_default()
    }

    /// Names and texts of the modules that init code read: `file://` and `https://`, libraries that are built in too.
    pub fn modules(&self) -> Vec<(String, String)> {
        self.shared.modules.all_texts()
    }

    /// The built-in modules that it imported.
    pub fn builtins_used(&self) -> Vec<String> {
        self.shared.modules.builtins_used()
    }

    /// The name of the script: `file:///path/test.js`.
    pub fn entry(&self) -> &str {
        self.shared.entry()
    }

    /// What `__ENV` holds.
    pub fn env(&self) -> &BTreeMap<String, String> {
        &self.shared.env
    }

    /// The files that init code opened, and where they are.
    pub fn files(&self) -> Vec<(PathBuf, PathBuf)> {
        let disk = &self.shared.disk;
        disk.asked_for().into_iter().map(|path| (path.clone(), disk.place(&path))).collect()
    }

    /// The text of a file that an option names, beside the script; an archive takes it along.
    pub fn read_beside(&self, path: &str) -> Result<String, String> {
        let place = self.shared.disk.take_along(&paths::from_script(&self.shared, path));
        std::fs::read_to_string(&place).map_err(|error| format!("cannot read {}: {error}", place.display()))
    }

    /// Whether the script has marked the test as failed (`exec.test.fail`); k6's exit code for it is 110.
    pub fn marked_failed(&self) -> bool {
        self.shared.process_state::<TestMark>().failed()
    }

    /// One line when some timings are this program's own, not the kernel's; `requests` is how many there were in all.
    pub fn timing_remark(&self, requests: u64) -> Option<String> {
        self.shared.process_state::<Unstamped>().remark(requests)
    }

    /// How many answered requests were timed by this program because the kernel did not stamp them.
    pub fn unstamped(&self) -> u64 {
        self.shared.process_state::<Unstamped>().count()
    }

    /// What a module keeps for all users of this process, by its type; made at its first use.
    pub fn process_state<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        self.shared.process_state::<T>()
    }

    /// What time it is for the whole test, where other processes take part in it.
    pub fn clock(&self) -> Arc<TestClock> {
        Arc::clone(&self.shared.clock)
    }

    /// Which request is asked for again from outside of the workers, and what the users measured of it.
    pub fn referee(&self) -> Arc<Referee> {
        self.shared.process_state::<Referee>()
    }

    /// Where spans of requests go, and which traces are worth a look.
    pub fn traces(&self) -> Arc<Traces> {
        self.shared.process_state::<Traces>()
    }

    /// One line when servers answered before they had a whole request.
    pub fn upload_remark(&self) -> Option<String> {
        self.shared.process_state::<Unstamped>().cut_uploads()
    }

    /// Whether the target is on this machine.
    pub fn is_target_here(&self) -> bool {
        self.shared.process_state::<Unstamped>().is_target_here()
    }

    /// The only port of this machine that requests went to, by a loopback address; none of several.
    pub fn port_here(&self) -> Option<u16> {
        self.shared.process_state::<Unstamped>().port_here()
    }

    /// Sets the consolidated options that users see from now on.
    pub fn set_options(&self, options: Options) {
        self.shared.set_options(options);
    }

    /// Has every received WebSocket message logged there. To be called before users are made; the first call counts.
    pub fn log_messages(&self, sink: Arc<dyn MessageSink>) {
        let _first = self.shared.messages.set(sink);
    }

    /// What `setup()` returned, as JSON.
    pub fn setup_data(&self) -> Option<Arc<str>> {
        self.shared.setup_data()
    }

    /// Sets what users get as what `setup()` returned: JSON, or nothing, which they see as undefined.
    pub fn set_setup_data(&self, data: Option<&str>) {
        self.shared.set_setup_data(data.map(Arc::from));
    }

    /// The options that users see.
    pub fn options(&self) -> Arc<Options> {
        self.shared.options()
    }

    /// Whether a function of that name is exported.
    pub fn exports(&self, function: &str) -> bool {
        self.exported.functions.iter().any(|name| name == function)
    }

    /// Refuses scenarios whose function is not exported; pairs of scenario and function.
    pub fn check_functions<'a>(&self, wanted: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<(), ScriptError> {
        let missing = wanted.into_iter().filter(|(_, function)| !self.exports(function));
        let lines: Vec<String> = missing
            .map(|(scenario, function)| {
                let hint = units::suggest::hint(function, self.exported.functions.iter().map(String::as_str));
                format!("scenario '{scenario}': function '{function}' not found in exports{hint}")
            })
            .collect();
        if lines.is_empty() { Ok(()) } else { Err(ScriptError::new(lines.join("\n"), exit_code::INVALID_CONFIG)) }
    }

    /// Runs `setup()`, when there is one, and keeps what it returns for all users made from now on.
    /// `stop` ends it early.
    pub async fn run_setup(&self, recorder: &Rc<Recorder>, stop: impl Future<Output = ()>) -> Result<(), ScriptError> {
        let limit = self.shared.time_limit(self.options().setup_time_limit());
        if let Returned::Json(data) = self.run_once(Phase::Setup, "setup", None, recorder, limit, stop).await? {
            self.shared.set_setup_data(data.map(Arc::from));
        }
        Ok(())
    }

    /// Runs `teardown(data)`, when there is one.
    pub async fn run_teardown(
        &self,
        recorder: &Rc<Recorder>,
        stop: impl Future<Output = ()>,
    ) -> Result<(), ScriptError> {
        let limit = self.shared.time_limit(self.options().teardown_time_limit());
        let data = self.shared.setup_data();
        self.run_once(Phase::Teardown, "teardown", data, recorder, limit, stop).await.map(drop)
    }

    /// Runs `handleSummary(data)` with this JSON; file names (or `stdout`, `stderr`) and contents.
    pub async fn run_handle_summary(
        &self,
        data: &str,
        recorder: &Rc<Recorder>,
        stop: impl Future<Output = ()>,
    ) -> Result<Option<Vec<(String, Vec<u8>)>>, ScriptError> {
        let limit = self.shared.time_limit(self.options().summary_time_limit());
        match self.run_once(Phase::Summary, "handleSummary", Some(Arc::from(data)), recorder, limit, stop).await? {
            Returned::Files(files) => Ok(files),
            Returned::Json(_) => Ok(None),
        }
    }

    async fn run_once(
        &self,
        phase: Phase,
        function: &str,
        argument: Option<Arc<str>>,
        recorder: &Rc<Recorder>,
        limit: Duration,
        stop: impl Future<Output = ()>,
    ) -> Result<Returned, ScriptError> {
        // k6 runs the init code once more for the summary even when nobody handles it.
        if !self.exports(function) && phase != Phase::Summary {
            return Ok(Returned::Json(None));
        }
        let mut guest = Guest::new(&self.shared, recorder)?;
        guest.init(self.shared.time_limit(self.options().init_time_limit())).await?;
        if !self.exports(function) {
            return Ok(Returned::Json(None));
        }
        if limit.is_zero() {
            // As in k6: no time is too little for anything.
            return Err(call_failed(phase, function, limit, true, CallError::Stopped));
        }
        let job = Job::Call { phase, function: function.to_string(), argument };
        let mut running = pin!(guest.fiber.run(job));
        let mut late = false;
        let end = tokio::select! {
            end = &mut running => end,
            () = tokio::time::sleep(limit) => {
                late = true;
                guest.stop.set();
                running.await
            }
            () = stop => {
                guest.stop.set();
                running.await
            }
        };
        match end {
            Some(JobEnd::Called(returned)) => {
                (*returned).map_err(|error| call_failed(phase, function, limit, late, error))
            }
            _ => {
                let error = call_failed(phase, function, limit, late, CallError::Stopped);
                let message = format!("{}; {}", error.message, stuck(&guest.fiber, &format!("{function}()")).message);
                Err(ScriptError { message, ..error })
            }
        }
    }
}

fn call_failed(phase: Phase, function: &str, limit: Duration, late: bool, error: CallError) -> ScriptError {
    let code = match phase {
        Phase::Setup => exit_code::SETUP_TIMEOUT,
        Phase::Teardown => exit_code::TEARDOWN_TIMEOUT,
        _ => exit_code::GENERIC_TIMEOUT,
    };
    match error {
        CallError::Threw(error) => error,
        CallError::AbortTest(message) => ScriptError::new(message, exit_code::SCRIPT_ABORTED),
        CallError::Stopped if late => ScriptError::new(
            format!("{function}() did not end within {limit:?}; raise the limit with the option {function}Timeout"),
            code,
        ),
        CallError::Stopped => ScriptError::new(format!("{function}() was interrupted"), exit_code::INTERRUPTED),
    }
}
