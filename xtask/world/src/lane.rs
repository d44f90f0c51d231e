//! One direction of a connection: bytes leave in pieces cut anywhere, and arrive in order, later, or never.
//!
//! A piece is what one read brings, as one segment of the kernel is. What is written goes on travelling when its writer
//! has closed. Invariant: pieces arrive in the order in which they were sent.

use std::collections::VecDeque;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use engine::clock::{Clock, FakeClock};
use wire::simulated::Wait;

use crate::case::Weather;
use crate::ledger::Arrived;
use crate::plan::GHOST_KEY;

/// What a lane carries.
pub(crate) enum Cargo {
    /// Bytes of this hop's answer; of none, or of a request, where it is 0. So many at its end are of an answer to
    /// nothing.
    Bytes {
        bytes: Vec<u8>,
        read: usize,
        key: u64,
        ghost: usize,
    },
    Fin,
    Reset,
}

struct Piece {
    at: Arrived,
    cargo: Cargo,
}

/// What a read brings.
pub(crate) enum Brought {
    Bytes { count: usize, key: u64, ghost: usize },
    Fin,
    Reset,
}

/// One direction of a connection.
pub(crate) struct Lane {
    clock: FakeClock,
    random: fastrand::Rng,
    latency_us: (u64, u64),
    lag_us: u64,
    cut: usize,
    window: usize,
    pieces: VecDeque<Piece>,
    /// Bytes that were taken and not read.
    held: usize,
    /// Nothing that is sent from then on arrives.
    pub(crate) black_from: Duration,
    reader: Option<Waker>,
    writer: Option<Waker>,
    alarm: Option<(Duration, Wait<()>)>,
    last: Arrived,
    last_sent: Duration,
    /// Bytes that had reached the other machine by then: one entry a piece.
    reached: Vec<(Duration, u64)>,
}

impl Lane {
    pub(crate) fn new(clock: &FakeClock, weather: &Weather, seed: u64, lag_us: u64) -> Lane {
        let zero = Arrived { due: Duration::ZERO, seen: Duration::ZERO };
        Lane {
            clock: clock.clone(),
            random: fastrand::Rng::with_seed(seed),
            latency_us: weather.latency_us,
            lag_us,
            cut: weather.cut,
            window: weather.window,
            pieces: VecDeque::new(),
            held: 0,
            black_from: Duration::MAX,
            reader: None,
            writer: None,
            alarm: None,
            last: zero,
            last_sent: Duration::MAX,
            reached: Vec::new(),
        }
    }

    /// One trip from now on.
    pub(crate) fn trip(&mut self) -> Duration {
        Duration::from_micros(self.latency_us.0 + self.random.u64(..=self.latency_us.1))
    }

    /// Puts something on its way; when it arrives.
    fn send(&mut self, cargo: Cargo) -> Duration {
        let now = self.clock.now();
        let due = (now + self.trip()).max(self.last.due);
        let lag = if self.random.u32(..4) == 0 { self.random.u64(..=self.lag_us) } else { 0 };
        let at = Arrived { due, seen: (due + Duration::from_micros(lag)).max(self.last.seen) };
        if now >= self.black_from {
            return due;
        }
        if let Cargo::Bytes { bytes, .. } = &cargo {
            let before = self.reached.last().map_or(0, |(_, bytes)| *bytes);
            self.reached.push((due, before + bytes.len() as u64));
        }
        (self.last, self.last_sent) = (at, now);
        self.pieces.push_back(Piece { at, cargo });
        self.reader.take().into_iter().for_each(Waker::wake);
        due
    }

    /// Takes some of these bytes, waiting only when there is no room.
    pub(crate) fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8], key: u64) -> Poll<usize> {
        let room = self.window.saturating_sub(self.held);
        if room == 0 {
            self.writer = Some(cx.waker().clone());
            return Poll::Pending;
        }
        let most = if self.random.u32(..4) == 0 { self.random.usize(1..=bytes.len().max(1)) } else { bytes.len() };
        let taken = &bytes[..bytes.len().min(room).min(most)];
        let mut rest = taken;
        while !rest.is_empty() {
            let (piece, behind) = rest.split_at(self.random.usize(1..=self.cut.min(rest.len())));
            let ghost = if key == GHOST_KEY { piece.len() } else { 0 };
            self.send(Cargo::Bytes { bytes: piece.to_vec(), read: 0, key, ghost });
            rest = behind;
        }
        self.held += taken.len();
        Poll::Ready(taken.len())
    }

    /// Puts bytes of an answer to nothing behind those of the last piece, if that has just been sent and has room; how
    /// many that are.
    pub(crate) fn join(&mut self, bytes: &[u8]) -> usize {
        let (now, cut) = (self.clock.now(), self.cut);
        let is_last = self.last_sent == now && now < self.black_from;
        let last = self.pieces.back_mut().filter(|_| is_last).map(|piece| &mut piece.cargo);
        let Some(Cargo::Bytes { bytes: piece, read: 0, ghost, .. }) = last else { return 0 };
        let joined = &bytes[..bytes.len().min(cut.saturating_sub(piece.len()))];
        piece.extend_from_slice(joined);
        (*ghost, self.held) = (joined.len(), self.held + joined.len());
        if let Some((_, reached)) = self.reached.last_mut() {
            *reached += joined.len() as u64;
        }
        joined.len()
    }

    /// Says that nothing more comes.
    pub(crate) fn finish(&mut self) {
        self.send(Cargo::Fin);
    }

    /// Says that the connection is gone, behind what was sent before.
    pub(crate) fn refuse(&mut self) {
        self.send(Cargo::Reset);
    }

    /// When what was sent last arrives.
    pub(crate) fn last(&self) -> Arrived {
        self.last
    }

    /// When the next bytes arrive that are still on their way.
    pub(crate) fn next_due(&self) -> Option<Duration> {
        let now = self.clock.now();
        let mut on_way = self.pieces.iter().filter(|piece| piece.at.due > now);
        on_way.find(|piece| matches!(piece.cargo, Cargo::Bytes { .. })).map(|piece| piece.at.due)
    }

    /// Breaks the connection: what is still on its way is lost, where it is not already there.
    pub(crate) fn reset(&mut self) {
        let now = self.clock.now();
        self.pieces.retain(|piece| piece.at.due <= now);
        self.last = self.pieces.back().map_or(Arrived { due: now, seen: now }, |piece| piece.at);
        self.send(Cargo::Reset);
        self.writer.take().into_iter().for_each(Waker::wake);
    }

    /// The next piece, once it is there.
    pub(crate) fn poll_read(&mut self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<(Brought, Arrived)> {
        let now = self.clock.now();
        let Some(piece) = self.pieces.front_mut() else {
            self.reader = Some(cx.waker().clone());
            return Poll::Pending;
        };
        if piece.at.seen > now {
            let seen = piece.at.seen;
            // A piece that comes first is not overtaken, so the alarm is for it alone.
            if self.alarm.as_ref().is_none_or(|(at, _)| *at != seen) {
                let clock = self.clock.clone();
                self.alarm = Some((seen, Box::pin(async move { clock.sleep_until(seen).await })));
            }
            self.reader = Some(cx.waker().clone());
            if let Some((_, wait)) = &mut self.alarm
                && wait.as_mut().poll(cx).is_pending()
            {
                return Poll::Pending;
            }
            self.alarm = None;
        }
        let at = piece.at;
        match &mut piece.cargo {
            Cargo::Bytes { bytes, read, key, ghost } => {
                let (key, count) = (*key, (bytes.len() - *read).min(buffer.len()));
                buffer[..count].copy_from_slice(&bytes[*read..*read + count]);
                *read += count;
                let ghost = (*read).saturating_sub(bytes.len() - *ghost).min(count);
                if *read == bytes.len() {
                    self.pieces.pop_front();
                }
                self.held -= count;
                self.writer.take().into_iter().for_each(Waker::wake);
                Poll::Ready((Brought::Bytes { count, key, ghost }, at))
            }
            Cargo::Fin => Poll::Ready((Brought::Fin, at)),
            Cargo::Reset => Poll::Ready((Brought::Reset, at)),
        }
    }

    /// Whether there is nothing to read now.
    pub(crate) fn is_quiet(&self) -> bool {
        self.pieces.front().is_none_or(|piece| piece.at.seen > self.clock.now())
    }

    /// Whether a reset has come to the machine, read or not; whether an end came before it.
    pub(crate) fn is_reset(&self) -> Option<bool> {
        let now = self.clock.now();
        let mut here = self.pieces.iter().filter(|piece| piece.at.due <= now);
        let at = here.clone().position(|piece| matches!(piece.cargo, Cargo::Reset))?;
        Some(here.by_ref().take(at).any(|piece| matches!(piece.cargo, Cargo::Fin)))
    }

    /// Bytes that are at the machine and were not read.
    pub(crate) fn has_unread(&self) -> bool {
        let now = self.clock.now();
        self.pieces.iter().any(|piece| piece.at.due <= now && matches!(piece.cargo, Cargo::Bytes { .. }))
    }

    /// Bytes that had reached the other machine by then.
    pub(crate) fn reached_by(&self, at: Duration) -> u64 {
        let behind = self.reached.partition_point(|(due, _)| *due <= at);
        behind.checked_sub(1).map_or(0, |last| self.reached[last].1)
    }
}
