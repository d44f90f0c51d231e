//! Where the requests of a URL's origin go: directly, to a proxy, or through a tunnel; with the TLS they need.
//!
//! Found out once per origin and worker, so that a request only compares scheme, host and port. Requests in absolute form
//! share one endpoint per proxy, since a plain proxy's connections serve any http origin.
//! Invariant: an origin's endpoint never changes; its identity is the key of the connection pools.

use std::cell::RefCell;
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;

use bytes::Bytes;

use crate::connect::{Address, Endpoint, Route};
use crate::dns::Resolver;
use crate::failure::{Failure, FailureKind, Step};
use crate::proxy::{Proxy, ProxyRules};
use crate::settings::Settings;
use crate::url::Url;

/// Scheme, host and port, and the way there.
pub(crate) struct Origin {
    tls: bool,
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
    user_agent: String,
    plain_proxy: Option<(Rc<Proxy>, Rc<Endpoint>)>,
    known: RefCell<HashMap<String, Vec<Rc<Origin>>>>,
}

impl Origins {
    /// Reads the options; the error names option, found and expected.
    pub(crate) fn new(settings: &Settings) -> Result<Origins, String> {
        let proxies = ProxyRules::new(settings)?;
        let plain_proxy =
            proxies.for_http().map(|p| (Rc::new(p.clone()), Rc::new(Endpoint { tunnel: None, tls: None })));
        let resolver = Resolver::new(settings)?;
        Ok(Origins {
            resolver,
            proxies,
            user_agent: settings.user_agent.clone(),
            plain_proxy,
            known: RefCell::default(),
        })
    }

    /// The origin of a URL.
    pub(crate) fn find(&self, url: &Url) -> Result<Rc<Origin>, Failure> {
        if let Some(of_host) = self.known.borrow().get(&url.host)
            && let Some(origin) = of_host.iter().find(|o| o.is_of(url))
        {
            return Ok(origin.clone());
        }
        let origin = Rc::new(self.make(url)?);
        self.known.borrow_mut().entry(url.host.clone()).or_default().push(origin.clone());
        Ok(origin)
    }

    fn make(&self, url: &Url) -> Result<Origin, Failure> {
        let (tls, port, host) = (url.tls, url.port, url.host.clone());
        let proxy = self.proxies.find(url);
        let dial = proxy.map(|p| (p.host.clone(), p.port));
        match (proxy, &self.plain_proxy) {
            (Some(_), Some((proxy, endpoint))) if !tls => {
                Ok(Origin { tls, port, host, endpoint: endpoint.clone(), plain_proxy: Some(proxy.clone()), dial })
            }
            _ => {
                let tunnel = proxy.map(|p| self.connect_request(url, p));
                let endpoint = Rc::new(Endpoint { tunnel, tls: None });
                Ok(Origin { tls, port, host, endpoint, plain_proxy: None, dial })
            }
        }
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
        let mut addresses = self.resolver.resolve(host, port).await?;
        if let Some(local) = local {
            addresses.retain(|a| matches!(a, Address::Unix(_)) || is_reachable(local, a));
            if addresses.is_empty() {
                let message = format!("dial tcp: address {}: no suitable address found", SocketAddr::new(local, 0));
                return Err(Failure { step: Step::Connect, kind: FailureKind::Dial, message });
            }
        }
        Ok(Route { addresses: addresses.into(), local })
    }
}

fn is_reachable(local: IpAddr, address: &Address) -> bool {
    matches!(address, Address::Tcp(peer) if peer.is_ipv4() == local.is_ipv4())
}

impl Origin {
    /// Whether the URL is of this origin.
    pub(crate) fn is_of(&self, url: &Url) -> bool {
        self.port == url.port && self.tls == url.tls && self.host == url.host
    }
}
