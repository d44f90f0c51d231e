//! SIGINT, SIGTERM and SIGHUP, heard on a thread of its own so that a busy test cannot miss them.
//!
//! A SIGHUP that is ignored when the process starts stays ignored: that is what `nohup` asks for.

use std::sync::mpsc::Sender;

use tokio::signal::unix::{SignalKind, signal};

use crate::exit_code::ExitCode;
use crate::failure::Failure;

/// Listens from now on; what it gives blocks until one of the signals has come.
pub fn one() -> Result<impl FnOnce(), Failure> {
    let (sender, receiver) = std::sync::mpsc::channel();
    listen(move |name| sender.send(name).is_ok())?;
    Ok(move || {
        let _ = receiver.recv();
    })
}

/// Calls `heard` with the name of each signal until it returns false.
pub fn listen(mut heard: impl FnMut(&'static str) -> bool + Send + 'static) -> Result<(), Failure> {
    let (ready, is_ready) = std::sync::mpsc::channel();
    let spawned = std::thread::Builder::new().name(String::from("signals")).spawn(move || {
        let Ok(runtime) = wire::event_loop() else { return };
        runtime.block_on(hear(&mut heard, ready));
    });
    spawned.map_err(|e| Failure::new(ExitCode::Generic, format!("cannot start the signal thread: {e}")))?;
    let _ = is_ready.recv();
    Ok(())
}

async fn hear(heard: &mut impl FnMut(&'static str) -> bool, ready: Sender<()>) {
    let (Ok(mut interrupt), Ok(mut terminate)) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        return;
    };
    let mut hangup = if ignores_hangup() { None } else { signal(SignalKind::hangup()).ok() };
    let _ = ready.send(());
    loop {
        let hung_up = async {
            match &mut hangup {
                Some(hangup) => hangup.recv().await,
                None => std::future::pending().await,
            }
        };
        let name = tokio::select! {
            _ = interrupt.recv() => "SIGINT",
            _ = terminate.recv() => "SIGTERM",
            _ = hung_up => "SIGHUP",
        };
        if !heard(name) {
            return;
        }
    }
}

/// Whether the process that started this one ignored SIGHUP.
fn ignores_hangup() -> bool {
    std::fs::read_to_string("/proc/self/status").is_ok_and(|status| ignored(&status).is_some_and(|mask| mask & 1 == 1))
}

/// The ignored signals of /proc/self/status, signal 1 in the lowest bit.
fn ignored(status: &str) -> Option<u64> {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(mask.trim(), 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mask_of_ignored_signals_is_read() {
        assert_eq!(ignored("SigBlk:\t0000000000000000\nSigIgn:\t0000000000001001\n"), Some(0x1001));
        assert_eq!(ignored("Name:\tonrush\n"), None);
    }
}
