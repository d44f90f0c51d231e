//! The samples of calls: the one place where gRPC becomes metrics. Series are resolved once for a method and status.

use std::cell::RefCell;

use metrics::{MetricId, Series, SystemTag, builtin};

use super::params::CallParams;
use crate::Vu;
use crate::series::{SampleTags, SeriesCache};

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
    /// The series of calls without tags of their own, by what the user's tags were and by status.
    last: RefCell<Option<((u32, u32), Series)>>,
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

    /// A call ended with this status, after this many milliseconds.
    pub fn ended(&self, vu: &Vu, params: &CallParams, status: u32, ms: f64) {
        let is_plain = params.tags.is_none() && params.name.is_none();
        let key = (vu.tags_key(), status);
        let known = self.last.borrow().filter(|(known, _)| is_plain && *known == key).map(|(_, series)| series);
        let series = known.unwrap_or_else(|| {
            let own = self.tags(vu, params, Some(status));
            let series = vu.worker_local::<SeriesCache>().resolve(vu, builtin::GRPC_REQ_DURATION, &own);
            if is_plain {
                *self.last.borrow_mut() = Some((key, series));
            }
            series
        });
        vu.recorder().add(series, ms, vu.now_ns());
    }
}
