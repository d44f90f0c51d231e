//! Which requests a listener of this program answers: those that no page of another site can have made.
//!
//! A browser on this machine reaches loopback for every page it shows. Three things tell its requests apart. A name
//! that an attacker made resolve to 127.0.0.1 stands in `Host` (DNS rebinding). A request of another site has that
//! site's `Origin`, or says so in `Sec-Fetch-Site`. A form can only send three content types. Clients that are no
//! browsers send no `Origin` and pass. The REST API and the page of `--web` ask here; `onrush serve` is a target and
//! answers everybody.

use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};

use server::{AppRequest, Body, Response};

/// Content types that a form of any site can send without being asked (Fetch, 2.2.2: CORS-safelisted).
const OF_FORMS: [&str; 3] = ["application/x-www-form-urlencoded", "multipart/form-data", "text/plain"];

/// What a listener lets in.
#[derive(Clone, Copy, Debug)]
pub struct ListenerGuard {
    /// It listens on loopback alone, so requests have to name this machine.
    is_local: bool,
}

impl ListenerGuard {
    /// For one that listens at these addresses.
    pub fn of(addresses: &[SocketAddr]) -> ListenerGuard {
        ListenerGuard { is_local: addresses.iter().all(|address| address.ip().is_loopback()) }
    }

    /// The answer to a request that is refused.
    pub fn refusal(self, request: &AppRequest) -> Option<Response> {
        let header = |name: &str| request.header(name).map(String::from_utf8_lossy);
        let (status, text) = self.problem(request.method(), header)?;
        Some(Response::new(status, "text/plain; charset=utf-8", Body::Bytes(text.into_bytes())))
    }

    /// Status and text of a refusal.
    fn problem<'a>(self, method: &str, header: impl Fn(&str) -> Option<Cow<'a, str>>) -> Option<(u16, String)> {
        let (host, origin) = (header("host").unwrap_or_default(), header("origin"));
        if self.is_local && !names_this_machine(&host) {
            let text =
                format!("this listener answers requests to 127.0.0.1, [::1] and localhost, found Host {host:?}\n");
            return Some((421, text));
        }
        let is_foreign = origin.as_deref().is_some_and(|origin| !is_of(origin, &host))
            || header("sec-fetch-site").is_some_and(|site| matches!(&*site, "cross-site" | "same-site"));
        if is_foreign {
            let from = origin.as_deref().unwrap_or("another site");
            return Some((403, format!("this listener answers no page of another site, found {from}\n")));
        }
        let content_type = header("content-type").unwrap_or_default();
        let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let has_body = header("content-length").map_or_else(|| header("transfer-encoding").is_some(), |n| n != "0");
        if method == "POST" && has_body && OF_FORMS.contains(&kind.as_str()) {
            return Some((415, format!("found Content-Type {kind}, expected application/json\n")));
        }
        None
    }
}

/// Whether an `Origin` is the listener's own: a page that it served itself.
fn is_of(origin: &str, host: &str) -> bool {
    origin.split_once("://").is_some_and(|(_, of)| of.eq_ignore_ascii_case(host))
}

/// Whether a `Host` header is an address or localhost: a name that leads here is somebody else's.
fn names_this_machine(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    name.parse::<IpAddr>().is_ok() || name.eq_ignore_ascii_case("localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(addresses: &[&str], method: &str, headers: &[(&str, &str)]) -> Option<u16> {
        let addresses: Vec<SocketAddr> = addresses.iter().map(|address| address.parse().unwrap()).collect();
        let header = |wanted: &str| {
            let found = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted));
            found.map(|(_, value)| Cow::Borrowed(*value))
        };
        ListenerGuard::of(&addresses).problem(method, header).map(|(status, _)| status)
    }

    #[test]
    fn a_loopback_listener_answers_only_to_its_own_names() {
        for (host, expected) in [
            ("127.0.0.1:5665", None),
            ("localhost:5665", None),
            ("LOCALHOST", None),
            ("[::1]:5665", None),
            ("attacker.example:5665", Some(421)),
            ("localhost.attacker.example", Some(421)),
            ("", Some(421)),
        ] {
            assert_eq!(status(&["127.0.0.1:5665"], "GET", &[("Host", host)]), expected, "{host}");
            assert_eq!(status(&["0.0.0.0:5665"], "GET", &[("Host", host)]), None, "{host}");
        }
    }

    #[test]
    fn requests_of_other_sites_are_refused_wherever_it_listens() {
        let host = ("Host", "127.0.0.1:6565");
        for (header, expected) in [
            (("Origin", "http://127.0.0.1:6565"), None),
            (("Origin", "http://127.0.0.1:8080"), Some(403)),
            (("Origin", "https://attacker.example"), Some(403)),
            (("Origin", "null"), Some(403)),
            (("Sec-Fetch-Site", "cross-site"), Some(403)),
            (("Sec-Fetch-Site", "same-origin"), None),
            (("Sec-Fetch-Site", "none"), None),
            (("Accept", "*/*"), None),
        ] {
            for address in ["127.0.0.1:6565", "0.0.0.0:6565"] {
                assert_eq!(status(&[address], "PATCH", &[host, header]), expected, "{header:?}");
            }
        }
    }

    #[test]
    fn what_a_form_can_send_is_refused() {
        let (host, one) = (("Host", "localhost:6565"), ("Content-Length", "1"));
        for (kind, expected) in [
            ("text/plain", Some(415)),
            ("multipart/form-data; boundary=x", Some(415)),
            ("Application/X-WWW-Form-Urlencoded", Some(415)),
            ("application/json", None),
        ] {
            let headers = [host, one, ("Content-Type", kind)];
            assert_eq!(status(&["127.0.0.1:6565"], "POST", &headers), expected, "{kind}");
            // What `curl -d` sends: a form cannot.
            assert_eq!(status(&["127.0.0.1:6565"], "PATCH", &headers), None, "{kind}");
            let empty = [host, ("Content-Length", "0"), ("Content-Type", kind)];
            assert_eq!(status(&["127.0.0.1:6565"], "POST", &empty), None, "{kind}");
        }
    }
}
