//! Coordinator and agents in simulated time: a hundred thousand seeds, on every core.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use fleet::simulation::try_seed;

/// So many tell of trouble that one in ten thousand runs has.
const SEEDS: u64 = 100_000;
/// From line to line.
const TELL_EVERY: Duration = Duration::from_secs(10);
/// More failures than this are one failure.
const MOST_SHOWN: usize = 5;

#[derive(Default)]
struct SeedTally {
    runs: AtomicU64,
    starts: AtomicU64,
    losses: AtomicU64,
    leads: AtomicU64,
    failures: Mutex<Vec<String>>,
}

/// Tries SEEDS seeds from FIRST on; fails when one does not keep its promises.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let number = |at: usize, standard| arguments.get(at).map_or(Some(standard), |text| text.parse().ok());
    let (Some(seeds), Some(first)) = (number(0, SEEDS), number(1, 0)) else {
        return Err(String::from("fleet simulate: expected two whole numbers, SEEDS and FIRST"));
    };
    let (tally, next, began) = (SeedTally::default(), AtomicU64::new(first), Instant::now());
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= first + seeds {
                return;
            }
            tally.add(try_seed(seed));
        }
    };
    std::thread::scope(|scope| {
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        let mut told = Instant::now();
        while threads.iter().any(|thread| !thread.is_finished()) {
            std::thread::sleep(Duration::from_millis(50));
            if told.elapsed() >= TELL_EVERY {
                told = Instant::now();
                println!(
                    "{} of {seeds} runs, {:.0} s",
                    tally.runs.load(Ordering::Relaxed),
                    began.elapsed().as_secs_f64()
                );
            }
        }
    });
    tally.show(began.elapsed())
}

impl SeedTally {
    fn add(&self, tried: Result<fleet::simulation::Outcome, String>) {
        self.runs.fetch_add(1, Ordering::Relaxed);
        match tried {
            Ok(outcome) => {
                self.starts.fetch_add(u64::from(outcome.start.is_some()), Ordering::Relaxed);
                self.losses.fetch_add(outcome.losses as u64, Ordering::Relaxed);
                self.leads.fetch_add(outcome.leads as u64, Ordering::Relaxed);
            }
            Err(what) => self.failures.lock().unwrap_or_else(PoisonError::into_inner).push(what),
        }
    }

    fn show(&self, took: Duration) -> Result<(), String> {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        println!(
            "{} runs in {:.0} s: {} began, {} losses, {} readings of clocks within their bounds, {} broke a promise",
            read(&self.runs),
            took.as_secs_f64(),
            read(&self.starts),
            read(&self.losses),
            read(&self.leads),
            failures.len()
        );
        if failures.is_empty() { Ok(()) } else { Err(failures[..failures.len().min(MOST_SHOWN)].join("\n\n")) }
    }
}
