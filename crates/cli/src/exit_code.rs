//! Exit codes: k6's, so that a CI job cannot tell the difference.

/// How a process ended, as its exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ExitCode {
    /// The test ran and every threshold held; also when iterations threw.
    Ok = 0,
    /// A threshold did not hold.
    ThresholdsFailed = 99,
    /// `setup()` took too long.
    SetupTimeout = 100,
    /// `teardown()` took too long.
    TeardownTimeout = 101,
    /// Another time limit was reached.
    OtherTimeout = 102,
    /// Options or scenarios cannot work.
    InvalidConfig = 104,
    /// Ended by SIGINT or SIGTERM.
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

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        std::process::ExitCode::from(code as u8)
    }
}
