//! The coordinator's thread.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::backing::{Hub, Incoming};
use crate::clock;
use crate::coordinator::{Coordinator, Event};

/// How often the machine looks at the time.
const LOOK: Duration = Duration::from_millis(50);

/// How long somebody who may not have heard of the end is waited for: agents connect anew once a second.
const DISMISSAL_PATIENCE: Duration = Duration::from_secs(3);

/// What the program wants.
#[derive(Debug)]
pub enum Command {
    /// `setup()` has returned this.
    HandOut(Option<String>),
    /// The load changes, as the program has written it.
    Change(Vec<u8>),
    /// The test ends early, with a cause that the program has written.
    Stop(Vec<u8>),
    /// Everything is here: lets the agents go and ends the thread.
    Dismiss,
}

/// Writes down what has to outlive the process.
pub type Keep = Box<dyn FnMut(&Event) + Send>;

/// A coordinator at work.
pub struct CoordinatorThread {
    commands: UnboundedSender<Command>,
    events: Receiver<Event>,
    thread: Option<JoinHandle<()>>,
}

impl CoordinatorThread {
    /// Starts it; `open` makes the backing, within the thread's runtime.
    ///
    /// `keep` sees each event before anything is sent that follows from it: what has to outlive this process is written
    /// down there.
    pub fn start<H: Hub, O>(coordinator: Coordinator, open: O, keep: Keep) -> Result<CoordinatorThread, String>
    where
        O: AsyncFnOnce() -> Result<H, String> + Send + 'static,
    {
        let (commands, wanted) = unbounded_channel();
        let (tell, events) = channel();
        let (report, is_open) = channel();
        let work = move || {
            let runtime = match super::of_agent::runtime() {
                Ok(runtime) => runtime,
                Err(error) => return drop(report.send(Err(error))),
            };
            runtime.block_on(async move {
                match open().await {
                    Ok(hub) => {
                        let _ = report.send(Ok(()));
                        run(coordinator, hub, wanted, (keep, tell)).await;
                    }
                    Err(error) => drop(report.send(Err(error))),
                }
            });
        };
        let thread = std::thread::Builder::new().name(String::from("coordinator")).spawn(work);
        let thread = thread.map_err(|error| format!("cannot start the coordinator's thread: {error}"))?;
        is_open.recv().unwrap_or_else(|_| Err(String::from("the coordinator's thread has ended")))?;
        Ok(CoordinatorThread { commands, events, thread: Some(thread) })
    }

    /// Tells the coordinator.
    pub fn tell(&self, command: Command) {
        // A thread that has ended has no use for it.
        let _ended = self.commands.send(command);
    }

    /// What has happened, within this time.
    pub fn event(&self, within: Duration) -> Option<Event> {
        self.events.recv_timeout(within).ok()
    }

    /// Lets the agents go, and waits until they have heard of it.
    pub fn finish(mut self) {
        self.tell(Command::Dismiss);
        if let Some(thread) = self.thread.take() {
            let _panicked = thread.join();
        }
    }
}

async fn run<H: Hub>(
    mut coordinator: Coordinator,
    mut hub: H,
    mut commands: UnboundedReceiver<Command>,
    (mut keep, tell): (Keep, Sender<Event>),
) {
    let mut looks = tokio::time::interval(LOOK);
    loop {
        tokio::select! {
            biased;
            incoming = hub.next() => match incoming {
                Incoming::Report(link, report, at) => coordinator.take(link, report, at),
                Incoming::PingLeft(link, number, at) => coordinator.ping_left(link, number, at),
                Incoming::Left(link) => coordinator.left(link, clock::now()),
                Incoming::Unreachable(why) => coordinator.unreachable(why, clock::now()),
                Incoming::Reachable => coordinator.reachable(clock::now()),
            },
            command = commands.recv() => match command {
                Some(Command::HandOut(data)) => coordinator.hand_out(data),
                Some(Command::Change(content)) => coordinator.change(content),
                Some(Command::Stop(cause)) => coordinator.stop(cause),
                Some(Command::Dismiss) | None => {
                    coordinator.dismiss();
                    send(&mut coordinator, &mut hub);
                    let late = dismiss_late(&mut coordinator, &mut hub);
                    let _nobody_came = tokio::time::timeout(DISMISSAL_PATIENCE, late).await;
                    return hub.flush().await;
                }
            },
            _ = looks.tick() => coordinator.tick(clock::now()),
        }
        while let Some(event) = coordinator.next_event() {
            keep(&event);
            let _gone = tell.send(event);
        }
        send(&mut coordinator, &mut hub);
    }
}

/// Waits for those whose connection broke just before the end.
async fn dismiss_late(coordinator: &mut Coordinator, hub: &mut impl Hub) {
    while coordinator.owes_a_dismissal() {
        match hub.next().await {
            Incoming::Report(link, report, at) => coordinator.take(link, report, at),
            Incoming::Left(link) => coordinator.left(link, clock::now()),
            Incoming::PingLeft(..) | Incoming::Unreachable(_) | Incoming::Reachable => {}
        }
        send(coordinator, hub);
    }
}

fn send(coordinator: &mut Coordinator, hub: &mut impl Hub) {
    while let Some((link, order)) = coordinator.next_order() {
        hub.send(link, order);
    }
    while let Some(link) = coordinator.next_closing() {
        hub.close(link);
    }
}
