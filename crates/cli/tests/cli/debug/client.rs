//! An editor, as far as a debug adapter sees one: messages with their heads, over the adapter's standard input and
//! output.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::lab::Lab;

/// How long the adapter may take for anything.
const PATIENCE: Duration = Duration::from_secs(60);

/// A client of one adapter, which ends with it.
pub struct Client {
    adapter: Child,
    input: Option<ChildStdin>,
    came: Receiver<Value>,
    /// Events that nobody has waited for yet.
    pub events: Vec<Value>,
    seq: u64,
}

impl Client {
    /// Starts an adapter.
    pub fn start(lab: &Lab, arguments: &[&str]) -> Client {
        let mut command = lab.command(&[&["debug"], arguments].concat());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut adapter = command.spawn().expect("it starts");
        let output = adapter.stdout.take().expect("piped");
        let (tell, came) = channel();
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            while let Some(message) = read(&mut output) {
                if tell.send(message).is_err() {
                    return;
                }
            }
        });
        let input = adapter.stdin.take();
        Client { adapter, input, came, events: Vec::new(), seq: 0 }
    }

    /// The usual beginning, up to the run's: greeting, launch, breakpoints in files by their lines.
    pub fn launch(lab: &Lab, launch: Value, breakpoints: &[(&Path, &[u32])]) -> Client {
        let mut client = Client::start(lab, &[]);
        client.done("initialize", json!({ "adapterID": "onrush", "linesStartAt1": true }));
        client.done("launch", launch);
        client.event("initialized");
        for (path, lines) in breakpoints {
            let lines: Vec<Value> = lines.iter().map(|line| json!({ "line": line })).collect();
            client.done("setBreakpoints", json!({ "source": { "path": path }, "breakpoints": lines }));
        }
        client.done("configurationDone", json!({}));
        client
    }

    /// Writes bytes as they are.
    pub fn raw(&mut self, bytes: &str) {
        self.input.as_mut().expect("open").write_all(bytes.as_bytes()).expect("it reads");
    }

    /// Sends a request; its answer.
    pub fn request(&mut self, command: &str, arguments: Value) -> Value {
        self.seq += 1;
        let request = json!({ "seq": self.seq, "type": "request", "command": command, "arguments": arguments });
        let text = request.to_string();
        self.raw(&format!("Content-Length: {}\r\n\r\n{text}", text.len()));
        loop {
            let message = self.next();
            match message["type"].as_str() {
                Some("response") if message["request_seq"] == self.seq => return message,
                Some("event") => self.events.push(message),
                _ => panic!("no answer to {request}, but {message}"),
            }
        }
    }

    /// Sends a request that has to succeed; the body of its answer.
    pub fn done(&mut self, command: &str, arguments: Value) -> Value {
        let answer = self.request(command, arguments);
        assert_eq!(answer["success"], true, "{answer}");
        answer["body"].clone()
    }

    /// Sends a request that has to fail; why it does.
    pub fn refused(&mut self, command: &str, arguments: Value) -> String {
        let answer = self.request(command, arguments);
        assert_eq!(answer["success"], false, "{answer}");
        answer["message"].as_str().expect("a text").to_owned()
    }

    /// The body of the next event of this name.
    pub fn event(&mut self, name: &str) -> Value {
        loop {
            if let Some(at) = self.events.iter().position(|event| event["event"] == name) {
                return self.events.remove(at)["body"].take();
            }
            let message = self.next();
            assert_eq!(message["type"], "event", "waiting for {name}");
            self.events.push(message);
        }
    }

    /// The place at which a user stops next: reason, file name and line.
    pub fn stopped(&mut self, thread: u64) -> (String, String, u64) {
        let stopped = self.event("stopped");
        assert_eq!((&stopped["threadId"], &stopped["allThreadsStopped"]), (&json!(thread), &json!(false)));
        let frame = self.done("stackTrace", json!({ "threadId": thread }))["stackFrames"][0].take();
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        (text(&stopped["reason"]), text(&frame["source"]["name"]), frame["line"].as_u64().expect("a line"))
    }

    /// Lets a user do something, and says where it stops then.
    pub fn step(&mut self, thread: u64, command: &str) -> (String, String, u64) {
        self.done(command, json!({ "threadId": thread }));
        self.stopped(thread)
    }

    /// The value of a text in the innermost frame.
    pub fn value(&mut self, text: &str) -> String {
        let body = self.done("evaluate", json!({ "expression": text, "frameId": 1, "context": "watch" }));
        body["result"].as_str().expect("a text").to_owned()
    }

    /// Names and values of a scope of a frame.
    pub fn scope(&mut self, frame: u64, name: &str) -> Vec<(String, String)> {
        let scopes = self.done("scopes", json!({ "frameId": frame }));
        let scopes = scopes["scopes"].as_array().expect("a list").clone();
        let scope = scopes.iter().find(|scope| scope["name"] == name);
        let scope = scope.unwrap_or_else(|| panic!("no scope {name} in {scopes:?}"));
        self.variables(&scope["variablesReference"])
    }

    /// Names and values of what a number stands for.
    pub fn variables(&mut self, reference: &Value) -> Vec<(String, String)> {
        let body = self.done("variables", json!({ "variablesReference": reference }));
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let all = body["variables"].as_array().expect("a list").iter();
        all.map(|variable| (text(&variable["name"]), text(&variable["value"]))).collect()
    }

    /// What the run has printed so far, of one category.
    pub fn output(&self, category: &str) -> String {
        let outputs = self.events.iter().filter(|event| event["event"] == "output");
        let outputs = outputs.filter(|event| event["body"]["category"] == category);
        outputs.filter_map(|event| event["body"]["output"].as_str()).collect()
    }

    /// Waits for the end of the run; its exit code.
    pub fn exit_code(&mut self) -> i64 {
        let code = self.event("exited")["exitCode"].as_i64().expect("a number");
        self.event("terminated");
        code
    }

    /// Ends the stream; the adapter's exit code, and what it said on standard error.
    pub fn end(mut self) -> (Option<i32>, String) {
        drop(self.input.take());
        let mut said = String::new();
        self.adapter.stderr.take().expect("piped").read_to_string(&mut said).expect("text");
        (self.adapter.wait().expect("it ends").code(), said)
    }

    fn next(&mut self) -> Value {
        self.came.recv_timeout(PATIENCE).unwrap_or_else(|error| {
            panic!("{error}; the run said {}{}", self.output("stderr"), self.output("important"))
        })
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.input.take());
        let _has_ended = self.adapter.kill();
        let _status = self.adapter.wait();
    }
}

fn read(output: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        output.read_line(&mut line).ok().filter(|length| *length > 0)?;
        match line.trim_end().strip_prefix("Content-Length: ") {
            Some(text) => length = text.parse().expect("a length"),
            None => break,
        }
    }
    let mut bytes = vec![0; length];
    output.read_exact(&mut bytes).ok()?;
    Some(serde_json::from_slice(&bytes).expect("JSON"))
}
