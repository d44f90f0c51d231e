//! `onrush k8s`: the objects by which Kubernetes runs a test on many machines. A Job is the coordinator, whose Pod's
//! exit code is the verdict; an Indexed Job has the agents, which join it. The test goes along in a Secret.

mod cluster_run;
mod joining;
mod manifest;
mod yaml;

use std::io::Write;
use std::process::{Command as Process, Stdio};
use std::time::Duration;

use clap::ArgMatches;
use serde_json::json;

use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::{json_answer, output};

use cluster_run::ClusterRun;
pub use cluster_run::command;
use joining::Joining;
use manifest::CarriedTest;

/// What the API server takes as the data of one Secret.
const MOST_OF_A_SECRET: usize = 1 << 20;

/// How a test becomes an archive: its bytes, and the longest that it takes.
type Packing = fn(&ArgMatches) -> Result<(Vec<u8>, Duration), Failure>;

/// Prints the objects, or applies them.
pub fn main(matches: &ArgMatches, packing: Packing) -> Result<ExitCode, Failure> {
    let run = ClusterRun::read(matches)?;
    let packed = if run.archive_at.is_none() { Some(packing(matches)?) } else { None };
    let (archive, longest) = packed.unzip();
    if let Some(archive) = archive.as_ref().filter(|archive| archive.len() > MOST_OF_A_SECRET) {
        return Err(too_large(archive.len()));
    }
    let joining = Joining::make(&run.join_address())?;
    let objects = manifest::objects(&run, &CarriedTest { archive, longest }, &joining);
    if json_answer::is_wanted(matches) {
        return json_answer::print(&json!({ "apiVersion": "v1", "kind": "List", "items": objects }));
    }
    let text = format!("{}{}", run.heading(), yaml::documents(&objects));
    if matches.get_flag("apply") { apply(&run, &text) } else { output::answer(&text) }
}

fn too_large(bytes: usize) -> Failure {
    let text = format!(
        "the test's archive has {:.1} MiB, and a Secret takes 1 MiB at most: make the archive with `onrush archive`, \
         put it into the image or on a PersistentVolumeClaim, and name its place with --archive-at PATH (and --claim \
         NAME, which is mounted at /data)",
        bytes as f64 / f64::from(1 << 20)
    );
    Failure::new(ExitCode::Generic, text)
}

/// Hands the objects to kubectl, and says what comes next.
fn apply(run: &ClusterRun, text: &str) -> Result<ExitCode, Failure> {
    let failed = |why: String| Failure::new(ExitCode::Generic, why);
    let mut kubectl = Process::new("kubectl");
    // By the server: what kubectl keeps for its own way of applying is limited to 256 KiB.
    kubectl.args(["apply", "--server-side", "-f", "-"]).stdin(Stdio::piped());
    let mut child = kubectl.spawn().map_err(|error| {
        failed(format!("--apply: cannot run kubectl: {error}; without --apply the objects are printed"))
    })?;
    let written = child.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all(text.as_bytes()));
    let status = child.wait().map_err(|error| failed(format!("kubectl: {error}")))?;
    if !status.success() {
        return Err(failed(format!("kubectl apply did not succeed: {status}")));
    }
    written.map_err(|error| failed(format!("kubectl did not take the objects: {error}")))?;
    let lines = run.heading();
    let next: String = lines.lines().skip(3).map(|line| format!("{}\n", line.trim_start_matches("# "))).collect();
    output::answer(&next)
}
