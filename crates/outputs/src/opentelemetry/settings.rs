//! The `K6_OTEL_` variables.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::post::Address;
use crate::variables::Variables;

/// What they say.
pub(crate) struct OtelSettings {
    pub(crate) address: Address,
    pub(crate) protocol: Protocol,
    pub(crate) every: Duration,
    pub(crate) service: String,
    pub(crate) version: String,
    /// Before the name of each metric.
    pub(crate) prefix: String,
}

/// How a collector is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    Grpc,
    Http,
}

const TIMEOUT: Duration = Duration::from_secs(10);

impl OtelSettings {
    pub(crate) fn read(env: &BTreeMap<String, String>) -> Result<OtelSettings, String> {
        let given = Variables::new("K6_OTEL_", env);
        let named = given.text("EXPORTER_PROTOCOL");
        given.refuse(&["EXPORTER_TYPE"], "k6 has taken it away; use K6_OTEL_EXPORTER_PROTOCOL")?;
        let protocol = match named.unwrap_or("grpc") {
            "grpc" => Protocol::Grpc,
            "http/protobuf" => Protocol::Http,
            other => {
                return Err(format!("K6_OTEL_EXPORTER_PROTOCOL: found '{other}', expected grpc or http/protobuf"));
            }
        };
        let mut address = address(protocol, &given)?;
        for pair in given.text("HEADERS").into_iter().flat_map(|text| text.split(',')) {
            let (name, value) = pair
                .split_once('=')
                .filter(|(name, _)| !name.trim().is_empty())
                .ok_or_else(|| format!("K6_OTEL_HEADERS: found '{pair}', expected name=value"))?;
            let decoded = percent_encoding::percent_decode_str(value.trim()).decode_utf8_lossy();
            address.header(name.trim(), decoded);
        }
        given.span("FLUSH_INTERVAL", Duration::from_secs(1))?;
        Ok(OtelSettings {
            address,
            protocol,
            every: given.span("EXPORT_INTERVAL", Duration::from_secs(10))?,
            service: given.text("SERVICE_NAME").unwrap_or("k6").to_owned(),
            version: given.text("SERVICE_VERSION").unwrap_or(env!("CARGO_PKG_VERSION")).to_owned(),
            prefix: given.text("METRIC_PREFIX").unwrap_or_default().to_owned(),
        })
    }
}

fn address(protocol: Protocol, given: &Variables<'_>) -> Result<Address, String> {
    let (kind, standard, path) = match protocol {
        Protocol::Grpc => ("GRPC_EXPORTER_", "localhost:4317", super::grpc::EXPORT),
        Protocol::Http => {
            let path = given.text("HTTP_EXPORTER_URL_PATH").unwrap_or("/v1/metrics");
            ("HTTP_EXPORTER_", "localhost:4318", path)
        }
    };
    let scheme = if given.switch(&format!("{kind}INSECURE"))? { "http" } else { "https" };
    let place = given.text(&format!("{kind}ENDPOINT")).unwrap_or(standard);
    if place.contains("://") {
        return Err(format!("K6_OTEL_{kind}ENDPOINT: found '{place}', expected host:port without http://"));
    }
    let slash = if path.starts_with('/') { "" } else { "/" };
    let url = format!("{scheme}://{place}{slash}{path}");
    let mut address = Address::new(&format!("K6_OTEL_{kind}ENDPOINT"), &url, TIMEOUT)?;
    if protocol == Protocol::Http {
        address.header("Content-Type", "application/x-protobuf");
        if let Some(user) = given.text("HTTP_EXPORTER_USERNAME") {
            address.authorise(user, given.text("HTTP_EXPORTER_PASSWORD").unwrap_or_default());
        }
    }
    address.tls.insecure_skip_verify = given.switch("TLS_INSECURE_SKIP_VERIFY")?;
    if let Some(path) = given.text("TLS_CERTIFICATE") {
        let pem = std::fs::read_to_string(path);
        address.tls.trusted_pem =
            Some(pem.map_err(|error| format!("K6_OTEL_TLS_CERTIFICATE: cannot read '{path}': {error}"))?);
    }
    given.identify(&mut address, "TLS_CLIENT_CERTIFICATE", "TLS_CLIENT_KEY")?;
    address.proxies = given.proxies();
    Ok(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(env: &[(&str, &str)]) -> Result<OtelSettings, String> {
        let env = env.iter().map(|(name, value)| (format!("K6_OTEL_{name}"), (*value).to_owned())).collect();
        OtelSettings::read(&env)
    }

    #[test]
    fn the_defaults_are_those_of_k6() {
        let settings = read(&[]).unwrap();
        let path = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export";
        assert_eq!(settings.address.url, format!("https://localhost:4317{path}"));
        assert_eq!((settings.every, settings.service.as_str()), (Duration::from_secs(10), "k6"));
        let http = read(&[("EXPORTER_PROTOCOL", "http/protobuf"), ("HTTP_EXPORTER_INSECURE", "true")]).unwrap();
        assert_eq!(http.address.url, "http://localhost:4318/v1/metrics");
    }

    #[test]
    fn what_is_wrong_is_named() {
        let wrong = |name: &str, value: &str| read(&[(name, value)]).map(|_| ()).unwrap_err();
        let expected = "K6_OTEL_EXPORTER_PROTOCOL: found 'foo', expected grpc or http/protobuf";
        assert_eq!(wrong("EXPORTER_PROTOCOL", "foo"), expected);
        assert_eq!(wrong("HEADERS", "foo"), "K6_OTEL_HEADERS: found 'foo', expected name=value");
        let expected = "K6_OTEL_GRPC_EXPORTER_ENDPOINT: found 'http://h:1', expected host:port without http://";
        assert_eq!(wrong("GRPC_EXPORTER_ENDPOINT", "http://h:1"), expected);
        let expected = "K6_OTEL_TLS_CLIENT_CERTIFICATE: found no K6_OTEL_TLS_CLIENT_KEY, expected the file of its key";
        assert_eq!(wrong("TLS_CLIENT_CERTIFICATE", "c.pem"), expected);
        let expected = "K6_OTEL_TLS_CLIENT_KEY: found no K6_OTEL_TLS_CLIENT_CERTIFICATE, expected its certificate";
        assert_eq!(wrong("TLS_CLIENT_KEY", "k.pem"), expected);
        assert!(wrong("EXPORT_INTERVAL", "x").starts_with("K6_OTEL_EXPORT_INTERVAL: 'x' is not a duration"));
    }
}
