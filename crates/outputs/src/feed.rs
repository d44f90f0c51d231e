//! The queue of one output: filled by workers without waiting, emptied by the output's thread.
//!
//! Bounded in bytes. When it is full, a batch goes in without its samples, so that the series it tells are not missed;
//! the samples are counted as lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use metrics::batches::Batch;
use metrics::span::{SpanSink, TraceSpan};
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Bytes of samples that wait for one output at most: ten seconds of 25,000 requests a second.
const ROOM: usize = 24 << 20;
/// An output that has got on with nothing for so long at the end is left behind.
pub(crate) const PATIENCE: Duration = Duration::from_secs(15);
/// When the end takes longer than this, the user is told what it waits for.
const SILENCE: Duration = Duration::from_secs(1);

/// What a worker left.
pub(crate) enum Delivery {
    /// From the recorder with this number.
    Batch(u32, Arc<Batch>),
    /// A request of a trace.
    Span(Box<TraceSpan>),
    /// Nothing comes after this.
    End,
}

/// The workers' end of the queue, and what is known of the output.
pub(crate) struct Feed {
    queue: UnboundedSender<Delivery>,
    queued: AtomicUsize,
    lost: AtomicU64,
    /// Samples for which there was no room.
    crowded_out: AtomicU64,
    /// Counts everything that the output finishes.
    moved: AtomicU64,
    /// Without permits; closed when nothing more will come.
    ending: Semaphore,
}

/// The output's end.
pub(crate) struct Inbox {
    pub(crate) queue: UnboundedReceiver<Delivery>,
    pub(crate) feed: Arc<Feed>,
}

impl Feed {
    pub(crate) fn new() -> (Arc<Feed>, Inbox) {
        let (sender, queue) = unbounded_channel();
        let feed = Arc::new(Feed {
            queue: sender,
            queued: AtomicUsize::new(0),
            lost: AtomicU64::new(0),
            crowded_out: AtomicU64::new(0),
            moved: AtomicU64::new(0),
            ending: Semaphore::new(0),
        });
        (feed.clone(), Inbox { queue, feed })
    }

    /// Leaves a batch; never waits.
    pub(crate) fn put(&self, source: u32, batch: &Arc<Batch>) {
        let size = batch.size();
        let before = self.queued.fetch_add(size, Ordering::Relaxed);
        let batch = if before + size <= ROOM {
            batch.clone()
        } else {
            self.queued.fetch_sub(size, Ordering::Relaxed);
            self.crowded_out.fetch_add(batch.samples(), Ordering::Relaxed);
            let rest = batch.without_samples();
            debug_assert_eq!(rest.samples(), 0, "these were counted as crowded out");
            if rest.is_empty() {
                return;
            }
            Arc::new(rest)
        };
        // The thread is gone when its output failed for good: it counted what it knew of.
        if let Err(unsent) = self.queue.send(Delivery::Batch(source, batch))
            && let Delivery::Batch(_, batch) = unsent.0
        {
            self.lose(batch.samples());
            let before = self.queued.fetch_sub(batch.size(), Ordering::Relaxed);
            debug_assert!(before >= batch.size(), "what was not sent was queued: {} of {before}", batch.size());
        }
    }

    /// Says that nothing more will come.
    pub(crate) fn end(&self) {
        self.ending.close();
        let _whoever_is_gone_needs_no_end = self.queue.send(Delivery::End);
    }

    /// Whether nothing more will come, even if some of it still waits.
    pub(crate) fn is_ending(&self) -> bool {
        self.ending.is_closed()
    }

    /// Waits until nothing more will come, even if some of it still waits.
    pub(crate) async fn until_ending(&self) {
        let _closed_is_what_it_waits_for = self.ending.acquire().await;
    }

    /// Counts samples or points that nobody gets.
    pub(crate) fn lose(&self, count: u64) {
        self.lost.fetch_add(count, Ordering::Relaxed);
    }

    /// The output got on with something.
    pub(crate) fn note_progress(&self) {
        self.moved.fetch_add(1, Ordering::Relaxed);
    }

    /// A batch has been dealt with.
    pub(crate) fn done(&self, batch: &Batch) {
        self.leave(batch.size());
    }

    /// The same of a span that takes so many bytes.
    pub(crate) fn leave(&self, size: usize) {
        let before = self.queued.fetch_sub(size, Ordering::Relaxed);
        debug_assert!(before >= size, "what is queued leaves once: {size} of {before}");
        self.note_progress();
    }
}

impl SpanSink for Feed {
    fn put(&self, span: TraceSpan) {
        let size = span.size();
        let before = self.queued.fetch_add(size, Ordering::Relaxed);
        // The thread is gone when its output failed for good.
        if before + size > ROOM || self.queue.send(Delivery::Span(Box::new(span))).is_err() {
            self.queued.fetch_sub(size, Ordering::Relaxed);
            self.lose(1);
        }
    }
}

/// An output at work.
pub(crate) struct Running {
    pub(crate) feed: Arc<Feed>,
    /// `json`, as `--out` names it.
    name: &'static str,
    /// What is counted as lost: samples, or points made of them.
    unit: &'static str,
    /// How long it waits for an answer at the end.
    grace: Duration,
    /// Ends with why something was lost, where that is known.
    thread: JoinHandle<Option<String>>,
}

impl Running {
    /// Starts the thread of an output.
    pub(crate) fn start(
        name: &'static str,
        unit: &'static str,
        grace: Duration,
        work: impl FnOnce(Inbox) -> Option<String> + Send + 'static,
    ) -> Result<Running, String> {
        let (feed, inbox) = Feed::new();
        let thread = std::thread::Builder::new().name(format!("out-{name}")).spawn(move || work(inbox));
        let thread = thread.map_err(|error| format!("no thread for it: {error}"))?;
        Ok(Running { feed, name, unit, grace, thread })
    }

    /// Waits for the thread as long as it gets on; a line for each kind of loss.
    pub(crate) fn finish(self, tell: &dyn Fn(&str)) -> Vec<String> {
        let Running { feed, name, unit, grace, thread } = self;
        let (mut moved, mut since) = (feed.moved.load(Ordering::Relaxed), Instant::now());
        let mut to_tell = Some(Instant::now() + SILENCE);
        while !thread.is_finished() && since.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(2));
            if to_tell.take_if(|at| Instant::now() >= *at).is_some() {
                let grace = grace.as_secs();
                tell(&format!(
                    "output {name}: the test is over; the summary waits while {unit} are taken, {grace} s without \
                     progress at most"
                ));
            }
            let now = feed.moved.load(Ordering::Relaxed);
            if now != moved {
                (moved, since) = (now, Instant::now());
            }
        }
        let is_stuck = !thread.is_finished();
        let why = match is_stuck {
            true => Some(format!("nothing was taken for {} s", PATIENCE.as_secs())),
            // What it was told with is on standard error.
            false => thread.join().unwrap_or_else(|_| Some(String::from("its thread panicked; this is a bug"))),
        };
        let [lost, crowded_out] = [&feed.lost, &feed.crowded_out].map(|count| count.load(Ordering::Relaxed));
        let crowded = "it could not keep up with the test";
        // Where samples are what is sent, what the receiver does not take is what leaves no room for the others.
        let (lost, crowded_out) = if unit == "samples" { (lost + crowded_out, 0) } else { (lost, crowded_out) };
        let reason = why.as_deref().unwrap_or(crowded);
        let line = match (lost, is_stuck) {
            (0, false) => why.map(|why| format!("output {name}: {why}")),
            (0, true) => Some(format!("output {name} has not got the last {unit}: {reason}")),
            (lost, _) => Some(format!("output {name} lost {lost} {unit}: {reason}")),
        };
        let samples = (crowded_out > 0).then(|| format!("output {name} lost {crowded_out} samples: {crowded}"));
        line.into_iter().chain(samples).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use metrics::{Recorder, Registry, TagSet, builtin};

    /// Batches of this many samples each.
    fn batches(count: usize, samples: u64) -> Vec<Arc<Batch>> {
        let recorder = Recorder::new(Registry::new());
        let made: std::rc::Rc<std::cell::RefCell<Vec<Arc<Batch>>>> = std::rc::Rc::default();
        let taken = made.clone();
        recorder.set_batches(Box::new(move |batch| taken.borrow_mut().push(Arc::new(batch))));
        let series = recorder.series(builtin::ITERATIONS, &TagSet::empty());
        for _ in 0..count {
            (0..samples).for_each(|at| recorder.add(series, 1.0, at));
            recorder.take();
        }
        made.take()
    }

    #[test]
    fn a_full_queue_drops_samples_but_tells_series_and_counts() {
        let (feed, mut inbox) = Feed::new();
        let batches = batches(2, 2_000);
        let fit = ROOM / batches[1].size();
        (0..fit).for_each(|_| feed.put(0, &batches[1]));
        feed.put(0, &batches[0]);
        feed.put(0, &batches[1]);
        assert_eq!(feed.crowded_out.load(Ordering::Relaxed), 4_000);
        for _ in 0..fit {
            let Ok(Delivery::Batch(_, batch)) = inbox.queue.try_recv() else { panic!("a batch") };
            feed.done(&batch);
        }
        let Ok(Delivery::Batch(0, told)) = inbox.queue.try_recv() else { panic!("the series") };
        assert_eq!((told.series.len(), told.samples()), (1, 0));
        assert!(inbox.queue.try_recv().is_err(), "a batch without series and samples is none");
        feed.put(0, &batches[1]);
        assert_eq!(feed.crowded_out.load(Ordering::Relaxed), 4_000, "there is room again");
    }

    #[test]
    fn what_comes_after_the_thread_is_gone_is_lost() {
        let running = Running::start("json", "samples", PATIENCE, |_| Some(String::from("the disk is full"))).unwrap();
        while !running.thread.is_finished() {
            std::thread::yield_now();
        }
        running.feed.put(0, &batches(1, 3)[0]);
        running.feed.end();
        assert_eq!(running.finish(&|_| {}), ["output json lost 3 samples: the disk is full"]);
    }
}
