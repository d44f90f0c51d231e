//! Outputs that send to a receiver over the network: samples are taken in while a request is on its way, so a receiver
//! that is slow, hanging or gone costs what it does not take and nothing else.
//!
//! One request at a time. What a form keeps is bounded (`is_full`); the queue before it is, too.

use std::pin::Pin;
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep_until, timeout_at};

use crate::catalog::{Catalog, Take};
use crate::feed::{Delivery, Feed, Inbox, Running};
use crate::setup::Tell;

/// Failures that are told at once; a receiver may have ever new ones.
const TOLD: u32 = 5;

/// How long a request may take once the test is over.
const GRACE: Duration = Duration::from_secs(5);

/// What is sent at once.
pub(crate) struct Parcel {
    pub(crate) body: Vec<u8>,
    /// How many samples or points are in it.
    pub(crate) count: u64,
}

/// Makes parcels of samples.
pub(crate) trait Form: Take + Send + 'static {
    /// What there is to send; called until there is nothing. `is_last`: the test is over.
    fn parcel(&mut self, is_last: bool) -> Option<Parcel>;
    /// Whether a parcel should leave before its time.
    fn is_ripe(&self) -> bool {
        false
    }
    /// Whether nothing more should come in until a parcel has left.
    fn is_full(&self) -> bool {
        false
    }
}

/// Sends parcels. Made on the output's thread.
pub(crate) trait Courier {
    /// Sends one; why it was not taken.
    fn send(&self, parcel: Vec<u8>) -> impl Future<Output = Result<(), String>>;
}

/// How an output sends.
pub(crate) struct Schedule {
    /// As `--out` names it.
    pub(crate) name: &'static str,
    /// What a parcel's count counts.
    pub(crate) unit: &'static str,
    /// Between two parcels.
    pub(crate) every: Duration,
}

/// A parcel on its way, and its count.
type Sending<'a> = (u64, Pin<Box<dyn Future<Output = Result<(), String>> + 'a>>);

/// Starts the thread of an output. `courier` makes, on that thread, what sends.
pub(crate) fn start<S: Courier>(
    schedule: Schedule,
    tell: Tell,
    form: impl Form,
    courier: impl FnOnce() -> Result<S, String> + Send + 'static,
) -> Result<Running, String> {
    Running::start(schedule.name, schedule.unit, GRACE, move |inbox| {
        let runtime = wire::event_loop();
        let runtime = match runtime {
            Ok(runtime) => runtime,
            Err(error) => return Some(format!("no event loop: {error}")),
        };
        runtime.block_on(async {
            let courier = match courier() {
                Ok(courier) => courier,
                Err(why) => return Some(why),
            };
            let mut pushing =
                Pushing { feed: inbox.feed.clone(), schedule, tell, form, is_failing: false, why: None, told: 0 };
            pushing.run(inbox, &courier).await
        })
    })
}

struct Pushing<F> {
    feed: std::sync::Arc<Feed>,
    schedule: Schedule,
    tell: Tell,
    form: F,
    /// Whether the last parcel was not taken.
    is_failing: bool,
    /// Why a parcel was lost, the last time.
    why: Option<String>,
    /// Failures that were told.
    told: u32,
}

impl<F: Form> Pushing<F> {
    async fn run(&mut self, mut inbox: Inbox, courier: &impl Courier) -> Option<String> {
        let feed = self.feed.clone();
        let mut catalog = Catalog::default();
        let mut timer = interval_at(Instant::now() + self.schedule.every, self.schedule.every);
        timer.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut sending: Option<Sending<'_>> = None;
        let (mut is_due, mut end_by) = (false, None);
        loop {
            if (is_due || self.form.is_ripe()) && sending.is_none() {
                is_due = false;
                sending = self.form.parcel(false).map(|parcel| send(courier, parcel));
            }
            tokio::select! {
                biased;
                result = async { (&mut sending.as_mut().expect("there is one").1).await }, if sending.is_some() => {
                    let (count, _) = sending.take().expect("it has ended");
                    self.note(count, result);
                    if self.gives_up() {
                        break;
                    }
                    end_by = end_by.map(|_| Instant::now() + GRACE);
                }
                () = feed.until_ending(), if end_by.is_none() => end_by = Some(Instant::now() + GRACE),
                () = sleep_until(end_by.unwrap_or_else(Instant::now)), if end_by.is_some() && sending.is_some() => {
                    break;
                }
                _ = timer.tick() => is_due = true,
                message = inbox.queue.recv(), if !self.form.is_full() => match message {
                    Some(Delivery::Batch(source, batch)) => {
                        catalog.read(source, &batch, &mut self.form);
                        inbox.feed.done(&batch);
                    }
                    Some(Delivery::Span(span)) => {
                        let size = span.size();
                        self.form.span(*span);
                        inbox.feed.leave(size);
                    }
                    Some(Delivery::End) | None => break,
                },
            }
        }
        if let Some(sending) = sending {
            self.await_end(sending, end_by.unwrap_or_else(|| Instant::now() + GRACE)).await;
        }
        self.finish(inbox, courier).await;
        self.why.take()
    }

    /// Waits for a parcel at the end of the test, not for ever.
    async fn await_end(&mut self, (count, sending): Sending<'_>, by: Instant) {
        let late = || Err(format!("no answer within {} s after the test", GRACE.as_secs()));
        let result = timeout_at(by, sending).await.unwrap_or_else(|_| late());
        self.note(count, result);
    }

    /// Sends what is left, unless the receiver takes nothing.
    async fn finish(&mut self, mut inbox: Inbox, courier: &impl Courier) {
        while let Some(parcel) = self.form.parcel(true) {
            if self.gives_up() {
                self.feed.lose(parcel.count);
            } else {
                self.await_end(send(courier, parcel), Instant::now() + GRACE).await;
            }
        }
        inbox.queue.close();
        while let Ok(message) = inbox.queue.try_recv() {
            match message {
                Delivery::Batch(_, batch) => self.feed.lose(batch.samples()),
                Delivery::Span(_) => self.feed.lose(1),
                Delivery::End => {}
            }
        }
    }

    /// The test is over and the last parcel was not taken: nobody should wait for the others to fail as well.
    fn gives_up(&self) -> bool {
        self.is_failing && self.feed.is_ending()
    }

    fn note(&mut self, count: u64, result: Result<(), String>) {
        debug_assert!(count > 0, "a parcel has something in it");
        match result {
            Ok(()) => {
                self.is_failing = false;
                self.feed.note_progress();
            }
            Err(why) => {
                self.feed.lose(count);
                if self.why.as_ref() != Some(&why) && self.told < TOLD {
                    self.told += 1;
                    (self.tell)(&format!("output {}: {why}", self.schedule.name));
                }
                (self.is_failing, self.why) = (true, Some(why));
            }
        }
    }
}

fn send(courier: &impl Courier, parcel: Parcel) -> Sending<'_> {
    (parcel.count, Box::pin(courier.send(parcel.body)))
}
