//! What a link is like, and how people write it.

use std::time::Duration;

/// Bits per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate(f64);

/// The units of rates: bits per second.
const UNITS: &str = "bps, kbps, mbps, gbps";

impl Rate {
    /// Reads `60.76mbps`, in any case, a space before the unit or none. The error says what was expected.
    pub fn parse(text: &str) -> Result<Rate, String> {
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
        let rate = number.trim().parse::<f64>().ok().map(|number| number * scale).filter(|bits| bits.is_finite());
        match rate.filter(|bits| *bits >= 1000.0) {
            Some(bits) => Ok(Rate(bits)),
            None => Err(format!("found {text:?}, expected at least 1kbps")),
        }
    }

    /// How long so many bytes take.
    pub(crate) fn time_of(self, bytes: usize) -> Duration {
        Duration::from_secs_f64(bytes as f64 * 8.0 / self.0)
    }

    /// Bytes of so long a time.
    pub(crate) fn bytes_in(self, time: Duration) -> usize {
        (self.0 / 8.0 * time.as_secs_f64()) as usize
    }
}

/// A link.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkSettings {
    /// To the user; `None`: as fast as it comes.
    pub download: Option<Rate>,
    /// From the user.
    pub upload: Option<Rate>,
    /// Of the round trip, in addition to that of the real network.
    pub latency: Duration,
    /// Each way is up to so much longer or shorter, evenly spread.
    pub jitter: Duration,
    /// Share of packets that are lost, from 0 up to 1, not included. A lost packet comes again later: TCP's retransmission.
    pub loss: f64,
}

/// Names of links, with download, upload and latency. The first three are the profiles that web performance tools go by.
#[rustfmt::skip]
const PRESETS: [(&str, &str, &str, Duration); 4] = [
    ("3g", "1.6mbps", "768kbps", Duration::from_millis(300)),
    ("4g", "9mbps", "9mbps", Duration::from_millis(170)),
    ("cable", "5mbps", "1mbps", Duration::from_millis(28)),
    ("speedtest-2022", "60.76mbps", "25.95mbps", Duration::from_millis(10)),
];

impl LinkSettings {
    /// A link by its name; the error lists the names.
    pub fn preset(name: &str) -> Result<LinkSettings, String> {
        let known = PRESETS.iter().find(|(known, ..)| known.eq_ignore_ascii_case(name));
        let Some((_, download, upload, latency)) = known else {
            let names: Vec<&str> = PRESETS.iter().map(|(name, ..)| *name).collect();
            return Err(format!("found {name:?}, expected one of {}", names.join(", ")));
        };
        let rate = |text| Rate::parse(text).ok();
        Ok(LinkSettings {
            download: rate(download),
            upload: rate(upload),
            latency: *latency,
            ..LinkSettings::default()
        })
    }

    /// Whether it changes nothing.
    pub fn is_none(&self) -> bool {
        *self == LinkSettings::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_bits() {
        for (text, bits) in [("64kbps", 64e3), ("60.76mbps", 60.76e6), ("1 Gbps", 1e9), ("8000bps", 8e3)] {
            assert_eq!(Rate::parse(text), Ok(Rate(bits)), "{text}");
        }
        for text in ["", "10", "10mb", "10 mbit/s", "fast"] {
            let message = format!(
                "found {text:?}, expected a number with one of the units bps, kbps, mbps, gbps, as in \"10mbps\""
            );
            assert_eq!(Rate::parse(text), Err(message));
        }
        for text in ["0mbps", "-5mbps", "999bps", "xmbps", "infmbps"] {
            assert!(Rate::parse(text).is_err(), "{text}");
        }
        assert_eq!(Rate(8e6).time_of(1_000_000), Duration::from_secs(1));
        assert_eq!(Rate(8e6).bytes_in(Duration::from_millis(1)), 1000);
    }

    #[test]
    fn presets_can_be_read() {
        for (name, ..) in PRESETS {
            let link = LinkSettings::preset(name).unwrap();
            assert!(link.download.is_some() && link.upload.is_some() && !link.is_none());
        }
        let message = "found \"5g\", expected one of 3g, 4g, cable, speedtest-2022";
        assert_eq!(LinkSettings::preset("5g"), Err(String::from(message)));
        assert!(LinkSettings::default().is_none());
    }
}
