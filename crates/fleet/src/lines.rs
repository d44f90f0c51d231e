//! The lines of a coordinator's end, whatever carries them: one channel of all that comes in, and for each connection a
//! queue of orders with the task that sends them.

use std::collections::HashMap;
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::backing::Incoming;
use crate::coordinator::Link;
use crate::message::Order;

/// How long a task may take to send what it has, at the end.
const FLUSH_PATIENCE: Duration = Duration::from_secs(2);

/// A connection's queue, and the task that empties it.
type Opened = (Link, UnboundedSender<Order>, JoinHandle<()>);

/// Lines that stand.
pub(crate) struct Lines {
    incoming: UnboundedReceiver<Incoming>,
    opened: UnboundedReceiver<Opened>,
    lines: HashMap<Link, (UnboundedSender<Order>, JoinHandle<()>)>,
    ending: Vec<JoinHandle<()>>,
}

/// Where a backing brings what it has.
#[derive(Clone)]
pub(crate) struct Doors {
    tell: UnboundedSender<Incoming>,
    open: UnboundedSender<Opened>,
}

impl Doors {
    /// A new connection, before anything that comes by it.
    pub(crate) fn open(&self, link: Link, line: UnboundedSender<Order>, writing: JoinHandle<()>) {
        let _ended = self.open.send((link, line, writing));
    }

    /// False when nobody listens any more.
    pub(crate) fn tell(&self, incoming: Incoming) -> bool {
        self.tell.send(incoming).is_ok()
    }
}

impl Lines {
    pub(crate) fn new() -> (Lines, Doors) {
        let (tell, incoming) = unbounded_channel();
        let (open, opened) = unbounded_channel();
        (Lines { incoming, opened, lines: HashMap::new(), ending: Vec::new() }, Doors { tell, open })
    }

    /// What comes next.
    pub(crate) async fn next(&mut self) -> Incoming {
        let incoming = match self.incoming.recv().await {
            Some(incoming) => incoming,
            // The backing holds one end as long as it lives.
            None => std::future::pending().await,
        };
        while let Ok((link, line, task)) = self.opened.try_recv() {
            self.lines.insert(link, (line, task));
        }
        if let Incoming::Left(link) = incoming {
            self.lines.remove(&link);
        }
        incoming
    }

    /// Queues an order.
    pub(crate) fn send(&mut self, link: Link, order: Order) {
        if let Some((line, _)) = self.lines.get(&link) {
            let _gone = line.send(order);
        }
    }

    /// Ends a connection behind its last order.
    pub(crate) fn close(&mut self, link: Link) {
        self.ending.extend(self.lines.remove(&link).map(|(_, task)| task));
    }

    /// Ends all of them.
    pub(crate) async fn flush(&mut self) {
        self.ending.extend(self.lines.drain().map(|(_, (_, task))| task));
        for task in self.ending.drain(..) {
            let _ended = timeout(FLUSH_PATIENCE, task).await;
        }
    }
}
