//! The samples of a connection: the one place where WebSocket traffic becomes metrics.
//!
//! Its series are resolved once, when the answer's status and subprotocol are known; the tags are those the user had
//! when it connected. Invariant: what is recorded after a stop was begun is still one session.

use metrics::{MetricId, Protocol, Series, SystemTag, builtin};

use super::params::Plan;
use crate::http::common::url::UrlCache;
use script::Vu;
use script::asked::{AskedRow, ErrorTexts};
use script::series::{SampleTags, SeriesCache};

/// Where the samples of one connection go.
#[derive(Clone, Copy)]
pub struct Samples {
    sessions: Series,
    connecting: Series,
    duration: Series,
    sent: Series,
    received: Series,
    ping: Series,
}

/// How a connection is named when the script gave it no name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Naming {
    /// `k6/ws`: a name stands beside the URL.
    NameBeside,
    /// `k6/websockets`: both tags are the name, else the URL.
    Both,
}

/// What came of an attempt to connect.
#[derive(Clone, Copy, Debug, Default)]
pub struct Answered<'a> {
    /// 0 without an answer.
    pub status: u16,
    /// Empty for none.
    pub subprotocol: &'a str,
    /// Why there is no connection, where the status does not say it; empty with one.
    pub error: &'a str,
}

impl Samples {
    /// The series for an answer.
    pub fn of(vu: &Vu, plan: &Plan, naming: Naming, answered: &Answered<'_>) -> Samples {
        let Answered { status, subprotocol, error } = *answered;
        let system = vu.options().enabled_system_tags();
        let mut own = SampleTags::new();
        let given = plan.params.tags.iter().flat_map(|tags| tags.iter());
        own.extend(given.map(|(name, value)| (name.to_string(), value.to_string())));
        let urls = UrlCache::of(vu);
        let url = urls.mask().url(&plan.text);
        let mut put = |tag: SystemTag, value: &str| {
            if (!value.is_empty() || tag == SystemTag::Url) && system.has(tag) {
                own.push((tag.name().to_owned(), value.to_owned()));
            }
        };
        let by_rule = || plan.url.as_ref().ok().and_then(|url| urls.rule_name(url));
        let name = plan.params.name.clone().or_else(by_rule);
        let name = name.as_deref();
        match (name, naming) {
            (name, Naming::NameBeside) => {
                put(SystemTag::Url, &url);
                put(SystemTag::Name, name.unwrap_or_default());
            }
            (name, Naming::Both) => {
                let name = name.unwrap_or(&url);
                put(SystemTag::Url, name);
                put(SystemTag::Name, name);
            }
        }
        if status > 0 {
            put(SystemTag::Status, &status.to_string());
        }
        // As in k6 it is there without a value, too, when there was an answer.
        if status > 0 && system.has(SystemTag::Subproto) {
            own.push((SystemTag::Subproto.name().to_owned(), subprotocol.to_owned()));
        }
        let cache = vu.worker_local::<SeriesCache>();
        let series = |metric: MetricId| cache.resolve(vu, metric, &own);
        let asked = AskedRow {
            protocol: Protocol::WebSocket,
            name: name.unwrap_or(&url),
            example: name.map(|_| &*url),
            status,
            error: &ErrorTexts::of(vu, urls.mask().text(error)),
            failed: status != 101 || !error.is_empty(),
        };
        Samples {
            sessions: series(builtin::WS_SESSIONS),
            connecting: cache.resolve_asked(vu, builtin::WS_CONNECTING, &own, &asked),
            duration: series(builtin::WS_SESSION_DURATION),
            sent: series(builtin::WS_MSGS_SENT),
            received: series(builtin::WS_MSGS_RECEIVED),
            ping: series(builtin::WS_PING),
        }
    }

    /// An attempt to connect ended after this many milliseconds.
    pub fn connected(&self, vu: &Vu, ms: f64) {
        let now = vu.now_ns();
        vu.recorder().add(self.sessions, 1.0, now);
        vu.recorder().add(self.connecting, ms, now);
    }

    /// The session is over.
    pub fn ended(&self, vu: &Vu, ms: f64) {
        vu.recorder().add(self.duration, ms, vu.now_ns());
    }

    /// A message was sent.
    pub fn sent(&self, vu: &Vu) {
        vu.recorder().add(self.sent, 1.0, vu.now_ns());
    }

    /// A message was received.
    pub fn received(&self, vu: &Vu) {
        vu.recorder().add(self.received, 1.0, vu.now_ns());
    }

    /// A ping was answered.
    pub fn ponged(&self, vu: &Vu, ms: f64) {
        vu.recorder().add(self.ping, ms, vu.now_ns());
    }
}
