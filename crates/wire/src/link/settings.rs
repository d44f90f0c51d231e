//! What a link is like, and how people write it.

use std::time::Duration;

use units::Bandwidth;

/// A link.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkSettings {
    /// To the user; `None`: as fast as it comes.
    pub download: Option<Bandwidth>,
    /// From the user.
    pub upload: Option<Bandwidth>,
    /// Of the round trip, in addition to that of the real network.
    pub latency: Duration,
    /// Each way is up to so much longer or shorter, evenly spread.
    pub jitter: Duration,
    /// Share of packets that are lost, from 0 up to 1, not included. A lost packet comes again later: TCP's
    /// retransmission.
    pub loss: f64,
}

/// Names of links, with download, upload and latency. The first three are the profiles that web performance tools go
/// by.
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
        let rate = |text| Bandwidth::parse(text).ok();
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
