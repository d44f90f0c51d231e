//! What the script gives: configurations of writers, readers, connections and topics, under the names of k6's
//! extension. Times are nanoseconds, or texts like `2s`; what is unknown is named in a warning, because k6 ignores it.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use host::js::{Ctx, Result, Value};
use script::Vu;
use script::go_error;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value as Json;
use units::Span;
use wire::client::TlsConfigs;
use wire::settings::TlsVersions;

use super::sasl::{Mechanism, SaslLogin};
use crate::client::dial::{Certificates, Place};
use crate::client::json_options;

/// Without a word of the script.
const TIMEOUT: Duration = Duration::from_secs(10);
const PORT: u16 = 9092;

/// How brokers are reached.
pub struct Access {
    /// TLS, if they want it.
    pub tls: Option<Rc<TlsConfigs>>,
    /// Who logs in, if somebody does.
    pub sasl: Option<SaslLogin>,
    /// For a connection, and for a response beyond what the request itself may take.
    pub timeout: Duration,
}

/// What is unknown.
type Rest = BTreeMap<String, Json>;

/// `WriterConfig`.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WriterConfig {
    pub brokers: Vec<String>,
    pub topic: String,
    pub auto_create_topic: bool,
    pub balancer: String,
    pub max_attempts: u32,
    pub batch_size: usize,
    pub batch_bytes: usize,
    #[serde(deserialize_with = "time")]
    pub batch_timeout: Duration,
    #[serde(deserialize_with = "time")]
    pub read_timeout: Duration,
    #[serde(deserialize_with = "time")]
    pub write_timeout: Duration,
    pub required_acks: i16,
    pub compression: String,
    pub connect_logger: bool,
    pub sasl: Option<SaslConfig>,
    pub tls: Option<TlsConfig>,
    #[serde(flatten)]
    rest: Rest,
}

/// `ReaderConfig`.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReaderConfig {
    pub brokers: Vec<String>,
    #[serde(alias = "groupID")]
    pub group_id: String,
    pub group_topics: Vec<String>,
    pub topic: String,
    pub partition: i32,
    pub queue_capacity: usize,
    pub min_bytes: i32,
    pub max_bytes: i32,
    #[serde(deserialize_with = "time")]
    pub read_batch_timeout: Duration,
    #[serde(deserialize_with = "time")]
    pub max_wait: Duration,
    #[serde(deserialize_with = "time")]
    pub read_lag_interval: Duration,
    pub group_balancers: Vec<String>,
    #[serde(deserialize_with = "time")]
    pub heartbeat_interval: Duration,
    #[serde(deserialize_with = "time")]
    pub commit_interval: Duration,
    #[serde(deserialize_with = "time")]
    pub partition_watch_interval: Duration,
    pub watch_partition_changes: bool,
    #[serde(deserialize_with = "time")]
    pub session_timeout: Duration,
    #[serde(deserialize_with = "time")]
    pub rebalance_timeout: Duration,
    #[serde(deserialize_with = "time")]
    pub join_group_backoff: Duration,
    #[serde(deserialize_with = "time")]
    pub retention_time: Duration,
    pub start_offset: Option<Json>,
    #[serde(deserialize_with = "time")]
    pub read_backoff_min: Duration,
    #[serde(deserialize_with = "time")]
    pub read_backoff_max: Duration,
    pub connect_logger: bool,
    pub max_attempts: u32,
    pub isolation_level: Option<Json>,
    pub offset: i64,
    pub sasl: Option<SaslConfig>,
    pub tls: Option<TlsConfig>,
    #[serde(flatten)]
    rest: Rest,
}

/// `ConnectionConfig`.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ConnectionConfig {
    pub address: String,
    pub brokers: Vec<String>,
    pub sasl: Option<SaslConfig>,
    pub tls: Option<TlsConfig>,
    #[serde(flatten)]
    rest: Rest,
}

/// `TopicConfig`.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TopicConfig {
    pub topic: String,
    pub num_partitions: i32,
    pub replication_factor: i16,
    pub replica_assignments: Vec<ReplicaAssignment>,
    pub config_entries: Vec<ConfigEntry>,
    #[serde(flatten)]
    rest: Rest,
}

/// The brokers of a partition.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct ReplicaAssignment {
    pub partition: i32,
    pub replicas: Vec<i32>,
}

/// A setting of a topic.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ConfigEntry {
    pub config_name: String,
    pub config_value: String,
}

/// `SASLConfig`.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct SaslConfig {
    username: String,
    password: String,
    algorithm: String,
    #[serde(flatten)]
    rest: Rest,
}

/// `TLSConfig`.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TlsConfig {
    #[serde(alias = "enableTLS")]
    enable_tls: bool,
    #[serde(alias = "insecureSkipTLSVerify")]
    insecure_skip_tls_verify: bool,
    min_version: String,
    client_cert_pem: String,
    client_key_pem: String,
    server_ca_pem: String,
    #[serde(flatten)]
    rest: Rest,
}

/// A configuration that knows what it does not know.
pub trait Config: DeserializeOwned + Default {
    /// Names that mean nothing.
    fn unknown(&self) -> Vec<&String>;
}

macro_rules! config {
    ($($name:ty: $($inner:ident)*;)*) => {
        $(impl Config for $name {
            fn unknown(&self) -> Vec<&String> {
                let inner: [Vec<&String>; 0 $(+ { stringify!($inner); 1 })*] =
                    [$(self.$inner.as_ref().map(|inner| inner.rest.keys().collect()).unwrap_or_default()),*];
                self.rest.keys().chain(inner.into_iter().flatten()).collect()
            }
        })*
    };
}

config! {
    WriterConfig: sasl tls;
    ReaderConfig: sasl tls;
    ConnectionConfig: sasl tls;
    TopicConfig: ;
}

/// Reads the argument of `what`; throws what is wrong with it.
pub fn read<'js, T: Config>(ctx: &Ctx<'js>, what: &str, value: Option<Value<'js>>) -> Result<T> {
    let Some(value) = value.filter(Value::is_object) else {
        return Err(go_error::throw(ctx, &format!("{what}: expected an object of options")));
    };
    let read = json_options::of_script::<T>(ctx, value)?;
    let config = read.map_err(|why| go_error::throw(ctx, &format!("{what}: {why}")))?;
    for name in config.unknown() {
        Vu::of(ctx).log().warn(&format!("{what}: unknown option {name:?} is ignored"), &[]);
    }
    Ok(config)
}

fn time<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Duration, D::Error> {
    let value = Json::deserialize(deserializer)?;
    let wrong = || serde::de::Error::custom(format!("found {value}, expected nanoseconds or a text like \"2s\""));
    match &value {
        Json::Null => Ok(Duration::ZERO),
        Json::Number(number) => {
            let nanoseconds = number.as_f64().filter(|number| (0.0..=1e18).contains(number)).ok_or_else(wrong)?;
            Ok(Duration::from_nanos(nanoseconds as u64))
        }
        Json::String(text) => match Span::parse(text).ok().and_then(Span::to_duration) {
            Some(time) => Ok(time),
            None => Err(wrong()),
        },
        _ => Err(wrong()),
    }
}

/// Addresses of brokers: `host:port`.
pub fn places(texts: &[String]) -> std::result::Result<Vec<Place>, String> {
    if texts.is_empty() {
        return Err(String::from("brokers: found none, expected addresses like \"127.0.0.1:9092\""));
    }
    let place = |text: &String| {
        let wrong = || format!("brokers: found {text:?}, expected host:port");
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) if !host.contains(':') || host.ends_with(']') => {
                (host, port.parse().map_err(|_| wrong())?)
            }
            _ => (text.as_str(), PORT),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        if host.is_empty() { Err(wrong()) } else { Ok(Place { host, port }) }
    };
    texts.iter().map(place).collect()
}

/// How brokers are reached; files of certificates are read now.
pub fn access(
    vu: &Vu,
    sasl: Option<SaslConfig>,
    tls: Option<TlsConfig>,
    timeout: Duration,
) -> std::result::Result<Access, String> {
    let tls = tls.filter(|tls| tls.enable_tls);
    let sasl = match &sasl {
        None => None,
        Some(sasl) => login(sasl, tls.is_some())?,
    };
    let tls = tls.map(|tls| configs(vu, &tls)).transpose()?.map(Rc::new);
    Ok(Access { tls, sasl, timeout: if timeout.is_zero() { TIMEOUT } else { timeout } })
}

fn login(sasl: &SaslConfig, is_secure: bool) -> std::result::Result<Option<SaslLogin>, String> {
    let mechanism = match sasl.algorithm.as_str() {
        "" | "none" => return Ok(None),
        // The certificate says who it is.
        "sasl_ssl" if is_secure => return Ok(None),
        "sasl_ssl" => return Err(String::from("sasl: sasl_ssl needs tls with enableTls")),
        "sasl_plain" => Mechanism::Plain,
        "sasl_scram_sha256" => Mechanism::Scram256,
        "sasl_scram_sha512" => Mechanism::Scram512,
        other => {
            let known = "none, sasl_plain, sasl_scram_sha256, sasl_scram_sha512 or sasl_ssl";
            return Err(format!("sasl: the algorithm {other} is not supported yet, expected {known}"));
        }
    };
    Ok(Some(SaslLogin { mechanism, username: sasl.username.clone(), password: sasl.password.clone() }))
}

fn configs(vu: &Vu, tls: &TlsConfig) -> std::result::Result<TlsConfigs, String> {
    let versions = match tls.min_version.as_str() {
        "" => None,
        lowest => {
            let versions = TlsVersions::between(Some(&lowest.replace("tlsv", "tls")), None);
            Some(versions.map_err(|why| format!("tls: minVersion: {why}"))?)
        }
    };
    let authorities = match tls.server_ca_pem.as_str() {
        "" => Vec::new(),
        given => Vec::from([pem("serverCaPem", given)?]),
    };
    let identity = match (tls.client_cert_pem.as_str(), tls.client_key_pem.as_str()) {
        ("", "") => None,
        (cert, key) => Some((pem("clientCertPem", cert)?, pem("clientKeyPem", key)?)),
    };
    let certificates = Certificates { authorities, identity, is_unchecked: tls.insecure_skip_tls_verify };
    certificates.configs(vu, versions).map_err(|why| format!("tls: {why}"))
}

/// PEM, or the file that has it.
fn pem(name: &str, given: &str) -> std::result::Result<String, String> {
    if given.contains("-----BEGIN ") {
        return Ok(given.to_owned());
    }
    // Small files, in init code, where `open` reads files too.
    let text =
        std::fs::read_to_string(given).map_err(|error| format!("tls: {name}: cannot read {given:?}: {error}"))?;
    match text.contains("-----BEGIN ") {
        true => Ok(text),
        false => Err(format!("tls: {name}: {given:?} is no PEM: export it as PEM, with keytool or openssl")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_times() {
        let found = places(&["a.test:1".into(), "b".into(), "[::1]:2".into()]).unwrap();
        let found: Vec<_> = found.iter().map(|place| (place.host.as_str(), place.port)).collect();
        assert_eq!(found, [("a.test", 1), ("b", 9092), ("::1", 2)]);
        for wrong in ["", ":9092", "a:b"] {
            assert!(places(&[wrong.into()]).unwrap_err().contains("expected host:port"), "{wrong}");
        }
        let config: ReaderConfig =
            serde_json::from_str(r#"{"maxWait":"2s","sessionTimeout":5e9,"groupID":"g","x":1}"#).unwrap();
        assert_eq!((config.max_wait.as_secs(), config.session_timeout.as_secs()), (2, 5));
        assert_eq!((config.group_id.as_str(), config.unknown()), ("g", vec![&String::from("x")]));
        let error = serde_json::from_str::<ReaderConfig>(r#"{"maxWait":"soon"}"#).err().unwrap().to_string();
        assert!(error.contains("expected nanoseconds or a text like"), "{error}");
    }

    #[test]
    fn logins() {
        let of = |algorithm: &str| SaslConfig { algorithm: algorithm.into(), ..SaslConfig::default() };
        assert!(login(&of("none"), false).unwrap().is_none());
        assert!(login(&of("sasl_ssl"), true).unwrap().is_none());
        assert!(login(&of("sasl_ssl"), false).unwrap_err().contains("enableTls"));
        assert!(login(&of("sasl_aws_iam"), true).unwrap_err().contains("sasl_aws_iam is not supported yet"));
    }
}
