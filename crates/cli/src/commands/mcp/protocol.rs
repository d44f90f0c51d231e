//! JSON-RPC 2.0 as the Model Context Protocol has it: a message a line, answers by number, notifications without one.
//!
//! A tool that fails is an answer that says so (`isError`); an error of the protocol is a request that cannot be
//! understood. Batches were in one version of the protocol and are refused.

use serde_json::{Value, json};

use super::bounds::Bounds;
use super::tools;

/// Versions that this server is written for, the newest first.
const VERSIONS: [&str; 3] = ["2025-06-18", "2025-03-26", "2024-11-05"];

const INSTRUCTIONS: &str = "Load tests with k6 scripts. Validate a script first, run it for some seconds, and read the \
                            judgement before the figures: figures of an INVALID run are no evidence. Differences \
                            between two runs prove little; compare_results says what is proven.";

/// The answer to a line; none to a notification.
pub(super) fn answer(line: &str, bounds: &Bounds) -> Option<Value> {
    if line.trim().is_empty() {
        return None;
    }
    let Ok(request) = serde_json::from_str::<Value>(line) else {
        return Some(error(&Value::Null, -32700, "found no JSON, expected a JSON-RPC message on one line"));
    };
    let id = request.get("id")?.clone();
    let Some(method) = request["method"].as_str() else {
        return Some(error(&id, -32600, "found no method, expected a JSON-RPC request"));
    };
    let result = match method {
        "initialize" => initialize(&request["params"]),
        "ping" => json!({}),
        "tools/list" => json!({ "tools": tools::list() }),
        "tools/call" => match tools::call(&request["params"], bounds) {
            Ok(result) => result,
            Err(message) => return Some(error(&id, -32602, &message)),
        },
        other => return Some(error(&id, -32601, &format!("there is no method '{other}'"))),
    };
    Some(json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}

fn initialize(params: &Value) -> Value {
    let known = VERSIONS.iter().find(|version| params["protocolVersion"] == **version);
    json!({
        "protocolVersion": known.unwrap_or(&VERSIONS[0]),
        "capabilities": { "tools": { "listChanged": false } },
        "serverInfo": { "name": "onrush", "version": env!("CARGO_PKG_VERSION") },
        "instructions": INSTRUCTIONS,
    })
}

fn error(id: &Value, code: i32, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}
