//! Holds one exchange, as it ends, to what the network and the server saw.
//!
//! An answer was given to this request, once, and is whole. A failure has a cause in the world that explains its kind
//! at this very moment. Times are those of the world to the nanosecond, because simulated time is exact; only a jump of
//! the wall clock while a request runs may shift an arrival, by no more than the jump.

use std::time::Duration;

use engine::clock::Clock;
use wire::failure::Step;
use wire::{Body, Exchange, Failure, FailureKind, Response};

use crate::cable::Cable;
use crate::case::DIAL_LIMIT;
use crate::ledger::{ConnectionLog, Fate, Served};
use crate::plan::{Answer, Ask, Ending, Framed, HOPS, body_of};
use crate::world::World;

/// What is known of a hop before it.
pub(crate) struct Asked<'a> {
    /// When the hop was asked for, and the request as a whole.
    pub(crate) at: Duration,
    pub(crate) first: Duration,
    pub(crate) ask: &'a Ask,
    /// Of the first hop.
    pub(crate) key: u64,
}

/// A hop, and all that the world knows of it.
struct Hop<'a> {
    world: &'a World,
    exchange: &'a Exchange,
    asked: &'a Asked<'a>,
    now: Duration,
    key: u64,
    answer: Answer,
    served: Served,
    connection: Option<ConnectionLog>,
}

/// Notes what does not hold of an exchange that has just ended.
pub(crate) fn judge(world: &World, exchange: &Exchange, asked: &Asked<'_>) {
    let key: u64 = exchange.url.target.trim_start_matches('/').parse().unwrap_or(0);
    let (served, connection) = {
        let ledger = world.ledger.borrow();
        let remote = exchange.connection.as_ref().and_then(|connection| connection.remote);
        let connection = remote.and_then(|remote| ledger.connections.get(Cable::number_of(remote)).copied());
        (ledger.served.get(&key).cloned().unwrap_or_default(), connection)
    };
    let (now, answer) = (world.clock.now(), Answer::of(&world.case, key));
    let hop = Hop { world, exchange, asked, now, key, answer, served, connection };
    if let Err(what) = hop.check() {
        let Hop { answer, served, connection, exchange, .. } = &hop;
        let Exchange { outcome, timings, method, .. } = exchange;
        let outcome = outcome.as_ref().map(|response| response.status);
        world.ledger.borrow_mut().wrong(|| {
            format!(
                "hop {key} at {now:?}: {what}\n  {method:?} {outcome:?} {timings:?}\n  {answer:?}\n  {served:?}\n  \
                 {connection:?} reused: {:?}",
                exchange.connection.as_ref().map(|connection| connection.reused)
            )
        });
    }
}

fn must(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}

impl Hop<'_> {
    fn check(&self) -> Result<(), String> {
        let Hop { asked, key, served, .. } = self;
        must((asked.key..asked.key + HOPS).contains(key), || format!("it belongs to request {}", asked.key))?;
        must(served.heads <= 1, || format!("the server got it {} times", served.heads))?;
        if self.has_ghost() {
            return Ok(());
        }
        let ghost = self.connection.and_then(|connection| connection.ghost);
        must(ghost.is_none() || !self.is_reused(), || format!("its connection had an answer to nothing: {ghost:?}"))?;
        match &self.exchange.outcome {
            Ok(response) => self.check_answer(response)?,
            Err(failure) => self.check_failure(failure)?,
        }
        self.check_times()
    }

    /// An answer to nothing that arrives after the next request was asked for cannot be told from its answer, and the
    /// answers behind it are taken for those of later requests. One that was there before must be noticed.
    fn has_ghost(&self) -> bool {
        let Some(connection) = self.connection else { return false };
        let is_ghost = connection.ghost.is_some_and(|ghost| ghost.seen >= self.asked.at) || connection.is_behind;
        if is_ghost
            && self.is_reused()
            && let Some(remote) = self.exchange.connection.as_ref().and_then(|connection| connection.remote)
        {
            self.world.ledger.borrow_mut().connections[Cable::number_of(remote)].is_behind = true;
            return true;
        }
        false
    }

    fn is_reused(&self) -> bool {
        self.exchange.connection.as_ref().is_some_and(|connection| connection.reused)
    }

    fn method(&self) -> &str {
        self.exchange.method.as_str()
    }

    fn check_answer(&self, response: &Response) -> Result<(), String> {
        let Hop { answer, served, asked, .. } = self;
        must(served.heads == 1, || format!("answered, and the server got it {} times", served.heads))?;
        must(served.method == self.method(), || format!("the server got a {}", served.method))?;
        must(response.status == answer.status, || format!("its answer has status {}", answer.status))?;
        let is_cut = matches!(answer.ending, Ending::Closed(_)) && answer.framed == Framed::UntilClose;
        let is_whole = answer.ending == Ending::Whole && served.is_answered;
        must(is_whole || is_cut || self.may_end_early(), || String::from("its answer is not whole"))?;
        must(!self.exchange.is_upload_cut || answer.is_early, || String::from("its upload was cut"))?;
        must(self.exchange.is_upload_cut || answer.is_early || served.is_whole, || {
            String::from("the server does not have all of it")
        })?;
        let expected = match answer.has_body(self.method()) {
            true => body_of(self.key, answer.size, true),
            false => Vec::new(),
        };
        let expected = &expected[..];
        let is_body = match &response.body {
            Body::Kept(found) => {
                found[..] == *expected || ((is_cut || self.may_end_early()) && expected.starts_with(found))
            }
            Body::Discarded(bytes) => {
                asked.ask.is_discarded && (*bytes == expected.len() as u64 || is_cut || self.may_end_early())
            }
            Body::None => !answer.has_body(self.method()),
        };
        must(is_body, || format!("expected a body of {} bytes: {:?}", expected.len(), response.body))?;
        let end = self.deadline();
        must(end.is_none_or(|end| self.now <= end), || format!("answered, and its time was over at {end:?}"))
    }

    /// A body that the end of the connection ends cannot be told from a part of it.
    fn may_end_early(&self) -> bool {
        let has_ended = self.connection.as_ref().is_some_and(|connection| connection.fin_seen.is_some());
        self.answer.framed == Framed::UntilClose && has_ended
    }

    fn deadline(&self) -> Option<Duration> {
        self.asked.ask.timeout.map(|timeout| self.asked.first + timeout)
    }

    fn check_failure(&self, failure: &Failure) -> Result<(), String> {
        let cause = match failure.kind {
            FailureKind::Timeout => return self.check_timeout(failure),
            FailureKind::DialTimeout => self.has_dial(Fate::Unanswered, self.now.checked_sub(DIAL_LIMIT)),
            FailureKind::DialRefused => self.has_dial(Fate::Refused, None),
            FailureKind::DialErrno => self.has_dial(Fate::Unreachable, None),
            FailureKind::ConnectionReset | FailureKind::BrokenPipe => {
                self.connection.is_some_and(|connection| connection.reset_seen.is_some())
            }
            FailureKind::Other if failure.message.ends_with("EOF") => return self.check_end(failure),
            FailureKind::Protocol => self.answer.ending == Ending::Garbage,
            _ => false,
        };
        must(cause, || format!("no such thing happened: {failure:?}"))
    }

    /// An orderly end in the middle: of an answer, or of a kept connection whose server had the request.
    fn check_end(&self, failure: &Failure) -> Result<(), String> {
        let ended = self.connection.is_some_and(|connection| connection.fin_seen.is_some());
        must(ended, || format!("the server did not close: {failure:?}"))?;
        let is_whole = self.served.answered_at.is_some() && self.served.last == self.served.answered_at;
        must(!is_whole || self.answer.framed == Framed::UntilClose, || format!("its answer was whole: {failure:?}"))
    }

    fn has_dial(&self, fate: Fate, began: Option<Duration>) -> bool {
        let ledger = self.world.ledger.borrow();
        ledger
            .dials
            .iter()
            .any(|dial| dial.fate == fate && (dial.ended == self.now || began.is_some_and(|began| dial.began == began)))
    }

    /// Time was over at this very moment, and the answer was not there before.
    fn check_timeout(&self, failure: &Failure) -> Result<(), String> {
        let is_deadline = self.deadline() == Some(self.now);
        let of_step = |from: Duration| self.world.case.step_limit.is_some_and(|limit| from + limit == self.now);
        let connection = self.connection.unwrap_or_default();
        let is_step = match failure.step {
            Step::Send => of_step(self.start()),
            Step::Wait | Step::Receive => of_step(connection.last_sent) || of_step(self.start()),
            _ => false,
        };
        must(is_deadline || is_step, || format!("its time ends at {:?}: {failure:?}", self.deadline()))?;
        let is_told = self.answer.framed != Framed::UntilClose || !self.answer.has_body(self.method());
        let was_there =
            self.served.answered_at.is_some_and(|at| at.seen < self.now) && !connection.loses_bytes && is_told;
        must(!was_there || connection.reset_seen.is_some(), || {
            format!("its answer was there at {:?}: {failure:?}", self.served.answered_at)
        })
    }

    /// When the hop had its connection.
    fn start(&self) -> Duration {
        match self.connection {
            Some(connection) if !self.is_reused() => connection.opened,
            _ => self.asked.at,
        }
    }

    fn check_times(&self) -> Result<(), String> {
        let (exchange, now) = (self.exchange, self.now);
        let took = &exchange.timings;
        let is_dialled = !matches!(&exchange.outcome, Err(failure) if failure.step == Step::Connect);
        let Some(connection) = self.connection.filter(|_| is_dialled) else {
            let none = took.sending + took.waiting + took.receiving + took.connecting;
            return must(none.is_zero(), || String::from("it had no connection"));
        };
        let start = self.start();
        must(took.blocked == start - self.asked.at, || format!("it was blocked until {start:?}"))?;
        let opening = connection.opened - connection.began;
        let connecting = if self.is_reused() { Duration::ZERO } else { opening };
        must(took.connecting == connecting, || format!("connecting took {connecting:?}"))?;
        let has_stamps = self.world.case.weather.has_stamps;
        let at = |arrived: crate::ledger::Arrived| if has_stamps { arrived.due } else { arrived.seen };
        let (first, last) = (self.served.first.map(at), self.served.last.map(at));
        // A bracket of both clocks is read anew when a request begins and it is 100 ms old.
        let jumped = self.world.jumps_within(self.asked.at.saturating_sub(Duration::from_millis(101)), now);
        // A stamp that cannot be right is replaced by the time of reading.
        let late = Duration::from_micros(self.world.case.weather.lag_us);
        let slack = if jumped.is_zero() { jumped } else { jumped + late };
        let is_near = |found: Duration, expected: Duration| found.abs_diff(expected) <= slack;
        let is_ok = exchange.outcome.is_ok();
        let agrees = |sent: Option<Duration>| {
            let begins = first.unwrap_or(now).max(start);
            let sent = sent.unwrap_or(begins).min(begins).max(start);
            let receiving = match (first, last) {
                (Some(_), Some(last)) if is_ok => last.max(begins) - begins,
                (Some(_), _) => now - begins,
                _ => Duration::ZERO,
            };
            is_near(took.sending, sent - start)
                && is_near(took.waiting, begins - sent)
                && is_near(took.receiving, receiving)
        };
        let is_sent = !exchange.is_upload_cut;
        let sent = connection.last_sent;
        let holds = match is_ok {
            true => agrees(is_sent.then_some(sent)),
            // Whether all of it was sent is not told of a failure.
            false => agrees(Some(sent)) || agrees(None),
        };
        must(holds, || format!("it began at {start:?}, was sent at {sent:?}, answered from {first:?} to {last:?}"))
    }
}
