//! The metrics of messages: `message_sends` and `message_delay` by event, `message_hop` by event and hop, and sub-metrics for
//! each event met. The whole way and its parts are two metrics: one line of all of them together would be the mean of nothing.
//!
//! Events are met while the test runs, yet their sub-metrics are whole: a worker resolves the series of an event only after it
//! has seen the event's sub-metrics made, by itself or by another worker. Refuses to make sub-metrics without end: events beyond
//! the first 64 have their tags only, which is said once.

use std::cell::RefCell;
use std::sync::{Mutex, PoisonError};

use metrics::tags::TagFilter;
use metrics::{MetricId, Series};
use rustc_hash::FxHashMap;

use crate::log::{Level, Record};
use crate::modules::series::SeriesCache;
use crate::vu::Vu;

/// Trend: milliseconds from the sender's stamp to the receiver; tag `event`.
pub const MESSAGE_DELAY: &str = "message_delay";
/// Trend: milliseconds of a part of that way; tags `event` and `hop`.
pub const MESSAGE_HOP: &str = "message_hop";
/// Counter: messages stamped for sending; tag `event`.
pub const MESSAGE_SENDS: &str = "message_sends";

/// Events that get sub-metrics.
const MOST_EVENTS: usize = 64;
/// Events that a worker remembers the series of before it forgets them all: scripts may make ever new names.
const MOST_REMEMBERED: usize = 1000;

/// A part of a message's way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hop {
    /// Sender out to server in.
    Up,
    /// Server in to server out.
    Inside,
    /// Server out to receiver in.
    Down,
}

impl Hop {
    const ALL: [Hop; 3] = [Hop::Up, Hop::Inside, Hop::Down];

    /// The value of the tag.
    pub fn name(self) -> &'static str {
        ["up", "inside", "down"][self as usize]
    }
}

/// The events of the process.
#[derive(Default)]
struct Events(Mutex<Vec<String>>);

/// Series of a worker, by the tags of the user and the event.
#[derive(Default)]
pub struct Ledger {
    known: RefCell<FxHashMap<u32, FxHashMap<Box<str>, Known>>>,
}

/// The series of an event that were needed so far.
#[derive(Clone, Copy, Default)]
struct Known {
    sends: Option<Series>,
    delay: Option<Series>,
    hops: [Option<Series>; Hop::ALL.len()],
}

impl Ledger {
    /// Counts a message that is about to be sent.
    pub fn sent(&self, vu: &Vu, event: &str) {
        let known = self.find(vu, event);
        let series = known.sends.unwrap_or_else(|| {
            let series = resolve(vu, metric(vu, MESSAGE_SENDS), event, None, &[]);
            self.keep(vu, event, |known| known.sends = Some(series));
            series
        });
        vu.recorder().add(series, 1.0, vu.now_ns());
    }

    /// Adds the delay of a message that was received, and its parts if they are known; microseconds.
    pub fn received(&self, vu: &Vu, event: &str, delay: f64, hops: &[(Hop, f64)], own: &[(String, String)]) {
        let known = self.find(vu, event);
        let now_ns = vu.now_ns();
        let series = known.delay.filter(|_| own.is_empty());
        let series = series.unwrap_or_else(|| self.resolve_received(vu, event, None, own));
        vu.recorder().add(series, delay / 1e3, now_ns);
        for (hop, microseconds) in hops {
            let series = known.hops[*hop as usize].filter(|_| own.is_empty());
            let series = series.unwrap_or_else(|| self.resolve_received(vu, event, Some(*hop), own));
            vu.recorder().add(series, microseconds / 1e3, now_ns);
        }
    }

    /// The series of the whole delay, or of a hop.
    #[cold]
    fn resolve_received(&self, vu: &Vu, event: &str, hop: Option<Hop>, own: &[(String, String)]) -> Series {
        let name = if hop.is_some() { MESSAGE_HOP } else { MESSAGE_DELAY };
        let series = resolve(vu, metric(vu, name), event, hop, own);
        if own.is_empty() {
            self.keep(vu, event, |known| match hop {
                None => known.delay = Some(series),
                Some(hop) => known.hops[hop as usize] = Some(series),
            });
        }
        series
    }

    /// What is known of an event; it has its sub-metrics from then on.
    fn find(&self, vu: &Vu, event: &str) -> Known {
        let known = self.known.borrow().get(&vu.tags_key()).and_then(|events| events.get(event)).copied();
        known.unwrap_or_else(|| {
            vu.process::<Events>().meet(vu, event);
            self.keep(vu, event, |_| ());
            Known::default()
        })
    }

    fn keep(&self, vu: &Vu, event: &str, change: impl FnOnce(&mut Known)) {
        let mut known = self.known.borrow_mut();
        if known.values().map(FxHashMap::len).sum::<usize>() >= MOST_REMEMBERED {
            known.clear();
        }
        change(known.entry(vu.tags_key()).or_default().entry(event.into()).or_default());
    }
}

impl Events {
    /// Makes the sub-metrics of an event that is new to the process. They exist when this returns, whoever made them.
    fn meet(&self, vu: &Vu, event: &str) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.iter().any(|known| known == event) || all.len() > MOST_EVENTS {
            return;
        }
        all.push(event.to_owned());
        if all.len() > MOST_EVENTS {
            drop(all);
            let message = format!(
                "onrush/delay: there are more than {MOST_EVENTS} events; '{event}' and further ones have no lines of their own; \
                 name the kinds of messages, not the messages"
            );
            vu.log().log(&Record { level: Level::Warning, message: &message, fields: &[] });
            return;
        }
        for name in [MESSAGE_DELAY, MESSAGE_SENDS] {
            vu.registry().sub_metric(metric(vu, name), TagFilter::of([("event", event)]));
        }
        for hop in Hop::ALL {
            let filter = TagFilter::of([("event", event), ("hop", hop.name())]);
            vu.registry().sub_metric(metric(vu, MESSAGE_HOP), filter);
        }
    }
}

fn metric(vu: &Vu, name: &str) -> MetricId {
    vu.registry().find(name).expect("defined when the module was loaded")
}

fn resolve(vu: &Vu, metric: MetricId, event: &str, hop: Option<Hop>, own: &[(String, String)]) -> Series {
    let mut tags = own.to_vec();
    tags.push(("event".into(), event.into()));
    tags.extend(hop.map(|hop| ("hop".into(), hop.name().into())));
    vu.worker_local::<SeriesCache>().resolve(vu, metric, &tags)
}
