//! Native histograms of Prometheus: buckets whose borders grow by 9 % each (schema 3), as those of k6.
//!
//! The buckets of a `Trend` are fifteen times as fine. Each goes whole into the bucket that its mean is in, so a value
//! within 0.1 % of a border may be counted beyond it.

use std::collections::BTreeMap;

use metrics::Trend;

use crate::proto::Message;

/// Buckets are 2^(2^-3) wide.
const SCHEMA: i64 = 3;
/// Values this close to 0 are zeros: the smallest normal number of 32 bits, doubled and halved as Prometheus has it.
const ZERO: f64 = 2.938735877055719e-39;
/// Empty buckets up to here are written as such; a gap costs as much.
const GAP: i32 = 2;

/// Writes the histogram of a trend whose values times `unit` are what Prometheus gets.
pub(super) fn write(message: &mut Message, trend: &Trend, unit: f64, at_ms: u64) {
    let (mut zeros, mut positive, mut negative) = (0, BTreeMap::new(), BTreeMap::new());
    for (mean, count) in trend.buckets() {
        let value = mean * unit;
        if value.abs() <= ZERO {
            zeros += count;
        } else {
            let side = if value > 0.0 { &mut positive } else { &mut negative };
            *side.entry(bucket(value.abs())).or_insert(0) += count;
        }
    }
    let sides = positive.values().chain(negative.values()).sum::<u64>();
    debug_assert_eq!(zeros + sides, trend.count(), "each sample is in a bucket");
    message.uint(1, trend.count());
    message.double(3, trend.sum() * unit);
    message.sint(4, SCHEMA);
    message.double(5, ZERO);
    message.uint(6, zeros);
    write_side(message, (8, 9), &negative);
    write_side(message, (11, 12), &positive);
    message.uint(15, at_ms);
}

/// Bucket n has what is above 2^((n-1)/8) and not above 2^(n/8).
fn bucket(size: f64) -> i32 {
    (size.log2() * f64::from(1 << SCHEMA)).ceil() as i32
}

/// Spans of buckets, and the counts as differences from one to the next.
fn write_side(message: &mut Message, (spans, deltas): (u32, u32), buckets: &BTreeMap<i32, u64>) {
    let mut runs: Vec<(i32, u32)> = Vec::new();
    let mut counts: Vec<u64> = Vec::new();
    let mut next = None;
    for (&at, &count) in buckets {
        match (runs.last_mut(), next) {
            (Some(run), Some(next)) if at - next <= GAP => {
                counts.extend(std::iter::repeat_n(0, (at - next) as usize));
                run.1 += (at - next) as u32 + 1;
            }
            _ => runs.push((at - next.unwrap_or(0), 1)),
        }
        counts.push(count);
        next = Some(at + 1);
    }
    debug_assert_eq!(
        runs.iter().map(|(_, length)| *length as usize).sum::<usize>(),
        counts.len(),
        "spans say where each count belongs"
    );
    for (offset, length) in runs {
        message.message(spans, |span| {
            span.sint(1, i64::from(offset));
            span.uint(2, u64::from(length));
        });
    }
    if !counts.is_empty() {
        let before = std::iter::once(&0).chain(&counts);
        message.packed_sint(deltas, counts.iter().zip(before).map(|(count, before)| *count as i64 - *before as i64));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_in_the_buckets_of_k6() {
        // 7 ms is in the bucket that k6 2.2 wrote it to: offset -57 as sint, 113 as it stands in the message.
        assert_eq!(bucket(0.007), -57);
        assert_eq!([bucket(1.0), bucket(1.000_000_1), bucket(2.0), bucket(3.5), bucket(4.0)], [0, 1, 8, 15, 16]);
    }

    #[test]
    fn small_gaps_are_written_as_empty_buckets_and_large_ones_begin_a_span() {
        let mut message = Message::default();
        write_side(&mut message, (11, 12), &BTreeMap::from([(-3, 2), (-2, 1), (1, 4), (9, 1)]));
        let mut expected = Message::default();
        for (offset, length) in [(-3, 5), (7, 1)] {
            expected.message(11, |span| {
                span.sint(1, offset);
                span.uint(2, length);
            });
        }
        expected.packed_sint(12, [2, -1, -1, 0, 4, -3]);
        assert_eq!(message.0, expected.0);
    }
}
