//! `--referee`: which request is asked for again from outside of the workers, and what the users measured of it.
//!
//! The request is the first plain GET of a user that was answered (or that of a given address): no body, no redirect,
//! no link. Only what the script itself sets goes along, so an answer that depends on cookies shows by another status.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use metrics::Trend;

/// The request that is asked for again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// Where to, credentials included.
    pub url: String,
    /// The script's own headers.
    pub headers: Vec<(String, String)>,
    /// What the users were answered.
    pub status: u16,
}

/// What all workers know.
#[derive(Default)]
pub struct Referee {
    is_on: AtomicBool,
    wanted: OnceLock<String>,
    probe: OnceLock<Probe>,
    measured: Mutex<Vec<Arc<Mutex<Trend>>>>,
}

impl Referee {
    /// From now on a request is looked for: that of this address, or the first that fits.
    pub fn switch_on(&self, address: Option<&str>) {
        if let Some(address) = address {
            self.wanted.get_or_init(|| address.to_owned());
        }
        self.is_on.store(true, Ordering::Release);
    }

    /// The request, once a user has made it.
    pub fn probe(&self) -> Option<&Probe> {
        self.probe.get()
    }

    /// `http_req_duration` of the users' own requests of this kind, in ms.
    pub fn measured(&self) -> Trend {
        let mut all = Trend::default();
        for worker in self.measured.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            all.merge(&worker.lock().unwrap_or_else(PoisonError::into_inner));
        }
        all
    }

    /// Whether a request is looked for.
    pub fn is_on(&self) -> bool {
        self.is_on.load(Ordering::Acquire)
    }

    /// The request that is asked for again, if this one is of its kind: `make` is what it becomes where there is none.
    pub fn matching(&self, address: &str, shown: &str, make: impl FnOnce() -> Probe) -> Option<&Probe> {
        if self.wanted.get().is_some_and(|wanted| wanted != address && wanted != shown) {
            return None;
        }
        let probe = self.probe.get_or_init(make);
        (probe.url == address).then_some(probe)
    }

    /// Another worker measures.
    pub fn join(&self) -> Arc<Mutex<Trend>> {
        let own = Arc::<Mutex<Trend>>::default();
        self.measured.lock().unwrap_or_else(PoisonError::into_inner).push(own.clone());
        own
    }
}
