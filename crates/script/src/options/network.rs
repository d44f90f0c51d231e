//! The options that the wire obeys, and how they become its settings.

use std::net::IpAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use units::Span;
use wire::settings::{DnsPolicy, DnsSelect};

use super::written::Written;
use super::{Options, read};

/// What a request that brings no User-Agent sends.
pub(super) const USER_AGENT: &str = concat!("Onrush/", env!("CARGO_PKG_VERSION"));

/// The option `dns`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dns {
    /// How long answers are kept; `None`: for ever.
    pub ttl: Option<Duration>,
    /// Which of several addresses.
    pub select: DnsSelect,
    /// Which address family.
    pub policy: DnsPolicy,
}

impl Default for Dns {
    /// k6's.
    fn default() -> Self {
        Dns { ttl: Some(Duration::from_secs(300)), select: DnsSelect::Random, policy: DnsPolicy::PreferIpv4 }
    }
}

/// The option `tlsVersion`: a single version, or lowest and highest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlsVersions {
    /// Lowest.
    pub min: Option<String>,
    /// Highest.
    pub max: Option<String>,
}

/// One entry of the option `tlsAuth`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlsAuth {
    /// Host patterns it is for; none: all.
    #[serde(default)]
    pub domains: Vec<String>,
    /// PEM.
    pub cert: String,
    /// PEM.
    pub key: String,
    /// Password of the key.
    #[serde(default)]
    pub password: Option<String>,
}

const VERSIONS: [&str; 4] = ["tls1.0", "tls1.1", "tls1.2", "tls1.3"];

pub(super) fn tls_versions(value: &Value) -> Result<TlsVersions, String> {
    let versions = match value {
        Value::String(one) => TlsVersions { min: Some(one.clone()), max: Some(one.clone()) },
        _ => serde_json::from_value(value.clone()).or_else(|_| read::expected(value, "a version or { min, max }"))?,
    };
    for version in [&versions.min, &versions.max].into_iter().flatten() {
        if !VERSIONS.contains(&version.as_str()) {
            return Err(format!("found '{version}', expected one of {}", VERSIONS.join(", ")));
        }
    }
    Ok(versions)
}

pub(super) fn tls_auth(value: &Value) -> Result<Vec<TlsAuth>, String> {
    serde_json::from_value(value.clone())
        .map_err(|error| format!("expected a list of {{ domains, cert, key, password }}: {error}"))
}

pub(super) fn dns(value: &Value) -> Result<Written<Dns>, String> {
    let Value::Object(given) = value else { return read::expected(value, "an object with ttl, select, policy") };
    let mut dns = Dns::default();
    let mut shown = json!({ "ttl": null, "select": null, "policy": null });
    for (name, value) in given.iter().filter(|(_, value)| !value.is_null()) {
        let text = match value {
            Value::Number(ms) => ms.to_string(),
            _ => read::text(value).map_err(|problem| format!("{name}: {problem}"))?,
        };
        match name.as_str() {
            "ttl" => dns.ttl = ttl(&text)?,
            "select" => dns.select = select(&text)?,
            "policy" => dns.policy = policy(&text)?,
            _ => return Err(format!("found '{name}', expected ttl, select or policy")),
        }
        shown[name] = text.into();
    }
    Ok(Written::new(dns, shown))
}

pub(super) fn local_ips(value: &Value) -> Result<Written<Vec<IpAddr>>, String> {
    let text = read::text(value)?;
    Ok(Written::new(wire::parse_local_ips(&text)?, text))
}

fn ttl(text: &str) -> Result<Option<Duration>, String> {
    match text {
        "inf" => Ok(None),
        text => {
            let span = Span::parse(text).map_err(|error| format!("ttl: {error}, or inf"))?;
            span.to_duration().map(Some).ok_or_else(|| format!("ttl: found {text}, expected at least 0"))
        }
    }
}

fn select(text: &str) -> Result<DnsSelect, String> {
    match text {
        "first" => Ok(DnsSelect::First),
        "random" => Ok(DnsSelect::Random),
        "roundRobin" => Ok(DnsSelect::RoundRobin),
        other => Err(format!("select: found '{other}', expected first, random or roundRobin")),
    }
}

fn policy(text: &str) -> Result<DnsPolicy, String> {
    match text {
        "preferIPv4" => Ok(DnsPolicy::PreferIpv4),
        "preferIPv6" => Ok(DnsPolicy::PreferIpv6),
        "onlyIPv4" => Ok(DnsPolicy::OnlyIpv4),
        "onlyIPv6" => Ok(DnsPolicy::OnlyIpv6),
        "any" => Ok(DnsPolicy::Any),
        other => Err(format!("policy: found '{other}', expected preferIPv4, preferIPv6, onlyIPv4, onlyIPv6 or any")),
    }
}

impl Options {
    /// The User-Agent of requests that set none.
    pub fn user_agent(&self) -> &str {
        self.user_agent.as_deref().unwrap_or(USER_AGENT)
    }

    /// What the wire obeys.
    pub fn network_settings(&self) -> wire::Settings {
        let dns = self.dns.as_deref().copied().unwrap_or_default();
        let versions = self.tls_version.clone().unwrap_or_default();
        let standard = wire::Settings::default();
        let (batch, batch_per_host) = self.batch_limits();
        wire::Settings {
            user_agent: self.user_agent().to_owned(),
            hosts: self.hosts.clone().unwrap_or_default(),
            dns_ttl: dns.ttl,
            dns_select: dns.select,
            dns_policy: dns.policy,
            blacklist_ips: self.blacklist_ips.clone().unwrap_or_default(),
            block_hostnames: self.block_hostnames.clone().unwrap_or_default(),
            local_ips: self.local_ips.as_deref().cloned().unwrap_or_default(),
            insecure_skip_tls_verify: self.insecure_skip_tls_verify.unwrap_or(false),
            tls_version: (versions.min, versions.max),
            tls_cipher_suites: self.tls_cipher_suites.clone().unwrap_or_default(),
            tls_auth: self.tls_auth.iter().flatten().map(certificate).collect(),
            no_connection_reuse: self.no_connection_reuse.unwrap_or(false),
            batch,
            batch_per_host,
            send_buffer: self.send_buffer.map(|n| n as usize),
            decode_limits: wire::codec::DecodeLimits {
                bytes: self.max_decoded_body.unwrap_or(standard.decode_limits.bytes),
                ratio: self.max_decoded_ratio.map_or(standard.decode_limits.ratio, u64::from),
            },
            proxies: self.proxies.clone(),
            trusted_pem: self.trusted_pem.clone(),
            ..standard
        }
    }
}

fn certificate(auth: &TlsAuth) -> wire::settings::TlsAuth {
    wire::settings::TlsAuth {
        domains: auth.domains.clone(),
        cert: auth.cert.clone(),
        key: auth.key.clone(),
        password: auth.password.clone(),
    }
}
