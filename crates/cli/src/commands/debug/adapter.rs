//! The adapter's process: it starts and ends the run, passes messages between it and the editor, and tells what the run
//! prints.

use std::io::{self, BufRead, BufReader, Read};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use serde_json::{Value, json};

use super::messages::{self, Editor, EditorMessage, done, event, refused};
use crate::exit_code::ExitCode;
use crate::failure::Failure;

type ToEditor = Arc<Editor<io::Stdout>>;

/// The run that is debugged.
struct LaunchedRun {
    child: Arc<Mutex<Child>>,
    requests: UnixStream,
}

struct Adapter {
    editor: ToEditor,
    /// Of the command line.
    script: Option<String>,
    run: Option<LaunchedRun>,
}

/// Serves the editor until it disconnects or is gone.
pub fn serve(script: Option<String>) -> Result<ExitCode, Failure> {
    let mut adapter = Adapter { editor: Arc::new(Editor::new(io::stdout())), script, run: None };
    let mut input = io::stdin().lock();
    let ended = loop {
        match messages::read(&mut input) {
            Ok(Some(EditorMessage::Json(request))) if request["command"].is_string() && request["seq"].is_u64() => {
                if !adapter.handle(&request) {
                    break Ok(ExitCode::Ok);
                }
            }
            Ok(Some(EditorMessage::Json(other))) if other["type"] == "response" => {}
            Ok(Some(EditorMessage::Json(_))) => {
                adapter.complain("a message is no request: expected the fields seq and command");
            }
            Ok(Some(EditorMessage::Unreadable(why))) => adapter.complain(&why),
            Ok(None) => break Ok(ExitCode::Ok),
            Err(why) => break Err(Failure::new(ExitCode::Generic, format!("onrush debug: {why}"))),
        }
    };
    adapter.kill();
    ended
}

impl Adapter {
    /// Does what a request wants; whether there may be another one.
    fn handle(&mut self, request: &Value) -> bool {
        match request["command"].as_str().unwrap_or_default() {
            "initialize" => self.editor.send(greeting(request)),
            "launch" => match self.launch(&request["arguments"]) {
                Ok(()) => {
                    self.editor.send(done(request, json!({})));
                    self.editor.send(event("initialized", json!({})));
                }
                Err(why) => self.editor.send(refused(request, &why)),
            },
            "attach" => self.editor.send(refused(request, "a run cannot be attached to; expected launch")),
            "disconnect" => {
                self.kill();
                self.editor.send(done(request, json!({})));
                return false;
            }
            "terminate" => {
                let is_told = self.pass(request);
                self.editor.send(if is_told { done(request, json!({})) } else { refused(request, NOTHING_RUNS) });
            }
            _ => {
                if !self.pass(request) {
                    self.editor.send(refused(request, NOTHING_RUNS));
                }
            }
        }
        true
    }

    /// What is wrong with a message, for the editor's console.
    fn complain(&self, why: &str) {
        let text = format!("onrush debug: {why}\n");
        self.editor.send(event("output", json!({ "category": "important", "output": text })));
    }

    /// Passes a request to the run; whether there is one.
    fn pass(&self, request: &Value) -> bool {
        self.run.as_ref().is_some_and(|run| messages::write_line(&mut &run.requests, request).is_ok())
    }

    /// Starts the run.
    fn launch(&mut self, arguments: &Value) -> Result<(), String> {
        if self.run.is_some() {
            return Err(String::from("a run has been launched already"));
        }
        let (ours, theirs) = UnixStream::pair().map_err(|error| format!("cannot make a socket: {error}"))?;
        let mut command = self.command(arguments)?;
        command.stdin(OwnedFd::from(theirs)).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("cannot start the run: {error}"))?;
        // Holds the run's end of the socket.
        drop(command);
        let failed = |error: io::Error| format!("cannot speak with the run: {error}");
        messages::write_line(&mut &ours, &json!({ "command": "launch", "arguments": arguments })).map_err(failed)?;
        let told = ours.try_clone().map_err(failed)?;
        let output = child.stdout.take().map(|output| self.tell_output(output, "stdout"));
        let errors = child.stderr.take().map(|errors| self.tell_output(errors, "stderr"));
        let child = Arc::new(Mutex::new(child));
        let (editor, running) = (Arc::clone(&self.editor), Arc::clone(&child));
        thread::spawn(move || {
            let lines = BufReader::new(told).lines().map_while(Result::ok);
            lines.filter_map(|line| serde_json::from_str(&line).ok()).for_each(|message| editor.send(message));
            output.into_iter().chain(errors).for_each(|thread| drop(thread.join()));
            let status = running.lock().unwrap_or_else(PoisonError::into_inner).wait();
            let code = status.ok().and_then(|status| status.code()).unwrap_or(-1);
            editor.send(event("exited", json!({ "exitCode": code })));
            editor.send(event("terminated", json!({})));
        });
        self.run = Some(LaunchedRun { child, requests: ours });
        Ok(())
    }

    /// The command of the run, by what the editor's launch says.
    fn command(&self, arguments: &Value) -> Result<Command, String> {
        let program = arguments["program"].as_str().map(str::to_owned).or_else(|| self.script.clone());
        let program = program.ok_or("program: expected the path of a script")?;
        let folder = arguments["cwd"].as_str().map(Path::new);
        let at = folder.map_or_else(|| Path::new(&program).to_owned(), |folder| folder.join(&program));
        if !at.is_file() {
            return Err(format!("program: there is no script {}", at.display()));
        }
        let binary = std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
        let mut command = Command::new(binary);
        command.arg(super::DEBUGGEE);
        match &arguments["args"] {
            Value::Null => {}
            Value::Array(args) => {
                for arg in args {
                    command.arg(arg.as_str().ok_or_else(|| format!("args: found {arg}, expected a text"))?);
                }
            }
            other => return Err(format!("args: found {other}, expected a list of texts")),
        }
        command.arg(&program);
        if let Some(folder) = folder {
            command.current_dir(folder);
        }
        match &arguments["env"] {
            Value::Null => {}
            Value::Object(env) => env.iter().for_each(|(name, value)| {
                match value {
                    Value::Null => command.env_remove(name),
                    Value::String(text) => command.env(name, text),
                    other => command.env(name, other.to_string()),
                };
            }),
            other => return Err(format!("env: found {other}, expected an object of texts")),
        }
        Ok(command)
    }

    /// Tells the editor what the run prints.
    fn tell_output(&self, output: impl Read + Send + 'static, category: &'static str) -> thread::JoinHandle<()> {
        let editor = Arc::clone(&self.editor);
        thread::spawn(move || {
            let mut output = BufReader::new(output);
            let mut line = Vec::new();
            while output.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
                let text = String::from_utf8_lossy(&line);
                editor.send(event("output", json!({ "category": category, "output": text })));
                line.clear();
            }
        })
    }

    /// Ends the run at once.
    fn kill(&mut self) {
        if let Some(run) = self.run.take() {
            // The run ends with this stream, also when the thread that waits for its end holds the child.
            let _gone = run.requests.shutdown(std::net::Shutdown::Both);
            if let Ok(mut child) = run.child.try_lock() {
                let _has_ended = child.kill();
                let _status = child.wait();
            }
        }
    }
}

const NOTHING_RUNS: &str = "no script runs: expected launch before";

/// The answer to `initialize`: what can be asked.
fn greeting(request: &Value) -> Value {
    let arguments = &request["arguments"];
    for name in ["linesStartAt1", "columnsStartAt1"] {
        if arguments[name] == false {
            return refused(request, &format!("{name}: found false, expected true"));
        }
    }
    let uncaught = json!({ "filter": "uncaught", "label": "Uncaught exceptions", "default": true });
    done(
        request,
        json!({
            "supportsConfigurationDoneRequest": true,
            "supportsConditionalBreakpoints": true,
            "supportsEvaluateForHovers": true,
            "supportsTerminateRequest": true,
            "exceptionBreakpointFilters": [uncaught],
        }),
    )
}
