//! The one place where an exchange becomes samples.
//!
//! Nine samples a request, in k6's order, all stamped with the end of the exchange. Their nine series are resolved once
//! for each distinct set of tags and kept by the worker; a user's last set is compared first, without hashing. A
//! request that the test's end cut short is no sample.

use std::cell::{Cell, RefCell};
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use metrics::{
    Bundle, ErrorKind, Member, MetricId, Protocol, Recorder, RequestKind, Series, Sharded, SystemTag, SystemTags,
    TagSet, builtin, ns,
};
use wire::{Exchange, FailureKind, Method, Timings};

use crate::http::common::error_code;
use crate::http::common::k6_error::k6_error;
use crate::http::common::status::Expectation;
use script::Vu;

/// User tags of one request.
pub type RequestTags = Rc<[(Arc<str>, Arc<str>)]>;

/// Distinct tag sets kept by a worker.
const KEPT: usize = 8192;

macro_rules! measured {
    ($($metric:ident = $of:expr;)*) => {
        /// The metrics whose samples are measured.
        const MEASURED: &[MetricId] = &[$(builtin::$metric),*];

        /// The samples of those metrics, in nanoseconds.
        #[inline(always)]
        fn measured(timings: &Timings) -> [u64; MEASURED.len()] {
            [$({
                let of: fn(&Timings) -> u64 = $of;
                of(timings)
            }),*]
        }
    };
}

// The measured samples of an exchange, in k6's order.
measured! {
    HTTP_REQ_DURATION = |took| ns(took.sending) + ns(took.waiting) + ns(took.receiving);
    HTTP_REQ_BLOCKED = |took| ns(took.blocked);
    HTTP_REQ_CONNECTING = |took| ns(took.connecting);
    HTTP_REQ_TLS_HANDSHAKING = |took| ns(took.tls_handshaking);
    HTTP_REQ_SENDING = |took| ns(took.sending);
    HTTP_REQ_WAITING = |took| ns(took.waiting);
    HTTP_REQ_RECEIVING = |took| ns(took.receiving);
}

/// Ties the series of one tag set, resolved in k6's order. The duration is a row of the table of requests, too.
/// `http_req_failed` gets no sample when nobody judges the answer.
fn resolve_series(recorder: &Recorder, tags: &TagSet, key: &Key) -> Bundle {
    let requests = match key.error_kind() {
        Some(error) => recorder.series_of_error(builtin::HTTP_REQS, tags, &error),
        None => recorder.series(builtin::HTTP_REQS, tags),
    };
    let measured = MEASURED.iter().map(|metric| match *metric {
        builtin::HTTP_REQ_DURATION => recorder.series_of_request(*metric, tags, &key.request_kind(tags)),
        metric => recorder.series(metric, tags),
    });
    let measured: Vec<Member> = measured.map(Member::Measured).collect();
    let failed = key.expected.map(|expected| {
        Member::Constant(recorder.series(builtin::HTTP_REQ_FAILED, tags), f64::from(u8::from(!expected)))
    });
    let members = [Member::Constant(requests, 1.0)].into_iter().chain(measured).chain(failed);
    recorder.bundle_of(&members.collect::<Vec<Member>>())
}

/// Everything that decides which series a sample goes to.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    tags_key: u32,
    status: u16,
    error_code: u16,
    expected: Option<bool>,
    proto: &'static str,
    tls_version: &'static str,
    method: Method,
    url: Arc<str>,
    name: Option<Arc<str>>,
    extra: Option<RequestTags>,
    error: Option<Box<str>>,
    ip: Option<IpAddr>,
}

impl Key {
    /// What went wrong, if anything did: no answer, or one with a status from 400 on.
    fn error_kind(&self) -> Option<ErrorKind> {
        match &self.error {
            Some(message) => Some(ErrorKind::NoAnswer(Arc::from(&**message))),
            None if self.status >= 400 => {
                Some(ErrorKind::Status { status: self.status, expected: self.expected == Some(true) })
            }
            None => None,
        }
    }

    /// The row of the table of requests that it belongs to.
    fn request_kind(&self, tags: &TagSet) -> RequestKind {
        let tag = |name: &str| Arc::from(tags.get(name).unwrap_or_default());
        let example = self.name.as_ref().filter(|name| **name != self.url).map(|_| Arc::clone(&self.url));
        RequestKind {
            name: Arc::clone(self.name.as_ref().unwrap_or(&self.url)),
            method: Arc::from(self.method.as_str()),
            protocol: Protocol::Http,
            status: self.status,
            error: Arc::from(self.error.as_deref().unwrap_or_default()),
            failed: self.expected == Some(false),
            scenario: tag("scenario"),
            group: tag("group"),
            example,
        }
    }
}

/// The series that a worker resolved.
#[derive(Default)]
pub struct SeriesSets {
    known: RefCell<Sharded<Key, Bundle>>,
}

/// What of a request, beyond the exchange, its samples depend on.
pub struct Labels {
    /// Value of the url tag of the first hop.
    pub url: Arc<str>,
    /// The name, when the script gave one: url and name tag of every hop.
    pub name: Option<Arc<str>>,
    /// The request's own tags.
    pub extra: Option<RequestTags>,
    /// Which answers are expected.
    pub expectation: Expectation,
}

/// The facts of one hop.
pub struct HopFacts<'a> {
    /// Method.
    pub method: &'a Method,
    /// Status, protocol and TLS version, or why there is no answer.
    pub outcome: Result<AnswerLabels, (FailureKind, &'a str)>,
    /// How long each step took.
    pub timings: Timings,
    /// When it ended.
    pub ended_at: SystemTime,
    /// Whom it went to.
    pub ip: Option<IpAddr>,
}

/// An answer as far as tags tell it.
#[derive(Clone, Copy)]
pub struct AnswerLabels {
    /// Status code.
    pub status: u16,
    /// `HTTP/1.1`.
    pub proto: &'static str,
    /// `tls1.3`, or empty.
    pub tls_version: &'static str,
}

impl<'a> HopFacts<'a> {
    /// The facts of an exchange.
    pub fn of(exchange: &'a Exchange) -> HopFacts<'a> {
        let connection = exchange.connection.as_ref();
        let outcome = match &exchange.outcome {
            Ok(response) => Ok(AnswerLabels {
                status: response.status,
                proto: response.proto,
                tls_version: connection.and_then(|c| c.tls_version).unwrap_or(""),
            }),
            Err(failure) => Err((failure.kind, k6_error(failure))),
        };
        HopFacts {
            method: &exchange.method,
            outcome,
            timings: exchange.timings,
            ended_at: exchange.ended_at,
            ip: connection.and_then(|c| c.remote).map(|remote| remote.ip()),
        }
    }
}

/// Where the samples of a request went last, and what of the answer decided it. Everything else that decides it is the
/// request's own.
#[derive(Clone, Copy)]
pub struct UsualSeries {
    tags_key: u32,
    status: u16,
    proto: &'static str,
    tls_version: Option<&'static str>,
    series: Bundle,
}

impl UsualSeries {
    /// Of an answer whose samples went there; none of an exchange without one.
    pub fn new(tags_key: u32, exchange: &Exchange, series: Bundle) -> Option<UsualSeries> {
        let (Ok(response), Some(connection)) = (&exchange.outcome, &exchange.connection) else { return None };
        let (status, proto, tls_version) = (response.status, response.proto, connection.tls_version);
        Some(UsualSeries { tags_key, status, proto, tls_version, series })
    }

    /// Where the samples of another exchange of the request go, if its answer is like that.
    #[inline]
    pub fn of(&self, tags_key: u32, exchange: &Exchange) -> Option<Bundle> {
        let (Ok(response), Some(connection)) = (&exchange.outcome, &exchange.connection) else { return None };
        let is_same = self.tags_key == tags_key
            && self.status == response.status
            && std::ptr::eq(self.proto, response.proto)
            && self.tls_version.map(str::as_ptr) == connection.tls_version.map(str::as_ptr);
        is_same.then_some(self.series)
    }
}

/// One user's way to its series.
pub struct Sampler {
    enabled: SystemTags,
    worker: Rc<SeriesSets>,
    last: RefCell<Option<(Key, Bundle)>>,
    /// Of requests that a plan started: where the last one's sample went.
    from_plan: Cell<Option<(Bundle, Series)>>,
}

impl Sampler {
    /// A sampler for a user of this worker.
    pub fn new(enabled: SystemTags, worker: Rc<SeriesSets>) -> Sampler {
        Sampler { enabled, worker, last: RefCell::new(None), from_plan: Cell::new(None) }
    }

    /// Whether the samples tell whom a request went to.
    pub fn tells_address(&self) -> bool {
        self.enabled.has(SystemTag::Ip)
    }

    /// Records one hop; where its samples went, if it has some. `url`: that of a hop elsewhere than the script asked
    /// for. `challenge`: a 401 that digest authentication answers, which is expected.
    pub fn record(
        &self,
        vu: &Vu,
        labels: &Labels,
        hop: &HopFacts<'_>,
        url: Option<&str>,
        challenge: bool,
    ) -> Option<Bundle> {
        let (status, error_code, proto, tls_version, error) = match &hop.outcome {
            Ok(answer) => (answer.status, error_code::of_status(answer.status), answer.proto, answer.tls_version, None),
            Err((FailureKind::Cancelled, _)) => return None,
            Err((kind, message)) => (0, error_code::of_failure(*kind), "", "", Some(*message)),
        };
        let judged = labels.expectation.judge(status).map(|good| good || challenge);
        let wanted =
            Wanted { tags_key: vu.tags_key(), status, error_code, expected: judged, proto, tls_version, error };
        let ip = hop.ip.filter(|_| self.tells_address());
        let series = match self.remembered(&wanted, hop.method, labels, url, ip) {
            Some(series) => series,
            None => self.resolve(vu, &wanted, hop.method, labels, url, ip),
        };
        add(vu.recorder(), series, &hop.timings, hop.ended_at);
        Some(series)
    }

    /// Records what somebody who came on schedule waited for the request that was recorded last. Nothing of one that
    /// the test's end cut short.
    pub fn record_from_plan(&self, vu: &Vu, hop: &HopFacts<'_>, waited: Duration) {
        if matches!(hop.outcome, Err((FailureKind::Cancelled, _))) {
            return;
        }
        let last = self.last.borrow();
        let Some((key, bundle)) = last.as_ref() else { return };
        let series = match self.from_plan.get() {
            Some((known, series)) if known == *bundle => series,
            _ => {
                let tags = self.tags(&vu.tags(), key);
                let series = vu.recorder().series(builtin::HTTP_REQ_DURATION_FROM_PLAN, &tags);
                self.from_plan.set(Some((*bundle, series)));
                series
            }
        };
        vu.recorder().add(series, ms(waited), epoch_ns(hop.ended_at));
    }

    fn remembered(
        &self,
        wanted: &Wanted<'_>,
        method: &Method,
        labels: &Labels,
        url: Option<&str>,
        ip: Option<IpAddr>,
    ) -> Option<Bundle> {
        let last = self.last.borrow();
        let (key, series) = last.as_ref()?;
        debug_assert!(key.error.is_none() || key.status == 0, "no answer has no status");
        let same_url = match url {
            None => Arc::ptr_eq(&key.url, &labels.url) || key.url == labels.url,
            Some(url) => *key.url == *url,
        };
        let same = wanted.matches(key)
            && same_url
            && key.method == *method
            && key.name == labels.name
            && key.extra == labels.extra
            && key.ip == ip;
        same.then_some(*series)
    }

    // Cold: the samples of most requests go where those of the one before went.
    #[cold]
    fn resolve(
        &self,
        vu: &Vu,
        wanted: &Wanted<'_>,
        method: &Method,
        labels: &Labels,
        url: Option<&str>,
        ip: Option<IpAddr>,
    ) -> Bundle {
        let key = Key {
            tags_key: wanted.tags_key,
            status: wanted.status,
            error_code: wanted.error_code,
            expected: wanted.expected,
            proto: wanted.proto,
            tls_version: wanted.tls_version,
            method: method.clone(),
            url: url.map_or_else(|| Arc::clone(&labels.url), Arc::from),
            name: labels.name.clone(),
            extra: labels.extra.clone(),
            error: wanted.error.map(Box::from),
            ip,
        };
        let known = self.worker.known.borrow().get(&key).copied();
        let series = known.unwrap_or_else(|| {
            let tags = self.tags(&vu.tags(), &key);
            let series = resolve_series(vu.recorder(), &tags, &key);
            self.worker.known.borrow_mut().insert(key.clone(), series, Some(KEPT));
            series
        });
        *self.last.borrow_mut() = Some((key, series));
        series
    }

    /// The tag set of a key: the user's tags, the request's own, then what we know of the request.
    fn tags(&self, base: &TagSet, key: &Key) -> TagSet {
        let mut pairs: Vec<(Arc<str>, Arc<str>)> = key.extra.iter().flat_map(|extra| extra.iter().cloned()).collect();
        let mut put = |tag: SystemTag, value: &str| {
            if self.enabled.has(tag) {
                pairs.push((Arc::from(tag.name()), Arc::from(value)));
            }
        };
        let named = key.name.as_ref().unwrap_or(&key.url);
        put(SystemTag::Method, key.method.as_str());
        put(SystemTag::Status, &key.status.to_string());
        put(SystemTag::Url, named);
        put(SystemTag::Name, named);
        if !key.proto.is_empty() {
            put(SystemTag::Proto, key.proto);
        }
        if !key.tls_version.is_empty() {
            put(SystemTag::TlsVersion, key.tls_version);
        }
        if let Some(error) = &key.error {
            put(SystemTag::Error, error);
        }
        if key.error_code != 0 {
            put(SystemTag::ErrorCode, &key.error_code.to_string());
        }
        if let Some(expected) = key.expected {
            put(SystemTag::ExpectedResponse, if expected { "true" } else { "false" });
        }
        if let Some(ip) = key.ip {
            put(SystemTag::Ip, &ip.to_string());
        }
        base.with(pairs)
    }
}

/// The parts of a key that are compared without touching memory.
struct Wanted<'a> {
    tags_key: u32,
    status: u16,
    error_code: u16,
    expected: Option<bool>,
    proto: &'static str,
    tls_version: &'static str,
    error: Option<&'a str>,
}

impl Wanted<'_> {
    fn matches(&self, key: &Key) -> bool {
        self.tags_key == key.tags_key
            && self.status == key.status
            && self.error_code == key.error_code
            && self.expected == key.expected
            && same(self.proto, key.proto)
            && same(self.tls_version, key.tls_version)
            && self.error == key.error.as_deref()
    }
}

/// Whether two static texts are the same; the usual case is the very same one, found without a call.
fn same(a: &'static str, b: &'static str) -> bool {
    (a.as_ptr() == b.as_ptr() && a.len() == b.len()) || a == b
}

/// A duration in milliseconds, to the nanosecond.
#[inline]
pub fn ms(duration: Duration) -> f64 {
    // Most steps of most requests take no time: they are not calculated.
    if duration.is_zero() {
        return 0.0;
    }
    // Whole nanoseconds are exact up to a hundred days; `mul_add` would be a call into the C library.
    (duration.as_secs() as f64 * 1e9 + f64::from(duration.subsec_nanos())) / 1e6
}

fn epoch_ns(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_secs() * 1_000_000_000 + u64::from(since.subsec_nanos())
}

/// Adds the samples of an exchange that ended then.
#[inline]
pub fn add(recorder: &Recorder, series: Bundle, timings: &Timings, ended_at: SystemTime) {
    recorder.add_durations(series, &measured(timings), || epoch_ns(ended_at));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_keep_nanoseconds() {
        assert_eq!(ms(Duration::from_nanos(1)), 1e-6);
        assert_eq!(ms(Duration::new(3, 500)), 3000.0005);
    }
}
