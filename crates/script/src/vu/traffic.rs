//! The bytes that a user has moved, on their way to `data_sent` and `data_received`.

use std::cell::Cell;

use metrics::{Bundle, Recorder};

/// The account of one user.
#[derive(Default)]
pub(super) struct Traffic {
    /// Sent and received since the last report.
    moved: Cell<(u64, u64)>,
    reported_ns: Cell<u64>,
    /// Where it goes, for the tags with this key.
    series: Cell<Option<(u32, Bundle)>>,
}

impl Traffic {
    #[inline]
    pub fn count(&self, sent: u64, received: u64) {
        let (sent_before, received_before) = self.moved.get();
        self.moved.set((sent_before + sent, received_before + received));
    }

    /// Whether nothing was moved since the last report.
    pub fn is_zero(&self) -> bool {
        self.moved.get() == (0, 0)
    }

    /// Whether the last report is a second ago.
    pub fn is_due(&self, now_ns: u64) -> bool {
        now_ns >= self.reported_ns.get() + 1_000_000_000
    }

    /// Adds both samples and begins again. `make`: where they go, when the tags with this key are new.
    #[inline]
    pub fn report(&self, recorder: &Recorder, key: u32, at_ns: u64, make: impl FnOnce() -> Bundle) {
        let (sent, received) = self.moved.replace((0, 0));
        self.reported_ns.set(at_ns);
        let series = match self.series.get() {
            Some((known, series)) if known == key => series,
            _ => {
                let series = make();
                self.series.set(Some((key, series)));
                series
            }
        };
        recorder.add_counts(series, &[sent, received], at_ns);
    }
}
