//! A client's connection while it lives: a task that reads, writes, keeps it alive and makes it again, and the events
//! that it brings to the user's loop.
//!
//! The task runs beside the script, so pings go out while the script sleeps. It runs no JavaScript: what happened is
//! kept until the loop takes it, and nothing is read while there is much of that, so that a flood waits in the kernel.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use bytes::Bytes;
use host::event_loop::Source;
use host::js::{Ctx, Object, Persistent, Result};
use rumqttc::mqttbytes::QoS;
use rumqttc::mqttbytes::v4::{Packet, Publish};
use script::Vu;
use script::series::SampleTags;
use tokio::sync::{Notify, oneshot};
use tokio::time::Sleep;

use super::carrier::{self, Carrier};
use super::client;
use super::event_queue::{EventQueue, Happened};
use super::plan::Plan;
use super::samples::{self, Count};
use super::session::{Done, Session, write};
use crate::client::metric_table::MetricTable;

/// What calls say that need a connection.
pub const NOT_CONNECTED: &str = "not connected: call connect() first, or wait for the event connect";
/// A ping that is not answered for so long means that nobody is there any more.
const PING_PATIENCE: Duration = Duration::from_secs(10);
/// Between the loss of a connection and the first try; each further pause is twice as long.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// How long the end waits for acknowledgements, and for the last bytes to be written.
const END_PATIENCE: Duration = Duration::from_secs(1);

struct Line {
    carrier: Carrier,
    last_sent: Instant,
    pinged: Option<Instant>,
    alarm: Pin<Box<Sleep>>,
}

/// A connection.
pub struct BrokerConnection {
    vu: Weak<Vu>,
    plan: Plan,
    /// Of messages that come.
    tags: SampleTags,
    session: RefCell<Session>,
    /// Nothing while there is no connection.
    line: RefCell<Option<Line>>,
    events: EventQueue,
    /// Who wants to know that everything is written.
    drained: RefCell<Vec<Done>>,
    /// Who wants to know that everything is acknowledged.
    idle: RefCell<Vec<Done>>,
    task: RefCell<Option<Waker>>,
    has_ended: Cell<bool>,
    ended: Notify,
    /// The client's object, whose listeners hear of what happens.
    client: RefCell<Option<Persistent<Object<'static>>>>,
    is_over: Cell<bool>,
}

impl BrokerConnection {
    /// Takes over an open connection: from now on the iteration does not end before it does.
    pub fn start(vu: &Vu, plan: Plan, carrier: Carrier, client: Persistent<Object<'static>>) -> Rc<BrokerConnection> {
        let connection = Rc::new(BrokerConnection {
            vu: vu.weak(),
            tags: samples::of_call("message", &plan.tags, &[]),
            plan,
            session: RefCell::default(),
            line: RefCell::default(),
            events: EventQueue::new(Happened::Connect),
            drained: RefCell::default(),
            idle: RefCell::default(),
            task: RefCell::default(),
            has_ended: Cell::default(),
            ended: Notify::new(),
            client: RefCell::new(Some(client)),
            is_over: Cell::default(),
        });
        connection.install(carrier);
        vu.events.add_source(connection.clone());
        tokio::task::spawn_local(Rc::clone(&connection).serve());
        connection
    }

    /// Whether packets can be sent now.
    pub fn is_connected(&self) -> bool {
        self.line.borrow().is_some()
    }

    /// Whether it was ended, by whomever.
    pub fn has_ended(&self) -> bool {
        self.has_ended.get()
    }

    /// Bytes that were not written yet.
    pub fn queued(&self) -> usize {
        self.line.borrow().as_ref().map_or(0, |line| line.carrier.queued())
    }

    fn install(&self, carrier: Carrier) {
        let alarm = Box::pin(tokio::time::sleep(self.plan.keep_alive));
        *self.line.borrow_mut() = Some(Line { carrier, last_sent: Instant::now(), pinged: None, alarm });
    }

    /// Sends a message, or keeps it for the next connection. `done` hears when the broker has it; with QoS 0, when it
    /// was written.
    pub fn publish(&self, topic: String, payload: Vec<u8>, (qos, retain): (QoS, bool), done: Done) -> Outcome {
        let mut publish = Publish::from_bytes(topic, qos, Bytes::from(payload));
        publish.retain = retain;
        let mut line = self.line.borrow_mut();
        let out = line.as_mut().map(|line| &mut line.carrier.out);
        if qos != QoS::AtMostOnce {
            self.session.borrow_mut().publish(publish, done, out)?;
        } else {
            write(&Packet::Publish(publish), out.ok_or(NOT_CONNECTED)?)?;
            self.drained.borrow_mut().push(done);
        }
        drop(line);
        self.wake_task();
        Ok(())
    }

    /// Subscribes; `done` hears the broker's word.
    pub fn subscribe(&self, filters: Vec<String>, qos: QoS, done: Done) -> Outcome {
        let mut line = self.line.borrow_mut();
        let out = &mut line.as_mut().ok_or(NOT_CONNECTED)?.carrier.out;
        self.session.borrow_mut().subscribe(filters, qos, done, out)?;
        drop(line);
        self.wake_task();
        Ok(())
    }

    /// Ends subscriptions; `done` hears the broker's word.
    pub fn unsubscribe(&self, topics: Vec<String>, done: Done) -> Outcome {
        let mut line = self.line.borrow_mut();
        let out = &mut line.as_mut().ok_or(NOT_CONNECTED)?.carrier.out;
        self.session.borrow_mut().unsubscribe(topics, done, out)?;
        drop(line);
        self.wake_task();
        Ok(())
    }

    /// Ends: waits a little for acknowledgements, says goodbye, and closes. The listeners hear of it if they are to.
    pub async fn end(self: Rc<Self>, is_told: bool) {
        if self.is_connected() && !self.session.borrow().is_idle() {
            let (done, acknowledged) = oneshot::channel();
            self.idle.borrow_mut().push(done);
            let _in_time = tokio::time::timeout(END_PATIENCE, acknowledged).await;
        }
        let goodbye = {
            let (done, written) = oneshot::channel();
            self.line.borrow_mut().as_mut().map(|line| {
                self.drained.borrow_mut().push(done);
                (write(&Packet::Disconnect, &mut line.carrier.out), written).1
            })
        };
        if let Some(written) = goodbye {
            self.wake_task();
            let _in_time = tokio::time::timeout(END_PATIENCE, written).await;
        }
        self.close();
        self.events.push(Happened::End(is_told));
    }

    /// Nothing goes over it any more.
    fn close(&self) {
        self.has_ended.set(true);
        *self.session.borrow_mut() = Session::default();
        self.drained.take();
        self.idle.take();
        if let (Some(mut line), Some(vu)) = (self.line.take(), self.vu.upgrade()) {
            line.carrier.count(&vu);
        }
        self.ended.notify_one();
        self.wake_task();
    }

    fn wake_task(&self) {
        if let Some(task) = self.task.take() {
            task.wake();
        }
    }

    /// The task.
    async fn serve(self: Rc<Self>) {
        while let Err(why) = poll_fn(|cx| self.poll_exchange(cx)).await {
            self.lose(&why);
            if !self.reconnect().await {
                return;
            }
        }
    }

    fn lose(&self, why: &str) {
        if let (Some(mut line), Some(vu)) = (self.line.take(), self.vu.upgrade()) {
            line.carrier.count(&vu);
        }
        self.drained.take();
        self.session.borrow_mut().lose("the connection was lost before the broker answered");
        self.events.push(Happened::Error(format!("the connection was lost: {why}")));
    }

    /// Tries until there is a connection; false when the client was ended meanwhile.
    async fn reconnect(&self) -> bool {
        let mut pause = FIRST_PAUSE;
        loop {
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.ended.notified() => return false,
            }
            let Some(vu) = self.vu.upgrade().filter(|_| !self.has_ended.get()) else { return false };
            self.events.push(Happened::Reconnect);
            let opened = tokio::select! {
                opened = carrier::open(&vu, &self.plan) => opened,
                () = self.ended.notified() => return false,
            };
            let resumed = opened.and_then(|(mut carrier, is_known)| {
                self.session.borrow_mut().resume(is_known, &mut carrier.out).map(|()| carrier)
            });
            match resumed {
                Ok(carrier) => {
                    self.install(carrier);
                    self.events.push(Happened::Connect);
                    return true;
                }
                Err(why) => self.events.push(Happened::Error(why)),
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Reads and writes. Ready when the client was ended, and with why the connection is lost.
    fn poll_exchange(&self, cx: &mut Context<'_>) -> Poll<std::result::Result<(), String>> {
        *self.task.borrow_mut() = Some(cx.waker().clone());
        let mut slot = self.line.borrow_mut();
        let Some(line) = slot.as_mut() else { return Poll::Ready(Ok(())) };
        let polled = self.poll_line(line, cx);
        if let Some(vu) = self.vu.upgrade() {
            line.carrier.count(&vu);
        }
        match polled {
            Ok(()) => Poll::Pending,
            Err(why) => Poll::Ready(Err(why)),
        }
    }

    fn poll_line(&self, line: &mut Line, cx: &mut Context<'_>) -> std::result::Result<(), String> {
        self.poll_arrivals(line, cx)?;
        self.poll_keep_alive(line, cx)?;
        if line.carrier.queued() > 0 {
            line.last_sent = Instant::now();
        }
        if line.carrier.poll_flush(cx)?.is_ready() {
            for done in self.drained.take() {
                let _heard = done.send(Ok(()));
            }
        }
        Ok(())
    }

    fn poll_arrivals(&self, line: &mut Line, cx: &mut Context<'_>) -> std::result::Result<(), String> {
        while !self.events.is_full() {
            while let Some(packet) = line.carrier.packet()? {
                if line.pinged.take().is_some() {
                    line.alarm.as_mut().reset((line.last_sent + self.plan.keep_alive).into());
                }
                let message = self.session.borrow_mut().receive(packet, &mut line.carrier.out)?;
                message.into_iter().for_each(|message| self.events.push(Happened::Message(message, wire::wall_ns())));
            }
            if self.session.borrow().is_idle() {
                for done in self.idle.take() {
                    let _heard = done.send(Ok(()));
                }
            }
            if line.carrier.poll_read(cx)?.is_pending() {
                break;
            }
        }
        Ok(())
    }

    fn poll_keep_alive(&self, line: &mut Line, cx: &mut Context<'_>) -> std::result::Result<(), String> {
        if self.plan.keep_alive.is_zero() {
            return Ok(());
        }
        while line.alarm.as_mut().poll(cx).is_ready() {
            let now = Instant::now();
            // Sending does not move the alarm, because that costs more than to look at the clock when it rings.
            let due = match line.pinged {
                Some(pinged) => pinged + PING_PATIENCE,
                None => line.last_sent + self.plan.keep_alive,
            };
            if due <= now {
                // What is not read is no silence of the broker.
                if line.pinged.is_some() && !self.events.is_full() {
                    return Err(format!("the broker did not answer a ping within {} s", PING_PATIENCE.as_secs()));
                }
                write(&Packet::PingReq, &mut line.carrier.out)?;
                line.pinged = Some(now);
                line.alarm.as_mut().reset((now + PING_PATIENCE).into());
            } else {
                line.alarm.as_mut().reset(due.into());
            }
        }
        Ok(())
    }

    /// Lets go of the client.
    fn finish(&self) {
        self.is_over.set(true);
        self.client.take();
        self.events.clear();
    }
}

/// Whether a request was taken.
pub type Outcome = std::result::Result<(), String>;

impl Source for BrokerConnection {
    fn poll(&self, cx: &mut Context<'_>) -> Poll<()> {
        if self.is_over.get() { Poll::Ready(()) } else { self.events.poll(cx) }
    }

    fn dispatch(&self, ctx: &Ctx<'_>) -> Result<()> {
        let vu = Vu::of(ctx);
        let Some(client) = self.client.borrow().clone() else { return Ok(()) };
        let client = client.restore(ctx)?.into_value();
        loop {
            let was_full = self.events.is_full();
            let Some(next) = self.events.pop() else { return Ok(()) };
            let is_end = matches!(next, Happened::End(_));
            if let Happened::Message(publish, _) = &next {
                Count::MessagesReceived.add(&vu, 1.0, &self.tags);
                Count::DataReceived.add(&vu, publish.payload.len() as f64, &self.tags);
                if was_full {
                    self.wake_task();
                }
            }
            if is_end {
                self.finish();
            }
            client::tell(ctx, &vu, &client, next)?;
        }
    }

    fn is_over(&self) -> bool {
        self.is_over.get()
    }

    fn abandon(&self) {
        if let Some(line) = &mut *self.line.borrow_mut()
            && write(&Packet::Disconnect, &mut line.carrier.out).is_ok()
        {
            // Nobody waits for it any more; what the kernel does not take now, it does not get.
            let _written = line.carrier.poll_flush(&mut Context::from_waker(Waker::noop()));
        }
        self.close();
        self.finish();
    }
}
