//! The process that reads inputs, one after the other, and ends at the first that it cannot stand.
//!
//! Each input is written down before it is read. So the driver has it, however the process ended.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use fastrand::Rng;

use super::{corpus, mutate, named};

/// What a child ends with when it found something.
const FOUND: i32 = 3;

/// A child that first reads what it has as it is, and one that spoils it from the beginning: what is known to break is
/// found once.
pub const WHOLE: &str = "whole";
/// The second of these two: inputs are spoiled from the beginning.
pub const SPOILED: &str = "spoiled";

/// The child: `fuzz-child SUBJECT SEED MILLISECONDS PATIENCE whole|spoiled FILE`.
pub fn run_child(arguments: &[String]) -> Result<(), String> {
    let [name, seed, left, patience, begins, current] = arguments else {
        return Err(String::from("fuzz-child is started by fuzz"));
    };
    let subject = named(name).ok_or("unknown subject")?;
    let seed: u64 = seed.parse().map_err(|_| "the seed is no number")?;
    let left = Duration::from_millis(left.parse().map_err(|_| "the time is no number")?);
    let patience = Duration::from_secs(patience.parse().map_err(|_| "the patience is no number")?);
    let current = File::create(current).map_err(|error| format!("cannot write {current}: {error}"))?;
    panic::set_hook(Box::new(|info| println!("{}", info.to_string().replace('\n', ": "))));
    let begun = Arc::new(AtomicU64::new(0));
    watch(Arc::clone(&begun), patience);
    let end = Instant::now() + left;
    let mut check = (subject.start)()?;
    let mut rng = Rng::with_seed(seed);
    let examples = corpus::examples(subject);
    let whole = if begins == WHOLE { examples.clone() } else { Vec::new() };
    let mut whole = whole.into_iter();
    let mut number = 0;
    loop {
        let input = whole.next().unwrap_or_else(|| mutate::input(&mut rng, &examples, subject.words));
        let record = [&(input.len() as u64).to_le_bytes(), input.as_slice()].concat();
        current.write_all_at(&record, 0).map_err(|error| format!("cannot write an input down: {error}"))?;
        number += 1;
        begun.store(number, Ordering::Relaxed);
        let outcome = panic::catch_unwind(AssertUnwindSafe(|| check(&input)));
        let is_found = !matches!(outcome, Ok(Ok(())));
        if let Ok(Err(broken)) = outcome {
            println!("{}", broken.replace('\n', " "));
        }
        if is_found || Instant::now() >= end {
            println!("cases {number}");
            std::process::exit(if is_found { FOUND } else { 0 });
        }
    }
}

/// Ends the process when one case takes too long.
fn watch(begun: Arc<AtomicU64>, patience: Duration) {
    std::thread::spawn(move || {
        let (mut last, mut since) = (0, Instant::now());
        loop {
            std::thread::sleep(patience / 20);
            let now = begun.load(Ordering::Relaxed);
            if now != last || now == 0 {
                (last, since) = (now, Instant::now());
            } else if since.elapsed() > patience {
                println!("it hangs: more than {patience:?} for one input");
                println!("cases {now}");
                std::process::exit(FOUND);
            }
        }
    });
}
