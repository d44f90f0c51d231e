//! What clients of other programs share: how they connect, what they take from scripts, what they measure.

#[cfg(any(feature = "dns", feature = "kafka", feature = "mqtt", feature = "redis", feature = "sql", feature = "tcp"))]
#[cfg_attr(
    not(any(feature = "kafka", feature = "redis", feature = "sql")),
    allow(dead_code, reason = "not every protocol takes certificates from scripts")
)]
pub mod dial;
#[cfg(any(feature = "kafka", feature = "redis"))]
pub mod json_options;
#[cfg(any(feature = "dns", feature = "kafka", feature = "mqtt", feature = "tcp"))]
#[cfg_attr(
    not(all(feature = "dns", any(feature = "kafka", feature = "mqtt", feature = "tcp"))),
    allow(dead_code, reason = "series are kept by some protocols and looked up by others")
)]
pub mod metric_table;
