//! The response object of `k6/ws` and `k6/x/sse`: five plain fields.

use host::js::{Ctx, Object, Result};
use wire::field::canonical;
use wire::response::{Body, Response};

/// The object. Without an answer all fields but `url` and `error` are empty.
pub fn response<'js>(ctx: &Ctx<'js>, url: &str, answer: Option<&Response>, error: &str) -> Result<Object<'js>> {
    let response = Object::new(ctx.clone())?;
    response.set("url", url)?;
    response.set("status", answer.map_or(0, |answer| answer.status))?;
    let headers = Object::new(ctx.clone())?;
    for (name, value) in answer.iter().flat_map(|answer| answer.headers()) {
        let (name, value) = (canonical(name), String::from_utf8_lossy(value));
        let before: Option<String> = headers.get(name.as_str())?;
        headers.set(name, before.map_or(value.to_string(), |before| format!("{before}, {value}")))?;
    }
    response.set("headers", headers)?;
    let body = match answer.map(|answer| &answer.body) {
        Some(Body::Kept(body)) => String::from_utf8_lossy(body).into_owned(),
        _ => String::new(),
    };
    response.set("body", body)?;
    response.set("error", error)?;
    Ok(response)
}
