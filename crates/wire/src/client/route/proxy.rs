//! Which proxy a URL goes through, as Go reads HTTP_PROXY, HTTPS_PROXY and NO_PROXY.
//!
//! http URLs go to an HTTP proxy in absolute form, https URLs through a CONNECT tunnel; a SOCKS5 proxy takes both.
//! `localhost` and loopback addresses never go through a proxy, whatever the variables say, unless the settings ask for
//! it. Not spoken: TLS to the proxy itself; it is refused when the settings are read, not in the middle of a test.
//! ALL_PROXY is not read: Go does not either.

use std::net::IpAddr;

use ipnet::IpNet;

use crate::addresses::{block_contains, parse_block};
use crate::client::route::socks::Login;
use crate::settings::Settings;
use crate::syntax::auth;
use crate::syntax::url::Url;

/// RFC 1928.
const SOCKS_PORT: u16 = 1080;

/// The proxies of a run.
#[derive(Debug)]
pub(crate) struct ProxyRules {
    http: Option<Proxy>,
    https: Option<Proxy>,
    direct: Vec<Direct>,
    even_local: bool,
}

/// A proxy, HTTP unless it says otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Proxy {
    /// Host, lower case, without brackets.
    pub(crate) host: String,
    /// Port.
    pub(crate) port: u16,
    /// The value of Proxy-Authorization, when its URL has userinfo.
    pub(crate) authorization: Option<String>,
    /// It speaks SOCKS5.
    pub(crate) socks: Option<Socks>,
}

/// What a SOCKS5 proxy wants to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Socks {
    /// The userinfo of its URL.
    pub(crate) login: Option<Login>,
}

/// One entry of NO_PROXY.
#[derive(Debug)]
enum Direct {
    All,
    Block(IpNet),
    Ip(IpAddr, Option<u16>),
    /// Suffix with its leading dot; the bare name counts too unless the entry itself began with a dot.
    Name {
        suffix: String,
        bare: bool,
        port: Option<u16>,
    },
}

impl ProxyRules {
    /// Reads the variables; the error names variable, found and expected.
    pub(crate) fn new(settings: &Settings) -> Result<ProxyRules, String> {
        let proxies = &settings.proxies;
        Ok(ProxyRules {
            http: Proxy::read("HTTP_PROXY", proxies.http.as_deref())?,
            https: Proxy::read("HTTPS_PROXY", proxies.https.as_deref())?,
            direct: proxies.no_proxy.iter().flat_map(|list| list.split(',')).filter_map(Direct::read).collect(),
            even_local: proxies.even_local,
        })
    }

    /// The proxy of http URLs.
    pub(crate) fn for_http(&self) -> Option<&Proxy> {
        self.http.as_ref()
    }

    /// The proxy this URL goes through.
    pub(crate) fn find(&self, url: &Url) -> Option<&Proxy> {
        let proxy = if url.tls { self.https.as_ref() } else { self.http.as_ref() }?;
        let ip = url.host.parse::<IpAddr>().ok();
        let local =
            !self.even_local && (url.host == "localhost" || ip.is_some_and(|ip| ip.to_canonical().is_loopback()));
        (!local && !self.direct.iter().any(|d| d.covers(url, ip))).then_some(proxy)
    }
}

impl Proxy {
    fn read(variable: &str, value: Option<&str>) -> Result<Option<Proxy>, String> {
        let Some(value) = value.map(str::trim).filter(|v| !v.is_empty()) else { return Ok(None) };
        let refused = |why: &str| {
            // The value may hold a password: it is not repeated.
            Err(format!("{variable}: {why}; expected http:// or socks5://[user:password@]host[:port]"))
        };
        let (scheme, rest) = value.split_once("://").unwrap_or(("http", value));
        // What stands there by mistake may be a password, too.
        if !scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte)) {
            return refused("found a value that is no URL");
        }
        let is_socks = match scheme.to_ascii_lowercase().as_str() {
            "http" => false,
            "socks5" | "socks5h" => true,
            _ => return refused(&format!("proxies over {scheme:?} are not supported")),
        };
        let Ok(url) = Url::parse(&format!("http://{rest}")) else { return refused("found a value that is no URL") };
        if !is_socks {
            let authorization = url.userinfo.as_ref().map(auth::basic);
            return Ok(Some(Proxy { host: url.host.clone(), port: url.port, authorization, socks: None }));
        }
        let login = url.userinfo.as_ref().map(|(name, word)| Login::new(name, word.as_deref().unwrap_or_default()));
        let login = match login.transpose() {
            Ok(login) => login,
            Err(why) => return refused(why),
        };
        let port = if names_port(rest) { url.port } else { SOCKS_PORT };
        Ok(Some(Proxy { host: url.host.clone(), port, authorization: None, socks: Some(Socks { login }) }))
    }
}

/// Whether a URL without its scheme says which port.
fn names_port(rest: &str) -> bool {
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    host.rsplit(']').next().is_some_and(|end| end.contains(':'))
}

impl Direct {
    fn read(entry: &str) -> Option<Direct> {
        let entry = entry.trim().to_ascii_lowercase();
        match entry.as_str() {
            "" => return None,
            "*" => return Some(Direct::All),
            block if block.contains('/') => return parse_block(block).ok().map(Direct::Block),
            _ => {}
        }
        let (name, port) = match entry.rsplit_once(':') {
            Some((name, port)) if !name.contains(':') || name.ends_with(']') => (name, Some(port.parse().ok()?)),
            _ => (entry.as_str(), None),
        };
        let bare_ip = name.strip_prefix('[').and_then(|n| n.strip_suffix(']')).unwrap_or(name);
        if let Ok(ip) = bare_ip.parse() {
            return Some(Direct::Ip(ip, port));
        }
        let name = name.strip_prefix('*').filter(|n| n.starts_with('.')).unwrap_or(name);
        let bare = !name.starts_with('.');
        let suffix = if bare { format!(".{name}") } else { name.to_owned() };
        (suffix.len() > 1).then_some(Direct::Name { suffix, bare, port })
    }

    fn covers(&self, url: &Url, ip: Option<IpAddr>) -> bool {
        let port_fits = |port: &Option<u16>| port.is_none_or(|p| p == url.port);
        match self {
            Direct::All => true,
            Direct::Block(block) => ip.is_some_and(|ip| block_contains(block, ip)),
            Direct::Ip(direct, port) => ip == Some(*direct) && port_fits(port),
            Direct::Name { suffix, bare, port } => {
                let host = url.host.strip_suffix('.').unwrap_or(&url.host);
                (host.ends_with(suffix.as_str()) || *bare && host == &suffix[1..]) && port_fits(port)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Proxies;

    fn rules(http: &str, https: &str, no_proxy: &str) -> Result<ProxyRules, String> {
        let some = |t: &str| Some(t.to_owned());
        let proxies = Proxies { http: some(http), https: some(https), no_proxy: some(no_proxy), even_local: false };
        ProxyRules::new(&Settings { proxies, ..Settings::default() })
    }

    #[test]
    fn proxies_are_read_with_or_without_scheme() {
        let cases = [
            ("proxy.test:3128", 3128, None),
            ("http://proxy.test", 80, None),
            ("HTTP://u:p@proxy.test:1/", 1, Some("Basic dTpw")),
        ];
        for (text, port, authorization) in cases {
            let authorization = authorization.map(String::from);
            let expected = Proxy { host: "proxy.test".into(), port, authorization, socks: None };
            assert_eq!(rules(text, "", "").unwrap().find(&Url::parse("http://a.test/").unwrap()), Some(&expected));
        }
        let message = rules("", "https://secret:word@h:1", "").unwrap_err();
        let expected = "expected http:// or socks5://[user:password@]host[:port]";
        assert_eq!(message, format!("HTTPS_PROXY: proxies over \"https\" are not supported; {expected}"));
        for value in ["http://secret word/", "http:/u:secret@h://x"] {
            assert!(rules(value, "", "").is_err_and(|message| !message.contains("secret")), "{value}");
        }
    }

    #[test]
    fn socks_has_a_port_and_a_login_of_its_own() {
        let cases = [
            ("socks5://proxy.test", 1080, None),
            ("SOCKS5H://proxy.test:80", 80, None),
            ("socks5://u:p@proxy.test", 1080, Some(Login::new("u", "p").unwrap())),
        ];
        for (text, port, login) in cases {
            let socks = Some(Socks { login });
            let expected = Proxy { host: "proxy.test".into(), port, authorization: None, socks };
            assert_eq!(rules("", text, "").unwrap().find(&Url::parse("https://a.test/").unwrap()), Some(&expected));
        }
        assert!(["[::1]", "a", "u:p@a", "a/b:c"].iter().all(|rest| !names_port(rest)));
        assert!(["[::1]:1", "a:1", "u@a:1/"].iter().all(|rest| names_port(rest)));
        assert!(rules(&format!("socks5://{}@h", "u".repeat(256)), "", "").is_err_and(|m| m.contains("255")));
    }

    #[test]
    fn schemes_and_local_hosts() {
        let only_http = rules("p:1", "", "").unwrap();
        assert!(only_http.find(&Url::parse("http://a.test/").unwrap()).is_some());
        for direct in
            ["https://a.test/", "http://localhost/", "http://127.9.9.9/", "http://[::1]/", "http://[::ffff:127.0.0.1]/"]
        {
            assert_eq!(only_http.find(&Url::parse(direct).unwrap()), None, "{direct}");
        }
    }

    #[test]
    fn no_proxy_as_go_reads_it() {
        let list = "foo.com, .dot.com,*.star.com,port.com:8080,10.0.0.0/8,192.168.0.1,[fd00::1]:81,fd00::2,:,bad/cidr";
        let rules = rules("p:1", "", list).unwrap();
        let cases = [
            ("http://foo.com/", false),
            ("http://FOO.com./", false),
            ("http://a.foo.com/", false),
            ("http://xfoo.com/", true),
            ("http://dot.com/", true),
            ("http://a.dot.com/", false),
            ("http://star.com/", true),
            ("http://a.b.star.com/", false),
            ("http://port.com/", true),
            ("http://port.com:8080/", false),
            ("http://10.1.2.3/", false),
            ("http://11.1.2.3/", true),
            ("http://192.168.0.1:99/", false),
            ("http://[fd00::1]:81/", false),
            ("http://[fd00::1]/", true),
            ("http://[fd00::2]/", false),
            ("http://a../", true),
        ];
        for (url, proxied) in cases {
            assert_eq!(rules.find(&Url::parse(url).unwrap()).is_some(), proxied, "{url}");
        }
        let all = super::tests::rules("p:1", "", "x,*").unwrap();
        assert_eq!(all.find(&Url::parse("http://a.test/").unwrap()), None);
    }
}
