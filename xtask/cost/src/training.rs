//! Runs every workload for a profile: what the compiler shall take for usual.
//!
//! Both ends are the instrumented binary, which writes down how often each branch was taken when it ends.

use std::path::Path;
use std::process::Command;

use crate::served::Served;
use crate::workload::{APP, Amount, Counted, WORKLOADS, Workload};
use crate::{generate, write};

/// Iterations (or messages of all users) of a workload beyond those that are counted: enough that start and end of a
/// run do not look usual.
const TIMES: u32 = 4;

/// Runs the workloads with this binary, whose processes write their counts to the folder that it was built with.
pub fn train(root: &Path, onrush: &Path) -> Result<(), String> {
    let folder = root.join("target/pgo/training");
    std::fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    let folder = folder.canonicalize().map_err(|error| format!("{}: {error}", folder.display()))?;
    for workload in &WORKLOADS {
        println!("training: {}", workload.name);
        run(onrush, &folder, workload)?;
    }
    Ok(())
}

fn run(onrush: &Path, folder: &Path, workload: &Workload) -> Result<(), String> {
    let app = match workload.counted {
        Counted::App => Some(write(folder, "app", APP)?),
        Counted::Generator | Counted::Routes => None,
    };
    let count = match workload.amount {
        Amount::Scheduled => workload.counts.1,
        Amount::Iterations | Amount::Messages => workload.counts.1 * TIMES,
    };
    let served = Served::start(Command::new(onrush), app.as_deref())?;
    let url = served.url(workload.carrier.is_tls()).to_owned();
    generate(Command::new(onrush), folder, workload, count, &url)?;
    served.stop()
}
