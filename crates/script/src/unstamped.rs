//! Where a run's timings come from: how many exchanges had to be timed by this program because the kernel gave no
//! usable time of arrival.
//!
//! Such timings end when the program got round to reading, which on a busy machine is later than the truth, so the
//! summary tells how many there were. Each worker counts for itself, in a cache line of its own; a run in which all
//! exchanges were stamped counts nothing.

use std::cell::OnceCell;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use wire::Exchange;

use crate::Vu;

/// More than one port.
const SEVERAL: u32 = u32::MAX;

/// One worker's count. Only that worker writes.
#[derive(Default)]
#[repr(align(64))]
struct Tally {
    /// Over unix sockets, which have no receive stamps.
    unix: AtomicU64,
    /// Over others: no stamp came, or one that cannot be right.
    other: AtomicU64,
    /// Whether a connection led to this machine itself.
    here: AtomicBool,
    /// At which port, where it has one; `SEVERAL` of more than one.
    port: AtomicU32,
    /// Answers that were complete before their request's body was.
    cut_uploads: AtomicU64,
}

/// The counts of all workers of the process.
#[derive(Default)]
pub struct Unstamped {
    workers: Mutex<Vec<Arc<Tally>>>,
}

/// The count of the worker that it is local to.
#[derive(Default)]
pub struct WorkerTally {
    tally: OnceCell<Arc<Tally>>,
}

impl WorkerTally {
    /// Counts an answered exchange whose arrival the kernel did not tell; looks where a new connection led.
    pub fn note(&self, vu: &Vu, exchange: &Exchange) {
        if !exchange.timings.connecting.is_zero() {
            self.note_place(vu, exchange);
        }
        if exchange.is_upload_cut {
            let count = &self.tally(vu).cut_uploads;
            count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        }
        if let (Ok(_), Some(connection)) = (&exchange.outcome, &exchange.connection)
            && !connection.kernel_stamps
        {
            let tally = self.tally(vu);
            let count = if connection.remote.is_none() { &tally.unix } else { &tally.other };
            // A plain load and store: nobody else writes.
            count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        }
    }

    // Cold: it is called for the first request of each connection.
    #[cold]
    fn note_place(&self, vu: &Vu, exchange: &Exchange) {
        let Some(connection) = &exchange.connection else { return };
        if connection.remote.is_none_or(|remote| remote.ip().is_loopback()) {
            let tally = self.tally(vu);
            tally.here.store(true, Ordering::Relaxed);
            if let Some(remote) = connection.remote {
                tally.note_port(remote.port());
            }
        }
    }

    fn tally(&self, vu: &Vu) -> &Tally {
        self.tally.get_or_init(|| vu.process::<Unstamped>().join())
    }
}

impl Tally {
    fn note_port(&self, port: u16) {
        let known = self.port.load(Ordering::Relaxed);
        if known != u32::from(port) {
            self.port.store(if known == 0 { u32::from(port) } else { SEVERAL }, Ordering::Relaxed);
        }
    }
}

impl Unstamped {
    fn join(&self) -> Arc<Tally> {
        let tally = Arc::<Tally>::default();
        self.workers.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&tally));
        tally
    }

    /// All of them.
    pub fn count(&self) -> u64 {
        let (unix, other) = self.counts();
        unix + other
    }

    /// Whether the target is on this machine, by a loopback address or a unix socket.
    pub fn is_target_here(&self) -> bool {
        let workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        workers.iter().any(|tally| tally.here.load(Ordering::Relaxed))
    }

    /// The only port of this machine's loopback addresses that requests went to; none of several.
    pub fn port_here(&self) -> Option<u16> {
        let workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        let mut ports: Vec<u32> = workers.iter().map(|tally| tally.port.load(Ordering::Relaxed)).collect();
        ports.retain(|port| *port != 0);
        ports.dedup();
        if let [port] = ports[..] { u16::try_from(port).ok() } else { None }
    }

    /// One plain line when servers answered before they had a whole request; none when all had.
    pub fn cut_uploads(&self) -> Option<String> {
        let workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        let count: u64 = workers.iter().map(|tally| tally.cut_uploads.load(Ordering::Relaxed)).sum();
        (count > 0).then(|| {
            format!(
                "{} answered before the whole body was sent, and the rest was not sent: http_req_sending and \
                 data_sent of these requests are those of a part",
                counted(count)
            )
        })
    }

    /// Over unix sockets, and over others.
    fn counts(&self) -> (u64, u64) {
        let workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        let sum = |of: fn(&Tally) -> &AtomicU64| workers.iter().map(|tally| of(tally).load(Ordering::Relaxed)).sum();
        (sum(|tally| &tally.unix), sum(|tally| &tally.other))
    }

    /// One plain line for the summary of a run with that many requests; none when the kernel stamped all.
    pub fn remark(&self, requests: u64) -> Option<String> {
        let (unix, other) = self.counts();
        let why = match (unix, other) {
            (0, 0) => return None,
            (_, 0) => "unix sockets have no receive stamps",
            (0, _) => "the kernel gave no usable receive stamp",
            _ => "unix sockets have no receive stamps and the kernel gave no usable one for others",
        };
        let count = unix + other;
        Some(format!(
            "timings of {count} of {requests} requests were taken by this program, not by the kernel, because {why}"
        ))
    }
}

fn counted(requests: u64) -> String {
    if requests == 1 { String::from("1 request was") } else { format!("{requests} requests were") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_remark_names_number_and_cause() {
        let all = Unstamped::default();
        assert_eq!(all.remark(9), None);
        let (one, two) = (all.join(), all.join());
        assert_eq!(all.remark(9), None);
        one.unix.store(2, Ordering::Relaxed);
        two.unix.store(1, Ordering::Relaxed);
        let expected = "timings of 3 of 9 requests were taken by this program, not by the kernel, because unix sockets \
            have no receive stamps";
        assert_eq!(all.remark(9).as_deref(), Some(expected));
        two.other.store(1, Ordering::Relaxed);
        assert!(all.remark(9).is_some_and(|line| line.starts_with("timings of 4 of 9 ")));
    }

    #[test]
    fn the_port_is_known_where_it_is_one() {
        let all = Unstamped::default();
        let (one, two) = (all.join(), all.join());
        assert_eq!(all.port_here(), None);
        [8080, 8080].into_iter().for_each(|port| one.note_port(port));
        assert_eq!(all.port_here(), Some(8080), "a worker without connections says nothing");
        two.note_port(8080);
        assert_eq!(all.port_here(), Some(8080));
        two.note_port(9000);
        assert_eq!(all.port_here(), None);
        two.note_port(8080);
        assert_eq!(all.port_here(), None, "what was several stays so");
    }

    #[test]
    fn uploads_that_were_cut_are_counted_and_said() {
        let all = Unstamped::default();
        let one = all.join();
        assert_eq!(all.cut_uploads(), None);
        one.cut_uploads.store(1, Ordering::Relaxed);
        assert!(all.cut_uploads().is_some_and(|line| line.starts_with("1 request was answered before the whole body")));
    }
}
