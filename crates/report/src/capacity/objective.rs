//! What has to hold for a load to be held: a threshold on any metric, read so that each second of a probe counts.
//!
//! A threshold judges a whole run by one number. A probe is judged while it runs, from its seconds, and near the edge
//! by little. So most thresholds become a mean: `p(95)<200` says that at most 5 % of the values are 200 or more, so
//! what is averaged is whether a value is. Where no mean stands for it (`max`, a share of exactly 0), one value
//! breaks it.

use metrics::Keyed;
use metrics::threshold::{Aggregation, Expression, Operator, parse};

/// A threshold that a probe can be judged by.
#[derive(Clone, Debug, PartialEq)]
pub struct Objective {
    /// The metric or sub-metric: `http_req_duration{name:page}`.
    pub key: String,
    /// The condition behind the colon.
    pub expression: Expression,
    rule: Rule,
}

/// How seconds are judged.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Rule {
    /// The share of values that break the limit is below this.
    Share(f64),
    /// The mean is below (`1.0`) or above (`-1.0`) the limit.
    Mean(f64),
    /// No value breaks the limit.
    Each,
}

/// What an objective makes of a second: `amount` of so many `samples`, whose squares add up to `squares`. Below or at
/// `limit` times the samples is good.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ObjectiveTally {
    /// Values, or seconds for a rate per second.
    pub samples: f64,
    /// What is averaged.
    pub amount: f64,
    /// For its spread within the second.
    pub squares: f64,
}

impl Objective {
    /// Reads `METRIC: CONDITION`, as `--threshold` does.
    pub fn read(text: &str) -> Result<Objective, String> {
        let behind = text.find('}').unwrap_or(0);
        let colon = text[behind..].find(':').map(|at| at + behind);
        let (key, condition) = colon
            .map(|at| (text[..at].trim(), text[at + 1..].trim()))
            .filter(|(key, condition)| !key.is_empty() && !condition.is_empty())
            .ok_or_else(|| {
                format!("found '{text}', expected METRIC: CONDITION, as in 'http_req_duration: p(95)<200'")
            })?;
        Objective::of(key, condition)
    }

    /// Of a threshold's two parts.
    pub fn of(key: &str, condition: &str) -> Result<Objective, String> {
        let expression = parse(condition).map_err(|error| format!("'{key}: {condition}': {error}"))?;
        let rule = rule(&expression).map_err(|problem| format!("'{key}: {condition}': {problem}"))?;
        Ok(Objective { key: key.to_owned(), expression, rule })
    }

    /// As it was written.
    pub fn text(&self) -> String {
        format!("{}: {}", self.key, self.expression.source)
    }

    /// Whether it is about times: a trend that has an upper limit, in ms for what Onrush measures itself.
    pub fn upper_limit_of_values(&self) -> Option<f64> {
        let is_upper = matches!(self.expression.operator, Operator::Less | Operator::LessOrEqual);
        let is_trend = !matches!(self.expression.aggregation, Aggregation::Rate | Aggregation::Count);
        (is_upper && is_trend).then_some(self.expression.limit)
    }

    /// What a second says; none where it has no samples. `seconds` is how long it was.
    pub fn tally(&self, samples: Keyed<'_>, seconds: f64) -> Option<ObjectiveTally> {
        let Expression { operator, limit, aggregation, .. } = &self.expression;
        let breaks = |value: f64| !operator.holds(value, *limit);
        let of_share = |broken: f64, all: f64| ObjectiveTally { samples: all, amount: broken, squares: broken };
        match (samples, self.rule) {
            (Keyed::Trend(trend), Rule::Share(_) | Rule::Each) if trend.count() > 0 => {
                let extreme = match aggregation {
                    Aggregation::Max => Some(trend.max()),
                    Aggregation::Min => Some(trend.min()),
                    _ => None,
                };
                if let Some(extreme) = extreme {
                    return Some(of_share(f64::from(u8::from(breaks(extreme))), 1.0));
                }
                let broken: u64 = trend.buckets().filter(|(value, _)| breaks(*value)).map(|(_, count)| count).sum();
                Some(of_share(broken as f64, trend.count() as f64))
            }
            (Keyed::Trend(trend), Rule::Mean(sign)) if trend.count() > 0 => {
                let squares: f64 = trend.buckets().map(|(value, count)| value * value * count as f64).sum();
                Some(ObjectiveTally { samples: trend.count() as f64, amount: sign * trend.sum(), squares })
            }
            (Keyed::Rate { passes, total }, rule) if total > 0 => {
                // Of a lower limit what does not pass is what breaks it.
                let is_upper = matches!(operator, Operator::Less | Operator::LessOrEqual) || *limit == 0.0;
                let broken = if is_upper { passes } else { total - passes };
                debug_assert!(!matches!(rule, Rule::Mean(_)), "shares are shares");
                Some(of_share(broken as f64, total as f64))
            }
            (Keyed::Counter(sum), Rule::Mean(sign)) => {
                Some(ObjectiveTally { samples: seconds, amount: sign * sum, squares: sum * sum / seconds.max(1e-9) })
            }
            (Keyed::Gauge(value), _) => Some(of_share(f64::from(u8::from(breaks(value))), 1.0)),
            _ => None,
        }
    }

    /// What the mean has to stay below; none where one value breaks the objective.
    pub fn limit(&self) -> Option<f64> {
        match self.rule {
            Rule::Share(share) => Some(share),
            Rule::Mean(sign) => Some(sign * self.expression.limit),
            Rule::Each => None,
        }
    }

    /// Whether what is averaged is 0 or 1 for each value.
    pub fn is_share(&self) -> bool {
        matches!(self.rule, Rule::Share(_))
    }
}

/// The rule of a condition; the error says why a probe cannot be judged by it.
fn rule(expression: &Expression) -> Result<Rule, String> {
    let Expression { aggregation, operator, limit, .. } = expression;
    let is_upper = match operator {
        Operator::Less | Operator::LessOrEqual => true,
        Operator::Greater | Operator::GreaterOrEqual => false,
        Operator::Equal if *aggregation == Aggregation::Rate && (*limit == 0.0 || *limit == 1.0) => {
            return Ok(Rule::Each);
        }
        Operator::Equal | Operator::NotEqual => {
            return Err(String::from("a load has a side on which it is too much: expected <, <=, > or >="));
        }
    };
    let share = |share: f64| if share > 0.0 { Rule::Share(share) } else { Rule::Each };
    Ok(match aggregation {
        Aggregation::Percentile(percent) if is_upper => share(1.0 - percent / 100.0),
        Aggregation::Percentile(percent) => share(percent / 100.0),
        Aggregation::Med => Rule::Share(0.5),
        Aggregation::Avg => Rule::Mean(if is_upper { 1.0 } else { -1.0 }),
        Aggregation::Min | Aggregation::Max | Aggregation::Value => Rule::Each,
        // A share above 1 is a number per second, as of a counter.
        Aggregation::Rate if *limit > 1.0 => Rule::Mean(if is_upper { 1.0 } else { -1.0 }),
        Aggregation::Rate => share(if is_upper { *limit } else { 1.0 - limit }),
        Aggregation::Count => {
            return Err(String::from(
                "a count depends on how long a probe is: expected a rate (counters have it per second)",
            ));
        }
    })
}

#[cfg(test)]
mod tests {
    use metrics::Trend;

    use super::*;

    fn trend(values: &[f64]) -> Trend {
        let mut trend = Trend::default();
        values.iter().for_each(|value| trend.add(*value));
        trend
    }

    #[test]
    fn a_percentile_is_a_share_of_values() {
        let objective = Objective::read("http_req_duration{name:a}: p(95)<200").unwrap();
        assert_eq!(
            (objective.key.as_str(), objective.upper_limit_of_values()),
            ("http_req_duration{name:a}", Some(200.0))
        );
        assert!((objective.limit().unwrap() - 0.05).abs() < 1e-12 && objective.is_share());
        let values = trend(&[1.0, 199.0, 200.0, 1000.0]);
        let tally = objective.tally(Keyed::Trend(&values), 1.0).unwrap();
        assert_eq!(tally, ObjectiveTally { samples: 4.0, amount: 2.0, squares: 2.0 });
        assert_eq!(objective.tally(Keyed::Trend(&trend(&[])), 1.0), None);
    }

    #[test]
    fn shares_means_and_rates_are_on_their_good_side_below_the_limit() {
        let judged = |text: &str, samples: Keyed<'_>| {
            let objective = Objective::read(text).unwrap();
            let tally = objective.tally(samples, 2.0).unwrap();
            tally.amount / tally.samples - objective.limit().unwrap_or(0.0)
        };
        let (failed, passed) = (Keyed::Rate { passes: 1, total: 200 }, Keyed::Rate { passes: 199, total: 200 });
        assert!(
            judged("http_req_failed: rate<0.01", failed) < 0.0 && judged("http_req_failed: rate<0.001", failed) > 0.0
        );
        assert!(judged("checks: rate>0.99", passed) < 0.0 && judged("checks: rate>0.999", passed) > 0.0);
        assert!(judged("checks: rate==1", passed) > 0.0, "one that failed is too much");
        let values = trend(&[10.0, 20.0]);
        assert!(judged("t: avg<16", Keyed::Trend(&values)) < 0.0 && judged("t: avg>16", Keyed::Trend(&values)) > 0.0);
        assert!(judged("t: max<20", Keyed::Trend(&values)) > 0.0 && judged("t: min>5", Keyed::Trend(&values)) <= 0.0);
        assert!(judged("http_reqs: rate>40", Keyed::Counter(100.0)) < 0.0, "50 a second");
        assert!(judged("http_reqs: rate>60", Keyed::Counter(100.0)) > 0.0);
    }

    #[test]
    fn what_no_probe_can_be_judged_by_is_refused() {
        let refused = |text: &str| Objective::read(text).unwrap_err();
        assert_eq!(
            refused("p(95)<200"),
            "found 'p(95)<200', expected METRIC: CONDITION, as in 'http_req_duration: p(95)<200'"
        );
        assert!(refused("http_reqs: count>5").contains("expected a rate"));
        assert!(refused("a: avg!=5").contains("expected <, <=, > or >="));
        assert!(refused("a: p95<5").starts_with("'a: p95<5': "));
    }
}
