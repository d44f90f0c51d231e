//! How far the response times of a run are from the truth, by what the run itself has measured.
//!
//! A response time begins when the program begins to send and ends at the kernel's receive stamp, so it is too long by
//! what passes from its beginning to the departure of the request. That is measured: some requests are checked with the
//! kernel's transmit stamps. What the kernel did not stamp on arrival may be too long by the lateness of the event
//! loops, too, which is measured by their beats. The bound is the upper end of the 95 % interval of a percentile of
//! these, so it holds for more than the requests that happened to be checked.

use crate::document::TimingError;

/// One request that was checked.
#[derive(Clone, Copy, Debug)]
pub struct CheckedRequest {
    /// From the beginning of its response time until it left, in ms.
    pub lag_ms: f64,
    /// For how many requests it stands.
    pub weight: f64,
}

/// What a bound is made of.
#[derive(Clone, Copy, Debug)]
pub struct TimingFacts<'a> {
    /// In any order.
    pub checked: &'a [CheckedRequest],
    /// HTTP requests of the run that were made.
    pub requests: u64,
    /// Those whose arrival the kernel did not stamp.
    pub unstamped: u64,
    /// How late the event loops were, 99 of 100 times, in ms: that of the latest.
    pub loop_late_ms: f64,
}

/// A bound is given for as many of 100 requests as the checks are enough for.
const SHARES: [f64; 3] = [99.0, 95.0, 90.0];
/// Fewer requests without a stamp than this share of those that the bound may miss move no bound.
const FEW: f64 = 0.1;

/// The bound; none for a run without HTTP requests.
pub fn timing_error(facts: &TimingFacts<'_>) -> Option<TimingError> {
    if facts.requests == 0 {
        return None;
    }
    let mut checked = facts.checked.to_vec();
    checked.sort_by(|a, b| a.lag_ms.total_cmp(&b.lag_ms));
    let weight: f64 = checked.iter().map(|one| one.weight).sum();
    let squares: f64 = checked.iter().map(|one| one.weight * one.weight).sum();
    // As many equal checks would be as sure as these are.
    let equal = if squares > 0.0 { weight * weight / squares } else { 0.0 };
    let bound = |percent: f64| {
        let rank = metrics::trend::upper_rank(equal as u64, percent)?;
        let lag = at_share(&checked, rank as f64 / equal.floor() * weight)?;
        let may_miss = (100.0 - percent) / 100.0;
        let is_late = facts.unstamped as f64 > FEW * may_miss * facts.requests as f64;
        Some((percent, lag + if is_late { facts.loop_late_ms } else { 0.0 }))
    };
    let found = SHARES.into_iter().find_map(bound);
    Some(TimingError {
        checked: checked.len() as u64,
        of_100: found.map(|(percent, _)| percent),
        within_ms: found.map(|(_, within)| rounded(within)),
        med_ms: at_share(&checked, weight / 2.0).map(rounded),
        checkable_share: rounded((weight / facts.requests as f64).min(1.0)),
    })
}

/// The smallest lag at or below which so much of the weight lies.
fn at_share(checked: &[CheckedRequest], wanted: f64) -> Option<f64> {
    let mut sum = 0.0;
    let reached = |one: &&CheckedRequest| {
        sum += one.weight;
        sum >= wanted * (1.0 - 1e-12)
    };
    checked.iter().find(reached).map(|one| one.lag_ms)
}

/// To a nanosecond.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(lags: impl IntoIterator<Item = u32>) -> Vec<CheckedRequest> {
        lags.into_iter().map(|us| CheckedRequest { lag_ms: f64::from(us) / 1e3, weight: 1.0 }).collect()
    }

    fn facts(checked: &[CheckedRequest]) -> TimingFacts<'_> {
        TimingFacts { checked, requests: checked.len() as u64, unstamped: 0, loop_late_ms: 5.0 }
    }

    fn found(facts: &TimingFacts<'_>) -> TimingError {
        timing_error(facts).expect("there were requests")
    }

    #[test]
    fn the_bound_is_the_upper_end_of_the_percentile_s_interval() {
        let all = checked(1..=1000);
        let error = found(&facts(&all));
        assert_eq!((error.checked, error.of_100, error.med_ms), (1000, Some(99.0), Some(0.5)));
        // Of 1,000 the 990th is the percentile, and the 997th encloses it from above with 97.5 %.
        assert_eq!(error.within_ms, Some(0.997));
        let line = error.line().expect("it is measured");
        assert_eq!(line, "response times are right within 997µs for 99 of 100 requests (1,000 checked)");
    }

    #[test]
    fn fewer_checks_are_enough_for_fewer_requests_or_for_none() {
        assert_eq!(found(&facts(&checked(1..=100))).of_100, Some(95.0));
        assert_eq!(found(&facts(&checked(1..=50))).of_100, Some(90.0));
        let few = found(&facts(&checked(1..=20)));
        assert_eq!((few.of_100, few.within_ms, few.med_ms), (None, None, Some(0.01)));
        let line = few.line().expect("something is said");
        assert_eq!(line, "response times: error not measured, 20 requests checked are too few");
        let none = TimingFacts { requests: 9, ..facts(&[]) };
        let line = found(&none).line().expect("something is said");
        assert!(line.starts_with("response times: error not measured, no request could be checked"), "{line}");
        assert_eq!(timing_error(&facts(&[])), None, "a run without requests");
    }

    #[test]
    fn what_the_kernel_did_not_stamp_may_be_as_late_as_the_loop() {
        let all = checked(1..=1000);
        let few = TimingFacts { unstamped: 1, ..facts(&all) };
        assert_eq!(found(&few).within_ms, Some(0.997), "a thousandth of the requests moves no bound of 99 of 100");
        let many = TimingFacts { unstamped: 2, ..facts(&all) };
        assert_eq!(found(&many).within_ms, Some(5.997));
    }

    #[test]
    fn a_check_counts_for_the_requests_that_it_stands_for() {
        // A burst of which one in a hundred was checked, and quiet times of which all were.
        let burst = checked([900; 500]).into_iter().map(|one| CheckedRequest { weight: 100.0, ..one });
        let all: Vec<CheckedRequest> = burst.chain(checked([10; 500])).collect();
        let error = found(&TimingFacts { requests: 50_500, ..facts(&all) });
        assert_eq!((error.med_ms, error.within_ms), (Some(0.9), Some(0.9)));
        let half = found(&TimingFacts { requests: 101_000, ..facts(&all) });
        assert_eq!(half.checkable_share, 0.5);
        assert!(half.line().expect("a line").contains("for 99 of 100 of the requests that can be checked"), "{half:?}");
    }
}
