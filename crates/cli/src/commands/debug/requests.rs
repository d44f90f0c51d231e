//! Requests of an editor to a run: breakpoints, steps, frames, variables.
//!
//! Numbers of variables: from `SCOPES` on they stand for a scope of a frame; below, for a value that was told.

use std::path::Path;
use std::sync::Arc;

use script::debug::{self, Debugger, FrameView, Go, Inspection, InspectionReply, ScopeKind, WantedBreakpoint};
use serde_json::{Value, json};

use super::debuggee::ToAdapter;
use super::messages::{done, refused};

/// The number of the first scope of the first frame.
const SCOPES: u64 = 1 << 30;

/// The scopes of a frame, in the order in which they are shown.
const SCOPE_NAMES: [&str; 5] = ["Local", "Closure", "Module", "Globals", "Last response"];
const KINDS: [ScopeKind; 3] = [ScopeKind::Local, ScopeKind::Closure, ScopeKind::Module];

/// Globals of a test.
const GLOBALS: [&str; 3] = ["__VU", "__ITER", "__ENV"];

/// Does what a request wants.
pub fn handle(debugger: &Arc<Debugger>, adapter: &ToAdapter, request: &Value) {
    let arguments = &request["arguments"];
    let thread = arguments["threadId"].as_u64().unwrap_or_default();
    let answer = match request["command"].as_str().unwrap_or_default() {
        "setBreakpoints" => set_breakpoints(debugger, arguments),
        "setExceptionBreakpoints" => {
            let wants = |filter: &Value| filter == "uncaught" || filter["filterId"] == "uncaught";
            let filters = ["filters", "filterOptions"].map(|name| arguments[name].as_array());
            debugger.stop_at_uncaught(filters.into_iter().flatten().flatten().any(wants));
            Ok(json!({}))
        }
        "threads" => {
            let all = debugger.threads().into_iter();
            let all: Vec<_> = all.map(|id| json!({ "id": id, "name": debug::thread_name(id) })).collect();
            Ok(json!({ "threads": all }))
        }
        "stackTrace" => stack_trace(debugger, thread, arguments),
        "scopes" => scopes(debugger, arguments),
        "variables" | "evaluate" => return ask(debugger, adapter, request),
        "pause" if debugger.pause(thread) => Ok(json!({})),
        "pause" => Err(format!("threadId: there is no user {thread}")),
        command @ ("continue" | "next" | "stepIn" | "stepOut") => {
            if debugger.stopped() != Some(thread) {
                Err(format!("{} is not stopped", debug::thread_name(thread)))
            } else {
                // Before the news of the next stop.
                adapter.send(&done(request, json!({ "allThreadsContinued": false })));
                let go = match command {
                    "next" => Go::Over,
                    "stepIn" => Go::In,
                    "stepOut" => Go::Out,
                    _ => Go::On,
                };
                debugger.go(thread, go);
                return;
            }
        }
        other => Err(format!("{other}: this adapter has no such request")),
    };
    adapter.send(&match answer {
        Ok(body) => done(request, body),
        Err(why) => refused(request, &why),
    });
}

fn set_breakpoints(debugger: &Debugger, arguments: &Value) -> Result<Value, String> {
    let path = arguments["source"]["path"].as_str().ok_or("source.path: expected the path of a file")?;
    let listed = arguments["breakpoints"].as_array().map(Vec::as_slice).unwrap_or_default();
    let number = |value: &Value| value.as_u64().and_then(|number| u32::try_from(number).ok());
    let wanted = listed.iter().map(|breakpoint| {
        let line = number(&breakpoint["line"]).ok_or("breakpoints: expected a line in each")?;
        let condition = breakpoint["condition"].as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned);
        Ok(WantedBreakpoint { line, column: number(&breakpoint["column"]), condition })
    });
    let wanted = wanted.collect::<Result<Vec<_>, &str>>()?;
    let placed = debugger.set_breakpoints(Path::new(path), &wanted);
    let told = placed.into_iter().zip(&wanted).map(|(placed, wanted)| match placed {
        Ok(at) => json!({ "verified": true, "line": at.line, "column": at.column }),
        Err(why) => json!({ "verified": false, "line": wanted.line, "message": why }),
    });
    Ok(json!({ "breakpoints": told.collect::<Vec<_>>() }))
}

fn stack_trace(debugger: &Debugger, thread: u64, arguments: &Value) -> Result<Value, String> {
    let frames = debugger.frames(thread);
    let frames = frames.ok_or_else(|| format!("{} is not stopped", debug::thread_name(thread)))?;
    let first = arguments["startFrame"].as_u64().unwrap_or_default() as usize;
    let most = arguments["levels"].as_u64().filter(|levels| *levels > 0).map_or(usize::MAX, |levels| levels as usize);
    let told = frames.iter().enumerate().skip(first).take(most).map(|(number, frame)| frame_json(number, frame));
    Ok(json!({ "stackFrames": told.collect::<Vec<_>>(), "totalFrames": frames.len() }))
}

fn frame_json(number: usize, frame: &FrameView) -> Value {
    let name = if frame.function.is_empty() { "<anonymous>" } else { &frame.function };
    let source = match frame.module.strip_prefix("file://") {
        Some(path) => {
            let name = Path::new(path).file_name().map(|name| name.to_string_lossy());
            json!({ "name": name, "path": path })
        }
        None => json!({ "name": frame.module, "presentationHint": "deemphasize" }),
    };
    let (line, column) = (frame.position.line, frame.position.column);
    json!({ "id": number + 1, "name": name, "source": source, "line": line, "column": column })
}

/// A frame by its number, from 1.
fn frame_at(debugger: &Debugger, number: u64) -> Result<(usize, FrameView), String> {
    let frames = debugger.stopped().and_then(|thread| debugger.frames(thread)).ok_or("no user is stopped")?;
    let at = number.checked_sub(1).and_then(|at| usize::try_from(at).ok());
    let found = at.and_then(|at| Some((at, frames.get(at)?.clone())));
    found.ok_or_else(|| format!("frameId: there is no frame {number}"))
}

fn scopes(debugger: &Debugger, arguments: &Value) -> Result<Value, String> {
    let number = arguments["frameId"].as_u64().unwrap_or_default();
    let (at, frame) = frame_at(debugger, number)?;
    let is_there = |kind: usize| match KINDS.get(kind) {
        Some(kind) => frame.site.as_ref().is_some_and(|site| !site.names(*kind).is_empty()),
        None => true,
    };
    let told = SCOPE_NAMES.iter().enumerate().filter(|(kind, _)| is_there(*kind)).map(|(kind, name)| {
        let reference = SCOPES + (at * SCOPE_NAMES.len() + kind) as u64;
        let hint = if kind == 0 { "locals" } else { "" };
        json!({ "name": name, "presentationHint": hint, "variablesReference": reference, "expensive": kind > 1 })
    });
    Ok(json!({ "scopes": told.collect::<Vec<_>>() }))
}

/// Requests that the stopped user itself answers.
fn ask(debugger: &Arc<Debugger>, adapter: &ToAdapter, request: &Value) {
    let question = match request["command"] == "evaluate" {
        true => evaluation(debugger, &request["arguments"]),
        false => variables(debugger, &request["arguments"]),
    };
    let thread = debugger.stopped().ok_or_else(|| String::from("no user is stopped"));
    let (question, thread) = match question.and_then(|question| Ok((question, thread?))) {
        Ok(asked) => asked,
        Err(why) => return adapter.send(&refused(request, &why)),
    };
    let (adapter, request) = (adapter.clone(), request.clone());
    let reply = InspectionReply::new(move |answer| {
        let answer = answer.and_then(|text| serde_json::from_str::<Value>(&text).map_err(|error| error.to_string()));
        adapter.send(&match answer {
            Ok(Value::Array(variables)) => done(&request, json!({ "variables": variables })),
            Ok(value) => done(
                &request,
                json!({ "result": value["value"], "type": value["type"],
                    "variablesReference": value["variablesReference"] }),
            ),
            Err(why) => refused(&request, &why),
        });
    });
    debugger.ask(thread, question, reply);
}

fn evaluation(debugger: &Debugger, arguments: &Value) -> Result<Inspection, String> {
    let text = arguments["expression"].as_str().ok_or("expression: expected a text")?.to_owned();
    let (frame, _) = frame_at(debugger, arguments["frameId"].as_u64().unwrap_or(1))?;
    Ok(Inspection::Value { frame, text })
}

fn variables(debugger: &Debugger, arguments: &Value) -> Result<Inspection, String> {
    let number = arguments["variablesReference"].as_u64().ok_or("variablesReference: expected a number")?;
    let Some(scope) = number.checked_sub(SCOPES) else {
        let number = u32::try_from(number).map_err(|error| error.to_string())?;
        return Ok(Inspection::Parts(number));
    };
    let (frame, kind) = (scope / SCOPE_NAMES.len() as u64, scope as usize % SCOPE_NAMES.len());
    let (frame, view) = frame_at(debugger, frame + 1)?;
    Ok(match KINDS.get(kind) {
        Some(kind) => {
            let names = view.site.map(|site| site.names(*kind)).unwrap_or_default();
            Inspection::Names { frame, names }
        }
        None if kind == KINDS.len() => Inspection::Globals(GLOBALS.map(str::to_owned).to_vec()),
        None => Inspection::LastResponse,
    })
}
