//! The `K6_PROMETHEUS_RW_` variables.

use std::collections::BTreeMap;
use std::time::Duration;

use wire::settings::TlsVersions;

use crate::post::Address;
use crate::variables::Variables;

/// What they say.
pub(crate) struct PrometheusSettings {
    pub(crate) address: Address,
    pub(crate) every: Duration,
    /// What is told of trends that are no histograms.
    pub(crate) statistics: Vec<Statistic>,
    /// Trends as native histograms.
    pub(crate) is_native: bool,
    /// The end of the test ends the series.
    pub(crate) marks_stale: bool,
    /// Added to each series that has no tag of the name.
    pub(crate) labels: Vec<(String, String)>,
}

/// A statistic of a trend.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Statistic {
    /// As it ends a metric's name: `p95`.
    pub(crate) name: String,
    pub(crate) of: Of,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Of {
    Count,
    Sum,
    Min,
    Max,
    Avg,
    Percentile(f64),
}

const TIMEOUT: Duration = Duration::from_secs(5);

impl PrometheusSettings {
    pub(crate) fn read(argument: &str, env: &BTreeMap<String, String>) -> Result<PrometheusSettings, String> {
        let given = Variables::new("K6_PROMETHEUS_RW_", env);
        given.refuse(
            &["SIGV4_REGION", "SIGV4_ACCESS_KEY", "SIGV4_SECRET_KEY"],
            "signing for AWS is not offered; send to a proxy that signs",
        )?;
        let (name, url) = match argument {
            "" => (
                "K6_PROMETHEUS_RW_SERVER_URL",
                given.text("SERVER_URL").unwrap_or("http://localhost:9090/api/v1/write"),
            ),
            url => ("the URL", url),
        };
        let mut address = Address::new(name, url, TIMEOUT)?;
        address.header("Content-Encoding", "snappy");
        address.header("Content-Type", "application/x-protobuf");
        address.header("X-Prometheus-Remote-Write-Version", "0.1.0");
        given.authorise(&mut address)?;
        given.identify(&mut address, "CLIENT_CERTIFICATE", "CLIENT_CERTIFICATE_KEY")?;
        address.proxies = given.proxies();
        // The shorter one is in k6's documentation, the other one in k6.
        let versions = ["TLS_MINIMUM_VERSION", "TLS_MIN_VERSION"].map(|name| given.text(name).map(|text| (name, text)));
        let (name, version) = versions.into_iter().flatten().next().unwrap_or(("TLS_MINIMUM_VERSION", "1.3"));
        address.tls.versions = TlsVersions::between(Some(&format!("tls{version}")), None)
            .map_err(|error| format!("K6_PROMETHEUS_RW_{name}: {error}"))?;
        let statistics = given.text("TREND_STATS").unwrap_or("p(99)").split(',').map(str::trim).map(statistic);
        Ok(PrometheusSettings {
            address,
            every: given.span("PUSH_INTERVAL", Duration::from_secs(5))?,
            statistics: statistics
                .collect::<Result<_, _>>()
                .map_err(|error| format!("K6_PROMETHEUS_RW_TREND_STATS: {error}"))?,
            is_native: given.switch("TREND_AS_NATIVE_HISTOGRAM")?,
            marks_stale: given.switch("STALE_MARKERS")?,
            labels: given
                .text("LABELS")
                .map_or_else(|| Ok(Vec::new()), labels)
                .map_err(|error| format!("K6_PROMETHEUS_RW_LABELS: {error}"))?,
        })
    }
}

fn statistic(text: &str) -> Result<Statistic, String> {
    let of = match text {
        "count" => Of::Count,
        "sum" => Of::Sum,
        "min" => Of::Min,
        "max" => Of::Max,
        "avg" => Of::Avg,
        "med" => Of::Percentile(50.0),
        _ => {
            let percent = text.strip_prefix("p(").and_then(|rest| rest.strip_suffix(')'));
            let number = percent.and_then(|number| number.parse().ok()).filter(|number| (0.0..=100.0).contains(number));
            let wrong =
                || format!("found '{text}', expected count, sum, min, max, avg, med or p(N) with N from 0 to 100");
            let name = format!("p{}", percent.unwrap_or_default().replace('.', ""));
            return Ok(Statistic { name, of: Of::Percentile(number.ok_or_else(wrong)?) });
        }
    };
    Ok(Statistic { name: text.to_owned(), of })
}

/// Labels as `name=value`, with commas between them. Names are Prometheus's.
fn labels(text: &str) -> Result<Vec<(String, String)>, String> {
    let is_name = |name: &str| {
        let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        begins && !name.starts_with("__") && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let pairs = text.split(',').map(str::trim).filter(|pair| !pair.is_empty());
    let pairs = pairs.map(|pair| match pair.split_once('=').map(|(name, value)| (name.trim(), value.trim())) {
        Some((name, value)) if is_name(name) => Ok((name.to_owned(), value.to_owned())),
        Some((name, _)) => {
            Err(format!("found the name {name:?}, expected letters, digits and _, not a digit or __ in front"))
        }
        None => Err(format!("found {pair:?}, expected name=value, with commas between labels")),
    });
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_are_read_and_named_as_k6_does() {
        let named = |text: &str| statistic(text).map(|statistic| statistic.name);
        assert_eq!(named("p(99.9)").as_deref(), Ok("p999"));
        assert_eq!(named("med").as_deref(), Ok("med"));
        let expected = "found 'p(200)', expected count, sum, min, max, avg, med or p(N) with N from 0 to 100";
        assert_eq!(named("p(200)"), Err(expected.to_owned()));
        assert!(named("foo").is_err() && named("p95").is_err());
    }

    #[test]
    fn labels_are_pairs_with_names_of_prometheus() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(labels("env=staging, team = a=b,"), Ok(vec![pair("env", "staging"), pair("team", "a=b")]));
        assert_eq!(labels("env").unwrap_err(), "found \"env\", expected name=value, with commas between labels");
        for name in ["", "__name__", "7a", "a-b"] {
            assert!(
                labels(&format!("{name}=x")).unwrap_err().starts_with(&format!("found the name {name:?}")),
                "{name}"
            );
        }
    }
}
