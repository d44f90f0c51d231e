//! The option `network`: the link that every virtual user gets, for the whole test or for a scenario.
//!
//! The engine carries the field of a scenario as it was given, because it knows no network; it is read here once.

use std::time::Duration;

use serde_json::{Map, Value};
use units::{Bandwidth, Span};
use wire::link::LinkSettings;

use super::read;
use super::written::Written;

const FIELDS: &str = "download, upload, latency, jitter, loss";

/// The option.
pub(super) fn network(value: &Value) -> Result<Written<LinkSettings>, String> {
    settings(value).map(|link| Written::new(link, value.clone()))
}

/// A name, `field=value` pairs with commas between them (what a flag gives), or an object of fields.
pub(super) fn settings(value: &Value) -> Result<LinkSettings, String> {
    match value {
        Value::String(text) if text.contains('=') => of_fields(&pairs(text)?),
        Value::String(name) => LinkSettings::preset(name),
        Value::Object(fields) => of_fields(fields),
        other => read::expected(other, &format!("the name of a link or an object with some of {FIELDS}")),
    }
}

fn pairs(text: &str) -> Result<Map<String, Value>, String> {
    let one = |pair: &str| match pair.split_once('=') {
        Some((name, value)) => Ok((name.trim().to_owned(), Value::from(value.trim()))),
        None => Err(format!("found {pair:?}, expected pairs such as download=10mbps,latency=20ms")),
    };
    text.split(',').map(one).collect()
}

fn of_fields(fields: &Map<String, Value>) -> Result<LinkSettings, String> {
    let mut link = LinkSettings::default();
    for (name, value) in fields {
        let named = |problem: String| format!("{name}: {problem}");
        match name.as_str() {
            "download" => link.download = Some(rate(value).map_err(named)?),
            "upload" => link.upload = Some(rate(value).map_err(named)?),
            "latency" => link.latency = time(value).map_err(named)?,
            "jitter" => link.jitter = time(value).map_err(named)?,
            "loss" => link.loss = share(value).map_err(named)?,
            _ => return Err(format!("found a field {name:?}, expected some of {FIELDS}")),
        }
    }
    if link.jitter > link.latency / 2 {
        let (jitter, half) = (link.jitter, link.latency / 2);
        return Err(format!(
            "jitter: found {jitter:?}, expected at most half of the latency, {half:?}: each way is half of it"
        ));
    }
    Ok(link)
}

fn rate(value: &Value) -> Result<Bandwidth, String> {
    match value {
        Value::String(text) => Bandwidth::parse(text),
        other => Bandwidth::parse(&other.to_string()),
    }
}

fn time(value: &Value) -> Result<Duration, String> {
    let time = match value.as_str().map(str::trim) {
        Some("0") => Some(Duration::ZERO),
        text => text.and_then(Span::parse_with_unit).and_then(Span::to_duration),
    };
    time.map_or_else(|| read::expected(value, "a time with its unit, as in \"10ms\""), Ok)
}

/// A number from 0 up to 1, or `2%`.
fn share(value: &Value) -> Result<f64, String> {
    let share = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => match text.trim().strip_suffix('%') {
            Some(percent) => percent.trim().parse::<f64>().ok().map(|percent| percent / 100.0),
            None => text.trim().parse().ok(),
        },
        _ => None,
    };
    match share.filter(|share| (0.0..1.0).contains(share)) {
        Some(share) => Ok(share),
        None => read::expected(value, "a share from 0 up to 1, not included, or a percentage such as \"2%\""),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn links_are_named_or_described() {
        let ms = Duration::from_millis;
        let described = LinkSettings {
            download: Bandwidth::parse("60.76mbps").ok(),
            upload: Bandwidth::parse("25.95mbps").ok(),
            latency: ms(10),
            ..LinkSettings::default()
        };
        for value in [
            json!("speedtest-2022"),
            json!({ "download": "60.76mbps", "upload": "25.95mbps", "latency": "10ms" }),
            json!("download=60.76mbps, upload=25.95mbps, latency=10ms"),
        ] {
            assert_eq!(settings(&value), Ok(described.clone()), "{value}");
        }
        let shaky = settings(&json!({ "latency": "0.1s", "jitter": "5ms", "loss": "2%" })).unwrap();
        assert_eq!((shaky.latency, shaky.jitter, shaky.loss), (ms(100), ms(5), 0.02));
    }

    #[test]
    fn what_cannot_be_says_what_could() {
        let table = [
            (json!("5g"), "found \"5g\", expected one of 3g, 4g, cable, speedtest-2022"),
            (
                json!(5),
                "found 5, expected the name of a link or an object with some of download, upload, latency, jitter, \
                 loss",
            ),
            (
                json!({ "download": "10mb/s" }),
                "download: found \"10mb/s\", expected a number with one of the units bps, kbps, mbps, gbps, as in \
                 \"10mbps\"",
            ),
            (
                json!({ "upload": 5 }),
                "upload: found \"5\", expected a number with one of the units bps, kbps, mbps, gbps, as in \"10mbps\"",
            ),
            (json!({ "latency": 10 }), "latency: found 10, expected a time with its unit, as in \"10ms\""),
            (json!({ "latency": "10" }), "latency: found \"10\", expected a time with its unit, as in \"10ms\""),
            (
                json!({ "speed": "1mbps" }),
                "found a field \"speed\", expected some of download, upload, latency, jitter, loss",
            ),
            (
                json!({ "loss": 1 }),
                "loss: found 1, expected a share from 0 up to 1, not included, or a percentage such as \"2%\"",
            ),
            (
                json!({ "latency": "10ms", "jitter": "8ms" }),
                "jitter: found 8ms, expected at most half of the latency, 5ms: each way is half of it",
            ),
        ];
        for (value, problem) in table {
            assert_eq!(settings(&value), Err(String::from(problem)), "{value}");
        }
    }
}
