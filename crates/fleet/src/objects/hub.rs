//! The coordinator's end: one task that lists what has come up and reads it, and one a line that writes its orders.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::access::{Problem, no_conditions};
use super::names;
use super::pace::Pace;
use super::store::StorePlace;
use crate::backing::{Hub, Incoming};
use crate::coordinator::Link;
use crate::lines::{Doors, Lines};
use crate::message::{self, Order, Report};
use crate::sealed::{Announcement, Seal, room};
use crate::token::Token;
use crate::{Ns, clock};

/// A listing, and the reading of what it names, may take so long.
const LIST_PATIENCE: Duration = Duration::from_secs(2);
const READ_PATIENCE: Duration = Duration::from_secs(20);
/// Failures that last longer are an outage, which is told: before an agent would be believed lost.
const OUTAGE: Ns = 1_500_000_000;
/// Orders that go into one object at most.
const TOGETHER: usize = 64;

/// Agents that speak through a store.
pub struct ObjectsHub {
    home: Home,
    number: u64,
    lines: Lines,
    listing: JoinHandle<()>,
}

/// Where a coordinator's messages lie.
#[derive(Clone)]
struct Home {
    place: StorePlace,
    seal: Seal,
    room: String,
    hub: u64,
}

impl ObjectsHub {
    /// Announces a coordinator and puts the archive there. The error says what the store does not have or allow.
    pub async fn open(place: StorePlace, token: &Token, archive: Vec<u8>) -> Result<ObjectsHub, String> {
        let (room, announcement) = (room(token), Announcement::new(None)?);
        let home = Home { seal: Seal::new(&token.secret), hub: announcement.hub, room, place };
        let name = names::archive(&home.room, home.hub);
        let put = home.place.create(&name, archive).await;
        put.map_err(|problem| problem.text("the archive"))?;
        match home.place.create(&name, Vec::new()).await {
            Err(Problem::There) => {}
            Ok(()) => return Err(no_conditions(home.place.shown())),
            Err(problem) => return Err(problem.text("the archive")),
        }
        let number = home.announce(&announcement).await?;
        let (lines, doors) = Lines::new();
        let (lines_known, listed) = (HashMap::new(), clock::now());
        let looking = Looking { home: home.clone(), doors, lines: lines_known, links: 0, listed, is_cut_off: false };
        let listing = tokio::spawn(looking.run());
        Ok(ObjectsHub { home, number, lines, listing })
    }
}

impl Home {
    /// Takes the next number of the room; another coordinator may be about to take the same.
    async fn announce(&self, announcement: &Announcement) -> Result<u64, String> {
        loop {
            let names = self.place.list(&names::hubs(&self.room)).await;
            let names = names.map_err(|problem| problem.text("the list of coordinators"))?;
            let last = names.iter().filter_map(|name| name.rsplit('/').next()?.get(..10)?.parse().ok()).max();
            let number = last.unwrap_or(0) + 1;
            let name = names::hub(&self.room, number);
            let sealed = self.seal.close(&name, &message::encode(announcement));
            match self.place.create_own(&name, sealed).await {
                Ok(()) => return Ok(number),
                Err(Problem::There) => {}
                Err(problem) => return Err(problem.text("the announcement")),
            }
        }
    }
}

impl Hub for ObjectsHub {
    async fn next(&mut self) -> Incoming {
        self.lines.next().await
    }

    fn send(&mut self, link: Link, order: Order) {
        self.lines.send(link, order);
    }

    fn close(&mut self, link: Link) {
        self.lines.close(link);
    }

    async fn flush(&mut self) {
        self.lines.flush().await;
        // Agents that come later learn that there is nothing to join any more; the archive was the largest object.
        let over = names::over(&self.home.room, self.number);
        let _may_fail = self.home.place.create(&over, Vec::new()).await;
        self.home.place.remove(vec![names::archive(&self.home.room, self.home.hub)]).await;
    }
}

impl Drop for ObjectsHub {
    fn drop(&mut self) {
        self.listing.abort();
    }
}

/// A line that has said hello.
struct Standing {
    link: Link,
    next: u64,
    /// Its last order is written: what still comes by it is nobody's.
    is_over: Arc<AtomicBool>,
}

/// Reads what comes up.
struct Looking {
    home: Home,
    doors: Doors,
    lines: HashMap<Link, Standing>,
    links: Link,
    /// When the store last answered.
    listed: Ns,
    /// Whether it was told that it does not.
    is_cut_off: bool,
}

impl Looking {
    async fn run(mut self) {
        let mut pace = Pace::new();
        loop {
            pace.wait().await;
            let Some(names) = self.list().await else { continue };
            if names.is_empty() {
                continue;
            }
            let Ok((read, mut taken)) = timeout(READ_PATIENCE, self.read(names)).await else { continue };
            for (line, number, reports) in read {
                if !reports.is_empty() {
                    pace.moved();
                }
                taken.extend((number..).zip(&reports).map(|(number, _)| self.name(line, number)));
                for (report, at) in reports {
                    self.take(line, report, at);
                }
            }
            let place = self.home.place.clone();
            tokio::spawn(async move { place.remove(taken).await });
        }
    }

    /// What has come up; none while the store does not answer, which is told when it lasts.
    async fn list(&mut self) -> Option<Vec<String>> {
        let all = names::all_up(&self.home.room, self.home.hub);
        let listed = timeout(LIST_PATIENCE, self.home.place.list(&all)).await;
        match listed.unwrap_or_else(|_| Err(Problem::Now(format!("{}: no answer", self.home.place.shown())))) {
            Ok(names) => {
                self.listed = clock::now();
                if std::mem::take(&mut self.is_cut_off) {
                    self.doors.tell(Incoming::Reachable);
                }
                Some(names)
            }
            Err(problem) => {
                let is_long = clock::now().saturating_sub(self.listed) > OUTAGE;
                if is_long && !std::mem::replace(&mut self.is_cut_off, true) {
                    self.doors.tell(Incoming::Unreachable(problem.text("the list of reports")));
                }
                None
            }
        }
    }

    fn name(&self, line: Link, number: u64) -> String {
        names::up(&self.home.room, self.home.hub, line, number)
    }

    /// What of these is next on its line, read; and what was read before and is still there.
    async fn read(&self, names: Vec<String>) -> (Vec<(Link, u64, Vec<(Option<Report>, Ns)>)>, Vec<String>) {
        let mut by_line: BTreeMap<Link, u64> = BTreeMap::new();
        let mut old = Vec::new();
        for name in names {
            let Some((line, number)) = names::read_up(&name) else { continue };
            let next = by_line.entry(line).or_insert_with(|| self.lines.get(&line).map_or(0, |standing| standing.next));
            if number < *next {
                old.push(name);
            } else if number == *next {
                // A listing is no snapshot: what stands behind a gap is read when the gap is filled.
                *next += 1;
            }
        }
        let reading = by_line.into_iter().map(|(line, end)| async move {
            let from = self.lines.get(&line).map_or(0, |standing| standing.next);
            let mut reports = Vec::new();
            for number in from..end {
                let name = self.name(line, number);
                match self.home.place.read(&name).await {
                    Ok(sealed) => reports.push((self.home.seal.read::<Report>(&name, &sealed), clock::now())),
                    Err(_) => break,
                }
            }
            debug_assert!(reports.len() as u64 <= end - from, "more reports than were listed");
            (line, from, reports)
        });
        (join_all(reading).await, old)
    }

    /// A report, or what is none and ends its line.
    fn take(&mut self, line: Link, report: Option<Report>, at: Ns) {
        if !self.lines.contains_key(&line) {
            // Whoever does not know the secret is nobody.
            match &report {
                Some(Report::Hello(_)) => self.open(line),
                _ => return,
            }
        }
        let Some(standing) = self.lines.get_mut(&line) else { return };
        standing.next += 1;
        if standing.is_over.load(Ordering::Relaxed) {
            return;
        }
        match report {
            Some(report) => {
                let report = self.home.seal.with_secret(report);
                self.doors.tell(Incoming::Report(standing.link, report, at));
            }
            None => {
                standing.is_over.store(true, Ordering::Relaxed);
                self.doors.tell(Incoming::Left(standing.link));
            }
        }
    }

    fn open(&mut self, line: Link) {
        self.links += 1;
        let (link, is_over) = (self.links, Arc::new(AtomicBool::new(false)));
        let (queue, orders) = unbounded_channel();
        let writing =
            Writing { home: self.home.clone(), line, link, is_over: is_over.clone(), doors: self.doors.clone() };
        self.doors.open(link, queue, tokio::spawn(writing.run(orders)));
        self.lines.insert(line, Standing { link, next: 0, is_over });
    }
}

/// Writes the orders of a line.
struct Writing {
    home: Home,
    line: Link,
    link: Link,
    is_over: Arc<AtomicBool>,
    doors: Doors,
}

impl Writing {
    async fn run(self, mut orders: UnboundedReceiver<Order>) {
        for number in 0.. {
            let mut together = Vec::new();
            let is_end = orders.recv_many(&mut together, TOGETHER).await == 0;
            if is_end {
                self.is_over.store(true, Ordering::Relaxed);
            }
            let name = names::down(&self.home.room, self.home.hub, self.line, number);
            let sealed = self.home.seal.close(&name, &message::encode(&together));
            let at = clock::now();
            for order in &together {
                if let Order::Ping { number } = order {
                    self.doors.tell(Incoming::PingLeft(self.link, *number, at));
                }
            }
            let is_written = self.home.place.create_in_time(&name, sealed).await.is_ok();
            if is_end {
                return;
            }
            if !is_written {
                self.is_over.store(true, Ordering::Relaxed);
                self.doors.tell(Incoming::Left(self.link));
                return;
            }
        }
    }
}
