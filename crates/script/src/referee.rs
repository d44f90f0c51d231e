//! `--referee`: which request is asked for again from outside of the workers, and what the users measured of it.
//!
//! The request is the first plain GET of a user that was answered (or that of a given address): no body, no redirect, no
//! link. Only what the script itself sets goes along, so an answer that depends on cookies shows by another status.
//! While it is switched off a request costs one look at an empty option.

use std::cell::OnceCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use metrics::Trend;
use wire::{Departures, Exchange, Method, Request};

use crate::Vu;

/// One request in so many is checked against the kernel's transmit stamp.
const CHECKED: u32 = 1000;

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
    departures: OnceLock<Arc<Departures>>,
}

impl Referee {
    /// From now on a request is looked for: that of this address, or the first that fits.
    pub fn switch_on(&self, address: Option<&str>) {
        if let Some(address) = address {
            self.wanted.get_or_init(|| address.to_owned());
        }
        self.departures.get_or_init(|| Arc::new(Departures::one_in(CHECKED)));
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

    /// What the wire checks against transmit stamps; none while switched off.
    pub fn departures(&self) -> Option<Arc<Departures>> {
        self.departures.get().cloned()
    }

    fn is_on(&self) -> bool {
        self.is_on.load(Ordering::Acquire)
    }

    fn join(&self) -> Arc<Mutex<Trend>> {
        let own = Arc::<Mutex<Trend>>::default();
        self.measured.lock().unwrap_or_else(PoisonError::into_inner).push(own.clone());
        own
    }
}

/// One worker's part; made while the referee is switched on.
#[derive(Default)]
pub struct WorkerReferee {
    all: OnceCell<(Arc<Referee>, Arc<Mutex<Trend>>)>,
}

impl WorkerReferee {
    /// The worker's, if there is a referee.
    pub fn of(vu: &Vu) -> Option<std::rc::Rc<WorkerReferee>> {
        let referee = vu.process::<Referee>();
        referee.is_on().then(|| {
            let own = vu.worker_local::<WorkerReferee>();
            own.all.get_or_init(|| (referee.clone(), referee.join()));
            own
        })
    }

    /// A user's request has ended.
    pub fn note(&self, vu: &Vu, request: &Request, exchange: &Exchange) {
        let (Some((referee, own)), Ok(answer)) = (self.all.get(), &exchange.outcome) else { return };
        let is_plain = request.method == Method::Get && request.body.is_none() && exchange.url == request.url;
        if !is_plain || vu.context().is_none() || vu.link().is_some() {
            return;
        }
        let address = request.url.full_text();
        if referee.wanted.get().is_some_and(|wanted| wanted != address && wanted != &request.url.text) {
            return;
        }
        let probe = referee.probe.get_or_init(|| Probe {
            url: address.to_owned(),
            headers: request.headers.to_vec(),
            status: answer.status,
        });
        if probe.url == address && probe.status == answer.status {
            let ms = exchange.timings.duration().as_secs_f64() * 1e3;
            own.lock().unwrap_or_else(PoisonError::into_inner).add(ms);
        }
    }
}
