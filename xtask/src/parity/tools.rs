//! One script under both programs, and what they came to.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::accepted::{Reason, reason};
use super::difference::differences;
use super::directives::Directives;
use super::observation::{Observation, Ran};

/// Longer runs are ended and reported.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// The two programs and what both need.
pub struct Tools {
    pub k6: PathBuf,
    pub onrush: PathBuf,
    /// For files, of this worker alone.
    pub folder: PathBuf,
    pub address: String,
    /// The same with TLS.
    pub tls: String,
}

/// What came of a script.
pub enum Outcome {
    /// It did not run.
    Skipped(String),
    /// It ran under both.
    Compared {
        /// What nobody accepted.
        different: Vec<String>,
        /// The reasons of the other differences, each once.
        accepted: Vec<Reason>,
    },
}

impl Tools {
    /// Runs a script under both.
    pub fn compare(&self, script: &Path, name: &str) -> Result<Outcome, String> {
        let text = fs::read_to_string(script).map_err(|error| format!("cannot read it: {error}"))?;
        let mut directives = Directives::of(&text)?;
        directives.counts &= !name.starts_with("examples");
        if let Some(why) = directives.skip {
            return Ok(Outcome::Skipped(why));
        }
        fs::create_dir_all(&self.folder).map_err(|error| format!("cannot make {}: {error}", self.folder.display()))?;
        let entry = match directives.wrapped && directives.command == "run" && !directives.stdin {
            true => self.wrap(script, &text)?,
            false => script.to_path_buf(),
        };
        let k6 = self.observe(&self.k6, &entry, &directives, "k6")?;
        let onrush = self.observe(&self.onrush, &entry, &directives, "onrush")?;
        let (mut different, mut accepted) = (Vec::new(), Vec::new());
        for line in differences(&k6, &onrush) {
            match reason(name, &line) {
                None => different.push(line),
                Some(reason) if accepted.contains(&reason) => {}
                Some(reason) => accepted.push(reason),
            }
        }
        Ok(Outcome::Compared { different, accepted })
    }

    /// A script that runs the original and writes what `handleSummary` is given.
    fn wrap(&self, script: &Path, text: &str) -> Result<PathBuf, String> {
        let wrapper = self.folder.join("wrapper.js");
        let original = script.display();
        let default = match text.contains("export default") {
            true => format!("export {{ default }} from \"{original}\";\n"),
            false => String::new(),
        };
        let source = format!(
            "export * from \"{original}\";\n{default}\
             export function handleSummary(data) {{ return {{ [__ENV.SUMMARY_FILE]: JSON.stringify(data) }}; }}\n"
        );
        fs::write(&wrapper, source).map_err(|error| format!("cannot write {}: {error}", wrapper.display()))?;
        Ok(wrapper)
    }

    fn observe(&self, tool: &Path, entry: &Path, directives: &Directives, who: &str) -> Result<Observation, String> {
        // One name for both, because it is seen in metadata and messages.
        let files = self.folder.join("files");
        let _ = fs::remove_dir_all(&files);
        fs::create_dir_all(&files).map_err(|error| format!("cannot make {}: {error}", files.display()))?;
        let mut command = Command::new(tool);
        command.arg(&directives.command).args(&directives.arguments);
        if directives.command != "new" {
            self.add_arguments(&mut command, directives, &files);
        }
        command.arg(if directives.stdin { Path::new("-") } else { entry });
        command.envs(directives.environment.iter().map(|(name, value)| (name, value))).env("HOME", &files);
        if who == "k6" {
            // It asks a build service for the imports it does not know unless told not to.
            command.env("K6_AUTO_EXTENSION_RESOLUTION", "false");
        }
        command.stdin(match directives.stdin {
            true => File::open(entry).map_err(|error| format!("cannot open {}: {error}", entry.display()))?.into(),
            false => Stdio::null(),
        });
        let log = run_limited(&mut command, &files)?;
        let read =
            |name: &str| fs::read(files.join(name)).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let ran = Ran {
            code: log,
            summary: read("summary.json"),
            json: read("samples.json"),
            csv: read("samples.csv"),
            archive: fs::read(files.join("archive.tar")).ok(),
            stdout: read("stdout").unwrap_or_default().replace(&files.display().to_string(), "FILES"),
            log: without_verdicts(&read("stderr").unwrap_or_default().replace(&files.display().to_string(), "FILES")),
        };
        let observation = Observation::new(&ran, directives)?;
        Ok(if directives.counts { observation } else { observation.without_counts() })
    }

    fn add_arguments(&self, command: &mut Command, directives: &Directives, files: &Path) {
        let file = |name: &str| files.join(name).display().to_string();
        match directives.command.as_str() {
            "run" => {
                command.args(["--quiet", "--no-color", "--no-usage-report", "--log-format", "json", "--address", ""]);
                command.args(["--out", &format!("json={}", file("samples.json"))]);
                command.args(["--out", &format!("csv={}", file("samples.csv"))]);
                command.args(["-e", &format!("SUMMARY_FILE={}", file("summary.json"))]);
            }
            "archive" => {
                command.args(["--log-format", "json", "-O", &file("archive.tar")]);
            }
            _ => {
                command.args(["--log-format", "json"]);
            }
        }
        command.args(["-e", &format!("TARGET=http://{}", self.address)]);
        command.args(["-e", &format!("TARGET_TLS=https://{}", self.tls)]);
        command.args(["-e", &format!("FILES={}", files.display())]);
    }
}

/// What a verdict says of the generator has no counterpart, and the machine may be busy.
fn without_verdicts(log: &str) -> String {
    let is_verdict =
        |line: &&str| ["INVALID", "SUSPECT"].iter().any(|word| line.contains(&format!("\"msg\":\"{word}")));
    log.lines().filter(|line| !is_verdict(line)).map(|line| format!("{line}\n")).collect()
}

/// Runs a command with its outputs in files, and ends it when it takes too long. Its exit code, if it has one.
fn run_limited(command: &mut Command, files: &Path) -> Result<Option<i32>, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let create = |file: &str| File::create(files.join(file)).map_err(|error| format!("cannot make {file}: {error}"));
    let child = command.stdout(create("stdout")?).stderr(create("stderr")?).spawn();
    let child = child.map_err(|error| format!("cannot start {name}: {error}"))?;
    wait_limited(child, &name)
}

fn wait_limited(mut child: Child, name: &str) -> Result<Option<i32>, String> {
    let begin = Instant::now();
    loop {
        match child.try_wait().map_err(|error| format!("cannot wait for {name}: {error}"))? {
            Some(status) => return Ok(status.code()),
            None if begin.elapsed() > TIME_LIMIT => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("{name} did not end within {} s", TIME_LIMIT.as_secs()));
            }
            None => std::thread::sleep(Duration::from_millis(10)),
        }
    }
}
