//! A folder of its own for each test, scripts in it, and the binary run there.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The program that is tested: cargo's, or the one that `ONRUSH_TEST_BINARY` names, such as the one that is shipped.
pub fn binary() -> PathBuf {
    std::env::var_os("ONRUSH_TEST_BINARY").map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_onrush")), PathBuf::from)
}

/// A folder that goes away with the test.
pub struct Lab {
    folder: PathBuf,
}

/// How a run ended.
#[derive(Debug)]
pub struct Run {
    /// Exit code; -1 when a signal ended it.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// A run that takes longer than this hangs.
const PATIENCE: Duration = Duration::from_secs(90);

impl Lab {
    /// An empty folder.
    pub fn new() -> Lab {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let name = format!("onrush-cli-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).expect("a temporary folder");
        Lab { folder }
    }

    /// A folder holding `script.js`.
    pub fn with(script: &str) -> Lab {
        let lab = Lab::new();
        lab.file("script.js", script);
        lab
    }

    /// Writes a file and returns its path.
    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.join(name);
        std::fs::write(&path, text).expect("a file in the lab");
        path
    }

    /// Reads a file the run wrote.
    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// The binary with these arguments, in this folder, with a clean environment.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(binary());
        command.args(arguments).current_dir(&self.folder).stdin(Stdio::null());
        for (name, _) in std::env::vars().filter(|(n, _)| n.starts_with("K6_") || n.to_lowercase().ends_with("_proxy"))
        {
            command.env_remove(name);
        }
        for name in ["GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE", "CI_PROJECT_DIR", "NO_COLOR"] {
            command.env_remove(name);
        }
        command.env("XDG_CONFIG_HOME", &self.folder).env("XDG_CACHE_HOME", &self.folder);
        command
    }

    /// Runs `onrush run -q ARGUMENTS script.js`.
    pub fn run(&self, arguments: &[&str]) -> Run {
        let all: Vec<&str> = ["run", "-q"].into_iter().chain(arguments.iter().copied()).chain(["script.js"]).collect();
        self.onrush(&all)
    }

    /// Runs the binary with exactly these arguments.
    pub fn onrush(&self, arguments: &[&str]) -> Run {
        finish(self.command(arguments))
    }

    /// Starts the binary and leaves it running.
    pub fn start(&self, arguments: &[&str]) -> Started {
        begin(self.command(arguments))
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Runs a command to its end.
pub fn finish(command: Command) -> Run {
    begin(command).wait()
}

/// Starts a command whose output is read when it is waited for.
pub fn begin(mut command: Command) -> Started {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
    Started { child: Some(child) }
}

/// A running binary.
pub struct Started {
    child: Option<Child>,
}

impl Started {
    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.as_ref().expect("running").id()
    }

    /// Waits for its end; fails the test when it hangs.
    pub fn wait(mut self) -> Run {
        let mut child = self.child.take().expect("running");
        let out = drain(child.stdout.take().expect("piped"));
        let err = drain(child.stderr.take().expect("piped"));
        let end = Instant::now() + PATIENCE;
        let status = loop {
            match child.try_wait().expect("a child of ours") {
                Some(status) => break status,
                None if Instant::now() > end => {
                    let _ = child.kill();
                    let _ = child.wait();
                    panic!("onrush hangs; so far it said {}\n{}", out.join().expect("read"), err.join().expect("read"));
                }
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        let (stdout, stderr) = (out.join().expect("read"), err.join().expect("read"));
        Run { code: status.code().unwrap_or(-1), stdout, stderr }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn drain(mut from: impl Read + Send + 'static) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = from.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

impl Run {
    /// Fails the test, showing everything, unless the exit code is this one.
    #[track_caller]
    pub fn code(self, code: i32) -> Run {
        assert_eq!(self.code, code, "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    /// Fails unless standard error holds this text.
    #[track_caller]
    pub fn says(self, text: &str) -> Run {
        assert!(self.stderr.contains(text), "expected {text:?} in stderr:\n{}\nstdout:\n{}", self.stderr, self.stdout);
        self
    }

    /// Fails unless standard output holds this text.
    #[track_caller]
    pub fn prints(self, text: &str) -> Run {
        assert!(self.stdout.contains(text), "expected {text:?} in stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }
}
