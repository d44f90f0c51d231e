//! The options that the wire obeys, and how they become its settings.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use units::Span;
use wire::IpNet;
use wire::hosts::{FixedHosts, HostPatterns};
use wire::settings::{CipherSuites, ClientIdentity, Dns, DnsPolicy, DnsSelect, TlsSettings, TlsVersions};

use super::written::Written;
use super::{Options, read};

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
        _ => serde_json::from_value(value.clone()).or_else(|_| read::expected(value, "a version or { min, max }"))?,
    };
    let versions = TlsVersions::between(bounds.min.as_deref(), bounds.max.as_deref())?;
    Ok(Written::new(versions, json!(bounds)))
}

pub(super) fn cipher_suites(value: &Value) -> Result<Written<CipherSuites>, String> {
    let names = read::list(value)?;
    Ok(Written::new(CipherSuites::named(&names)?, names))
}

pub(super) fn tls_auth(value: &Value) -> Result<Written<Vec<Arc<ClientIdentity>>>, String> {
    let entries: Vec<TlsAuth> = serde_json::from_value(value.clone())
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
        let standard = wire::Settings::default();
        let (batch, batch_per_host) = self.batch_limits();
        wire::Settings {
            user_agent: self.user_agent().to_owned(),
            hosts: shared(&self.hosts),
            dns: self.dns.as_deref().copied().unwrap_or_default(),
            blacklist_ips: shared(&self.blacklist_ips),
            block_hostnames: shared(&self.block_hostnames),
            local_ips: self.local_ips.as_deref().cloned().unwrap_or_default(),
            tls: TlsSettings {
                insecure_skip_verify: self.insecure_skip_tls_verify.unwrap_or(false),
                trusted_pem: self.trusted_pem.clone(),
                versions: self.tls_version.as_deref().cloned().unwrap_or_default(),
                cipher_suites: self.tls_cipher_suites.as_deref().cloned().unwrap_or_default(),
                identities: self.tls_auth.as_deref().cloned().unwrap_or_default(),
                session_resumption: false,
            },
            no_connection_reuse: self.no_connection_reuse.unwrap_or(false),
            batch,
            batch_per_host,
            send_buffer: self.send_buffer.map(|n| n as usize),
            decode_limits: wire::codec::DecodeLimits {
                bytes: self.max_decoded_body.unwrap_or(standard.decode_limits.bytes),
                ratio: self.max_decoded_ratio.map_or(standard.decode_limits.ratio, u64::from),
            },
            proxies: self.proxies.clone(),
            ..standard
        }
    }
}

/// The value that all workers share.
fn shared<T: Default>(option: &Option<Written<T>>) -> Arc<T> {
    option.as_ref().map(Written::shared).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_obeyed_is_refused_when_it_is_read() {
        let of_pattern = "found the pattern \"a*b\", expected a host name (IDNA form), with a * at the start at most";
        for (layer, problem) in [
            (
                json!({ "dns": { "ttl": "5x" } }),
                "'dns': ttl: '5x' is no duration: expected a form like 10s, 1h30m, 1d or a number of milliseconds, or inf",
            ),
            (
                json!({ "dns": { "policy": "v4" } }),
                "'dns': policy: found 'v4', expected preferIPv4, preferIPv6, onlyIPv4, onlyIPv6 or any",
            ),
            (json!({ "dns": { "server": "h" } }), "'dns': found 'server', expected ttl, select or policy"),
            (
                json!({ "hosts": { "a.test": "b.test" } }),
                "'hosts': \"a.test\" leads to \"b.test\", expected an IP address, ip:port, unix:/path or unix:@name",
            ),
            (json!({ "hosts": { "a*b": "127.0.0.1" } }), &format!("'hosts': {of_pattern}")),
            (json!({ "blockHostnames": ["a*b"] }), &format!("'blockHostnames': {of_pattern}")),
            (
                json!({ "blacklistIPs": ["10.0.0.0/99"] }),
                "'blacklistIPs': found \"10.0.0.0/99\", expected a CIDR block such as 10.0.0.0/8 or an IP address",
            ),
            (
                json!({ "tlsVersion": "tls9" }),
                "'tlsVersion': found 'tls9', expected one of tls1.0, tls1.1, tls1.2, tls1.3",
            ),
            (
                json!({ "tlsVersion": { "min": "tls1.3", "max": "tls1.2" } }),
                "'tlsVersion': found min tls1.3 above max tls1.2",
            ),
            (json!({ "tlsVersion": 3 }), "'tlsVersion': found 3, expected a version or { min, max }"),
            (
                json!({ "tlsCipherSuites": ["NOPE"] }),
                "'tlsCipherSuites': unknown cipher suite \"NOPE\", expected a name such as TLS_AES_128_GCM_SHA256",
            ),
            (
                json!({ "tlsAuth": [{ "cert": "", "key": "" }] }),
                "'tlsAuth': found no certificate in `cert`, expected PEM with BEGIN CERTIFICATE",
            ),
        ] {
            let refused = Options::from_json(&layer, "the script").expect_err("refused").message;
            assert_eq!(refused, format!("options of the script: {problem}"));
        }
    }

    #[test]
    fn what_was_written_is_shown() {
        let layer = json!({
            "dns": { "ttl": "0", "select": null, "policy": "any" },
            "hosts": { "a.test": "127.0.0.1:80" },
            "blockHostnames": ["*.B.test"],
            "blacklistIPs": ["10.1.2.3/8"],
            "localIPs": "127.0.0.0/30",
            "tlsVersion": { "min": "tls1.2", "max": null },
            "tlsCipherSuites": ["TLS_AES_128_GCM_SHA256"],
        });
        let options = Options::from_json(&layer, "the script").expect("valid").0;
        let shown = options.to_json();
        for (name, written) in layer.as_object().expect("an object") {
            assert_eq!(&shown[name], written);
        }
        let settings = options.network_settings();
        assert_eq!(settings.dns, Dns { ttl: Some(Duration::ZERO), policy: DnsPolicy::Any, ..Dns::default() });
        assert_eq!(settings.local_ips.len(), 2);
        assert_eq!(settings.tls.versions, TlsVersions::default());
    }
}
