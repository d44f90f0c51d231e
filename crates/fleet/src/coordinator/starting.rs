//! From prepared agents to one instant: `setup()`'s data, the clocks, the start.

use super::seat::Stage;
use super::{Coordinator, Event, Phase};
use crate::message::Order;
use crate::{Ns, SECOND};

/// Sights of a clock when an agent comes, and before the start.
const FIRST_PINGS: u32 = 32;
/// Sights in a round while the test runs.
const LATER_PINGS: u32 = 8;
/// Between two rounds.
const ROUND_EVERY: Ns = 5 * SECOND;
/// A ping that is not answered by then is followed by another. An answer to one that was followed is of no use: on a
/// slow way more time is given, up to this much.
const PING_PATIENCE: (Ns, Ns) = (SECOND, 16 * SECOND);
/// From the decision to start until the start, at least: every agent has heard of it by then.
const LEAD: Ns = SECOND / 2;

impl Coordinator {
    pub(super) fn begin_pinging(&mut self, index: u32, now: Ns) {
        if let Some(seat) = self.seats[index as usize].as_mut() {
            seat.pinging.left = FIRST_PINGS;
            seat.pinging.sent = None;
        }
        self.ping(index, now);
    }

    /// Sends the next ping of a round.
    fn ping(&mut self, index: u32, now: Ns) {
        let Some(seat) = self.seats[index as usize].as_mut() else { return };
        let pinging = &mut seat.pinging;
        if pinging.left == 0 || pinging.sent.is_some() {
            return;
        }
        pinging.left -= 1;
        pinging.number = pinging.number.wrapping_add(1);
        pinging.sent = Some(now);
        let number = pinging.number;
        self.order(index, Order::Ping { number });
    }

    /// A ping has left later than it was made: connections send what is before it first.
    pub fn ping_left(&mut self, link: super::Link, number: u32, at: Ns) {
        let Some(index) = self.links.get(&link).copied() else { return };
        let Some(seat) = self.seats[index as usize].as_mut() else { return };
        if seat.pinging.number == number && seat.pinging.sent.is_some_and(|sent| sent <= at) {
            seat.pinging.sent = Some(at);
        }
    }

    pub(super) fn sight(&mut self, index: u32, number: u32, (received, sent): (Ns, Ns), now: Ns) {
        let Some(seat) = self.seats[index as usize].as_mut() else { return };
        // An answer to one that was given up is not dated rightly.
        if seat.pinging.number != number {
            return;
        }
        if let Some(left) = seat.pinging.sent.take() {
            seat.sights.add(left, received, sent, now);
            if now.saturating_sub(left) < PING_PATIENCE.0 {
                seat.pinging.patience = None;
            }
        }
        if seat.pinging.left == 0 {
            seat.pinging.ended = now;
            self.tell_time(index, now);
        }
        self.ping(index, now);
        self.look_whether_to_start(now);
    }

    /// Follows up what was not answered, and begins rounds that are due.
    pub(super) fn ping_again(&mut self, now: Ns) {
        for index in 0..self.setup.agents {
            let Some(seat) = self.seats[index as usize].as_mut().filter(|seat| seat.link.is_some()) else { continue };
            let pinging = &mut seat.pinging;
            let patience = pinging.patience.unwrap_or(PING_PATIENCE.0);
            if pinging.sent.is_some_and(|sent| now.saturating_sub(sent) > patience) {
                pinging.patience = Some((patience * 2).min(PING_PATIENCE.1));
                pinging.sent = None;
                pinging.left += 1;
            }
            let is_idle = pinging.left == 0 && pinging.sent.is_none();
            if is_idle && now.saturating_sub(pinging.ended) >= ROUND_EVERY {
                pinging.left = LATER_PINGS;
            }
            self.ping(index, now);
        }
    }

    pub(super) fn prepared(&mut self, index: u32, users: u64, now: Ns) {
        let Some(seat) = self.seats[index as usize].as_mut() else { return };
        if seat.stage < Stage::Prepared {
            (seat.stage, seat.users) = (Stage::Prepared, users);
            let (users, agents) = self.all_prepared();
            self.outbox.tell(Event::Prepared { users, agents });
        }
        match (self.phase, self.data.clone()) {
            (Phase::Gathering, _) if self.all_prepared().1 == self.setup.agents => {
                self.phase = Phase::SettingUp;
                self.outbox.tell(Event::AllPrepared);
            }
            (Phase::HandingOut | Phase::Sighting | Phase::Running(_), Some(data)) => {
                self.order(index, Order::Setup { data });
            }
            _ => {}
        }
        self.look_whether_to_start(now);
    }

    fn all_prepared(&self) -> (u64, u32) {
        let prepared = self.seats.iter().flatten().filter(|seat| seat.stage >= Stage::Prepared);
        prepared.fold((0, 0), |(users, agents), seat| (users + seat.users, agents + 1))
    }

    /// What `setup()` returned, as JSON, goes to all agents; then they start.
    pub fn hand_out(&mut self, data: Option<String>) {
        if self.phase == Phase::SettingUp {
            assert!(self.data.is_none(), "`setup()` runs once");
            self.phase = Phase::HandingOut;
            self.order_all(&Order::Setup { data: data.clone() });
            self.data = Some(data);
        }
    }

    pub(super) fn has_setup(&mut self, index: u32, now: Ns) {
        if let Some(seat) = self.seats[index as usize].as_mut()
            && seat.stage < Stage::HasSetup
        {
            seat.stage = Stage::HasSetup;
        }
        match self.phase {
            Phase::HandingOut if self.all_have_setup() => {
                self.phase = Phase::Sighting;
                (0..self.setup.agents).for_each(|index| self.begin_pinging(index, now));
            }
            // It has lost its connection before it heard of the start.
            Phase::Running(start) => {
                self.order_start(index, start);
                self.order_changes(index);
            }
            _ => {}
        }
    }

    fn all_have_setup(&self) -> bool {
        let is_waiting = |seat: &super::Seat| seat.stage == Stage::HasSetup && seat.link.is_some();
        self.seats.iter().all(|seat| seat.as_ref().is_some_and(is_waiting))
    }

    /// All clocks are sighted: names the instant.
    fn look_whether_to_start(&mut self, now: Ns) {
        let is_sighted = |seat: &super::Seat| seat.pinging.left == 0 && seat.pinging.sent.is_none();
        let all = self.seats.iter().all(|seat| seat.as_ref().is_some_and(is_sighted));
        if self.phase != Phase::Sighting || !all || !self.all_have_setup() || self.end.stop.is_some() {
            return;
        }
        let worst = |at: Ns| self.leads(at).map(|(_, lead)| lead.bound).max().unwrap_or(0);
        let start = now + LEAD + 8 * worst(now);
        let bound = worst(start);
        self.phase = Phase::Running(start);
        let data = self.data.clone().flatten();
        self.outbox.tell(Event::Starting { at: start, bound, data });
        (0..self.setup.agents).for_each(|index| self.order_start(index, start));
        // A short test is over before the next round.
        self.say_how_far_apart(start);
    }

    fn order_start(&mut self, index: u32, start: Ns) {
        let lead = self.seats[index as usize].as_ref().and_then(|seat| seat.sights.lead(start));
        if let Some(lead) = lead {
            self.order(index, Order::Clock { at: lead.there(start), wall: start + self.setup.epoch });
            self.order(index, Order::Start { at: lead.there(start), bound: lead.bound });
        }
    }

    /// What time it is, to one whose clock was sighted anew; and how far it may be off until the next time.
    fn tell_time(&mut self, index: u32, now: Ns) {
        if !matches!(self.phase, Phase::Running(_)) {
            return;
        }
        let lead = self.seats[index as usize].as_ref().and_then(|seat| seat.sights.lead(now));
        if let Some(lead) = lead {
            self.order(index, Order::Clock { at: lead.there(now), wall: now + self.setup.epoch });
        }
        self.say_how_far_apart(now);
    }

    /// Users of two agents may stamp one instant differently by so much, until the clocks are sighted again.
    fn say_how_far_apart(&mut self, now: Ns) {
        let bounds = self.leads(now + ROUND_EVERY + PING_PATIENCE.0).map(|(_, lead)| lead.bound);
        let (clocks, [most, next]) = bounds.fold((0, [0, 0]), |(clocks, [most, next]), bound| {
            (clocks + 1, if bound > most { [bound, most] } else { [most, next.max(bound)] })
        });
        let apart = most + next;
        if clocks > 1 && apart > self.apart {
            self.apart = apart;
            self.outbox.tell(Event::Apart(apart));
        }
    }

    pub(super) fn started(&mut self, index: u32, late: Ns) {
        let Some(seat) = self.seats[index as usize].as_mut() else { return };
        if seat.stage < Stage::Started {
            seat.stage = Stage::Started;
            self.outbox.tell(Event::Started { index, late });
        }
    }
}
