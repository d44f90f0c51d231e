//! What the wire is told to obey: its settings, and for each scenario its link and its use of HTTP/2.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::scenario::Scenario;
use serde_json::Value;
use wire::link::LinkSettings;
use wire::settings::{Blocked, SizeLimits, TlsSettings};

use super::http2::{self, Http2Choice};
use super::link;
use super::network::USER_AGENT;
use super::read;
use super::table::Options;
use super::written::Written;

impl Options {
    /// Makes this one of so many equal parts of the test.
    pub fn set_part(&mut self, index: u64, of: u64) {
        let (segment, sequence) = super::read::part(index, of);
        (self.execution_segment, self.execution_segment_sequence) = (Some(segment), Some(sequence));
    }

    /// The link of a scenario's users; `None`: they have none.
    pub fn link_of(&self, scenario: &str) -> Option<LinkSettings> {
        let link = self.links.get(scenario).or(self.network.as_deref())?;
        (!link.is_none()).then(|| link.clone())
    }

    /// How a scenario's users use HTTP/2.
    pub fn http2_of(&self, scenario: &str) -> Http2Choice {
        self.http2_choices.get(scenario).or(self.http2.as_deref()).copied().unwrap_or_default()
    }

    /// Whether a scenario's users resume their TLS sessions.
    pub fn tls_resumption_of(&self, scenario: &str) -> bool {
        self.tls_resumptions.get(scenario).copied().or(self.tls_resumption).unwrap_or(false)
    }

    /// Reads what scenarios say of the network, and where that does not fit together. The error names the scenario,
    /// what was found and what was expected.
    pub fn read_scenarios(&mut self) -> Result<(), String> {
        self.links = self.fields("network", |scenario| scenario.network.as_ref(), link::settings)?;
        self.http2_choices = self.fields("http2", |scenario| scenario.http2.as_ref(), http2::choice)?;
        self.tls_resumptions =
            self.fields("tlsResumption", |scenario| scenario.tls_resumption.as_ref(), read::switch)?;
        let shared: Vec<String> = self.scenarios().map(|scenario| scenario.name.clone()).collect();
        let shared = shared.into_iter().filter(|name| self.http2_of(name).connections().is_some());
        for name in shared {
            let against = match () {
                () if self.link_of(&name).is_some() => "each user has a link of its own, by 'network'",
                () if self.no_connection_reuse == Some(true) => "each request has a new one, by 'noConnectionReuse'",
                () if self.no_vu_connection_reuse == Some(true) => {
                    "each iteration has new ones, by 'noVUConnectionReuse'"
                }
                () => continue,
            };
            return Err(format!(
                "scenario '{name}': 'http2' lets users share connections, but {against}; leave one out"
            ));
        }
        // Users on different workers share nothing: with fewer connections than workers, some of these take no part.
        let most: Vec<_> = self.scenarios().map(|scenario| self.http2_of(&scenario.name).connections()).collect();
        let scenarios = self.execution.scenarios.iter_mut().flat_map(|all| all.iter_mut());
        scenarios.zip(most).for_each(|(scenario, most)| scenario.most_workers = most);
        Ok(())
    }

    fn scenarios(&self) -> impl Iterator<Item = &Scenario> {
        self.execution.scenarios.iter().flat_map(|all| all.iter())
    }

    /// A field of every scenario that has it, by the scenario's name.
    fn fields<T>(
        &self,
        field: &str,
        of: fn(&Scenario) -> Option<&Value>,
        read: fn(&Value) -> Result<T, String>,
    ) -> Result<BTreeMap<String, T>, String> {
        let own = self.scenarios().filter_map(|scenario| Some((&scenario.name, of(scenario)?)));
        let values = own.map(|(name, value)| match read(value) {
            Ok(value) => Ok((name.clone(), value)),
            Err(problem) => Err(format!("scenario '{name}': field '{field}': {problem}")),
        });
        values.collect()
    }

    /// The User-Agent of requests that set none.
    pub fn user_agent(&self) -> &str {
        self.user_agent.as_deref().unwrap_or(USER_AGENT)
    }

    /// What the wire obeys.
    pub fn network_settings(&self) -> wire::Settings {
        let standard = wire::Settings::default();
        let decoded = wire::codec::DecodeLimits {
            bytes: self.max_decoded_body.unwrap_or(standard.sizes.decoded.bytes),
            ratio: self.max_decoded_ratio.map_or(standard.sizes.decoded.ratio, u64::from),
        };
        let mut settings = wire::Settings {
            user_agent: self.user_agent().to_owned(),
            hosts: shared(&self.hosts),
            dns: self.dns.as_deref().copied().unwrap_or_default(),
            blocked: Blocked { addresses: shared(&self.blacklist_ips), names: shared(&self.block_hostnames) },
            local_ips: self.local_ips.as_deref().cloned().unwrap_or_default(),
            tls: TlsSettings {
                insecure_skip_verify: self.insecure_skip_tls_verify.unwrap_or(false),
                trusted_pem: self.trusted_pem.clone(),
                versions: self.tls_version.as_deref().cloned().unwrap_or_default(),
                cipher_suites: self.tls_cipher_suites.as_deref().cloned().unwrap_or_default(),
                identities: self.tls_auth.as_deref().cloned().unwrap_or_default(),
                session_resumption: false,
                issuer_fetch: None,
            },
            http2: !self.no_http2,
            no_connection_reuse: self.no_connection_reuse.unwrap_or(false),
            batch: self.batch_limits(),
            send_buffer: self.send_buffer.map(|n| n as usize),
            sizes: SizeLimits {
                decoded,
                // Without the option the user's memory is the limit; what no user counts may be twice that.
                kept: self.max_decoded_body.unwrap_or(2 * self.memory_limit() as u64),
            },
            proxies: self.proxies.clone(),
            ..standard
        };
        if self.tls_aia_fetch == Some(true) {
            settings.tls.issuer_fetch = Some(wire::client::issuer_fetch(settings.clone()));
        }
        settings
    }
}

/// The value that all workers share.
fn shared<T: Default>(option: &Option<Written<T>>) -> Arc<T> {
    option.as_ref().map(Written::shared).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;
    use wire::settings::{Dns, DnsPolicy, TlsVersions};

    use super::*;

    #[test]
    fn what_cannot_be_obeyed_is_refused_when_it_is_read() {
        let of_pattern = "found the pattern \"a*b\", expected a host name (IDNA form), with a * at the start at most";
        for (layer, problem) in [
            (
                json!({ "dns": { "ttl": "5x" } }),
                "'dns': ttl: '5x' is not a duration: expected a form like 10s, 1h30m, 1d or a number of milliseconds, \
                 or inf",
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

    #[test]
    fn a_scenario_may_have_a_link_of_its_own() {
        let layer = json!({ "network": "cable", "scenarios": {
            "far": { "executor": "constant-vus", "vus": 1, "duration": "1s", "network": { "latency": "200ms" } },
            "near": { "executor": "constant-vus", "vus": 1, "duration": "1s" },
            "none": { "executor": "constant-vus", "vus": 1, "duration": "1s", "network": {} },
        } });
        let (mut options, warnings) = Options::from_json(&layer, "the script").unwrap();
        assert_eq!(warnings, Vec::<String>::new());
        assert_eq!(options.read_scenarios(), Ok(()));
        assert_eq!(options.link_of("far").unwrap().latency, Duration::from_millis(200));
        assert_eq!(options.link_of("near"), LinkSettings::preset("cable").ok());
        assert_eq!(options.link_of("none"), None);

        let layer = json!({ "scenarios": {
            "far": { "executor": "constant-vus", "vus": 1, "duration": "1s", "network": { "download": "fast" } },
        } });
        let (mut options, _) = Options::from_json(&layer, "the script").unwrap();
        assert_eq!(
            options.read_scenarios().unwrap_err(),
            "scenario 'far': field 'network': download: found \"fast\", expected a number with one of the units bps, \
             kbps, mbps, gbps, as in \"10mbps\""
        );
    }

    #[test]
    fn a_scenario_may_share_connections() {
        let base = json!({ "executor": "constant-vus", "vus": 1, "duration": "1s" });
        let scenario = |http2: Value| {
            let mut scenario = base.clone();
            scenario["http2"] = http2;
            scenario
        };
        let layer = json!({ "http2": false, "scenarios": {
            "few": scenario(json!({ "connections": 2, "streams": 10 })),
            "own": scenario(json!(true)),
            "none": scenario(json!(null)),
        } });
        let (mut options, _) = Options::from_json(&layer, "the script").unwrap();
        assert_eq!(options.read_scenarios(), Ok(()));
        let limits = wire::settings::Http2Limits { connections: 2, streams: Some(10) };
        assert_eq!(options.http2_of("few"), Http2Choice::Shared(limits));
        assert_eq!((options.http2_of("own"), options.http2_of("none")), (Http2Choice::Own, Http2Choice::Never));
        let most: Vec<_> =
            options.execution.scenarios.iter().flat_map(|all| all.iter().map(|s| s.most_workers)).collect();
        assert_eq!(most, [Some(2), None, None]);

        for (name, value, problem) in [
            ("network", json!("cable"), "each user has a link of its own, by 'network'"),
            ("noConnectionReuse", json!(true), "each request has a new one, by 'noConnectionReuse'"),
            ("noVUConnectionReuse", json!(true), "each iteration has new ones, by 'noVUConnectionReuse'"),
        ] {
            let mut layer = layer.clone();
            layer[name] = value;
            let (mut options, _) = Options::from_json(&layer, "the script").unwrap();
            let expected =
                format!("scenario 'few': 'http2' lets users share connections, but {problem}; leave one out");
            assert_eq!(options.read_scenarios(), Err(expected));
        }
        let layer = json!({ "scenarios": { "few": scenario(json!({ "connections": 0 })) } });
        let (mut options, _) = Options::from_json(&layer, "the script").unwrap();
        assert_eq!(
            options.read_scenarios().unwrap_err(),
            "scenario 'few': field 'http2': connections: found 0, expected a whole number from 1 on"
        );
    }
}
