//! The samples of calls: the one place where gRPC becomes metrics. Series are resolved once for a method and status.

use std::cell::{Cell, OnceCell, RefCell};

use grpc::status::{self, Status};
use metrics::{MetricId, Protocol, Series, SystemTag, builtin};

use super::params::CallParams;
use crate::http::common::url::UrlCache;
use script::Vu;
use script::asked::{AskedRow, ErrorTexts};
use script::series::{SampleTags, SeriesCache};

/// What tells the samples of a call from those of others.
pub struct CallLabels {
    /// `hello.Greeter`.
    pub service: String,
    /// `SayHello`.
    pub method: String,
    /// `/hello.Greeter/SayHello`.
    pub path: String,
    /// Address and path.
    pub url: String,
    /// The series of the last call without tags of its own.
    last: RefCell<Option<LastCall>>,
}

/// A call whose series is known.
struct LastCall {
    tags_key: u32,
    status: Status,
    series: Series,
}

impl CallLabels {
    /// The labels of a method at an address.
    pub fn new(service: String, method: &str, path: &str, address: &str) -> CallLabels {
        CallLabels {
            service,
            method: method.to_owned(),
            path: path.to_owned(),
            url: format!("{address}{path}"),
            last: RefCell::default(),
        }
    }

    /// The tags of a sample.
    fn tags(&self, vu: &Vu, params: &CallParams, status: Option<u32>) -> SampleTags {
        let system = vu.options().enabled_system_tags();
        let mut own = SampleTags::new();
        let name = params.name.as_deref().unwrap_or(&self.path);
        let mut put = |tag: SystemTag, value: &str| {
            if !value.is_empty() && system.has(tag) {
                own.push((tag.name().to_owned(), value.to_owned()));
            }
        };
        put(SystemTag::Service, &self.service);
        put(SystemTag::Method, &self.method);
        put(SystemTag::Name, name);
        put(SystemTag::Url, &self.url);
        if let Some(status) = status {
            put(SystemTag::Status, &status.to_string());
        }
        let given = params.tags.iter().flat_map(|tags| tags.iter());
        own.extend(given.map(|(name, value)| (name.to_string(), value.to_string())));
        own
    }

    /// The series of a metric.
    pub fn series(&self, vu: &Vu, metric: MetricId, params: &CallParams) -> Series {
        let own = self.tags(vu, params, None);
        vu.worker_local::<SeriesCache>().resolve(vu, metric, &own)
    }

    /// A call ended with this status, and failed or not, after this many milliseconds.
    pub fn ended(&self, vu: &Vu, params: &CallParams, (status, failed): (&Status, bool), ms: f64) {
        let (is_plain, tags_key) = (params.tags.is_none() && params.name.is_none(), vu.tags_key());
        let same = |last: &&LastCall| is_plain && last.tags_key == tags_key && last.status == *status;
        let known = self.last.borrow().as_ref().filter(same).map(|last| last.series);
        let series = known.unwrap_or_else(|| {
            let series = self.series_of_call(vu, params, status, failed);
            if is_plain {
                *self.last.borrow_mut() = Some(LastCall { tags_key, status: status.clone(), series });
            }
            series
        });
        vu.recorder().add(series, ms, vu.now_ns());
    }

    fn series_of_call(&self, vu: &Vu, params: &CallParams, status: &Status, failed: bool) -> Series {
        let own = self.tags(vu, params, Some(status.code));
        let error = match &*status.message {
            _ if status.code == status::OK => String::new(),
            "" => status.name(),
            message => format!("{}: {message}", status.name()),
        };
        let urls = UrlCache::of(vu);
        let asked = AskedRow {
            protocol: Protocol::Grpc,
            name: params.name.as_deref().unwrap_or(&self.path),
            example: Some(&*self.url),
            status: u16::try_from(status.code).unwrap_or(u16::MAX),
            error: &ErrorTexts::of(vu, urls.mask().text(&error)),
            failed,
        };
        vu.worker_local::<SeriesCache>().resolve_asked(vu, builtin::GRPC_REQ_DURATION, &own, &asked)
    }
}

/// The samples of a stream's messages.
pub struct StreamMessages {
    sent: Series,
    received: Series,
    /// Made when the first message comes.
    delay: OnceCell<Series>,
    /// When the last message went or came: nanoseconds of the wall clock since 1970.
    last_ns: Cell<u64>,
}

impl StreamMessages {
    /// Of a stream that begins now.
    pub fn new(sent: Series, received: Series) -> StreamMessages {
        StreamMessages { sent, received, delay: OnceCell::new(), last_ns: Cell::new(wire::wall_ns()) }
    }

    /// One goes now.
    pub fn record_sent(&self, vu: &Vu) {
        self.last_ns.set(wire::wall_ns());
        vu.recorder().add(self.sent, 1.0, vu.now_ns());
    }

    /// One came at that time of the wall clock. `delay` makes the series of the time since the one before.
    pub fn record_received(&self, vu: &Vu, arrived_ns: u64, delay: impl FnOnce() -> Series) {
        vu.recorder().add(self.received, 1.0, vu.now_ns());
        let since_ns = arrived_ns.saturating_sub(self.last_ns.replace(arrived_ns));
        vu.recorder().add(*self.delay.get_or_init(delay), since_ns as f64 / 1e6, vu.now_ns());
    }
}
