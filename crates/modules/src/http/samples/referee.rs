//! What a worker tells the referee of its users' requests. While that is switched off a request costs one look at an
//! empty option.

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use metrics::Trend;
use wire::{Exchange, Method, Request};

use script::Vu;
use script::referee::{Probe, Referee};

/// One worker's part; made while the referee is switched on.
#[derive(Default)]
pub struct WorkerReferee {
    all: OnceCell<(Arc<Referee>, Arc<Mutex<Trend>>)>,
}

impl WorkerReferee {
    /// The worker's, if there is a referee.
    pub fn of(vu: &Vu) -> Option<Rc<WorkerReferee>> {
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
        let make = || Probe { url: address.to_owned(), headers: request.headers.to_vec(), status: answer.status };
        let probe = referee.matching(address, &request.url.text, make);
        if probe.is_some_and(|probe| probe.status == answer.status) {
            let ms = exchange.timings.duration().as_secs_f64() * 1e3;
            own.lock().unwrap_or_else(PoisonError::into_inner).add(ms);
        }
    }
}
