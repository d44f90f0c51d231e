//! Arguments of `--out` and `--traces-output` and their variables, for `cargo xtask fuzz`.

use std::collections::BTreeMap;

use crate::influxdb::settings::{InfluxSettings, Version};
use crate::loki::settings::LokiSettings;
use crate::opentelemetry::settings::OtelSettings;
use crate::opentelemetry::trace_settings::TraceSettings;
use crate::prometheus::settings::PrometheusSettings;

/// The argument on the first line, variables on the others; those that name files are left out.
pub fn settings(input: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(input);
    let mut lines = text.lines();
    let argument = lines.next().unwrap_or_default();
    let names_file = |name: &str| ["CERT", "KEY", "CA"].iter().any(|part| name.contains(part));
    let pairs = lines.filter_map(|line| line.split_once('=')).filter(|(name, _)| !names_file(name));
    let env: BTreeMap<String, String> = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let said = [
        InfluxSettings::read(Version::One, argument, &env).err(),
        InfluxSettings::read(Version::Two, argument, &env).err(),
        LokiSettings::read(argument).err(),
        OtelSettings::read(&env).err(),
        PrometheusSettings::read(argument, &env).err(),
        TraceSettings::read(argument).err(),
    ];
    match said.into_iter().flatten().find(String::is_empty) {
        Some(_) => Err(String::from("an error without a text")),
        None => Ok(()),
    }
}
