//! What the machine tells about itself and about who else used it while a test ran, for the result document.
//!
//! Read from /proc, /sys and /etc before and after the run, and what is cheap of it once a second for the watch. What a
//! machine does not tell stays unknown: an empty text or none, never a made-up 0. The reading is a thin shell around
//! functions of the files' texts.

use std::path::Path;
use std::time::Instant;

use report::document::{Environment, Pressure, machine_id};

/// Counters and levels at one moment.
#[derive(Clone, Debug, Default)]
pub struct Moment {
    load_1m: Option<f64>,
    /// Ticks of all processors so far, and those that the hypervisor gave to somebody else.
    processor_ticks: Option<(u64, u64)>,
    throttled: Option<Throttled>,
    pressure: Option<PressureTotals>,
}

/// For how long tasks had to wait so far, in µs: some of them for a processor, all of them for memory, for storage.
#[derive(Clone, Copy, Debug, PartialEq)]
struct PressureTotals {
    at: Instant,
    cpu: u64,
    memory: u64,
    io: u64,
}

/// What the CPU limits of this process's control groups have done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Throttled {
    times: u64,
    /// For how long, summed over processors.
    seconds: f64,
}

impl Moment {
    /// Now.
    pub fn now() -> Moment {
        Moment {
            load_1m: read("/proc/loadavg").and_then(|text| text.split_whitespace().next()?.parse().ok()),
            processor_ticks: read("/proc/stat").and_then(|text| processor_ticks(&text)),
            throttled: throttled(),
            pressure: pressure_totals(),
        }
    }
}

/// What else happened on the machine between two moments.
#[derive(Clone, Debug, Default)]
pub struct Meanwhile {
    /// Share of all CPU time that the hypervisor gave to somebody else, 0 to 1.
    pub steal_share: Option<f64>,
    /// How many times a CPU limit held the process up, and for how long, summed over processors.
    pub throttled: Option<(u64, f64)>,
    /// Shares of the time in which tasks of the machine waited.
    pub pressure: Option<Pressure>,
}

impl Meanwhile {
    /// Between `start` and `end`.
    pub fn between(start: &Moment, end: &Moment) -> Meanwhile {
        let throttled = start.throttled.zip(end.throttled);
        Meanwhile {
            steal_share: steal_share(start.processor_ticks, end.processor_ticks),
            throttled: throttled.map(|(before, after)| {
                (after.times.saturating_sub(before.times), (after.seconds - before.seconds).max(0.0))
            }),
            pressure: start.pressure.zip(end.pressure).map(|(before, after)| pressure(&before, &after)),
        }
    }
}

/// What this process is called among others: its machine and number.
pub fn process_name() -> String {
    let host = read("/proc/sys/kernel/hostname").unwrap_or_default();
    let host = host.trim();
    format!("{}-{}", if host.is_empty() { "agent" } else { host }, std::process::id())
}

/// How many processors this process may use.
pub fn allowed_cores() -> usize {
    allowed_core_list(&read("/proc/self/status").unwrap_or_default()).len()
}

fn allowed_core_list(status: &str) -> Vec<usize> {
    field(status, "Cpus_allowed_list").map(core_list).unwrap_or_default()
}

/// The machine, with what happened on it between two moments.
pub fn environment(start: &Moment, end: &Moment) -> Environment {
    let processors = read("/proc/cpuinfo").unwrap_or_default();
    let status = read("/proc/self/status").unwrap_or_default();
    let cores = std::fs::read_to_string("/sys/devices/system/cpu/online").map_or(0, |text| core_list(&text).len());
    let Meanwhile { steal_share, throttled, pressure } = Meanwhile::between(start, end);
    let environment = Environment {
        os: read("/etc/os-release").and_then(|text| os_name(&text)).unwrap_or_else(|| std::env::consts::OS.to_owned()),
        kernel: line("/proc/sys/kernel/osrelease"),
        cpu_model: cpu_model(&processors).unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
        cores: if cores > 0 { cores } else { std::thread::available_parallelism().map_or(1, usize::from) },
        allowed_cores: allowed_core_list(&status),
        memory_bytes: read("/proc/meminfo").and_then(|text| memory_bytes(&text)).unwrap_or_default(),
        load_average_1m_start: start.load_1m,
        load_average_1m_end: end.load_1m,
        steal_share,
        throttled: throttled.map(|(times, _)| times),
        throttled_s: throttled.map(|(_, seconds)| seconds),
        pressure,
        machine_id: String::new(),
    };
    let machine_id = machine_id(&environment, &line("/proc/sys/kernel/hostname"));
    Environment { machine_id, ..environment }
}

fn read(path: &str) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

fn line(path: &str) -> String {
    read(path).unwrap_or_default().trim().to_owned()
}

/// `name : value` as in /proc/cpuinfo, /proc/self/status and /proc/meminfo.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let fields = text.lines().filter_map(|line| line.split_once(':'));
    fields.filter(|(found, _)| found.trim() == name).map(|(_, value)| value.trim()).find(|value| !value.is_empty())
}

fn os_name(os_release: &str) -> Option<String> {
    let named = os_release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(named.trim().trim_matches('"').to_owned())
}

/// ARM tells no model name; its kernel may say what board it is.
fn cpu_model(cpuinfo: &str) -> Option<String> {
    ["model name", "Hardware", "cpu model", "uarch"].iter().find_map(|name| field(cpuinfo, name)).map(str::to_owned)
}

fn memory_bytes(meminfo: &str) -> Option<u64> {
    let kilobytes: u64 = field(meminfo, "MemTotal")?.split_whitespace().next()?.parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// `0-3,8` as numbers.
fn core_list(text: &str) -> Vec<usize> {
    let range = |part: &str| {
        let (first, last) = part.trim().split_once('-').unwrap_or((part.trim(), part.trim()));
        Some(first.parse::<usize>().ok()?..=last.parse::<usize>().ok()?)
    };
    text.trim().split(',').filter_map(range).flatten().collect()
}

/// The first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal; guests are part of user.
fn processor_ticks(stat: &str) -> Option<(u64, u64)> {
    let numbers = stat.lines().next()?.strip_prefix("cpu ")?.split_whitespace();
    let ticks: Vec<u64> = numbers.take(8).map(str::parse).collect::<Result<_, _>>().ok()?;
    Some((ticks.iter().sum(), *ticks.get(7)?))
}

fn steal_share(start: Option<(u64, u64)>, end: Option<(u64, u64)>) -> Option<f64> {
    let ((total_before, before), (total, stolen)) = start.zip(end)?;
    let passed = total.checked_sub(total_before).filter(|passed| *passed > 0)?;
    Some(stolen.saturating_sub(before) as f64 / passed as f64)
}

/// Pressure stall information, where the kernel keeps it.
fn pressure_totals() -> Option<PressureTotals> {
    let total = |of: &str, kind: &str| pressure_total(&read(&format!("/proc/pressure/{of}"))?, kind);
    Some(PressureTotals {
        at: Instant::now(),
        cpu: total("cpu", "some")?,
        memory: total("memory", "full")?,
        io: total("io", "full")?,
    })
}

/// `some avg10=… avg60=… avg300=… total=…`, and a line of `full`.
fn pressure_total(text: &str, kind: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.split(' ').next() == Some(kind))?;
    line.split(' ').find_map(|field| field.strip_prefix("total="))?.parse().ok()
}

fn pressure(before: &PressureTotals, after: &PressureTotals) -> Pressure {
    let passed = after.at.saturating_duration_since(before.at).as_micros().max(1) as f64;
    let share = |before: u64, after: u64| (after.saturating_sub(before) as f64 / passed).min(1.0);
    Pressure {
        cpu: share(before.cpu, after.cpu),
        memory: share(before.memory, after.memory),
        io: share(before.io, after.io),
    }
}

/// What the CPU limits of this process's control group and of those above it have done so far: a container's limit is
/// often that of a parent. None where nothing tells.
fn throttled() -> Option<Throttled> {
    let groups = read("/proc/self/cgroup")?;
    let folders = cgroup_folders(&groups);
    let told = folders.iter().filter_map(|folder| throttling(&read(&format!("{folder}/cpu.stat"))?));
    told.reduce(|sum, one| Throttled { times: sum.times + one.times, seconds: sum.seconds + one.seconds })
}

/// Where the files of a control group and of those above it may be, of both versions. In a container the path is
/// that of the host, and the files lie at the root.
fn cgroup_folders(groups: &str) -> Vec<String> {
    let mut folders = Vec::new();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next()) else { continue };
        let base = match controllers {
            "" => "/sys/fs/cgroup".to_owned(),
            _ if controllers.split(',').any(|name| name == "cpu") => format!("/sys/fs/cgroup/{controllers}"),
            _ => continue,
        };
        let path = Path::new(path).strip_prefix("/").unwrap_or(Path::new(""));
        folders
            .extend(path.ancestors().map(|part| format!("{base}/{}", part.display()).trim_end_matches('/').to_owned()));
    }
    folders.dedup();
    folders
}

/// Version 2 counts microseconds, version 1 nanoseconds.
fn throttling(cpu_stat: &str) -> Option<Throttled> {
    let number = |name: &str| {
        let line = cpu_stat.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
        line.trim().parse::<u64>().ok()
    };
    let seconds = number("throttled_usec").map(|us| us as f64 / 1e6);
    let seconds = seconds.or_else(|| number("throttled_time").map(|ns| ns as f64 / 1e9));
    Some(Throttled { times: number("nr_throttled")?, seconds: seconds.unwrap_or_default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_kernel_are_read() {
        assert_eq!(core_list("0-2,7\n"), [0, 1, 2, 7]);
        assert_eq!(core_list(""), [] as [usize; 0]);
        assert_eq!(memory_bytes("MemFree: 1 kB\nMemTotal:       16384 kB\n"), Some(16_777_216));
        assert_eq!(os_name("ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12\"\n").as_deref(), Some("Debian GNU/Linux 12"));
        assert_eq!(cpu_model("processor\t: 0\nmodel name\t: A Model @ 2.0GHz\n").as_deref(), Some("A Model @ 2.0GHz"));
        let throttled = |times, seconds| Some(Throttled { times, seconds });
        assert_eq!(throttling("nr_periods 9\nnr_throttled 4\nthrottled_usec 1500000\n"), throttled(4, 1.5));
        assert_eq!(throttling("nr_periods 9\nnr_throttled 4\nthrottled_time 2500000000\n"), throttled(4, 2.5));
        assert_eq!(throttling("usage_usec 9\n"), None);
    }

    #[test]
    fn stolen_time_is_a_share_of_all() {
        let before = processor_ticks("cpu  10 0 10 70 0 0 0 10 5 0\ncpu0 1 1\n");
        assert_eq!(before, Some((100, 10)));
        assert_eq!(steal_share(before, Some((200, 35))), Some(0.25));
        assert_eq!(steal_share(before, before), None);
        assert_eq!(steal_share(None, before), None);
    }

    #[test]
    fn pressure_is_a_share_of_the_time() {
        let text = "some avg10=20.06 avg60=11.90 avg300=7.38 total=7563873224\nfull avg10=0.00 total=12\n";
        assert_eq!([pressure_total(text, "some"), pressure_total(text, "full")], [Some(7_563_873_224), Some(12)]);
        assert_eq!(pressure_total("", "some"), None);
        let at = Instant::now();
        let before = PressureTotals { at, cpu: 0, memory: 5, io: 0 };
        let after = PressureTotals { at: at + std::time::Duration::from_secs(1), cpu: 250_000, memory: 5, io: 10_000 };
        assert_eq!(pressure(&before, &after), Pressure { cpu: 0.25, memory: 0.0, io: 0.01 });
    }

    #[test]
    fn control_groups_of_both_versions_are_found() {
        assert_eq!(cgroup_folders("0::/a/b\n"), ["/sys/fs/cgroup/a/b", "/sys/fs/cgroup/a", "/sys/fs/cgroup"]);
        let old = "3:memory:/x\n2:cpu,cpuacct:/x\n";
        assert_eq!(cgroup_folders(old), ["/sys/fs/cgroup/cpu,cpuacct/x", "/sys/fs/cgroup/cpu,cpuacct"]);
    }

    #[test]
    fn this_machine_has_cores_and_memory() {
        let now = Moment::now();
        let environment = environment(&now, &now);
        assert!(environment.cores > 0 && environment.memory_bytes > 0, "{environment:?}");
        assert!(!environment.allowed_cores.is_empty() && environment.machine_id.len() == 16, "{environment:?}");
    }
}
