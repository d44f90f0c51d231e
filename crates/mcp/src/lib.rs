//! Tools for a program that speaks the Model Context Protocol, over standard input and output.
//!
//! The protocol is the crate `rmcp`'s; ours are the lines it travels in, and one call after the other. What the tools
//! are is whoever serves them to say.

#[cfg(feature = "protocol")]
mod client;
#[cfg(feature = "protocol")]
mod server;

use std::io;
use std::sync::atomic::AtomicBool;

use serde_json::Value;

/// Tools that can be called.
pub trait Tools: Send + Sync + 'static {
    /// The tools with their arguments as JSON schemas, in the form of the protocol.
    fn list(&self) -> Value;

    /// Calls one, on a thread that may block. The flag says that the client waits no more.
    fn call(&self, name: &str, given: &Value, is_cancelled: &AtomicBool) -> Called;
}

/// What a tool answers with.
pub struct Answer {
    /// For who reads text.
    pub text: String,
    /// The same for who reads JSON.
    pub value: Value,
}

/// What became of a call: wrong arguments, or an answer or a message that the tool failed with.
pub type Called = Result<Result<Answer, String>, String>;

/// Who serves the tools.
#[derive(Clone, Copy, Debug)]
pub struct Server {
    /// The program.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
    /// What the client is told about all tools together.
    pub instructions: &'static str,
    /// Writes a line to standard output, which is the protocol's.
    pub print: fn(&str) -> io::Result<()>,
}

/// Answers until standard input ends; the error says why it could not.
#[cfg(feature = "protocol")]
pub fn serve(server: Server, tools: impl Tools) -> Result<(), String> {
    server::serve(server, tools)
}

/// Says that this build cannot.
#[cfg(not(feature = "protocol"))]
pub fn serve(_: Server, _: impl Tools) -> Result<(), String> {
    Err(units::left_out("mcp"))
}
