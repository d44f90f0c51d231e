//! `cargo xtask parity`: k6 as a black box beside Onrush, one script after the other.
//!
//! Not part of `cargo test`, because it needs a k6 binary, which nobody must have to build Onrush, and because k6 alone
//! takes a quarter of a second a script to start. Each script runs unchanged, through a wrapper that hands out the
//! summary data. What cannot be equal (times, byte counts, Onrush's own metrics) is left out in `observation.rs`; what
//! is knowingly different is in `EXPECTED` with its reason. A script's first lines may hold directives:
//!
//! ```text
//! // parity: console          also compare the console lines, in order
//! // parity: no-wrapper       run it as it is (the script exports handleSummary itself, or must fail to load)
//! // parity: args --vus 2     further arguments for both tools
//! // parity: env NAME=value   a variable of the environment for both tools
//! // parity: skip REASON      k6 cannot run it
//! ```

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use server::server::{Server, ServerConfig};

use crate::difference::differences;
use crate::observation::Observation;

/// Longer runs are ended and reported.
const TIME_LIMIT: Duration = Duration::from_secs(120);

/// Script (part of its path), part of the difference, and why it is accepted.
const EXPECTED: &[(&str, &str, &str)] = &[
    (
        "parity/options.js",
        "::",
        "without the system tag group k6 loses the checks of root_group; they were made all the same",
    ),
    ("parity/options.js", "group '': checks", "as above"),
    (
        "url_library/test.js",
        "",
        "it imports a library by its address, which k6 fetches: it ends with 107 without a network",
    ),
];

/// Runs the scripts whose path contains one of `names` (all without names).
pub fn run(names: &[String]) -> Result<(), String> {
    let root = workspace()?;
    let k6 = find_k6()?;
    let onrush = build_onrush(&root)?;
    let scripts: Vec<PathBuf> = scripts(&root)?
        .into_iter()
        .filter(|script| names.is_empty() || names.iter().any(|name| script.to_string_lossy().contains(name.as_str())))
        .collect();
    if scripts.is_empty() {
        return Err(format!("no script matches {}", names.join(", ")));
    }
    let folder = std::env::temp_dir().join(format!("onrush-parity-{}", std::process::id()));
    let target = start_target()?;
    let (address, tls) = (target.addresses().tcp[0].to_string(), target.addresses().tls[0].to_string());
    let tools = Tools { k6, onrush, folder: folder.clone(), address, tls };
    let mut failed = Vec::new();
    for script in &scripts {
        let name = script.strip_prefix(&root).unwrap_or(script).display().to_string();
        if let Some(reason) = reason_to_skip(script) {
            println!("skipped    {name}: {reason}");
            continue;
        }
        match tools.compare(script, &name) {
            Ok(found) if found.is_empty() => println!("same       {name}"),
            Ok(found) => {
                println!("DIFFERENT  {name}");
                found.iter().for_each(|line| println!("             {line}"));
                failed.push(name);
            }
            Err(error) => {
                println!("ERROR      {name}: {error}");
                failed.push(name);
            }
        }
    }
    fs::remove_dir_all(&folder).map_err(|error| format!("cannot remove {}: {error}", folder.display()))?;
    println!("{} of {} scripts behave the same", scripts.len() - failed.len(), scripts.len());
    match failed.is_empty() {
        true => Ok(()),
        false => Err(format!("different: {}", failed.join(", "))),
    }
}

/// The two programs and what both need.
struct Tools {
    k6: PathBuf,
    onrush: PathBuf,
    folder: PathBuf,
    address: String,
    /// The same with TLS.
    tls: String,
}

impl Tools {
    /// The differences that nobody has accepted.
    fn compare(&self, script: &Path, name: &str) -> Result<Vec<String>, String> {
        let text = fs::read_to_string(script).map_err(|error| format!("cannot read it: {error}"))?;
        let directives = Directives { counts: !name.starts_with("examples"), ..Directives::of(&text) };
        let entry = match directives.wrapped {
            true => self.wrap(script, &text)?,
            false => script.to_path_buf(),
        };
        let k6 = self.observe(&self.k6, &entry, &directives, "k6.json")?;
        let onrush = self.observe(&self.onrush, &entry, &directives, "onrush.json")?;
        let accepted =
            |line: &String| EXPECTED.iter().any(|(script, part, _reason)| name.contains(script) && line.contains(part));
        Ok(differences(&k6, &onrush).into_iter().filter(|line| !accepted(line)).collect())
    }

    /// A script that runs the original and writes what `handleSummary` is given.
    fn wrap(&self, script: &Path, text: &str) -> Result<PathBuf, String> {
        fs::create_dir_all(&self.folder).map_err(|error| format!("cannot make {}: {error}", self.folder.display()))?;
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

    fn observe(&self, tool: &Path, entry: &Path, directives: &Directives, file: &str) -> Result<Observation, String> {
        let summary = self.folder.join(file);
        let _ = fs::remove_file(&summary);
        let mut command = Command::new(tool);
        command
            .args(["run", "--quiet", "--no-color", "--no-usage-report", "--log-format", "json"])
            .args(["--address", ""])
            .args(&directives.arguments)
            .args(["-e", &format!("TARGET=http://{}", self.address)])
            .args(["-e", &format!("TARGET_TLS=https://{}", self.tls)])
            .envs(directives.environment.iter().map(|(name, value)| (name, value)))
            .args(["-e", &format!("SUMMARY_FILE={}", summary.display())])
            .arg(entry)
            // k6 asks a build service for the imports it does not know unless told not to.
            .env("K6_AUTO_EXTENSION_RESOLUTION", "false");
        let (code, log) = run_limited(&mut command)?;
        let data = fs::read_to_string(&summary).ok();
        let observation = Observation::new(code, data.as_deref(), &log, directives.console)?;
        Ok(if directives.counts { observation } else { observation.without_counts() })
    }
}

/// What a script's own comments ask for.
struct Directives {
    console: bool,
    wrapped: bool,
    /// Examples run for a time, not for a number of iterations: their counts differ from run to run.
    counts: bool,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
}

impl Directives {
    fn of(text: &str) -> Self {
        let (arguments, environment) = (Vec::new(), Vec::new());
        let mut directives = Directives { console: false, wrapped: true, counts: true, arguments, environment };
        for directive in text.lines().filter_map(|line| line.trim().strip_prefix("// parity: ")) {
            match directive.split_once(' ') {
                None if directive == "console" => directives.console = true,
                None if directive == "no-wrapper" => directives.wrapped = false,
                Some(("args", arguments)) => {
                    directives.arguments = arguments.split_whitespace().map(str::to_owned).collect();
                }
                Some(("env", variable)) => {
                    directives.environment.extend(variable.split_once('=').map(|(n, v)| (n.to_owned(), v.to_owned())));
                }
                _ => {}
            }
        }
        directives
    }
}

fn reason_to_skip(script: &Path) -> Option<String> {
    let text = fs::read_to_string(script).ok()?;
    if text.contains("from \"onrush/") || text.contains("from 'onrush/") {
        return Some("k6 has no modules of onrush".to_owned());
    }
    text.lines().find_map(|line| line.trim().strip_prefix("// parity: skip ")).map(str::to_owned)
}

/// Runs a command with its error output in a pipe, and ends it when it takes too long.
fn run_limited(command: &mut Command) -> Result<(Option<i32>, String), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cannot start {name}: {error}"))?;
    let mut pipe = child.stderr.take().ok_or("no pipe was made")?;
    let reader = std::thread::spawn(move || {
        let mut log = Vec::new();
        std::io::Read::read_to_end(&mut pipe, &mut log).map(|_| String::from_utf8_lossy(&log).into_owned())
    });
    let begin = Instant::now();
    let status = loop {
        match child.try_wait().map_err(|error| format!("cannot wait for {name}: {error}"))? {
            Some(status) => break status,
            None if begin.elapsed() > TIME_LIMIT => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("{name} did not end within {} s", TIME_LIMIT.as_secs()));
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    let log = reader.join().map_err(|_| "the reader of its log failed")?;
    Ok((status.code(), log.map_err(|error| format!("cannot read the log of {name}: {error}"))?))
}

/// The target, in cleartext and over TLS.
pub(crate) fn start_target() -> Result<Server, String> {
    let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
    Server::start(ServerConfig { tcp: vec![any_port], tls: vec![any_port], ..ServerConfig::default() })
        .map_err(|error| format!("the target does not start: {error}"))
}

fn find_k6() -> Result<PathBuf, String> {
    if let Some(path) = std::env::var_os("K6") {
        return Ok(PathBuf::from(path));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|folder| folder.join("k6"))
        .find(|file| file.is_file())
        .ok_or_else(|| "no k6 found: install it, or name its binary in $K6".to_owned())
}

/// The folder of the repository.
pub(crate) fn workspace() -> Result<PathBuf, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    root.map(Path::to_path_buf).ok_or_else(|| "xtask has no parent folder".to_owned())
}

/// The binary in $ONRUSH, else one built now. With k6 in $ONRUSH the command shows which facts are not stable.
pub(crate) fn build_onrush(root: &Path) -> Result<PathBuf, String> {
    build(root, &[], "debug")
}

/// The same, optimised: for what is measured.
pub(crate) fn build_release(root: &Path) -> Result<PathBuf, String> {
    build(root, &["--release"], "release")
}

fn build(root: &Path, flags: &[&str], profile: &str) -> Result<PathBuf, String> {
    if let Some(path) = std::env::var_os("ONRUSH") {
        return Ok(PathBuf::from(path));
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["build", "--quiet", "--package", "onrush-cli"])
        .args(flags)
        .current_dir(root)
        .status()
        .map_err(|error| format!("cannot start cargo: {error}"))?;
    if !status.success() {
        return Err("onrush does not build".to_owned());
    }
    let own = std::env::current_exe().map_err(|error| format!("cannot find the target folder: {error}"))?;
    let target = own.parent().and_then(Path::parent).ok_or("xtask is not in a target folder")?;
    Ok(target.join(profile).join("onrush"))
}

/// Every script, in order of its path.
fn scripts(root: &Path) -> Result<Vec<PathBuf>, String> {
    let list = |folder: PathBuf| -> Result<Vec<PathBuf>, String> {
        let entries = fs::read_dir(&folder).map_err(|error| format!("cannot list {}: {error}", folder.display()))?;
        Ok(entries.filter_map(Result::ok).map(|entry| entry.path()).collect())
    };
    let is_script = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "js" || extension == "ts");
    let mut scripts: Vec<PathBuf> = list(root.join("tests/parity"))?.into_iter().filter(is_script).collect();
    scripts.extend(list(root.join("examples"))?.into_iter().filter(is_script));
    let mut modules = list(root.join("crates/script/src/modules"))?;
    modules.extend(list(root.join("crates/script/src/modules/experimental"))?);
    scripts.extend(modules.into_iter().map(|module| module.join("test.js")).filter(|test| test.is_file()));
    scripts.sort();
    Ok(scripts)
}
