//! What goes wrong in the simulated world, and what is whole again afterwards: broken connections, nodes that stand
//! still, die and are started anew, a coordinator that goes on where another was killed.

use super::Mishap;
use super::links::Direction;
use super::world::{Happens, MS, Outcome, World, read_archive};
use crate::coordinator::{Coordinator, Link};
use crate::message::{Report, encode};

impl World {
    /// What is under way is lost; each end notices in its own time.
    pub(super) fn break_link(&mut self, link: Link) {
        if !self.links.is_whole(link) {
            return;
        }
        self.links.cut(link);
        let notices = [self.random.u64(0..2_000 * MS), self.random.u64(0..2_000 * MS)];
        self.later(notices[0], Happens::HubNotices(link));
        if let Some(number) = self.links.agent(link) {
            self.later(notices[1], Happens::AgentNotices(number, self.agents[number].life, link));
        }
    }

    fn kill(&mut self, number: usize) {
        self.agents[number].is_alive = false;
        if let Some(link) = self.agents[number].link.take() {
            self.break_link(link);
        }
    }

    pub(super) fn go_wrong(&mut self, mishap: Mishap) {
        match mishap {
            Mishap::Break(number) => self.agents[number].link.into_iter().for_each(|link| self.break_link(link)),
            Mishap::Freeze(number, ms) => self.agents[number].frozen_until = self.now + ms * MS,
            Mishap::Kill(number) => self.kill(number),
            Mishap::Restart(number, ms) => {
                self.kill(number);
                self.later(ms * MS, Happens::Born(number));
            }
            Mishap::Partition(ms) => {
                self.links.partitioned_until = self.now + ms * MS;
                if self.random.bool() {
                    self.links.whole().into_iter().for_each(|link| self.break_link(link));
                }
            }
            Mishap::Coordinator(ms) => {
                if !self.outcome.is_over && self.coordinator.take().is_some() {
                    self.links.whole().into_iter().for_each(|link| self.break_link(link));
                    self.later(ms * MS, Happens::CoordinatorBorn);
                }
            }
            Mishap::Stranger => {
                let link = self.links.open(0, &mut self.random);
                let hello = Report::Wants { offset: 0 };
                self.send(link, Direction::Up, encode(&hello));
            }
        }
    }

    /// It goes on by what it wrote down, and hears of everything else anew.
    pub(super) fn coordinator_born(&mut self) {
        let now = self.clock.reads(self.now);
        let Outcome { start, wrong_leads, leads, .. } = self.outcome;
        let changes = std::mem::take(&mut self.outcome.changes);
        self.outcome = Outcome { start, wrong_leads, leads, changes, ..Outcome::default() };
        let setup = self.setup.clone();
        self.coordinator = Some(match self.kept.clone() {
            Some(begun) => Coordinator::resumed(setup, read_archive(), begun, now),
            None => Coordinator::new(setup, read_archive(), now),
        });
    }
}
