//! The metrics of messages: `message_sends` and `message_delay`, split by event, and `message_hop`, split by event and
//! hop. The whole way and its parts are two metrics: one line of all of them together would be the mean of nothing.

use std::cell::RefCell;

use metrics::registry::DefineError;
use metrics::{Contains, Kind, MetricId, Registry, Series};
use rustc_hash::FxHashMap;

use script::series::SeriesCache;
use script::vu::Vu;

/// Trend: milliseconds from the sender's stamp to the receiver; tag `event`.
pub const MESSAGE_DELAY: &str = "message_delay";
/// Trend: milliseconds of a part of that way; tags `event` and `hop`.
pub const MESSAGE_HOP: &str = "message_hop";
/// Counter: messages stamped for sending; tag `event`.
pub const MESSAGE_SENDS: &str = "message_sends";

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
    /// The value of the tag.
    pub fn name(self) -> &'static str {
        match self {
            Hop::Up => "up",
            Hop::Inside => "inside",
            Hop::Down => "down",
        }
    }
}

/// Defines the metrics, and has them kept by event.
pub fn define(registry: &Registry) -> Result<(), DefineError> {
    let delay = registry.define(MESSAGE_DELAY, Kind::Trend, Contains::Time)?;
    let hop = registry.define(MESSAGE_HOP, Kind::Trend, Contains::Time)?;
    let sends = registry.define(MESSAGE_SENDS, Kind::Counter, Contains::Default)?;
    registry.split(delay, &["event"]);
    registry.split(hop, &["event", "hop"]);
    registry.split(sends, &["event"]);
    Ok(())
}

/// Series of a worker, by the tags of the user and the event.
#[derive(Default)]
pub struct Ledger {
    known: RefCell<FxHashMap<u32, FxHashMap<Box<str>, KnownSeries>>>,
}

/// The series of an event that were needed so far.
#[derive(Clone, Copy, Default)]
struct KnownSeries {
    sends: Option<Series>,
    delay: Option<Series>,
    hops: [Option<Series>; 3],
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
    // Cold: series without own tags are found once and kept.
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

    /// What is known of an event.
    fn find(&self, vu: &Vu, event: &str) -> KnownSeries {
        let known = self.known.borrow();
        known.get(&vu.tags_key()).and_then(|events| events.get(event)).copied().unwrap_or_default()
    }

    fn keep(&self, vu: &Vu, event: &str, change: impl FnOnce(&mut KnownSeries)) {
        let mut known = self.known.borrow_mut();
        if known.values().map(FxHashMap::len).sum::<usize>() >= MOST_REMEMBERED {
            known.clear();
        }
        change(known.entry(vu.tags_key()).or_default().entry(event.into()).or_default());
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
