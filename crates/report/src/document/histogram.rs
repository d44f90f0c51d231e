//! The histogram of a Trend in a document: bucket numbers and counts, exact count, sum and extremes beside them.
//!
//! Percentiles are asked of a `metrics::Trend` that is made of it. Where in its bucket a value lies is kept for the
//! buckets in which common percentiles lie, so a report prints the number the summary printed. Schema 2 writes the
//! counts as one text, a fifth of what schema 1 needed for a mean and a count a bucket; both are read.

use metrics::Trend;
use metrics::bucket;
use metrics::results::TrendValue;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::metric::finite;
use super::vlq;

/// The number of a bucket, and how many samples it has.
type BucketCount = (i32, u64);

/// The number of a bucket, and where in it the mean of its samples lies.
type BucketPlace = (i32, u32);

/// A distribution with a relative error of at most 0.1 % for percentiles; the other fields are exact.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(into = "Written", try_from = "Read")]
#[schemars(with = "Written")]
pub struct Histogram {
    /// Number of samples.
    pub count: u64,
    /// Their sum.
    pub sum: f64,
    /// Lowest; 0 when empty.
    pub min: f64,
    /// Highest; 0 when empty.
    pub max: f64,
    /// Number and samples of each bucket that has some, by ascending value.
    pub buckets: Vec<BucketCount>,
    /// For some of the buckets, by ascending number: where in it the mean of its samples lies
    /// (`metrics::bucket::place`).
    pub places: Vec<BucketPlace>,
    /// Values that were never measured and are larger than all others.
    pub censored: u64,
}

/// A distribution with a relative error of at most 0.1 % for percentiles; the other fields are exact.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Histogram")]
struct Written {
    /// Number of samples.
    count: u64,
    /// Their sum.
    sum: f64,
    /// Lowest; 0 when empty.
    min: f64,
    /// Highest; 0 when empty.
    max: f64,
    /// Number of the first bucket that has samples; 0 when empty. Bucket 0 holds zeros. A positive value whose 64 bits
    /// are `b` (IEEE 754) is in bucket `(b >> 42) + 1`; a negative one in that of its magnitude, negated. A bucket's
    /// borders differ by 1/1024 at most.
    first: i32,
    /// The buckets from `first` on as a sequence of numbers in Base64 VLQ, the encoding of JavaScript's source maps: a
    /// positive number is the samples of a bucket, a negative one says how many empty buckets follow.
    counts: String,
    /// Of some buckets the mean, pairs of numbers in Base64 VLQ: how many buckets with samples lie between this one and
    /// the last that was told, and where in its bucket the mean lies, in 524,288 steps from the lowest value to the
    /// highest.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schemars(default)]
    means: String,
    /// Values that were never measured and are larger than all others, such as those of dropped iterations; they are in
    /// no other field. Absent when there are none.
    #[serde(skip_serializing_if = "is_none")]
    #[schemars(default)]
    censored: u64,
}

fn is_none(count: &u64) -> bool {
    *count == 0
}

/// A histogram of schema 1 or 2.
#[derive(Deserialize)]
struct Read {
    count: u64,
    sum: f64,
    min: f64,
    max: f64,
    #[serde(default)]
    first: i32,
    /// Of schema 2.
    counts: Option<String>,
    #[serde(default)]
    means: String,
    /// Of schema 1: mean and number of the samples in each bucket.
    buckets: Option<Vec<(f64, u64)>>,
    #[serde(default)]
    censored: u64,
}

impl Histogram {
    /// The distribution, to be asked for percentiles or merged with others.
    pub fn trend(&self) -> Trend {
        self.checked_trend().unwrap_or_default()
    }

    /// None when the numbers contradict each other, which reading a document refuses.
    pub(crate) fn checked_trend(&self) -> Option<Trend> {
        Trend::from_numbers(self.min, self.max, self.sum, &self.buckets, &self.places)
            .filter(|trend| trend.count() == self.count)
            .map(|mut trend| {
                trend.add_censored(self.censored);
                trend
            })
    }
}

impl From<&TrendValue> for Histogram {
    fn from(trend: &TrendValue) -> Self {
        let buckets: Vec<BucketCount> = trend.numbers().collect();
        debug_assert_eq!(
            buckets.iter().map(|(_, count)| count).sum::<u64>(),
            trend.count(),
            "each sample is in a bucket"
        );
        Histogram {
            count: trend.count(),
            sum: finite(trend.sum()),
            min: trend.min(),
            max: trend.max(),
            buckets,
            places: trend.places(),
            censored: trend.censored(),
        }
    }
}

impl From<Histogram> for Written {
    fn from(Histogram { count, sum, min, max, buckets, places, censored }: Histogram) -> Self {
        let first = buckets.first().map_or(0, |(number, _)| *number);
        let (counts, means) = (packed(first, &buckets), packed_places(&buckets, &places));
        Written { count, sum, min, max, first, counts, means, censored }
    }
}

impl TryFrom<Read> for Histogram {
    type Error = String;

    fn try_from(Read { count, sum, min, max, first, counts, means, buckets, censored }: Read) -> Result<Self, String> {
        match (counts, buckets) {
            (Some(counts), _) => {
                let buckets = unpacked(first, &counts).map_err(|problem| format!("counts: {problem}"))?;
                let places = unpacked_places(&buckets, &means).map_err(|problem| format!("means: {problem}"))?;
                Ok(Histogram { count, sum, min, max, buckets, places, censored })
            }
            (None, Some(means)) => {
                let (buckets, places) = numbered(&means);
                let trend = Trend::from_numbers(min, max, sum, &buckets, &places);
                let places = trend.map(|trend| trend.places()).unwrap_or_default();
                Ok(Histogram { count, sum, min, max, buckets, places, censored })
            }
            (None, None) => Err(String::from("missing field `counts`")),
        }
    }
}

/// The counts from the bucket `first` on.
fn packed(first: i32, buckets: &[BucketCount]) -> String {
    let (mut text, mut next) = (String::new(), first);
    for &(number, count) in buckets {
        if number > next {
            vlq::push(&mut text, i64::from(next) - i64::from(number));
        }
        vlq::push(&mut text, i64::try_from(count).unwrap_or(i64::MAX));
        next = number + 1;
    }
    text
}

fn unpacked(first: i32, counts: &str) -> Result<Vec<BucketCount>, String> {
    let (mut buckets, mut next) = (Vec::new(), i64::from(first));
    for number in vlq::numbers(counts)? {
        let at = i32::try_from(next).map_err(|_| format!("found samples in bucket {next}, which no value lies in"))?;
        match u64::try_from(number) {
            Ok(count) => {
                buckets.push((at, count));
                next += 1;
            }
            Err(_) => next = next.saturating_sub(number),
        }
    }
    Ok(buckets)
}

/// The places, each with how many buckets lie between it and the one before.
fn packed_places(buckets: &[BucketCount], places: &[BucketPlace]) -> String {
    let (mut text, mut rest) = (String::new(), buckets);
    for (number, place) in places {
        let Some(between) = rest.iter().position(|(at, _)| at == number) else { continue };
        vlq::push(&mut text, between as i64);
        vlq::push(&mut text, i64::from(*place));
        rest = &rest[between + 1..];
    }
    text
}

fn unpacked_places(buckets: &[BucketCount], means: &str) -> Result<Vec<BucketPlace>, String> {
    let numbers = vlq::numbers(means)?;
    let (mut places, mut rest) = (Vec::new(), buckets.iter());
    for pair in numbers.chunks(2) {
        let [between, place] = pair else { return Err(String::from("its last pair is not complete")) };
        let bucket = usize::try_from(*between).ok().and_then(|between| rest.nth(between));
        let (number, _) = bucket.ok_or_else(|| format!("found {between} buckets to pass over, there are fewer"))?;
        let place = u32::try_from(*place).map_err(|_| format!("found the place {place}, expected 0 or more"))?;
        places.push((*number, place));
    }
    Ok(places)
}

/// The buckets of schema 1, and where in them their means lie. Rounding may have carried a mean into the neighbouring
/// bucket.
fn numbered(means: &[(f64, u64)]) -> (Vec<BucketCount>, Vec<BucketPlace>) {
    let (mut buckets, mut places): (Vec<BucketCount>, Vec<BucketPlace>) = (Vec::new(), Vec::new());
    for &(mean, count) in means {
        let number = bucket::number(mean);
        match buckets.last_mut() {
            Some((last, samples)) if *last == number => *samples = samples.saturating_add(count),
            _ => {
                buckets.push((number, count));
                places.push((number, bucket::place(mean)));
            }
        }
    }
    (buckets, places)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn histogram(values: impl IntoIterator<Item = f64>) -> (TrendValue, Histogram) {
        let mut trend = Trend::default();
        values.into_iter().for_each(|value| trend.add(value));
        let value = TrendValue::from(trend);
        let histogram = Histogram::from(&value);
        (value, histogram)
    }

    #[test]
    fn it_answers_as_its_trend_did() {
        let (value, histogram) = histogram((1..=1000).map(|n| f64::from(n) / 7.0).chain([0.0, -3.0]));
        let again = histogram.trend();
        assert_eq!((again.count(), again.min(), again.max()), (1002, -3.0, 1000.0 / 7.0));
        for percent in [1.0, 50.0, 95.0, 99.9] {
            let (found, expected) = (again.percentile(percent), value.percentile(percent));
            assert!((found - expected).abs() <= expected.abs() * 1e-8, "{found} != {expected}");
        }
    }

    #[test]
    fn schema_2_is_bucket_numbers_and_counts() {
        let (_, histogram) = histogram([1.0, 1.0, 1.0 + 1.0 / 1024.0, 2.0]);
        let written = serde_json::to_value(&histogram).expect("JSON");
        // Two samples, one, 1022 empty buckets, one.
        let expected = json!({ "count": 4, "sum": 5.0009765625, "min": 1.0, "max": 2.0, "first": 1_047_553,
                               "counts": "EC9/BC", "means": "AAAAAA" });
        assert_eq!(written, expected);
        assert_eq!(serde_json::from_value::<Histogram>(written).expect("reads back"), histogram);
        let (_, empty) = self::histogram([]);
        let written = serde_json::to_value(&empty).expect("JSON");
        assert_eq!(written, json!({ "count": 0, "sum": 0.0, "min": 0.0, "max": 0.0, "first": 0, "counts": "" }));
        assert_eq!(serde_json::from_value::<Histogram>(written).expect("reads back"), empty);
    }

    #[test]
    fn schema_1_is_read_with_its_means() {
        let old = json!({ "count": 7, "sum": 21.5, "min": -1.5, "max": 9.0,
                          "buckets": [[-1.5, 1], [0.0, 1], [5.0, 1], [5.001, 2], [9.0, 2]] });
        let histogram: Histogram = serde_json::from_value(old).expect("reads");
        let five = bucket::number(5.0);
        let expected = [(bucket::number(-1.5), 1), (0, 1), (five, 3), (bucket::number(9.0), 2)];
        assert_eq!(histogram.buckets, expected);
    }

    #[test]
    fn what_is_no_histogram_says_so() {
        let refused = |counts: serde_json::Value, first: i32| {
            let text = json!({ "count": 1, "sum": 1.0, "min": 1.0, "max": 1.0, "first": first, "counts": counts });
            serde_json::from_value::<Histogram>(text).expect_err("refused").to_string()
        };
        assert_eq!(refused(serde_json::Value::Null, 1), "missing field `counts`");
        assert_eq!(refused("C%".into(), 1), "counts: found no Base64 digit at byte 1");
        let beyond = "counts: found samples in bucket 2147483648, which no value lies in";
        assert_eq!(refused("CC".into(), i32::MAX), beyond);
        let refused = |means: &str| {
            let text =
                json!({ "count": 1, "sum": 1.0, "min": 1.0, "max": 1.0, "first": 1, "counts": "C", "means": means });
            serde_json::from_value::<Histogram>(text).expect_err("refused").to_string()
        };
        assert_eq!(refused("A"), "means: its last pair is not complete");
        assert_eq!(refused("CA"), "means: found 1 buckets to pass over, there are fewer");
        assert_eq!(refused("AD"), "means: found the place -1, expected 0 or more");
    }
}
