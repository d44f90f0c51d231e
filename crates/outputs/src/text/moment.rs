//! Moments as text. Samples of one request have one moment, and those of one second most of their text: both are kept.

use super::number::push_whole;

/// How a moment is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MomentForm {
    /// Seconds, milliseconds, microseconds or nanoseconds since the Unix epoch: this many nanoseconds each.
    Unix(u64),
    /// RFC 3339 in UTC, whole seconds.
    Rfc3339,
    /// RFC 3339 in UTC, with as many digits as it takes.
    Rfc3339Nano,
}

/// The text of the moment asked for last.
pub(crate) struct Moment {
    form: MomentForm,
    at_ns: u64,
    text: Vec<u8>,
    /// Of the second that the text begins with.
    second: u64,
    seconds: Vec<u8>,
}

const SECOND: u64 = 1_000_000_000;

impl Moment {
    pub(crate) fn new(form: MomentForm) -> Moment {
        Moment { form, at_ns: u64::MAX, text: Vec::new(), second: u64::MAX, seconds: Vec::new() }
    }

    /// The text of a moment, nanoseconds since the Unix epoch.
    pub(crate) fn text(&mut self, at_ns: u64) -> &[u8] {
        if at_ns != self.at_ns {
            self.at_ns = at_ns;
            self.make(at_ns);
        }
        &self.text
    }

    fn make(&mut self, at_ns: u64) {
        self.text.clear();
        if let MomentForm::Unix(unit) = self.form {
            push_whole(&mut self.text, at_ns / unit);
            return;
        }
        if at_ns / SECOND != self.second {
            self.second = at_ns / SECOND;
            self.seconds = units::date::rfc3339(self.second).into_bytes();
            // Without the Z, which comes behind the fraction.
            self.seconds.pop();
        }
        self.text.extend_from_slice(&self.seconds);
        let mut rest = at_ns % SECOND;
        if self.form == MomentForm::Rfc3339Nano && rest > 0 {
            let mut digits = *b".000000000";
            for digit in digits[1..].iter_mut().rev() {
                *digit = b'0' + (rest % 10) as u8;
                rest /= 10;
            }
            let end = digits.iter().rposition(|digit| *digit != b'0').unwrap_or(0);
            self.text.extend_from_slice(&digits[..=end]);
        }
        self.text.push(b'Z');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_read_as_those_of_k6() {
        let at = 1_795_440_195_914_469_920;
        let cases = [
            (MomentForm::Unix(SECOND), at, "1795440195"),
            (MomentForm::Unix(1_000_000), at, "1795440195914"),
            (MomentForm::Unix(1), at, "1795440195914469920"),
            (MomentForm::Rfc3339, at, "2026-11-23T13:23:15Z"),
            (MomentForm::Rfc3339Nano, at, "2026-11-23T13:23:15.91446992Z"),
            (MomentForm::Rfc3339Nano, 1_795_440_195_000_000_000, "2026-11-23T13:23:15Z"),
            (MomentForm::Rfc3339Nano, 1_795_440_195_000_000_001, "2026-11-23T13:23:15.000000001Z"),
            (MomentForm::Rfc3339Nano, 1_795_440_195_100_000_000, "2026-11-23T13:23:15.1Z"),
        ];
        for (form, at, expected) in cases {
            let mut moment = Moment::new(form);
            assert_eq!(moment.text(at), expected.as_bytes());
            assert_eq!(moment.text(at), expected.as_bytes(), "asked again");
            moment.text(at + SECOND);
            assert_eq!(moment.text(at), expected.as_bytes(), "after another second");
        }
    }
}
