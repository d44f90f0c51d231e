//! Which users have arrived at a start, and when it is: one meeting for all virtual users of a scenario that ask for
//! the same one.
//!
//! What is asked and what is answered are plain values (a user's number, an instant of the run's clock), so that users
//! of other processes come to the same meeting where somebody who knows them all says when it begins. Users are on
//! several threads: the list is locked while one comes, and never while one waits. Refuses nobody: late users learn
//! that the start has passed.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Poll, Waker};
use std::time::Duration;

use engine::clock::{AnyClock, Clock};

/// One meeting.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MeetingName {
    /// Position of the scenario.
    pub scenario: usize,
    /// What the script calls it.
    pub name: String,
}

impl fmt::Display for MeetingName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.scenario, self.name)
    }
}

/// What a user brings along. The first one's word counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// How many users are to come.
    pub users: u64,
    /// How long the first one waits for the others.
    pub timeout: Duration,
    /// From when all have come to the start, for the last one to get ready.
    pub lead: Duration,
    /// From the start to the end, if there is one.
    pub length: Option<Duration>,
}

/// The start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// By the run's clock.
    pub at: Duration,
    /// By the same clock.
    pub end: Option<Duration>,
    /// How many had come.
    pub came: u64,
    /// How many had not.
    pub missing: u64,
}

#[derive(Debug)]
struct Meeting {
    terms: Terms,
    deadline: Duration,
    came: BTreeSet<u64>,
    start: Option<Start>,
    waiting: Vec<Waker>,
}

impl Meeting {
    /// Fixes the start when the time is up, or all have come that can come, which a process knows where it is `alone`.
    fn decide(&mut self, now: Duration, alone: bool) -> Option<Start> {
        let came = self.came.len() as u64;
        let are_all_here = alone && came >= self.terms.users;
        debug_assert!(self.start.is_none() || self.waiting.is_empty(), "who comes after the start does not wait");
        if self.start.is_none() && (are_all_here || now >= self.deadline) {
            let at = now + self.terms.lead;
            let end = self.terms.length.map(|length| at + length);
            self.start = Some(Start { at, end, came, missing: self.terms.users.saturating_sub(came) });
            debug_assert!(came > 0, "a meeting is decided by a user who came");
            self.waiting.drain(..).for_each(Waker::wake);
        }
        self.start
    }
}

/// A user that has come to a meeting of several processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attendance {
    /// Which meeting, by a name that all processes give it.
    pub meeting: String,
    /// The user's number in the whole test.
    pub user: u64,
    /// What it brings along.
    pub terms: Terms,
}

/// Tells somebody who knows all processes.
type Tell = Box<dyn Fn(Attendance) + Send + Sync>;

/// When nobody who knows all processes answers, a meeting begins so long after its time was up.
const NOBODY_ANSWERS: Duration = Duration::from_secs(5);

/// The meetings of a process.
#[derive(Default)]
pub struct Meetings {
    all: Mutex<HashMap<MeetingName, Meeting>>,
    /// Where users of other processes come to the same meetings.
    tell: OnceLock<Tell>,
}

impl Meetings {
    fn lock(&self) -> MutexGuard<'_, HashMap<MeetingName, Meeting>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on `tell` hears of everybody who comes, and `begin` says when a meeting begins.
    pub fn go_beyond(&self, tell: impl Fn(Attendance) + Send + Sync + 'static) {
        let _told_before = self.tell.set(Box::new(tell));
    }

    /// A meeting of several processes begins at this time of the run's clock.
    pub fn begin(&self, meeting: &str, at: Duration, came: u64, missing: u64) {
        let mut meetings = self.lock();
        let found = meetings.iter_mut().find(|(name, _)| name.to_string() == meeting);
        if let Some((_, meeting)) = found.filter(|(_, meeting)| meeting.start.is_none()) {
            let end = meeting.terms.length.map(|length| at + length);
            debug_assert!(!meeting.came.is_empty(), "a meeting is made by who comes to it");
            meeting.start = Some(Start { at, end, came, missing });
            meeting.waiting.drain(..).for_each(Waker::wake);
        }
    }

    /// Comes, waits for the others, and returns at the start.
    pub async fn meet(&self, name: &MeetingName, user: u64, terms: Terms, clock: &AnyClock) -> Start {
        let alone = self.tell.get().is_none();
        let grace = if alone { Duration::ZERO } else { NOBODY_ANSWERS };
        let (deadline, has_begun) = {
            let (mut meetings, now) = (self.lock(), clock.now());
            let meeting = meetings.entry(name.clone()).or_insert_with(|| Meeting {
                terms,
                deadline: now + terms.timeout + grace,
                came: BTreeSet::new(),
                start: None,
                waiting: Vec::new(),
            });
            meeting.came.insert(user);
            debug_assert!(meeting.start.is_none() || meeting.waiting.is_empty(), "a meeting that began holds no user");
            (meeting.deadline, meeting.start.is_some())
        };
        if let Some(tell) = self.tell.get().filter(|_| !has_begun) {
            tell(Attendance { meeting: name.to_string(), user, terms });
        }
        let mut time_up = pin!(clock.sleep_until(deadline));
        let start = poll_fn(|cx| {
            let is_up = time_up.as_mut().poll(cx).is_ready();
            let mut meetings = self.lock();
            let meeting = meetings.get_mut(name).expect("it was put there and stays");
            let now = if is_up { clock.now().max(deadline) } else { clock.now() };
            match meeting.decide(now, alone) {
                Some(start) => Poll::Ready(start),
                None => {
                    meeting.waiting.push(cx.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await;
        clock.sleep_until(start.at).await;
        start
    }

    /// The start of a meeting, once it is fixed.
    pub fn start_of(&self, name: &MeetingName) -> Option<Start> {
        self.lock().get(name).and_then(|meeting| meeting.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> MeetingName {
        MeetingName { scenario: 0, name: text.to_owned() }
    }

    fn terms(users: u64, timeout_ms: u64) -> Terms {
        let lead = Duration::from_millis(5);
        Terms { users, timeout: Duration::from_millis(timeout_ms), lead, length: Some(Duration::from_secs(9)) }
    }

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        wire::event_loop().unwrap().block_on(future)
    }

    #[test]
    fn users_of_all_threads_have_one_start_and_nobody_is_ahead_of_it() {
        let meetings = Meetings::default();
        let origin = engine::clock::Origin::now();
        let starts: Vec<Start> = std::thread::scope(|scope| {
            let threads: Vec<_> = (1..=4)
                .map(|user| {
                    let meetings = &meetings;
                    scope.spawn(move || {
                        block_on(async {
                            let clock = AnyClock::Real(engine::clock::RealClock::new(origin));
                            clock.sleep(Duration::from_millis(7 * user)).await;
                            let start = meetings.meet(&name(""), user, terms(4, 60_000), &clock).await;
                            assert!(clock.now() >= start.at);
                            start
                        })
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(starts.iter().all(|start| *start == starts[0]), "{starts:?}");
        assert_eq!((starts[0].came, starts[0].missing), (4, 0));
        assert_eq!(starts[0].end, Some(starts[0].at + Duration::from_secs(9)));
        assert_eq!(meetings.start_of(&name("")), Some(starts[0]));
        assert_eq!(meetings.start_of(&name("other")), None);
    }

    #[test]
    fn who_meets_users_of_other_processes_waits_for_the_word_of_somebody_who_knows_them_all() {
        let meetings = Meetings::default();
        let told = std::sync::Arc::new(Mutex::new(Vec::new()));
        let hear = told.clone();
        meetings.go_beyond(move |arrival| hear.lock().unwrap().push(arrival));
        let clock = AnyClock::real();
        block_on(async {
            let (own, terms) = (name("x"), terms(1, 60_000));
            let begin = async {
                clock.sleep(Duration::from_millis(20)).await;
                assert_eq!(meetings.start_of(&own), None, "one of one has come, and that is not for it to judge");
                meetings.begin("0 another", clock.now(), 9, 9);
                meetings.begin("0 x", clock.now() + Duration::from_millis(5), 7, 1);
            };
            let (start, ()) = tokio::join!(meetings.meet(&own, 3, terms, &clock), begin);
            assert_eq!((start.came, start.missing), (7, 1));
            assert_eq!(*told.lock().unwrap(), [Attendance { meeting: "0 x".into(), user: 3, terms }]);
            assert_eq!(meetings.meet(&own, 4, terms, &clock).await, start);
            assert_eq!(told.lock().unwrap().len(), 1, "what has begun needs no word");
        });
    }

    #[test]
    fn whoever_has_come_starts_when_the_time_is_up() {
        let meetings = Meetings::default();
        let clock = AnyClock::real();
        block_on(async {
            let (name, terms) = (name("x"), terms(3, 30));
            let meet = |user| meetings.meet(&name, user, terms, &clock);
            let (one, other) = tokio::join!(meet(1), meet(2));
            assert_eq!((one.came, one.missing, one), (2, 1, other));
            assert_eq!(meetings.meet(&name, 3, terms, &clock).await, one, "who comes later is told of the same start");
        });
    }
}
