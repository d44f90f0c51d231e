//! SIGINT and SIGTERM, heard on a thread of its own so that a busy test cannot miss them.

use std::sync::mpsc::Sender;

use tokio::signal::unix::{SignalKind, signal};

use crate::exit_code::ExitCode;
use crate::failure::Failure;

/// Listens from now on; what it gives blocks until SIGINT or SIGTERM has come.
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
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
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
    let _ = ready.send(());
    loop {
        let name = tokio::select! {
            _ = interrupt.recv() => "SIGINT",
            _ = terminate.recv() => "SIGTERM",
        };
        if !heard(name) {
            return;
        }
    }
}
