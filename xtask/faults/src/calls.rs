//! One system call of a run fails, or does less than it was asked: at each place that calls, with each error that the
//! call may have.

use std::path::PathBuf;
use std::process::Command;

use crate::options::Options;
use crate::promises::{Broken, judge};
use crate::trial::{Bench, End, Fault};
use crate::workload::{WORKLOADS, Workload};
use crate::{TRACER, each};

/// Errors by their name and number on Linux. Number 0: the call moves one byte.
const SHORT: (&str, i32) = ("short", 0);
const EINTR: (&str, i32) = ("EINTR", 4);
const EIO: (&str, i32) = ("EIO", 5);
const EAGAIN: (&str, i32) = ("EAGAIN", 11);
const ENOMEM: (&str, i32) = ("ENOMEM", 12);
const ENFILE: (&str, i32) = ("ENFILE", 23);
const EMFILE: (&str, i32) = ("EMFILE", 24);
const ENOSPC: (&str, i32) = ("ENOSPC", 28);
const EPIPE: (&str, i32) = ("EPIPE", 32);
const ECONNABORTED: (&str, i32) = ("ECONNABORTED", 103);
const ECONNRESET: (&str, i32) = ("ECONNRESET", 104);
const ENOBUFS: (&str, i32) = ("ENOBUFS", 105);
const ENOTCONN: (&str, i32) = ("ENOTCONN", 107);
const ECONNREFUSED: (&str, i32) = ("ECONNREFUSED", 111);

/// Calls, what they are called on (`tracer.c`; empty: anything), and their errors.
type Row = (&'static [(&'static str, i64)], &'static str, &'static [(&'static str, i32)]);

/// What may fail in which way: what the kernel can answer, by man pages, section 2. An eventfd, say, is never full.
/// A socket is neither cut short nor said to be empty here. The kernel does that only when nothing is left, and tells
/// of more by epoll (epoll(7), question 9), which a tracer cannot do. Tests of `wire` send and take bytes one by one.
const FAULTS: &[Row] = &[
    (&[("read", 0), ("readv", 19), ("recvfrom", 45), ("recvmsg", 47)], "s", &[EINTR, ECONNRESET, ENOMEM]),
    (&[("read", 0), ("readv", 19), ("pread64", 17)], "fd", &[EINTR, EIO, ENOMEM, SHORT]),
    (&[("read", 0), ("readv", 19)], "p", &[EINTR, SHORT]),
    (&[("read", 0)], "a", &[EAGAIN]),
    (&[("write", 1), ("writev", 20), ("sendto", 44), ("sendmsg", 46)], "s", &[EINTR, ENOMEM, EPIPE, ECONNRESET]),
    (&[("write", 1), ("writev", 20), ("pwrite64", 18)], "fd", &[EINTR, EIO, ENOSPC, SHORT]),
    (&[("write", 1), ("writev", 20)], "p", &[EINTR, EPIPE, SHORT]),
    (&[("write", 1)], "a", &[EAGAIN]),
    (
        &[("open", 2), ("openat", 257), ("mkdir", 83), ("memfd_create", 319)],
        "",
        &[EINTR, EMFILE, ENFILE, ENOSPC, ENOMEM],
    ),
    (&[("rename", 82), ("unlink", 87), ("fsync", 74), ("fdatasync", 75), ("ftruncate", 77)], "", &[EIO, ENOSPC]),
    (&[("socket", 41), ("accept4", 288), ("socketpair", 53), ("pipe2", 293)], "", &[EMFILE, ENFILE, ENOMEM]),
    (&[("accept4", 288)], "", &[EINTR, EAGAIN, ECONNABORTED]),
    (&[("epoll_create1", 291), ("eventfd2", 290), ("timerfd_create", 283)], "", &[EMFILE, ENOMEM]),
    (&[("timer_create", 222)], "", &[EAGAIN, ENOMEM]),
    (&[("connect", 42)], "", &[EINTR, EAGAIN, ECONNREFUSED]),
    (&[("epoll_wait", 232), ("epoll_pwait", 281), ("poll", 7), ("ppoll", 271)], "", &[EINTR]),
    (&[("poll", 7), ("ppoll", 271)], "", &[ENOMEM]),
    (&[("epoll_ctl", 233)], "", &[ENOMEM, ENOSPC]),
    (&[("mmap", 9), ("mprotect", 10)], "", &[ENOMEM]),
    (&[("clone", 56), ("clone3", 435)], "", &[EAGAIN, ENOMEM]),
    (&[("getsockname", 51), ("getpeername", 52), ("setsockopt", 54)], "s", &[ENOBUFS]),
    (&[("shutdown", 48), ("getpeername", 52)], "s", &[ENOTCONN]),
    (&[("fstat", 5), ("stat", 4), ("statx", 332), ("newfstatat", 262)], "", &[ENOMEM]),
    (&[("getdents64", 217), ("readlink", 89), ("getcwd", 79)], "", &[ENOMEM, EIO]),
    (&[("sigaltstack", 131)], "", &[ENOMEM]),
    (&[("getrandom", 318), ("clock_nanosleep", 230)], "", &[EINTR]),
];

/// A call that fails.
struct FailingCall {
    workload: &'static Workload,
    /// `openat 1f3a… 1 EMFILE`: call, site, which of its calls, error.
    name: String,
    words: Vec<String>,
}

/// Says how many places there are; returns the runs that broke a promise.
pub(crate) fn run(bench: &Bench<'_>, options: &Options) -> Result<Vec<Broken>, String> {
    let tracer = compile(bench)?;
    let mut all = Vec::new();
    let workloads = || WORKLOADS.iter().filter(|each| options.workload.as_ref().is_none_or(|name| name == each.name));
    for workload in workloads() {
        let mut points = find(bench, workload, &tracer)?;
        if let Some(only) = &options.only {
            points.retain(|point| point.name == *only);
        }
        fastrand::Rng::with_seed(options.seed).shuffle(&mut points);
        points.truncate(options.count);
        let trials = each(workload.name, &points, options.jobs, |point| try_one(bench, &tracer, point));
        let mut hits = 0;
        for trial in trials {
            let (was_hit, broken) = trial?;
            hits += usize::from(was_hit);
            all.extend(broken);
        }
        let (name, tried) = (workload.name, points.len());
        println!("{name:<10} {tried} system calls to fail; {hits} did, the others did not come again");
    }
    Ok(all)
}

fn compile(bench: &Bench<'_>) -> Result<PathBuf, String> {
    let tracer = bench.folder.join("tracer");
    let mut cc = Command::new("cc");
    cc.args(["-O2", "-Wall", "-Wextra", "-o"]).arg(&tracer).arg(bench.root.join(TRACER));
    match cc.status() {
        Ok(status) if status.success() => Ok(tracer),
        Ok(_) => Err(format!("cc could not compile {TRACER}")),
        Err(error) => Err(format!("cannot start cc: {error}")),
    }
}

/// Whether the call failed, and what the run broke.
fn try_one(bench: &Bench<'_>, tracer: &PathBuf, point: &FailingCall) -> Result<(bool, Option<Broken>), String> {
    let trial = bench.run(point.workload, &Fault::Call { tracer, verb: "fail", words: point.words.clone() })?;
    let was_hit = trial.was_hit() || trial.end == End::Never;
    let broken = judge(bench, point.workload, &point.name, &trial);
    if broken.is_none() {
        trial.clear();
    }
    Ok((was_hit, broken))
}

/// Each place of a run, with each error: the first call of a place, and one in the middle where there are several.
fn find(bench: &Bench<'_>, workload: &'static Workload, tracer: &PathBuf) -> Result<Vec<FailingCall>, String> {
    let trial = bench.run(workload, &Fault::Call { tracer, verb: "list", words: Vec::new() })?;
    let listed = trial.folder.join("traced.txt");
    let listed = std::fs::read_to_string(&listed).map_err(|error| format!("{}: {error}", listed.display()))?;
    trial.clear();
    let mut points = Vec::new();
    let sites = listed.lines().filter_map(|line| line.strip_prefix("site "));
    let mut places = 0;
    for site in sites {
        let mut words = site.split(' ');
        let mut word = || words.next().unwrap_or_default();
        let (number, hash, times, what) = (word(), word(), word(), word());
        let times: u64 = times.parse().unwrap_or(1);
        let faults: Vec<_> = faults_of(number, what).collect();
        if hash == "0" || faults.is_empty() {
            continue;
        }
        places += 1;
        for nth in [1, times / 2].into_iter().take(if times < 4 { 1 } else { 2 }) {
            for (call, (error, code)) in &faults {
                let name = format!("{call} {hash} {nth} {error}");
                let words = [number, hash, &nth.to_string(), &code.to_string()].map(str::to_owned).to_vec();
                points.push(FailingCall { workload, name, words });
            }
        }
    }
    println!("{:<10} {places} places call the system", workload.name);
    Ok(points)
}

/// The name of a call with each of its errors on what it is called on.
fn faults_of(number: &str, what: &str) -> impl Iterator<Item = (&'static str, (&'static str, i32))> {
    FAULTS.iter().filter(move |(_, on, _)| on.is_empty() || on.contains(what)).flat_map(move |(calls, _, errors)| {
        let call = calls.iter().find(|(_, known)| known.to_string() == number);
        call.into_iter().flat_map(|(name, _)| errors.iter().map(|error| (*name, *error)))
    })
}
