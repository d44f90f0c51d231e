//! Reading the options that the wire obeys: names, addresses, TLS.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use units::{Span, field};
use wire::IpNet;
use wire::hosts::{FixedHosts, HostPatterns};
use wire::settings::{CipherSuites, ClientIdentity, Dns, DnsPolicy, DnsSelect, TlsVersions};

use super::read;
use super::written::Written;

/// What a request that brings no User-Agent sends.
pub(super) const USER_AGENT: &str = concat!("Onrush/", env!("CARGO_PKG_VERSION"));

/// One entry of the option `tlsAuth`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TlsAuth {
    #[serde(default)]
    domains: Vec<String>,
    cert: String,
    key: String,
    #[serde(default)]
    password: Option<String>,
}

/// A version, or the lowest and the highest.
pub(super) fn tls_versions(value: &Value) -> Result<Written<TlsVersions>, String> {
    #[derive(Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Bounds {
        min: Option<String>,
        max: Option<String>,
    }
    let bounds = match value {
        Value::String(one) => Bounds { min: Some(one.clone()), max: Some(one.clone()) },
        _ => serde_json::from_value(field::respelled(value, &["min", "max"]))
            .or_else(|_| read::expected(value, "a version or { min, max }"))?,
    };
    let versions = TlsVersions::between(bounds.min.as_deref(), bounds.max.as_deref())?;
    Ok(Written::new(versions, json!(bounds)))
}

pub(super) fn cipher_suites(value: &Value) -> Result<Written<CipherSuites>, String> {
    let names = read::list(value)?;
    Ok(Written::new(CipherSuites::named(&names)?, names))
}

pub(super) fn tls_auth(value: &Value) -> Result<Written<Vec<Arc<ClientIdentity>>>, String> {
    let respelled = |entry: &Value| field::respelled(entry, &["domains", "cert", "key", "password"]);
    let respelled = value.as_array().map_or_else(|| value.clone(), |list| list.iter().map(respelled).collect());
    let entries: Vec<TlsAuth> = serde_json::from_value(respelled)
        .map_err(|error| format!("expected a list of {{ domains, cert, key, password }}: {error}"))?;
    let shown = json!(entries);
    let identity = |auth: TlsAuth| {
        ClientIdentity::read(auth.domains, &auth.cert, &auth.key, auth.password.as_deref()).map(Arc::new)
    };
    Ok(Written::new(entries.into_iter().map(identity).collect::<Result<_, _>>()?, shown))
}

pub(super) fn hosts(value: &Value) -> Result<Written<FixedHosts>, String> {
    let hosts = read::text_map(value)?;
    Ok(Written::new(FixedHosts::read(&hosts)?, json!(hosts)))
}

pub(super) fn host_patterns(value: &Value) -> Result<Written<HostPatterns>, String> {
    let patterns = read::list(value)?;
    Ok(Written::new(HostPatterns::read(&patterns)?, patterns))
}

pub(super) fn blocks(value: &Value) -> Result<Written<Vec<IpNet>>, String> {
    let texts = read::list(value)?;
    let blocks = texts.iter().map(|text| wire::parse_block(text)).collect::<Result<_, _>>()?;
    Ok(Written::new(blocks, texts))
}

pub(super) fn dns(value: &Value) -> Result<Written<Dns>, String> {
    let respelled = field::respelled(value, &["ttl", "select", "policy"]);
    let Value::Object(given) = &respelled else { return read::expected(value, "an object with ttl, select, policy") };
    let mut dns = Dns::default();
    let mut shown = json!({ "ttl": null, "select": null, "policy": null });
    for (name, value) in given.iter().filter(|(_, value)| !value.is_null()) {
        let text = read::text(value).map_err(|problem| format!("{name}: {problem}"))?;
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
