//! Exit codes: k6's, so that a CI job cannot tell the difference, and from 111 on ours, where k6 has none.
//!
//! One list. The reference in docs/reference/exit-codes.md is made of it.

macro_rules! exit_codes {
    ($($name:ident = $code:literal, $reason:expr, $meaning:literal;)*) => {
        /// How a process ended, as its exit code.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum ExitCode {
            $(#[doc = $meaning] $name = $code),*
        }

        impl ExitCode {
            const ALL: &[ExitCode] = &[$(ExitCode::$name),*];

            /// What a result document says of it; none for success and for the codes of `compare`, which ends no run.
            pub fn reason(self) -> Option<&'static str> {
                match self {
                    $(ExitCode::$name => $reason),*
                }
            }
        }

        /// Each code with its meaning, for the reference.
        #[cfg(test)]
        pub const MEANINGS: &[(u8, &str)] = &[$(($code, $meaning)),*];
    };
}

exit_codes! {
    Ok = 0, None,
        "The test ran and every threshold held. As in k6, this includes tests whose iterations threw: `--fail-on \
        'errors>1%'` sets a limit. `onrush compare`: same or better, or every condition holds";
    Worse = 1, None, "`onrush compare`: something is worse, or a condition failed";
    CannotTell = 2, None, "`onrush compare`: the evidence is not enough for a verdict";
    NotComparable = 3, None,
        "`onrush compare`: the results cannot be read or must not be compared, or the answer cannot be written";
    ThresholdsFailed = 99, Some("thresholds have been crossed"),
        "A threshold did not hold, or there were more errors than `--fail-on` allows";
    SetupTimeout = 100, Some("setup() took too long"), "`setup()` took too long";
    TeardownTimeout = 101, Some("teardown() took too long"), "`teardown()` took too long";
    OtherTimeout = 102, Some("a time limit was reached"), "Another time limit was reached";
    StoppedByApi = 103, Some("the test was stopped by the REST API"),
        "A client of the REST API (`--address`) stopped the test. The summary of what ran is printed";
    InvalidConfig = 104, Some("the options cannot work"), "Options or scenarios cannot work";
    Signal = 105, Some("the test was stopped by a signal"),
        "SIGINT, SIGTERM or SIGHUP stopped the test. The summary of what ran is printed; a second signal ends the \
         process at once";
    RestServer = 106, Some("the REST server could not start"), "The REST API could not listen at `--address`";
    ScriptException = 107, Some("the script threw an exception outside of an iteration"),
        "The script has a syntax error, imports a missing module, or threw in init code, `setup()` or `teardown()`";
    ScriptAborted = 108, Some("the script aborted the test"), "The script called `exec.test.abort()`";
    Panic = 109, Some("a bug in Onrush"), "A bug in Onrush";
    MarkedFailed = 110, Some("the script marked the test as failed"), "The script called `exec.test.fail()`";
    ResultNotWritten = 111, Some("the result or the summary could not be written"),
        "The result of `--save`, a file that `handleSummary()` names, or samples of `--out` could not be written, or \
         standard output did not take the summary (closed, full, not read)";
    RunsFailed = 112, Some("runs of the matrix failed"), "`onrush matrix` ended, but some of its runs failed";
    NothingSucceeded = 113, Some("no request succeeded"),
        "A URL was never requested, or every request failed: no answer, or a status from 400 on. A script ends with \
         k6's codes instead";
    UserStuck = 114, Some("a virtual user could not be stopped"),
        "A virtual user could not be stopped, because its script was in a native function that did not end";
    Suspect = 115, Some("the figures are in doubt"),
        "With `--strict`: the test ran, and its verdict is SUSPECT. Some figures are in doubt";
    Invalid = 116, Some("the run is no evidence"),
        "With `--strict`: the test ran, and its verdict is INVALID. The run is no evidence";
    AgentsLost = 117, Some("agents were lost"),
        "With `--agents`: not all agents came before the start, or one was lost while the test ran, and no other code \
         says more. The verdict is INVALID. `onrush agent`: it ran its part and lost its coordinator";
    Generic = 255, Some("the run could not be completed"), "Anything else: an unknown flag, a missing file";
}

impl ExitCode {
    /// This code; a success of which something could not be written is none.
    pub fn unless_incomplete(self, is_whole: bool) -> Self {
        if self == ExitCode::Ok && !is_whole { ExitCode::ResultNotWritten } else { self }
    }

    /// The code with this number, as a process ended; one that is none of ours says no more than that it failed.
    pub fn of(code: u8) -> Self {
        ExitCode::ALL.iter().copied().find(|known| *known as u8 == code).unwrap_or(ExitCode::Generic)
    }

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
