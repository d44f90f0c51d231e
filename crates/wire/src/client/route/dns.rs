//! From a host name to the addresses to try: blocked names, fixed hosts, lookups with a cache, blacklisted addresses.
//!
//! The order is k6's: `blockHostnames`, then `hosts`, then DNS (never for an IP literal), then `blacklistIPs`. Lookups
//! are the system's getaddrinfo on tokio's blocking threads; answers are kept per worker, and users of one worker who
//! ask for the same name at the same time share one lookup. Only new connections come here, never the request path.
//!
//! Invariant: no address leaves this file without having passed the blacklist.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use ipnet::IpNet;

use crate::addresses::block_contains;
use crate::client::route::endpoint::Address;
use crate::failure::{Failure, FailureKind, Step};
use crate::hosts::{Fixed, FixedHosts, HostPatterns};
use crate::settings::{Dns, DnsPolicy, DnsSelect, Settings};

/// Finds addresses; one a worker.
pub(crate) struct Resolver {
    blocked: Arc<HostPatterns>,
    hosts: Arc<FixedHosts>,
    blacklist: Arc<Vec<IpNet>>,
    dns: Dns,
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
    /// As the settings say.
    pub(crate) fn new(settings: &Settings) -> Resolver {
        Resolver {
            blocked: settings.blocked.names.clone(),
            hosts: settings.hosts.clone(),
            blacklist: settings.blocked.addresses.clone(),
            dns: settings.dns,
            names: RefCell::default(),
        }
    }

    /// Refuses blocked names. IP literals are not names. `host` is lower case.
    pub(crate) fn check_host(&self, host: &str) -> Result<(), Failure> {
        let Some(pattern) = self.blocked.find(host) else { return Ok(()) };
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
            Some(Fixed::Unix(path)) => return Ok(vec![Address::Unix(path.as_path().into())]),
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
            None if self.dns.ttl == Some(Duration::ZERO) => ask_system(host).await?.into(),
            None => {
                let _one_at_a_time = name.gate.lock().await;
                match name.fresh() {
                    Some(answer) => answer,
                    None => {
                        let answer: Rc<[IpAddr]> = ask_system(host).await?.into();
                        let until = self.dns.ttl.and_then(|ttl| Instant::now().checked_add(ttl));
                        name.answer.replace(Some((answer.clone(), until)));
                        answer
                    }
                }
            }
        };
        let turn = match self.dns.select {
            DnsSelect::First => 0,
            DnsSelect::RoundRobin => name.turn.replace(name.turn.get().wrapping_add(1)),
            DnsSelect::Random => fastrand::usize(..),
        };
        Some(in_order(&answer, self.dns.policy, turn)).filter(|list| !list.is_empty()).ok_or_else(no_such_host)
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

/// A lookup that takes longer is worth a word: the system's resolver tries the next name server after five seconds.
const SLOW: Duration = Duration::from_secs(5);

/// Hears of a host whose lookup takes long.
type SlowLookupHearer = Box<dyn Fn(&str, Duration) + Send + Sync>;

static LISTENER: OnceLock<SlowLookupHearer> = OnceLock::new();

/// Calls `hear` with the name of each host whose lookup has taken `SLOW` without an answer; the first call counts. A
/// silent name server otherwise looks like a silent test until the requests' time is over.
pub fn hear_of_slow_lookups(hear: impl Fn(&str, Duration) + Send + Sync + 'static) {
    let _first = LISTENER.set(Box::new(hear));
}

/// The addresses that the system has for a name, in its order: no rule of the run is asked. Never empty.
pub async fn ask_system(host: &str) -> Result<Vec<IpAddr>, Failure> {
    let mut lookup = pin!(tokio::net::lookup_host((host, 0)));
    let found = match tokio::time::timeout(SLOW, lookup.as_mut()).await {
        Ok(found) => found,
        Err(_) => {
            if let Some(hear) = LISTENER.get() {
                hear(host, SLOW);
            }
            lookup.await
        }
    };
    let found = found.map_err(|e| lookup_failure(&e))?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::addresses::parse_block;

    fn resolver(change: impl FnOnce(&mut Settings)) -> Resolver {
        let mut settings = Settings::default();
        change(&mut settings);
        Resolver::new(&settings)
    }

    fn patterns(texts: &[&str]) -> Arc<HostPatterns> {
        Arc::new(HostPatterns::read(&texts.iter().map(|text| text.to_string()).collect::<Vec<_>>()).unwrap())
    }

    fn fixed(pairs: &[(&str, &str)]) -> Arc<FixedHosts> {
        Arc::new(FixedHosts::read(&pairs.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect()).unwrap())
    }

    fn run<T>(future: impl Future<Output = T>) -> T {
        crate::event_loop().unwrap().block_on(future)
    }

    fn tcp(found: Result<Vec<Address>, Failure>) -> String {
        match found.as_deref() {
            Ok([Address::Tcp(address), ..]) => address.to_string(),
            Ok([Address::Unix(path), ..]) => format!("unix:{}", path.display()),
            Ok([]) => panic!("no address and no failure"),
            Err(failure) => format!("{:?}: {failure}", failure.kind),
        }
    }

    #[test]
    fn blocked_names_say_their_pattern() {
        let r = resolver(|s| s.blocked.names = patterns(&["*.Blk.test", "exact.test"]));
        let message = |host: &str| r.check_host(host).map_err(|f| (f.kind, f.message));
        let expected = "hostname (a.blk.test) is in a blocked pattern (*.blk.test)";
        assert_eq!(message("a.blk.test"), Err((FailureKind::BlockedHost, expected.into())));
        assert!(message("exact.test").is_err());
        assert!(message("blk.test").is_ok() && message("xblk.test").is_ok() && message("a.exact.test").is_ok());
        let all = resolver(|s| s.blocked.names = patterns(&["*"]));
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
        let r = resolver(|s| s.hosts = fixed(&pairs));
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
            s.blocked.addresses = Arc::new(vec![parse_block("127.0.0.0/8").unwrap()]);
            s.hosts = fixed(&[("h.test", "127.0.0.1:1")]);
        });
        for (host, ip) in [("127.0.0.5", "127.0.0.5"), ("h.test", "127.0.0.1")] {
            let expected = format!("BlacklistedIp: IP ({ip}) is in a blacklisted range (127.0.0.0/8)");
            assert_eq!(tcp(run(r.resolve(host, 80))), expected);
        }
        assert_eq!(tcp(run(r.resolve("::1", 80))), "[::1]:80");
    }

    #[test]
    fn localhost_is_looked_up_once_and_selected_anew() {
        let r = resolver(|s| s.dns.select = DnsSelect::RoundRobin);
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
        // RFC 6761 keeps .invalid empty; a machine without any resolver says so in its own words.
        let said = tcp(run(resolver(|_| {}).resolve("nothing.invalid", 80)));
        assert!(said == "NoSuchHost: lookup: no such host" || said.starts_with("Dns: lookup: "), "{said}");
    }

    #[test]
    fn failed_lookups_have_their_class() {
        let said = |words: &str| {
            let failure = lookup_failure(&io::Error::other(format!("failed to lookup address information: {words}")));
            format!("{:?}: {failure}", failure.kind)
        };
        assert_eq!(said("Name or service not known"), "NoSuchHost: lookup: no such host");
        let silent = "Dns: lookup: the name server does not answer: temporary failure in name resolution";
        assert_eq!(said("Temporary failure in name resolution"), silent);
        let other = "Non-recoverable failure in name resolution";
        assert_eq!(said(other), "Dns: lookup: non-recoverable failure in name resolution");
    }

    #[test]
    fn users_who_ask_together_share_one_lookup() {
        let r = resolver(|_| {});
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
        let r = resolver(|_| {});
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
}
