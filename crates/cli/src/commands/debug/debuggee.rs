//! The run's process: `onrush run` with a debugger, which the adapter speaks with by this process's standard input.
//!
//! Invariant: the run begins when the editor has said what it stops at, and the process ends with its adapter.

use std::io::{self, BufRead, BufReader};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use script::debug::{DebugEvent, Debugger};
use serde_json::{Value, json};

use super::messages::{self, event};
use super::requests;
use crate::exit_code::ExitCode;
use crate::failure::Failure;

/// The way to the adapter. Threads of users write to it.
#[derive(Clone)]
pub struct ToAdapter(Arc<Mutex<UnixStream>>);

impl ToAdapter {
    /// Sends a message.
    pub fn send(&self, message: &Value) {
        let mut stream = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // The adapter's end is noticed where requests are read.
        let _gone = messages::write_line(&mut *stream, message);
    }
}

/// Runs a test as the editor wants it; none: without stopping.
pub fn main(run: impl FnOnce(Option<Arc<Debugger>>) -> Result<ExitCode, Failure>) -> Result<ExitCode, Failure> {
    let failed = |error: io::Error| Failure::new(ExitCode::Generic, format!("no debug adapter is there: {error}"));
    let stream = UnixStream::from(io::stdin().as_fd().try_clone_to_owned().map_err(failed)?);
    let adapter = ToAdapter(Arc::new(Mutex::new(stream.try_clone().map_err(failed)?)));
    let teller = adapter.clone();
    let debugger = Debugger::new(move |report| teller.send(&news(report)));
    let (configured, begins) = mpsc::channel();
    let asked = Arc::clone(&debugger);
    thread::spawn(move || listen(stream, &asked, &adapter, &configured));
    let launch: Value = begins.recv().map_err(|_| Failure::new(ExitCode::Generic, "the debug adapter is gone"))?;
    if launch["stopOnEntry"] == true {
        debugger.stop_at_entry();
    }
    run((launch["noDebug"] != true).then_some(debugger))
}

/// Does what the adapter asks, until it is gone; then this process ends.
fn listen(stream: UnixStream, debugger: &Arc<Debugger>, adapter: &ToAdapter, configured: &Sender<Value>) {
    let mut launch = Value::Null;
    for line in BufReader::new(stream).lines().map_while(Result::ok) {
        let Ok(request) = serde_json::from_str::<Value>(&line) else { continue };
        match request["command"].as_str().unwrap_or_default() {
            "launch" => launch = request["arguments"].clone(),
            "configurationDone" => {
                adapter.send(&messages::done(&request, json!({})));
                let _runs_already = configured.send(launch.take());
            }
            "terminate" => {
                debugger.detach();
                let _sent = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::INT);
            }
            _ => requests::handle(debugger, adapter, &request),
        }
    }
    std::process::exit(ExitCode::Signal as i32);
}

/// What users tell, as an event.
fn news(report: DebugEvent) -> Value {
    match report {
        DebugEvent::Thread(thread) => event("thread", json!({ "reason": "started", "threadId": thread })),
        DebugEvent::Continued(thread) => {
            event("continued", json!({ "threadId": thread, "allThreadsContinued": false }))
        }
        DebugEvent::Stopped { thread, why } => {
            let mut body = json!({ "reason": why.reason, "threadId": thread, "allThreadsStopped": false });
            if let Some(text) = why.text {
                body["text"] = text.into();
                body["description"] = "Uncaught exception".into();
            }
            event("stopped", body)
        }
    }
}
