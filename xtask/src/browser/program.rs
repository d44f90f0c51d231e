//! Programs that run to their end, or not for ever.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A browser that takes longer hangs.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Runs a command to its end: exit code, standard output, standard error.
pub fn finish(mut command: Command) -> Result<(Option<i32>, String, String), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let cannot = |error: std::io::Error| format!("cannot run {program}: {error}");
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(cannot)?;
    let drain = |from: Option<Box<dyn std::io::Read + Send>>| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            from.map(|mut from| from.read_to_end(&mut bytes));
            String::from_utf8_lossy(&bytes).into_owned()
        })
    };
    let out = drain(child.stdout.take().map(|pipe| Box::new(pipe) as _));
    let err = drain(child.stderr.take().map(|pipe| Box::new(pipe) as _));
    let end = Instant::now() + PATIENCE;
    let status = loop {
        match child.try_wait().map_err(cannot)? {
            Some(status) => break status,
            None if Instant::now() > end => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("{program} hangs"));
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    let read = |thread: std::thread::JoinHandle<String>| thread.join().unwrap_or_default();
    Ok((status.code(), read(out), read(err)))
}
