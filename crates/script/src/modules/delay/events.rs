//! The metrics of messages: `message_sends` by event, `message_delay` by event and hop, and a sub-metric for each event met.
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

/// Trend: milliseconds from stamp to stamp; tags `event` and `hop`.
pub const MESSAGE_DELAY: &str = "message_delay";
/// Counter: messages stamped for sending; tag `event`.
pub const MESSAGE_SENDS: &str = "message_sends";

/// Events that get sub-metrics.
const MOST_EVENTS: usize = 64;
/// Events that a worker remembers the series of before it forgets them all: scripts may make ever new names.
const MOST_REMEMBERED: usize = 1000;

/// A part of a message's way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hop {
    /// Sender out to receiver in.
    Total,
    /// Sender out to server in.
    Up,
    /// Server in to server out.
    Inside,
    /// Server out to receiver in.
    Down,
}

impl Hop {
    const ALL: [Hop; 4] = [Hop::Total, Hop::Up, Hop::Inside, Hop::Down];

    /// The value of the tag.
    pub fn name(self) -> &'static str {
        ["total", "up", "inside", "down"][self as usize]
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

    /// Adds delays of a message that was received; microseconds.
    pub fn received(&self, vu: &Vu, event: &str, delays: &[(Hop, f64)], own: &[(String, String)]) {
        let known = self.find(vu, event);
        for (hop, microseconds) in delays {
            let series = match known.hops[*hop as usize] {
                Some(series) if own.is_empty() => series,
                _ => self.resolve_hop(vu, event, *hop, own),
            };
            vu.recorder().add(series, microseconds / 1e3, vu.now_ns());
        }
    }

    #[cold]
    fn resolve_hop(&self, vu: &Vu, event: &str, hop: Hop, own: &[(String, String)]) -> Series {
        let series = resolve(vu, metric(vu, MESSAGE_DELAY), event, Some(hop), own);
        if own.is_empty() {
            self.keep(vu, event, |known| known.hops[hop as usize] = Some(series));
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
        let (delay, sends) = (metric(vu, MESSAGE_DELAY), metric(vu, MESSAGE_SENDS));
        for hop in Hop::ALL {
            vu.registry().sub_metric(delay, TagFilter::of([("event", event), ("hop", hop.name())]));
        }
        vu.registry().sub_metric(sends, TagFilter::of([("event", event)]));
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
