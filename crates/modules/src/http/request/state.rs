//! What the module keeps for a virtual user: cookies, the expectation of the script, and requests that need not be
//! prepared again.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

use host::memo::{FewTexts, LastText};
use host::record::LiteralShape;
use wire::cookies::CookieJar;
use wire::settings::BatchLimits;

use super::fixed::Fixed;
use super::params::Empty;
use crate::http::common::status::Expectation;
use crate::http::common::url::{Target, UrlCache};
use crate::http::samples::debug::HttpDebug;
use crate::http::samples::referee::WorkerReferee;
use crate::http::samples::sampler::{Sampler, SeriesSets};
use crate::http::trace::tracing::Tracing;
use script::Vu;
use script::json_path::Selector;
use script::unstamped::WorkerTally;

/// What the module keeps for a virtual user.
#[derive(Default)]
pub struct HttpState {
    /// The user's cookies.
    pub jar: Rc<CookieJar>,
    /// What `setResponseCallback` set.
    expectation: RefCell<Expectation>,
    /// Shared by requests without params.
    pub empty: Empty,
    run: OnceCell<RunSettings>,
    /// The target of the last URL that was given as a string.
    pub last_url: LastText<Rc<Target>>,
    /// Requests that need not be prepared again.
    pub fixed: Fixed,
    /// The shapes of the objects in responses.
    pub(crate) shapes: ResponseShapes,
    /// Paths that `response.json()` was given; nothing for one that can match nothing.
    pub(crate) paths: FewTexts<Rc<Option<Selector>>>,
    /// How often the expectation was changed.
    expectations: Cell<u32>,
}

/// The shapes of the objects in a user's responses.
#[derive(Default)]
pub struct ResponseShapes {
    /// `timings`.
    pub timings: LiteralShape<8>,
    /// One of `cookies`.
    pub cookie: LiteralShape<8>,
    /// `ocsp`.
    pub ocsp: LiteralShape<6>,
    /// `request`.
    pub request: LiteralShape<5>,
    /// One of `request.cookies`.
    pub sent_cookie: LiteralShape<3>,
}

/// What the options of the run say, read at the first request.
pub struct RunSettings {
    /// `throw`.
    pub throw: bool,
    /// `batch`, `batchPerHost`.
    pub batch: BatchLimits,
    /// User-Agent.
    pub user_agent: Rc<str>,
    /// `discardResponseBodies`.
    pub discard: bool,
    /// `maxRedirects`.
    pub max_redirects: u32,
    /// The script or the command line said how many.
    pub redirects_given: bool,
    /// Parsed URLs.
    pub urls: Rc<UrlCache>,
    /// The way to the series.
    pub sampler: Sampler,
    /// Each exchange, or each sample, is looked at: by one of the four below, or an output.
    pub is_watched: bool,
    /// `httpDebug`: sees the requests of each client.
    pub debug: Option<Rc<HttpDebug>>,
    /// Counts exchanges that the kernel did not time.
    pub unstamped: Rc<WorkerTally>,
    /// `--referee`.
    pub referee: Option<Rc<WorkerReferee>>,
    /// `traceContext`, and spans.
    pub traces: Option<Tracing>,
}

impl HttpState {
    /// What `setResponseCallback` set.
    pub fn expect(&self, expectation: Expectation) {
        *self.expectation.borrow_mut() = expectation;
        self.fixed.forget();
        self.expectations.set(self.expectations.get() + 1);
    }

    /// What decides about answers unless a request says otherwise.
    pub fn expectation(&self) -> Expectation {
        self.expectation.borrow().clone()
    }

    /// Another number whenever what is prepared now would not be what was prepared before. `None`: cookies may be
    /// different each time, and headers of traces are.
    pub fn edition(&self) -> Option<u32> {
        let is_traced = self.run.get().is_some_and(|run| run.traces.is_some());
        (self.jar.is_empty() && !is_traced).then(|| self.expectations.get())
    }

    /// Options and caches.
    pub fn run(&self, vu: &Vu) -> &RunSettings {
        self.run.get_or_init(|| {
            let options = vu.options();
            let (debug, referee, traces) = (HttpDebug::of(vu), WorkerReferee::of(vu), Tracing::of(vu));
            RunSettings {
                throw: options.throw.unwrap_or(false),
                batch: options.batch_limits(),
                user_agent: Rc::from(options.user_agent()),
                discard: options.discard_response_bodies.unwrap_or(false),
                max_redirects: options.redirect_limit(),
                redirects_given: options.max_redirects.is_some(),
                urls: UrlCache::of(vu),
                sampler: Sampler::new(options.enabled_system_tags(), vu.worker_local::<SeriesSets>()),
                is_watched: debug.is_some() || referee.is_some() || traces.is_some() || vu.recorder().has_batches(),
                debug,
                unstamped: vu.worker_local::<WorkerTally>(),
                referee,
                traces,
            }
        })
    }
}
