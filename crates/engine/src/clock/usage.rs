//! CPU that a thread or the process had used by one moment, read from the kernel.
//!
//! Wall clock and CPU clock are read together: shares of a run of milliseconds would else come out above 1.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// One reading. In simulated time nothing is used.
#[derive(Clone, Debug, Default)]
pub(crate) struct Usage {
    /// When it was read.
    pub(crate) at: Duration,
    /// CPU used by then.
    pub(crate) cpu: Duration,
    /// Time for which the thread was ready to run and had no core; none where the kernel does not tell.
    pub(crate) waited: Option<Duration>,
}

impl Usage {
    /// The calling thread's.
    pub(super) fn of_thread() -> Self {
        let waited = std::fs::read_to_string("/proc/thread-self/schedstat").ok().and_then(|text| waited(&text));
        Usage { at: read(ClockId::Monotonic), cpu: read(ClockId::ThreadCPUTime), waited }
    }

    /// The whole process's.
    pub(super) fn of_process() -> Self {
        Usage { at: read(ClockId::Monotonic), cpu: read(ClockId::ProcessCPUTime), waited: None }
    }

    /// Cores in use from this reading to a later one.
    pub(crate) fn cores_until(&self, later: &Usage) -> f64 {
        let wall = later.at.saturating_sub(self.at).as_secs_f64().max(1e-9);
        later.cpu.saturating_sub(self.cpu).as_secs_f64() / wall
    }
}

/// The second number of `schedstat`, in ns.
fn waited(schedstat: &str) -> Option<Duration> {
    Some(ThreadTimes::read(schedstat)?.waited)
}

/// What one thread did with its time so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ThreadTimes {
    /// It ran.
    pub(crate) ran: Duration,
    /// It was ready to run and had no core.
    pub(crate) waited: Duration,
}

impl ThreadTimes {
    /// The first two numbers of `schedstat`, in ns.
    fn read(schedstat: &str) -> Option<ThreadTimes> {
        let mut numbers = schedstat.split_whitespace().map(|number| number.parse().ok().map(Duration::from_nanos));
        Some(ThreadTimes { ran: numbers.next()??, waited: numbers.next()?? })
    }
}

/// The calling thread's times, from a file that stays open: a reading is one system call.
#[derive(Debug, Default)]
pub(crate) struct ThreadTimer(Option<File>);

impl ThreadTimer {
    /// For the calling thread; tells nothing where the kernel does not.
    pub(crate) fn of_thread() -> ThreadTimer {
        ThreadTimer(File::open("/proc/thread-self/schedstat").ok())
    }

    /// The same thread's, for another one to read.
    pub(crate) fn share(&self) -> ThreadTimer {
        ThreadTimer(self.0.as_ref().and_then(|file| file.try_clone().ok()))
    }

    /// Now.
    pub(crate) fn read(&self) -> Option<ThreadTimes> {
        let mut text = [0; 64];
        let length = self.0.as_ref()?.read_at(&mut text, 0).ok()?;
        ThreadTimes::read(std::str::from_utf8(&text[..length]).ok()?)
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the clock")]
fn read(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_thread_uses_cpu_and_so_does_its_process() {
        let (process, thread) = (Usage::of_process(), Usage::of_thread());
        while read(ClockId::ThreadCPUTime) < thread.cpu + Duration::from_millis(1) {}
        assert!(Usage::of_thread().cpu > thread.cpu);
        assert!(process.cores_until(&Usage::of_process()) > 0.0);
    }

    #[test]
    fn the_kernel_tells_how_long_a_thread_waited_for_a_core() {
        assert_eq!(waited("381940 111894 2\n"), Some(Duration::from_nanos(111_894)));
        assert_eq!(waited(""), None);
    }

    #[test]
    fn the_times_of_a_thread_are_read_again_and_again() {
        let timer = ThreadTimer::of_thread();
        let first = timer.read().expect("Linux tells");
        let used = Usage::of_thread();
        while read(ClockId::ThreadCPUTime) < used.cpu + Duration::from_millis(20) {}
        // The kernel brings the file up to date when it switches threads.
        std::thread::sleep(Duration::from_millis(1));
        assert!(timer.read().is_some_and(|later| later.ran > first.ran), "{first:?}");
        assert_eq!(ThreadTimer::default().read(), None);
    }

    #[test]
    fn cores_in_use_are_cpu_by_wall_time() {
        let at = |at, cpu| Usage { at: Duration::from_secs(at), cpu: Duration::from_secs(cpu), waited: None };
        assert_eq!(at(10, 3).cores_until(&at(14, 9)), 1.5);
        assert_eq!(at(10, 3).cores_until(&at(10, 3)), 0.0, "no time has passed");
    }
}
