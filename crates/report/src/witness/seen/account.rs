//! What a witness keeps while a worker serves: distributions, counts over time, a row for each of the first
//! connections.
//!
//! Time is an argument, in nanoseconds of the wall clock. Memory does not grow with the number of requests: there is a
//! small state for each connection that is open, and rows end at a number.
//!
//! Of a client's time the account keeps two bounds. Service time, from a request's arrival to its answer's last write,
//! is less than the client waited. Turnaround, from the answer before a request to the arrival of the request behind it
//! on the same connection, is more: the client sent the request after it had the one answer, and had the other
//! before it sent the next. A request whose neighbours are missing has no upper bound.

use std::collections::{BTreeMap, HashMap};

use metrics::Trend;
use metrics::results::TrendValue;

use super::document::{KIND, SCHEMA, SeenBytes, SeenConnection, SeenConnections, SeenRequests, WitnessDocument};
use super::slots::Slots;
use crate::document::Histogram;

/// Connections that have a row of their own.
const ROWS: usize = 100;
/// What is abandoned within this time before the end was cut off by the end of the load.
const END_S: f64 = 0.5;

/// A request that arrived.
#[derive(Clone, Copy, Debug)]
pub struct RequestSeen {
    /// When it arrived.
    pub at_ns: u64,
    /// By the kernel's stamp.
    pub is_stamped: bool,
    /// No other request of its connection waits.
    pub is_alone: bool,
}

/// An answer that left.
#[derive(Clone, Copy, Debug)]
pub struct AnswerSeen {
    /// When its request arrived.
    pub arrived_ns: u64,
    /// When it left.
    pub at_ns: u64,
    /// `None`: no valid response.
    pub status: Option<u16>,
    /// Bytes of the body, where its head says them.
    pub body: Option<u64>,
}

/// A connection that is open.
#[derive(Debug, Default)]
struct OpenConnection {
    opened_ns: u64,
    requests: u64,
    slowest_ms: f64,
    /// When the last answer left, and the one before.
    answered_ns: Option<u64>,
    answered_before_ns: Option<u64>,
    /// Answers whose turnaround is not known yet: none or one.
    is_open_ended: bool,
    /// The last request arrived while another waited.
    overlaps: bool,
    row: Option<usize>,
}

/// What one worker's connections did.
#[derive(Debug)]
pub struct Account {
    began_ns: u64,
    slots: Slots,
    requests: SeenRequests,
    bytes: SeenBytes,
    statuses: BTreeMap<u16, u64>,
    service: Trend,
    turnaround: Trend,
    gaps: Trend,
    first_arrival_ns: Option<u64>,
    last_arrival_ns: u64,
    last_answer_ns: u64,
    waiting: u64,
    opened: u64,
    most_open: u64,
    open: HashMap<u64, OpenConnection>,
    rows: Vec<SeenConnection>,
    per_connection: Trend,
}

/// The end of a server that had witnesses.
#[derive(Clone, Debug, Default)]
pub struct Served {
    /// When it began: RFC 3339 in UTC.
    pub started_at: String,
    /// How long it served.
    pub time_s: f64,
    /// By how much the wall clock was set meanwhile, in milliseconds.
    pub clock_step_ms: f64,
    /// Bytes of request bodies.
    pub bodies_received: u64,
    /// Whether some of its listeners had TLS.
    pub has_tls: bool,
}

fn ms(from_ns: u64, to_ns: u64) -> f64 {
    to_ns.saturating_sub(from_ns) as f64 / 1e6
}

impl Account {
    /// From now on. Accounts of one server have the same beginning.
    pub fn new(began_ns: u64) -> Account {
        Account {
            began_ns,
            slots: Slots::default(),
            requests: SeenRequests::default(),
            bytes: SeenBytes::default(),
            statuses: BTreeMap::new(),
            service: Trend::default(),
            turnaround: Trend::default(),
            gaps: Trend::default(),
            first_arrival_ns: None,
            last_arrival_ns: 0,
            last_answer_ns: 0,
            waiting: 0,
            opened: 0,
            most_open: 0,
            open: HashMap::new(),
            rows: Vec::new(),
            per_connection: Trend::default(),
        }
    }

    fn s(&self, at_ns: u64) -> f64 {
        at_ns.saturating_sub(self.began_ns) as f64 / 1e9
    }

    /// A client connected.
    pub fn opened(&mut self, connection: u64, at_ns: u64) {
        self.opened += 1;
        let row = (self.rows.len() < ROWS).then(|| {
            self.rows.push(SeenConnection { opened_s: self.s(at_ns), ..SeenConnection::default() });
            self.rows.len() - 1
        });
        self.open.insert(connection, OpenConnection { opened_ns: at_ns, row, ..OpenConnection::default() });
        self.most_open = self.most_open.max(self.open.len() as u64);
    }

    /// A request arrived.
    pub fn arrived(&mut self, connection: u64, request: RequestSeen) {
        let RequestSeen { at_ns, is_stamped, is_alone } = request;
        self.requests.arrived += 1;
        self.requests.stamped += u64::from(is_stamped);
        self.slots.at(at_ns.saturating_sub(self.began_ns)).arrivals += 1;
        match self.first_arrival_ns {
            Some(first) => {
                self.gaps.add(ms(self.last_arrival_ns, at_ns));
                // Connections are read one after the other: stamps may be out of order by the length of a turn.
                self.first_arrival_ns = Some(first.min(at_ns));
            }
            None => self.first_arrival_ns = Some(at_ns),
        }
        self.last_arrival_ns = self.last_arrival_ns.max(at_ns);
        self.waiting += 1;
        self.requests.most_waiting = self.requests.most_waiting.max(self.waiting);
        let Some(open) = self.open.get_mut(&connection) else { return };
        open.requests += 1;
        if std::mem::take(&mut open.is_open_ended) {
            match open.answered_before_ns {
                Some(before) if is_alone && !open.overlaps => self.turnaround.add(ms(before, at_ns)),
                _ => self.turnaround.add_censored(1),
            }
        }
        if !is_alone || open.overlaps {
            // Requests overlap: their order says nothing of what the client had when it sent.
            (open.answered_ns, open.answered_before_ns) = (None, None);
        }
        open.overlaps = !is_alone;
    }

    /// An answer left.
    pub fn answered(&mut self, connection: u64, answer: AnswerSeen) {
        let AnswerSeen { arrived_ns, at_ns, status, body } = answer;
        let took_ms = ms(arrived_ns, at_ns);
        self.waiting = self.waiting.saturating_sub(1);
        self.last_answer_ns = self.last_answer_ns.max(at_ns);
        let slot = self.slots.at(at_ns.saturating_sub(self.began_ns));
        slot.answers += 1;
        slot.slowest_us = slot.slowest_us.max((took_ms * 1e3) as u32);
        let Some(status) = status else {
            self.requests.faults += 1;
            return;
        };
        self.requests.answered += 1;
        *self.statuses.entry(status).or_default() += 1;
        match body {
            Some(body) => self.bytes.bodies_sent += body,
            None => self.bytes.bodies_unknown += 1,
        }
        self.service.add(took_ms);
        let Some(open) = self.open.get_mut(&connection) else { return };
        open.slowest_ms = open.slowest_ms.max(took_ms);
        if std::mem::replace(&mut open.is_open_ended, true) {
            self.turnaround.add_censored(1);
        }
        open.answered_before_ns = open.answered_ns.replace(at_ns);
    }

    /// A request will have no answer.
    pub fn abandoned(&mut self, at_ns: u64) {
        self.waiting = self.waiting.saturating_sub(1);
        self.requests.abandoned += 1;
        self.slots.at(at_ns.saturating_sub(self.began_ns)).abandoned += 1;
    }

    /// A connection ended, with the bytes that passed.
    pub fn closed(&mut self, connection: u64, at_ns: u64, [received, sent]: [u64; 2]) {
        self.bytes.received += received;
        self.bytes.sent += sent;
        let Some(open) = self.open.remove(&connection) else { return };
        self.turnaround.add_censored(u64::from(open.is_open_ended));
        self.per_connection.add(open.requests as f64);
        let closed_s = self.s(at_ns.max(open.opened_ns));
        if let Some(row) = open.row.and_then(|row| self.rows.get_mut(row)) {
            *row = SeenConnection {
                opened_s: row.opened_s,
                closed_s,
                requests: open.requests,
                received,
                sent,
                slowest_ms: open.slowest_ms,
            };
        }
    }

    /// Adds what another worker saw.
    pub fn merge(&mut self, other: Account) {
        self.slots.merge(other.slots);
        self.requests.add(&other.requests);
        self.bytes.add(&other.bytes);
        for (status, count) in other.statuses {
            *self.statuses.entry(status).or_default() += count;
        }
        self.service.merge(&other.service);
        self.turnaround.merge(&other.turnaround);
        self.gaps.merge(&other.gaps);
        self.first_arrival_ns = [self.first_arrival_ns, other.first_arrival_ns].into_iter().flatten().min();
        self.last_arrival_ns = self.last_arrival_ns.max(other.last_arrival_ns);
        self.last_answer_ns = self.last_answer_ns.max(other.last_answer_ns);
        self.opened += other.opened;
        self.most_open += other.most_open;
        self.rows.extend(other.rows);
        self.per_connection.merge(&other.per_connection);
    }

    /// The document of all workers.
    pub fn document(accounts: Vec<Account>, served: Served) -> WitnessDocument {
        let workers = accounts.len();
        let all = accounts.into_iter().reduce(|mut all, next| {
            all.merge(next);
            all
        });
        let mut all = all.unwrap_or_else(|| Account::new(0));
        all.rows.sort_by(|one, other| one.opened_s.total_cmp(&other.opened_s));
        all.rows.truncate(ROWS);
        let histogram = |trend: Trend| Histogram::from(&TrendValue::from(trend));
        let usual_ms = all.service.percentile(50.0);
        let last_answer_s = all.s(all.last_answer_ns);
        let statuses = all.statuses.iter().map(|(status, count)| (status.to_string(), *count)).collect();
        let under_way = all.slots.abandoned_before(last_answer_s - END_S);
        WitnessDocument {
            kind: KIND.to_owned(),
            schema: SCHEMA,
            onrush: env!("CARGO_PKG_VERSION").to_owned(),
            started_at: served.started_at,
            time_s: served.time_s,
            clock_step_ms: served.clock_step_ms,
            has_tls: served.has_tls,
            workers,
            first_arrival_s: all.first_arrival_ns.map_or(0.0, |first| all.s(first)),
            last_arrival_s: all.s(all.last_arrival_ns),
            last_answer_s,
            connections: SeenConnections {
                opened: all.opened,
                most_open: all.most_open,
                requests: histogram(all.per_connection),
                rows: all.rows,
            },
            requests: SeenRequests { abandoned_under_way: under_way, statuses, ..all.requests },
            bytes: SeenBytes { bodies_received: served.bodies_received, ..all.bytes },
            service_ms: histogram(all.service),
            turnaround_ms: histogram(all.turnaround),
            gap_ms: (workers == 1).then(|| histogram(all.gaps)),
            stalls: all.slots.stalls(usual_ms),
            quiet: all.slots.quiet(),
            resolution_s: all.slots.width_s(),
            series: all.slots.series(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn request(at_ns: u64) -> RequestSeen {
        RequestSeen { at_ns, is_stamped: true, is_alone: true }
    }

    fn answer(arrived_ns: u64, at_ns: u64) -> AnswerSeen {
        AnswerSeen { arrived_ns, at_ns, status: Some(200), body: Some(10) }
    }

    /// Three requests on one connection: arrivals at 10, 20 and 30 ms, answers 2 ms later.
    fn three(account: &mut Account) {
        account.opened(1, 9 * MS);
        for at in [10, 20, 30] {
            account.arrived(1, request(at * MS));
            account.answered(1, answer(at * MS, (at + 2) * MS));
        }
        account.closed(1, 40 * MS, [300, 600]);
    }

    #[test]
    fn a_clients_time_lies_between_service_and_turnaround() {
        let mut account = Account::new(0);
        three(&mut account);
        let document = Account::document(vec![account], Served::default());
        assert_eq!((document.service_ms.count, document.service_ms.min, document.service_ms.max), (3, 2.0, 2.0));
        // From the first answer, at 12, to the third arrival, at 30. The first has no answer before, the last no
        // request behind.
        let turnaround = &document.turnaround_ms;
        assert_eq!((turnaround.count, turnaround.min, turnaround.censored), (1, 18.0, 2));
        assert_eq!((document.bytes.sent, document.bytes.bodies_sent), (600, 30));
        assert_eq!((document.requests.arrived, document.requests.stamped, document.requests.most_waiting), (3, 3, 1));
        assert_eq!(document.gap_ms.expect("one worker").max, 10.0);
    }

    #[test]
    fn requests_that_overlap_have_no_upper_bound() {
        let mut account = Account::new(0);
        account.opened(1, 0);
        account.arrived(1, request(MS));
        account.arrived(1, RequestSeen { is_alone: false, ..request(2 * MS) });
        account.answered(1, answer(MS, 3 * MS));
        account.answered(1, answer(2 * MS, 4 * MS));
        account.arrived(1, request(5 * MS));
        account.abandoned(6 * MS);
        account.closed(1, 6 * MS, [0, 0]);
        let document = Account::document(vec![account], Served::default());
        assert_eq!((document.turnaround_ms.count, document.turnaround_ms.censored), (0, 2));
        assert_eq!((document.requests.abandoned, document.requests.most_waiting), (1, 2));
    }

    #[test]
    fn workers_add_up() {
        let (mut one, mut other) = (Account::new(0), Account::new(0));
        three(&mut one);
        three(&mut other);
        let document = Account::document(vec![one, other], Served::default());
        assert_eq!((document.requests.arrived, document.connections.opened, document.workers), (6, 2, 2));
        assert_eq!((document.requests.statuses["200"], document.connections.rows.len()), (6, 2));
        assert!(document.gap_ms.is_none(), "gaps between the arrivals of both are not known");
    }
}
