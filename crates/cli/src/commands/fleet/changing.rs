//! A fleet whose load clients change: the coordinator checks what is wanted against the plan of the whole test, takes
//! it over for its own account, and orders it of all agents.

use std::sync::mpsc::Receiver;
use std::time::Duration;

use engine::clock::{Clock, RealClock};
use engine::{LoadChange, LoadWish, RunConfig};
use fleet::drive::Command;
use journal::LoadOrder;
use script::log::Level;

use super::Fleet;
use crate::api::LoadRequest;

/// What clients want changed, and what agents have taken over.
#[derive(Default)]
pub struct Changes {
    /// None where there is no API, and once the load has ended.
    requests: Option<Receiver<LoadRequest>>,
    /// How many were ordered.
    ordered: u64,
    /// The last one that each agent follows.
    followed: Vec<u64>,
}

impl Changes {
    pub fn follow(&mut self, requests: Receiver<LoadRequest>) {
        self.requests = Some(requests);
    }

    /// Who asks from now on hears that the test has ended.
    pub fn close(&mut self) {
        self.requests = None;
    }
}

impl Fleet<'_> {
    /// Answers the clients who want another load.
    pub(super) fn answer_requests(&mut self, config: &RunConfig) {
        while let Some(request) = self.changes.requests.as_ref().and_then(|requests| requests.try_recv().ok()) {
            let answer = self.change_load(&request.wish, config);
            // A client that is gone does not want to know.
            let _gone = request.reply.send(answer);
        }
    }

    fn change_load(&mut self, wish: &LoadWish, config: &RunConfig) -> Result<Vec<LoadChange>, String> {
        if config.stopper.is_stopped() {
            return Err(String::from("the test has ended: there is nothing to change"));
        }
        let not_yet = || String::from("the load cannot change yet: the scenarios have not begun");
        let at = self.elapsed(config).ok_or_else(not_yet)? + LoadOrder::LEAD;
        let changes = config.state.change_load_from(wish, at, self.agents)?;
        if let Some(change) = changes.first() {
            let wish = LoadWish { scenario: Some(change.scenario.clone()), ..wish.clone() };
            self.changes.ordered += 1;
            self.tell(Command::Change(LoadOrder { at, wish }.to_bytes()));
        }
        Ok(changes)
    }

    /// Since the start of the scenarios.
    fn elapsed(&self, config: &RunConfig) -> Option<Duration> {
        match &self.resumed {
            Some(state) => Some(Duration::from_nanos(fleet::clock::now().saturating_sub(state.started()))),
            None => RealClock::new(config.origin).now().checked_sub(self.start?),
        }
    }

    /// Takes over what a coordinator that was killed had ordered.
    pub(super) fn restore_changes(&mut self, config: &RunConfig) {
        let kept = self.resumed.as_ref().map(|state| state.changes.clone()).unwrap_or_default();
        for bytes in &kept {
            let applied = LoadOrder::read(bytes).and_then(|order| order.apply(&config.state, self.agents));
            if let Err(why) = applied {
                self.log.write(Level::Warning, &format!("--resume: a change of the load is missing: {why}"), &[]);
            }
        }
        self.changes.ordered = kept.len() as u64;
    }

    /// An agent follows a change; in time, or not.
    pub(super) fn note_change(&mut self, index: u32, number: u64, late: fleet::Ns) {
        let known = index as usize + 1;
        if self.changes.followed.len() < known {
            self.changes.followed.resize(known, 0);
        }
        self.changes.followed[index as usize] = number;
        if late > 0 {
            let late = late as f64 / 1e9;
            let what = format!("it followed change {number} of the load {late:.1} s late");
            self.log.write(Level::Warning, &format!("{}: {what}", self.members.title(index)), &[]);
            self.members.note(index, what);
        }
    }

    /// At the end: agents that have not heard of a change ran another load than the result says.
    pub(super) fn note_missed_changes(&mut self) {
        let ordered = self.changes.ordered;
        for index in 0..self.agents {
            let followed = self.changes.followed.get(index as usize).copied().unwrap_or(0);
            if followed < ordered {
                let first = followed + 1;
                self.members.note(index, format!("it did not follow change {first} of the load"));
            }
        }
    }
}
