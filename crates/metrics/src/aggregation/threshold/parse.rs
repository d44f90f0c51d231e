//! The language of thresholds: `p(95) < 500`.
//!
//! `aggregation operator number`, nothing else. An error names its place in the text, so that a caret can
//! point at it. Spaces are allowed wherever they do not split a word; k6 allows fewer.

use std::fmt;
use std::ops::Range;

use crate::naming::metric::Kind;
use units::suggest;

/// What a threshold looks at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Aggregation {
    /// Sum of a Counter.
    Count,
    /// Counter: sum per second. Rate: share from 0 to 1.
    Rate,
    /// Last value of a Gauge.
    Value,
    /// Mean of a Trend.
    Avg,
    /// Lowest of a Trend.
    Min,
    /// Highest of a Trend.
    Max,
    /// Median of a Trend.
    Med,
    /// This percentile (0-100) of a Trend.
    Percentile(f64),
}

const NAMES: [&str; 8] = ["count", "rate", "value", "avg", "min", "max", "med", "p"];

impl Aggregation {
    /// Its name without the number of a percentile.
    pub const fn name(self) -> &'static str {
        match self {
            Aggregation::Count => "count",
            Aggregation::Rate => "rate",
            Aggregation::Value => "value",
            Aggregation::Avg => "avg",
            Aggregation::Min => "min",
            Aggregation::Max => "max",
            Aggregation::Med => "med",
            Aggregation::Percentile(_) => "p",
        }
    }

    /// What thresholds on metrics of a kind may look at, as text for messages.
    pub(crate) const fn names_for(kind: Kind) -> &'static [&'static str] {
        match kind {
            Kind::Counter => &["count", "rate"],
            Kind::Gauge => &["value"],
            Kind::Rate => &["rate"],
            Kind::Trend => &["avg", "min", "max", "med", "p(N)"],
        }
    }

    /// Whether it can be computed for metrics of a kind.
    pub fn fits(self, kind: Kind) -> bool {
        Self::names_for(kind).iter().any(|name| name.split('(').next() == Some(self.name()))
    }
}

/// How the two sides compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `==` and `===`
    Equal,
    /// `!=`
    NotEqual,
}

/// Longest first, so that `<=` is not read as `<`.
const OPERATORS: [(&str, Operator); 7] = [
    ("===", Operator::Equal),
    ("==", Operator::Equal),
    ("!=", Operator::NotEqual),
    ("<=", Operator::LessOrEqual),
    (">=", Operator::GreaterOrEqual),
    ("<", Operator::Less),
    (">", Operator::Greater),
];

impl Operator {
    /// Whether `left operator right` is true.
    pub fn holds(self, left: f64, right: f64) -> bool {
        match self {
            Operator::Less => left < right,
            Operator::LessOrEqual => left <= right,
            Operator::Greater => left > right,
            Operator::GreaterOrEqual => left >= right,
            Operator::Equal => left == right,
            Operator::NotEqual => left != right,
        }
    }
}

/// A threshold that was understood.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    /// As written.
    pub source: String,
    /// The left side as written.
    pub label: String,
    /// What is looked at.
    pub aggregation: Aggregation,
    /// How it is compared.
    pub operator: Operator,
    /// With what.
    pub limit: f64,
}

/// Why a threshold was not understood, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// What was found and what was expected.
    pub message: String,
    /// Bytes of the source at fault; may be empty at its end.
    pub span: Range<usize>,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ParseError {}

/// Understands one threshold.
pub fn parse(source: &str) -> Result<Expression, ParseError> {
    let fail = |span: Range<usize>, message: String| Err(ParseError { message, span });
    let found = source.find(['<', '>', '=', '!']);
    let Some(at) = found else {
        let message = "no comparison found, expected something like p(95)<500 or rate>0.99".to_owned();
        return fail(source.len()..source.len(), message);
    };
    let Some((token, operator)) = OPERATORS.iter().find(|(token, _)| source[at..].starts_with(token)) else {
        let message = format!("'{}' is not an operator, expected one of < <= > >= == === !=", &source[at..at + 1]);
        return fail(at..at + 1, message);
    };
    let (left, right) = (trimmed(source, 0..at), trimmed(source, at + token.len()..source.len()));
    let aggregation = parse_aggregation(source, left.clone())?;
    if right.is_empty() {
        return fail(
            source.len()..source.len(),
            format!("no number found after '{token}', expected one such as 500 or 0.95"),
        );
    }
    let text = &source[right.clone()];
    let limit = match text.parse::<f64>() {
        Ok(limit) if limit.is_finite() => limit,
        _ => {
            return fail(
                right,
                format!("'{text}' is not a number, expected a plain one such as 500 or 0.95 (times are in ms)"),
            );
        }
    };
    let (source, label) = (source.to_owned(), source[left].to_owned());
    Ok(Expression { source, label, aggregation, operator: *operator, limit })
}

fn parse_aggregation(source: &str, span: Range<usize>) -> Result<Aggregation, ParseError> {
    let text = &source[span.clone()];
    let fail = |message: String| Err(ParseError { message, span: span.clone() });
    Ok(match text {
        "count" => Aggregation::Count,
        "rate" => Aggregation::Rate,
        "value" => Aggregation::Value,
        "avg" => Aggregation::Avg,
        "min" => Aggregation::Min,
        "max" => Aggregation::Max,
        "med" => Aggregation::Med,
        "" => {
            return fail(
                "nothing found before the operator, expected an aggregation such as avg, p(95) or rate".to_owned(),
            );
        }
        _ => match parse_percentile(text) {
            Some(Ok(percent)) => Aggregation::Percentile(percent),
            Some(Err(inside)) => {
                return fail(format!("'{inside}' is not a percentile, expected a number from 0 to 100"));
            }
            None => {
                let hint = match text.strip_prefix('p').filter(|rest| rest.parse::<f64>().is_ok()) {
                    Some(number) => format!("; did you mean 'p({number})'?"),
                    None => suggest::hint(text, NAMES.into_iter().filter(|name| *name != "p")),
                };
                let expected = "expected one of count, rate, value, avg, min, max, med, p(N)";
                return fail(format!("unknown aggregation '{text}'{hint} ({expected})"));
            }
        },
    })
}

/// The number in `p(N)`, or what is there instead; none when it is no `p(…)`.
fn parse_percentile(text: &str) -> Option<Result<f64, &str>> {
    let inside = text.strip_prefix('p')?.trim_start().strip_prefix('(')?.strip_suffix(')')?.trim();
    let number = inside.parse::<f64>().ok().filter(|percent| (0.0..=100.0).contains(percent));
    Some(number.ok_or(inside))
}

/// A span without the spaces at its ends.
fn trimmed(source: &str, span: Range<usize>) -> Range<usize> {
    let text = &source[span.clone()];
    let start = span.start + (text.len() - text.trim_start().len());
    start..start.max(span.end - (text.len() - text.trim_end().len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operator_and_aggregation() {
        use Aggregation::*;
        let cases = [
            ("avg!=5", Avg, Operator::NotEqual, 5.0),
            ("avg == 5", Avg, Operator::Equal, 5.0),
            ("med===5.5e1", Med, Operator::Equal, 55.0),
            (" max >= -1 ", Max, Operator::GreaterOrEqual, -1.0),
            ("min<=+7", Min, Operator::LessOrEqual, 7.0),
            ("p(99.9)<500", Percentile(99.9), Operator::Less, 500.0),
            ("p( 95 )>.5", Percentile(95.0), Operator::Greater, 0.5),
            ("count>1", Count, Operator::Greater, 1.0),
            ("p(0)<1", Percentile(0.0), Operator::Less, 1.0),
            ("p(100)<1", Percentile(100.0), Operator::Less, 1.0),
            ("rate<0.01", Rate, Operator::Less, 0.01),
            ("value<3", Value, Operator::Less, 3.0),
        ];
        for (source, aggregation, operator, limit) in cases {
            let parsed = parse(source).unwrap();
            assert_eq!((parsed.aggregation, parsed.operator, parsed.limit), (aggregation, operator, limit), "{source}");
            assert_eq!(parsed.source, source);
        }
        assert_eq!(parse(" p(95) <5").unwrap().label, "p(95)");
    }

    #[test]
    fn operators_hold_below_at_and_above_their_limit() {
        let cases = [
            (Operator::Less, [true, false, false]),
            (Operator::LessOrEqual, [true, true, false]),
            (Operator::Greater, [false, false, true]),
            (Operator::GreaterOrEqual, [false, true, true]),
            (Operator::Equal, [false, true, false]),
            (Operator::NotEqual, [true, false, true]),
        ];
        for (operator, expected) in cases {
            assert_eq!([1.0, 2.0, 3.0].map(|left| operator.holds(left, 2.0)), expected, "{operator:?}");
        }
    }

    #[test]
    fn errors_point_at_the_fault() {
        let cases = [
            ("", 0..0, "no comparison found, expected something like p(95)<500 or rate>0.99"),
            ("p(95)<", 6..6, "no number found after '<', expected one such as 500 or 0.95"),
            ("avg=5", 3..4, "'=' is not an operator, expected one of < <= > >= == === !="),
            ("avg<10ms", 4..8, "'10ms' is not a number, expected a plain one such as 500 or 0.95 (times are in ms)"),
            ("avg<NaN", 4..7, "'NaN' is not a number, expected a plain one such as 500 or 0.95 (times are in ms)"),
            ("p(-1)<5", 0..5, "'-1' is not a percentile, expected a number from 0 to 100"),
            (" p(101) <5", 1..7, "'101' is not a percentile, expected a number from 0 to 100"),
            (
                "p95<5",
                0..3,
                "unknown aggregation 'p95'; did you mean 'p(95)'? (expected one of count, rate, value, avg, min, max, \
                 med, p(N))",
            ),
            (
                "agv<5",
                0..3,
                "unknown aggregation 'agv'; did you mean 'avg'? (expected one of count, rate, value, avg, min, max, \
                 med, p(N))",
            ),
            ("<5", 0..0, "nothing found before the operator, expected an aggregation such as avg, p(95) or rate"),
        ];
        for (source, span, message) in cases {
            assert_eq!(parse(source), Err(ParseError { message: message.to_owned(), span }), "{source}");
        }
    }

    #[test]
    fn no_input_panics() {
        for source in ["é<é", "<<<", "p(<5", "p)<5", "p()<5", "avg<<5", "=", "!", "avg!5", "\u{2028}<\u{a0}1"] {
            assert!(parse(source).is_err(), "{source}");
        }
    }

    #[test]
    fn aggregations_fit_their_kinds() {
        assert!(Aggregation::Percentile(1.0).fits(Kind::Trend) && !Aggregation::Percentile(1.0).fits(Kind::Rate));
        assert!(Aggregation::Rate.fits(Kind::Counter) && Aggregation::Rate.fits(Kind::Rate));
        assert!(!Aggregation::Count.fits(Kind::Trend) && !Aggregation::Rate.fits(Kind::Gauge));
        assert!(Aggregation::Count.fits(Kind::Counter) && Aggregation::Value.fits(Kind::Gauge));
        use Aggregation::{Avg, Max, Med, Min};
        assert!(
            [Avg, Min, Max, Med].iter().all(|of_trend| of_trend.fits(Kind::Trend) && !of_trend.fits(Kind::Counter))
        );
    }
}
