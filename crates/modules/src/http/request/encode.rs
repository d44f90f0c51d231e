//! The body as it goes out: compressed if the script asks for it, and the headers that describe it.

use wire::codec::encode;
use wire::{Method, Payload};

use super::body::BodyArg;
use super::params::Params;
use crate::http::common::url::{Target, Unsendable};
use script::Vu;

/// A body, coded and as the script gave it.
type Bodies = (Option<Payload>, Option<Payload>);

/// Applies compression and completes the headers that describe the body. Returns what is sent and what was given; fails
/// when a file to compress cannot be read.
pub fn encode_body(
    vu: &Vu,
    method: &Method,
    target: &Target,
    body: &BodyArg,
    params: &mut Params,
) -> Result<Bodies, Unsendable> {
    let plain = body.payload.clone();
    let mut added: Vec<(String, String)> = Vec::new();
    if let Some(kind) = body.content_type.as_ref().filter(|_| header(params, "Content-Type").is_none()) {
        added.push((String::from("Content-Type"), kind.clone()));
    }
    // Methods that define a body declare an empty one, as Go does.
    let empty = || matches!(method, Method::Post | Method::Put | Method::Patch).then(Payload::empty);
    let mut payload = plain.clone().or_else(empty);
    if let (Some(given), false) = (&plain, params.compression.codings.is_empty()) {
        let coded = params.compression.codings.iter().try_fold(given.clone(), |body, coding| encode(*coding, &body));
        payload = Some(coded.map_err(|failure| Unsendable { kind: failure.kind, message: failure.message })?);
        match header(params, "Content-Encoding") {
            None => added.push((String::from("Content-Encoding"), params.compression.header.clone())),
            Some(header) if *header != params.compression.header => warn_about_encoding(vu, method, target),
            Some(_) => {}
        }
    }
    let length = header(params, "Content-Length");
    if let Some(length) = length {
        warn_unless_length(vu, method, target, length, payload.as_ref().map_or(0, Payload::len));
    }
    if !added.is_empty() || length.is_some() {
        let kept = params.headers.iter().filter(|(name, _)| name != "Content-Length").cloned();
        params.headers = kept.chain(added).collect();
    }
    Ok((payload, plain))
}

fn header<'a>(params: &'a Params, name: &str) -> Option<&'a String> {
    params.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value)
}

// Cold: it is called only to warn.
#[cold]
fn warn_about_encoding(vu: &Vu, method: &Method, target: &Target) {
    let message = format!(
        "There's a mismatch between the desired `compression` the manually set `Content-Encoding` header in the {} \
         request for '{}', the custom header has precedence and won't be overwritten. This may result in invalid data \
         being sent to the server.",
        method.as_str(),
        target.name
    );
    vu.log().warn(&message, &[]);
}

/// k6 does not send the length that a script gives.
// Cold: few scripts give a length.
#[cold]
fn warn_unless_length(vu: &Vu, method: &Method, target: &Target, given: &str, real: u64) {
    if given.parse() == Ok(real) {
        return;
    }
    let message = format!(
        "The specified Content-Length header {given:?} in the {} request for {} doesn't match the actual request body \
         length of {real}, so it will be ignored!",
        method.as_str(),
        target.name
    );
    vu.log().warn(&message, &[]);
}
