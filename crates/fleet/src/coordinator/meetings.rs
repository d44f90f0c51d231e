//! Virtual users of all agents that begin something together: who has come, and when it begins.

use std::collections::{BTreeMap, BTreeSet};

use super::Coordinator;
use crate::Ns;
use crate::message::{Arrival, Order};

/// From the decision to the beginning, at least: every agent has heard of it by then.
const LEAST_LEAD: Ns = 100_000_000;

/// A meeting that users wait for, or that has begun.
#[derive(Clone, Debug)]
struct Meeting {
    came: BTreeSet<u64>,
    users: u64,
    deadline: Ns,
    lead: Ns,
    /// When it began, how many had come.
    begun: Option<(Ns, u64)>,
}

/// All meetings of a test, by name.
#[derive(Clone, Debug, Default)]
pub struct Meetings(BTreeMap<String, Meeting>);

impl Coordinator {
    /// A user comes. The first one's word on numbers and times counts; who comes late hears of the same beginning.
    pub(super) fn arrives(&mut self, index: u32, arrival: Arrival, now: Ns) {
        let Arrival { meeting: name, user, users, timeout, lead } = arrival;
        let meeting = self.meetings.0.entry(name.clone()).or_insert_with(|| Meeting {
            came: BTreeSet::new(),
            users,
            deadline: now.saturating_add(timeout),
            lead,
            begun: None,
        });
        meeting.came.insert(user);
        if let Some((at, came)) = meeting.begun {
            let missing = meeting.users.saturating_sub(came);
            self.order_meeting(index, &name, at, (came, missing));
        }
        self.begin_meetings(now);
    }

    /// Begins those to which all have come, or which have waited long enough.
    pub(super) fn begin_meetings(&mut self, now: Ns) {
        let is_due = |meeting: &Meeting| meeting.came.len() as u64 >= meeting.users || now >= meeting.deadline;
        let worst = self.leads(now).map(|(_, lead)| lead.bound).max().unwrap_or(0);
        let mut beginning = Vec::new();
        for (name, meeting) in self.meetings.0.iter_mut().filter(|(_, meeting)| meeting.begun.is_none()) {
            if is_due(meeting) {
                let (at, came) = (now + meeting.lead.max(LEAST_LEAD) + 8 * worst, meeting.came.len() as u64);
                meeting.begun = Some((at, came));
                beginning.push((name.clone(), at, (came, meeting.users.saturating_sub(came))));
            }
        }
        for (name, at, counts) in beginning {
            (0..self.setup.agents).for_each(|index| self.order_meeting(index, &name, at, counts));
        }
    }

    fn order_meeting(&mut self, index: u32, meeting: &str, at: Ns, (came, missing): (u64, u64)) {
        let lead = self.seats[index as usize].as_ref().and_then(|seat| seat.sights.lead(at));
        if let Some(lead) = lead {
            let meeting = meeting.to_owned();
            self.order(index, Order::Meet { meeting, at: lead.there(at), came, missing });
        }
    }
}
