//! From a host name to the addresses to try: blocked names, fixed hosts, lookups with a cache, blacklisted addresses.
//!
//! The order is k6's: `blockHostnames`, then `hosts`, then DNS (never for an IP literal), then `blacklistIPs`. Lookups are the
//! system's getaddrinfo on tokio's blocking threads; answers are kept per worker, and users of one worker who ask for the
//! same name at the same time share one lookup. Only new connections come here, never the request path.
//!
//! Invariant: no address leaves this file without having passed the blacklist.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use ipnet::IpNet;

use crate::addresses::{block_contains, parse_block};
use crate::client::endpoint::Address;
use crate::failure::{Failure, FailureKind, Step};
use crate::settings::{DnsPolicy, DnsSelect, Settings};

/// Finds addresses; one a worker.
pub(crate) struct Resolver {
    blocked: Vec<String>,
    hosts: HostMap,
    blacklist: Vec<IpNet>,
    ttl: Option<Duration>,
    select: DnsSelect,
    policy: DnsPolicy,
    names: RefCell<HashMap<Rc<str>, Rc<Name>>>,
}

/// A test that makes up names (tenants, random subdomains) must not fill the memory: past this the cache begins again.
const MOST_NAMES: usize = 4096;

/// The addresses of a name and how long they hold; `None`: for ever.
type Answer = (Rc<[IpAddr]>, Option<Instant>);

/// What is known of one name.
#[derive(Default)]
struct Name {
    /// Held during a lookup, so that the others wait for its answer instead of asking too.
    gate: tokio::sync::Mutex<()>,
    answer: RefCell<Option<Answer>>,
    turn: Cell<usize>,
}

impl Resolver {
    /// Reads the options; the error names option, found and expected.
    pub(crate) fn new(settings: &Settings) -> Result<Resolver, String> {
        for pattern in &settings.block_hostnames {
            check_pattern("blockHostnames", pattern)?;
        }
        let blacklist = settings
            .blacklist_ips
            .iter()
            .map(|text| parse_block(text).map_err(|problem| format!("blacklistIPs: {problem}")));
        Ok(Resolver {
            blocked: settings.block_hostnames.iter().map(|p| p.to_ascii_lowercase()).collect(),
            hosts: HostMap::new(settings)?,
            blacklist: blacklist.collect::<Result<_, _>>()?,
            ttl: settings.dns_ttl,
            select: settings.dns_select,
            policy: settings.dns_policy,
            names: RefCell::default(),
        })
    }

    /// Refuses blocked names. IP literals are not names. `host` is lower case.
    pub(crate) fn check_host(&self, host: &str) -> Result<(), Failure> {
        let Some(pattern) = self.blocked.iter().find(|p| matches(p, host)) else { return Ok(()) };
        if host.parse::<IpAddr>().is_ok() {
            return Ok(());
        }
        let message = format!("hostname ({host}) is in a blocked pattern ({pattern})");
        Err(Failure { step: Step::Prepare, kind: FailureKind::BlockedHost, message })
    }

    /// Where to connect to for a host (lower case, without brackets): the chosen address first, the others for when it
    /// refuses. Never empty.
    pub(crate) async fn resolve(&self, host: &str, port: u16) -> Result<Vec<Address>, Failure> {
        self.check_host(host)?;
        let addresses = match self.hosts.find(host, port) {
            Some(Fixed::Unix(path)) => return Ok(vec![Address::Unix(path.clone())]),
            Some(Fixed::Ip(ip, fixed_port)) => vec![SocketAddr::new(*ip, fixed_port.unwrap_or(port))],
            None => match host.parse::<IpAddr>() {
                Ok(ip) => vec![SocketAddr::new(ip, port)],
                Err(_) => self.look_up(host).await?.into_iter().map(|ip| SocketAddr::new(ip, port)).collect(),
            },
        };
        // The chosen address decides, as in k6; blacklisted spare addresses are only left out.
        self.check_address(addresses[0].ip())?;
        Ok(addresses.into_iter().filter(|a| self.check_address(a.ip()).is_ok()).map(Address::Tcp).collect())
    }

    fn check_address(&self, ip: IpAddr) -> Result<(), Failure> {
        let Some(block) = self.blacklist.iter().find(|block| block_contains(block, ip)) else { return Ok(()) };
        let message = format!("IP ({ip}) is in a blacklisted range ({block})");
        Err(Failure { step: Step::Lookup, kind: FailureKind::BlacklistedIp, message })
    }

    /// All usable addresses of a name, the selected one first; never empty.
    async fn look_up(&self, host: &str) -> Result<Vec<IpAddr>, Failure> {
        let name = self.name(host);
        let answer = match name.fresh() {
            Some(answer) => answer,
            None if self.ttl == Some(Duration::ZERO) => ask_system(host).await?.into(),
            None => {
                let _one_at_a_time = name.gate.lock().await;
                match name.fresh() {
                    Some(answer) => answer,
                    None => {
                        let answer: Rc<[IpAddr]> = ask_system(host).await?.into();
                        let until = self.ttl.and_then(|ttl| Instant::now().checked_add(ttl));
                        name.answer.replace(Some((answer.clone(), until)));
                        answer
                    }
                }
            }
        };
        let turn = match self.select {
            DnsSelect::First => 0,
            DnsSelect::RoundRobin => name.turn.replace(name.turn.get().wrapping_add(1)),
            DnsSelect::Random => fastrand::usize(..),
        };
        Some(in_order(&answer, self.policy, turn)).filter(|list| !list.is_empty()).ok_or_else(no_such_host)
    }

    /// Answers for a name without asking the system.
    #[cfg(test)]
    pub(crate) fn remember(&self, host: &str, addresses: &[&str]) {
        let addresses = addresses.iter().map(|a| a.parse().unwrap()).collect();
        self.name(host).answer.replace(Some((addresses, None)));
    }

    fn name(&self, host: &str) -> Rc<Name> {
        if let Some(known) = self.names.borrow().get(host) {
            return known.clone();
        }
        let mut names = self.names.borrow_mut();
        if names.len() >= MOST_NAMES {
            names.clear();
        }
        names.entry(host.into()).or_default().clone()
    }
}

impl Name {
    fn fresh(&self) -> Option<Rc<[IpAddr]>> {
        let answer = self.answer.borrow();
        let (addresses, until) = answer.as_ref()?;
        until.is_none_or(|until| Instant::now() < until).then(|| addresses.clone())
    }
}

/// The addresses the policy allows: the preferred family first, each family rotated by `turn`.
fn in_order(answer: &[IpAddr], policy: DnsPolicy, turn: usize) -> Vec<IpAddr> {
    let rotated = |mut list: Vec<IpAddr>| {
        if !list.is_empty() {
            let at = turn % list.len();
            list.rotate_left(at);
        }
        list
    };
    let family = |v4: bool| rotated(answer.iter().copied().filter(|ip| ip.is_ipv4() == v4).collect());
    match policy {
        DnsPolicy::Any => rotated(answer.to_vec()),
        DnsPolicy::OnlyIpv4 => family(true),
        DnsPolicy::OnlyIpv6 => family(false),
        DnsPolicy::PreferIpv4 => [family(true), family(false)].concat(),
        DnsPolicy::PreferIpv6 => [family(false), family(true)].concat(),
    }
}

async fn ask_system(host: &str) -> Result<Vec<IpAddr>, Failure> {
    let found = tokio::net::lookup_host((host, 0)).await.map_err(|e| lookup_failure(&e))?;
    let mut addresses: Vec<IpAddr> = Vec::new();
    for ip in found.map(|a| a.ip()) {
        if !addresses.contains(&ip) {
            addresses.push(ip);
        }
    }
    if addresses.is_empty() { Err(no_such_host()) } else { Ok(addresses) }
}

fn no_such_host() -> Failure {
    Failure { step: Step::Lookup, kind: FailureKind::NoSuchHost, message: String::from("lookup: no such host") }
}

/// std gives getaddrinfo's EAI code away only in words (gai_strerror's, which are not translated without setlocale).
fn lookup_failure(error: &io::Error) -> Failure {
    const NOT_THERE: [&str; 5] = [
        "Name or service not known",
        "No address associated with hostname",
        "Name does not resolve",
        "Name has no usable address",
        "nodename nor servname provided, or not known",
    ];
    let words = error.to_string();
    if NOT_THERE.iter().any(|w| words.contains(w)) {
        return no_such_host();
    }
    let why = words.strip_prefix("failed to lookup address information: ").unwrap_or(&words).to_ascii_lowercase();
    // EAI_AGAIN, in the words of glibc and of musl: nobody answered in time, or not in a way that says yes or no.
    let silent = ["temporary failure in name resolution", "try again"].iter().any(|words| why.contains(words));
    let advice = if silent { "the name server does not answer: " } else { "" };
    Failure { step: Step::Lookup, kind: FailureKind::Dns, message: format!("lookup: {advice}{why}") }
}

/// Fixed addresses of the `hosts` option.
struct HostMap {
    exact: HashMap<String, Fixed>,
    /// Patterns with a leading `*`, the longest first.
    wild: Vec<(String, Fixed)>,
}

enum Fixed {
    Ip(IpAddr, Option<u16>),
    Unix(Rc<Path>),
}

impl HostMap {
    fn new(settings: &Settings) -> Result<HostMap, String> {
        let mut map = HostMap { exact: HashMap::new(), wild: Vec::new() };
        for (pattern, value) in &settings.hosts {
            check_pattern("hosts", pattern)?;
            let fixed = Fixed::parse(value).ok_or_else(|| {
                format!(
                    "hosts: {pattern:?} leads to {value:?}, expected an IP address, ip:port, unix:/path or unix:@name"
                )
            })?;
            let pattern = pattern.to_ascii_lowercase();
            if pattern.starts_with('*') {
                map.wild.push((pattern, fixed));
            } else {
                map.exact.insert(pattern, fixed);
            }
        }
        map.wild.sort_by_key(|(pattern, _)| std::cmp::Reverse(pattern.len()));
        Ok(map)
    }

    /// A pattern with the port wins over one without, an exact name over a wildcard.
    fn find(&self, host: &str, port: u16) -> Option<&Fixed> {
        if self.exact.is_empty() && self.wild.is_empty() {
            return None;
        }
        let with_port = if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
        self.find_name(&with_port).or_else(|| self.find_name(host))
    }

    fn find_name(&self, name: &str) -> Option<&Fixed> {
        let wild = || self.wild.iter().find(|(pattern, _)| matches(pattern, name)).map(|(_, fixed)| fixed);
        self.exact.get(name).or_else(wild)
    }
}

impl Fixed {
    fn parse(text: &str) -> Option<Fixed> {
        if let Some(path) = text.strip_prefix("unix:") {
            return is_socket_name(path).then(|| Fixed::Unix(Path::new(path).into()));
        }
        let bare = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')).unwrap_or(text);
        let with_port = || text.parse::<SocketAddr>().ok().map(|a| Fixed::Ip(a.ip(), Some(a.port())));
        bare.parse::<IpAddr>().ok().map(|ip| Fixed::Ip(ip, None)).or_else(with_port)
    }
}

/// An absolute path, or `@` and a name: relative paths would lead elsewhere from another directory.
fn is_socket_name(text: &str) -> bool {
    text.starts_with('/') || text.strip_prefix('@').is_some_and(|name| !name.is_empty())
}

/// Whether a name is meant by a lower-case pattern with at most one leading `*`.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_prefix('*') {
        Some(end) => name.len() > end.len() && name.ends_with(end),
        None => pattern == name,
    }
}

fn check_pattern(option: &str, pattern: &str) -> Result<(), String> {
    let rest = pattern.strip_prefix('*').unwrap_or(pattern);
    let fine = |b: u8| b.is_ascii_alphanumeric() || b"-._:[]".contains(&b);
    if !pattern.is_empty() && rest.bytes().all(fine) {
        return Ok(());
    }
    Err(format!(
        "{option}: found the pattern {pattern:?}, expected a host name (IDNA form), with a * at the start at most"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolver(change: impl FnOnce(&mut Settings)) -> Result<Resolver, String> {
        let mut settings = Settings::default();
        change(&mut settings);
        Resolver::new(&settings)
    }

    fn run<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
    }

    fn tcp(found: Result<Vec<Address>, Failure>) -> String {
        match found.as_deref() {
            Ok([Address::Tcp(address), ..]) => address.to_string(),
            Ok([Address::Unix(path), ..]) => format!("unix:{}", path.display()),
            Ok([]) => panic!("no address and no failure"),
            Err(failure) => format!("{} {failure}", failure.kind.code()),
        }
    }

    #[test]
    fn blocked_names_say_their_pattern() {
        let r = resolver(|s| s.block_hostnames = vec!["*.Blk.test".into(), "exact.test".into()]).unwrap();
        let message = |host: &str| r.check_host(host).map_err(|f| (f.kind.code(), f.message));
        let expected = "hostname (a.blk.test) is in a blocked pattern (*.blk.test)";
        assert_eq!(message("a.blk.test"), Err((1111, expected.into())));
        assert!(message("exact.test").is_err());
        assert!(message("blk.test").is_ok() && message("xblk.test").is_ok() && message("a.exact.test").is_ok());
        let all = resolver(|s| s.block_hostnames = vec!["*".into()]).unwrap();
        assert!(all.check_host("x").is_err() && all.check_host("127.0.0.5").is_ok());
    }

    #[test]
    fn hosts_are_found_as_in_k6() {
        let pairs = [
            ("*.w.test", "127.0.0.1:81"),
            ("*.a.w.test", "127.0.0.2:82"),
            ("x.test", "127.0.0.3"),
            ("y.test:81", "127.0.0.4:84"),
            ("Up.test", "::1"),
            ("v6.test", "[::1]:86"),
            ("127.0.0.9", "127.0.0.10"),
            ("sock.test", "unix:/run/a.sock"),
            ("name.test", "unix:@a.sock"),
        ];
        let r = resolver(|s| s.hosts = pairs.map(|(k, v)| (k.to_owned(), v.to_owned())).into()).unwrap();
        let cases = [
            ("a.w.test", 80, "127.0.0.1:81"),
            ("b.a.w.test", 80, "127.0.0.2:82"),
            ("x.test", 99, "127.0.0.3:99"),
            ("y.test", 81, "127.0.0.4:84"),
            ("up.test", 80, "[::1]:80"),
            ("v6.test", 80, "[::1]:86"),
            ("127.0.0.9", 80, "127.0.0.10:80"),
            ("127.0.0.8", 80, "127.0.0.8:80"),
            ("::1", 80, "[::1]:80"),
            ("sock.test", 80, "unix:/run/a.sock"),
            ("name.test", 80, "unix:@a.sock"),
        ];
        for (host, port, expected) in cases {
            assert_eq!(tcp(run(r.resolve(host, port))), expected, "{host}:{port}");
        }
        assert!(r.hosts.find("w.test", 80).is_none() && r.hosts.find("y.test", 80).is_none());
    }

    #[test]
    fn blacklisted_addresses_are_refused_after_resolution() {
        let r = resolver(|s| {
            s.blacklist_ips = vec!["127.0.0.0/8".into()];
            s.hosts = [("h.test".to_owned(), "127.0.0.1:1".to_owned())].into();
        });
        let r = r.unwrap();
        for (host, ip) in [("127.0.0.5", "127.0.0.5"), ("h.test", "127.0.0.1")] {
            let expected = format!("1110 IP ({ip}) is in a blacklisted range (127.0.0.0/8)");
            assert_eq!(tcp(run(r.resolve(host, 80))), expected);
        }
        assert_eq!(tcp(run(r.resolve("::1", 80))), "[::1]:80");
    }

    #[test]
    fn localhost_is_looked_up_once_and_selected_anew() {
        let r = resolver(|s| s.dns_select = DnsSelect::RoundRobin).unwrap();
        run(async {
            assert_eq!(tcp(r.resolve("localhost", 7).await), "127.0.0.1:7");
            r.remember("localhost", &["127.0.0.1", "127.0.0.2"]);
            let both = [tcp(r.resolve("localhost", 7).await), tcp(r.resolve("localhost", 7).await)];
            assert_ne!(both[0], both[1], "round robin stands still");
            r.name("localhost").answer.replace(Some(([].into(), Some(Instant::now()))));
            assert_eq!(tcp(r.resolve("localhost", 7).await), "127.0.0.1:7", "an answer past its ttl was used");
        });
    }

    #[test]
    fn names_that_do_not_exist() {
        // RFC 6761 keeps .invalid empty; a machine without any resolver says 1100 with its own words.
        let said = tcp(run(resolver(|_| {}).unwrap().resolve("nothing.invalid", 80)));
        assert!(said == "1101 lookup: no such host" || said.starts_with("1100 lookup: "), "{said}");
    }

    #[test]
    fn failed_lookups_have_their_class() {
        let said = |words: &str| {
            let failure = lookup_failure(&io::Error::other(format!("failed to lookup address information: {words}")));
            format!("{} {failure}", failure.kind.code())
        };
        assert_eq!(said("Name or service not known"), "1101 lookup: no such host");
        let silent = "1100 lookup: the name server does not answer: temporary failure in name resolution";
        assert_eq!(said("Temporary failure in name resolution"), silent);
        let other = "Non-recoverable failure in name resolution";
        assert_eq!(said(other), "1100 lookup: non-recoverable failure in name resolution");
    }

    #[test]
    fn users_who_ask_together_share_one_lookup() {
        let r = resolver(|_| {}).unwrap();
        run(async {
            let name = r.name("shared.test");
            let gate = name.gate.lock().await;
            let mut second = Box::pin(r.resolve("shared.test", 9));
            let early = tokio::time::timeout(Duration::from_millis(1), &mut second).await;
            assert!(early.is_err(), "asked although somebody else was asking");
            r.remember("shared.test", &["127.0.0.7"]);
            drop(gate);
            assert_eq!(tcp(second.await), "127.0.0.7:9");
        });
    }

    #[test]
    fn made_up_names_do_not_fill_the_memory() {
        let r = resolver(|_| {}).unwrap();
        (0..MOST_NAMES * 3).for_each(|i| drop(r.name(&i.to_string())));
        assert!(r.names.borrow().len() <= MOST_NAMES);
    }

    #[test]
    fn policies_order_the_families() {
        let all = ["::1", "127.0.0.1", "::2", "127.0.0.2"].map(|t| t.parse::<IpAddr>().unwrap());
        let cases = [
            (DnsPolicy::PreferIpv4, 0, "127.0.0.1 127.0.0.2 ::1 ::2"),
            (DnsPolicy::PreferIpv6, 1, "::2 ::1 127.0.0.2 127.0.0.1"),
            (DnsPolicy::OnlyIpv4, 3, "127.0.0.2 127.0.0.1"),
            (DnsPolicy::OnlyIpv6, 0, "::1 ::2"),
            (DnsPolicy::Any, 1, "127.0.0.1 ::2 127.0.0.2 ::1"),
        ];
        for (policy, turn, expected) in cases {
            let list: Vec<String> = in_order(&all, policy, turn).iter().map(IpAddr::to_string).collect();
            assert_eq!(list.join(" "), expected, "{policy:?}");
        }
        assert!(in_order(&all[..1], DnsPolicy::OnlyIpv4, 0).is_empty());
    }

    #[test]
    fn options_that_cannot_work_are_named() {
        let error = |change: fn(&mut Settings)| resolver(change).err().unwrap();
        assert_eq!(
            error(|s| s.blacklist_ips = vec!["10.0.0.0/99".into()]),
            "blacklistIPs: found \"10.0.0.0/99\", expected a CIDR block such as 10.0.0.0/8 or an IP address"
        );
        assert_eq!(
            error(|s| s.block_hostnames = vec!["a*b.test".into()]),
            "blockHostnames: found the pattern \"a*b.test\", expected a host name (IDNA form), with a * at the start at most"
        );
        for value in ["", "name", "unix:relative", "unix:@", "127.0.0.1:99999", "[::1"] {
            let found = resolver(|s| s.hosts = [("x.test".to_owned(), value.to_owned())].into()).err().unwrap();
            assert!(found.ends_with("expected an IP address, ip:port, unix:/path or unix:@name"), "{found}");
        }
    }
}
