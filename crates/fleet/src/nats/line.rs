//! An agent's end: a line through the broker, and beside it a connection to the coordinator for what is large.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout, timeout_at};

use super::client::{Client, Subscription};
use super::{Broker, Parcel, SILENCE, WRITE_PATIENCE, subjects, ways};
use crate::backing::{ConnectError, Line};
use crate::coordinator::Link;
use crate::embedded::TcpLine;
use crate::message::{self, Order, Report};
use crate::sealed::{Announcement, Seal, room, without_secret};
use crate::token::{Invitation, Token, random_number};
use crate::{Ns, agent, clock};

/// A message through the broker may come so much later than one beside it.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// A connection through a broker.
pub struct NatsLine {
    broker: Broker,
    token: Token,
    seal: Seal,
    room: String,
    client: Option<Arc<dyn Client>>,
    open: Option<OpenSubject>,
}

struct OpenSubject {
    bulk: TcpLine,
    up: String,
    line: Link,
    /// Of the next report.
    number: u64,
    orders: Receiver<(Order, Ns)>,
    /// Until when the last words are waited for, once the connection beside is gone.
    ends: Option<Instant>,
    reading: JoinHandle<()>,
}

impl Drop for OpenSubject {
    fn drop(&mut self) {
        self.reading.abort();
    }
}

impl NatsLine {
    /// To whoever coordinates the token's run.
    pub fn new(broker: Broker, token: &Token) -> NatsLine {
        let (seal, room) = (Seal::new(&token.secret), room(token));
        NatsLine { broker, token: token.clone(), seal, room, client: None, open: None }
    }

    /// Asks who coordinates.
    async fn find(&self, client: &dyn Client) -> Result<Announcement, ConnectError> {
        let (subject, place) = (subjects::find(&self.room), self.broker.shown());
        let answer = client.ask(subject.clone()).await?;
        let answer =
            answer.ok_or_else(|| ConnectError::Now(format!("{place}: no coordinator of this token is there")))?;
        self.seal.read(&subject, &answer).ok_or_else(|| {
            ConnectError::Ever(format!(
                "{place}: the coordinator there is another one than the token was made by: give the token that was \
                 printed for this run"
            ))
        })
    }
}

impl Line for NatsLine {
    async fn connect(&mut self) -> Result<(), ConnectError> {
        self.open = None;
        let client = match &self.client {
            Some(client) => Arc::clone(client),
            None => self.client.insert(self.broker.connect(drop).await?).clone(),
        };
        let announcement = self.find(client.as_ref()).await?;
        let address = announcement.bulk.unwrap_or_default();
        let mut bulk = TcpLine::new(&Invitation { token: self.token.clone(), address }).map_err(ConnectError::Ever)?;
        bulk.connect().await?;
        let line = random_number().map_err(ConnectError::Ever)?;
        let down = subjects::down(&self.room, announcement.hub, line);
        let coming = client.subscribe(down).await?;
        let (tell, orders) = channel(64);
        let reading = tokio::spawn(read_orders(coming, self.seal.clone(), tell));
        let up = subjects::up(&self.room, announcement.hub);
        self.open = Some(OpenSubject { bulk, up, line, number: 0, orders, ends: None, reading });
        Ok(())
    }

    async fn next(&mut self) -> Option<(Order, Ns)> {
        let open = self.open.as_mut()?;
        if open.ends.is_none() {
            tokio::select! {
                biased;
                order = open.orders.recv() => return order,
                order = open.bulk.next() => match order {
                    Some(order) => return Some(order),
                    None => open.ends = Some(Instant::now() + LAST_WORDS),
                },
            }
        }
        // A coordinator that ends closes it, too, and that may be here before its dismissal.
        timeout_at(open.ends?, open.orders.recv()).await.unwrap_or_default()
    }

    async fn send(&mut self, mut report: Report) -> bool {
        let (Some(open), Some(client)) = (&mut self.open, &self.client) else { return false };
        if ways::is_bulk(&report) {
            return open.bulk.send(report).await;
        }
        if let Report::Hello(hello) = &report {
            // Says there which line it belongs to.
            let beside = message::Hello { incarnation: open.line, ..hello.clone() };
            if !open.bulk.send(Report::Hello(beside)).await {
                return false;
            }
        }
        without_secret(&mut report);
        let _dated = agent::seal(&mut report, clock::now());
        let parcel = Parcel { line: open.line, number: open.number, message: Some(report) };
        open.number += 1;
        let sealed = self.seal.close(&open.up, &message::encode(&parcel));
        let sending = async { client.publish(open.up.clone(), sealed).await && client.flush().await };
        timeout(WRITE_PATIENCE, sending).await.unwrap_or(false)
    }
}

/// Ends at a gap, at the coordinator's end of the line, and when nothing comes.
async fn read_orders(mut coming: Box<dyn Subscription>, seal: Seal, tell: Sender<(Order, Ns)>) {
    let mut next = 0;
    while let Ok(Some(message)) = timeout(SILENCE, coming.next()).await {
        let at = clock::now();
        // What others send is not heard.
        let Some(parcel) = seal.read::<Parcel<Order>>(&message.subject, &message.content) else { continue };
        let Some(order) = parcel.message.filter(|_| parcel.number == next) else { return };
        next += 1;
        if tell.send((order, at)).await.is_err() {
            return;
        }
    }
}
