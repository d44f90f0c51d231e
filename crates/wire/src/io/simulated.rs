//! A simulation's network and clock in place of the kernel's: what lies below a connection, and nothing above it.
//!
//! While a network is installed on a thread, the clients of that thread dial it, read its clock and wait for its
//! timers; pools, exchanges, redirects and timings are those of the product. HTTP/1.1 in the clear is what works: name
//! lookups, links, HTTP/2 and WebSocket still wait for tokio's timers and sockets. Only with the feature `simulated`,
//! which the binary does not have.

use std::cell::RefCell;
use std::future::Future;
use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

pub use crate::io::receive::Received;
use crate::io::stamps::Tick;

thread_local!(static NETWORK: RefCell<Option<Rc<dyn Network>>> = const { RefCell::new(None) });

/// Something that takes simulated time.
pub type Wait<T> = Pin<Box<dyn Future<Output = T>>>;

/// Everything that a client learns from its machine.
pub trait Network {
    /// The monotonic clock, in nanoseconds.
    fn now_ns(&self) -> u64;

    /// The wall clock, in nanoseconds since 1970: receive stamps are points of it.
    fn wall_ns(&self) -> u64;

    /// Waits until this point of the monotonic clock.
    fn sleep_until(&self, at_ns: u64) -> Wait<()>;

    /// Connects to an address; errors carry a number of the operating system, as the kernel's do.
    fn connect(&self, to: SocketAddr) -> Wait<io::Result<Box<dyn SimulatedSocket>>>;
}

/// A connected socket. Each method does what the one of the same name does for a socket of the kernel.
pub trait SimulatedSocket {
    /// The peer's address.
    fn peer(&self) -> Option<SocketAddr>;

    /// Takes some of the bytes of the parts, waiting only when there is room for none.
    fn poll_send(&self, cx: &mut Context<'_>, parts: &[IoSlice<'_>]) -> Poll<io::Result<usize>>;

    /// Waits for bytes, or for the end: no bytes.
    fn poll_receive(&self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<Received>>;

    /// Whether nothing came since the last read: no byte, no end.
    fn is_quiet(&self) -> bool;

    /// Bytes that were sent and that the peer has not acknowledged.
    fn unacknowledged(&self) -> Option<u64>;
}

/// A network that is there until this is dropped.
pub struct InstalledNetwork(());

impl Drop for InstalledNetwork {
    fn drop(&mut self) {
        NETWORK.take();
    }
}

/// Puts a network below the clients of this thread. Clients that lived before it must not be used with it.
pub fn install(network: Rc<dyn Network>) -> InstalledNetwork {
    let before = NETWORK.replace(Some(network));
    assert!(before.is_none(), "a thread has one network at a time");
    InstalledNetwork(())
}

/// That of this thread, where there is one.
pub(crate) fn network() -> Option<Rc<dyn Network>> {
    NETWORK.with_borrow(Clone::clone)
}

/// Its monotonic clock.
#[inline]
pub(crate) fn now_ns() -> Option<u64> {
    NETWORK.with_borrow(|network| network.as_ref().map(|network| network.now_ns()))
}

/// Its wall clock.
#[inline]
pub(crate) fn wall_ns() -> Option<u64> {
    NETWORK.with_borrow(|network| network.as_ref().map(|network| network.wall_ns()))
}

/// A timer of the network.
pub(crate) struct SimulatedAlarm {
    network: Rc<dyn Network>,
    at: Tick,
    wait: Wait<()>,
}

impl SimulatedAlarm {
    /// One that goes off then; none without a network.
    pub(crate) fn at(at: Tick) -> Option<SimulatedAlarm> {
        let network = network()?;
        let wait = network.sleep_until(at.ns());
        Some(SimulatedAlarm { network, at, wait })
    }

    pub(crate) fn set(&mut self, at: Tick) {
        (self.at, self.wait) = (at, self.network.sleep_until(at.ns()));
    }

    pub(crate) fn is_elapsed(&self) -> bool {
        self.network.now_ns() >= self.at.ns()
    }

    /// Ready when it has gone off, also again.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.is_elapsed() {
            return Poll::Ready(());
        }
        self.wait.as_mut().poll(cx)
    }
}
