//! Files and lines for a CI: reads the flags, knows what GitHub and GitLab set, and writes what `report::ci` makes.
//!
//! Nothing here changes what a command finds. A file that cannot be written is an error of its own, because a gate that
//! reads it would not see a failure. Annotations go to standard error: standard output may be JSON that a program
//! reads.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgMatches, Command};
use report::ci::{CiReport, CiScript};
use report::visible;

use crate::called_as;
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::flags::{CI_FLAGS, RunFlag};
use crate::output;
use crate::process::environment::Variables;
use crate::process::whole_file;

/// Variables by which a job of GitHub is recognised. A run that another command starts must not write as if it were
/// the job itself.
pub const OF_JOBS: [&str; 2] = ["GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"];

/// A script that is longer is looked into by nobody.
const LONGEST_SCRIPT: u64 = 16 << 20;

/// What switches off what a job of GitHub switches on.
const NONE: &str = "none";

/// What is wanted for a CI.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CiFiles {
    junit: Option<String>,
    comment: Option<String>,
    /// Appended to.
    job_summary: Option<String>,
    annotations: bool,
    gitlab_metrics: Option<String>,
    code_quality: Option<String>,
    /// The root of the repository that is checked out.
    root: Option<PathBuf>,
}

/// Adds the flags to a command other than `run`, which has them with its own.
pub fn flags(command: Command) -> Command {
    command.args(CI_FLAGS.iter().map(RunFlag::arg).map(|arg: Arg| arg.help_heading("For a CI")))
}

impl CiFiles {
    /// Reads the flags and what the job says of itself.
    pub fn read(matches: &ArgMatches, env: &Variables) -> Result<CiFiles, Failure> {
        let flag = |name| {
            let given: Option<&String> = matches.try_get_one(name).ok().flatten();
            given.filter(|text| !text.is_empty()).cloned()
        };
        // What stands in for k6 writes what k6 writes.
        let of_job = |name: &str| env.get(name).filter(|text| !text.is_empty() && !called_as::is_k6()).cloned();
        let annotations = match flag("annotations").as_deref() {
            None => of_job(OF_JOBS[0]).is_some_and(|text| text == "true"),
            Some("github") => true,
            Some(NONE) => false,
            Some(other) => return Err(Failure::of_flag("--annotations", other, "github or none")),
        };
        let root = ["GITHUB_WORKSPACE", "CI_PROJECT_DIR"].iter().find_map(|name| of_job(name)).map(PathBuf::from);
        Ok(CiFiles {
            junit: flag("junit"),
            comment: flag("comment"),
            job_summary: flag("job-summary").or_else(|| of_job(OF_JOBS[1])).filter(|path| path != NONE),
            annotations,
            gitlab_metrics: flag("gitlab-metrics"),
            code_quality: flag("code-quality"),
            root: root.or_else(|| std::env::current_dir().ok()),
        })
    }

    /// Whether there is anything to write.
    pub fn is_wanted(&self) -> bool {
        let files = [&self.junit, &self.comment, &self.job_summary, &self.gitlab_metrics, &self.code_quality];
        self.annotations || files.into_iter().any(Option::is_some)
    }

    /// The script of a result: its path within the repository and, while it is there, its text.
    pub fn script(&self, given: &str) -> CiScript {
        let (path, root) = self.place(given);
        // A path out of a result may name anything by now, a pipe too.
        let is_text = std::fs::metadata(given).is_ok_and(|found| found.is_file() && found.len() <= LONGEST_SCRIPT);
        let text = is_text.then(|| std::fs::read_to_string(given).ok()).flatten();
        CiScript { path, text: text.unwrap_or_default(), root }
    }

    /// A path within the repository, and where that is.
    fn place(&self, given: &str) -> (String, String) {
        let path = Path::new(given);
        let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let root = self.root.as_ref().and_then(|root| root.canonicalize().ok()).unwrap_or_default();
        let below = whole.strip_prefix(&root).unwrap_or(path);
        (below.display().to_string(), root.display().to_string())
    }

    /// Writes everything that is wanted, as far as it can be written; the first problem. Issues without a place get
    /// that of `script`.
    pub fn write(&self, report: &CiReport, script: &str) -> Result<(), Failure> {
        if self.annotations {
            output::stderr().print(report.github_annotations().as_bytes());
        }
        let put = |path: &Option<String>, text: &dyn Fn() -> String| match path {
            None => Ok(()),
            Some(path) => whole_file::write(path, text()).map_err(|error| not_written(path, &error)),
        };
        let (script, _) = self.place(script);
        let written = [
            put(&self.junit, &|| report.junit()),
            put(&self.comment, &|| report.comment()),
            put(&self.gitlab_metrics, &|| report.gitlab_metrics()),
            put(&self.code_quality, &|| report.code_quality(&script)),
            self.job_summary.as_ref().map_or(Ok(()), |path| append(path, &report.comment())),
        ];
        written.into_iter().collect()
    }
}

fn append(path: &str, text: &str) -> Result<(), Failure> {
    let file = OpenOptions::new().create(true).append(true).open(path);
    let written = file.and_then(|mut file| file.write_all(format!("{text}\n").as_bytes()));
    written.map_err(|error| not_written(path, &error))
}

fn not_written(path: &str, error: &std::io::Error) -> Failure {
    Failure::new(ExitCode::ResultNotWritten, format!("cannot write {} for the CI: {error}", visible(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str], env: &[(&str, &str)]) -> Result<CiFiles, Failure> {
        let matches = flags(Command::new("x")).try_get_matches_from(["x"].iter().chain(words)).expect("valid flags");
        let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        CiFiles::read(&matches, &env)
    }

    #[test]
    fn a_job_of_github_is_recognised_and_can_be_refused() {
        let job = [("GITHUB_ACTIONS", "true"), ("GITHUB_STEP_SUMMARY", "/s.md"), ("GITHUB_WORKSPACE", "/repo")];
        let found = read(&[], &job).expect("readable");
        assert_eq!((found.annotations, found.job_summary.as_deref()), (true, Some("/s.md")));
        assert_eq!(found.root, Some(PathBuf::from("/repo")));
        let own = read(&["--job-summary", "own.md", "--annotations", "none"], &job).expect("readable");
        assert_eq!((own.annotations, own.job_summary.as_deref()), (false, Some("own.md")));
        assert!(!read(&["--job-summary=none", "--annotations=none"], &job).expect("readable").is_wanted());
        assert!(!read(&[], &[("GITHUB_ACTIONS", "false")]).expect("readable").is_wanted());
        let message = read(&["--annotations", "gitlab"], &[]).expect_err("refused").message;
        assert_eq!(message, "--annotations: found 'gitlab', expected github or none");
    }
}
