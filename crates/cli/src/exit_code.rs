//! Exit codes: k6's, so that a CI job cannot tell the difference, and some of ours where k6 has none.

/// How a process ended, as its exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ExitCode {
    /// The test ran and every threshold held; also when iterations threw.
    Ok = 0,
    /// `onrush compare`: something is worse, or a condition failed.
    Worse = 1,
    /// `onrush compare`: not enough evidence.
    CannotTell = 2,
    /// `onrush compare`: results that cannot be read or must not be compared.
    NotComparable = 3,
    /// A threshold did not hold, or there was more of what `--fail-on` names.
    ThresholdsFailed = 99,
    /// `setup()` took too long.
    SetupTimeout = 100,
    /// `teardown()` took too long.
    TeardownTimeout = 101,
    /// Another time limit was reached.
    OtherTimeout = 102,
    /// Options or scenarios cannot work.
    InvalidConfig = 104,
    /// Ended by SIGINT, SIGTERM or SIGHUP.
    Signal = 105,
    /// The REST server cannot start.
    RestServer = 106,
    /// Syntax error, or an exception in init code, setup or teardown, or a module that is not there.
    ScriptException = 107,
    /// `exec.test.abort()`.
    ScriptAborted = 108,
    /// A bug in Onrush.
    Panic = 109,
    /// `exec.test.fail()`.
    MarkedFailed = 110,
    /// The result or the summary asked for could not be written. Not a code of k6, which has nothing like it.
    ResultNotWritten = 111,
    /// A matrix ended, but some of its runs failed. Nor is this one of k6's.
    RunsFailed = 112,
    /// A URL was never requested, or no request of it came to an answer below 400. A script ends with k6's codes instead.
    NothingSucceeded = 113,
    /// A virtual user could not be stopped: its script was in native code that did not end. Nor is this one.
    UserStuck = 114,
    /// Anything else: unknown flag, file missing.
    Generic = 255,
}

impl ExitCode {
    /// The code that a script's error carries.
    pub fn of_script(code: u8) -> Self {
        const CODES: [ExitCode; 9] = [
            ExitCode::SetupTimeout,
            ExitCode::TeardownTimeout,
            ExitCode::OtherTimeout,
            ExitCode::InvalidConfig,
            ExitCode::Signal,
            ExitCode::ScriptException,
            ExitCode::ScriptAborted,
            ExitCode::Panic,
            ExitCode::MarkedFailed,
        ];
        CODES.into_iter().find(|known| *known as u8 == code).unwrap_or(ExitCode::Generic)
    }
}

impl ExitCode {
    /// What a result document says of it; none for success.
    pub fn reason(self) -> Option<&'static str> {
        Some(match self {
            // No run ends with those of `compare`.
            ExitCode::Ok | ExitCode::Worse | ExitCode::CannotTell | ExitCode::NotComparable => return None,
            ExitCode::RunsFailed => "runs of the matrix failed",
            ExitCode::ThresholdsFailed => "thresholds have been crossed",
            ExitCode::SetupTimeout => "setup() took too long",
            ExitCode::TeardownTimeout => "teardown() took too long",
            ExitCode::OtherTimeout => "a time limit was reached",
            ExitCode::InvalidConfig => "the options cannot work",
            ExitCode::Signal => "the test was stopped by a signal",
            ExitCode::RestServer => "the REST server could not start",
            ExitCode::ScriptException => "the script threw an exception outside of an iteration",
            ExitCode::ScriptAborted => "the script aborted the test",
            ExitCode::Panic => "a bug in Onrush",
            ExitCode::MarkedFailed => "the script marked the test as failed",
            ExitCode::ResultNotWritten => "the result or the summary could not be written",
            ExitCode::NothingSucceeded => "no request succeeded",
            ExitCode::UserStuck => "a virtual user could not be stopped",
            ExitCode::Generic => "the run could not be completed",
        })
    }
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        std::process::ExitCode::from(code as u8)
    }
}
