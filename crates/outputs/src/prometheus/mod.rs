//! `--out experimental-prometheus-rw`: the state of each series, by Prometheus's remote write, version 1.
//!
//! Names, labels and units are k6's: `k6_` before the name, `_total` behind counters, `_rate` behind rates, seconds
//! for times. A trend is a gauge for each statistic, or a native histogram. Series without new samples are not sent
//! again.

mod histogram;
pub(crate) mod settings;

use metrics::batches::SeriesTags;
use metrics::{Contains, Trend};

use crate::catalog::Take;
use crate::feed::Running;
use crate::post::Poster;
use crate::proto::Message;
use crate::push::{self, Courier, Form, Parcel, Schedule};
use crate::setup::Setup;
use crate::tally::{Row, State, Tally};

use settings::{PrometheusSettings, Statistic};

const NAME: &str = "experimental-prometheus-rw";

/// The value that ends a series: Prometheus's marker, a NaN of its own.
const STALE: u64 = 0x7ff0_0000_0000_0002;

/// Starts it. `argument`: the URL, if it is given.
pub(crate) fn open(argument: &str, setup: &Setup<'_>) -> Result<Running, String> {
    let settings = PrometheusSettings::read(argument, setup.env)?;
    let schedule = Schedule { name: NAME, unit: "points", every: settings.every };
    let address = settings.address.clone();
    let form =
        RemoteWrite { tally: Tally::new(setup.registry.clone()), heads: Vec::new(), settings, state: Sent::Nothing };
    push::start(schedule, setup.tell.clone(), form, move || Poster::new(address).map(Snappy))
}

/// What the last parcels were, at the end.
#[derive(PartialEq, Eq)]
enum Sent {
    Nothing,
    /// The last values, with nothing to come.
    Last,
    All,
}

struct RemoteWrite {
    tally: Tally,
    /// For each row, its series: the labels of each in bytes, ready to be sent.
    heads: Vec<Vec<Vec<u8>>>,
    settings: PrometheusSettings,
    state: Sent,
}

impl Take for RemoteWrite {
    fn meet(&mut self, series: &SeriesTags) {
        self.tally.meet(series);
        for (index, row) in self.tally.rows().skip(self.heads.len()) {
            debug_assert_eq!(index, self.heads.len());
            self.heads.push(heads(row, &self.settings));
        }
    }

    fn sample(&mut self, series: u32, at_ns: u64, value: f64) {
        self.tally.sample(series, at_ns, value);
    }
}

impl Form for RemoteWrite {
    fn parcel(&mut self, is_last: bool) -> Option<Parcel> {
        let is_stale = match (is_last, &self.state) {
            (false, _) => false,
            (true, Sent::Nothing) => {
                self.state = Sent::Last;
                false
            }
            (true, Sent::Last) if self.settings.marks_stale => {
                self.state = Sent::All;
                true
            }
            (true, _) => return None,
        };
        let (mut request, mut count) = (Message::default(), 0);
        for (index, row) in self.tally.rows() {
            if !is_stale && !row.is_fresh {
                continue;
            }
            let heads = &self.heads[index];
            count += heads.len() as u64;
            if is_stale {
                heads.iter().for_each(|head| stale(&mut request, head, row.last_ns / 1_000_000));
            } else {
                row.is_fresh = false;
                write(&mut request, heads, row, &self.settings);
            }
        }
        // Nothing came in: what there was has been sent, and of a run without samples there is nothing to mark.
        match count {
            0 if is_last && self.state == Sent::Last => self.parcel(true),
            0 => None,
            count => Some(Parcel { body: request.0, count }),
        }
    }
}

/// The labels of each series of a row: its name first, which also sorts first.
fn heads(row: &Row, settings: &PrometheusSettings) -> Vec<Vec<u8>> {
    let base = format!("k6_{}", row.metric.name);
    let names = match &row.state {
        State::Counter(_) => vec![format!("{base}_total")],
        State::Gauge(_) => vec![base],
        State::Rate { .. } => vec![format!("{base}_rate")],
        State::Trend(_) if settings.is_native => vec![match row.metric.contains {
            Contains::Time => format!("{base}_seconds"),
            Contains::Data => format!("{base}_bytes"),
            Contains::Default => base,
        }],
        State::Trend(_) => settings.statistics.iter().map(|statistic| format!("{base}_{}", statistic.name)).collect(),
    };
    // k6 puts this on all series of such a run.
    let native = settings.is_native.then_some(("k6_feature_native_histograms", "true"));
    let mut tags: Vec<(&str, &str)> = row.tags.iter().map(|(key, value)| (&**key, &**value)).chain(native).collect();
    let of_all = settings.labels.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let missing: Vec<_> = of_all.filter(|(name, _)| tags.iter().all(|(tag, _)| tag != name)).collect();
    tags.extend(missing);
    tags.sort_unstable();
    let head = |name: String| {
        let mut head = Message::default();
        for (key, value) in std::iter::once(("__name__", name.as_str())).chain(tags.iter().copied()) {
            head.message(1, |label| {
                label.bytes(1, key.as_bytes());
                label.bytes(2, value.as_bytes());
            });
        }
        head.0
    };
    names.into_iter().map(head).collect()
}

/// Adds the series of a row.
fn write(request: &mut Message, heads: &[Vec<u8>], row: &Row, settings: &PrometheusSettings) {
    let at_ms = row.last_ns / 1_000_000;
    // Seconds are what Prometheus counts time in.
    let unit = if row.metric.contains == Contains::Time { 1e-3 } else { 1.0 };
    match &row.state {
        State::Counter(value) | State::Gauge(value) => sample(request, &heads[0], *value * unit, at_ms),
        State::Rate { passes, total } => {
            debug_assert!(*total > 0 && passes <= total, "what is fresh has samples: {passes} of {total}");
            sample(request, &heads[0], *passes as f64 / *total as f64, at_ms);
        }
        State::Trend(trend) if settings.is_native => request.message(1, |series| {
            series.0.extend_from_slice(&heads[0]);
            series.message(4, |message| histogram::write(message, trend, unit, at_ms));
        }),
        State::Trend(trend) => {
            for (head, statistic) in heads.iter().zip(&settings.statistics) {
                sample(request, head, statistic.of(trend, unit), at_ms);
            }
        }
    }
}

fn sample(request: &mut Message, head: &[u8], value: f64, at_ms: u64) {
    request.message(1, |series| {
        series.0.extend_from_slice(head);
        series.message(2, |sample| {
            sample.double(1, value);
            sample.uint(2, at_ms);
        });
    });
}

/// Says that a series has ended, right behind its last value.
fn stale(request: &mut Message, head: &[u8], last_ms: u64) {
    sample(request, head, f64::from_bits(STALE), last_ms + 1);
}

impl Statistic {
    /// Its value. A number of samples has no unit.
    fn of(&self, trend: &Trend, unit: f64) -> f64 {
        use settings::Of;
        match self.of {
            Of::Count => trend.count() as f64,
            Of::Sum => trend.sum() * unit,
            Of::Min => trend.min() * unit,
            Of::Max => trend.max() * unit,
            Of::Avg => trend.avg() * unit,
            Of::Percentile(percent) => trend.percentile(percent) * unit,
        }
    }
}

/// Packs what it posts.
struct Snappy(Poster);

impl Courier for Snappy {
    async fn send(&self, body: Vec<u8>) -> Result<(), String> {
        let packed = snap::raw::Encoder::new().compress_vec(&body).map_err(|error| error.to_string())?;
        self.0.post(packed).await
    }
}
