//! What the command line asks for.

const USAGE: &str = "usage: cargo xtask faults [--seed N] [--count N] [--jobs N] [--workload NAME] [--only POINT] \
                     [allocations | calls]";

/// How much is tried, and where.
pub(crate) struct Options {
    pub(crate) seed: u64,
    /// Allocations that are refused, over all workloads; for system calls the most places.
    pub(crate) count: usize,
    /// Runs at a time.
    pub(crate) jobs: usize,
    /// The only workload.
    pub(crate) workload: Option<String>,
    /// The only point, as a report names it.
    pub(crate) only: Option<String>,
    subject: Option<String>,
}

impl Options {
    pub(crate) fn read(arguments: &[String]) -> Result<Options, String> {
        let mut options = Options { seed: 1, count: 20_000, jobs: 8, workload: None, only: None, subject: None };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value\n{USAGE}"));
            let number =
                |text: &String| text.parse().map_err(|_| format!("{argument} {text}: expected a whole number"));
            match argument.as_str() {
                "--seed" => options.seed = value().and_then(number)?,
                "--count" => options.count = value().and_then(number)? as usize,
                "--jobs" => options.jobs = (value().and_then(number)? as usize).max(1),
                "--workload" => options.workload = Some(value()?.clone()),
                "--only" => options.only = Some(value()?.clone()),
                "allocations" | "calls" => options.subject = Some(argument.clone()),
                other => return Err(format!("found {other:?}, expected allocations or calls\n{USAGE}")),
            }
        }
        Ok(options)
    }

    pub(crate) fn wants(&self, subject: &str) -> bool {
        self.subject.as_ref().is_none_or(|wanted| wanted == subject)
    }
}
