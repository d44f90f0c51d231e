//! One connection: two lanes, and what TCP does at their ends when a side closes, breaks or vanishes.
//!
//! A side that closes over unread bytes resets, as Linux does; bytes that reach a closed side are answered by a reset.
//! Each piece of the server acknowledges what had reached its machine when it was sent; without one, an acknowledgement
//! comes by itself after 40 ms.

use std::cell::{Cell, RefCell};
use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use engine::clock::Clock;
use wire::simulated::{Received, SimulatedSocket};

use crate::lane::{Brought, Lane};
use crate::ledger::ConnectionLog;
use crate::world::World;

/// How long the kernel puts an acknowledgement off that no piece of data carries.
const DELAYED: Duration = Duration::from_millis(40);

/// Both directions of a connection.
pub(crate) struct Cable {
    pub(crate) world: Rc<World>,
    /// Its place in the ledger.
    pub(crate) number: usize,
    pub(crate) up: RefCell<Lane>,
    pub(crate) down: RefCell<Lane>,
    /// When the server closed its end.
    closed: Cell<Option<Duration>>,
    /// A reset was told to the client's program.
    is_told: Cell<bool>,
    /// The answer to bytes for a closed end is on its way.
    is_refusing: Cell<bool>,
    sent: Cell<u64>,
    /// What pieces of the server acknowledge, by when they come.
    acknowledged: RefCell<Vec<(Duration, u64)>>,
}

impl Cable {
    pub(crate) fn new(world: &Rc<World>, number: usize, seed: u64) -> Rc<Cable> {
        let weather = &world.case.weather;
        let lane = |seed, lag| RefCell::new(Lane::new(&world.clock, weather, seed, lag));
        Rc::new(Cable {
            world: Rc::clone(world),
            number,
            up: lane(seed, 0),
            down: lane(!seed, weather.lag_us),
            closed: Cell::new(None),
            is_told: Cell::new(false),
            is_refusing: Cell::new(false),
            sent: Cell::new(0),
            acknowledged: RefCell::default(),
        })
    }

    fn log<T>(&self, write: impl FnOnce(&mut ConnectionLog) -> T) -> T {
        write(&mut self.world.ledger.borrow_mut().connections[self.number])
    }

    /// What the server sends: it acknowledges all that came by now.
    fn acknowledge(&self) {
        let (now, due) = (self.world.clock.now(), self.down.borrow().last().due);
        let reached = self.up.borrow().reached_by(self.closed.get().map_or(now, |closed| closed.min(now)));
        self.acknowledged.borrow_mut().push((due, reached));
    }

    /// The server writes all of these bytes of a hop's answer; false when the connection is gone.
    pub(crate) async fn write(&self, mut bytes: &[u8], key: u64) -> bool {
        if self.closed.get().is_some() {
            return false;
        }
        while !bytes.is_empty() {
            let taken = std::future::poll_fn(|cx| self.down.borrow_mut().poll_send(cx, bytes, key)).await;
            self.acknowledge();
            bytes = &bytes[taken..];
            if self.up.borrow().is_reset().is_some() || self.closed.get().is_some() {
                return false;
            }
        }
        true
    }

    /// The server reads; 0 when nothing more comes.
    pub(crate) async fn read(&self, buffer: &mut [u8]) -> usize {
        let (brought, _) = std::future::poll_fn(|cx| self.up.borrow_mut().poll_read(cx, buffer)).await;
        match brought {
            Brought::Bytes { count, .. } => count,
            Brought::Fin | Brought::Reset => 0,
        }
    }

    /// The server closes its end.
    pub(crate) fn close(self: &Rc<Self>) {
        if self.closed.get().is_some() {
            return;
        }
        self.closed.set(Some(self.world.clock.now()));
        if self.up.borrow().has_unread() {
            self.down.borrow_mut().refuse();
            return;
        }
        self.down.borrow_mut().finish();
        self.acknowledge();
        let next_due = self.up.borrow().next_due();
        self.refuse_at(next_due);
    }

    /// The server breaks off.
    pub(crate) fn abort(&self) {
        self.closed.set(Some(self.world.clock.now()));
        self.is_refusing.set(true);
        self.down.borrow_mut().refuse();
    }

    /// Something on the way breaks the connection, for both sides.
    pub(crate) fn cut(&self) {
        self.log(|log| log.loses_bytes = true);
        self.down.borrow_mut().reset();
        self.up.borrow_mut().reset();
    }

    /// Bytes reach a closed end then: its machine answers with a reset.
    fn refuse_at(self: &Rc<Self>, at: Option<Duration>) {
        let Some(at) = at.filter(|_| !self.is_refusing.replace(true)) else { return };
        let cable = Rc::clone(self);
        tokio::task::spawn_local(async move {
            cable.world.clock.sleep_until(at).await;
            cable.down.borrow_mut().refuse();
        });
    }

    /// The address by which the client's account names this connection.
    pub(crate) fn address(number: usize) -> SocketAddr {
        SocketAddr::from(([10, 0, (number >> 16) as u8, 1], number as u16))
    }

    /// The connection of such an address.
    pub(crate) fn number_of(address: SocketAddr) -> usize {
        match address {
            SocketAddr::V4(address) => usize::from(address.ip().octets()[2]) << 16 | usize::from(address.port()),
            SocketAddr::V6(_) => usize::MAX,
        }
    }
}

/// The client's end.
pub(crate) struct ClientEnd(pub(crate) Rc<Cable>);

impl ClientEnd {
    /// A reset is told once: to a write as a number that says whether an end came before.
    fn tell_reset(&self, has_ended: bool) -> io::Error {
        let Cable { world, is_told, .. } = &*self.0;
        let now = world.clock.now();
        self.0.log(|log| _ = log.reset_seen.get_or_insert(now));
        let number = if is_told.replace(true) || has_ended { libc::EPIPE } else { libc::ECONNRESET };
        io::Error::from_raw_os_error(number)
    }
}

impl SimulatedSocket for ClientEnd {
    fn peer(&self) -> Option<SocketAddr> {
        Some(Cable::address(self.0.number))
    }

    fn poll_send(&self, cx: &mut Context<'_>, parts: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        let cable = &self.0;
        if let Some(has_ended) = cable.down.borrow().is_reset() {
            return Poll::Ready(Err(self.tell_reset(has_ended)));
        }
        let bytes: Vec<u8> = parts.iter().flat_map(|part| part.iter().copied()).collect();
        let taken = ready!(cable.up.borrow_mut().poll_send(cx, &bytes, 0));
        let now = cable.world.clock.now();
        cable.sent.set(cable.sent.get() + taken as u64);
        cable.log(|log| (log.sent, log.last_sent) = (log.sent + taken as u64, now));
        if cable.closed.get().is_some() {
            let at = cable.up.borrow().last().due;
            cable.refuse_at(Some(at));
        }
        Poll::Ready(Ok(taken))
    }

    fn poll_receive(&self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<Received>> {
        let cable = &self.0;
        let (brought, at) = ready!(cable.down.borrow_mut().poll_read(cx, buffer));
        let now = cable.world.clock.now();
        match brought {
            Brought::Bytes { count, key, ghost } => {
                cable.log(|log| {
                    log.received += count as u64;
                    if ghost > 0 {
                        log.ghost.get_or_insert(at);
                        log.ghost_bytes += ghost as u64;
                    }
                });
                cable.world.arrived(key, at);
                let stamp_ns = cable.world.case.weather.has_stamps.then(|| cable.world.wall_at(at.due));
                Poll::Ready(Ok(Received { bytes: count, stamp_ns }))
            }
            Brought::Fin => {
                cable.log(|log| _ = log.fin_seen.get_or_insert(now));
                Poll::Ready(Ok(Received { bytes: 0, stamp_ns: None }))
            }
            Brought::Reset if cable.is_told.get() => Poll::Ready(Ok(Received { bytes: 0, stamp_ns: None })),
            Brought::Reset => Poll::Ready(Err(self.tell_reset(false))),
        }
    }

    fn is_quiet(&self) -> bool {
        self.0.down.borrow().is_quiet()
    }

    fn unacknowledged(&self) -> Option<u64> {
        let cable = &self.0;
        let now = cable.world.clock.now();
        let carried = cable.acknowledged.borrow().iter().filter(|(due, _)| *due <= now).map(|(_, bytes)| *bytes).max();
        let (least, more) = cable.world.case.weather.latency_us;
        let earlier = now.saturating_sub(DELAYED + Duration::from_micros(least + more));
        let alone = cable.up.borrow().reached_by(cable.closed.get().map_or(earlier, |closed| closed.min(earlier)));
        Some(cable.sent.get() - carried.unwrap_or(0).max(alone))
    }
}

impl Drop for ClientEnd {
    fn drop(&mut self) {
        let cable = &self.0;
        let has_unread = cable.down.borrow().has_unread();
        let up = &mut cable.up.borrow_mut();
        if has_unread { up.refuse() } else { up.finish() }
    }
}
