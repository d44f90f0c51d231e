//! A chat completion in the shape that OpenAI's servers gave it: one token an event, or all at once.
//!
//! The tokens mean nothing; when they come is the point: the first after `?first=`, each other `?gap=` after the one
//! before it.

use std::time::Duration;

use serde_json::{Value, json};

use crate::outgoing::respond::{Body, Reply, Response};
use crate::outgoing::timed::{TimedPiece, TimedPieces};
use crate::request::{Request, bad_request};

/// Tokens of an answer unless the request says otherwise, and at most.
const TOKENS: (u64, u64) = (32, 100_000);
const WORDS: [&str; 8] = ["load", " is", " what", " users", " do", " all", " at", " once"];

pub(crate) fn completions(request: &Request<'_>) -> Reply {
    try_completions(request).map_or_else(|reply| *reply, Reply::from)
}

fn try_completions(request: &Request<'_>) -> Result<Response, Box<Reply>> {
    let asked: Value =
        serde_json::from_slice(request.body).map_err(|error| bad_request(&format!("the body is not JSON: {error}")))?;
    let model = asked["model"].as_str().unwrap_or("onrush").to_owned();
    let tokens = match &asked["max_tokens"] {
        Value::Null => TOKENS.0,
        given => given.as_u64().filter(|tokens| (1..=TOKENS.1).contains(tokens)).ok_or_else(|| {
            bad_request(&format!("max_tokens is {given}, expected a whole number from 1 to {}", TOKENS.1))
        })?,
    };
    let first = request.duration("first", Duration::from_millis(200))?;
    let gap = request.duration("gap", Duration::from_millis(20))?;
    let word = |at: u64| WORDS[(at % WORDS.len() as u64) as usize];
    let usage = json!({ "prompt_tokens": 1, "completion_tokens": tokens, "total_tokens": tokens + 1 });
    if asked["stream"] != true {
        let text: String = (0..tokens).map(word).collect();
        let choice = json!({
            "index": 0, "finish_reason": "length", "message": { "role": "assistant", "content": text },
        });
        let answer = json!({ "id": "chatcmpl-0", "object": "chat.completion", "created": 0, "model": model,
            "choices": [choice], "usage": usage });
        let whole = first + gap * u32::try_from(tokens - 1).unwrap_or(u32::MAX);
        return Ok(Response::json(200, &answer).after(whole));
    }
    let tells_usage = asked["stream_options"]["include_usage"] == true;
    let event = move |choices: Value, usage: &Value| {
        let chunk = json!({ "id": "chatcmpl-0", "object": "chat.completion.chunk", "created": 0, "model": model,
            "choices": choices, "usage": usage });
        format!("data: {chunk}\n\n")
    };
    let pieces = (0..tokens).map(move |at| {
        let delta = json!([{ "index": 0, "delta": { "content": word(at) }, "finish_reason": null }]);
        let mut text = event(delta, &Value::Null);
        if at + 1 == tokens {
            text += &event(json!([{ "index": 0, "delta": {}, "finish_reason": "length" }]), &Value::Null);
            if tells_usage {
                text += &event(json!([]), &usage);
            }
            text += "data: [DONE]\n\n";
        }
        TimedPiece { wait: if at == 0 { Duration::ZERO } else { gap }, bytes: text.into() }
    });
    let body = Body::Stream { length: None, pieces: Box::new(TimedPieces::new(pieces)) };
    let response = Response::new(200, "text/event-stream", body).after(first);
    Ok(response.header("Cache-Control", "no-store"))
}
