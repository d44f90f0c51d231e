//! Requests as somebody recorded them, with their answers, one after the other: what HAR files and the recording proxy
//! have.
//!
//! Each exchange becomes a request of the script when it comes in; of its answer only what later requests may repeat is
//! kept. Bounded: no answer is held. Cookies that an answer set are left to the cookie jar.

mod answer;
mod correlation;
mod exchange;
mod headers;

use std::collections::HashMap;

use crate::conversion::{Converted, Settings};
use crate::model::{Body, Function, Request, Step, Test};
use crate::notes::Notes;
use crate::template::Template;
pub use answer::has_static_ending;
use correlation::Correlation;
pub use exchange::{Exchange, Payload};
use exchange::{host_of, path_of, without_fragment};
use headers::Cookies;

/// A pause below this is none.
const PAUSE_MS: f64 = 300.0;

/// What was recorded so far.
pub struct Recording<'a> {
    settings: &'a Settings,
    kept: Vec<Kept>,
    notes: Notes,
    correlation: Correlation,
    cookies: Cookies,
    ended_ns: Option<i128>,
}

struct Kept {
    page: Option<String>,
    pause_ms: f64,
    request: Request,
}

impl<'a> Recording<'a> {
    /// An empty one.
    pub fn new(settings: &'a Settings) -> Recording<'a> {
        Recording {
            settings,
            kept: Vec::new(),
            notes: Notes::default(),
            correlation: Correlation::default(),
            cookies: Cookies::default(),
            ended_ns: None,
        }
    }

    /// Something else that was not carried over.
    pub fn note(&mut self, place: impl Into<String>, text: impl Into<String>) {
        self.notes.add(place, text);
    }

    /// The next exchange; `place` names it in notes.
    pub fn add(&mut self, exchange: Exchange, place: &str) {
        if let Some(why) = self.reason_against(&exchange) {
            self.notes.add(place, why);
            return;
        }
        let mut request = Request::new(exchange.method.clone(), Template::text(without_fragment(&exchange.url)));
        let host = host_of(&exchange.url).to_owned();
        request.headers = headers::to_send(&exchange.headers, &exchange.url);
        if let Some(cookie) = self.cookies.not_set_by_answers(&exchange.headers, &host) {
            request.headers.push((String::from("Cookie"), Template::text(cookie)));
        }
        request.body = match exchange.body {
            Payload::None => Body::None,
            Payload::Text(text) => Body::Text(Template::text(text)),
            Payload::Bytes(bytes) => Body::Bytes(bytes),
            Payload::Parts(parts) => Body::Form(parts),
        };
        let number = self.kept.len() + 1;
        request.comments = self.correlation.found_in(&request);
        if (300..400).contains(&exchange.status) && exchange.status != 304 {
            // What came next was recorded as a request of its own.
            request.params.push((String::from("redirects"), String::from("0")));
        }
        if exchange.status > 0 {
            request.check_status(exchange.status);
        }
        self.correlation.learn_request(&request);
        let name = format!("{} {} (request {number})", exchange.method, path_of(&exchange.url));
        self.correlation.learn_answer(&name, &exchange.answer_headers, exchange.answer.as_deref());
        self.cookies.learn(&exchange.answer_headers, &host);
        let pause_ms = self.pause_before(exchange.started_ns, exchange.took_ms);
        self.kept.push(Kept { page: exchange.page, pause_ms, request });
    }

    fn pause_before(&mut self, started: Option<i128>, took_ms: f64) -> f64 {
        let Some(started) = started else { return 0.0 };
        let pause = self.ended_ns.map_or(0.0, |ended| started.saturating_sub(ended) as f64 / 1e6);
        let ended = started.saturating_add((took_ms.clamp(0.0, 1e12) * 1e6) as i128);
        self.ended_ns = Some(self.ended_ns.map_or(ended, |before| before.max(ended)));
        pause
    }

    /// Why an exchange is left out.
    fn reason_against(&self, exchange: &Exchange) -> Option<String> {
        let (scheme, rest) = exchange.url.split_once(':').unwrap_or_default();
        let is_http =
            (scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")) && rest.starts_with("//");
        if !is_http {
            let scheme: String = scheme.chars().take(20).collect();
            return Some(format!("a request by '{}:', not http or https, is left out", scheme.escape_debug()));
        }
        if exchange.method.is_empty() || !exchange.method.bytes().all(headers::is_token) {
            return Some(format!("'{}' is no method; the request is left out", exchange.method.escape_debug()));
        }
        let host = host_of(&exchange.url);
        if host.is_empty() {
            return Some(String::from("a request without a host is left out"));
        }
        if !self.settings.only.is_empty() && !self.settings.only.iter().any(|only| is_within(host, only)) {
            return Some(format!("requests to {host} are left out (--only)"));
        }
        if self.settings.skips_static && answer::is_static(exchange) {
            return Some(String::from("images, styles, fonts and scripts are left out (--skip-static)"));
        }
        if exchange.is_from_cache {
            return Some(String::from("an answer came from the browser's cache; the request is left out"));
        }
        // A request that was broken off may have the head of its answer.
        (exchange.status == 0 && exchange.answer_headers.is_empty())
            .then(|| String::from("no answer was recorded; the request is left out"))
    }

    /// Pages by their titles instead of their ids.
    pub fn named(mut self, titles: &HashMap<String, String>) -> Self {
        for page in self.kept.iter_mut().filter_map(|kept| kept.page.as_mut()) {
            if let Some(title) = titles.get(page).filter(|title| !title.trim().is_empty()) {
                *page = title.clone();
            }
        }
        self
    }

    /// The test.
    pub fn finish(self) -> Converted {
        let mut steps: Vec<Step> = Vec::new();
        let mut current: Option<(String, Vec<Step>)> = None;
        for (at, kept) in self.kept.into_iter().enumerate() {
            let name = kept.page.as_deref().map(group_name);
            if current.as_ref().map(|(name, _)| name.as_str()) != name.as_deref() {
                steps.extend(current.take().map(|(name, inner)| Step::Group(name, inner)));
                current = name.map(|name| (name, Vec::new()));
            }
            let within = current.as_mut().map_or(&mut steps, |(_, inner)| inner);
            if at > 0 && self.settings.keeps_timing && kept.pause_ms >= PAUSE_MS {
                within.push(Step::Sleep(format!("{:.1}", (kept.pause_ms / 1e3).min(3600.0))));
            }
            within.push(Step::Request(Box::new(kept.request)));
        }
        steps.extend(current.map(|(name, inner)| Step::Group(name, inner)));
        let functions = vec![Function { name: None, steps }];
        Converted { test: Test { functions, ..Test::default() }, notes: self.notes }
    }
}

/// A name that `group` takes.
pub fn group_name(name: &str) -> String {
    let name = name.replace("::", ":");
    if name.trim().is_empty() { String::from("page") } else { name }
}

fn is_within(host: &str, only: &str) -> bool {
    let (host, only) = (host.to_ascii_lowercase(), only.to_ascii_lowercase());
    host == only || host.ends_with(&format!(".{only}"))
}
