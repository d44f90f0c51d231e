//! What the options of a test say about the network. Plain data, shared by all clients of a run.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use ipnet::IpNet;

use crate::departures::Departures;
use crate::hosts::{FixedHosts, HostPatterns};
pub use crate::own_tls::{ClientIdentity, OwnTls};
use crate::syntax::codec::DecodeLimits;
pub use crate::tls::choice::{CipherSuites, TlsSettings, TlsVersions};
pub use crate::tls::missing_issuers::IssuerFetch;

/// Network settings of a run; `script::options` fills them in.
#[derive(Clone, Debug)]
pub struct Settings {
    /// User-Agent unless a request brings its own; none when empty.
    pub user_agent: String,
    /// Fixed addresses of names.
    pub hosts: Arc<FixedHosts>,
    /// How other names are resolved.
    pub dns: Dns,
    /// What is never connected to.
    pub blocked: Blocked,
    /// Local addresses to connect from, dealt out round robin.
    pub local_ips: Vec<IpAddr>,
    /// Trust, versions, suites, client certificates.
    pub tls: TlsSettings,
    /// HTTP/2 is offered to https servers (ALPN).
    pub http2: bool,
    /// A new connection for each request.
    pub no_connection_reuse: bool,
    /// Size of the socket's send buffer in bytes (SO_SNDBUF, which the kernel doubles for its bookkeeping); 0: the
    /// kernel decides. `None`: 256 KiB where that cannot slow anything down, see `Socket::size_send_buffer`.
    pub send_buffer: Option<usize>,
    /// Concurrent requests of one batch.
    pub batch: BatchLimits,
    /// How much of an answer there may be.
    pub sizes: SizeLimits,
    /// HTTP_PROXY, HTTPS_PROXY, NO_PROXY as the environment gives them (upper or lower case).
    pub proxies: Proxies,
    /// How long single steps may take, beside the time of the whole request.
    pub limits: StepLimits,
    /// Which requests are checked against the kernel's transmit stamps; `None`: none.
    pub departures: Option<Arc<Departures>>,
}

/// How the requests of users that share connections of HTTP/2 are spread over them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Http2Limits {
    /// Connections to a host; at least one.
    pub connections: usize,
    /// Streams at once on a connection, at least one. The server may allow fewer; `None`: as many as it allows.
    pub streams: Option<usize>,
}

/// What is never connected to.
#[derive(Clone, Debug, Default)]
pub struct Blocked {
    /// Networks of the option `blacklistIPs`.
    pub addresses: Arc<Vec<IpNet>>,
    /// Patterns of the option `blockHostnames`.
    pub names: Arc<HostPatterns>,
}

/// Concurrent requests of one batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchLimits {
    /// To all hosts together.
    pub in_all: usize,
    /// To one host.
    pub per_host: usize,
}

/// How much of an answer there may be.
#[derive(Clone, Copy, Debug)]
pub struct SizeLimits {
    /// How large a body may become by decoding.
    pub decoded: DecodeLimits,
    /// Bytes of a body or message that is kept, as it arrives; what is discarded or streamed has no limit.
    pub kept: u64,
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

/// How names are resolved.
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
            hosts: Arc::default(),
            dns: Dns::default(),
            blocked: Blocked::default(),
            local_ips: Vec::new(),
            tls: TlsSettings::default(),
            http2: true,
            no_connection_reuse: false,
            send_buffer: None,
            batch: BatchLimits { in_all: 20, per_host: 6 },
            sizes: SizeLimits { decoded: DecodeLimits::default(), kept: 1 << 30 },
            departures: None,
            proxies: Proxies::default(),
            limits: StepLimits::default(),
        }
    }
}
