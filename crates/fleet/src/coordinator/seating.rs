//! Who may take part, and as which part.

use super::seat::{Seat, Stage};
use super::{Coordinator, Event, Link, Phase};
use crate::Ns;
use crate::message::{Hello, Order, PROTOCOL};

impl Coordinator {
    /// Somebody says who it is.
    pub(super) fn greet(&mut self, link: Link, hello: Hello, now: Ns) {
        match self.place(&hello) {
            Ok(index) => self.take_seat(link, index, hello, now),
            Err(why) => self.outbox.refuse(link, &hello.name, &why),
        }
    }

    /// Which part is its own, or why it has none.
    fn place(&self, hello: &Hello) -> Result<u32, String> {
        let own = &self.setup;
        if hello.protocol != PROTOCOL {
            let found = hello.protocol;
            return Err(format!("it speaks protocol {found}, expected {PROTOCOL}: use the same Onrush everywhere"));
        }
        if hello.version != own.version {
            let (found, expected) = (&hello.version, &own.version);
            return Err(format!("it is Onrush {found}, expected {expected}: use the same Onrush everywhere"));
        }
        if !hello.secret.is(&own.secret) {
            return Err(String::from("its token is not this run's: give it the one that was printed for this run"));
        }
        if let Some((run, index)) = hello.seat {
            return self.place_again(hello, run == own.run, index);
        }
        if !matches!(self.phase, Phase::Gathering) && !self.has_gone(hello.index) {
            let text = "the test has begun without it: agents join before the start, and one that was started again is \
                        another agent";
            return Err(String::from(text));
        }
        let is_free = |index: u32| match &self.seats[index as usize] {
            None => true,
            Some(seat) => seat.link.is_none() && seat.stage < Stage::Started,
        };
        match hello.index {
            Some(index) if index >= own.agents => {
                let last = own.agents - 1;
                Err(format!("it wants to be agent {index}, expected a number from 0 to {last}"))
            }
            Some(index) if is_free(index) => Ok(index),
            Some(index) => {
                let by = self.seats[index as usize].as_ref().map_or("", |seat| seat.name.as_str());
                Err(format!("it wants to be agent {index}, which {by} is already: give each agent an index of its own"))
            }
            None => (0..own.agents).find(|index| is_free(*index)).ok_or_else(|| {
                format!("all {} agents are there already: raise --agents, or leave this one out", own.agents)
            }),
        }
    }

    /// Whether a part lost its agent before it began, so that another can take its place.
    fn has_gone(&self, index: Option<u32>) -> bool {
        let wanted = |(at, _): &(u32, &Option<Seat>)| index.is_none_or(|index| index == *at);
        let mut of_these = (0..).zip(&self.seats).filter(wanted);
        let is_before = !matches!(self.phase, Phase::Running(_) | Phase::Over);
        is_before && of_these.any(|(_, seat)| seat.as_ref().is_some_and(|seat| seat.link.is_none()))
    }

    /// Of an agent that had a seat.
    fn place_again(&self, hello: &Hello, is_this_run: bool, index: u32) -> Result<u32, String> {
        let known = self.seats.get(index as usize).filter(|_| is_this_run);
        match known {
            None => Err(String::from("it belongs to another run: end it")),
            Some(None) => Ok(index),
            Some(Some(seat)) if seat.incarnation == hello.incarnation => Ok(index),
            Some(Some(seat)) => Err(format!("its place was taken by {}", seat.name)),
        }
    }

    fn take_seat(&mut self, link: Link, index: u32, hello: Hello, now: Ns) {
        let known = self.seats[index as usize].take().filter(|seat| seat.incarnation == hello.incarnation);
        let is_new = known.is_none();
        let mut seat = known.unwrap_or_else(|| Seat::new(link, hello.incarnation, hello.name));
        if let Some(old) = seat.link.replace(link).filter(|old| *old != link) {
            // It came by a new connection before the end of the old one was known.
            self.links.remove(&old);
            self.outbox.closing.push(old);
        }
        seat.spoke = now;
        let gone = seat.gone_since.take();
        let (from, name) = (seat.frames.next, seat.name.clone());
        if is_new {
            self.outbox.tell(Event::Joined { index, name });
        } else if let Some(gone) = gone
            && !seat.is_suspect
            && !seat.is_lost
        {
            self.outbox.tell(Event::Back { index, name, after: now.saturating_sub(gone) });
        }
        self.links.insert(link, index);
        debug_assert!(self.links.len() <= self.seats.len(), "a seat has one connection");
        self.seats[index as usize] = Some(seat);
        let welcome = Order::Welcome {
            run: self.setup.run,
            index,
            of: self.setup.agents,
            archive: self.setup.archive.clone(),
            settings: self.setup.settings.clone(),
            from,
        };
        self.outbox.order(link, welcome);
        if self.end.is_dismissed {
            self.outbox.order(link, Order::Dismissed);
            return;
        }
        if let Some(cause) = self.end.stop.clone() {
            self.outbox.order(link, Order::Stop { cause });
        }
        self.begin_pinging(index, now);
        if is_new && matches!(self.phase, Phase::HandingOut | Phase::Sighting) {
            // It prepares anew; the others wait with what they have.
            self.phase = Phase::HandingOut;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coordinator::Setup;
    use crate::message::{Archive, Report, RunId};
    use crate::token::Secret;

    /// One that follows another which had everything: agents that do not know yet go, and are not waited for twice.
    #[test]
    fn agents_that_were_not_let_go_are() {
        let secret = Secret::random().unwrap();
        let setup = Setup {
            run: RunId(1),
            agents: 2,
            version: String::from("v"),
            secret: secret.clone(),
            archive: Archive { hash: [0; 32], size: 0 },
            settings: Vec::new(),
            patience: 0,
            epoch: 0,
        };
        let mut coordinator = Coordinator::letting_go(setup, Box::new(|_, _| Ok(Vec::new())), 0);
        for index in 0..2 {
            assert!(coordinator.owes_a_dismissal(), "agent {index} may not know");
            let (version, name, secret) = (String::from("v"), format!("agent {index}"), secret.clone());
            let seat = Some((RunId(1), index));
            let hello = Hello { protocol: PROTOCOL, version, secret, name, index: None, incarnation: 5, seat };
            coordinator.take(u64::from(index), Report::Hello(hello), 1);
            let orders: Vec<Order> = std::iter::from_fn(|| coordinator.next_order()).map(|(_, order)| order).collect();
            assert!(matches!(orders[..], [Order::Welcome { .. }, Order::Dismissed]), "{orders:?}");
        }
        assert!(!coordinator.owes_a_dismissal());
    }
}
