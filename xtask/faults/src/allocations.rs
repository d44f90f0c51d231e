//! One allocation of a run is refused: Rust's, and QuickJS's.
//!
//! How many a run makes is counted first; which are refused is drawn over the whole of it, so that each part has its
//! share. Runs differ a little: a number beyond the end refuses nothing, and the run has to end well.

use crate::each;
use crate::options::Options;
use crate::promises::{Broken, judge};
use crate::trial::{Bench, End, Fault};
use crate::workload::{Kind, WORKLOADS, Workload};

/// A block that is refused.
struct RefusedBlock {
    workload: &'static Workload,
    /// The side and the number: `rust:120`.
    name: String,
}

/// Says how many runs of each workload ended in which way; returns those that broke a promise.
pub(crate) fn run(bench: &Bench<'_>, options: &Options) -> Result<Vec<Broken>, String> {
    let mut all = Vec::new();
    let workloads = || WORKLOADS.iter().filter(|each| options.workload.as_ref().is_none_or(|name| name == each.name));
    // Runs have many more places than reports.
    let shares: usize = workloads().map(share).sum();
    for workload in workloads() {
        let points = draw(bench, workload, options, options.count * share(workload) / shares.max(1))?;
        let trials = each(workload.name, &points, options.jobs, |point| try_one(bench, point));
        let mut ends: Vec<(String, usize)> = Vec::new();
        for trial in trials {
            let (end, broken) = trial?;
            match ends.iter_mut().find(|(known, _)| *known == end) {
                Some((_, times)) => *times += 1,
                None => ends.push((end, 1)),
            }
            all.extend(broken);
        }
        ends.sort();
        let ends: Vec<String> = ends.iter().map(|(end, times)| format!("{end}: {times}")).collect();
        println!("{:<10} {} allocations refused; ends: {}", workload.name, points.len(), ends.join(", "));
    }
    Ok(all)
}

const fn share(workload: &Workload) -> usize {
    match workload.kind {
        Kind::Run { is_own: false, .. } => 5,
        Kind::Run { .. } | Kind::Fleet { .. } => 2,
        Kind::Report | Kind::Compare => 1,
    }
}

/// How it ended, and what it broke.
fn try_one(bench: &Bench<'_>, point: &RefusedBlock) -> Result<(String, Option<Broken>), String> {
    let trial = bench.run(point.workload, &Fault::Allocation(&point.name))?;
    let broken = judge(bench, point.workload, &point.name, &trial);
    if broken.is_none() {
        trial.clear();
    }
    let end = match trial.end {
        End::Code(code) => format!("code {code}"),
        End::Signal(number) => format!("signal {number}"),
        End::Never => String::from("never"),
    };
    Ok((end, broken))
}

/// Points over the whole run, two thirds of them Rust's and a third QuickJS's, where there are as many.
fn draw(
    bench: &Bench<'_>,
    workload: &'static Workload,
    options: &Options,
    count: usize,
) -> Result<Vec<RefusedBlock>, String> {
    if let Some(name) = &options.only {
        return Ok(vec![RefusedBlock { workload, name: name.clone() }]);
    }
    let trial = bench.run(workload, &Fault::Allocation("count"))?;
    let (rust, engine) = asked(&trial.error).ok_or_else(|| {
        format!("no line 'allocations: …' in what {} says; is $ONRUSH built with the feature 'faults'?", workload.name)
    })?;
    trial.clear();
    println!("{:<10} {rust} allocations by Rust, {engine} by QuickJS", workload.name);
    let of_engine = (count / 3).min(engine as usize);
    let mut random = fastrand::Rng::with_seed(options.seed);
    let mut points = Vec::new();
    for (side, asked, wanted) in [("rust", rust, count - of_engine), ("engine", engine, of_engine)] {
        let numbers = strata(asked, wanted, &mut random);
        points.extend(numbers.into_iter().map(|number| RefusedBlock { workload, name: format!("{side}:{number}") }));
    }
    Ok(points)
}

/// One number of each of so many equal parts of `1..=of`.
fn strata(of: u64, wanted: usize, random: &mut fastrand::Rng) -> Vec<u64> {
    let wanted = (wanted as u64).min(of);
    (0..wanted).map(|part| random.u64(part * of / wanted..(part + 1) * of / wanted) + 1).collect()
}

/// The counts in the last line of a program with the feature.
fn asked(error: &str) -> Option<(u64, u64)> {
    let line = error.lines().rev().find_map(|line| line.strip_prefix("allocations: "))?;
    let mut numbers = line.split(' ').filter_map(|word| word.parse().ok());
    Some((numbers.next()?, numbers.next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_lie_all_over_the_run() {
        let mut random = fastrand::Rng::with_seed(1);
        assert_eq!(strata(3, 10, &mut random), [1, 2, 3]);
        assert_eq!(strata(0, 10, &mut random), [0; 0]);
        let drawn = strata(1000, 10, &mut random);
        assert!(drawn.iter().enumerate().all(|(part, number)| (*number - 1) / 100 == part as u64), "{drawn:?}");
    }

    #[test]
    fn counts_are_read_from_the_last_line() {
        assert_eq!(asked("a warning\nallocations: 12 of Rust's, 7 of QuickJS's\n"), Some((12, 7)));
        assert_eq!(asked("a warning\n"), None);
    }
}
