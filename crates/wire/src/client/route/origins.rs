//! Where the requests of a URL's origin go: directly, to a proxy, or through a tunnel; with the TLS they need, and what
//! the connection may speak.
//!
//! Found out once per origin and worker, so that a request only compares scheme, host and port. Requests in absolute
//! form share one endpoint per proxy, since a plain proxy's connections serve any http origin. Invariant: an origin's
//! endpoint never changes; its identity is the key of the connection pools.

use std::cell::RefCell;
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;

use bytes::Bytes;

use crate::client::route::dns::Resolver;
use crate::client::route::endpoint::{Address, Endpoint, Route, Tunnel};
use crate::client::route::proxy::{Proxy, ProxyRules};
use crate::client::route::socks::SocksRequest;
use crate::failure::{Failure, FailureKind, Step};
use crate::own_tls::OwnTls;
use crate::settings::Settings;
use crate::syntax::url::Url;
use crate::tls::config::{Offer, TlsConfigs};

/// A test that makes up hosts must not fill the memory: past this the map begins again. Idle connections to forgotten
/// origins are not found again and leave the pools as the oldest.
const MOST_HOSTS: usize = 4096;

/// Scheme, host and port, what is spoken there, and the way.
pub(crate) struct Origin {
    tls: bool,
    pub(crate) offer: Offer,
    port: u16,
    host: String,
    pub(crate) endpoint: Rc<Endpoint>,
    /// The proxy that takes requests in absolute form.
    pub(crate) plain_proxy: Option<Rc<Proxy>>,
    /// Host and port that the connection is made to, when it is a proxy's.
    dial: Option<(String, u16)>,
}

/// The origins one worker knows.
pub(crate) struct Origins {
    resolver: Resolver,
    proxies: ProxyRules,
    tls: TlsConfigs,
    user_agent: String,
    plain_proxy: Option<(Rc<Proxy>, Rc<Endpoint>)>,
    known: RefCell<HashMap<String, Vec<Rc<Origin>>>>,
}

impl Origins {
    /// As the settings say; the error names what does not fit.
    pub(crate) fn new(settings: &Settings) -> Result<Origins, String> {
        let proxies = ProxyRules::new(settings)?;
        let plain_proxy = proxies
            .for_http()
            .filter(|p| p.socks.is_none())
            .map(|p| (Rc::new(p.clone()), Endpoint::new(None, None, Offer::Http1)));
        Ok(Origins {
            resolver: Resolver::new(settings),
            proxies,
            tls: TlsConfigs::new(&settings.tls),
            user_agent: settings.user_agent.clone(),
            plain_proxy,
            known: RefCell::default(),
        })
    }

    /// The origin of a URL, for connections that speak one of these.
    pub(crate) fn find(&self, url: &Url, offer: Offer) -> Result<Rc<Origin>, Failure> {
        if let Some(of_host) = self.known.borrow().get(&url.host)
            && let Some(origin) = of_host.iter().find(|o| o.is_of(url, offer))
        {
            return Ok(origin.clone());
        }
        let origin = Rc::new(self.make(url, offer, None)?);
        let mut known = self.known.borrow_mut();
        if known.len() >= MOST_HOSTS {
            known.clear();
        }
        known.entry(url.host.clone()).or_default().push(origin.clone());
        Ok(origin)
    }

    /// The origin of a URL for a connection that carries no requests: through a tunnel where others have a plain proxy,
    /// and never offered HTTP/2.
    pub(crate) fn find_for_stream(&self, url: &Url) -> Result<Rc<Origin>, Failure> {
        let origin = self.find(url, Offer::Http1)?;
        let Some(proxy) = &origin.plain_proxy else { return Ok(origin) };
        Ok(Rc::new(origin.at(Endpoint::new(Some(self.tunnel(url, proxy)?), None, Offer::Http1))))
    }

    /// The origin of a URL for a connection that speaks HTTP/2 from its first byte, or over TLS nothing else. `tls` and
    /// `name` instead of the run's settings and the host.
    pub(crate) fn find_for_http2(
        &self,
        url: &Url,
        tls: Option<&TlsConfigs>,
        name: Option<&str>,
    ) -> Result<Rc<Origin>, Failure> {
        let origin = self.find(url, Offer::OnlyHttp2)?;
        if !url.tls {
            return Ok(origin);
        }
        let tunnel = self.proxies.find(url).map(|proxy| self.tunnel(url, proxy)).transpose()?;
        let target = tls.unwrap_or(&self.tls).target_for(name.unwrap_or(&url.host), Offer::OnlyHttp2)?;
        Ok(Rc::new(origin.at(Endpoint::new(tunnel, Some(target), Offer::OnlyHttp2))))
    }

    /// The origin of an https URL for requests with TLS of their own. Not kept here: its client does that.
    pub(crate) fn find_own(&self, url: &Url, offer: Offer, own: &OwnTls) -> Result<Rc<Origin>, Failure> {
        debug_assert!(url.tls, "others have none");
        self.make(url, offer, Some(own)).map(Rc::new)
    }

    fn make(&self, url: &Url, offer: Offer, own: Option<&OwnTls>) -> Result<Origin, Failure> {
        let (tls, port, host) = (url.tls, url.port, url.host.clone());
        let proxy = self.proxies.find(url);
        let dial = proxy.map(|p| (p.host.clone(), p.port));
        match (proxy, &self.plain_proxy) {
            (Some(_), Some((proxy, endpoint))) if !tls && offer == Offer::Http1 => {
                let (endpoint, plain_proxy) = (endpoint.clone(), Some(proxy.clone()));
                Ok(Origin { tls, offer, port, host, endpoint, plain_proxy, dial })
            }
            _ => {
                let tunnel = proxy.map(|p| self.tunnel(url, p)).transpose()?;
                let target = tls.then(|| match own {
                    None => self.tls.target_for(&url.host, offer),
                    Some(own) => self.tls.own_target_for(&url.host, offer, own),
                });
                let target = target.transpose()?;
                let endpoint = Endpoint::new(tunnel, target, offer);
                Ok(Origin { tls, offer, port, host, endpoint, plain_proxy: None, dial })
            }
        }
    }

    fn tunnel(&self, url: &Url, proxy: &Proxy) -> Result<Tunnel, Failure> {
        Ok(match &proxy.socks {
            None => Tunnel::Connect(self.connect_request(url, proxy)),
            Some(socks) => Tunnel::Socks(SocksRequest::new(&url.host, url.port, socks.login.as_ref())?),
        })
    }

    /// RFC 9110, section 9.3.6: host and port, also when it is the default one.
    fn connect_request(&self, url: &Url, proxy: &Proxy) -> Bytes {
        let brackets = if url.host.contains(':') { ("[", "]") } else { ("", "") };
        let to = format!("{}{}{}:{}", brackets.0, url.host, brackets.1, url.port);
        let mut head = format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n");
        if !self.user_agent.is_empty() {
            head.extend(["User-Agent: ", &self.user_agent, "\r\n"]);
        }
        if let Some(authorization) = &proxy.authorization {
            head.extend(["Proxy-Authorization: ", authorization, "\r\n"]);
        }
        head.push_str("\r\n");
        Bytes::from(head)
    }

    /// The addresses to connect to. Asked for new connections only.
    pub(crate) async fn route(&self, origin: &Origin, local: Option<IpAddr>) -> Result<Route, Failure> {
        self.resolver.check_host(&origin.host)?;
        let (host, port) = match &origin.dial {
            Some((host, port)) => (host.as_str(), *port),
            None => (origin.host.as_str(), origin.port),
        };
        self.route_to(host, port, local).await
    }

    /// The configurations of the run.
    pub(crate) fn tls(&self) -> &TlsConfigs {
        &self.tls
    }

    /// The addresses of a host (lower case, without brackets).
    pub(crate) async fn route_to(&self, host: &str, port: u16, local: Option<IpAddr>) -> Result<Route, Failure> {
        let mut addresses = self.resolver.resolve(host, port).await?;
        if let Some(local) = local {
            addresses.retain(|a| matches!(a, Address::Unix(_)) || is_reachable(local, a));
            if addresses.is_empty() {
                let message = format!("dial tcp: address {}: no suitable address found", SocketAddr::new(local, 0));
                return Err(Failure { step: Step::Connect, kind: FailureKind::Dial, message });
            }
        }
        Ok(Route { addresses: addresses.into(), local, link: None })
    }
}

fn is_reachable(local: IpAddr, address: &Address) -> bool {
    matches!(address, Address::Tcp(peer) if peer.is_ipv4() == local.is_ipv4())
}

impl Origin {
    /// Whether the URL is of this origin when its connection speaks one of these.
    pub(crate) fn is_of(&self, url: &Url, offer: Offer) -> bool {
        self.port == url.port && self.tls == url.tls && self.offer == offer && self.host == url.host
    }

    /// The same origin, reached directly or through a tunnel.
    fn at(&self, endpoint: Rc<Endpoint>) -> Origin {
        let (host, dial) = (self.host.clone(), self.dial.clone());
        Origin { tls: self.tls, offer: self.offer, port: self.port, host, endpoint, plain_proxy: None, dial }
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::client::route::connect;
    use crate::client::worker::context::IoContext;
    use crate::settings::{Dns, DnsPolicy, Proxies, StepLimits};
    use crate::timings::Timings;

    fn origins(settings: Settings) -> Origins {
        Origins::new(&settings).unwrap()
    }

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn run<T>(future: impl Future<Output = T>) -> T {
        crate::event_loop().unwrap().block_on(future)
    }

    #[test]
    fn one_endpoint_an_origin() {
        let all = origins(Settings::default());
        let endpoint = |text: &str| all.find(&url(text), Offer::Http1).unwrap().endpoint.clone();
        assert!(Rc::ptr_eq(&endpoint("http://a.test/x"), &endpoint("http://A.test:80/y")));
        for other in ["http://a.test:81/", "http://b.test/"] {
            assert!(!Rc::ptr_eq(&endpoint("http://a.test/x"), &endpoint(other)), "{other}");
        }
        (0..MOST_HOSTS * 2).for_each(|i| drop(all.find(&url(&format!("http://h{i}/")), Offer::Http1)));
        assert!(all.known.borrow().len() <= MOST_HOSTS);
    }

    #[test]
    fn tunnels_name_host_and_port() {
        let proxies = Proxies { https: Some("http://u:p@proxy.test:3128".into()), ..Proxies::default() };
        let all = origins(Settings { proxies, user_agent: "agent".into(), ..Settings::default() });
        let proxy = all.proxies.find(&url("https://a.test/")).unwrap();
        let bytes = all.connect_request(&url("https://a.test/x"), proxy);
        let expected = "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\nUser-Agent: agent\r\n\
                        Proxy-Authorization: Basic dTpw\r\n\r\n";
        assert_eq!(bytes, expected);
        assert!(
            all.connect_request(&url("https://[fd00::1]:8/"), proxy).starts_with(b"CONNECT [fd00::1]:8 HTTP/1.1\r\n")
        );
    }

    #[test]
    fn an_address_that_refuses_is_followed_by_the_next() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let all =
            origins(Settings { dns: Dns { policy: DnsPolicy::PreferIpv6, ..Dns::default() }, ..Settings::default() });
        all.resolver.remember("two.test", &["127.0.0.1", "::1"]);
        run(async {
            let origin = all.find(&url(&format!("http://two.test:{port}/")), Offer::Http1).unwrap();
            let route = all.route(&origin, None).await.unwrap();
            assert!(matches!(route.addresses[0], Address::Tcp(first) if first.is_ipv6()));
            let end = crate::io::stamps::Tick::now().after(std::time::Duration::from_secs(10));
            let io = IoContext::new(StepLimits::default(), None);
            let opened = connect::open(&io, &origin.endpoint, &route, end, &mut Timings::default()).await;
            let connection = opened.unwrap_or_else(|unopened| panic!("{}", unopened.failure));
            assert!(connection.facts.remote.is_some_and(|peer| peer.is_ipv4()));
        });
    }

    #[test]
    fn a_local_address_of_the_other_family_reaches_nothing() {
        let all = origins(Settings::default());
        let origin = all.find(&url("http://[::1]:1/"), Offer::Http1).unwrap();
        let failure = run(all.route(&origin, Some("127.0.0.7".parse().unwrap()))).err().unwrap();
        assert_eq!(failure.kind, FailureKind::Dial);
        assert_eq!(failure.message, "dial tcp: address 127.0.0.7:0: no suitable address found");
    }
}
