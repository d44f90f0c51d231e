//! The tools: what they take, what they do, and both forms of what they answer, text and JSON.
//!
//! A tool never prints: standard output is the protocol's. What a test itself says goes into a folder that is removed,
//! unless `save` names one.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use mcp::{Answer, Called, Tools};
use report::ci::{CiScript, digest, of_run};
use report::compare::{self, Condition, Settings, Wanted, render};
use report::document::{Document, read};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::bounds::Bounds;
use crate::ci::OF_JOBS;
use crate::process::private_folder::PrivateFolder;

/// After it was asked to end, a test has so long for its teardown and its result.
const PATIENCE: Duration = Duration::from_secs(20);

/// The tools of this command, within its bounds.
pub(super) struct BoundedTools(pub(super) Bounds);

impl Tools for BoundedTools {
    fn list(&self) -> Value {
        list()
    }

    fn call(&self, name: &str, given: &Value, is_cancelled: &AtomicBool) -> Called {
        call(name, given, &self.0, is_cancelled)
    }
}

/// The tools with their arguments as JSON schemas.
fn list() -> Value {
    let text = |what: &str| json!({ "type": "string", "description": what });
    let texts = |what: &str| json!({ "type": "array", "items": { "type": "string" }, "description": what });
    let whole = |what: &str| json!({ "type": "integer", "minimum": 1, "description": what });
    let tool = |name: &str, what: &str, properties: Value, required: &[&str]| {
        json!({ "name": name, "description": what, "inputSchema": {
            "type": "object", "properties": properties, "required": required, "additionalProperties": false } })
    };
    let script = || text("Path of a k6 script");
    let source = || text("Text of a k6 script, instead of a path");
    json!([
        tool(
            "validate_script",
            "Load a k6 script without running it. Answers with its options, scenarios, the most virtual users and the \
             longest time, or with what is wrong and where",
            json!({ "script": script(), "source": source() }),
            &[],
        ),
        tool(
            "run_test",
            "Run a k6 script, or GET a URL, within the bounds of this server. Answers with the judgement of the \
             figures, thresholds, checks, figures and errors",
            json!({
                "script": script(),
                "source": source(),
                "url": text("A URL to request, instead of a script"),
                "vus": whole("Virtual users"),
                "duration": text("How long, such as 10s"),
                "iterations": whole("Iterations in all, instead of a duration"),
                "thresholds": texts("Such as http_req_duration: p(95)<200"),
                "env": { "type": "object", "additionalProperties": { "type": "string" },
                    "description": "Variables of __ENV" },
                "serve": { "type": "boolean",
                    "description": "Start a target beside the test; __ENV.TARGET has its address" },
                "save": text("Keep the result in this directory, for explain_result and compare_results"),
            }),
            &[],
        ),
        tool(
            "explain_result",
            "Read a saved result: whether its figures can be trusted and why, what held and what did not",
            json!({ "result": text("The directory of the result, or its result.json") }),
            &["result"],
        ),
        tool(
            "compare_results",
            "Compare saved results: which metrics changed from a to b, and how sure that is. One run of each is weak \
             evidence; six by turns are the least for a proof",
            json!({
                "a": text("Results to compare with: a directory, or several with commas between them"),
                "b": text("Results that may have changed"),
                "metrics": texts("Metrics to judge, such as http_req_duration:p(99)"),
                "fail_on": texts("Changes that must not happen, such as p(95) +5%"),
            }),
            &["a", "b"],
        ),
    ])
}

/// Calls a tool; it ends early when `cancelled` becomes true.
fn call(name: &str, given: &Value, bounds: &Bounds, cancelled: &AtomicBool) -> Called {
    let text = |name: &str| given[name].as_str().filter(|text| !text.is_empty());
    let required = |name: &str| text(name).ok_or_else(|| format!("{name}: expected a text"));
    Ok(match name {
        "validate_script" => validate(given, bounds, cancelled),
        "run_test" => run(given, bounds, cancelled),
        "explain_result" => explain(required("result")?),
        "compare_results" => compared(required("a")?, required("b")?, given),
        other => return Err(format!("there is no tool '{other}'")),
    })
}

fn validate(given: &Value, bounds: &Bounds, cancelled: &AtomicBool) -> Result<Answer, String> {
    let folder = folder()?;
    let (options, log) = inspected(&script(given, &folder)?, &folder, bounds, cancelled)?;
    let mut text =
        format!("valid: at most {} virtual users for {}", options["maxVUs"], plain(&options["totalDuration"]));
    if !log.is_empty() {
        text.push_str(&format!("\n{log}"));
    }
    Ok(Answer { text, value: json!({ "valid": true, "options": options, "log": log }) })
}

/// The options of a script, and what it logs while it is loaded.
fn inspected(
    script: &Path,
    folder: &PrivateFolder,
    bounds: &Bounds,
    cancelled: &AtomicBool,
) -> Result<(Value, String), String> {
    let mut command = onrush(&["inspect", "--execution-requirements", "--offline"])?;
    command.arg("--include-system-env-vars=false");
    let ended = finish(command.arg(script), folder, bounds.duration, cancelled)?;
    if ended.was_asked {
        return Err(format!("{}\nloading the script took longer than --max-duration", ended.log).trim().to_owned());
    }
    match ended.is_fine {
        true => Ok((serde_json::from_str(&ended.out).map_err(|error| error.to_string())?, ended.log)),
        false => Err(ended.log),
    }
}

fn run(given: &Value, bounds: &Bounds, cancelled: &AtomicBool) -> Result<Answer, String> {
    let folder = folder()?;
    let kept = given["save"].as_str().filter(|path| !path.is_empty()).map(PathBuf::from);
    let result = kept.unwrap_or_else(|| folder.path().join("result"));
    let (target, own) = match given["url"].as_str().filter(|url| !url.is_empty()) {
        Some(url) if url.contains("://") && !url.starts_with('-') => (PathBuf::from(url), Value::Null),
        Some(url) => return Err(format!("url: found '{url}', expected an address such as http://localhost:8080/")),
        None => {
            let script = script(given, &folder)?;
            let (own, _) = inspected(&script, &folder, bounds, cancelled)?;
            (script, own)
        }
    };
    let mut command = onrush(&["run", "--quiet", "--no-color", "--summary-mode=disabled", "--offline"])?;
    command.arg("--include-system-env-vars=false").arg("--save").arg(&result);
    command.args(flags(given, &own, bounds)?).arg(target);
    let ended = finish(&mut command, &folder, bounds.duration, cancelled)?;
    let document = read(&result).map_err(|error| format!("{}\n{error}", ended.log))?;
    let mut answer = told(&document)?;
    answer.value["ended_by_max_duration"] = json!(ended.was_asked);
    answer.value["log"] = json!(ended.log);
    if ended.was_asked {
        answer.text.push_str("\nThe test was ended by --max-duration of this server.\n");
    }
    Ok(answer)
}

/// Flags of the test and the bounds. A flag beats the script's option, so the script's own bounds (`own`) are said
/// again where they are narrower.
fn flags(given: &Value, own: &Value, bounds: &Bounds) -> Result<Vec<String>, String> {
    let mut flags = Vec::new();
    let mut add = |name: &str, value: String| flags.push(format!("--{name}={value}"));
    if let Some(vus) = given["vus"].as_u64() {
        if vus > bounds.vus {
            return Err(format!("vus: found {vus}, expected at most {}, by --max-vus of this server", bounds.vus));
        }
        add("vus", vus.to_string());
    }
    for name in ["duration", "iterations"] {
        match &given[name] {
            Value::Null => {}
            Value::String(text) => add(name, text.clone()),
            other => add(name, other.to_string()),
        }
    }
    for threshold in texts(given, "thresholds") {
        add("threshold", threshold.to_owned());
    }
    for (name, value) in given["env"].as_object().into_iter().flatten() {
        add("env", format!("{name}={}", plain(value)));
    }
    let refused = bounds.refused.iter().map(ToString::to_string);
    let refused: Vec<String> = refused.chain(texts(own, "blacklistIPs").map(str::to_owned)).collect();
    add("blacklist-ip", refused.join(","));
    let rate = own["rps"].as_u64().filter(|rate| *rate > 0).unwrap_or(u64::MAX);
    add("rps", rate.min(bounds.rate).to_string());
    if given["serve"] == json!(true) {
        flags.push(String::from("--serve"));
    }
    Ok(flags)
}

/// How a process of this binary ended.
struct Ended {
    is_fine: bool,
    /// It was still running when its time was over.
    was_asked: bool,
    out: String,
    log: String,
}

/// Runs a command to its end; asks it to end when its time is over or the call was cancelled, and ends it when it does
/// not.
fn finish(
    command: &mut Command,
    folder: &PrivateFolder,
    longest: Duration,
    cancelled: &AtomicBool,
) -> Result<Ended, String> {
    let paths = ["out", "log"].map(|name| folder.path().join(name));
    let file = |path: &Path| File::create(path).map_err(|error| format!("{}: {error}", path.display()));
    command.stdout(file(&paths[0])?).stderr(file(&paths[1])?);
    let mut child = command.spawn().map_err(|error| format!("cannot start onrush: {error}"))?;
    let (began, mut asked_at) = (Instant::now(), None);
    let status = loop {
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            break status;
        }
        if asked_at.is_none() && (began.elapsed() >= longest || cancelled.load(Relaxed)) {
            asked_at = Some(Instant::now());
            let _gone = kill_process(Pid::from_child(&child), Signal::INT);
        }
        if asked_at.is_some_and(|at| at.elapsed() >= PATIENCE) {
            let _gone = child.kill();
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let text = |path: &Path| {
        let bytes = std::fs::read(path).unwrap_or_default();
        String::from_utf8_lossy(&bytes).trim().to_owned()
    };
    let was_asked = asked_at.is_some();
    Ok(Ended { is_fine: status.success(), was_asked, out: text(&paths[0]), log: text(&paths[1]) })
}

fn explain(path: &str) -> Result<Answer, String> {
    told(&read(path).map_err(|error| error.to_string())?)
}

fn told(document: &Document) -> Result<Answer, String> {
    let value = serde_json::to_value(digest(document)).map_err(|error| error.to_string())?;
    let mut text = of_run(document, &CiScript::default()).comment();
    let doubts = document.generator.judgement.iter().flat_map(|judgement| judgement.doubts());
    doubts.for_each(|doubt| text.push_str(&format!("\n{}: {}; {}\n", doubt.title, doubt.text, doubt.advice)));
    Ok(Answer { text, value })
}

fn compared(a: &str, b: &str, given: &Value) -> Result<Answer, String> {
    let wanted = texts(given, "metrics").map(Wanted::parse).collect::<Result<_, _>>()?;
    let conditions = texts(given, "fail_on").map(Condition::parse).collect::<Result<_, _>>()?;
    let (a, b) = compare::read_sides(a, b)?;
    let comparison = compare::compare(&a, &b, &Settings { wanted, conditions, ..Settings::default() })?;
    Ok(Answer { text: render::text(&comparison), value: render::json(&comparison) })
}

/// The script that is given by its path or, in a file of its own, by its text.
fn script(given: &Value, folder: &PrivateFolder) -> Result<PathBuf, String> {
    let text = |name: &str| given[name].as_str().filter(|text| !text.is_empty());
    match (text("script"), text("source")) {
        // A word that begins with a dash would be a flag.
        (Some(path), None) if !path.starts_with('-') => Ok(PathBuf::from(path)),
        (None, Some(source)) => {
            let path = folder.path().join("script.js");
            let written = std::fs::write(&path, source);
            written.map(|()| path).map_err(|error| format!("cannot write the script: {error}"))
        }
        _ => Err(String::from("expected one of script, a path, and source, the text of a script")),
    }
}

fn texts<'a>(given: &'a Value, name: &str) -> impl Iterator<Item = &'a str> {
    given[name].as_array().into_iter().flatten().filter_map(Value::as_str)
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn folder() -> Result<PrivateFolder, String> {
    PrivateFolder::make().map_err(|error| format!("cannot make a folder for the test: {error}"))
}

/// This binary, without what its environment would add to a test: options, proxies, the job that it runs in.
fn onrush(words: &[&str]) -> Result<Command, String> {
    let program = std::env::current_exe().map_err(|error| format!("cannot find onrush: {error}"))?;
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy().into_owned();
        let is_option = text.starts_with("K6_") || text.starts_with("ONRUSH_");
        if is_option || text.to_lowercase().ends_with("_proxy") || OF_JOBS.contains(&text.as_str()) {
            command.env_remove(name);
        }
    }
    command.args(words).stdin(Stdio::null());
    Ok(command)
}
