//! `--log-output loki=…`: log lines pushed to Grafana Loki, second by second, as k6 pushes them.
//!
//! Whoever logs leaves a line under a lock and never waits for the network. Memory is bounded: of each period at most
//! `limit` lines are kept, and `ROOM` bytes; what comes beyond is counted, and the count is pushed as a line of its
//! own.

mod form;
pub(crate) mod settings;

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::post::{Address, Poster};
use crate::{OutputError, Tell};

pub use form::LogLine;
use form::{Kept, body};
use settings::LokiSettings;

/// Bytes of lines that wait at most.
const ROOM: usize = 8 << 20;
/// How long the push may take that somebody waits for.
const GRACE: Duration = Duration::from_secs(5);

/// Pushes log lines.
pub struct Loki {
    shared: Arc<Shared>,
}

struct Shared {
    settings: LokiSettings,
    waiting: Mutex<Waiting>,
    /// Somebody asks for a push, or one has ended.
    changed: Condvar,
}

/// The lines of this period, and what became of earlier ones.
#[derive(Default)]
struct Waiting {
    lines: Vec<Kept>,
    bytes: usize,
    /// Beyond the limit, in this period.
    beyond: u64,
    is_over: bool,
    /// Pushes that were asked for, and those of them that have ended.
    asked: u64,
    answered: u64,
    pushed: u64,
    lost: u64,
    /// Of these, how many were told.
    told: u64,
    why: Option<String>,
    longest: Duration,
}

/// What is pushed next.
struct Next {
    lines: Vec<Kept>,
    /// How many lines there were beyond the limit.
    beyond: u64,
    /// Who waits for it.
    asked: Option<u64>,
    is_over: bool,
}

impl Loki {
    /// Starts it. `argument`: what follows `loki=`, empty for all defaults. `tell` hears of the first failure.
    pub fn start(argument: &str, tell: Tell) -> Result<Loki, OutputError> {
        let fail = |why: String| OutputError(format!("--log-output loki={argument}: {why}"));
        let settings = LokiSettings::read(argument).map_err(fail)?;
        let address = settings.address.clone();
        let shared = Arc::new(Shared { settings, waiting: Mutex::default(), changed: Condvar::new() });
        let own = shared.clone();
        let thread =
            std::thread::Builder::new().name(String::from("log-loki")).spawn(move || own.push_on(address, &tell));
        thread.map_err(|error| fail(format!("no thread for it: {error}")))?;
        Ok(Loki { shared })
    }

    /// Whether lines of this level are wanted, by logrus's name.
    pub fn takes(&self, level: &str) -> bool {
        self.shared.settings.takes(level)
    }

    /// Leaves a line.
    pub fn put(&self, line: &LogLine<'_>) {
        let settings = &self.shared.settings;
        let mut waiting = self.shared.waiting();
        if waiting.lines.len() >= settings.limit || waiting.bytes >= ROOM {
            waiting.beyond += 1;
            return;
        }
        let kept = Kept::new(line, settings);
        waiting.bytes += kept.text.len();
        waiting.lines.push(kept);
    }

    /// Pushes what is there, and waits for it; lines about what was lost and, if asked for, about the pushes.
    pub fn flush(&self) -> Vec<String> {
        let mut waiting = self.shared.waiting();
        waiting.asked += 1;
        let asked = waiting.asked;
        self.shared.changed.notify_all();
        let most = GRACE + Duration::from_secs(1);
        let waited = self.shared.changed.wait_timeout_while(waiting, most, |waiting| waiting.answered < asked);
        let mut waiting = waited.unwrap_or_else(PoisonError::into_inner).0;
        let lost = waiting.lost + waiting.lines.len() as u64;
        // What was told as lost may have arrived since.
        let new = lost.saturating_sub(waiting.told);
        waiting.told = waiting.told.max(lost);
        let why = waiting.why.as_deref().unwrap_or("no answer in time");
        let lost = (new > 0).then(|| format!("log lines that could not be pushed to Loki: {new} ({why})"));
        let profile = self.shared.settings.profile.then(|| {
            let (pushed, longest) = (waiting.pushed, waiting.longest.as_millis());
            format!("log lines pushed to Loki: {pushed}; the longest push took {longest} ms")
        });
        lost.into_iter().chain(profile).collect()
    }
}

impl Drop for Loki {
    fn drop(&mut self) {
        self.shared.waiting().is_over = true;
        self.shared.changed.notify_all();
    }
}

impl Shared {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The thread: a push each period, and one at the end.
    fn push_on(&self, address: Address, tell: &Tell) {
        let runtime = wire::event_loop();
        let poster = runtime.map_err(|error| error.to_string()).map(|runtime| (Poster::new(address), runtime));
        let mut is_told = false;
        loop {
            let Next { lines, beyond, asked, is_over } = self.next();
            if !lines.is_empty() || beyond > 0 {
                let (count, body) = (lines.len() as u64, body(lines, beyond, &self.settings));
                let began = Instant::now();
                let timeout = if is_over || asked.is_some() { GRACE } else { self.settings.timeout() };
                let result = match &poster {
                    Ok((Ok(poster), runtime)) => runtime.block_on(async {
                        let late = |_| Err(format!("no answer within {} s", timeout.as_secs()));
                        tokio::time::timeout(timeout, poster.post(body)).await.unwrap_or_else(late)
                    }),
                    Ok((Err(why), _)) | Err(why) => Err(why.clone()),
                };
                self.note(count, result, began.elapsed(), |why| {
                    if !std::mem::replace(&mut is_told, true) {
                        tell(&format!("log lines cannot be pushed to Loki: {why}"));
                    }
                });
            }
            if let Some(asked) = asked {
                self.waiting().answered = asked;
                self.changed.notify_all();
            }
            if is_over {
                return;
            }
        }
    }

    /// Waits for a period, or until somebody asks for a push.
    fn next(&self) -> Next {
        let is_quiet = |waiting: &mut Waiting| !waiting.is_over && waiting.asked == waiting.answered;
        let waited = self.changed.wait_timeout_while(self.waiting(), self.settings.every, is_quiet);
        let mut waiting = waited.unwrap_or_else(PoisonError::into_inner).0;
        waiting.bytes = 0;
        Next {
            lines: std::mem::take(&mut waiting.lines),
            beyond: std::mem::take(&mut waiting.beyond),
            asked: (waiting.asked > waiting.answered).then_some(waiting.asked),
            is_over: waiting.is_over,
        }
    }

    fn note(&self, count: u64, result: Result<(), String>, took: Duration, mut tell: impl FnMut(&str)) {
        let mut waiting = self.waiting();
        waiting.longest = waiting.longest.max(took);
        match result {
            Ok(()) => waiting.pushed += count,
            Err(why) => {
                tell(&why);
                waiting.lost += count;
                waiting.why = Some(why);
            }
        }
    }
}
