//! A server's own statistics: asked of a URL, or printed by a command.
//!
//! Asked in HTTP/1.0, so that the body ends with the connection. What cannot be read is told with the run, which goes
//! on.

use std::io::Read;
use std::time::Duration;

use report::matrix::plan::{Command, Stats};
use report::matrix::server_stats::{self, Reading};

use super::load::Load;
use super::server::{Running, ask, plan_command, told};
use crate::commands::groups::guard::Guard;
use crate::commands::groups::process::to_its_end;

/// How long a command may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// Statistics are no downloads.
const MOST_BYTES: u64 = 4 << 20;

/// Reads what the server of a run tells now.
pub fn read(stats: &Stats, load: &Load<'_>, running: &Running) -> Result<Reading, String> {
    let text = match (&stats.url, &stats.command) {
        (Some(url), _) => get(url)?,
        (None, Some(command)) => printed(command, load, running, load.guard)?,
        (None, None) => return Err(String::from("the plan has neither url nor command")),
    };
    server_stats::read(&text)
}

fn get(url: &str) -> Result<String, String> {
    let (stream, status) = ask(url, "1.0")?;
    let mut rest = Vec::new();
    stream.take(MOST_BYTES).read_to_end(&mut rest).map_err(|error| format!("{url}: {error}"))?;
    if status != 200 {
        return Err(format!("{url}: it answered with status {status}, expected 200"));
    }
    let text = String::from_utf8_lossy(&rest);
    match text.split_once("\r\n\r\n") {
        Some((_, body)) => Ok(body.to_owned()),
        None => Err(format!("{url}: the answer has no body")),
    }
}

fn printed(command: &Command, load: &Load<'_>, running: &Running, guard: &Guard) -> Result<String, String> {
    let what = match command {
        Command::Line(line) => line.clone(),
        Command::Words(words) => words.join(" "),
    };
    let mut command = plan_command(command);
    command.current_dir(&load.places.folder).envs(told(load.part, load.cell, &running.names));
    to_its_end(&command, &what, load.places.scratch.join("stats.log"), guard, PATIENCE)
}
