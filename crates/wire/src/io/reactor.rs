//! The sockets of a worker in an epoll of their own.
//!
//! tokio asks each socket's readiness under a lock, with atomic numbers and a budget, because its sockets may be used
//! on any thread. Those of a virtual user never leave their worker: here readiness is a flag in a `Cell`. The epoll is
//! itself one descriptor in tokio's, which keeps timers, name lookups and signals, and wakes this one when any socket
//! has something. Events are edges: a flag stays set until a read or write finds nothing more to do, and for good once
//! the peer has ended its side.
//!
//! Sockets that are made on a thread with a reactor use it; on other threads tokio's serves (`readiness`). Invariant:
//! events are fetched as long as the thread has sockets here, because `Reactor::drive` runs on it.

use std::cell::{Cell, RefCell};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Events of one `epoll_wait`; where there are as many, another follows.
const EVENTS: usize = 1024;

/// Reads that leave something before others have their turn, so that a peer who always has more does not keep the
/// worker: 4 MiB. One that took all there was waits for an event anyway, and events are fetched between turns.
const IN_A_ROW: u8 = 32;

thread_local! {
    static CURRENT: RefCell<Option<Rc<Reactor>>> = const { RefCell::new(None) };
}

/// The readiness of a thread's sockets.
pub struct Reactor {
    epoll: OwnedFd,
    registered: RefCell<Registrations>,
    events: RefCell<Vec<Event>>,
}

#[derive(Default)]
struct Registrations {
    places: Vec<Option<Rc<Registration>>>,
    free: Vec<usize>,
    /// Of the last socket added: an event of one that is gone must not be taken for its successor's.
    serial: u32,
}

/// One socket.
pub(super) struct Registration {
    token: u64,
    pub(super) reading: Direction,
    pub(super) writing: Direction,
}

/// One direction of a socket.
#[derive(Default)]
pub(super) struct Direction {
    is_ready: Cell<bool>,
    /// The peer has ended its side, or the connection is broken: no event will follow, and each attempt will say so.
    is_over: Cell<bool>,
    is_awaited: Cell<bool>,
    /// Attempts that left something, since one found nothing more to do.
    in_a_row: Cell<u8>,
    /// Whoever waits, or waited last.
    waker: Cell<Option<Waker>>,
}

impl Direction {
    /// Whether an attempt is worth it; if not, the poller is woken when it is.
    #[inline]
    pub(super) fn poll(&self, cx: &Context<'_>) -> Poll<()> {
        if self.is_ready.get() {
            return Poll::Ready(());
        }
        let known = self.waker.take().filter(|known| known.will_wake(cx.waker()));
        self.waker.set(Some(known.unwrap_or_else(|| cx.waker().clone())));
        self.is_awaited.set(true);
        Poll::Pending
    }

    /// Whether anything happened since the last attempt that found nothing.
    #[inline]
    pub(super) fn is_ready(&self) -> bool {
        self.is_ready.get()
    }

    /// An attempt found nothing more to do.
    #[inline]
    pub(super) fn clear(&self) {
        self.is_ready.set(self.is_over.get());
        self.in_a_row.set(0);
    }

    /// An attempt left something.
    #[inline]
    pub(super) fn note_rest(&self) {
        debug_assert!(self.in_a_row.get() < IN_A_ROW, "others had their turn after {IN_A_ROW} reads");
        self.in_a_row.set(self.in_a_row.get() + 1);
    }

    /// Whether others should have their turn before the next attempt; said once.
    #[inline]
    pub(super) fn is_turn_over(&self) -> bool {
        let is_over = self.in_a_row.get() >= IN_A_ROW;
        if is_over {
            self.in_a_row.set(0);
        }
        is_over
    }

    #[inline]
    fn set(&self, is_over: bool) {
        self.is_ready.set(true);
        if is_over {
            self.is_over.set(true);
        }
        if self.is_awaited.take()
            && let Some(waker) = self.waker.take()
        {
            waker.wake_by_ref();
            // Kept, so that the same one need not be cloned again; unless the wake has brought another.
            let newer = self.waker.take();
            self.waker.set(newer.or(Some(waker)));
        }
    }
}

impl Reactor {
    /// The sockets that this thread makes from now on, as long as the value lives, wait here. `drive` has to run on the
    /// same thread meanwhile.
    pub fn install() -> io::Result<Installed> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let events = RefCell::new(Vec::with_capacity(EVENTS));
        let reactor = Rc::new(Reactor { epoll, registered: RefCell::default(), events });
        CURRENT.set(Some(Rc::clone(&reactor)));
        Ok(Installed(reactor))
    }

    /// The one of this thread.
    pub(super) fn current() -> Option<Rc<Reactor>> {
        CURRENT.with_borrow(Option::clone)
    }

    /// Wakes whoever waits for a socket that has become ready; does not wait itself.
    pub fn dispatch(&self) -> io::Result<()> {
        loop {
            let mut events = self.events.take();
            events.clear();
            let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
            let found = epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), Some(&at_once));
            let found = match found {
                Err(rustix::io::Errno::INTR) => Ok(EVENTS),
                found => found,
            };
            events.iter().for_each(|event| self.deliver(event));
            self.events.replace(events);
            if found? < EVENTS {
                return Ok(());
            }
        }
    }

    #[inline]
    fn deliver(&self, event: &Event) {
        let (token, flags) = (event.data.u64(), event.flags);
        let registration = self.registered.borrow().places.get(token as u32 as usize).cloned().flatten();
        let Some(registration) = registration.filter(|registration| registration.token == token) else { return };
        // A broken connection has hung up, too. An error alone is a message of the error queue, such as the stamp of a
        // departure: worth an attempt, and not the end.
        let is_over = flags.intersects(EventFlags::HUP);
        if flags.intersects(EventFlags::HUP | EventFlags::ERR | EventFlags::OUT) {
            registration.writing.set(is_over);
        }
        let is_ended = is_over || flags.intersects(EventFlags::RDHUP);
        if is_ended || flags.intersects(EventFlags::ERR | EventFlags::IN) {
            registration.reading.set(is_ended);
        }
    }

    /// The reactor of the calling thread, if it has one, dispatches. An error of the system shows in `drive` too.
    pub fn dispatch_here() {
        if let Some(reactor) = Reactor::current() {
            let _shows_in_drive = reactor.dispatch();
        }
    }

    /// Dispatches whenever there are events; ends only with an error of the system.
    pub async fn drive(self: Rc<Self>) -> io::Result<()> {
        #[expect(
            deprecated,
            reason = "its successor is unsafe; what is shared keeps the descriptor open and unchanged"
        )]
        let ready = AsyncFd::with_interest(Watched(Rc::clone(&self)), Interest::READABLE)?;
        loop {
            // Cleared before: what comes during the dispatch is an edge of its own.
            ready.readable().await?.clear_ready();
            self.dispatch()?;
        }
    }

    /// Has a socket watched.
    pub(super) fn add(&self, socket: &OwnedFd) -> io::Result<Rc<Registration>> {
        let mut registered = self.registered.borrow_mut();
        let index = registered.free.pop().unwrap_or(registered.places.len());
        registered.serial = registered.serial.wrapping_add(1);
        let token = u64::from(registered.serial) << 32 | index as u64;
        let registration =
            Rc::new(Registration { token, reading: Direction::default(), writing: Direction::default() });
        let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        if let Err(error) = epoll::add(&self.epoll, socket, EventData::new_u64(token), flags) {
            registered.free.push(index);
            return Err(error.into());
        }
        if index == registered.places.len() {
            registered.places.push(None);
        }
        debug_assert!(registered.places[index].is_none(), "a free place has no socket");
        registered.places[index] = Some(Rc::clone(&registration));
        Ok(registration)
    }

    /// The socket is about to be closed, which takes it out of the epoll too.
    pub(super) fn remove(&self, registration: &Registration) {
        let mut registered = self.registered.borrow_mut();
        let index = registration.token as u32 as usize;
        let removed = registered.places[index].take();
        debug_assert!(
            removed.is_some_and(|removed| removed.token == registration.token),
            "a socket leaves its own place"
        );
        registered.free.push(index);
    }
}

/// A reactor of this thread's; dropped, sockets that are made afterwards are tokio's.
pub struct Installed(Rc<Reactor>);

impl Installed {
    /// The reactor.
    pub fn reactor(&self) -> &Rc<Reactor> {
        &self.0
    }
}

impl Drop for Installed {
    fn drop(&mut self) {
        CURRENT.with_borrow_mut(|current| _ = current.take_if(|current| Rc::ptr_eq(current, &self.0)));
    }
}

/// The epoll as tokio watches it.
struct Watched(Rc<Reactor>);

impl AsRawFd for Watched {
    fn as_raw_fd(&self) -> RawFd {
        self.0.epoll.as_fd().as_raw_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::time::Duration;

    use super::*;
    use crate::io::socket::Socket;

    fn pair() -> (Socket, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        client.set_nonblocking(true).unwrap();
        (Socket::new(client.into(), true).unwrap(), listener.accept().unwrap().0)
    }

    /// With a reactor that is driven beside.
    fn driven<T>(test: impl AsyncFnOnce() -> T) -> T {
        let runtime = crate::event_loop().unwrap();
        runtime.block_on(async {
            let installed = Reactor::install().unwrap();
            let driving = tokio::task::spawn_local(Rc::clone(installed.reactor()).drive());
            let done = tokio::time::timeout(Duration::from_secs(60), test()).await.expect("nobody was woken");
            driving.abort();
            done
        })
    }

    async fn receive(socket: &Socket, buffer: &mut [u8]) -> usize {
        poll_fn(|cx| socket.poll_receive(cx, buffer)).await.unwrap().bytes
    }

    #[test]
    fn who_waits_is_woken_by_what_arrives_and_by_the_end() {
        driven(async || {
            let (socket, mut peer) = pair();
            let answering = std::thread::spawn(move || {
                let mut asked = [0; 4];
                peer.read_exact(&mut asked).unwrap();
                peer.write_all(b"answer").unwrap();
            });
            assert_eq!(poll_fn(|cx| socket.poll_send(cx, &[io::IoSlice::new(b"ask?")])).await.unwrap(), 4);
            let mut buffer = [0; 16];
            assert_eq!(receive(&socket, &mut buffer).await, 6);
            assert_eq!(receive(&socket, &mut buffer).await, 0, "the peer is gone");
            answering.join().unwrap();
        });
    }

    /// Both may be one event: the end is not waited for once the bytes have been read.
    #[test]
    fn an_end_that_came_with_the_last_bytes_is_seen_behind_them() {
        driven(async || {
            let (socket, mut peer) = pair();
            peer.write_all(b"bye").unwrap();
            drop(peer);
            // Until both are there: the reactor has fetched no event yet.
            std::thread::sleep(Duration::from_millis(20));
            let mut buffer = [0; 16];
            assert_eq!(receive(&socket, &mut buffer).await, 3);
            assert_eq!(receive(&socket, &mut buffer).await, 0);
        });
    }

    /// It is a message of the error queue, which epoll tells as an error.
    #[test]
    fn the_stamp_of_a_departure_is_not_taken_for_the_end() {
        driven(async || {
            let (socket, mut peer) = pair();
            assert!(socket.stamp_departures(true));
            assert_eq!(poll_fn(|cx| socket.poll_send(cx, &[io::IoSlice::new(b"ask?")])).await.unwrap(), 4);
            let (mut polls, mut buffer) = (0, [0; 16]);
            let poll = poll_fn(|cx| {
                polls += 1;
                socket.poll_receive(cx, &mut buffer)
            });
            let waited = tokio::time::timeout(Duration::from_millis(100), poll).await;
            assert!(waited.is_err(), "nothing has come yet");
            assert!(polls < 10, "it was polled {polls} times while nothing came");
            assert!(socket.departed_ns().is_some(), "the kernel has not stamped it");
            peer.write_all(b"answer").unwrap();
            assert_eq!(receive(&socket, &mut buffer).await, 6);
        });
    }

    /// An edge is told once: what was not read yet must not be waited for.
    #[test]
    fn what_is_left_of_a_read_is_there_without_another_event() {
        driven(async || {
            let (socket, mut peer) = pair();
            peer.write_all(b"abcdef").unwrap();
            let mut pieces = Vec::new();
            for _ in 0..3 {
                let mut buffer = [0; 2];
                assert_eq!(receive(&socket, &mut buffer).await, 2);
                pieces.extend(buffer);
            }
            assert_eq!(pieces, b"abcdef");
            assert!(socket.is_quiet());
        });
    }

    /// Two megabytes do not fit into the buffers of a socket: who writes them waits for the reader.
    #[test]
    fn who_writes_is_woken_when_there_is_room_again() {
        driven(async || {
            let (socket, mut peer) = pair();
            let reading = std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(20));
                let mut all = Vec::new();
                peer.read_to_end(&mut all).unwrap();
                all.len()
            });
            let bytes = vec![7; 2 << 20];
            let mut sent = 0;
            while sent < bytes.len() {
                sent += poll_fn(|cx| socket.poll_send(cx, &[io::IoSlice::new(&bytes[sent..])])).await.unwrap();
            }
            drop(socket);
            assert_eq!(reading.join().unwrap(), 2 << 20);
        });
    }

    #[test]
    fn a_socket_is_quiet_until_something_arrives() {
        let installed = Reactor::install().unwrap();
        let (socket, mut peer) = pair();
        installed.reactor().dispatch().unwrap();
        assert!(socket.is_quiet());
        peer.write_all(b"unasked").unwrap();
        let mut looks = 0;
        while socket.is_quiet() {
            installed.reactor().dispatch().unwrap();
            looks += 1;
            assert!(looks < 1_000_000, "it never came");
        }
    }

    /// The place of a socket that is gone is given to the next one, and what was told of the first is not the next's.
    #[test]
    fn an_event_of_a_socket_that_is_gone_is_nobodys() {
        let installed = Reactor::install().unwrap();
        let reactor = installed.reactor();
        let (first, _peer) = pair();
        let token = reactor.registered.borrow().places[0].as_ref().unwrap().token;
        drop(first);
        let (_second, _its_peer) = pair();
        let registration = reactor.registered.borrow().places[0].clone().expect("it has the place of the first");
        reactor.deliver(&Event { flags: EventFlags::IN, data: EventData::new_u64(token) });
        assert!(!registration.reading.is_ready());
        reactor.deliver(&Event { flags: EventFlags::IN, data: EventData::new_u64(registration.token) });
        assert!(registration.reading.is_ready());
    }

    #[test]
    fn on_a_thread_without_a_reactor_sockets_are_tokios() {
        drop(Reactor::install().unwrap());
        assert!(Reactor::current().is_none());
    }
}
