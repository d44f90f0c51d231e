//! What came in, told back in go-httpbin's shapes.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::outgoing::respond::{Reply, Response};
use crate::request::{Request, bad_request};
use crate::routes::form;

pub(crate) fn get(request: &Request<'_>) -> Reply {
    Response::json(200, &request.echo().into()).into()
}

pub(crate) fn headers(request: &Request<'_>) -> Reply {
    Response::json(200, &json!({ "headers": request.headers() })).into()
}

pub(crate) fn ip(request: &Request<'_>) -> Reply {
    Response::json(200, &json!({ "origin": request.origin() })).into()
}

pub(crate) fn user_agent(request: &Request<'_>) -> Reply {
    Response::json(200, &json!({ "user-agent": request.header("user-agent").unwrap_or_default() })).into()
}

/// The echo with the body, read by its content type.
pub(crate) fn body(request: &Request<'_>) -> Reply {
    if request.head.method == "HEAD" {
        return get(request);
    }
    let content_type = request.header("content-type").unwrap_or_default();
    let read = match form::read(&content_type, request.body) {
        Ok(read) => read,
        Err(detail) => return *bad_request(&detail),
    };
    let mut echo = request.echo();
    echo.insert("data".into(), read.data.into());
    echo.insert("files".into(), json!(read.files));
    echo.insert("form".into(), json!(read.form));
    echo.insert("json".into(), read.json.unwrap_or(Value::Null));
    Response::json(200, &echo.into()).into()
}

/// Text as it is, other bytes as a `data:` URL.
pub(crate) fn text_or_data_url<'a>(bytes: &'a [u8], content_type: &str) -> Cow<'a, str> {
    std::str::from_utf8(bytes).map_or_else(
        |_| {
            let kind = if content_type.is_empty() { "application/octet-stream" } else { content_type };
            format!("data:{kind};base64,{}", base64_simd::STANDARD.encode_to_string(bytes)).into()
        },
        Cow::Borrowed,
    )
}
