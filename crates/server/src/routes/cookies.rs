//! Setting, showing and expiring cookies. As in go-httpbin, cookies are set without a path (clients derive `/cookies`)
//! and shown as a plain object.

use serde_json::{Map, Value};

use crate::outgoing::respond::{Reply, Response};
use crate::request::Request;

pub(crate) fn show(request: &Request<'_>) -> Reply {
    let mut cookies = Map::new();
    for header in request.head.headers.iter().filter(|h| h.name.eq_ignore_ascii_case("cookie")) {
        for (name, value) in String::from_utf8_lossy(header.value).split(';').filter_map(|c| c.split_once('=')) {
            cookies.insert(name.trim().to_owned(), value.trim().trim_matches('"').into());
        }
    }
    Response::json(200, &Value::Object(cookies)).into()
}

pub(crate) fn set(request: &Request<'_>) -> Reply {
    redirect_with(request, |value| format!("{value}; HttpOnly"))
}

pub(crate) fn delete(request: &Request<'_>) -> Reply {
    redirect_with(request, |_| "; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=0; HttpOnly".to_owned())
}

fn redirect_with(request: &Request<'_>, line: impl Fn(&str) -> String) -> Reply {
    let mut response = Response::empty(302).header("Location", "/cookies");
    for (name, values) in request.args() {
        // A separator in a name or value would end it early and turn the rest into attributes.
        let clean = |text: &str| text.replace([';', ',', ' ', '\r', '\n'], "");
        let value = values.first().map_or("", String::as_str);
        response = response.header("Set-Cookie", format!("{}={}", clean(&name), line(&clean(value))));
    }
    response.into()
}
