//! The option `httpDebug`: each request and response as a log line, in the shape k6 gives them.
//!
//! The request is shown before it is sent, byte for byte as the client wrote it (`wire::client::Watch`), so that one
//! that is never answered is seen too. The response is shown when its exchange came back; a request without one has its
//! warning. Bodies are shown with `full`: what is sent as it goes out, what came back decoded, and not at all where a
//! redirect, a digest challenge or the script's `responseType: 'none'` dropped it. `debugVU` leaves one user alone of
//! all. Refuses nothing; costs one branch when it is off.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::{Rc, Weak};

use host::Phase;
use host::log::{Level, Record};
use wire::client::Watch;
use wire::{Body, Exchange, Payload, Request, Response};

use script::Vu;
use script::options::DebugDetail;

/// Shows one user's requests and responses.
pub struct HttpDebug {
    /// Bodies too.
    full: bool,
    user: Weak<Vu>,
    /// What ties a response to its request, by the address of the request under way.
    ids: RefCell<HashMap<*const Request, String>>,
}

impl HttpDebug {
    /// Watches the client of this user, when the option says so.
    pub fn of(vu: &Vu) -> Option<Rc<HttpDebug>> {
        let detail = vu.options().http_debug.filter(|_| vu.is_debugged())?;
        let debug = Rc::new(HttpDebug { full: detail == DebugDetail::Full, user: vu.weak(), ids: RefCell::default() });
        vu.client().watch(debug.clone());
        Some(debug)
    }

    /// Shows the response of an exchange, if there is one. `last`: no other exchange of the request follows.
    pub fn answered(&self, request: &Request, exchange: &Exchange, last: bool) {
        let key = std::ptr::from_ref(request);
        let id = if last { self.ids.borrow_mut().remove(&key) } else { self.ids.borrow().get(&key).cloned() };
        if let (Ok(response), Some(id)) = (&exchange.outcome, id) {
            self.show(&response_text(response, self.full), &id);
        }
    }

    fn show(&self, message: &str, id: &str) {
        let Some(vu) = self.user.upgrade() else { return };
        let (number, group) = (vu.id().to_string(), vu.group());
        let before = if vu.phase() == Phase::Iteration { vu.iterations_before() } else { 0 }.to_string();
        let iteration = vu.iteration().filter(|_| vu.phase() == Phase::Iteration);
        let mut fields = vec![("group", &*group), ("iter", before.as_str()), ("request_id", id)];
        fields.extend(iteration.as_ref().map(|iteration| ("scenario", iteration.scenario.name.as_str())));
        fields.extend([("source", "http-debug"), ("vu", number.as_str())]);
        vu.log().log(&Record { level: Level::Info, message, fields: &fields });
    }
}

impl Watch for HttpDebug {
    fn sending(&self, request: &Request, head: &[u8], body: Option<&Payload>) {
        let id = random_uuid();
        let mut shown = text_of(head).into_owned();
        if let Some(body) = body.filter(|_| self.full) {
            for segment in body.segments() {
                segment.show(|bytes| match bytes {
                    Some(bytes) => shown.push_str(&String::from_utf8_lossy(bytes)),
                    None => shown.push_str(&format!("[{segment:?}]")),
                });
            }
        }
        self.show(&format!("Request:\n{shown}\n"), &id);
        self.ids.borrow_mut().insert(std::ptr::from_ref(request), id);
    }
}

fn response_text(response: &Response, full: bool) -> String {
    let mut shown = text_of(&response.head).into_owned();
    if let Body::Kept(body) = &response.body
        && full
    {
        shown.push_str(&String::from_utf8_lossy(body));
    }
    format!("Response:\n{shown}\n")
}

/// A head as k6 shows it: lines end in a line feed alone.
fn text_of(head: &[u8]) -> Cow<'_, str> {
    let text = String::from_utf8_lossy(head);
    if text.contains('\r') { Cow::Owned(text.replace('\r', "")) } else { text }
}

/// Version 4 of RFC 9562.
fn random_uuid() -> String {
    let bits = fastrand::u128(..) & !(0xf << 76 | 0x3 << 62) | 0x4 << 76 | 0x2 << 62;
    let hex = format!("{bits:032x}");
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_random_uuids() {
        let id = random_uuid();
        assert_eq!((id.len(), &id[14..15]), (36, "4"));
        assert!("89ab".contains(&id[19..20]), "{id}");
        assert_ne!(id, random_uuid());
    }

    #[test]
    fn bodies_are_shown_in_full_mode_only() {
        let response = Response {
            status: 200,
            proto: "HTTP/1.1",
            head: b"HTTP/1.1 200 OK\r\nA: 1\r\n\r\n".as_slice().into(),
            body: Body::Kept(wire::Content::copy_of(b"hi")),
        };
        assert_eq!(response_text(&response, false), "Response:\nHTTP/1.1 200 OK\nA: 1\n\n\n");
        assert_eq!(response_text(&response, true), "Response:\nHTTP/1.1 200 OK\nA: 1\n\nhi\n");
    }
}
