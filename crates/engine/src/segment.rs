//! Execution segments: which part of the whole test this instance runs, so that the parts of all instances add up to
//! the whole.
//!
//! Work is striped, not cut: the lengths of the segments are brought to their lowest common denominator, and the
//! positions of one such period are given to the segments, largest first. Position n of the test belongs to the segment
//! that owns n modulo the period. Everything that is divided (virtual users, iterations, start times) is divided by
//! position, so sums are exact for every number. Pure; fractions are exact.

use std::fmt;
use std::sync::Arc;

/// A fraction in lowest terms, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ratio {
    top: u64,
    bottom: u64,
}

/// Why a segment or a sequence could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentError(String);

impl fmt::Display for SegmentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SegmentError {}

/// A part of the test, from one fraction of it to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    from: Ratio,
    to: Ratio,
}

/// All parts of the test in order, without gaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sequence(Vec<Segment>);

/// The positions that one segment owns. Position counts go from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stripes {
    /// Positions owned within one period, ascending. Empty for a segment without a virtual user.
    own: Arc<[u64]>,
    period: u64,
}

/// Longest period that is tabulated; beyond it the fractions are a mistake.
const MAX_PERIOD: u64 = 10_000_000;

impl Segment {
    /// The whole test.
    pub const WHOLE: Segment = Segment { from: Ratio { top: 0, bottom: 1 }, to: Ratio { top: 1, bottom: 1 } };

    /// Reads `1/3:2/3`, `0.25:0.5`, `10%:20%`; without a colon the segment starts at 0.
    pub fn parse(text: &str) -> Result<Self, SegmentError> {
        let (from, to) = text.split_once(':').unwrap_or(("0", text));
        Segment::between(Ratio::parse(from)?, Ratio::parse(to)?)
    }

    fn between(from: Ratio, to: Ratio) -> Result<Self, SegmentError> {
        if from.less(to) {
            return Ok(Segment { from, to });
        }
        Err(SegmentError(format!("execution segment {from}:{to} is empty: expected its end after its start")))
    }

    fn length(self) -> Result<Ratio, SegmentError> {
        assert!(self.from.less(self.to), "{self:?} ends after its start");
        let bottom = self.from.bottom.checked_mul(self.to.bottom).ok_or_else(too_fine)?;
        let top = self.to.top * (bottom / self.to.bottom) - self.from.top * (bottom / self.from.bottom);
        Ok(Ratio::reduced(top, bottom))
    }
}

impl Sequence {
    /// Reads `0,1/3,1`: the borders of all segments, from 0 to 1.
    pub fn parse(text: &str) -> Result<Self, SegmentError> {
        let borders = text.split(',').map(Ratio::parse).collect::<Result<Vec<_>, _>>()?;
        let segments =
            borders.windows(2).map(|pair| Segment::between(pair[0], pair[1])).collect::<Result<Vec<_>, _>>()?;
        let covers = segments.first().is_some_and(|first| first.from == Segment::WHOLE.from)
            && segments.last().is_some_and(|last| last.to == Segment::WHOLE.to);
        if covers {
            return Ok(Sequence(segments));
        }
        Err(SegmentError(format!(
            "execution segment sequence '{text}' does not cover the test: expected borders from 0 to 1"
        )))
    }

    /// The sequence that has this segment and what is left before and after it.
    pub fn around(segment: Segment) -> Self {
        let before = Segment { from: Segment::WHOLE.from, to: segment.from };
        let after = Segment { from: segment.to, to: Segment::WHOLE.to };
        Sequence([before, segment, after].into_iter().filter(|part| part.from.less(part.to)).collect())
    }

    /// The segments in order.
    pub fn segments(&self) -> &[Segment] {
        &self.0
    }
}

impl Stripes {
    /// The positions of a test that is not divided.
    pub fn whole() -> Self {
        Stripes { own: Arc::new([0]), period: 1 }
    }

    /// The positions of one segment; without a sequence the rest of the test is taken as one segment before it and one
    /// after.
    pub fn new(segment: Option<Segment>, sequence: Option<&Sequence>) -> Result<Self, SegmentError> {
        let Some(segment) =
            segment.or_else(|| sequence?.0.first().copied().filter(|_| sequence.is_some_and(|s| s.0.len() == 1)))
        else {
            return match sequence {
                None => Ok(Stripes::whole()),
                Some(_) => Err(SegmentError("an execution segment sequence needs the execution segment too".into())),
            };
        };
        let own;
        let sequence = match sequence {
            Some(sequence) => sequence,
            None => {
                own = Sequence::around(segment);
                &own
            }
        };
        let index = sequence.0.iter().position(|part| *part == segment).ok_or_else(|| {
            SegmentError(format!(
                "execution segment {}:{} is none of the sequence's segments",
                segment.from, segment.to
            ))
        })?;
        divide(sequence, index)
    }

    /// How many of the first `n` positions belong to the segment: its share of n virtual users or iterations.
    pub fn scale(&self, n: u64) -> u64 {
        let within = self.own.partition_point(|position| *position < n % self.period);
        let share = n / self.period * self.own.len() as u64 + within as u64;
        debug_assert!(share <= n, "a segment owns each position at most once: {share} of {n}");
        share
    }

    /// The position in the whole test of the segment's own position k. A segment that owns nothing has no such
    /// position: beyond every end.
    pub fn unscale(&self, k: u64) -> u64 {
        let each = self.own.len() as u64;
        if each == 0 {
            return u64::MAX;
        }
        let position = self.own[usize::try_from(k % each).expect("smaller than the table's length")];
        debug_assert!(position < self.period, "{position} of {}", self.period);
        (k / each).saturating_mul(self.period).saturating_add(position)
    }

    /// The positions among the first `n` only, repeated every n: what belongs to virtual users is divided as these n
    /// are, so that a segment without a virtual user gets no work either.
    pub fn of_users(&self, n: u64) -> Stripes {
        let own: Vec<u64> = (0..self.scale(n)).map(|k| self.unscale(k)).collect();
        assert!(
            own.last().is_none_or(|last| *last < n),
            "`scale` and `unscale` disagree about the first {n} positions"
        );
        Stripes { own: own.into(), period: n.max(1) }
    }

    /// The segment's share of the whole, for what cannot be counted (`rps`).
    pub fn share(&self) -> f64 {
        assert!(self.own.len() as u64 <= self.period, "{} of {}", self.own.len(), self.period);
        self.own.len() as f64 / self.period as f64
    }
}

/// Divides the positions of one period to all segments and keeps those of one.
fn divide(sequence: &Sequence, index: usize) -> Result<Stripes, SegmentError> {
    let lengths = sequence.0.iter().map(|part| part.length()).collect::<Result<Vec<_>, _>>()?;
    let mut period = 1u64;
    for length in &lengths {
        period = (period / gcd(period, length.bottom)).checked_mul(length.bottom).ok_or_else(too_fine)?;
        if period > MAX_PERIOD {
            return Err(too_fine());
        }
    }
    let shares: Vec<u64> = lengths.iter().map(|length| length.top * (period / length.bottom)).collect();
    assert_eq!(shares.iter().sum::<u64>(), period, "the segments of a sequence cover the test, each part once");
    let mut order: Vec<usize> = (0..shares.len()).collect();
    order.sort_by_key(|part| std::cmp::Reverse(shares[*part]));
    let mut taken = vec![0u64; shares.len()];
    let mut own = Vec::new();
    for position in 0..period {
        // The first in order whose share has come up; the last one takes what is left.
        let due = order.iter().copied().find(|part| taken[*part] * period <= position * shares[*part]);
        let owner = due.or_else(|| order.iter().copied().find(|part| taken[*part] < shares[*part]));
        let owner = owner.expect("the shares add up to the period");
        taken[owner] += 1;
        if owner == index {
            own.push(position);
        }
    }
    assert_eq!(taken, shares, "each segment got its share of the period");
    Ok(Stripes { own: own.into(), period })
}

fn too_fine() -> SegmentError {
    SegmentError(format!(
        "execution segments are too fine: expected fractions with a common denominator up to {MAX_PERIOD}"
    ))
}

impl Ratio {
    fn parse(text: &str) -> Result<Self, SegmentError> {
        let ratio = Ratio::read(text.trim()).ok_or_else(|| {
            SegmentError(format!(
                "'{text}' is not a border of an execution segment: expected a fraction, decimal or \
                percentage like 1/4, 0.25 or 25%"
            ))
        })?;
        if ratio.top > ratio.bottom {
            return Err(SegmentError(format!("execution segment border {text} lies outside of 0 to 1")));
        }
        Ok(ratio)
    }

    fn read(text: &str) -> Option<Ratio> {
        if let Some(percent) = text.strip_suffix('%') {
            let ratio = Ratio::read(percent)?;
            return Some(Ratio::reduced(ratio.top, ratio.bottom.checked_mul(100)?));
        }
        if let Some((top, bottom)) = text.split_once('/') {
            let (top, bottom) = (top.parse().ok()?, bottom.parse().ok()?);
            return (bottom > 0).then(|| Ratio::reduced(top, bottom));
        }
        let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
        if decimals.len() > 9 || !decimals.bytes().all(|digit| digit.is_ascii_digit()) {
            return None;
        }
        let bottom = 10u64.pow(u32::try_from(decimals.len()).ok()?);
        let whole: u64 = if whole.is_empty() && !decimals.is_empty() { 0 } else { whole.parse().ok()? };
        let decimals: u64 = if decimals.is_empty() { 0 } else { decimals.parse().ok()? };
        Some(Ratio::reduced(whole.checked_mul(bottom)?.checked_add(decimals)?, bottom))
    }

    fn reduced(top: u64, bottom: u64) -> Ratio {
        debug_assert!(bottom > 0, "parsing and arithmetic refuse a division by 0");
        let common = gcd(top, bottom);
        Ratio { top: top / common, bottom: bottom / common }
    }

    fn less(self, other: Ratio) -> bool {
        u128::from(self.top) * u128::from(other.bottom) < u128::from(other.top) * u128::from(self.bottom)
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.bottom == 1 { write!(f, "{}", self.top) } else { write!(f, "{}/{}", self.top, self.bottom) }
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a.max(1) } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(sequence: &str) -> Vec<Stripes> {
        let sequence = Sequence::parse(sequence).unwrap();
        sequence.segments().iter().map(|part| Stripes::new(Some(*part), Some(&sequence)).unwrap()).collect()
    }

    #[test]
    fn parts_add_up_to_the_whole_for_every_number() {
        for sequence in ["0,1", "0,1/3,2/3,1", "0,0.1,0.25,1", "0,1/7,1/2,5/6,1", "0,20%,40%,60%,80%,1", "0,1/1000,1"] {
            let parts = all(sequence);
            for n in (0..300).chain([1000, 9999, 1_000_003]) {
                assert_eq!(parts.iter().map(|part| part.scale(n)).sum::<u64>(), n, "{sequence} n={n}");
            }
        }
    }

    #[test]
    fn every_position_has_one_owner() {
        let parts = all("0,1/7,1/2,5/6,1");
        let mut seen: Vec<u64> = parts.iter().flat_map(|part| (0..part.scale(840)).map(|k| part.unscale(k))).collect();
        seen.sort_unstable();
        assert_eq!(seen, (0..840).collect::<Vec<_>>());
    }

    #[test]
    fn work_of_users_follows_the_users() {
        let parts = all("0,1/3,2/3,1");
        let with_users: Vec<_> = parts.iter().filter(|part| part.scale(2) > 0).map(|part| part.of_users(2)).collect();
        assert_eq!(with_users.len(), 2);
        for iterations in [2, 9, 1000] {
            assert_eq!(with_users.iter().map(|part| part.scale(iterations)).sum::<u64>(), iterations);
        }
    }

    #[test]
    fn the_largest_segment_comes_first() {
        let parts = all("0,1/5,1");
        assert_eq!((0..4).map(|k| parts[1].unscale(k)).collect::<Vec<_>>(), [0, 2, 3, 4]);
        assert_eq!((0..3).map(|k| parts[0].unscale(k)).collect::<Vec<_>>(), [1, 6, 11]);
    }

    #[test]
    fn a_segment_alone_gets_the_rest_as_neighbours() {
        let stripes = Stripes::new(Some(Segment::parse("1/4:1/2").unwrap()), None).unwrap();
        assert_eq!(stripes.scale(100), 25);
        assert_eq!(stripes.share(), 0.25);
        assert_eq!(Stripes::new(Some(Segment::parse("25%").unwrap()), None).unwrap().scale(8), 2);
        assert_eq!(Stripes::new(None, None), Ok(Stripes::whole()));
    }

    #[test]
    fn says_what_is_wrong() {
        let error = |text| Segment::parse(text).unwrap_err().to_string();
        assert_eq!(error("1/2:1/4"), "execution segment 1/2:1/4 is empty: expected its end after its start");
        assert_eq!(error("0:3/2"), "execution segment border 3/2 lies outside of 0 to 1");
        assert_eq!(
            error("a:1"),
            "'a' is not a border of an execution segment: expected a fraction, decimal or percentage like 1/4, 0.25 or \
             25%"
        );
        assert!(Segment::parse("1/0").is_err());
        assert_eq!(
            Sequence::parse("0,1/2").unwrap_err().to_string(),
            "execution segment sequence '0,1/2' does not cover the test: expected borders from 0 to 1"
        );
        let thirds = Sequence::parse("0,1/3,1").unwrap();
        assert_eq!(
            Stripes::new(Some(Segment::parse("1/2:1").unwrap()), Some(&thirds)).unwrap_err().to_string(),
            "execution segment 1/2:1 is none of the sequence's segments"
        );
    }

    #[test]
    fn borders_are_fractions_decimals_or_percentages() {
        let empty = |border: &str| Segment::parse(&format!("{border}:0")).unwrap_err().to_string();
        for (border, lowest_terms) in [
            ("0/7", "0"),
            ("1/4", "1/4"),
            ("2/8", "1/4"),
            ("25%", "1/4"),
            ("12.5%", "1/8"),
            ("1/2%", "1/200"),
            ("0.25", "1/4"),
            (".25", "1/4"),
            ("0.123456789", "123456789/1000000000"),
            ("1.", "1"),
            (" 1 ", "1"),
        ] {
            let expected = format!("execution segment {lowest_terms}:0 is empty: expected its end after its start");
            assert_eq!(empty(border), expected);
        }
        for wrong in ["", ".", "-1", "0.1234567891", "1/", "/2", "1/0", "%", "a%", "1e-3", "99999999999999999999"] {
            let message = empty(wrong);
            assert!(message.starts_with(&format!("'{wrong}' is not a border of an execution segment: ")), "{message}");
        }
        assert_eq!(empty("1.5"), "execution segment border 1.5 lies outside of 0 to 1");
        assert_eq!(Segment::parse("1"), Ok(Segment::WHOLE));
    }

    #[test]
    fn a_sequence_alone_is_enough_only_where_it_is_the_whole() {
        let whole = Sequence::parse("0,1").unwrap();
        assert_eq!(Stripes::new(None, Some(&whole)).unwrap().scale(7), 7);
        let halves = Sequence::parse("0,1/2,1").unwrap();
        let error = Stripes::new(None, Some(&halves)).unwrap_err().to_string();
        assert_eq!(error, "an execution segment sequence needs the execution segment too");
        assert!(Sequence::parse("1/2,1").is_err() && Sequence::parse("0").is_err());
    }

    #[test]
    fn fractions_without_a_common_denominator_are_too_fine() {
        for segment in ["1/9999991:1/9999973", "0:1/10000019", "1/4294967311:1/4294967291"] {
            let error = Stripes::new(Some(Segment::parse(segment).unwrap()), None).unwrap_err().to_string();
            let expected =
                "execution segments are too fine: expected fractions with a common denominator up to 10000000";
            assert_eq!(error, expected, "{segment}");
        }
    }

    #[test]
    fn who_owns_no_position_gets_nothing() {
        let parts = all("0,1/2,1");
        let [first, second] = [&parts[0], &parts[1]].map(|part| part.of_users(1));
        assert_eq!((first.scale(100), second.scale(100)), (100, 0));
        assert_eq!((first.share(), second.share()), (1.0, 0.0));
        assert_eq!((first.unscale(3), second.unscale(0)), (3, u64::MAX));
        assert_eq!(first.of_users(0).scale(5), 0, "of nobody");
    }
}
