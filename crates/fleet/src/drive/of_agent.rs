//! An agent's thread: its connection, made anew when it breaks, beside the program that runs the test.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::agent::{Agent, AgentEvent, Frames};
use crate::backing::{ConnectError, Line};
use crate::message::{Arrival, Report};
use crate::{Ns, clock};

/// Between two attempts to connect: short at first, for a coordinator that is about to listen.
const RETRY: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));

/// What happens on the agent's side.
#[derive(Debug)]
pub enum Local {
    /// The test is loaded and so many users are made.
    Prepared(u64),
    /// The test cannot run here; the exit code that says so.
    Refused(String, u8),
    /// The scenarios have begun, so long after the instant.
    Started(Ns),
    /// A virtual user has come to a meeting.
    Arrives(Arrival),
    /// It follows a change of the load; heard so long after the moment from which it holds.
    Changed(u64, Ns),
    /// A frame is kept.
    Closed,
    /// A line for the coordinator's log.
    Said(u8, String),
    /// Its part is over.
    Ended(Vec<u8>),
    /// The program wants no more of it.
    Leave,
}

/// An agent at work.
pub struct AgentThread {
    locals: UnboundedSender<Local>,
    thread: Option<JoinHandle<()>>,
}

impl AgentThread {
    /// Starts it, and says where to hear of what happens. It gives up when it has been without a connection for
    /// `patience`: until the first one, and later.
    pub fn start<L: Line>(
        agent: Agent,
        line: L,
        frames: Frames,
        patience: (Duration, Duration),
    ) -> Result<(AgentThread, Receiver<AgentEvent>), String> {
        let runtime = runtime()?;
        let (locals, happened) = unbounded_channel();
        let (tell, events) = channel();
        let work = move || {
            let life = Life { agent, line, frames, patience, locals: happened, tell, is_leaving: false };
            runtime.block_on(life.run());
        };
        let thread = std::thread::Builder::new().name(String::from("agent")).spawn(work);
        let thread = thread.map_err(|error| format!("cannot start the agent's thread: {error}"))?;
        Ok((AgentThread { locals, thread: Some(thread) }, events))
    }

    /// Tells what has happened here.
    pub fn tell(&self, local: Local) {
        let _ended = self.locals.send(local);
    }

    /// For other threads that have something to tell.
    pub fn teller(&self) -> impl Fn(Local) + Send + Sync + use<> {
        let locals = self.locals.clone();
        move |local| drop(locals.send(local))
    }

    /// Ends the connection.
    pub fn finish(mut self) {
        self.tell(Local::Leave);
        if let Some(thread) = self.thread.take() {
            let _panicked = thread.join();
        }
    }
}

pub(super) fn runtime() -> Result<Runtime, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| format!("cannot make an event loop: {error}"))
}

struct Life<L> {
    agent: Agent,
    line: L,
    frames: Frames,
    patience: (Duration, Duration),
    locals: UnboundedReceiver<Local>,
    tell: Sender<AgentEvent>,
    is_leaving: bool,
}

impl<L: Line> Life<L> {
    async fn run(mut self) {
        let mut alone_since = clock::now();
        let mut retry = RETRY.0;
        let mut patience = self.patience.0;
        while !self.is_leaving {
            match self.line.connect().await {
                Ok(()) => {
                    self.agent.connected();
                    if self.talk().await {
                        return;
                    }
                    self.agent.disconnected();
                    (alone_since, retry, patience) = (clock::now(), RETRY.0, self.patience.1);
                }
                Err(ConnectError::Ever(why)) => return self.give_up(why),
                Err(ConnectError::Now(why)) => {
                    let alone = Duration::from_nanos(clock::now().saturating_sub(alone_since));
                    if alone > patience {
                        return self.give_up(format!("{why}; given up after {:.0} s", alone.as_secs_f64()));
                    }
                }
            }
            self.wait(retry).await;
            retry = (retry * 2).min(RETRY.1);
        }
    }

    /// Nobody to talk to; what happens here goes on.
    async fn wait(&mut self, time: Duration) {
        let end = tokio::time::sleep(time);
        tokio::pin!(end);
        loop {
            tokio::select! {
                () = &mut end => return,
                local = self.locals.recv() => self.take_local(local),
            }
            if self.is_leaving {
                return;
            }
        }
    }

    /// As long as the connection stands; true when nothing more is to be said.
    async fn talk(&mut self) -> bool {
        loop {
            self.agent.send_frames(&mut *self.frames);
            while let Some(report) = self.agent.next_report() {
                if !self.line.send(report).await {
                    return false;
                }
            }
            if self.pass_on() {
                return true;
            }
            tokio::select! {
                biased;
                order = self.line.next() => match order {
                    Some((order, at)) => self.agent.take(order, at),
                    None => return false,
                },
                local = self.locals.recv() => self.take_local(local),
            }
            if self.is_leaving {
                while let Some(report) = self.agent.next_report() {
                    if matches!(report, Report::Refused { .. } | Report::Said { .. }) {
                        self.line.send(report).await;
                    }
                }
                return true;
            }
        }
    }

    /// True when the coordinator has said its last word.
    fn pass_on(&mut self) -> bool {
        let mut is_last = false;
        while let Some(event) = self.agent.next_event() {
            is_last |= matches!(event, AgentEvent::Dismissed | AgentEvent::Refused(_));
            let _gone = self.tell.send(event);
        }
        is_last
    }

    fn take_local(&mut self, local: Option<Local>) {
        match local {
            Some(Local::Prepared(users)) => self.agent.prepared(users),
            Some(Local::Refused(why, code)) => self.agent.refuse(why, code),
            Some(Local::Started(late)) => self.agent.started(late),
            Some(Local::Arrives(arrival)) => self.agent.arrives(arrival),
            Some(Local::Changed(number, late)) => self.agent.changed(number, late),
            Some(Local::Closed) => self.agent.closed_frame(),
            Some(Local::Said(level, text)) => self.agent.log(level, text),
            Some(Local::Ended(outcome)) => self.agent.ended(outcome),
            Some(Local::Leave) | None => self.is_leaving = true,
        }
    }

    fn give_up(self, why: String) {
        let _gone = self.tell.send(AgentEvent::Refused(why));
    }
}
