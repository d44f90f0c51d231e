//! The coordinator's end: what comes by the broker and what comes by connections of the same agents, as one.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::client::{Client, Message, Subscription};
use super::{Broker, Parcel, WRITE_PATIENCE, subjects, ways};
use crate::backing::{ConnectError, Hub, Incoming};
use crate::clock;
use crate::coordinator::Link;
use crate::embedded::{Credentials, TcpHub};
use crate::lines::{Doors, Lines};
use crate::message::{self, Order, Report};
use crate::sealed::{Announcement, Seal, room};
use crate::token::Secret;

/// Agents that speak through a broker.
pub struct NatsHub {
    secret: Secret,
    lines: Lines,
    listening: JoinHandle<()>,
    bulk: TcpHub,
    /// Of the connections to here: whose they are, by the number of the line through the broker; and the other way.
    whose: HashMap<Link, Link>,
    beside: HashMap<Link, Link>,
}

impl NatsHub {
    /// Announces a coordinator; `bulk` listens where agents reach it by `address`.
    pub async fn open(
        broker: &Broker,
        credentials: &Credentials,
        bulk: TcpHub,
        address: String,
    ) -> Result<NatsHub, String> {
        let said = |error: ConnectError| match error {
            ConnectError::Now(why) | ConnectError::Ever(why) => why,
        };
        let (lines, doors) = Lines::new();
        let (told, shown) = (doors.clone(), broker.shown().to_owned());
        let tell = move |is_there| {
            let gone = || Incoming::Unreachable(format!("{shown}: the broker is gone"));
            told.tell(if is_there { Incoming::Reachable } else { gone() });
        };
        let client = broker.connect(tell).await.map_err(said)?;
        let announcement = Announcement::new(Some(address))?;
        let room = room(&credentials.token());
        let (find, up) = (subjects::find(&room), subjects::up(&room, announcement.hub));
        let asked = client.subscribe(find).await.map_err(said)?;
        let coming = client.subscribe(up).await.map_err(said)?;
        let flushed = timeout(WRITE_PATIENCE, client.flush()).await;
        if !matches!(flushed, Ok(true)) {
            return Err(format!("{}: the broker takes no subscription", broker.shown()));
        }
        let seal = Seal::new(&credentials.secret);
        let listening = Listening { client, seal, room, announcement, doors, lines: HashMap::new() };
        let listening = tokio::spawn(listening.run(asked, coming));
        let (whose, beside) = (HashMap::new(), HashMap::new());
        Ok(NatsHub { secret: credentials.secret.clone(), lines, listening, bulk, whose, beside })
    }

    /// What came by a connection to here, as if it had come through the broker.
    fn merge(&mut self, incoming: Incoming) -> Option<Incoming> {
        match incoming {
            // The first report says which line it belongs to, in the place of a life's number.
            Incoming::Report(bulk, Report::Hello(hello), _) => {
                if !hello.secret.is(&self.secret) {
                    self.bulk.close(bulk);
                    return None;
                }
                self.whose.insert(bulk, hello.incarnation);
                self.beside.insert(hello.incarnation, bulk);
                None
            }
            Incoming::Report(bulk, report, at) => Some(Incoming::Report(*self.whose.get(&bulk)?, report, at)),
            Incoming::PingLeft(..) => None,
            Incoming::Left(bulk) => {
                let line = self.whose.remove(&bulk)?;
                self.beside.remove(&line)?;
                self.lines.close(line);
                Some(Incoming::Left(line))
            }
            Incoming::Unreachable(_) | Incoming::Reachable => Some(incoming),
        }
    }

    fn forget(&mut self, line: Link) {
        if let Some(bulk) = self.beside.remove(&line) {
            self.whose.remove(&bulk);
            self.bulk.close(bulk);
        }
    }
}

impl Hub for NatsHub {
    async fn next(&mut self) -> Incoming {
        loop {
            tokio::select! {
                incoming = self.lines.next() => {
                    if let Incoming::Left(line) = incoming {
                        self.forget(line);
                    }
                    return incoming;
                }
                incoming = self.bulk.next() => {
                    if let Some(incoming) = self.merge(incoming) {
                        return incoming;
                    }
                }
            }
        }
    }

    fn send(&mut self, link: Link, order: Order) {
        match self.beside.get(&link).filter(|_| ways::comes_directly(&order)) {
            Some(bulk) => self.bulk.send(*bulk, order),
            None => self.lines.send(link, order),
        }
    }

    fn close(&mut self, link: Link) {
        self.lines.close(link);
        self.forget(link);
    }

    async fn flush(&mut self) {
        self.lines.flush().await;
        self.bulk.flush().await;
    }
}

impl Drop for NatsHub {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

/// Reads what comes by the broker.
struct Listening {
    client: Arc<dyn Client>,
    seal: Seal,
    room: String,
    announcement: Announcement,
    doors: Doors,
    /// The next number of each line, and its writer.
    lines: HashMap<Link, (u64, tokio::task::AbortHandle)>,
}

impl Listening {
    async fn run(mut self, mut asked: Box<dyn Subscription>, mut coming: Box<dyn Subscription>) {
        loop {
            tokio::select! {
                Some(question) = asked.next() => self.answer(question).await,
                Some(message) = coming.next() => self.take(&message),
                else => return,
            }
        }
    }

    async fn answer(&self, question: Message) {
        if let Some(to) = question.reply {
            let sealed = self.seal.close(&question.subject, &message::encode(&self.announcement));
            let _asks_again = self.client.publish(to, sealed).await;
        }
    }

    fn take(&mut self, message: &Message) {
        let at = clock::now();
        // Whoever does not know the secret is nobody.
        let Some(parcel) = self.seal.read::<Parcel<Report>>(&message.subject, &message.content) else { return };
        let Parcel { line, number, message } = parcel;
        if number == 0 && !self.lines.contains_key(&line) && matches!(message, Some(Report::Hello(_))) {
            self.open(line);
        }
        let Some((next, writing)) = self.lines.get_mut(&line) else { return };
        let is_over = writing.is_finished();
        match message.filter(|_| number == *next && !is_over) {
            Some(report) => {
                *next += 1;
                self.doors.tell(Incoming::Report(line, self.seal.with_secret(report), at));
            }
            // A gap: what was between is lost.
            None => {
                self.lines.remove(&line);
                if !is_over {
                    self.doors.tell(Incoming::Left(line));
                }
            }
        }
    }

    fn open(&mut self, line: Link) {
        let (queue, orders) = unbounded_channel();
        let subject = subjects::down(&self.room, self.announcement.hub, line);
        let (client, seal, doors) = (Arc::clone(&self.client), self.seal.clone(), self.doors.clone());
        let writing = tokio::spawn(Publishing { client, seal, subject, line, doors }.run(orders));
        self.lines.insert(line, (0, writing.abort_handle()));
        self.doors.open(line, queue, writing);
    }
}

/// Sends the orders of a line.
struct Publishing {
    client: Arc<dyn Client>,
    seal: Seal,
    subject: String,
    line: Link,
    doors: Doors,
}

impl Publishing {
    async fn run(self, mut orders: UnboundedReceiver<Order>) {
        for number in 0.. {
            let message = orders.recv().await;
            let is_end = message.is_none();
            if let Some(Order::Ping { number }) = message {
                self.doors.tell(Incoming::PingLeft(self.line, number, clock::now()));
            }
            let content = message::encode(&Parcel { line: self.line, number, message });
            let sealed = self.seal.close(&self.subject, &content);
            let is_out = self.client.publish(self.subject.clone(), sealed).await;
            if is_end || !is_out {
                let _broken = timeout(WRITE_PATIENCE, self.client.flush()).await;
                return;
            }
        }
    }
}
