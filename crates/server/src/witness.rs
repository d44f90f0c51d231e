//! What the target tells of every request while it serves: when it arrived, when its answer left, on which connection.
//!
//! A server has a witness for each worker when its configuration makes some (`ServerConfig::witness`), else none of
//! this costs more than a look at an empty option. Times are nanoseconds of the wall clock. Both are chosen so that a
//! client's own time can only be longer: a request arrives when the kernel stamped the bytes that completed its head,
//! and its answer leaves right before the write that hands its last byte to the kernel. Requests to `/stats` are not
//! told, as they are not counted.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use wire::wall_ns;

/// A request whose head is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestArrival {
    /// When it arrived.
    pub at_ns: u64,
    /// By the kernel's stamp; otherwise by the clock right after the read.
    pub is_stamped: bool,
    /// On a connection of HTTP/1.1, and no earlier request of it waits for its answer.
    pub is_alone: bool,
}

/// A request whose answer has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answered {
    /// When the request arrived.
    pub arrived_ns: u64,
    /// Right before the write of the answer's last byte; on HTTP/2, when that byte was handed to the connection.
    pub at_ns: u64,
    /// `None`: a fault, which is no valid response.
    pub status: Option<u16>,
    /// Bytes of the response's body, where its head says them.
    pub body: Option<u64>,
}

/// The end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionEnd {
    /// When the server noticed.
    pub at_ns: u64,
    /// Bytes received; on TLS, those that were decrypted.
    pub received: u64,
    /// Bytes sent; on TLS, those that were to be encrypted.
    pub sent: u64,
}

/// Hears what happens on the connections of one worker, each of which has its number there.
pub trait Witness {
    /// A client connected.
    fn opened(&self, connection: u64, at_ns: u64);
    /// A request arrived.
    fn arrived(&self, connection: u64, arrival: RequestArrival);
    /// An answer left.
    fn answered(&self, connection: u64, answered: Answered);
    /// A request will have no answer: its connection or its stream ended before.
    fn abandoned(&self, connection: u64, at_ns: u64);
    /// A connection ended.
    fn closed(&self, connection: u64, end: ConnectionEnd);
}

/// Makes the witness of a worker, on its thread.
pub type WitnessFactory = Arc<dyn Fn() -> Box<dyn Witness> + Send + Sync>;

/// The bytes of a watched connection, and when they passed.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    received: Cell<u64>,
    sent: Cell<u64>,
    arrived_ns: Cell<u64>,
    is_stamped: Cell<bool>,
    /// When the last write began.
    writing_ns: Cell<u64>,
}

impl Traffic {
    pub(crate) fn read(&self, bytes: usize, stamp_ns: Option<u64>) {
        if bytes > 0 {
            self.received.set(self.received.get() + bytes as u64);
            self.arrived_ns.set(stamp_ns.unwrap_or_else(wall_ns));
            self.is_stamped.set(stamp_ns.is_some());
        }
    }

    pub(crate) fn writes(&self) {
        self.writing_ns.set(wall_ns());
    }

    pub(crate) fn wrote(&self, bytes: usize) {
        self.sent.set(self.sent.get() + bytes as u64);
    }
}

/// The head of an answer that has not left as a whole.
#[derive(Clone, Copy, Debug)]
struct AnswerHead {
    status: Option<u16>,
    body: Option<u64>,
}

/// What a connection tells the witness of its worker; its end when this is dropped.
pub(crate) struct ConnectionWitness {
    of_worker: Rc<dyn Witness>,
    connection: u64,
    traffic: Rc<Traffic>,
    /// Requests of HTTP/1.1 by their arrival, with their answers as far as these have begun.
    waiting: RefCell<VecDeque<(u64, Option<AnswerHead>)>>,
}

impl ConnectionWitness {
    pub(crate) fn new(of_worker: Rc<dyn Witness>, connection: u64, traffic: Rc<Traffic>) -> Rc<Self> {
        of_worker.opened(connection, wall_ns());
        Rc::new(ConnectionWitness { of_worker, connection, traffic, waiting: RefCell::default() })
    }

    fn arrival(&self, is_alone: bool) -> RequestArrival {
        RequestArrival { at_ns: self.traffic.arrived_ns.get(), is_stamped: self.traffic.is_stamped.get(), is_alone }
    }

    /// The head of a request of HTTP/1.1 is complete.
    pub(crate) fn arrived(&self) {
        let mut waiting = self.waiting.borrow_mut();
        let arrival = self.arrival(waiting.is_empty());
        waiting.push_back((arrival.at_ns, None));
        self.of_worker.arrived(self.connection, arrival);
    }

    /// The answer to the oldest request that has none is on its way.
    pub(crate) fn responds(&self, status: Option<u16>, body: Option<u64>) {
        let mut waiting = self.waiting.borrow_mut();
        if let Some((_, answer)) = waiting.iter_mut().find(|(_, answer)| answer.is_none()) {
            *answer = Some(AnswerHead { status, body });
        }
    }

    /// Everything that was on its way has left.
    pub(crate) fn sent(&self) {
        let mut waiting = self.waiting.borrow_mut();
        while let Some((arrived_ns, Some(AnswerHead { status, body }))) = waiting.front().copied() {
            waiting.pop_front();
            let at_ns = self.traffic.writing_ns.get();
            self.of_worker.answered(self.connection, Answered { arrived_ns, at_ns, status, body });
        }
    }

    /// The head of a request of HTTP/2 is complete.
    pub(crate) fn stream_arrived(self: &Rc<Self>) -> StreamWitness {
        // Streams share their connection: their order says nothing of what the client waited for.
        let arrival = self.arrival(false);
        self.of_worker.arrived(self.connection, arrival);
        StreamWitness { connection: self.clone(), arrived_ns: arrival.at_ns, answer: Cell::new(None) }
    }
}

impl Drop for ConnectionWitness {
    fn drop(&mut self) {
        let at_ns = wall_ns();
        self.waiting.borrow().iter().for_each(|_| self.of_worker.abandoned(self.connection, at_ns));
        let (received, sent) = (self.traffic.received.get(), self.traffic.sent.get());
        self.of_worker.closed(self.connection, ConnectionEnd { at_ns, received, sent });
    }
}

/// What a request of HTTP/2 tells: answered when it is dropped behind `responded`, else abandoned.
pub(crate) struct StreamWitness {
    connection: Rc<ConnectionWitness>,
    arrived_ns: u64,
    answer: Cell<Option<AnswerHead>>,
}

impl StreamWitness {
    /// The whole answer was handed to the connection.
    pub(crate) fn responded(&self, status: u16, body: Option<u64>) {
        self.answer.set(Some(AnswerHead { status: Some(status), body }));
    }
}

impl Drop for StreamWitness {
    fn drop(&mut self) {
        let ConnectionWitness { of_worker, connection, .. } = &*self.connection;
        match self.answer.get() {
            Some(AnswerHead { status, body }) => {
                let answered = Answered { arrived_ns: self.arrived_ns, at_ns: wall_ns(), status, body };
                of_worker.answered(*connection, answered);
            }
            None => of_worker.abandoned(*connection, wall_ns()),
        }
    }
}
