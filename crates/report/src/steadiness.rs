//! Finds out whether a run was steady: warm-up and other changes of its level, and drift.
//!
//! Only where the plan asks for the same load: a ramp makes answers slower by plan. The medians of what users wait for
//! are looked at second by second, as logarithms, and in closed loops the rate as well (`stats::change_points`). Levels
//! less than 5 % apart are one. A line that tells more than the steps do is a drift (`stats::line`). Nothing is left
//! out of any figure because of it.

mod words;

use crate::document::{Column, Drift, Points, Seconds, Steadiness, Stretch};
use crate::stats::{change_points, line, median};

pub use words::lines;

/// A shorter time at the same load says nothing.
const SHORTEST_S: f64 = 10.0;
/// Seconds with samples, at least.
const FEWEST: usize = 10;
/// Seconds of a longer run are put together.
const MOST: usize = 3600;
/// Levels that are closer are the same: as a logarithm, 5 %.
const NOTABLE: f64 = 0.048_790_164_169_432;
/// Of the time that is looked at, what a steady stretch takes at least.
const STEADY_SHARE: f64 = 1.0 / 3.0;
/// What an interval may be off a plan, in seconds: they are cut when a worker wakes.
const SLACK_S: f64 = 0.25;
/// Lengths of intervals that are whole seconds.
const WHOLE_S: std::ops::RangeInclusive<f64> = 0.5..=1.5;

/// A time in which the plan asks for the same load, since the start of the scenarios.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plateau {
    /// Its start.
    pub from_s: f64,
    /// Its end; infinite where iterations are counted instead of time.
    pub to_s: f64,
    /// Whether all users begin an iteration when the one before has ended, so that the rate is the target's.
    pub is_closed: bool,
    /// Whether users run out of iterations: their number then falls at the end.
    pub runs_out: bool,
}

/// One second, or a few of a long run.
#[derive(Clone, Copy, Debug)]
struct Moment {
    from_s: f64,
    to_s: f64,
    med: f64,
    per_second: f64,
}

/// How steady a run was at a plateau; none where there is too little to say.
pub fn find(seconds: &Seconds, plateau: Plateau) -> Option<Steadiness> {
    let (metric, moments) = moments(seconds, &plateau)?;
    let (first, last) = (moments.first()?, moments.last()?);
    if moments.len() < FEWEST || last.to_s - first.from_s < SHORTEST_S - SLACK_S {
        return None;
    }
    let each = moments.len().div_ceil(MOST);
    let moments: Vec<Moment> = moments.chunks(each).filter_map(together).collect();
    let medians: Vec<f64> = moments.iter().map(|moment| moment.med.ln()).collect();
    let has_rates = plateau.is_closed && moments.iter().all(|moment| moment.per_second > 0.0);
    let rates: Vec<f64> = moments.iter().filter(|_| has_rates).map(|moment| moment.per_second.ln()).collect();
    let changes = changes(&medians, &rates);
    let whole = drift(&moments, &medians);
    let is_line = whole.is_some() && line(&medians).is_some_and(|line| line.beats(&medians, &changes));
    let changes = if is_line { Vec::new() } else { changes };
    let edges: Vec<usize> = [0].into_iter().chain(changes).chain([moments.len()]).collect();
    let stretches: Vec<Stretch> = edges.windows(2).filter_map(|edge| stretch(&moments[edge[0]..edge[1]])).collect();
    assert!(edges.is_sorted_by(|a, b| a < b), "stretches follow each other: {edges:?}");
    assert_eq!(stretches.len() + 1, edges.len(), "each stretch has its edges");
    let steady = if is_line { None } else { longest(&stretches) };
    let inside = steady.map(|at| edges[at]..edges[at + 1]);
    let drift = if is_line { whole } else { inside.and_then(|at| drift(&moments[at.clone()], &medians[at])) };
    Some(Steadiness { metric, by_rate: has_rates, stretches, steady, figures: None, drift })
}

/// The seconds of a plateau that have samples, and the Trend they are of.
fn moments(seconds: &Seconds, plateau: &Plateau) -> Option<(String, Vec<Moment>)> {
    let origin = seconds.scenarios_start_s;
    let (name, medians, sums) = main_series(seconds)?;
    let end = if plateau.runs_out { full_until(seconds) } else { f64::INFINITY }.min(plateau.to_s);
    let moment = |at: usize| {
        let (from_s, length) = (seconds.starts_s[at] - origin, seconds.lengths_s[at]);
        let to_s = from_s + length;
        let is_inside = from_s >= plateau.from_s - SLACK_S && to_s <= end + SLACK_S && WHOLE_S.contains(&length);
        let is_load = to_s <= seconds.scenarios_end_s - origin + SLACK_S;
        let med = medians[at].filter(|med| *med > 0.0 && is_inside && is_load)?;
        Some(Moment { from_s, to_s, med, per_second: sums[at].unwrap_or(0.0) / length })
    };
    Some((name.to_owned(), (0..seconds.starts_s.len()).filter_map(moment).collect()))
}

/// What users wait for: the medians of its seconds, and what is counted of it.
fn main_series(seconds: &Seconds) -> Option<(&str, &Column, &Column)> {
    const MAIN: [(&str, &str); 3] =
        [("http_req_duration", "http_reqs"), ("grpc_req_duration", "iterations"), ("iteration_duration", "iterations")];
    let points = |name: &str| {
        let series = seconds.series.iter().find(|series| series.name == name && series.filter.is_none())?;
        Some(&series.points)
    };
    MAIN.into_iter().find_map(|(trend, counter)| match (points(trend)?, points(counter)?) {
        (Points::Trend { p50, .. }, Points::Counter { sum }) => Some((trend, p50, sum)),
        _ => None,
    })
}

/// Until when as many users were there as ever.
fn full_until(seconds: &Seconds) -> f64 {
    let users = seconds.series.iter().find(|series| series.name == "vus" && series.filter.is_none());
    let Some(Points::Gauge { last }) = users.map(|series| &series.points) else { return f64::INFINITY };
    let most = last.iter().flatten().copied().fold(0.0, f64::max);
    let at = last.iter().rposition(|users| users.is_some_and(|users| users >= most));
    at.map_or(f64::INFINITY, |at| seconds.starts_s[at] + seconds.lengths_s[at] - seconds.scenarios_start_s)
}

fn together(moments: &[Moment]) -> Option<Moment> {
    let mean = |of: fn(&Moment) -> f64| moments.iter().map(of).sum::<f64>() / moments.len() as f64;
    Some(Moment {
        from_s: moments.first()?.from_s,
        to_s: moments.last()?.to_s,
        med: median(moments.iter().map(|moment| moment.med))?,
        per_second: mean(|moment| moment.per_second),
    })
}

/// Where medians or rates change by so much that it matters. What both show within two seconds is one change.
fn changes(medians: &[f64], rates: &[f64]) -> Vec<usize> {
    const SAME: usize = 2;
    let mut found = notable(medians, change_points(medians));
    for change in notable(rates, change_points(rates)) {
        if found.iter().all(|known| known.abs_diff(change) > SAME) {
            found.push(change);
        }
    }
    found.sort_unstable();
    found
}

/// The changes between levels that are not the same; the least goes first.
fn notable(values: &[f64], mut changes: Vec<usize>) -> Vec<usize> {
    loop {
        let edges: Vec<usize> = [0].into_iter().chain(changes.iter().copied()).chain([values.len()]).collect();
        let level = |edge: &[usize]| median(values[edge[0]..edge[1]].iter().copied()).unwrap_or(0.0);
        let levels: Vec<f64> = edges.windows(2).map(level).collect();
        let steps = levels.windows(2).map(|two| (two[1] - two[0]).abs());
        match steps.enumerate().min_by(|a, b| a.1.total_cmp(&b.1)) {
            Some((at, step)) if step < NOTABLE => changes.remove(at),
            _ => return changes,
        };
    }
}

fn stretch(moments: &[Moment]) -> Option<Stretch> {
    let Moment { from_s, to_s, med, per_second } = together(moments)?;
    let tenth = |time: f64| (time * 10.0).round() / 10.0;
    Some(Stretch { from_s: tenth(from_s).max(0.0), to_s: tenth(to_s), med, per_second })
}

fn longest(stretches: &[Stretch]) -> Option<usize> {
    let length = |stretch: &Stretch| stretch.to_s - stretch.from_s;
    let all = stretches.last()?.to_s - stretches.first()?.from_s;
    let longest = stretches.iter().enumerate().max_by(|a, b| length(a.1).total_cmp(&length(b.1)))?;
    (length(longest.1) >= all * STEADY_SHARE).then_some(longest.0)
}

fn drift(moments: &[Moment], medians: &[f64]) -> Option<Drift> {
    let (first, last) = (moments.first()?, moments.last()?);
    let (from_s, to_s) = (first.from_s.round(), last.to_s.round());
    let line = line(medians).filter(|line| line.is_proven)?;
    let moved = line.slope * (medians.len() - 1) as f64;
    let percent = |moved: f64| (moved.exp() - 1.0) * 100.0;
    let per_minute = moved * 60.0 / (to_s - from_s).max(1.0);
    (moved.abs() >= NOTABLE).then(|| Drift {
        from_s,
        to_s,
        percent: percent(moved),
        percent_per_minute: percent(per_minute),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Counts, Series};

    const FLAT: Plateau = Plateau { from_s: 0.0, to_s: f64::INFINITY, is_closed: true, runs_out: false };

    /// Seconds with these medians and requests, from 2 s of the run's clock on.
    fn seconds(medians: &[f64], requests: &[f64]) -> Seconds {
        let some = |values: &[f64]| values.iter().copied().map(Some).collect::<Column>();
        let counts: Counts = requests.iter().map(|requests| Some(*requests as u64)).collect();
        let column = || some(medians);
        let (p50, p90, p95, p99) = (column(), column(), column(), column());
        let trend = Points::Trend { count: counts, avg: column(), min: column(), max: column(), p50, p90, p95, p99 };
        let series = |name: &str, points| Series { name: name.to_owned(), filter: None, points };
        Seconds {
            starts_s: (0..medians.len()).map(|at| at as f64 + 2.0).collect(),
            lengths_s: vec![1.0; medians.len()],
            scenarios_start_s: 2.0,
            scenarios_end_s: medians.len() as f64 + 2.0,
            series: vec![
                series("http_req_duration", trend),
                series("http_reqs", Points::Counter { sum: some(requests) }),
            ],
        }
    }

    /// A noise of 2 %, the same for each place of each seed.
    fn noise(seed: usize, at: usize) -> f64 {
        let mixed = (at as u64 * 0x9e37_79b9 + seed as u64 * 0x85eb_ca6b + 1).wrapping_mul(0xd134_2543_de82_ef95);
        1.0 + 0.04 * ((mixed >> 40) as f64 / f64::from(1 << 24) - 0.5)
    }

    fn run(level: impl Fn(usize) -> f64, count: usize, seed: usize) -> Seconds {
        let medians: Vec<f64> = (0..count).map(|at| level(at) * noise(seed, at)).collect();
        let requests: Vec<f64> = medians.iter().map(|med| (4000.0 / med).round()).collect();
        seconds(&medians, &requests)
    }

    #[test]
    fn a_warm_up_is_found_and_said_and_the_totals_stay() {
        let found = find(&run(|at| if at < 12 { 8.1 } else { 3.2 }, 60, 1), FLAT).expect("long enough");
        let edges: Vec<(f64, f64)> = found.stretches.iter().map(|stretch| (stretch.from_s, stretch.to_s)).collect();
        assert_eq!((edges, found.steady), (vec![(0.0, 12.0), (12.0, 60.0)], Some(1)));
        assert_eq!((found.unsteady(), found.drift), (vec![(0.0, 12.0)], None));
        let said = lines(&found, None);
        let expected = "steady from 12s to 1m00s; the first 12s were slower: med 8";
        assert!(said.len() == 1 && said[0].starts_with(expected), "{said:?}");
        assert!(said[0].ends_with("; totals hold all of it"), "{said:?}");
    }

    #[test]
    fn a_server_that_becomes_slower_is_steady_before() {
        let found = find(&run(|at| if at < 40 { 5.0 } else { 20.0 }, 60, 2), FLAT).expect("long enough");
        assert_eq!((found.stretches.len(), found.steady), (2, Some(0)));
        assert!(lines(&found, None)[0].starts_with("steady from 0s to 40s; the last 20s were slower: med "));
        let restless = find(&run(|at| [5.0, 20.0, 8.0, 40.0][at / 15], 60, 3), FLAT).expect("long enough");
        assert_eq!(restless.steady, None);
        let expected = "not steady: something changed at 15s, 30s, 45s, and no stretch takes a third of the time";
        assert_eq!(lines(&restless, None), [expected]);
    }

    #[test]
    fn a_drift_has_its_sign_and_is_no_row_of_steps() {
        for (sign, word) in [(1.0, "slower"), (-1.0, "faster")] {
            let found = find(&run(|at| 5.0 * (sign * 0.002 * at as f64).exp(), 120, 4), FLAT).expect("long enough");
            let drift = found.drift.expect("a drift");
            assert_eq!((found.stretches.len(), found.steady), (1, None));
            let expected = ((sign * 0.12).exp() - 1.0) * 100.0;
            assert!((drift.percent_per_minute - expected).abs() < 1.5, "{drift:?} {expected}");
            assert!(lines(&found, None)[0].starts_with(&format!("got {word} all the time: the median by ")));
        }
    }

    #[test]
    fn flat_runs_are_steady() {
        let alarms = (0..200).filter(|seed| {
            let found = find(&run(|_| 5.0, 60, *seed), FLAT).expect("long enough");
            !lines(&found, None).is_empty()
        });
        assert!(alarms.count() <= 10);
    }

    #[test]
    fn only_the_planned_plateau_is_looked_at() {
        let ramp = run(|at| if at < 30 { 1.0 + at as f64 } else { 31.0 }, 60, 5);
        let found = find(&ramp, Plateau { from_s: 30.0, ..FLAT }).expect("long enough");
        assert_eq!((found.stretches.len(), found.stretches[0].from_s, found.steady), (1, 30.0, Some(0)));
        assert!(lines(&found, None).is_empty());
        assert!(find(&ramp, Plateau { from_s: 51.0, ..FLAT }).is_none(), "nine seconds say nothing");
        assert!(find(&ramp, Plateau { to_s: 9.0, ..FLAT }).is_none());
        assert!(find(&Seconds::default(), FLAT).is_none());
    }

    #[test]
    fn the_rate_counts_in_closed_loops_alone_and_small_changes_do_not() {
        let medians: Vec<f64> = (0..60).map(|at| 5.0 * noise(6, at)).collect();
        let requests: Vec<f64> = (0..60).map(|at| if at < 20 { 500.0 } else { 800.0 } * noise(7, at)).collect();
        let of_rate = seconds(&medians, &requests);
        let found = find(&of_rate, FLAT).expect("long enough");
        assert_eq!((found.stretches.len(), found.stretches[1].from_s), (2, 20.0));
        assert!(lines(&found, None)[0].contains("the first 20s were at a lower rate: 50"), "{:?}", lines(&found, None));
        let open = find(&of_rate, Plateau { is_closed: false, ..FLAT }).expect("long enough");
        assert_eq!((open.stretches.len(), open.by_rate), (1, false));
        let small = find(&run(|at| if at < 30 { 5.0 } else { 5.15 }, 60, 8), FLAT).expect("long enough");
        assert_eq!((small.stretches.len(), small.drift), (1, None), "3 % is not worth a word");
    }

    #[test]
    fn users_that_have_no_iterations_left_end_the_plateau() {
        let mut seconds = run(|at| if at < 40 { 5.0 } else { 2.0 }, 60, 9);
        let users = (0..60).map(|at| Some(if at < 40 { 4.0 } else { 1.0 })).collect();
        seconds.series.push(Series { name: "vus".into(), filter: None, points: Points::Gauge { last: users } });
        let found = find(&seconds, Plateau { runs_out: true, ..FLAT }).expect("long enough");
        assert_eq!((found.stretches.len(), found.stretches[0].to_s), (1, 40.0));
    }

    #[test]
    fn an_hour_is_looked_at_to_the_second() {
        let found = find(&run(|at| if at < 100 { 8.0 } else { 5.0 }, 3600, 10), FLAT).expect("long enough");
        assert_eq!(found.stretches[0].to_s, 100.0);
        let day = find(&run(|at| if at < 6000 { 8.0 } else { 5.0 }, 20_000, 11), FLAT).expect("long enough");
        assert!((day.stretches[0].to_s - 6000.0).abs() <= 6.0, "{:?}", day.stretches[0]);
    }

    #[test]
    fn a_second_whose_median_is_0_has_no_logarithm_and_is_left_out() {
        let mut medians = [5.0; 20];
        let mut requests = [100.0; 20];
        (medians[7], requests[7]) = (0.0, 5000.0);
        let found = find(&seconds(&medians, &requests), FLAT).expect("long enough");
        let whole = Stretch { from_s: 0.0, to_s: 20.0, med: 5.0, per_second: 100.0 };
        assert_eq!((found.stretches, found.steady, found.drift), (vec![whole], Some(0), None));
    }
}
