//! What the virtual users of one worker thread share: recorder, network, tag sets, caches of modules.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::{Rc, Weak};
use std::sync::Arc;

use engine::scenario::ScenarioInfo;
use host::Extensions;
use metrics::{MetricId, Recorder, Series, TagSet};
use wire::client::Http2Pool;
use wire::mask::Mask;
use wire::settings::Http2Limits;

use crate::message_sink::MessageLines;
use crate::options::{Http2Choice, Options};
use crate::shared::Shared;

/// Distinct tag sets that are remembered before scripts that make ever new ones have all forgotten.
const LIMIT: usize = 10_000;

/// One per worker thread and program; never leaves its thread.
pub struct WorkerState {
    /// The worker's samples.
    pub recorder: Rc<Recorder>,
    /// State of modules, by type.
    pub local: Rc<Extensions>,
    options: OnceCell<Arc<Options>>,
    wire: OnceCell<Rc<wire::ClientContext>>,
    /// Connections of HTTP/2 that users of this worker share.
    pub http2_pools: Http2Pools,
    messages: OnceCell<Option<Rc<dyn MessageLines>>>,
    mask: OnceCell<Mask>,
    tag_keys: RefCell<HashMap<TagSet, u32>>,
    next_key: Cell<u32>,
    series: RefCell<HashMap<(u32, MetricId), Series>>,
}

/// Connections of HTTP/2 by the scenario whose users share them.
#[derive(Default)]
pub struct Http2Pools(RefCell<HashMap<usize, Rc<Http2Pool>>>);

impl Http2Pools {
    /// Those of a scenario, if its users share any: this worker's part of them.
    pub fn of(&self, scenario: &ScenarioInfo, options: &Options) -> Option<Rc<Http2Pool>> {
        let Http2Choice::Shared(limits) = options.http2_of(&scenario.name) else { return None };
        let connections = scenario.share.of(limits.connections).max(1);
        let make = || Http2Pool::new(Some(Http2Limits { connections, ..limits }));
        Some(self.0.borrow_mut().entry(scenario.index).or_insert_with(make).clone())
    }
}

thread_local! {
    /// Known states by program and recorder. Weak, so that a finished run frees its caches.
    static STATES: RefCell<Vec<(usize, Weak<WorkerState>)>> = const { RefCell::new(Vec::new()) };
}

impl WorkerState {
    /// The state of this thread for this program and recorder.
    pub fn of(shared: &Arc<Shared>, recorder: &Rc<Recorder>) -> Rc<WorkerState> {
        let program = Arc::as_ptr(shared) as usize;
        STATES.with_borrow_mut(|states| {
            states.retain(|(_, state)| state.strong_count() > 0);
            let known = states.iter().filter(|(of, _)| *of == program).filter_map(|(_, state)| state.upgrade());
            if let Some(state) = known.into_iter().find(|state| Rc::ptr_eq(&state.recorder, recorder)) {
                return state;
            }
            let state = Rc::new(WorkerState {
                recorder: recorder.clone(),
                local: Rc::default(),
                options: OnceCell::new(),
                wire: OnceCell::new(),
                http2_pools: Http2Pools::default(),
                messages: OnceCell::new(),
                mask: OnceCell::new(),
                tag_keys: RefCell::default(),
                next_key: Cell::new(0),
                series: RefCell::default(),
            });
            states.push((program, Rc::downgrade(&state)));
            state
        })
    }

    /// The final options. A copy, because iterations ask: neither a lock nor a reference count is shared between
    /// workers.
    pub fn options(&self, shared: &Shared) -> Arc<Options> {
        self.options.get_or_init(|| Arc::new(Options::clone(&shared.options()))).clone()
    }

    /// The network side, made at the first request.
    pub fn wire(&self, options: &Options, shared: &Shared) -> Rc<wire::ClientContext> {
        self.wire
            .get_or_init(|| {
                let departures = Some(shared.process_state::<wire::Departures>());
                wire::ClientContext::new(Arc::new(wire::Settings { departures, ..options.network_settings() }))
                    .unwrap_or_else(|error| panic!("network settings are checked before the run: {}", error.message))
            })
            .clone()
    }

    /// Takes the counts of the requests that were cancelled on this thread.
    #[inline]
    pub(crate) fn take_cancelled(&self) -> wire::Cancelled {
        self.wire.get().map(|context| context.take_cancelled()).unwrap_or_default()
    }

    /// What is hidden of URLs in this run.
    pub fn mask(&self, make: impl FnOnce() -> Mask) -> &Mask {
        self.mask.get_or_init(make)
    }

    /// Where received messages are logged, if they are.
    pub fn messages(&self, shared: &Shared) -> Option<Rc<dyn MessageLines>> {
        self.messages.get_or_init(|| shared.messages.get().map(|sink| Rc::from(sink.open()))).clone()
    }

    /// A number for each distinct tag set, never used for another one; a set that was forgotten gets a new one.
    pub fn tags_key(&self, tags: &TagSet) -> u32 {
        if let Some(key) = self.tag_keys.borrow().get(tags) {
            return *key;
        }
        let mut keys = self.tag_keys.borrow_mut();
        if keys.len() >= LIMIT {
            keys.clear();
            self.series.borrow_mut().clear();
        }
        let next = self.next_key.replace(self.next_key.get() + 1);
        keys.insert(tags.clone(), next);
        next
    }

    /// The series of a metric with the common tags alone.
    pub fn data_series(&self, key: u32, metric: MetricId, tags: &TagSet) -> Series {
        *self.series.borrow_mut().entry((key, metric)).or_insert_with(|| self.recorder.series(metric, tags))
    }
}
