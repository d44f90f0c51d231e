//! What the options of a test say about the network. Plain data, shared by all clients of a run.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use crate::codec::DecodeLimits;

/// Network settings of a run; `script::options` fills them in.
#[derive(Clone, Debug)]
pub struct Settings {
    /// User-Agent unless a request brings its own; none when empty.
    pub user_agent: String,
    /// Fixed addresses by `host`, `host:port` or `*.host`: an IP, `ip:port`, `unix:/path` or
    /// `unix:@name`.
    pub hosts: BTreeMap<String, String>,
    /// DNS: how long answers are kept; `None` for ever.
    pub dns_ttl: Option<Duration>,
    /// DNS: which of several addresses.
    pub dns_select: DnsSelect,
    /// DNS: which address family.
    pub dns_policy: DnsPolicy,
    /// Addresses never connected to, as CIDR or IP.
    pub blacklist_ips: Vec<String>,
    /// Host patterns never connected to, one leading `*` allowed.
    pub block_hostnames: Vec<String>,
    /// Local addresses to connect from, dealt out round robin.
    pub local_ips: Vec<IpAddr>,
    /// Accept any certificate.
    pub insecure_skip_tls_verify: bool,
    /// Certificates as PEM that are trusted beside the machine's.
    pub trusted_pem: Option<String>,
    /// Lowest and highest TLS version (`tls1.0` … `tls1.3`); the TLS library speaks 1.2 and 1.3.
    pub tls_version: (Option<String>, Option<String>),
    /// Allowed cipher suites by Go's (IANA) names; empty: all.
    pub tls_cipher_suites: Vec<String>,
    /// Client certificates.
    pub tls_auth: Vec<TlsAuth>,
    /// Resume TLS sessions of earlier connections of the same worker. k6 never does: each connection is a full handshake.
    pub tls_session_resumption: bool,
    /// A new connection for each request.
    pub no_connection_reuse: bool,
    /// Size of the socket's send buffer in bytes (SO_SNDBUF, which the kernel doubles for its bookkeeping); 0: the kernel
    /// decides. `None`: 256 KiB where that cannot slow anything down, see `Socket::size_send_buffer`.
    pub send_buffer: Option<usize>,
    /// Concurrent requests of one batch.
    pub batch: usize,
    /// Concurrent requests of one batch per host.
    pub batch_per_host: usize,
    /// How large a body may become by decoding.
    pub decode_limits: DecodeLimits,
    /// HTTP_PROXY, HTTPS_PROXY, NO_PROXY as the environment gives them (upper or lower case).
    pub proxies: Proxies,
    /// How long single steps may take, beside the time of the whole request.
    pub limits: StepLimits,
}

/// Time limits of single steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepLimits {
    /// Until a connection is open, TLS not included.
    pub dial: Duration,
    /// Until the whole request is with the kernel, counted from when it begins to go out.
    pub write: Option<Duration>,
    /// Until the whole response is here, counted from when the whole request was with the kernel.
    pub read: Option<Duration>,
}

impl Default for StepLimits {
    /// k6's: 30 s to dial.
    fn default() -> Self {
        StepLimits { dial: Duration::from_secs(30), write: None, read: None }
    }
}

/// Which of several DNS answers is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DnsSelect {
    /// The first.
    First,
    /// Any, drawn again for each connection.
    Random,
    /// One after the other.
    RoundRobin,
}

/// Which address family is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DnsPolicy {
    /// IPv4 if there is one.
    PreferIpv4,
    /// IPv6 if there is one.
    PreferIpv6,
    /// IPv4 alone.
    OnlyIpv4,
    /// IPv6 alone.
    OnlyIpv6,
    /// As they come.
    Any,
}

/// A client certificate.
#[derive(Clone, Debug)]
pub struct TlsAuth {
    /// Host patterns it is for; empty: all.
    pub domains: Vec<String>,
    /// PEM.
    pub cert: String,
    /// PEM.
    pub key: String,
    /// Password of the key.
    pub password: Option<String>,
}

/// Proxies as environment variables give them; empty strings are ignored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proxies {
    /// For http URLs.
    pub http: Option<String>,
    /// For https URLs.
    pub https: Option<String>,
    /// Hosts reached directly.
    pub no_proxy: Option<String>,
    /// Also for `localhost` and loopback addresses, which otherwise never go through a proxy.
    pub even_local: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            user_agent: String::new(),
            hosts: BTreeMap::new(),
            dns_ttl: Some(Duration::from_secs(300)),
            dns_select: DnsSelect::Random,
            dns_policy: DnsPolicy::PreferIpv4,
            blacklist_ips: Vec::new(),
            block_hostnames: Vec::new(),
            local_ips: Vec::new(),
            insecure_skip_tls_verify: false,
            trusted_pem: None,
            tls_version: (None, None),
            tls_cipher_suites: Vec::new(),
            tls_auth: Vec::new(),
            tls_session_resumption: false,
            no_connection_reuse: false,
            send_buffer: None,
            batch: 20,
            batch_per_host: 6,
            decode_limits: DecodeLimits::default(),
            proxies: Proxies::default(),
            limits: StepLimits::default(),
        }
    }
}
