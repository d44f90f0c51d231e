//! Who is missing. Frames are the heartbeat: two seconds without one are suspect, three are a loss.

use super::seat::{Seat, Stage};
use super::{Coordinator, Event, Link, Phase, seconds};
use crate::{Ns, SECOND};

/// A frame may come so long after its second: what closes it waits for the slowest worker, and it has a way to go.
const GRACE: Ns = 300_000_000;
/// Missed seconds.
const SUSPECT: u64 = 2;
const LOST: u64 = 3;
/// Pings go out every five seconds: a connection by which nothing comes for so long is dead, whatever its ends believe.
const LINK_PATIENCE: Ns = 12 * SECOND;
/// How long lost agents are waited for when all others have ended: those that may still be there, and those that have
/// no connection.
const LAST_PATIENCE: (Ns, Ns) = (10 * SECOND, 3 * SECOND);

impl Coordinator {
    /// Before the start: agents that have not come, or are gone, and are not coming back.
    pub(super) fn miss(&mut self, now: Ns) {
        let patience = self.setup.patience;
        for (index, seat) in (0..).zip(&mut self.seats) {
            let (since, name) = match seat {
                None => (Some(self.began), String::new()),
                Some(seat) => (seat.gone_since.filter(|_| !seat.is_lost), seat.name.clone()),
            };
            if since.is_some_and(|since| now.saturating_sub(since) > patience) && self.phase != Phase::Over {
                let what = match seat {
                    None => format!("no agent has joined as number {index} within {}", seconds(patience)),
                    Some(_) => format!("it has been gone for {} before the start", seconds(patience)),
                };
                match seat {
                    Some(seat) => seat.is_lost = true,
                    None => self.began = now,
                }
                self.outbox.tell(Event::Lost { index, name, what });
            }
        }
    }

    /// Ends connections by which nothing comes: a machine that lost its power says no farewell.
    pub(super) fn close_dead_links(&mut self, now: Ns) {
        let is_dead = |seat: &&Seat| now.saturating_sub(seat.spoke) > LINK_PATIENCE;
        let dead: Vec<Link> = self.seats.iter().flatten().filter(is_dead).filter_map(|seat| seat.link).collect();
        for link in dead {
            self.outbox.closing.push(link);
            self.left(link, now);
        }
    }

    /// While it runs: agents whose frames do not come.
    pub(super) fn look_for_losses(&mut self, start: Ns, now: Ns) {
        let due = now.saturating_sub(start + GRACE) / SECOND;
        let mut is_changed = false;
        for (index, place) in (0..).zip(&mut self.seats) {
            let Some(seat) = place.as_mut() else {
                // A coordinator that was started again: who does not come back is lost.
                if now.saturating_sub(self.began) > self.setup.patience {
                    let what = String::from("it did not come back to the coordinator");
                    let name = format!("agent {index}");
                    let mut seat = Seat::new(0, 0, name.clone());
                    (seat.link, seat.is_lost, seat.stage) = (None, true, Stage::Ended);
                    *place = Some(seat);
                    self.outbox.tell(Event::Lost { index, name, what });
                    is_changed = true;
                }
                continue;
            };
            if seat.stage == Stage::Ended || seat.is_lost || seat.frames.is_finishing() {
                continue;
            }
            let last = seat.frames.latest();
            let since_heard = now.saturating_sub(seat.heard.max(start).max(self.began)) / SECOND;
            let missed = due.saturating_sub(last).min(since_heard);
            let silent = seconds(now.saturating_sub(seat.heard.max(start)));
            let line = match seat.gone_since {
                Some(_) => "its connection is gone and nothing has come",
                None => "it is connected, but nothing has come",
            };
            let (name, what) = (seat.name.clone(), format!("{line} for {silent}"));
            if missed >= LOST {
                (seat.is_lost, is_changed) = (true, true);
                self.outbox.tell(Event::Lost { index, name, what });
            } else if missed >= SUSPECT && !seat.is_suspect {
                seat.is_suspect = true;
                self.outbox.tell(Event::Missed { index, name, what });
            }
        }
        if is_changed {
            self.close_numbers();
        }
    }

    /// It is over when all have ended, and those that have not are lost and have been waited for.
    pub(super) fn look_whether_it_is_over(&mut self, now: Ns) {
        let is_before = !matches!(self.phase, Phase::Running(_) | Phase::Over);
        if self.phase == Phase::Over || is_before && self.end.stop.is_none() {
            return;
        }
        let rest: Vec<&Seat> = self.seats.iter().flatten().filter(|seat| seat.stage < Stage::Ended).collect();
        let is_hopeless = |seat: &&Seat| seat.is_lost || is_before && seat.link.is_none();
        if !rest.iter().all(is_hopeless) || !is_before && self.seats.iter().any(Option::is_none) {
            self.end.waiting_since = None;
            return;
        }
        let may_be_there = rest.iter().any(|seat| seat.link.is_some());
        let patience = match (rest.is_empty() || is_before, may_be_there) {
            (true, _) => 0,
            (_, true) => LAST_PATIENCE.0,
            (_, false) => LAST_PATIENCE.1,
        };
        if now.saturating_sub(*self.end.waiting_since.get_or_insert(now)) >= patience {
            self.phase = Phase::Over;
            self.outbox.tell(Event::Over);
        }
    }
}
