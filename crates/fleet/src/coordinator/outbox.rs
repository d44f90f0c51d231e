//! What a coordinator has for its caller: orders to send, connections to close, and what has happened.

use std::collections::VecDeque;

use super::event::Event;
use crate::message::Order;

/// A connection; another one has another number.
pub type Link = u64;

/// All that the caller has not fetched yet.
#[derive(Default)]
pub struct Outbox {
    /// Whom each goes to, first come first.
    pub orders: VecDeque<(Link, Order)>,
    /// Connections to be closed once their orders are out.
    pub closing: Vec<Link>,
    events: VecDeque<Event>,
}

impl Outbox {
    /// Adds what has happened.
    pub fn tell(&mut self, event: Event) {
        self.events.push_back(event);
    }

    /// The first of what has happened.
    pub fn next_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Adds an order.
    pub fn order(&mut self, link: Link, order: Order) {
        self.orders.push_back((link, order));
    }

    /// Turns somebody away.
    pub fn refuse(&mut self, link: Link, name: &str, why: &str) {
        self.order(link, Order::Refuse { why: why.to_owned() });
        self.closing.push(link);
        self.tell(Event::TurnedAway { name: name.to_owned(), why: why.to_owned() });
    }
}
