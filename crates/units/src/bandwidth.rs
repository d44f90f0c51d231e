//! How much a link carries: bits per second, in powers of 1000 as network people count.

use std::time::Duration;

/// Bits per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bandwidth(f64);

/// The units: bits per second.
const UNITS: &str = "bps, kbps, mbps, gbps";

/// Slower links than this would need minutes for one packet.
const LEAST_BITS: f64 = 1000.0;

impl Bandwidth {
    /// Reads `60.76mbps`, in any case, a space before the unit or none. The error says what was expected.
    pub fn parse(text: &str) -> Result<Bandwidth, String> {
        let lower = text.trim().to_ascii_lowercase();
        let (number, unit) = lower.split_at(lower.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(lower.len()));
        let scale = match unit.trim() {
            "bps" => 1.0,
            "kbps" => 1e3,
            "mbps" => 1e6,
            "gbps" => 1e9,
            _ => {
                return Err(format!(
                    "found {text:?}, expected a number with one of the units {UNITS}, as in \"10mbps\""
                ));
            }
        };
        let bits = number.trim().parse::<f64>().ok().map(|number| number * scale);
        match bits.filter(|bits| bits.is_finite() && *bits >= LEAST_BITS) {
            Some(bits) => Ok(Bandwidth(bits)),
            None => Err(format!("found {text:?}, expected at least 1kbps")),
        }
    }

    /// How long this many bytes take.
    pub fn time_of(self, bytes: usize) -> Duration {
        debug_assert!(self.0 >= LEAST_BITS, "slower ones are refused: {}", self.0);
        Duration::from_secs_f64(bytes as f64 * 8.0 / self.0)
    }

    /// Bytes of so long a time.
    pub fn bytes_in(self, time: Duration) -> usize {
        debug_assert!(self.0 >= LEAST_BITS, "slower ones are refused: {}", self.0);
        (self.0 / 8.0 * time.as_secs_f64()) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bandwidths_are_bits() {
        for (text, bits) in
            [("64kbps", 64e3), ("60.76mbps", 60.76e6), ("1 Gbps", 1e9), ("8000bps", 8e3), ("1kbps", 1e3)]
        {
            assert_eq!(Bandwidth::parse(text), Ok(Bandwidth(bits)), "{text}");
        }
        for text in ["", "10", "10mb", "10 mbit/s", "fast", "xmbps", "infmbps"] {
            let message = format!(
                "found {text:?}, expected a number with one of the units bps, kbps, mbps, gbps, as in \"10mbps\""
            );
            assert_eq!(Bandwidth::parse(text), Err(message));
        }
        for text in ["0mbps", "-5mbps", "999bps", "+mbps"] {
            assert_eq!(Bandwidth::parse(text), Err(format!("found {text:?}, expected at least 1kbps")));
        }
        assert_eq!(Bandwidth(8e6).time_of(1_000_000), Duration::from_secs(1));
        assert_eq!(Bandwidth(8e6).bytes_in(Duration::from_millis(1)), 1000);
    }
}
