//! The whole machine in simulated time, from a seed: engine, client, recorder, journal and outputs of the product over
//! a network, a server and a disk that do what can go wrong.
//!
//! The product's own code runs from the plan of scenarios down to the socket, and up to the journal and the files of
//! samples; below the socket `wire::simulated` puts a world. What is left out is QuickJS with the modules of scripts,
//! TLS, HTTP/2 and WebSocket. `judge` says what must hold whatever happens; a failure is told with its seed.

mod cable;
mod case;
mod disk;
mod judge;
mod lane;
mod ledger;
mod network;
mod options;
mod plan;
mod run;
mod server;
mod user;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};

use case::Case;
use options::Options;

pub use run::Tally;

/// Runs the case of a seed and judges it; the error says what did not hold.
pub fn try_seed(seed: u64) -> Result<Tally, String> {
    let case = Case::of(seed);
    let ran = catch_unwind(AssertUnwindSafe(|| run::run(&case))).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        Err(format!("panicked: {}", text.unwrap_or("without a text")))
    });
    ran.map_err(|what| format!("seed {seed}: {what}\n{case:?}\nrepeat it: cargo xtask world --seed {seed}"))
}

/// The arguments are those of `cargo xtask world`; the error says which seeds failed.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let options = Options::read(arguments)?;
    let (began, mut tally, mut failed) = (std::time::Instant::now(), Tally::default(), Vec::new());
    for seed in options.seeds.clone() {
        match try_seed(seed) {
            Ok(world) => tally.add(&world),
            Err(what) => {
                println!("{what}\n");
                failed.push(seed);
            }
        }
        let done = seed - options.seeds.start + 1;
        if done.is_multiple_of(20_000) {
            println!("{done} seeds in {:.0} s, {} failed; {tally:?}", began.elapsed().as_secs_f64(), failed.len());
        }
        if failed.len() >= options.most_failed {
            return Err(format!("seeds that failed: {failed:?}; the others were not tried"));
        }
    }
    println!("{:.1} s: {tally:?}", began.elapsed().as_secs_f64());
    if failed.is_empty() { Ok(()) } else { Err(format!("seeds that failed: {failed:?}")) }
}
