//! How many bytes a user takes that waits: two runs with different numbers of users, subtracted.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::served::{Served, interrupt};

/// A way to wait.
pub(crate) struct Waiting {
    /// Its name on the command line and in the budgets.
    pub(crate) name: &'static str,
    script: &'static str,
    is_tls: bool,
}

pub(crate) const WAITING: [Waiting; 3] = [
    Waiting { name: "waiting", script: include_str!("../scripts/wait.js"), is_tls: false },
    Waiting { name: "waiting-tls", script: include_str!("../scripts/wait.js"), is_tls: true },
    Waiting { name: "waiting-websocket", script: include_str!("../scripts/wait_websocket.js"), is_tls: false },
];

const USERS: (u64, u64) = (100, 1_100);
const PATIENCE: Duration = Duration::from_secs(120);
/// Allocations of the first iterations settle.
const SETTLING: Duration = Duration::from_secs(2);

impl Waiting {
    /// Bytes of a further user.
    pub(crate) fn count(&self, onrush: &Path, folder: &Path) -> Result<u64, String> {
        let script = crate::write(folder, self.name, self.script)?;
        let few = self.resident(onrush, &script, USERS.0)?;
        let many = self.resident(onrush, &script, USERS.1)?;
        Ok(many.saturating_sub(few) / (USERS.1 - USERS.0))
    }

    /// Bytes of the process when all users wait.
    fn resident(&self, onrush: &Path, script: &Path, users: u64) -> Result<u64, String> {
        let served = Served::start(Command::new(onrush), None)?;
        let mut command = Command::new(onrush);
        command.args(["run", "-q", "--workers", "1", "-u"]).arg(users.to_string());
        command.args(["-d", "10m", "-e"]).arg(format!("URL={}", served.url(self.is_tls))).arg(script);
        // HTTP/1.1, also over TLS.
        command.env("GODEBUG", "http2client=0");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| format!("cannot run {}: {error}", onrush.display()))?;
        let found = wait_for(&served, &mut child, users).and_then(|()| {
            std::thread::sleep(SETTLING);
            proportional(child.id())
        });
        // Iterations under way would be waited for: there is nothing to keep of this run.
        let _ = child.kill();
        let _ = child.wait();
        served.stop()?;
        found
    }
}

fn wait_for(served: &Served, child: &mut Child, users: u64) -> Result<(), String> {
    let end = Instant::now() + PATIENCE;
    loop {
        let requests = served.stats()?["requests"].as_u64().unwrap_or_default();
        if requests >= users {
            return Ok(());
        }
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            return Err(format!("the run ended before its users waited: {status}"));
        }
        if Instant::now() > end {
            interrupt(child)?;
            return Err(format!("{requests} of {users} users have asked the server in {} s", PATIENCE.as_secs()));
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// The line `Pss:` of smaps_rollup, in bytes.
fn proportional(pid: u32) -> Result<u64, String> {
    let path = format!("/proc/{pid}/smaps_rollup");
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"));
    let kib = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    kib.map(|kib| kib * 1024).ok_or_else(|| format!("{path} has no line Pss: {text}"))
}
