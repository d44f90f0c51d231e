//! Request bodies that routes keep in memory, and the total of all clients together.
//!
//! One client may keep 16 MiB; a thousand of them would keep 16 GiB. So every byte of memory that a kept body takes is
//! booked into one total of the server before it is allocated, and so is a long answer made from it until it is sent: a
//! client that does not read holds memory too. What does not fit is refused by 503, and what ends gives its bytes back.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;

use crate::outgoing::respond::{Body, Reply, Response};

/// Answers up to this size are not booked: any route may give such.
const SHORT_ANSWER: usize = 64 << 10;

/// Bytes kept by all workers, and how many may be.
#[derive(Debug)]
pub(crate) struct MemoryBudget {
    kept: AtomicU64,
    limit: u64,
}

/// The total has no room.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Full;

impl MemoryBudget {
    pub(crate) fn new(limit: u64) -> Self {
        MemoryBudget { kept: AtomicU64::new(0), limit }
    }

    fn book(&self, bytes: u64) -> Result<(), Full> {
        let fits = |kept: u64| kept.checked_add(bytes).filter(|sum| *sum <= self.limit);
        self.kept.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).map(drop).map_err(|_| Full)
    }

    /// The answer to whom it has no room for.
    pub(crate) fn refusal(&self) -> Response {
        let detail = format!(
            "the bodies of all clients together would take more than {} bytes (--max-kept); try again, or use /upload, \
             which keeps none",
            self.limit
        );
        Response::error(503, &detail).header("Retry-After", "1")
    }
}

/// Bytes booked by one body; given back when dropped.
#[derive(Debug)]
pub(crate) struct Reservation {
    total: Arc<MemoryBudget>,
    bytes: u64,
}

impl Reservation {
    pub(crate) fn new(total: &Arc<MemoryBudget>) -> Self {
        Reservation { total: total.clone(), bytes: 0 }
    }

    /// Books what is missing to so many bytes.
    pub(crate) fn cover(&mut self, bytes: u64) -> Result<(), Full> {
        if bytes > self.bytes { self.grow(bytes - self.bytes) } else { Ok(()) }
    }

    fn grow(&mut self, bytes: u64) -> Result<(), Full> {
        self.total.book(bytes)?;
        self.bytes += bytes;
        let kept = self.total.kept.load(Ordering::Relaxed);
        debug_assert!(kept >= self.bytes, "the total has every part: {} of {kept}", self.bytes);
        Ok(())
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let before = self.total.kept.fetch_sub(self.bytes, Ordering::Relaxed);
        debug_assert!(before >= self.bytes, "what was booked is given back once: {} of {before}", self.bytes);
    }
}

/// The body of a request as far as it came.
#[derive(Debug)]
pub(crate) struct Kept {
    bytes: Vec<u8>,
    reservation: Reservation,
}

impl Kept {
    pub(crate) fn new(total: &Arc<MemoryBudget>) -> Self {
        Kept { bytes: Vec::new(), reservation: Reservation::new(total) }
    }

    pub(crate) fn extend(&mut self, more: &[u8]) -> Result<(), Full> {
        let (length, capacity) = (self.bytes.len(), self.bytes.capacity());
        let needed = length + more.len();
        if needed > capacity {
            let grown = needed.max(2 * capacity);
            self.reservation.grow((grown - capacity) as u64)?;
            self.bytes.reserve_exact(grown - length);
        }
        self.bytes.extend_from_slice(more);
        debug_assert!(self.bytes.len() as u64 <= self.reservation.bytes, "what is kept is booked");
        Ok(())
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The reply that was made from this body, which ends here. A long answer is booked in its place, or refused.
    pub(crate) fn answered_by(self, reply: Reply) -> Reply {
        let Reservation { total, .. } = &self.reservation;
        let total = total.clone();
        drop(self);
        let Reply::Respond(mut response) = reply else { return reply };
        if let Body::Bytes(bytes) = &mut response.body
            && bytes.len() > SHORT_ANSWER
        {
            let mut reservation = Reservation::new(&total);
            if reservation.grow(bytes.capacity() as u64).is_err() {
                return total.refusal().into();
            }
            response.body = Body::Shared(Bytes::from_owner(ReservedAnswer {
                bytes: std::mem::take(bytes),
                _reservation: reservation,
            }));
        }
        Reply::Respond(response)
    }
}

/// A booked answer.
struct ReservedAnswer {
    bytes: Vec<u8>,
    _reservation: Reservation,
}

impl AsRef<[u8]> for ReservedAnswer {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(limit: u64) -> Arc<MemoryBudget> {
        Arc::new(MemoryBudget::new(limit))
    }

    fn kept(total: &MemoryBudget) -> u64 {
        total.kept.load(Ordering::Relaxed)
    }

    #[test]
    fn what_does_not_fit_is_refused_and_what_ends_gives_back() {
        let total = total(1000);
        let (mut first, mut second) = (Kept::new(&total), Kept::new(&total));
        first.extend(&[1; 600]).unwrap();
        assert_eq!(second.extend(&[2; 600]), Err(Full));
        second.extend(&[2; 400]).unwrap();
        assert_eq!((kept(&total), second.bytes()), (1000, &[2; 400][..]));
        drop(first);
        assert_eq!(kept(&total), 400);
        second.extend(&[2; 200]).unwrap();
        drop(second);
        assert_eq!(kept(&total), 0);
    }

    #[test]
    fn a_long_answer_is_booked_until_it_is_sent() {
        let total = total(1 << 20);
        let answer = |length: usize| Response::new(200, "a/b", Body::Bytes(vec![0; length]));
        let body = || {
            let mut body = Kept::new(&total);
            body.extend(&[0; 1000]).unwrap();
            body
        };
        let Reply::Respond(sent) = body().answered_by(answer(500_000).into()) else { panic!("it is an answer") };
        assert_eq!((sent.status, kept(&total)), (200, 500_000));
        let Reply::Respond(refused) = body().answered_by(answer(600_000).into()) else { panic!("it is an answer") };
        assert_eq!((refused.status, kept(&total)), (503, 500_000));
        let Reply::Respond(short) = body().answered_by(answer(100).into()) else { panic!("it is an answer") };
        assert_eq!((short.status, kept(&total)), (200, 500_000));
        drop(sent);
        assert_eq!(kept(&total), 0);
    }
}
