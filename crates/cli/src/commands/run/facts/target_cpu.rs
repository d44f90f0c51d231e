//! CPU that the target used, where it runs on this machine: beside the generator's it says whose the limit was.
//!
//! Of `--serve` those are threads of this process. Otherwise it is whoever listens at the one port of a loopback
//! address that requests went to, with its children. Whoever only passes bytes on is no target, and of several ports
//! nobody knows which is meant: then nothing is said. The processes are looked up once, and again when they have ended;
//! more and more seldom while there are none, because a table of many connections takes long to read.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use journal::TargetSecond;
use report::limit::TargetUse;

use crate::process::listening;

/// Programs that listen for somebody elsewhere.
const FORWARDERS: [&str; 8] =
    ["docker-proxy", "rootlessport", "slirp4netns", "gvproxy", "ssh", "kubectl", "socat", "vpnkit-bridge"];
/// How the target's threads in this process are called.
const OWN_THREADS: &str = "target-";
/// Of the kernel's clock ticks, which are the same on every architecture.
const TICK: Duration = Duration::from_millis(10);

/// The target, as far as it is known.
pub struct TargetCpu {
    is_own: bool,
    found: Option<Found>,
    lookups: Lookups,
    /// At the last two ticks.
    marks: VecDeque<CpuMark>,
    sum: Sum,
}

/// When processes that were not found are looked up again: after 1, 2, 4 … looks.
#[derive(Default)]
struct Lookups {
    pause: u32,
    left: u32,
}

impl Lookups {
    fn is_due(&mut self) -> bool {
        if self.left > 0 {
            self.left -= 1;
            return false;
        }
        self.pause = (self.pause * 2).clamp(1, 64);
        self.left = self.pause - 1;
        true
    }
}

/// Sums of all looks: of figures that were known, with their number.
#[derive(Default)]
struct Sum {
    cores: (f64, u32),
    busiest_thread: (f64, u32),
    waited: (f64, u32),
}

impl Sum {
    fn add(&mut self, second: &TargetSecond) {
        let figures = [Some(second.cores), second.busiest_thread, second.waited];
        for (sum, figure) in [&mut self.cores, &mut self.busiest_thread, &mut self.waited].into_iter().zip(figures) {
            if let Some(figure) = figure {
                *sum = (sum.0 + figure, sum.1 + 1);
            }
        }
    }
}

struct Found {
    name: String,
    clocks: Vec<Clock>,
}

/// What tells how much CPU a part of the target has used.
#[derive(Debug)]
enum Clock {
    /// `/proc/self/task/…/schedstat`.
    Thread(PathBuf),
    /// `/proc/…/stat`.
    Process(PathBuf),
}

struct CpuMark {
    at: Instant,
    used: Vec<Option<Duration>>,
    threads: BTreeMap<PathBuf, ThreadMark>,
}

/// What a thread has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct ThreadMark {
    ran: Duration,
    /// Ready to run, without a core.
    waited: Duration,
}

/// A target with more threads has none that is alone its limit, and reading them would take time.
const MOST_THREADS: usize = 256;

impl TargetCpu {
    /// `is_own`: `--serve` started it.
    pub fn new(is_own: bool) -> TargetCpu {
        TargetCpu { is_own, found: None, lookups: Lookups::default(), marks: VecDeque::new(), sum: Sum::default() }
    }

    /// Whose CPU it is; none as long as nobody is known.
    pub fn name(&self) -> Option<&str> {
        self.found.as_ref().map(|found| &*found.name)
    }

    /// What it used on average; none where nothing was seen.
    pub fn used(&self) -> Option<TargetUse> {
        let mean = |(sum, count): (f64, u32)| (count > 0).then(|| sum / f64::from(count));
        Some(TargetUse {
            name: self.name()?.to_owned(),
            cores: mean(self.sum.cores)?,
            busiest: mean(self.sum.busiest_thread),
            waited: mean(self.sum.waited),
        })
    }

    /// What it used since the last look but one. `port`: the only one of this machine that requests went to.
    pub fn look(&mut self, port: Option<u16>) -> Option<TargetSecond> {
        if self.found.is_none() {
            self.found = if self.is_own { own() } else { port.filter(|_| self.lookups.is_due()).and_then(at_port) };
        }
        let clocks = &self.found.as_ref()?.clocks;
        let mark = CpuMark {
            at: Instant::now(),
            used: clocks.iter().map(Clock::read).collect(),
            threads: clocks.iter().flat_map(Clock::threads).take(MOST_THREADS + 1).collect(),
        };
        if mark.used.iter().all(Option::is_none) {
            // It has ended, and may have been started again.
            (self.found, self.marks, self.lookups) = (None, VecDeque::new(), Lookups::default());
            return None;
        }
        let used = self.marks.front().map(|before| mark.since(before));
        used.iter().for_each(|used| self.sum.add(used));
        self.marks.push_back(mark);
        while self.marks.len() > 2 {
            self.marks.pop_front();
        }
        used
    }
}

impl CpuMark {
    fn since(&self, before: &CpuMark) -> TargetSecond {
        let busiest = self.busiest_since(before);
        TargetSecond {
            cores: self.cores_since(before),
            busiest_thread: busiest.map(|(ran, _)| ran),
            waited: busiest.map(|(_, waited)| waited),
        }
    }

    /// Of the thread that ran the most, or would have, the shares of the time that it ran and that it waited for a
    /// core.
    fn busiest_since(&self, before: &CpuMark) -> Option<(f64, f64)> {
        if self.threads.len() > MOST_THREADS {
            return None;
        }
        let time = (self.at - before.at).as_secs_f64().max(1e-3);
        let shares = self.threads.iter().filter_map(|(path, now)| {
            let then = before.threads.get(path)?;
            let share = |now: Duration, then: Duration| now.saturating_sub(then).as_secs_f64() / time;
            Some((share(now.ran, then.ran), share(now.waited, then.waited)))
        });
        shares.max_by(|a, b| (a.0 + a.1).total_cmp(&(b.0 + b.1)))
    }

    /// Of the parts that there were at both moments.
    fn cores_since(&self, before: &CpuMark) -> f64 {
        debug_assert_eq!(before.used.len(), self.used.len(), "both marks are of the same clocks");
        debug_assert!(before.at <= self.at, "marks come in order");
        let both = before.used.iter().zip(&self.used);
        let used: Duration =
            both.filter_map(|(before, after)| Some(after.as_ref()?.saturating_sub(*before.as_ref()?))).sum();
        used.as_secs_f64() / (self.at - before.at).as_secs_f64().max(1e-3)
    }
}

impl ThreadMark {
    /// The first two numbers of `schedstat`: nanoseconds.
    fn read(path: &Path) -> Option<ThreadMark> {
        let text = std::fs::read_to_string(path).ok()?;
        let mut numbers = text.split_whitespace().map(|number| number.parse().ok().map(Duration::from_nanos));
        Some(ThreadMark { ran: numbers.next()??, waited: numbers.next()?? })
    }
}

impl Clock {
    /// Of each thread what it has done.
    fn threads(&self) -> Vec<(PathBuf, ThreadMark)> {
        let paths = match self {
            Clock::Thread(path) => vec![path.clone()],
            Clock::Process(path) => {
                let tasks = path.parent().and_then(|folder| std::fs::read_dir(folder.join("task")).ok());
                tasks.into_iter().flatten().flatten().map(|task| task.path().join("schedstat")).collect()
            }
        };
        paths.into_iter().filter_map(|path| ThreadMark::read(&path).map(|mark| (path, mark))).collect()
    }

    fn read(&self) -> Option<Duration> {
        match self {
            Clock::Thread(path) => {
                let text = std::fs::read_to_string(path).ok()?;
                text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
            }
            Clock::Process(path) => Some(Stat::read(&std::fs::read_to_string(path).ok()?)?.used),
        }
    }
}

/// The target of `--serve`.
fn own() -> Option<Found> {
    let threads = std::fs::read_dir("/proc/self/task").ok()?.flatten().map(|entry| entry.path());
    let is_own =
        |path: &PathBuf| std::fs::read_to_string(path.join("comm")).is_ok_and(|name| name.starts_with(OWN_THREADS));
    let clocks: Vec<Clock> = threads.filter(is_own).map(|path| Clock::Thread(path.join("schedstat"))).collect();
    (!clocks.is_empty()).then(|| Found { name: String::from("the target of --serve"), clocks })
}

fn at_port(port: u16) -> Option<Found> {
    let listening = listening::at_port(port);
    let name = &listening.first()?.name;
    let is_other =
        listening.iter().all(|process| process.pid != std::process::id() && !FORWARDERS.contains(&&*process.name));
    let pids = with_children(listening.iter().map(|process| process.pid).collect());
    let clocks = pids.into_iter().map(|pid| Clock::Process(PathBuf::from(format!("/proc/{pid}/stat")))).collect();
    is_other.then(|| Found { name: format!("{name} at port {port}"), clocks })
}

/// Processes with those that they have started, and those that these have.
fn with_children(mut pids: Vec<u32>) -> Vec<u32> {
    let parent =
        |pid: u32| Some((pid, Stat::read(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)?.parent));
    let mut others: Vec<(u32, u32)> = listening::processes().filter_map(parent).collect();
    // The generator may be one of them, and is not what is asked for.
    others.retain(|(pid, _)| *pid != std::process::id() && !pids.contains(pid));
    loop {
        let (children, rest): (Vec<_>, Vec<_>) = others.into_iter().partition(|(_, parent)| pids.contains(parent));
        if children.is_empty() {
            return pids;
        }
        pids.extend(children.into_iter().map(|(pid, _)| pid));
        others = rest;
    }
}

/// What `/proc/…/stat` tells.
struct Stat {
    parent: u32,
    used: Duration,
}

impl Stat {
    /// Behind the name, which may hold anything: state, parent, …, and as 12th and 13th the ticks in user and kernel.
    fn read(text: &str) -> Option<Stat> {
        let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks = |at: usize| fields.get(at)?.parse::<u32>().ok();
        Some(Stat { parent: ticks(1)?, used: TICK * ticks(11)?.saturating_add(ticks(12)?) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ticks_of_a_process_are_read() {
        let stat = Stat::read("7 (a ) name) S 42 7 7 0 -1 4194560 1 0 0 0 150 30 9 9 20 0 1 0 5").unwrap();
        assert_eq!((stat.parent, stat.used), (42, Duration::from_millis(1800)));
        assert!(Stat::read("7 (short) S 42").is_none());
    }

    #[test]
    fn a_part_counts_when_it_was_there_before() {
        let (at, second) = (Instant::now(), |n| Some(Duration::from_secs(n)));
        let thread = |ran: u64, waited: u64| ThreadMark {
            ran: Duration::from_millis(ran),
            waited: Duration::from_millis(waited),
        };
        let threads = |marks: [(&str, ThreadMark); 2]| marks.map(|(name, mark)| (PathBuf::from(name), mark)).into();
        let before = CpuMark {
            at,
            used: vec![second(1), None, second(5)],
            threads: threads([("a", thread(100, 0)), ("b", thread(0, 50))]),
        };
        let after = CpuMark {
            at: at + Duration::from_secs(2),
            used: vec![second(2), second(9), None],
            threads: threads([("a", thread(1100, 0)), ("b", thread(600, 850))]),
        };
        let expected = TargetSecond { cores: 0.5, busiest_thread: Some(0.3), waited: Some(0.4) };
        assert_eq!(after.since(&before), expected, "b was ready to run for longer than a");
    }

    #[test]
    fn what_is_not_found_is_looked_up_more_and_more_seldom() {
        let mut lookups = Lookups::default();
        let due: Vec<u32> = (0..40).filter(|_| lookups.is_due()).collect();
        assert_eq!(due, [0, 1, 3, 7, 15, 31]);
    }

    #[test]
    fn nothing_is_known_without_a_target() {
        let mut target = TargetCpu::new(false);
        assert_eq!((target.look(None), target.name()), (None, None));
        // Whoever listens is this process, which is no target.
        let held = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        assert_eq!((target.look(Some(held.local_addr().unwrap().port())), target.name()), (None, None));
    }

    #[test]
    fn threads_of_the_target_are_found_by_their_name() {
        // A thread names itself: it has its name when it runs.
        let (runs, is_there) = std::sync::mpsc::channel();
        let (_end, ends) = std::sync::mpsc::channel::<()>();
        let run = move || {
            let _told = runs.send(());
            let _until_the_end = ends.recv();
        };
        let _thread = std::thread::Builder::new().name(String::from("target-7")).spawn(run).unwrap();
        is_there.recv().unwrap();
        let mut target = TargetCpu::new(true);
        assert!(target.look(None).is_none(), "there is nothing before");
        assert!(target.look(None).is_some());
        assert_eq!(target.name(), Some("the target of --serve"));
    }

    #[test]
    fn children_are_part_of_it() {
        let mut child = std::process::Command::new("sleep").arg("5").spawn().unwrap();
        assert_eq!(with_children(vec![std::process::id()]).iter().filter(|pid| **pid == child.id()).count(), 1);
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
