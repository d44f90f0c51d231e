//! An agent's end: finds the coordinator, writes reports, and asks for its next order.

use std::time::Duration;

use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::access::Problem;
use super::names;
use super::pace::Pace;
use super::store::StorePlace;
use crate::backing::{ConnectError, Line};
use crate::coordinator::{Link, OUTAGE_PATIENCE};
use crate::message::{Order, Report};
use crate::sealed::{Announcement, Seal, room, without_secret};
use crate::token::{Token, random_number};
use crate::{Ns, agent, clock};

/// Pings come every five seconds: a coordinator that says nothing for so long is not there.
const SILENCE: Duration = Duration::from_secs(13);
/// A read that takes so long is one of a store that was not there.
const SLOW: Duration = Duration::from_secs(2);
/// Between two reads during an outage.
const ASK_AGAIN: Duration = Duration::from_millis(250);
/// The archive is read by pieces of so many bytes.
const PIECE: u64 = 4 << 20;

/// A connection through a store.
pub struct ObjectsLine {
    place: StorePlace,
    seal: Seal,
    room: String,
    open: Option<OpenPrefix>,
}

struct OpenPrefix {
    hub: u64,
    line: Link,
    /// Of the next report.
    number: u64,
    size: u64,
    tell: Sender<(Order, Ns)>,
    orders: Receiver<(Order, Ns)>,
    asking: JoinHandle<()>,
}

impl Drop for OpenPrefix {
    fn drop(&mut self) {
        self.asking.abort();
    }
}

impl ObjectsLine {
    /// To whoever coordinates the token's run.
    pub fn new(place: StorePlace, token: &Token) -> ObjectsLine {
        ObjectsLine { place, seal: Seal::new(&token.secret), room: room(token), open: None }
    }

    /// The coordinator that came last, and is not gone.
    async fn find(&self) -> Result<u64, ConnectError> {
        let failed = |problem: Problem| match problem {
            Problem::Ever(why) => ConnectError::Ever(why),
            other => ConnectError::Now(other.text("the list of coordinators")),
        };
        let place = self.place.shown();
        let names = self.place.list(&names::hubs(&self.room)).await.map_err(failed)?;
        let mut is_forged = false;
        for name in names.iter().rev().filter(|name| !name.ends_with(".over")) {
            let found = self.place.read(name).await.map_err(failed)?;
            let Some(announcement) = self.seal.read::<Announcement>(name, &found) else {
                is_forged = true;
                continue;
            };
            if names.contains(&format!("{name}.over")) {
                break;
            }
            return Ok(announcement.hub);
        }
        let others = self.place.has_folders().await.map_err(failed)?;
        Err(match (is_forged, names.is_empty(), others) {
            (true, ..) => ConnectError::Ever(format!(
                "{place}: the coordinator there is another one than the token was made by: give the token that was \
                 printed for this run"
            )),
            (_, false, _) => ConnectError::Now(format!("{place}: the run that the token is for is over")),
            (_, true, true) => ConnectError::Now(format!(
                "{place}: no coordinator of this token is there, only others': is it the token of this run?"
            )),
            (_, true, false) => ConnectError::Now(format!("{place}: no coordinator is there")),
        })
    }

    /// Reads a piece of the archive: the coordinator need not know.
    async fn fetch(&mut self, offset: u64) -> Option<()> {
        let open = self.open.as_mut()?;
        let name = names::archive(&self.room, open.hub);
        let content = self.place.read_range(&name, offset..open.size.min(offset + PIECE)).await.ok()?;
        open.tell.send((Order::Piece { offset, content }, clock::now())).await.ok()
    }
}

impl Line for ObjectsLine {
    async fn connect(&mut self) -> Result<(), ConnectError> {
        self.open = None;
        let hub = self.find().await?;
        let line = random_number().map_err(ConnectError::Ever)?;
        let (tell, orders) = channel(64);
        let asking = Asking {
            place: self.place.clone(),
            seal: self.seal.clone(),
            room: self.room.clone(),
            hub,
            line,
            tell: tell.clone(),
        };
        let asking = tokio::spawn(asking.run());
        self.open = Some(OpenPrefix { hub, line, number: 0, size: 0, tell, orders, asking });
        Ok(())
    }

    async fn next(&mut self) -> Option<(Order, Ns)> {
        let open = self.open.as_mut()?;
        // This side holds one end of the channel, so that it does not close by itself.
        let order = tokio::select! {
            biased;
            order = open.orders.recv() => order,
            _ = &mut open.asking => open.orders.try_recv().ok(),
        };
        if order.is_none() {
            self.open = None;
        }
        if let (Some((Order::Welcome { archive, .. }, _)), Some(open)) = (&order, &mut self.open) {
            open.size = archive.size;
        }
        order
    }

    async fn send(&mut self, mut report: Report) -> bool {
        if let Report::Wants { offset } = report {
            return self.fetch(offset).await.is_some();
        }
        let Some(open) = &mut self.open else { return false };
        let name = names::up(&self.room, open.hub, open.line, open.number);
        open.number += 1;
        without_secret(&mut report);
        let content = agent::seal(&mut report, clock::now());
        self.place.create_in_time(&name, self.seal.close(&name, &content)).await.is_ok()
    }
}

/// Asks for orders.
struct Asking {
    place: StorePlace,
    seal: Seal,
    room: String,
    hub: u64,
    line: Link,
    tell: Sender<(Order, Ns)>,
}

impl Asking {
    /// Ends when the coordinator has ended the line, or cannot be heard.
    async fn run(self) {
        let mut pace = Pace::new();
        let mut number = 0;
        let mut answered = clock::now();
        while pace.idle() < SILENCE {
            let name = names::down(&self.room, self.hub, self.line, number);
            let asked = clock::now();
            let read = self.place.read(&name).await;
            let is_slow = Duration::from_nanos(clock::now().saturating_sub(asked)) > SLOW;
            if !matches!(read, Err(Problem::Now(_))) {
                answered = clock::now();
            }
            let found = match read {
                Ok(found) => found,
                Err(Problem::Missing) => {
                    if is_slow {
                        pace.moved();
                    }
                    pace.wait().await;
                    continue;
                }
                // An outage is not the coordinator's silence.
                Err(Problem::Now(_)) if clock::now().saturating_sub(answered) < OUTAGE_PATIENCE => {
                    sleep(ASK_AGAIN).await;
                    pace.moved();
                    continue;
                }
                Err(_) => return,
            };
            let at = clock::now();
            let Some(orders) = self.seal.read::<Vec<Order>>(&name, &found) else { return };
            if orders.is_empty() {
                return;
            }
            for order in orders {
                if self.tell.send((order, at)).await.is_err() {
                    return;
                }
            }
            number += 1;
            pace.moved();
        }
    }
}
